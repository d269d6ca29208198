//! What a shell reads before its command, where somebody else starts it: makes its surroundings those of every command of ours.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::brand::Brand;
use super::{capture, spawn, warden};

/// What the shell reads before its command. Gone when the command is over.
#[derive(Debug)]
pub(super) struct First {
    path: PathBuf,
}

impl First {
    pub(super) fn write(
        scratch: &Path,
        environment: &[(OsString, OsString)],
        mark: &str,
    ) -> io::Result<Self> {
        let (mut file, path) = capture::new_file(scratch, "sh")?;
        let first = Self { path };
        file.write_all(first_words(environment, mark).as_bytes())?;
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

/// Nothing to read, no core files, no functions and no variables but ours, and the marks in the limits.
fn first_words(environment: &[(OsString, OsString)], mark: &str) -> String {
    let brand = |option: char, mark: &str| {
        let [soft, hard] = Brand::of(mark).texts();
        // a limit that somebody has set already, or a system without it, leaves the mark in the environment
        format!(
            "{{ ulimit -S -{option} {soft} && [ \"$(ulimit -H -{option})\" = unlimited ] && ulimit -H -{option} {hard}; }} 2>/dev/null\n"
        )
    };
    let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let names: Vec<&str> = environment.iter().filter_map(|(name, _)| name.to_str()).filter(is_name).collect();
    let brands = brand('x', mark) + &brand('R', warden::mark());
    format!(
        "exec </dev/null\nulimit -c 0\n{brands}\nunset -v BASH_ENV\nunset -f $(compgen -A function)\n\
         for _name in $(compgen -e); do\n  case ' {} {} PWD OLDPWD SHLVL _ ' in\n    *\" $_name \"*) ;;\n    \
         *) unset -v \"$_name\" ;;\n  esac\ndone 2>/dev/null\nunset -v _name\n",
        names.join(" "),
        spawn::MARKS
    )
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::super::{Shell, terminal};
    use super::*;

    /// Played with a real shell, as an editor would start it.
    #[tokio::test]
    async fn the_shell_has_our_variables_and_none_of_the_editors() {
        let scratch = tempfile::tempdir().unwrap();
        let environment = crate::command_environment([("PATH".into(), "/usr/bin:/bin".into())], &[]);
        let mark = Uuid::new_v4().to_string();
        let command = "read x; echo \"$x|$SECRET|$TERM|${BASH_ENV-none}|$(type -t trick)|$0|$(ulimit -S -x)|$(ulimit -H -x)\"";
        let shell = Shell { command, cwd: Path::new("/"), environment: &environment };
        let first = First::write(scratch.path(), &environment, &mark).unwrap();
        let order = terminal::order(shell, &mark, first.path());
        #[expect(clippy::disallowed_methods, reason = "the part of the editor is played here")]
        let mut editors = std::process::Command::new(&order.program);
        editors.args(&order.arguments).env_clear().env("SECRET", "key").env("BASH_FUNC_trick%%", "() { :; }");
        editors.envs(order.variables.clone()).stdin(std::process::Stdio::piped());
        let output = editors.output().unwrap();
        let [soft, hard] = Brand::of(&mark).texts();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("||dumb|none||{}|{soft}|{hard}\n", order.program)
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert!(order.variables.iter().any(|(name, value)| name == spawn::MARKS && value.ends_with(&mark)));
        first.call_off();
        assert_eq!(editors.output().unwrap().stdout, b"", "it was called off");
        drop(first);
        assert_eq!(fs_err::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
