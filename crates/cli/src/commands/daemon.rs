//! `musher daemon`: serves sessions until a signal arrives; its subcommands concern a daemon that runs.
//!
//! Only wiring: the daemon is the module `daemon` of the crate `musher-server`.

mod control;
mod token;
mod unit;
mod upgrade;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use futures_util::future::try_join_all;
use musher_engine::store::shared::DaemonFiles;
use musher_engine::store::{Store, StoreError};
use musher_server::daemon::{
    Address, AgentSource, DaemonOptions, Listener, Origins, SpendingLimit, SpendingLimits, Tls,
};

use self::upgrade::Upgrade;
use super::stop::Stop;
use crate::args::{Daemon, DaemonAction};
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::hide::erase_keys;
use crate::printer::Printer;
use crate::resolve::program;
use crate::variables;

/// The token, instead of the file.
pub(crate) const TOKEN_VARIABLE: &str = "MUSHER_DAEMON_TOKEN";

pub(crate) async fn run(args: Daemon, printer: Printer) -> Result<Exit, Failure> {
    match &args.action {
        None if args.unit => return unit::print(&args, printer),
        None if args.upgrade => return control::upgrade(printer).await,
        None => {}
        Some(DaemonAction::Status(status)) => return control::status(status, printer).await,
        Some(DaemonAction::Stop(_)) => return control::stop(printer).await,
        Some(DaemonAction::Logs(logs)) => return control::logs(logs, printer),
    }
    serve(args, printer).await
}

async fn serve(args: Daemon, printer: Printer) -> Result<Exit, Failure> {
    let stop = Stop::listen().context("cannot listen for signals")?;
    let home = embedded::home()?;
    let addresses = addresses(&args, &home)?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(Tls::from_files(certificate, key).map_err(Failure::setup)?),
        _ => None,
    };
    if tls.is_none()
        && let Some(remote) = addresses.iter().find(|address| !address.is_local())
    {
        let advice = "pass --tls-cert and --tls-key, or put a proxy with TLS in front";
        printer.note(
            format!("warning: clients of {remote} send the token without encryption; {advice}").as_str(),
        );
    }
    let files = DaemonFiles::open(&home);
    // what this process keeps if it is the next program of a daemon: the lock, then the sockets
    let mut inherited = upgrade::inherited().into_iter();
    // held until the end
    let lock = match inherited.next() {
        Some(lock) => files.keep_lock(lock),
        None => files.lock(),
    };
    let lock = lock.map_err(|error| match error {
        StoreError::DaemonRuns { .. } => {
            Failure::setup(error).hint("stop it, or set MUSHER_HOME to another directory for a second one")
        }
        other => Failure::setup(other),
    })?;
    let token = token::resolve(args.token.as_deref(), &home)?;
    let mut listeners = Vec::new();
    for address in &addresses {
        let listener = match inherited.next() {
            Some(socket) => Listener::adopt(socket, address),
            None => Listener::bind(address).await,
        };
        let listener =
            listener.with_context(|| format!("cannot listen on {address}")).map_err(Failure::setup)?;
        listeners.push(match &tls {
            Some(tls) => listener.with_tls(tls.clone()),
            None => listener,
        });
    }
    let mut options =
        DaemonOptions::new(source(&args)?, Store::open(&home), Arc::new(files), String::new(), token);
    options.host_id = DaemonFiles::open(&home).host_id().map_err(Failure::setup)?;
    options.user_home = variables::value("HOME").map(Into::into);
    options.origins = origins(&args)?;
    options.max_sessions = usize::try_from(args.max_sessions).unwrap_or(usize::MAX);
    options.max_turns = usize::try_from(args.max_turns).unwrap_or(usize::MAX);
    options.continues_turns = args.resume_turns;
    options.worktrees = Some(home.join("worktrees"));
    options.budget = budget(&args);
    options.idle_timeout = Duration::from_secs(args.idle_timeout);
    let daemon = musher_server::daemon::Daemon::start(options).context("cannot start the daemon")?;
    for listener in &listeners {
        printer.exact(&format!("listening on {}", listener.address()))?;
    }
    let upgrade = Upgrade::new(&lock, &listeners).context("cannot prepare an upgrade")?;
    let serving = try_join_all(listeners.into_iter().map(|listener| daemon.serve(listener)));
    // clients see how their turns end, so they are served until the sessions have ended
    let stopping = async {
        stop.wait().await;
        daemon.stop().await;
    };
    let end = tokio::select! {
        never = upgrade.when_asked(&daemon) => match never {},
        served = serving => served.map(|_| Exit::Done).context("cannot serve clients"),
        () = stopping => Ok(Exit::Done),
    };
    Ok(end?)
}

/// Where to listen. An address that other machines can reach must be allowed.
fn addresses(args: &Daemon, home: &Path) -> Result<Vec<Address>, Failure> {
    if args.listen.is_empty() {
        return Ok(vec![Address::Unix(home.join("daemon.sock"))]);
    }
    let parsed = args.listen.iter().map(|text| Address::parse(text).map_err(Failure::setup));
    let addresses: Vec<Address> = parsed.collect::<Result<_, _>>()?;
    if !args.allow_remote
        && let Some(remote) = addresses.iter().find(|address| !address.is_local())
    {
        let failure = Failure::setup(anyhow!("other machines can reach {remote}"));
        return Err(failure.hint("pass --allow-remote if that is intended"));
    }
    Ok(addresses)
}

fn source(args: &Daemon) -> Result<AgentSource, Failure> {
    if let Some(path) = &args.droid_path {
        let found = program(path.as_os_str(), variables::value("PATH").as_deref());
        let path =
            found.ok_or_else(|| Failure::setup(anyhow!("cannot find the program `{}`", path.display())))?;
        return Ok(AgentSource::Program { path });
    }
    let environment = embedded::environment(args.model.as_deref(), args.settings.as_deref())?;
    erase_keys();
    let environment = environment.with_call_records(true);
    Ok(AgentSource::Engine(Arc::new(environment)))
}

fn budget(args: &Daemon) -> SpendingLimits {
    // `as` saturates, and the argument is positive
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts are positive")]
    let nanos = |usd: f64| (usd * 1e9).round() as u64;
    let limit = |tokens, usd: Option<f64>| SpendingLimit { tokens, nanos: usd.map(nanos) };
    SpendingLimits {
        session: limit(args.max_tokens_per_session, args.max_usd_per_session),
        day: limit(args.max_tokens_per_day, args.max_usd_per_day),
    }
}

fn origins(args: &Daemon) -> Result<Origins, Failure> {
    let mut origins = Origins::default();
    for origin in &args.origins {
        let allowed = origins.allow(origin);
        origins = allowed.ok_or_else(|| {
            Failure::setup(anyhow!("invalid origin `{origin}`"))
                .hint("it has the form https://HOST or http://HOST:PORT")
        })?;
    }
    for name in &args.host_names {
        origins = origins.host(name);
    }
    Ok(origins)
}
