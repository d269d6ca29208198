//! Programs of the user: the editor and the pager have the terminal, commands of `!` have none.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use musher_process::{Child, Streams};

use crate::style::Style;
use crate::variables::value;
use crate::view::text::Line;

/// How much of the output of a command is kept: its end.
const MAX_OUTPUT: usize = 64 * 1024;

/// The outcome of a command of the user.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) code: Option<i32>,
}

/// Opens a text in the user's editor and returns what it became. Blocks while the editor has the terminal.
pub(crate) fn edit(text: &str, cwd: &Path) -> std::io::Result<String> {
    let file = tempfile::Builder::new().prefix("musher-").suffix(".md").tempfile()?;
    fs_err::write(file.path(), text)?;
    let editor = value("VISUAL").or_else(|| value("EDITOR")).unwrap_or_else(|| "vi".into());
    foreground(&editor, file.path(), cwd)?;
    fs_err::read_to_string(file.path())
}

/// Shows lines in the user's pager. Blocks while the pager has the terminal.
pub(crate) fn page(lines: &[Line], style: Style, cwd: &Path) -> std::io::Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    let text: Vec<String> = lines.iter().map(|line| line.styled(style).as_str().to_owned()).collect();
    fs_err::write(file.path(), text.join("\n"))?;
    let pager = value("PAGER").unwrap_or_else(|| "less -R".into());
    foreground(&pager, file.path(), cwd)
}

/// Runs a command line of the user with a file as its argument, in the foreground of the terminal.
fn foreground(command: &OsString, file: &Path, cwd: &Path) -> std::io::Result<()> {
    let mut line = command.clone();
    line.push(" \"$1\"");
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's own program, which has the terminal and is waited for"
    )]
    let mut shell = std::process::Command::new("sh");
    let status = shell.arg("-c").arg(line).arg("sh").arg(file).current_dir(cwd).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("`{}` ended with {status}", command.display())))
    }
}

/// A program that is killed when this is dropped, whatever else waits for it.
struct Killed(Arc<Child>);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// Runs a command of the user without a terminal. Dropping the future ends it.
pub(crate) async fn run(command: String, cwd: PathBuf) -> std::io::Result<Ran> {
    let script = format!("{{ {command}\n}} 2>&1");
    let streams = Streams { stdout: Stdio::piped(), ..Streams::null() };
    let mut child = musher_process::Command::new("sh").arg("-c").arg(script).cwd(cwd).spawn(streams).await?;
    let stdout = child.stdout.take();
    // killed when this is dropped, so that the thread below ends, too, even if the command has closed its output
    let child = Killed(Arc::new(child));
    let waited = Arc::clone(&child.0);
    let reading = tokio::task::spawn_blocking(move || {
        let mut kept = Vec::new();
        let mut left_out = 0;
        if let Some(mut stdout) = stdout {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = stdout.read(&mut buffer) {
                kept.extend_from_slice(&buffer[..count]);
                if kept.len() > 2 * MAX_OUTPUT {
                    left_out += kept.len() - MAX_OUTPUT;
                    kept.drain(..kept.len() - MAX_OUTPUT);
                }
            }
        }
        let from = kept.len().saturating_sub(MAX_OUTPUT);
        left_out += from;
        let code = waited.reap().ok().and_then(|status| status.code());
        let mut output = String::from_utf8_lossy(&kept[from..]).into_owned();
        if left_out > 0 {
            output.insert_str(0, &format!("(the first {left_out} bytes are left out)\n"));
        }
        (output, code)
    });
    let (output, code) = reading.await.map_err(std::io::Error::other)?;
    drop(child);
    Ok(Ran { output, code })
}
