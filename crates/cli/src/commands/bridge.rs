//! `musher bridge`: serves the app that started it until the app is gone.
//!
//! Only wiring: the sessions are the crate `musher-bridge`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use musher_bridge::Config;
use musher_rpc::{Bound, Limits, MAX_LINE_LIMIT, stdio_lines};

use super::stop::Stop;
use crate::args::Bridge;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::resolve::{CLAUDE_VARIABLE, DROID_VARIABLE};
use crate::sanitize::sanitized;

/// How long a line for the log may be: some of it comes from outside.
const LONGEST_NOTE: usize = 500;

/// How much waits for an app that does not read. All sessions together fill it, so it need not be long to keep the pipe full.
const WAITING: Bound = Bound { messages: 512, bytes: 8 * 1024 * 1024 };

pub(crate) async fn run(args: Bridge, printer: Printer) -> Result<Exit, Failure> {
    if args.schema {
        printer.data(&serde_json::to_string_pretty(&musher_bridge::schema())?)?;
        return Ok(Exit::Done);
    }
    if args.types {
        printer.data(musher_bridge::typescript().trim_end())?;
        return Ok(Exit::Done);
    }
    let stop = Stop::listen().context("cannot listen for signals")?;
    let named = |variable| std::env::var_os(variable).filter(|name| !name.is_empty()).map(PathBuf::from);
    let mut config = Config::default();
    config.claude = args.claude.or(named(CLAUDE_VARIABLE)).unwrap_or(config.claude);
    config.droid = args.droid.or(named(DROID_VARIABLE)).unwrap_or(config.droid);
    config.callback_timeout = Duration::from_secs(args.callback_timeout);
    config.agent_timeout = Duration::from_secs(args.agent_timeout);
    config.engine = match embedded::environment(None, None) {
        Ok(environment) => Some(embedded::agent(Arc::new(environment))),
        // whoever wants another agent does not need it
        Err(_failure) => None,
    };
    config.log = Arc::new(move |line| printer.note(&sanitized(line, LONGEST_NOTE)));
    let limits = Limits { line: MAX_LINE_LIMIT, data: WAITING, ..Limits::default() };
    let front_end = stdio_lines(limits).context("cannot serve stdin and stdout")?;
    musher_bridge::run(config, front_end, stop.wait()).await;
    Ok(Exit::Done)
}
