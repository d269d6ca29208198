//! `musher daemon status`, `stop` and `logs`: for the daemon of this home.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use musher_engine::store::StoreError;
use musher_engine::store::shared::DaemonFiles;
use serde_json::json;

use super::upgrade::TURNS_TIMEOUT;
use crate::args::{DaemonArgs, DaemonLogs, DaemonStatus};
use crate::daemon_client::{LOG_FILE, connect, is_busy};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// How long a daemon may take to end: its turns are interrupted and its agents end first.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// How often it is looked whether it has ended.
const STOP_POLL: Duration = Duration::from_millis(50);

/// Prints whether a daemon runs, and what it does.
pub(super) async fn status(args: &DaemonStatus, printer: Printer) -> Result<Exit, Failure> {
    let Some(Running { pid }) = running(&embedded::home()?)? else {
        if args.json {
            printer.json(&json!({"running": false}).to_string())?;
        } else {
            printer.data("not running")?;
        }
        return Ok(Exit::Failed);
    };
    let daemon = connect(&DaemonArgs::default()).await?;
    let open = daemon.opened_sessions().await?;
    let waiting = daemon.inbox().await?.len();
    daemon.close().await;
    let working = open.iter().filter(|session| is_busy(session)).count();
    if args.json {
        let status = json!({
            "running": true, "pid": pid, "address": daemon.address(), "sessions": open.len(), "working": working,
            "inbox": waiting,
        });
        printer.json(&status.to_string())?;
        return Ok(Exit::Done);
    }
    let pid = pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    printer.data(format!("running on {}{pid}", daemon.address()).as_str())?;
    printer
        .data(format!("{} sessions open, {working} working, {waiting} requests wait", open.len()).as_str())?;
    Ok(Exit::Done)
}

/// Ends the daemon in order, and waits for it.
pub(super) async fn stop(printer: Printer) -> Result<Exit, Failure> {
    let home = embedded::home()?;
    let pid = match running(&home)? {
        None => {
            printer.note("not running");
            return Ok(Exit::Done);
        }
        Some(Running { pid }) => pid.context("the daemon has not said which process it is")?,
    };
    send(pid, Wanted::End)?;
    let begun = Instant::now();
    while running(&home)?.is_some() {
        if begun.elapsed() > STOP_TIMEOUT {
            return Err(anyhow!("the daemon did not end within {STOP_TIMEOUT:?}").into());
        }
        tokio::time::sleep(STOP_POLL).await;
    }
    printer.note("stopped");
    Ok(Exit::Done)
}

/// Replaces the daemon by the program that is at its path now, and waits for that.
pub(super) async fn upgrade(printer: Printer) -> Result<Exit, Failure> {
    let home = embedded::home()?;
    let Some(Running { pid }) = running(&home)? else {
        return Err(Failure::setup(anyhow!("no daemon runs in `{}`", home.display())));
    };
    let files = DaemonFiles::open(&home);
    let before = files.holder();
    send(pid.context("the daemon has not said which process it is")?, Wanted::Upgrade)?;
    let begun = Instant::now();
    while files.holder() == before {
        if begun.elapsed() > TURNS_TIMEOUT + STOP_TIMEOUT {
            return Err(anyhow!("the daemon continues as it is: turns did not end, or the new program did not start; see its log").into());
        }
        if running(&home)?.is_none() {
            return Err(anyhow!("the daemon has ended; see its log").into());
        }
        tokio::time::sleep(STOP_POLL).await;
    }
    printer.note("upgraded");
    Ok(Exit::Done)
}

/// Prints the end of the log.
pub(super) fn logs(args: &DaemonLogs, printer: Printer) -> Result<Exit, Failure> {
    let path = embedded::home()?.join(LOG_FILE);
    let file = match fs_err::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::setup(anyhow!("no log in `{}`", path.display())).hint(
                "a daemon that `musher run --daemon` or `musher daemon --unit` has started logs there; others with `--log`",
            ));
        }
        Err(error) => return Err(Failure::setup(error)),
    };
    let mut lines = std::collections::VecDeque::new();
    for line in BufReader::new(file).split(b'\n') {
        if lines.len() == args.lines {
            lines.pop_front();
        }
        lines.push_back(line?);
    }
    for line in lines.into_iter().take(args.lines) {
        printer.exact(&String::from_utf8_lossy(&line))?;
    }
    Ok(Exit::Done)
}

/// A daemon that runs.
struct Running {
    /// Its process, once it has said which it is.
    pid: Option<u32>,
}

/// Returns whether a daemon runs in this home, and its process if it is known.
fn running(home: &Path) -> Result<Option<Running>, Failure> {
    match DaemonFiles::open(home).lock() {
        Ok(_free) => Ok(None),
        Err(StoreError::DaemonRuns { pid }) => Ok(Some(Running { pid })),
        Err(error) => Err(Failure::setup(error)),
    }
}

/// What a daemon is asked for.
#[derive(Clone, Copy)]
enum Wanted {
    End,
    Upgrade,
}

#[cfg(unix)]
fn send(pid: u32, wanted: Wanted) -> Result<(), Failure> {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("the process id is out of range")?;
    let signal = match wanted {
        Wanted::End => Signal::TERM,
        Wanted::Upgrade => Signal::USR2,
    };
    Ok(kill_process(pid, signal).context("cannot signal the daemon")?)
}

#[cfg(not(unix))]
fn send(_pid: u32, _wanted: Wanted) -> Result<(), Failure> {
    Err(Failure::setup(anyhow!("end the daemon in the task manager")))
}
