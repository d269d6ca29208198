//! One settings file: read whole, its fields taken one by one so that one mistake spoils one field.
//!
//! A file that cannot be read or parsed, and a restriction that cannot be understood, are fatal: what they forbid is unknown.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::parse::parse;
use super::{Ignored, Problem, Severity, Source, Standing};

/// A file larger than this is no settings file.
const LARGEST: u64 = 4 << 20;

/// A file that was read.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) path: PathBuf,
    /// As it was, for the fingerprint.
    pub(super) bytes: Vec<u8>,
    map: Map<String, Value>,
}

impl Json {
    /// Reads a file. Returns `None` if it does not exist, and also, with a fatal problem, if it cannot be read.
    pub(super) fn read(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        // opening a pipe in the place of a file would block
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Self::read_any(path, problems),
            Ok(_) => {
                problems.push(Problem::new(path, "not a regular file").fatal());
                None
            }
            // a link that leads nowhere is a file that was meant to be there
            Err(error) if is_absent(&error) && !path.is_symlink() => None,
            Err(error) => {
                problems.push(Problem::new(path, format!("cannot read the file: {error}")).fatal());
                None
            }
        }
    }

    /// The same for a file that restricts nothing.
    pub(super) fn read_permissions(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut found = Vec::new();
        let json = Self::read(path, &mut found);
        problems.extend(found.into_iter().map(|problem| Problem { severity: Severity::Error, ..problem }));
        json
    }

    /// The same for a path that the user gave for this run: it may be a pipe, and it must exist.
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
                // it still counts for the fingerprint: trust in the broken file is no trust in the mended one
                Some(Self { path: path.to_owned(), bytes, map: Map::new() })
            }
        }
    }

    /// A field by its path, with dots.
    pub(super) fn field(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = self.map.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    }

    pub(super) fn map(&self) -> &Map<String, Value> {
        &self.map
    }
}

/// A file, whether it is believed, and where complaints go.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) json: &'a Json,
    pub(super) is_believed: bool,
    pub(super) problems: &'a mut Vec<Problem>,
    pub(super) ignored: &'a mut Vec<Ignored>,
    pub(super) sources: &'a mut Vec<Source>,
}

impl Reader<'_> {
    /// A field that may count whoever wrote it, and restricts nothing.
    pub(super) fn get<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        self.read(field, Severity::Error)
    }

    /// A field that restricts, whoever wrote it: a value that cannot be understood is fatal.
    pub(super) fn get_restriction<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        self.read(field, Severity::Fatal)
    }

    /// A field that counts only if the file is believed, and restricts nothing.
    pub(super) fn get_believed<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        let value = self.get(field);
        self.if_believed(field, value)
    }

    /// A field that restricts, and counts only if the file is believed.
    pub(super) fn get_believed_restriction<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        let value = self.read(field, self.severity());
        self.if_believed(field, value)
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

    fn if_believed<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_some() && !self.is_believed {
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
        self.ignored.push(Ignored { file: self.json.path.clone(), what: what.to_owned() });
    }

    /// Reports a mistake that keeps one field from being used.
    pub(super) fn complain(&mut self, field: &str, message: impl Into<String>) {
        self.report(field, message, Severity::Error);
    }

    /// Reports a mistake that may hide a restriction.
    pub(super) fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.report(field, message, Severity::Fatal);
    }

    /// The severity of a mistake in what counts only if the file is believed.
    pub(super) fn severity(&self) -> Severity {
        if self.is_believed { Severity::Fatal } else { Severity::Error }
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
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is too large to be a settings file"));
    }
    Ok(bytes)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
