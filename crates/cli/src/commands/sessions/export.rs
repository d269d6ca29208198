//! `musher sessions export`: to a file, which is private, or to stdout. Neither needs memory for the whole session.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use musher_engine::store::StoreError;

use super::show::transcript;
use super::stores::{Found, SessionStores, explained};
use crate::args::sessions::{Export, ExportFormat};
use crate::exit::{Exit, Failure};
use crate::printer::{Form, Printer};

/// Size of the buffer for copying a log, in bytes.
const BUFFER: usize = 256 << 10;

pub(super) fn run(stores: &SessionStores, args: &Export, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    let Some(file) = &args.output else {
        let form = if args.format == ExportFormat::Markdown { Form::Exact } else { Form::Json };
        let mut out = printer.stream(form);
        let opened: &mut dyn Write = &mut out;
        write(stores, found, args.format, move || Ok(opened))?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let log = found.summary.log.clone();
    let mut created = None;
    // not before the session was found readable
    let opened = &mut created;
    write(stores, found, args.format, move || {
        let out = BufWriter::with_capacity(BUFFER, create(file, &log, args.force)?);
        Ok(opened.insert(out))
    })?;
    if let Some(mut out) = created {
        out.flush().with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    printer.note(format!("wrote {}", file.display()));
    Ok(Exit::Done)
}

/// Writes a session to what a function opens.
fn write<'a>(
    stores: &SessionStores,
    found: Found,
    format: ExportFormat,
    open: impl FnOnce() -> Result<&'a mut dyn Write, Failure>,
) -> Result<(), Failure> {
    match format {
        ExportFormat::Markdown => transcript(stores, found)?.markdown(true, open()?),
        ExportFormat::Json => {
            let transcript = transcript(stores, found)?;
            let out = open()?;
            transcript.json(out)?;
            Ok(writeln!(out)?)
        }
        ExportFormat::Jsonl => {
            let id = &found.summary.id;
            let not_found = || explained(StoreError::NotFound(id.clone()));
            let log = fs_err::File::open(stores.store(&found).find(id).ok_or_else(not_found)?)?;
            Ok(copy(log, open()?)?)
        }
    }
}

/// Copies a log as it is, with a line end at its end. What is appended meanwhile is not copied.
fn copy(log: fs_err::File, out: &mut dyn Write) -> io::Result<()> {
    let mut log = log.into_parts().0;
    let mut left = log.metadata()?.len();
    let mut buffer = vec![0; BUFFER];
    let mut last = b'\n';
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        let read = log.read(&mut buffer[..length])?;
        let Some(byte) = buffer[..read].last() else { break };
        last = *byte;
        out.write_all(&buffer[..read])?;
        left -= read as u64;
    }
    if last == b'\n' { Ok(()) } else { writeln!(out) }
}

fn create(file: &Path, log: &Path, is_forced: bool) -> Result<File, Failure> {
    if file.exists() && !is_forced {
        let failure = Failure::setup(anyhow!("cannot write `{}`: it already exists", file.display()));
        return Err(failure.hint("pass `--force` to overwrite it"));
    }
    if is_same(file, log) {
        let failure = anyhow!("cannot write `{}`: it is the log of the session", file.display());
        return Err(Failure::setup(failure).hint("name another file"));
    }
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    // another process may have created the file since the check
    if is_forced {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    Ok(options.open(file).with_context(|| format!("cannot write `{}`", file.display()))?)
}

/// Returns whether both are one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| fs_err::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    file(one).is_some_and(|one| Some(one) == file(other))
}
