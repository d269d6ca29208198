//! `musher sessions summary`: what the model reads instead of compacted messages.

use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};

use super::stores::{SessionStores, explained};
use crate::args::sessions::Summary;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Maximum length of a summary, in bytes.
const MAX_LENGTH: usize = 256 << 10;

pub(super) fn run(stores: &SessionStores, args: &Summary, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    let id = &found.summary.id;
    if let Some(file) = &args.replace {
        let store = stores.store_to_change(&found)?;
        let text = read(file)?;
        let mut loaded = store.load(id).map_err(explained)?;
        if !loaded.log.set_summary(text.trim()).map_err(explained)? {
            return Err(not_compacted(id.as_str()));
        }
        printer.note(format!("replaced the summary of {id}"));
        return Ok(Exit::Done);
    }
    let stored = stores.store(&found).read(id).map_err(explained)?;
    let Some(compacted) = stored.compaction else { return Err(not_compacted(id.as_str())) };
    printer.exact(&compacted.summary.summary)?;
    Ok(Exit::Done)
}

fn not_compacted(id: &str) -> Failure {
    let failure = Failure::from(anyhow!("session {id} was not compacted, so it has no summary"));
    failure.hint(format!("`musher sessions compact {id}` asks the model for one"))
}

fn read(file: &Path) -> Result<String, Failure> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin()
            .lock()
            .take(MAX_LENGTH as u64 + 1)
            .read_to_string(&mut text)
            .context("cannot read stdin")?;
        text
    } else {
        fs_err::read_to_string(file).map_err(Failure::setup)?
    };
    if text.trim().is_empty() || text.len() > MAX_LENGTH {
        let failure = Failure::setup(anyhow!("invalid summary"));
        return Err(failure.hint(format!("a summary has 1 to {MAX_LENGTH} bytes")));
    }
    Ok(text)
}
