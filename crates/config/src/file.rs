//! One settings file: its fields are parsed one by one, so that a mistake affects one field only.
//!
//! An unreadable or invalid file and an invalid restriction are fatal: what they deny is unknown.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::parse::parse;
use super::{Ignored, Problem, Severity, Source, Standing};

/// The maximum size of a settings file, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The content of a file.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) path: PathBuf,
    /// The original bytes, for the fingerprint.
    pub(super) bytes: Vec<u8>,
    map: Map<String, Value>,
}

impl Json {
    /// Reads a file. Returns `None` if it does not exist, and `None` with a fatal problem if it cannot be read.
    pub(super) fn read(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        // opening a pipe would block
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Self::read_any(path, problems),
            Ok(_) => {
                problems.push(Problem::new(path, "not a regular file").fatal());
                None
            }
            // a dangling link is a missing file, not an absent one
            Err(error) if is_absent(&error) && !path.is_symlink() => None,
            Err(error) => {
                problems.push(Problem::new(path, format!("cannot read the file: {error}")).fatal());
                None
            }
        }
    }

    /// Like [`read`](Self::read), for a file without restrictions: problems are not fatal.
    pub(super) fn read_permissions(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut found = Vec::new();
        let json = Self::read(path, &mut found);
        problems.extend(found.into_iter().map(|problem| Problem { severity: Severity::Error, ..problem }));
        json
    }

    /// Like [`read`](Self::read), for a path that the user gave for this run: it may be a pipe, and it must exist.
    pub(super) fn read_any(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        let bytes = match read_bounded(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                problems.push(Problem::new(path, error.to_string()).fatal());
                return None;
            }
        };
        match parse(&bytes) {
            Ok(map) => Some(Self { path: path.to_owned(), bytes, map }),
            Err(problem) => {
                problems.push(Problem { file: path.to_owned(), ..problem }.fatal());
                // still part of the fingerprint: trust in the invalid file does not extend to the fixed one
                Some(Self { path: path.to_owned(), bytes, map: Map::new() })
            }
        }
    }

    /// Returns a field by its dotted path.
    pub(super) fn field(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = self.map.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    }

    pub(super) fn map(&self) -> &Map<String, Value> {
        &self.map
    }
}

/// A file, whether it is trusted, and the lists of problems.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) json: &'a Json,
    pub(super) is_file_trusted: bool,
    pub(super) problems: &'a mut Vec<Problem>,
    pub(super) ignored: &'a mut Vec<Ignored>,
    pub(super) sources: &'a mut Vec<Source>,
}

impl Reader<'_> {
    /// Returns a field that needs no trust and does not restrict.
    pub(super) fn get<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        self.read(field, Severity::Error)
    }

    /// Returns a restriction that needs no trust: an invalid value is fatal.
    pub(super) fn get_restriction<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        self.read(field, Severity::Fatal)
    }

    /// Returns a field that applies only if the file is trusted, and does not restrict.
    pub(super) fn get_trusted<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        let value = self.get(field);
        self.if_trusted(field, value)
    }

    /// Returns a restriction that applies only if the file is trusted.
    pub(super) fn get_trusted_restriction<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        let value = self.read(field, self.severity());
        self.if_trusted(field, value)
    }

    fn read<T: DeserializeOwned>(&mut self, field: &str, severity: Severity) -> Option<T> {
        let value = self.json.field(field).filter(|value| !value.is_null())?;
        match T::deserialize(value) {
            Ok(understood) => {
                self.sources.push(Source::new(field, &self.json.path, value.clone()));
                Some(understood)
            }
            Err(error) => {
                self.report(field, error.to_string(), severity);
                None
            }
        }
    }

    fn if_trusted<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_some() && !self.is_file_trusted {
            self.ignore(field);
            return None;
        }
        value
    }

    pub(super) fn ignore(&mut self, what: &str) {
        let is_it = |source: &&mut Source| source.field == what && source.file == self.json.path;
        if let Some(source) = self.sources.iter_mut().rfind(is_it) {
            source.standing = Standing::Untrusted;
        }
        self.ignored.push(Ignored::new(self.json, what));
    }

    /// Reports a mistake that keeps one field from being used.
    pub(super) fn complain(&mut self, field: &str, message: impl Into<String>) {
        self.report(field, message, Severity::Error);
    }

    /// Reports a mistake that may hide a restriction.
    pub(super) fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.report(field, message, Severity::Fatal);
    }

    /// Returns the severity of a mistake in a field that applies only if the file is trusted.
    pub(super) fn severity(&self) -> Severity {
        if self.is_file_trusted { Severity::Fatal } else { Severity::Error }
    }

    pub(super) fn report(&mut self, field: &str, message: impl Into<String>, severity: Severity) {
        let problem = Problem::new(&self.json.path, message);
        self.problems.push(Problem { field: Some(field.to_owned()), severity, ..problem });
    }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;

    let file = fs_err::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(io::Error::other("it is too large to be a settings file"));
    }
    Ok(bytes)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
