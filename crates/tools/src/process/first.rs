//! What a shell reads before its command, where somebody else starts it: makes its surroundings those of every command of ours.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use musher_process::{MARKS_VARIABLE, Mark};

use super::capture;

/// What the shell reads before its command. Gone when the command is over.
#[derive(Debug)]
pub(super) struct First {
    path: PathBuf,
}

impl First {
    pub(super) fn write(
        scratch: &Path,
        environment: &[(OsString, OsString)],
        mark: &Mark,
    ) -> io::Result<Self> {
        let (mut file, path) = capture::new_file(scratch, "sh")?;
        let first = Self { path };
        file.write_all(&first_words(environment, mark))?;
        Ok(first)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a shell that begins from now on end before its command.
    pub(super) fn call_off(&self) {
        // fails if it is gone, and then the shell is known by its mark
        fs_err::write(&self.path, "exit 130\n").ok();
    }
}

impl Drop for First {
    fn drop(&mut self) {
        fs_err::remove_file(&self.path).ok();
    }
}

/// Nothing to read, no core files, the marks in the limits, and no functions and variables but ours.
///
/// The variables are here and not in what is said to the editor: editors keep logs of that.
fn first_words(environment: &[(OsString, OsString)], mark: &Mark) -> Vec<u8> {
    let mut words = format!(
        "exec </dev/null\nulimit -c 0\n{}unset -v BASH_ENV\nunset -f $(compgen -A function)\n\
         for _name in $(compgen -e); do\n  case $_name in\n    {} | PWD | OLDPWD | SHLVL | _) ;;\n    \
         *) unset -v \"$_name\" ;;\n  esac\ndone 2>/dev/null\nunset -v _name\n",
        mark.shell_commands(),
        MARKS_VARIABLE
    )
    .into_bytes();
    for (name, value) in environment.iter().filter(|(name, _)| is_settable(name)) {
        words.extend(b"export ");
        words.extend(name.as_bytes());
        words.extend(b"='");
        words.extend(value.as_bytes().iter().flat_map(|byte| match byte {
            b'\'' => b"'\\''".as_slice(),
            byte => std::slice::from_ref(byte),
        }));
        words.extend(b"'\n");
    }
    words
}

/// Whether a shell can set a variable of this name, and does not do it by itself.
fn is_settable(name: &OsStr) -> bool {
    const ITS_OWN: [&str; 9] =
        ["BASHOPTS", "BASH_VERSINFO", "EUID", "OLDPWD", "PPID", "PWD", "SHELLOPTS", "SHLVL", "UID"];
    let bytes = name.as_bytes();
    let is_name = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let begins_well = bytes.first().is_some_and(|byte| !byte.is_ascii_digit()) && bytes != b"_";
    is_name && begins_well && !ITS_OWN.iter().any(|own| name == *own)
}

#[cfg(test)]
mod tests {
    use super::super::{Shell, terminal};
    use super::*;

    /// Played with a real shell, as an editor would start it.
    #[tokio::test]
    async fn the_shell_has_our_variables_and_none_of_the_editors() {
        let scratch = tempfile::tempdir().unwrap();
        let ours = [("PATH", "/usr/bin:/bin"), ("QUOTED", "it's $HOME\n`x`"), ("UID", "7"), ("1X", "no")];
        let ours = ours.map(|(name, value)| (name.into(), value.into()));
        let environment = crate::command_environment(ours, &[]);
        let mark = Mark::random();
        let command = "read x; echo \"$x|$SECRET|$TERM|${BASH_ENV-none}|$(type -t trick)|$0|$(ulimit -S -x)|$(ulimit -H -x)|$QUOTED\"";
        let shell = Shell { command, cwd: Path::new("/"), environment: &environment };
        let first = First::write(scratch.path(), &environment, &mark).unwrap();
        let order = terminal::order(shell, &mark, first.path());
        #[expect(clippy::disallowed_methods, reason = "the part of the editor is played here")]
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
        first.call_off();
        assert_eq!(editors.output().unwrap().stdout, b"", "it was called off");
        drop(first);
        assert_eq!(fs_err::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
