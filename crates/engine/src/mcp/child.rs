//! A server that is a program: started like a command of the session, its complaints kept for when it fails.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use musher_model::Secret;
use musher_tools::{Ended, Piped};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How much of what it complains about is kept.
const KEPT: usize = 4 << 10;
/// How long it may take to end once its input has ended.
const GRACE: Duration = Duration::from_secs(1);
/// How long its last words may take.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// A running server.
#[derive(Debug)]
pub(super) struct Child {
    piped: Piped,
    complaints: Arc<Mutex<Vec<u8>>>,
    drain: JoinHandle<()>,
}

impl Child {
    /// Starts it. Gives its two pipes, too.
    pub(super) async fn start(
        command: &str,
        args: &[String],
        env: &[(String, Secret)],
        cwd: &Path,
        environment: &[(OsString, OsString)],
    ) -> io::Result<(Self, pipe::Receiver, pipe::Sender)> {
        let line = std::iter::once("exec".to_owned())
            .chain([command].into_iter().map(quoted))
            .chain(args.iter().map(|arg| quoted(arg)));
        let line = line.collect::<Vec<_>>().join(" ");
        // values stay out of the command line, where everybody could read them
        let own = |name: &OsString| env.iter().any(|(own, _)| name.to_str() == Some(own));
        let mut all: Vec<_> = environment.iter().filter(|(name, _)| !own(name)).cloned().collect();
        all.extend(env.iter().map(|(name, value)| (name.into(), value.expose().into())));
        let mut piped = Piped::start(&line, cwd, &all).await?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (piped.stdin.take(), piped.stdout.take(), piped.stderr.take())
        else {
            return Err(io::Error::other("a pipe is missing: this is a bug"));
        };
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let drain = tokio::spawn(drain(stderr, Arc::clone(&complaints)));
        Ok((Self { piped, complaints, drain }, stdout, stdin))
    }

    /// Ends it, if it has not ended by itself. Says how it ended and what it complained about last.
    pub(super) async fn end(self) -> String {
        let ended = timeout(GRACE, self.piped.exited()).await;
        let how = match ended {
            Ok(Ended::Exited(code)) => format!("it ended with code {code}"),
            Ok(Ended::Killed(signal)) => format!("it was ended by signal {signal}"),
            Ok(_) | Err(_) => "it did not end by itself".to_owned(),
        };
        self.piped.end().await;
        // a grandchild that got away may hold the pipe
        timeout(LAST_WORDS, self.drain).await.ok();
        let complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&complaints);
        match text.trim() {
            "" => how,
            text => format!("{how}: {text}"),
        }
    }
}

async fn drain(mut pipe: pipe::Receiver, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        // held for a few instructions only
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
}

/// A word that the shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn words_and_variables_arrive_as_they_are_and_last_words_are_kept() {
        let script = r#"printf '%s|' "$0" "$1" "$TOKEN" >&2; exit 3"#;
        let args = ["-c", script, "it's", "$HOME `x` \"y\"\n"].map(str::to_owned);
        let env = [("TOKEN".to_owned(), Secret::new("se cret"))];
        let environment = [("PATH".into(), "/usr/bin:/bin".into()), ("TOKEN".into(), "old".into())];
        let (child, _out, _in) = Child::start("sh", &args, &env, "/".as_ref(), &environment).await.unwrap();
        assert_eq!(child.end().await, "it ended with code 3: it's|$HOME `x` \"y\"\n|se cret|");
    }

    #[tokio::test]
    async fn a_server_that_does_not_end_is_ended() {
        let args = ["1000".to_owned()];
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        let (child, _out, _in) = Child::start("sleep", &args, &[], "/".as_ref(), &environment).await.unwrap();
        assert_eq!(child.end().await, "it did not end by itself");
    }
}
