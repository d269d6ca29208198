//! A server that is a program: started like a command of the session; keeps the end of its stderr for error messages.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use musher_model::Secret;
use musher_tools::{Ended, Piped, Sandbox};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The maximum length of kept stderr output, in bytes.
const MAX_STDERR: usize = 4 << 10;
/// The maximum time to exit after stdin is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum time to read the rest of stderr after the exit.
const STDERR_TIMEOUT: Duration = Duration::from_millis(300);

/// A running server.
#[derive(Debug)]
pub(super) struct Child {
    piped: Piped,
    errors: Arc<Mutex<Vec<u8>>>,
    drain: JoinHandle<()>,
}

impl Child {
    /// Starts the program. Also returns its stdout and stdin.
    pub(super) async fn start(
        command: &str,
        args: &[String],
        env: &[(String, Secret)],
        cwd: &Path,
        environment: &[(OsString, OsString)],
        sandbox: Option<&Sandbox>,
    ) -> io::Result<(Self, pipe::Receiver, pipe::Sender)> {
        let line = std::iter::once("exec".to_owned())
            .chain([command].into_iter().map(quoted))
            .chain(args.iter().map(|arg| quoted(arg)));
        let line = line.collect::<Vec<_>>().join(" ");
        // values stay out of the command line, which every process can read
        let own = |name: &OsString| env.iter().any(|(own, _)| name.to_str() == Some(own));
        let mut all: Vec<_> = environment.iter().filter(|(name, _)| !own(name)).cloned().collect();
        all.extend(env.iter().map(|(name, value)| (name.into(), value.expose().into())));
        let mut piped = Piped::start(&line, cwd, &all, sandbox).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (piped.stdin.take(), piped.stdout.take(), piped.stderr.take())
        else {
            return Err(io::Error::other("a pipe is missing: this is a bug"));
        };
        let errors = Arc::new(Mutex::new(Vec::new()));
        let drain = tokio::spawn(drain(stderr, Arc::clone(&errors)));
        Ok((Self { piped, errors, drain }, stdout, stdin))
    }

    /// Stops the program if it does not exit by itself. Returns how it ended, with the end of its stderr.
    pub(super) async fn end(self) -> String {
        let ended = timeout(EXIT_TIMEOUT, self.piped.exited()).await;
        let how = match ended {
            Ok(Ended::Exited(code)) => format!("it ended with code {code}"),
            Ok(Ended::Killed(signal)) => format!("it was ended by signal {signal}"),
            Ok(_) | Err(_) => "it did not end by itself".to_owned(),
        };
        self.piped.end().await;
        // a detached grandchild may hold the pipe
        timeout(STDERR_TIMEOUT, self.drain).await.ok();
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&errors);
        match text.trim() {
            "" => how,
            text => format!("{how}: {text}"),
        }
    }
}

async fn drain(mut pipe: pipe::Receiver, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        // the lock is held briefly
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let over = kept.len().saturating_sub(MAX_STDERR);
        if over > 0 {
            // not in the middle of a word, because a part of a secret is not recognized
            let rest = kept[over..].iter().position(u8::is_ascii_whitespace);
            let end = rest.map_or(kept.len(), |rest| over + rest);
            kept.drain(..end);
        }
    }
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn arguments_and_variables_arrive_unchanged_and_stderr_is_kept() {
        let script = r#"printf '%s|' "$0" "$1" "$TOKEN" >&2; exit 3"#;
        let args = ["-c", script, "it's", "$HOME `x` \"y\"\n"].map(str::to_owned);
        let env = [("TOKEN".to_owned(), Secret::new("se cret"))];
        let environment = [("PATH".into(), "/usr/bin:/bin".into()), ("TOKEN".into(), "old".into())];
        let (child, _out, _in) =
            Child::start("sh", &args, &env, "/".as_ref(), &environment, None).await.unwrap();
        assert_eq!(child.end().await, "it ended with code 3: it's|$HOME `x` \"y\"\n|se cret|");
    }

    #[tokio::test]
    async fn server_that_does_not_exit_is_stopped() {
        let args = ["1000".to_owned()];
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        let (child, _out, _in) =
            Child::start("sleep", &args, &[], "/".as_ref(), &environment, None).await.unwrap();
        assert_eq!(child.end().await, "it did not end by itself");
    }
}
