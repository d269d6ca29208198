//! `musher trust`: trusts the settings files of a repository, exactly as they are now.

use anyhow::Context as _;
use musher_engine::BrokenSettings;
use musher_engine::config::{Config, Trust, forget_trust, remember_trust};

use super::confirm::confirmed;
use crate::args;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

/// Maximum length of a shown command; longer ones are marked as cut.
const MAX_EFFECT_LENGTH: usize = 4000;

pub(crate) fn run(args: &args::Trust, printer: Printer) -> Result<Exit, Failure> {
    let environment = embedded::environment(None, None)?;
    let no_folder = || format!("cannot open `{}`", args.folder.display());
    let folder = fs_err::canonicalize(&args.folder).with_context(no_folder).map_err(Failure::setup)?;
    let (config, problems) = environment.config(&folder);
    let root = config.root.display().to_string();
    if args.forget {
        forget_trust(environment.home(), &config.root)?;
        printer.note(format!("{root} is no longer trusted"));
        return Ok(Exit::Done);
    }
    if let Some(broken) = BrokenSettings::among(&problems) {
        return Err(Failure::setup(broken).hint("fix the settings, then run `musher trust` again"));
    }
    let Some(key) = &config.trust_key else {
        printer.note(format!("{root} has no settings, hooks or MCP servers of its own"));
        return Ok(Exit::Done);
    };
    if config.trust.is_trusted() {
        printer.note(format!("{root} is already trusted"));
        return Ok(Exit::Done);
    }
    for line in enabled_by_trust(&config) {
        printer.note(line);
    }
    let otherwise = "review the files, then run `musher trust --yes`";
    if !args.yes && !confirmed(&format!("Trust {root}?"), otherwise, printer)? {
        printer.note("not trusted");
        return Ok(Exit::Failed);
    }
    remember_trust(environment.home(), key)?;
    printer.note(format!("{root} is trusted until one of these files changes"));
    Ok(Exit::Done)
}

/// Returns the fields that trust would enable, with the commands and servers in them.
fn enabled_by_trust(config: &Config) -> Vec<String> {
    let Trust::Untrusted { ignored } = &config.trust else { return Vec::new() };
    let line = |file: &std::path::Path, what: &str| {
        format!("  {}: {}", sanitized(&file.to_string_lossy(), 500), sanitized(what, 200))
    };
    let lines = ignored.iter().flat_map(|ignored| {
        let effects =
            ignored.effects.iter().map(|effect| format!("    {}", sanitized(effect, MAX_EFFECT_LENGTH)));
        [line(&ignored.file, &ignored.what)].into_iter().chain(effects)
    });
    ["trusting this repository would enable:".to_owned()].into_iter().chain(lines).collect()
}
