//! Starts cargo as a shell would, not as a child of the `cargo run` that started this program.

use std::ffi::OsStr;
use std::process::Command;

/// The variables that `cargo run` sets for the package of the program it runs.
const OF_OUR_PACKAGE: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// A cargo command.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(args);
    // what is built once needs no incremental state, which takes longer to write and most of the space
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        command.env("CARGO_INCREMENTAL", "0");
    }
    forget_our_package(&mut command);
    command
}

/// Build scripts (such as that of `ring`) run again when these variables change, and everything above them is rebuilt: once for each switch
/// between `cargo xtask` and plain cargo. Variables of the user, such as `CARGO_TARGET_DIR`, are kept.
pub(crate) fn forget_our_package(command: &mut Command) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_our_package(name)) {
        command.env_remove(name);
    }
}

fn is_of_our_package(name: &OsStr) -> bool {
    OF_OUR_PACKAGE.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cargo_run_messages_about_our_package_are_removed() {
        // tests are run by cargo too, so the variables of this package are set
        let command = cargo(&["--version"]);
        let removed: Vec<_> =
            command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        assert!(
            removed.contains(&OsStr::new("CARGO_PKG_NAME"))
                && removed.contains(&OsStr::new("CARGO_MANIFEST_DIR"))
        );
        for kept in ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_TERM_COLOR", "CARGO", "PATH"] {
            assert!(!is_of_our_package(OsStr::new(kept)), "{kept}");
        }
    }
}
