//! `musher bridge` and `musher-bridge`: serves the app that started it until the app closes the connection.
//!
//! Only wiring: the sessions are the crate `musher-bridge`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use musher_bridge::{Config, EmbeddedEngine, Engine};
use musher_rpc::{Bound, Limits, MAX_LINE_LIMIT, stdio_lines};

use super::stop::Stop;
use crate::args::Bridge;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::resolve::{CLAUDE_VARIABLE, DROID_VARIABLE, ENGINE_VARIABLE, program, with_exe};
use crate::sanitize::sanitized;
use crate::variables;

/// Maximum length of a log line; some of it comes from outside.
const MAX_NOTE_LENGTH: usize = 500;

/// Size of the output queue for an app that does not read. All sessions share it; further output waits in the agents' pipes, where it
/// is read in larger pieces; so it is just enough to keep the pipe to the app full.
const FRONT_END_LIMIT: Bound = Bound { messages: 512, bytes: 256 * 1024 };

pub(crate) async fn run(args: Bridge, engine: Engine, printer: Printer) -> Result<Exit, Failure> {
    if args.schema {
        printer.json(&serde_json::to_string_pretty(&musher_bridge::schema())?)?;
        return Ok(Exit::Done);
    }
    if args.types {
        printer.exact(musher_bridge::typescript().trim_end())?;
        return Ok(Exit::Done);
    }
    let stop = Stop::listen().context("cannot listen for signals")?;
    let mut config = Config::default();
    config.claude = args.claude.or_else(|| named(CLAUDE_VARIABLE)).unwrap_or(config.claude);
    config.droid = args.droid.or_else(|| named(DROID_VARIABLE)).unwrap_or(config.droid);
    config.callback_timeout = Duration::from_secs(args.callback_timeout);
    config.agent_timeout = Duration::from_secs(args.agent_timeout);
    config.engine = engine;
    config.sandbox = args.sandbox.value();
    config.log = Arc::new(move |line| {
        let line = sanitized(line, MAX_NOTE_LENGTH);
        tracing::debug!("{line}");
        printer.note(line);
    });
    let limits = Limits { line: MAX_LINE_LIMIT, data: FRONT_END_LIMIT, ..Limits::default() };
    let front_end = stdio_lines(limits).context("cannot serve stdin and stdout")?;
    musher_bridge::run(config, front_end, stop.wait()).await;
    Ok(Exit::Done)
}

/// Returns the engine in this process, made when the first session asks for it: most front ends never do.
pub(crate) fn own_engine() -> Engine {
    let made = OnceLock::new();
    Engine::Embedded(Arc::new(move || {
        if let Some(engine) = made.get() {
            return Ok(EmbeddedEngine::clone(engine));
        }
        let environment = embedded::environment(None, None).map_err(|failure| failure.error.to_string())?;
        let environment = Arc::new(environment);
        let engine = || EmbeddedEngine {
            agent: embedded::agent(Arc::clone(&environment)),
            has_model: Arc::new(move |cwd: &Path, name: &str| environment.has_model(cwd, name)),
        };
        Ok(made.get_or_init(engine).clone())
    }))
}

/// Returns the engine of another program: of this one, else of `musher` beside us, else of the one in `PATH`.
pub(crate) fn engine_beside(requested: Option<PathBuf>) -> Engine {
    let neighbour = || {
        let path = with_exe(std::env::current_exe().ok()?.with_file_name("musher"));
        program(path.as_os_str(), None)
    };
    Engine::Program(
        requested.or_else(|| named(ENGINE_VARIABLE)).or_else(neighbour).unwrap_or("musher".into()),
    )
}

/// Returns the path in a variable.
fn named(variable: &str) -> Option<PathBuf> {
    variables::value(variable).map(PathBuf::from)
}
