//! A sandbox as arguments: for programs that another process starts, such as an editor in its terminal.
//!
//! That process starts a launcher with these arguments; the launcher applies the sandbox to itself and becomes the program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::{Layers, Network, Sandbox};

const WRITABLE: &str = "--writable";
const PROTECTED: &str = "--protected";
const TEMP: &str = "--temp";
const NETWORK: &str = "--network";
const CHANGES_FILES: &str = "--changes-files";
const LANDLOCK: &str = "--landlock";
const SECCOMP: &str = "--seccomp";
const NAMESPACES: &str = "--namespaces";
const END: &str = "--";

impl Sandbox {
    /// Returns the sandbox as arguments for a launcher, which passes them to [`launch`](Self::launch) with the program behind them.
    ///
    /// ```
    /// use musher_process::Sandbox;
    ///
    /// let sandbox = Sandbox::writable(["/work"]).temp("/tmp/private");
    /// let mut arguments = sandbox.arguments();
    /// arguments.extend(["cargo".into(), "test".into()]);
    /// let (parsed, program) = Sandbox::parse_arguments(arguments).expect("they are ours");
    /// assert_eq!((parsed, program), (sandbox, vec!["cargo".into(), "test".into()]));
    /// ```
    pub fn arguments(&self) -> Vec<OsString> {
        let paths = |name: &'static str, paths: &[PathBuf]| -> Vec<OsString> {
            paths.iter().flat_map(|path| [name.into(), path.clone().into_os_string()]).collect()
        };
        let network = match self.network {
            Network::On => "on",
            Network::Local => "local",
            Network::Off => "off",
        };
        let mut all = paths(WRITABLE, &self.writable);
        all.extend(paths(PROTECTED, &self.protected));
        all.extend(self.temp.iter().flat_map(|temp| [TEMP.into(), temp.clone().into_os_string()]));
        all.extend([NETWORK.into(), network.into()]);
        all.extend(
            self.layers.landlock.iter().flat_map(|version| [LANDLOCK.into(), version.to_string().into()]),
        );
        let switches = [
            (CHANGES_FILES, self.changes_files),
            (SECCOMP, self.layers.seccomp),
            (NAMESPACES, self.layers.namespaces),
        ];
        all.extend(switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name.into()));
        all.push(END.into());
        all
    }

    /// Parses arguments for a launcher: the sandbox, and the program with its arguments. `None` if they are not in this form.
    pub fn parse_arguments(arguments: impl IntoIterator<Item = OsString>) -> Option<(Self, Vec<OsString>)> {
        let mut arguments = arguments.into_iter();
        let mut sandbox = Self { layers: Layers::default(), ..Self::unprobed() };
        let mut has_network = false;
        loop {
            let name = arguments.next()?;
            match name.to_str()? {
                WRITABLE => sandbox.writable.push(arguments.next()?.into()),
                PROTECTED => sandbox.protected.push(arguments.next()?.into()),
                TEMP => sandbox.temp = Some(arguments.next()?.into()),
                NETWORK => {
                    has_network = true;
                    sandbox.network = match arguments.next()?.to_str()? {
                        "on" => Network::On,
                        "local" => Network::Local,
                        "off" => Network::Off,
                        _ => return None,
                    };
                }
                CHANGES_FILES => sandbox.changes_files = true,
                LANDLOCK => sandbox.layers.landlock = Some(arguments.next()?.to_str()?.parse().ok()?),
                SECCOMP => sandbox.layers.seccomp = true,
                NAMESPACES => sandbox.layers.namespaces = true,
                END => break,
                _ => return None,
            }
        }
        has_network.then(|| (sandbox, arguments.collect()))
    }

    /// Applies the sandbox to this process and replaces it by a program. Returns only if that fails.
    ///
    /// For a process with one thread that has nothing else to do.
    #[cfg(target_os = "linux")]
    pub fn launch(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> io::Error {
        use std::os::unix::process::CommandExt;

        #[expect(clippy::disallowed_methods, reason = "the program starts where this process was started")]
        let cwd = std::env::current_dir();
        let prepared = match cwd.and_then(|cwd| super::Prepared::new(self, Some(&cwd))) {
            Ok(prepared) => prepared,
            Err(error) => return error,
        };
        #[expect(clippy::disallowed_methods, reason = "it replaces this process, so it ends with its parent")]
        let mut command = std::process::Command::new(program);
        command.args(arguments);
        if let Some(temp) = &self.temp {
            command.env("TMPDIR", temp);
        }
        // SAFETY: `apply` makes plain system calls only; this process has no other threads, and becomes the program
        #[expect(unsafe_code, reason = "the sandbox must be applied right before the program starts")]
        unsafe {
            command.pre_exec(move || prepared.apply());
        }
        command.exec()
    }

    /// Fails: only Linux has a sandbox.
    #[cfg(not(target_os = "linux"))]
    pub fn launch(
        &self,
        _program: impl AsRef<OsStr>,
        _arguments: impl IntoIterator<Item = OsString>,
    ) -> io::Error {
        io::Error::from(io::ErrorKind::Unsupported)
    }

    /// Returns the directory for temporary files.
    pub fn temp_folder(&self) -> Option<&Path> {
        self.temp.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_sandbox_survives() {
        let all = Layers { landlock: Some(7), seccomp: true, namespaces: true };
        let full = Sandbox::writable(["/a", "/b c"])
            .protect(["/a/.git"])
            .temp("/t")
            .network(Network::Local)
            .layers(all);
        let bare = Sandbox::read_only().network(Network::On).layers(Layers::default());
        for sandbox in [full, bare, Sandbox::read_only()] {
            let arguments = sandbox.arguments().into_iter().chain(["--".into(), "x".into()]);
            let program: Vec<OsString> = vec!["--".into(), "x".into()];
            assert_eq!(Sandbox::parse_arguments(arguments), Some((sandbox, program)));
        }
    }

    #[test]
    fn arguments_that_are_not_understood_are_no_sandbox() {
        let text = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for words in [
            &["--network", "off"][..],
            &["--"],
            &["--netwrk", "off", "--"],
            &["--network", "lan", "--"],
            &["sh"],
        ] {
            assert_eq!(Sandbox::parse_arguments(text(words)), None, "{words:?}");
        }
    }
}
