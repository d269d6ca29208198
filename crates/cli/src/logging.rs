//! Logging: sends the tracing events of all crates to a file or to stderr, one line per event. Never to stdout.
//!
//! Without a destination there is no subscriber, and an event costs next to nothing.

mod filter;
#[cfg(feature = "otlp")]
mod otlp;
mod secrets;
mod writer;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tracing_subscriber::Layer as _;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::args::LogArgs;
use crate::exit::Failure;
use crate::printer::Printer;
use crate::variables;

pub(crate) use filter::Filter;
use secrets::Secrets;
use writer::LineWriter;

/// Where to log if `--log` is absent.
pub(crate) const LOG_VARIABLE: &str = "MUSHER_LOG";

/// How much to log if `--log-level` is absent.
pub(crate) const LOG_LEVEL_VARIABLE: &str = "MUSHER_LOG_LEVEL";

/// What logging needs at the end of the program.
#[derive(Default)]
#[must_use]
pub(crate) struct Logging {
    #[cfg(feature = "otlp")]
    exporter: Option<otlp::Exporter>,
}

impl Logging {
    /// Exports what is not exported yet. To be called when all spans have ended.
    #[cfg_attr(
        not(feature = "otlp"),
        expect(clippy::unused_self, reason = "without it there is nothing to export")
    )]
    pub(crate) fn finish(self) {
        #[cfg(feature = "otlp")]
        if let Some(exporter) = self.exporter {
            exporter.finish();
        }
    }
}

/// Starts logging if the arguments or the environment name a destination. To be called once per process.
pub(crate) fn start(args: &LogArgs, printer: Printer) -> Result<Logging, Failure> {
    let destination = args.log.clone().or_else(|| variables::value(LOG_VARIABLE).map(PathBuf::from));
    #[cfg(feature = "otlp")]
    let export = otlp::start(Secrets::of_environment()).map_err(|error| Failure::setup(anyhow!(error)))?;
    #[cfg(not(feature = "otlp"))]
    let export: Option<(tracing_subscriber::layer::Identity, ())> = None;
    if destination.is_none() && export.is_none() {
        if args.log_level.is_some() {
            let failure = Failure::setup(anyhow!("`--log-level` has no effect without a log"));
            return Err(failure.hint(format!("add `--log FILE` or `--log stderr`, or set {LOG_VARIABLE}")));
        }
        return Ok(Logging::default());
    }
    let filter = match &args.log_level {
        Some(filter) => filter.clone(),
        None => level_of_environment()?,
    };
    let writer = destination.map(|destination| writer(&destination, printer)).transpose()?;
    let lines = writer.map(|writer| {
        tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_timer(TimeAndProcess)
            // a full disk must not become text on stderr
            .log_internal_errors(false)
            .with_writer(move || writer.clone())
    });
    let (spans, exporter) = export.unzip();
    let subscriber = tracing_subscriber::registry()
        .with(lines.map(|lines| lines.with_filter(filter.clone().into_targets())))
        .with(spans.map(|spans| spans.with_filter(filter.into_targets())));
    tracing::subscriber::set_global_default(subscriber).context("cannot start logging")?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "logging started");
    #[cfg(not(feature = "otlp"))]
    let (None | Some(())) = exporter;
    Ok(Logging {
        #[cfg(feature = "otlp")]
        exporter,
    })
}

fn writer(destination: &Path, printer: Printer) -> Result<LineWriter, Failure> {
    let secrets = Secrets::of_environment();
    if destination == Path::new("stderr") {
        return Ok(LineWriter::stderr(printer, secrets));
    }
    Ok(LineWriter::file(open(destination)?, secrets))
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
