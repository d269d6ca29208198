//! `musher daemon --unit`: a file that lets the system start the daemon when the user logs in. Pure, except for [`print`].

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, anyhow};

use crate::args::Daemon;
use crate::daemon_client::LOG_FILE;
use crate::embedded::{self, HOME_VARIABLE};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Prints the file for this system.
pub(super) fn print(args: &Daemon, printer: Printer) -> Result<Exit, Failure> {
    if args.token.is_some() {
        let failure =
            Failure::setup(anyhow!("cannot write the token into a service file: others can read it"));
        return Err(failure.hint("omit `--token`; the daemon then uses ~/.musher/daemon.token"));
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    let home = embedded::home()?;
    let words = command(&program, &home, std::env::args_os().skip(1))?;
    let file = if cfg!(target_os = "macos") { launchd(&words, &home) } else { systemd(&words, &home) };
    printer.exact(file.trim_end())?;
    Ok(Exit::Done)
}

/// Returns the command line of the service: the arguments of this one, without `--unit`, and with a log.
fn command(
    program: &Path,
    home: &Path,
    args: impl Iterator<Item = OsString>,
) -> Result<Vec<String>, Failure> {
    let mut words = vec![text(program)?, "--log".to_owned(), text(&home.join(LOG_FILE))?];
    for arg in args.filter(|arg| arg != "--unit") {
        words.push(arg.into_string().map_err(|arg| anyhow!("`{}` is not UTF-8", arg.display()))?);
    }
    Ok(words)
}

fn text(path: &Path) -> Result<String, Failure> {
    Ok(path.to_str().map(str::to_owned).with_context(|| format!("`{}` is not UTF-8", path.display()))?)
}

/// Returns a systemd user unit.
fn systemd(words: &[String], home: &Path) -> String {
    // `%` and `$` begin specifiers and variables
    let quoted = |word: &str| {
        let word = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
        format!("\"{}\"", word.replace('\n', "\\n"))
    };
    let command: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    let variable = quoted(&format!("{HOME_VARIABLE}={}", home.display())).replace("$$", "$");
    format!(
        "# ~/.config/systemd/user/musher.service\n\
         # systemctl --user daemon-reload && systemctl --user enable --now musher\n\
         # loginctl enable-linger keeps it running while you are logged out\n\
         [Unit]\n\
         Description=musher daemon\n\
         \n\
         [Service]\n\
         ExecStart={}\n\
         Environment={variable}\n\
         Restart=on-failure\n\
         RestartSec=1\n\
         KillMode=mixed\n\
         TimeoutStopSec=20\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        command.join(" ")
    )
}

/// Returns a launchd agent.
fn launchd(words: &[String], home: &Path) -> String {
    let escaped = |word: &str| word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let command = words
        .iter()
        .map(|word| format!("    <string>{}</string>", escaped(word)))
        .collect::<Vec<_>>()
        .join("\n");
    let home = escaped(&home.to_string_lossy());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- ~/Library/LaunchAgents/rs.musher.daemon.plist, then: launchctl load -w that file -->\n\
         <plist version=\"1.0\">\n<dict>\n\
         \x20 <key>Label</key>\n  <string>rs.musher.daemon</string>\n\
         \x20 <key>ProgramArguments</key>\n  <array>\n{command}\n  </array>\n\
         \x20 <key>EnvironmentVariables</key>\n  <dict>\n    <key>{HOME_VARIABLE}</key>\n    <string>{home}</string>\n  </dict>\n\
         \x20 <key>RunAtLoad</key>\n  <true/>\n\
         \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
         </dict>\n</plist>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Vec<String> {
        let args = ["daemon", "--unit", "--listen", "unix:/tmp/50% \"$x\" & <y>"].map(OsString::from);
        command(Path::new("/opt/my bin/musher"), Path::new("/home/me/.musher"), args.into_iter()).unwrap()
    }

    #[test]
    fn systemd_unit_quotes_the_arguments_and_omits_its_own_flag() {
        let unit = systemd(&words(), Path::new("/home/me/.musher"));
        let line = unit.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
        assert_eq!(
            line,
            r#"ExecStart="/opt/my bin/musher" "--log" "/home/me/.musher/daemon.log" "daemon" "--listen" "unix:/tmp/50%% \"$$x\" & <y>""#
        );
        assert!(unit.contains("\nEnvironment=\"MUSHER_HOME=/home/me/.musher\"\n"), "{unit}");
    }

    #[test]
    fn launchd_file_escapes_the_arguments() {
        let file = launchd(&words(), Path::new("/home/me/.musher"));
        assert!(file.contains("    <string>unix:/tmp/50% \"$x\" &amp; &lt;y&gt;</string>\n"), "{file}");
        assert!(!file.contains("--unit"));
    }
}
