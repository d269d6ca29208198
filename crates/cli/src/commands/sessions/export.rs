//! `musher sessions export`: to a file, which is private, or to stdout.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};

use super::show::transcript;
use super::stores::{SessionStores, explained};
use crate::args::sessions::{Export, ExportFormat};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

pub(super) fn run(stores: &SessionStores, args: &Export, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    let id = found.summary.id.clone();
    let text = match args.format {
        ExportFormat::Markdown => transcript(stores, found)?.markdown(true),
        ExportFormat::Json => serde_json::to_string_pretty(&transcript(stores, found)?.json())?,
        ExportFormat::Jsonl => {
            let not_found = || explained(musher_engine::store::StoreError::NotFound(id.clone()));
            let log = stores.store(&found).find(&id).ok_or_else(not_found)?;
            String::from_utf8_lossy(&fs_err::read(log)?).into_owned()
        }
    };
    let text = text.trim_end();
    match &args.output {
        None if args.format == ExportFormat::Markdown => printer.exact(text)?,
        None => printer.json(text)?,
        Some(file) => {
            write(file, text, args.force)?;
            printer.note(format!("wrote {}", file.display()));
        }
    }
    Ok(Exit::Done)
}

fn write(file: &Path, text: &str, is_forced: bool) -> Result<(), Failure> {
    if file.exists() && !is_forced {
        let failure = Failure::setup(anyhow!("cannot write `{}`: it already exists", file.display()));
        return Err(failure.hint("pass `--force` to overwrite it"));
    }
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    // another process may have created the file since the check
    if is_forced {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(file).and_then(|mut out| writeln!(out, "{text}"));
    Ok(written.with_context(|| format!("cannot write `{}`", file.display()))?)
}
