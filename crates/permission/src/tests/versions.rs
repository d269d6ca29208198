//! Which version of each program the option tables were checked with.
//!
//! Another version than the listed one is not a failure: the other tests compare the tables with the programs that are installed, whatever their
//! version is, and fail if an option means something else. The message says that the list has to be brought up to date.

use crate::command::listed_options;

/// Programs, the command that prints their version, and the version that the tables were checked with.
const CHECKED: &[(&str, &str, &str)] = &[
    (
        "ls dir vdir whoami logname arch hostid groups users tty nproc id uname seq sleep basename dirname realpath readlink stat du df cat tac \
        nl head tail wc cut paste tr fold expand unexpand comm join uniq sort md5sum sha1sum sha224sum sha256sum \
        sha384sum sha512sum b2sum cksum sum od base64 base32 printenv date touch mkdir rmdir rm cp mv tee chmod \
        timeout nice stdbuf env",
        "{} --version",
        "9.1",
    ),
    ("pwd true false : type time command", "bash --version", "5.2.15"),
    ("hostname", "{} --version", "3.23"),
    ("uptime free ps", "{} --version", "4.0.2"),
    ("rev column hexdump hd lsblk lscpu ionice", "{} --version", "2.38.1"),
    ("tree", "{} --version", "2.1.0"),
    ("file", "{} --version", "5.44"),
    ("which", "dpkg-query -W debianutils", "5.7"),
    ("strings", "{} --version", "2.40"),
    ("diff cmp", "{} --version", "3.8"),
    ("grep egrep fgrep", "grep --version", "3.8"),
    ("rg", "{} --version", "13.0.0"),
    ("lsmod", "kmod --version", "30"),
    ("getconf locale", "{} --version", "2.36"),
    ("jq", "{} --version", "1.6"),
    ("sed", "{} --version", "4.9"),
    ("awk gawk", "gawk --version", "5.2.1"),
    ("mawk", "{} -W version", "1.3.4"),
    ("find xargs", "{} --version", "4.9.0"),
    ("git", "{} --version", "2.39.5"),
    ("curl", "{} --version", "7.88.1"),
    ("wget", "{} --version", "1.21.3"),
];

#[test]
fn each_table_names_the_version_it_was_checked_with() {
    let mut listed: Vec<&str> = listed_options().map(|(program, _)| program[0]).collect();
    listed.sort_unstable();
    listed.dedup();
    let mut differences = Vec::new();
    for program in listed {
        let rows: Vec<_> =
            CHECKED.iter().filter(|(names, ..)| names.split(' ').any(|name| name == program)).collect();
        let [(_, ask, version)] = rows.as_slice() else {
            panic!("{program} is in {} rows, not in one", rows.len());
        };
        let ask = ask.replace("{}", program);
        let printed = printed(&ask);
        assert!(
            printed.contains(|letter: char| letter.is_ascii_digit()),
            "{ask} prints no version: {printed}"
        );
        if !has_version(&printed, version) {
            differences.push(format!("{program}: checked with {version}, installed is: {printed}"));
        }
    }
    if !differences.is_empty() {
        println!("WARNING: the option tables were checked with other versions:\n{}", differences.join("\n"));
    }
}

#[test]
fn all_rows_of_versions_are_about_programs_of_the_tables() {
    let listed: Vec<&str> = listed_options().map(|(program, _)| program[0]).collect();
    for name in CHECKED.iter().flat_map(|(names, ..)| names.split(' ')) {
        assert!(listed.contains(&name), "{name} is in no option table");
    }
}

/// Returns whether a text has this version, and not only a longer one.
fn has_version(text: &str, version: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.')
        .any(|word| word.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()) == version)
}

/// Returns the first line that a command prints.
fn printed(line: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the real programs are run")]
    let mut command = std::process::Command::new("/bin/bash");
    command.args(["--noprofile", "--norc", "-c", line]).env_clear();
    command.envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8")]);
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
}
