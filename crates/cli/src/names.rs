//! The names the program answers to: as `droid`, `droid exec ...` works as `musher exec ...` does.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns the arguments as clap gets them. Programs that look for `droid` ask for its version and for `exec`, which we have, too.
pub(crate) fn arguments(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = arguments.collect();
    if arguments.first().is_some_and(|program| is_droid(program)) {
        // droid prints its version for -v, too
        for argument in arguments.iter_mut().skip(1).take(1).filter(|argument| *argument == "-v") {
            *argument = "--version".into();
        }
    }
    arguments
}

fn is_droid(program: &OsStr) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == "droid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Vec<String> {
        let words = words.iter().map(OsString::from);
        arguments(words).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn as_droid_the_short_version_flag_is_known() {
        assert_eq!(of(&["/opt/droid", "-v"])[1], "--version");
        assert_eq!(of(&["musher", "-v"])[1], "-v");
        assert_eq!(of(&["droid", "exec", "-v"])[2], "-v");
    }
}
