//! The logging flags, the same for every command of both programs.

use std::path::PathBuf;

use crate::logging::Filter;

/// Where to log, and how much.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LogArgs {
    /// Log to this file, or to `stderr` (default: no log)
    #[arg(long, value_name = "FILE|stderr", help_heading = "Logging", global = true)]
    pub(crate) log: Option<PathBuf>,

    /// Log level: error, warn, info, debug, trace, or a filter such as
    /// `info,musher_engine=debug` (default: info)
    #[arg(long, value_name = "LEVEL", help_heading = "Logging", global = true, value_parser = Filter::parse)]
    pub(crate) log_level: Option<Filter>,
}
