//! One JSON file: read whole, comments and a last comma forgiven, fields taken one by one so that one mistake spoils one field.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Ignored, Source, Standing};

/// A file larger than this is no settings file.
const LARGEST: u64 = 4 << 20;

/// A mistake in a file. The rest of the file counts, unless no line of it could be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, or `environment`.
    pub file: PathBuf,
    /// The line, if the file as a whole cannot be understood.
    pub line: Option<usize>,
    /// The field, such as `sessionDefaultSettings.autonomyLevel`.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, field: None, message: message.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": {field}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) path: PathBuf,
    /// As it was, for the fingerprint.
    pub(super) bytes: Vec<u8>,
    map: Map<String, Value>,
}

impl Json {
    /// `None` if it is not there, and if it cannot be read.
    pub(super) fn read(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        // a pipe in the place of a file would be waited for
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Self::read_any(path, problems),
            Ok(_) => {
                problems.push(Problem::new(path, "it is no file"));
                None
            }
            Err(error) if is_absent(&error) => None,
            Err(error) => {
                problems.push(Problem::new(path, error.to_string()));
                None
            }
        }
    }

    /// The same for a path that the user gave for this run, which may well be a pipe.
    pub(super) fn read_any(path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        let bytes = match read_bounded(path) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => return None,
            Err(error) => {
                problems.push(Problem::new(path, error.to_string()));
                return None;
            }
        };
        match parse(&bytes) {
            Ok(map) => Some(Self { path: path.to_owned(), bytes, map }),
            Err(problem) => {
                problems.push(Problem { file: path.to_owned(), ..problem });
                // it still counts for the fingerprint: an agreement to the broken file is none to the mended one
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
    /// A field that may count whoever wrote it.
    pub(super) fn get<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        let value = self.json.field(field).filter(|value| !value.is_null())?;
        match T::deserialize(value) {
            Ok(understood) => {
                self.sources.push(Source::new(field, &self.json.path, value.clone()));
                Some(understood)
            }
            Err(error) => {
                self.complain(field, error.to_string());
                None
            }
        }
    }

    /// A field that counts only if the file is believed.
    pub(super) fn get_believed<T: DeserializeOwned>(&mut self, field: &str) -> Option<T> {
        let value = self.get(field)?;
        if self.is_believed {
            return Some(value);
        }
        self.ignore(field);
        None
    }

    pub(super) fn ignore(&mut self, what: &str) {
        let is_it = |source: &&mut Source| source.field == what && source.file == self.json.path;
        if let Some(source) = self.sources.iter_mut().rfind(is_it) {
            source.standing = Standing::Untrusted;
        }
        self.ignored.push(Ignored { file: self.json.path.clone(), what: what.to_owned() });
    }

    pub(super) fn complain(&mut self, field: &str, message: impl Into<String>) {
        let problem = Problem::new(&self.json.path, message);
        self.problems.push(Problem { field: Some(field.to_owned()), ..problem });
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

/// The object in a file. The problem has no file yet.
pub(crate) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    let parsed = serde_json::from_slice(bytes);
    let parsed = parsed.or_else(|error| serde_json::from_slice(&plain(bytes)).map_err(|_same| error));
    match parsed {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Problem::new("", "it must be an object in braces")),
        Err(error) => Err(Problem { line: Some(error.line()), ..Problem::new("", error.to_string()) }),
    }
}

/// Comments and commas before a closing bracket become spaces, so that lines stay lines.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 0;
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = end_of_string(bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => find(bytes, at, b"\n").unwrap_or(bytes.len()),
            (b'/', Some(b'*')) => find(bytes, at + 2, b"*/").map_or(bytes.len(), |end| end + 2),
            _ => {
                match byte {
                    b',' => comma = Some(at),
                    b']' | b'}' => {
                        if let Some(comma) = comma.take() {
                            out[comma] = b' ';
                        }
                    }
                    byte if byte.is_ascii_whitespace() => {}
                    _ => comma = None,
                }
                at += 1;
                continue;
            }
        };
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    out
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|window| window == what).map(|at| at + from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_a_last_comma_are_forgiven_but_not_in_texts() {
        let text = b"{ // one\n \"a\": \"// no, \\\" comment\", /* two\n lines */ \"b\": [1, 2,],\n}";
        let map = parse(text).unwrap();
        assert_eq!(map["a"], "// no, \" comment");
        assert_eq!(map["b"], serde_json::json!([1, 2]));
    }

    #[test]
    fn a_mistake_is_told_with_its_line_also_if_there_are_comments() {
        let problem = parse(b"{\n// fine\n\"a\": oops\n}").unwrap_err();
        assert_eq!(problem.line, Some(2), "the first thing that is no JSON: {problem:?}");
        let problem = parse(b"{\n\"a\": 1,\n\"b\": }").unwrap_err();
        assert_eq!(problem.line, Some(3));
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_much_for_it(text in "[{}\\[\\]\"/*\\\\,:a1 \n-]{0,60}") {
            proptest::prop_assert_eq!(plain(text.as_bytes()).len(), text.len());
            // what is JSON already is read as it is
            if let Ok(Value::Object(map)) = serde_json::from_str(&text) {
                proptest::prop_assert_eq!(parse(text.as_bytes()).ok(), Some(map));
            }
        }
    }

    #[test]
    fn cut_files_and_garbage_never_break_the_forgiving() {
        for text in ["{\"a", "/*", "{\"a\\", "//", "{,}", "[1,]", "\u{feff}{}"] {
            let cut = plain(text.as_bytes());
            assert_eq!(cut.len(), text.len());
            parse(text.as_bytes()).ok();
        }
    }
}
