//! Connects commands to the daemon: which one, with which token, and what to say if there is none.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use musher::transport::Launch;
use musher::wire::Count;
use musher::{Daemon, SessionInfo};

use crate::args::DaemonArgs;
use crate::commands::daemon::TOKEN_VARIABLE;
use crate::embedded;
use crate::exit::Failure;
use crate::variables;

/// The address of the daemon if `--daemon-url` is absent.
pub(crate) const URL_VARIABLE: &str = "MUSHER_DAEMON_URL";
/// The log of a daemon that a command has started, in the home directory.
pub(crate) const LOG_FILE: &str = "daemon.log";
/// How many sessions on disk are looked through for a prefix.
const MAX_SESSIONS: usize = 1000;
/// How long a list may wait for the states of sessions.
const STATES_TIMEOUT: Duration = Duration::from_secs(2);

/// Connects to the daemon.
pub(crate) async fn connect(args: &DaemonArgs) -> Result<Daemon, Failure> {
    options(args)?.await.map_err(|error| unreachable(args, error))
}

/// Connects to the daemon, and starts it if there is none and no address was given.
pub(crate) async fn connect_or_start(args: &DaemonArgs) -> Result<Daemon, Failure> {
    let options = options(args)?;
    if url(args).is_some() {
        return connect(args).await;
    }
    let home = embedded::home()?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let launch = Launch::new(program).arg("--log").arg(home.join(LOG_FILE)).arg("daemon").cwd("/");
    let daemon = options.start(launch).await;
    daemon.map_err(|error| {
        let log = home.join(LOG_FILE);
        unreachable(args, error).hint(format!("its log is in `{}`", log.display()))
    })
}

/// Returns the working states of the sessions in the daemon, if one runs; a list does not fail because there is none.
pub(crate) async fn states() -> Vec<SessionInfo> {
    let args = DaemonArgs::default();
    let asking = async {
        let daemon = connect(&args).await.ok()?;
        let open = daemon.opened_sessions().await.ok();
        daemon.close().await;
        open
    };
    tokio::time::timeout(STATES_TIMEOUT, asking).await.ok().flatten().unwrap_or_default()
}

/// Finds a session in the daemon by its id or a prefix of it. Without one, the session that works, or else was used last.
pub(crate) async fn find(daemon: &Daemon, wanted: Option<&str>) -> Result<String, Failure> {
    let mut open = daemon.opened_sessions().await?;
    open.sort_by_key(|session| {
        std::cmp::Reverse((is_busy(session), session.updated_at.as_ref().map(Count::get)))
    });
    let Some(wanted) = wanted else {
        let newest = open.into_iter().next().map(|session| session.session_id);
        let newest = match newest {
            Some(newest) => Some(newest),
            None => daemon.available_sessions(1).await?.into_iter().next().map(|session| session.session_id),
        };
        return newest.ok_or_else(|| {
            Failure::setup(anyhow!("no sessions in the daemon")).hint("`musher run --daemon` creates one")
        });
    };
    let stored = daemon.available_sessions(MAX_SESSIONS).await?;
    let mut ids: Vec<String> = open.into_iter().chain(stored).map(|session| session.session_id).collect();
    ids.retain(|id| id.starts_with(wanted));
    ids.sort();
    ids.dedup();
    match &ids[..] {
        [id] => Ok(id.clone()),
        _ if ids.iter().any(|id| id == wanted) => Ok(wanted.to_owned()),
        [] => Err(Failure::setup(anyhow!("unknown session `{wanted}`"))
            .hint("`musher sessions --all` lists sessions")),
        several => {
            let shown: Vec<_> = several.iter().take(5).map(String::as_str).collect();
            Err(Failure::setup(anyhow!("`{wanted}` is ambiguous: it matches {} sessions", several.len()))
                .hint(format!("such as {}", shown.join(", "))))
        }
    }
}

/// Returns whether an agent works.
pub(crate) fn is_busy(session: &SessionInfo) -> bool {
    session.working_state.as_ref().is_some_and(|state| *state != musher::wire::DroidWorkingState::Idle)
}

fn options(args: &DaemonArgs) -> Result<musher::ConnectDaemon, Failure> {
    let options = Daemon::connect().home(embedded::home()?);
    let options = match url(args) {
        Some(url) => options.url(url.to_string_lossy()),
        None => options,
    };
    Ok(match variables::value(TOKEN_VARIABLE) {
        Some(token) => options.token(token.to_string_lossy()),
        None => options,
    })
}

fn url(args: &DaemonArgs) -> Option<OsString> {
    args.url.as_ref().map(OsString::from).or_else(|| variables::value(URL_VARIABLE))
}

/// Names the daemon instead of an agent in a failure to connect.
pub(crate) fn not_connected(error: musher::Error) -> anyhow::Error {
    if !error.is_connection() {
        return error.into();
    }
    let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    let chain = causes.into_iter().rev().map(anyhow::Error::msg).reduce(anyhow::Error::context);
    match chain {
        Some(chain) => chain.context("cannot connect to the daemon"),
        None => error.into(),
    }
}

fn unreachable(args: &DaemonArgs, error: musher::Error) -> Failure {
    let is_refused = error.is_protocol();
    let is_connection = error.is_connection();
    let failure = Failure::setup(not_connected(error));
    if is_refused {
        return failure.hint(format!("set {TOKEN_VARIABLE} to the token of the daemon"));
    }
    match url(args) {
        None if is_connection => failure.hint("`musher daemon` starts the daemon"),
        _ => failure,
    }
}
