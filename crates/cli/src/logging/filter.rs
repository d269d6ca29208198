//! Which events are logged: a level, or directives such as `info,musher_engine=debug`.

use std::str::FromStr as _;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// Prefix of the names of our crates.
const OUR_CRATES: &str = "musher";

/// Logs what servers send, which may have secrets in it. Our MCP client logs failures itself.
const SILENT_CRATE: &str = "rmcp";

/// The value of `--log-level`.
#[derive(Debug, Clone)]
pub(crate) struct Filter(Targets);

impl Default for Filter {
    fn default() -> Self {
        Self::of_level(LevelFilter::INFO)
    }
}

impl Filter {
    /// Reads a level, or a list of directives separated by commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if !text.contains(['=', ',']) {
            return level(text).map(Self::of_level);
        }
        for directive in text.split(',') {
            let (target, name) = directive.split_once('=').unwrap_or(("", directive));
            level(name)?;
            if target.is_empty() && directive.contains('=') {
                return Err(format!("missing target in `{directive}`"));
            }
        }
        Targets::from_str(text).map(Self).map_err(|error| error.to_string())
    }

    /// Logs our crates at this level, and other crates at warnings at most, because their events are not ours to control.
    fn of_level(level: LevelFilter) -> Self {
        let others = level.min(LevelFilter::WARN);
        let silent = LevelFilter::OFF;
        let targets = Targets::new().with_target(SILENT_CRATE, silent).with_target(OUR_CRATES, level);
        Self(targets.with_default(others))
    }

    pub(super) fn into_targets(self) -> Targets {
        self.0
    }
}

fn level(name: &str) -> Result<LevelFilter, String> {
    match name.to_ascii_lowercase().as_str() {
        "off" => Ok(LevelFilter::OFF),
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        "trace" => Ok(LevelFilter::TRACE),
        _ => Err(format!(
            "unknown level `{name}`; use error, warn, info, debug or trace, or `info,musher_engine=debug`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn enables(filter: &str, target: &str, level: Level) -> bool {
        Filter::parse(filter).unwrap().0.would_enable(target, &level)
    }

    #[test]
    fn level_applies_to_our_crates_and_others_log_warnings_only() {
        assert!(enables("debug", "musher_engine::session", Level::DEBUG));
        assert!(!enables("debug", "musher", Level::TRACE));
        assert!(enables("trace", "hyper", Level::WARN));
        assert!(!enables("trace", "hyper", Level::INFO));
        assert!(!enables("error", "hyper", Level::WARN));
        assert!(!enables("trace", "rmcp::service", Level::ERROR));
        assert!(!enables("off", "musher", Level::ERROR));
    }

    #[test]
    fn directives_choose_levels_by_target() {
        let filter = "warn,musher_engine=debug";
        assert!(enables(filter, "musher_engine::session", Level::DEBUG));
        assert!(!enables(filter, "musher_rpc", Level::INFO));
    }

    #[test]
    fn unknown_level_is_an_error() {
        for wrong in ["verbose", "", "musher=loud", "info,", "=debug"] {
            assert!(Filter::parse(wrong).is_err(), "{wrong}");
        }
    }
}
