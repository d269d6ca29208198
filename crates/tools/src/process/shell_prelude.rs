//! The prelude that a shell reads before its command if the editor starts it: gives it the environment of musher's own commands.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use musher_process::{MARKS_VARIABLE, Mark};

use super::capture;

/// A file with the prelude of one shell. Removed when it is dropped.
#[derive(Debug)]
pub(super) struct ShellPrelude {
    path: PathBuf,
}

impl ShellPrelude {
    pub(super) fn write(
        scratch: &Path,
        environment: &[(OsString, OsString)],
        mark: &Mark,
    ) -> io::Result<Self> {
        let (mut file, path) = capture::new_file(scratch, "sh")?;
        let prelude = Self { path };
        file.write_all(&commands(environment, mark))?;
        Ok(prelude)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a shell that starts from now on exit before its command.
    pub(super) fn cancel(&self) {
        // fails if the file is gone; then the shell has started and is found by its mark
        fs_err::write(&self.path, "exit 130\n").ok();
    }
}

impl Drop for ShellPrelude {
    fn drop(&mut self) {
        fs_err::remove_file(&self.path).ok();
    }
}

/// Empties stdin, disables core files, sets the marks in the limits, and removes all functions and variables but musher's.
///
/// The variables are in the file and not in the request to the editor, because editors log requests.
fn commands(environment: &[(OsString, OsString)], mark: &Mark) -> Vec<u8> {
    let mut script = format!(
        "exec </dev/null\nulimit -c 0\n{}unset -v BASH_ENV\nunset -f $(compgen -A function)\n\
     for _name in $(compgen -e); do\n  case $_name in\n    {} | PWD | OLDPWD | SHLVL | _) ;;\n    \
         *) unset -v \"$_name\" ;;\n  esac\ndone 2>/dev/null\nunset -v _name\n",
        mark.shell_commands(),
        MARKS_VARIABLE
    )
    .into_bytes();
    for (name, value) in environment.iter().filter(|(name, _)| is_settable(name)) {
        script.extend(b"export ");
        script.extend(name.as_bytes());
        script.extend(b"='");
        script.extend(value.as_bytes().iter().flat_map(|byte| match byte {
            b'\'' => b"'\\''".as_slice(),
            byte => std::slice::from_ref(byte),
        }));
        script.extend(b"'\n");
    }
    script
}

/// Returns whether a shell can set a variable of this name, and does not set it by itself.
fn is_settable(name: &OsStr) -> bool {
    const SET_BY_SHELL: [&str; 9] =
        ["BASHOPTS", "BASH_VERSINFO", "EUID", "OLDPWD", "PPID", "PWD", "SHELLOPTS", "SHLVL", "UID"];
    let bytes = name.as_bytes();
    let is_name = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let begins_well = bytes.first().is_some_and(|byte| !byte.is_ascii_digit()) && bytes != b"_";
    is_name && begins_well && !SET_BY_SHELL.iter().any(|own| name == *own)
}

#[cfg(test)]
mod tests {
    use super::super::{Shell, terminal};
    use super::*;

    /// Runs a real shell, as an editor would start it.
    #[tokio::test]
    async fn shell_has_the_command_environment_and_nothing_of_the_editor() {
        let scratch = tempfile::tempdir().unwrap();
        let ours = [("PATH", "/usr/bin:/bin"), ("QUOTED", "it's $HOME\n`x`"), ("UID", "7"), ("1X", "no")];
        let ours = ours.map(|(name, value)| (name.into(), value.into()));
        let environment = crate::command_environment(ours, &[], &[]);
        let mark = Mark::random();
        let command = "read x; echo \"$x|$SECRET|$TERM|${BASH_ENV-none}|$(type -t trick)|$0|$(ulimit -S -x)|$(ulimit -H -x)|$QUOTED\"";
        let shell =
            Shell { command, cwd: Path::new("/"), environment: &environment, sandbox: None, launcher: None };
        let prelude = ShellPrelude::write(scratch.path(), &environment, &mark).unwrap();
        let launch = terminal::Launch::of(shell).unwrap();
        let order = terminal::order(shell, launch, &mark, prelude.path());
        #[expect(clippy::disallowed_methods, reason = "the test plays the editor")]
        let mut editors = std::process::Command::new(&order.program);
        editors.args(&order.arguments).env_clear().env("SECRET", "key").env("BASH_FUNC_trick%%", "() { :; }");
        editors.envs(order.variables.clone()).stdin(std::process::Stdio::piped());
        let output = editors.output().unwrap();
        let marking = mark.shell_commands();
        let limit =
            |kind: &str| marking.split(&format!("ulimit -{kind} -x ")).nth(1)?.split([' ', ';']).next();
        let (soft, hard) = (limit("S").unwrap(), limit("H").unwrap());
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("||dumb|none||{}|{soft}|{hard}|it's $HOME\n`x`\n", order.program)
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        let (name, value) = mark.variable();
        assert!(order.variables.contains(&(name.to_owned(), value)));
        prelude.cancel();
        assert_eq!(editors.output().unwrap().stdout, b"", "cancelled");
        drop(prelude);
        assert_eq!(fs_err::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
