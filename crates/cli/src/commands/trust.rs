//! `musher trust`: lets the files of a repository count, exactly as they are now.

use anyhow::Context as _;
use musher_engine::BrokenSettings;
use musher_engine::config::{Config, Trust, forget_trust, remember_trust};

use super::confirm::confirmed;
use crate::args;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::sanitize::sanitized;

pub(crate) fn run(args: &args::Trust, printer: Printer) -> Result<Exit, Failure> {
    let environment = embedded::environment(None, None)?;
    let no_folder = || format!("cannot look at `{}`", args.folder.display());
    let folder = fs_err::canonicalize(&args.folder).with_context(no_folder).map_err(Failure::setup)?;
    let (config, problems) = environment.config(&folder);
    let root = config.root.display().to_string();
    if args.forget {
        forget_trust(environment.home(), &config.root)?;
        printer.note(format!("{root} is not trusted any more"));
        return Ok(Exit::Done);
    }
    if let Some(broken) = BrokenSettings::among(&problems) {
        return Err(Failure::setup(broken).hint("what cannot be understood cannot be trusted"));
    }
    let Some(key) = &config.trust_key else {
        printer.note(format!("{root} has no settings, hooks or servers of its own"));
        return Ok(Exit::Done);
    };
    if config.trust.is_trusted() {
        printer.note(format!("{root} is trusted already"));
        return Ok(Exit::Done);
    }
    for line in wishes(&config) {
        printer.note(line);
    }
    let otherwise = "look at the files, then `musher trust --yes`";
    if !args.yes && !confirmed(&format!("Trust {root}?"), &format!("trust {root}"), otherwise, printer)? {
        printer.note("it is not trusted");
        return Ok(Exit::Failed);
    }
    remember_trust(environment.home(), key)?;
    printer.note(format!("{root} is trusted, until one of these files changes"));
    Ok(Exit::Done)
}

/// What would count.
fn wishes(config: &Config) -> Vec<String> {
    let Trust::Untrusted { ignored } = &config.trust else { return Vec::new() };
    let wish = |file: &std::path::Path, what: &str| {
        format!("  {}: {}", sanitized(&file.to_string_lossy(), 500), sanitized(what, 200))
    };
    let wishes = ignored.iter().map(|ignored| wish(&ignored.file, &ignored.what));
    ["these fields of the repository's files would count:".to_owned()].into_iter().chain(wishes).collect()
}
