//! Logging: sends the tracing events of all crates to a file or to stderr, one line per event. Never to stdout.
//!
//! Without a destination there is no subscriber, and an event costs next to nothing.

mod filter;
mod writer;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::args::LogArgs;
use crate::exit::Failure;
use crate::printer::Printer;
use crate::variables;

pub(crate) use filter::Filter;
use writer::LineWriter;

/// Where to log if `--log` is absent.
pub(crate) const LOG_VARIABLE: &str = "MUSHER_LOG";

/// How much to log if `--log-level` is absent.
pub(crate) const LOG_LEVEL_VARIABLE: &str = "MUSHER_LOG_LEVEL";

/// Starts logging if the arguments or the environment name a destination. To be called once per process.
pub(crate) fn start(args: &LogArgs, printer: Printer) -> Result<(), Failure> {
    let destination = args.log.clone().or_else(|| variables::value(LOG_VARIABLE).map(PathBuf::from));
    let Some(destination) = destination else {
        if args.log_level.is_some() {
            let failure = Failure::setup(anyhow!("`--log-level` has no effect without a log"));
            return Err(failure.hint(format!("add `--log FILE` or `--log stderr`, or set {LOG_VARIABLE}")));
        }
        return Ok(());
    };
    let filter = match &args.log_level {
        Some(filter) => filter.clone(),
        None => level_of_environment()?,
    };
    let writer = if destination == Path::new("stderr") {
        LineWriter::stderr(printer)
    } else {
        LineWriter::file(open(&destination)?)
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_timer(TimeAndProcess)
        // a full disk must not become text on stderr
        .log_internal_errors(false)
        .with_writer(move || writer.clone());
    let subscriber = tracing_subscriber::registry().with(filter.into_targets()).with(lines);
    tracing::subscriber::set_global_default(subscriber).context("cannot start logging")?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "logging started");
    Ok(())
}

fn level_of_environment() -> Result<Filter, Failure> {
    let Some(text) = variables::value(LOG_LEVEL_VARIABLE) else { return Ok(Filter::default()) };
    let text = text.to_string_lossy();
    Filter::parse(&text).map_err(|problem| {
        let failure = Failure::setup(anyhow!("invalid {LOG_LEVEL_VARIABLE} `{text}`: {problem}"));
        failure.hint(format!("set it to error, warn, info, debug or trace, or unset {LOG_LEVEL_VARIABLE}"))
    })
}

/// Opens the log to append to it. A new file is readable by its owner only.
fn open(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let hint = format!("name another file with `--log` or {LOG_VARIABLE}, or log to `stderr`");
    let cannot = || format!("cannot open the log file `{}`", path.display());
    let file = opened.with_context(cannot).map_err(|error| Failure::setup(error).hint(&hint))?;
    if is_stdout(&file) {
        let failure = anyhow!("cannot log to `{}`: it is stdout, which carries the output", path.display());
        return Err(Failure::setup(failure).hint(hint));
    }
    Ok(file)
}

fn is_stdout(file: &File) -> bool {
    let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    let of_stdout = rustix::fs::fstat(rustix::stdio::stdout()).map(identity);
    rustix::fs::fstat(file).map(identity).is_ok_and(|log| Ok(log) == of_stdout)
}

/// The time in UTC, and the process: several may write to one file.
struct TimeAndProcess;

impl FormatTime for TimeAndProcess {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        SystemTime.format_time(writer)?;
        write!(writer, " [{}]", std::process::id())
    }
}
