# Leap years, and years that only look like it.
failed=0
check() {
  got=$(sh leap.sh "$1")
  if [ "$got" = "$2" ]; then
    echo "ok    $1 $got"
  else
    echo "FAIL  $1 should be $2, but is $got"
    failed=1
  fi
}
check 2023 no
check 2024 yes
check 2000 yes
check 1900 no
exit $failed
