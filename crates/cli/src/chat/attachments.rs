//! Files that a prompt mentions: `@path`, `@"a path"`, and paths that were pasted. Which text is a mention is decided here, purely; reading
//! the files is one function.

use std::path::{Path, PathBuf};

use musher::{Document, Image, Prompt};

/// Maximum length of a paste that may be paths.
const MAX_PASTED: usize = 4096;
/// Maximum size of a file that is attached, in bytes.
const MAX_SIZE: u64 = 32 * 1024 * 1024;

/// Returns the files that a prompt mentions, in order.
pub(super) fn mentioned(prompt: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = prompt;
    let mut is_start = true;
    while let Some(first) = rest.chars().next() {
        let mut end = first.len_utf8();
        if first == '@' && is_start {
            let after = &rest[1..];
            let (name, length) = if let Some(quoted) = after.strip_prefix('"') {
                match quoted.find(['"', '\n']) {
                    Some(at) if quoted[at..].starts_with('"') => (&quoted[..at], at + 2),
                    _ => ("", 0),
                }
            } else {
                let length = after.find(char::is_whitespace).unwrap_or(after.len());
                (&after[..length], length)
            };
            if !name.is_empty() {
                out.push(name);
            }
            end += length;
        }
        is_start = first.is_whitespace();
        rest = &rest[end..];
    }
    out
}

/// Returns the mention of a file.
pub(in crate::chat) fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// Returns the mentions that stand for a paste, if it is nothing but paths of files that exist, as a file manager or a shell writes them.
pub(super) fn pasted(text: &str, cwd: &Path) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_PASTED {
        return None;
    }
    // a path with spaces that is not quoted
    let whole = file(text, cwd).map(|path| vec![path]);
    let paths = whole.or_else(|| words(text)?.iter().map(|word| file(word, cwd)).collect())?;
    let mentions: Vec<_> = paths.iter().map(|path| mention(path)).collect();
    Some(mentions.join(" ") + " ")
}

/// Returns the file that this names, if it exists and the text can only be a path.
fn file(word: &str, cwd: &Path) -> Option<String> {
    if word.contains(['\n', '"', '\0']) {
        return None;
    }
    let path = match word.strip_prefix("file://") {
        Some(address) => PathBuf::from(decoded(&address[address.find('/')?..])?),
        None => match word.strip_prefix("~/") {
            Some(below) => std::env::home_dir()?.join(below),
            None => PathBuf::from(word),
        },
    };
    let is_path = word.contains('/') || kind(&path).is_some();
    if !is_path || !cwd.join(&path).is_file() {
        return None;
    }
    let shown = path.strip_prefix(cwd).unwrap_or(&path);
    shown.to_str().filter(|shown| !shown.contains('"')).map(str::to_owned)
}

/// Returns the words of a line, with the quotes and backslashes of a shell taken away; `None` if a quote is open.
fn words(text: &str) -> Option<Vec<String>> {
    let mut out: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        end if end == character => break,
                        '\\' if character == '"' => quoted.push(characters.next()?),
                        other => quoted.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            space if space.is_whitespace() => out.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    out.extend(word);
    Some(out)
}

/// Returns a path of a `file:` address.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Image,
    Pdf,
}

/// Returns what models get as a picture or a document. Text files are read by the agent itself.
fn kind(path: &Path) -> Option<Kind> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => Some(Kind::Image),
        "pdf" => Some(Kind::Pdf),
        _ => None,
    }
}

/// Adds a file to a prompt, if models get it as a picture or a document.
#[expect(clippy::result_large_err, reason = "the prompt is sent without the file")]
pub(super) fn attach(prompt: Prompt, file: &Path) -> Result<Prompt, (Prompt, String)> {
    let Some(kind) = kind(file).filter(|_| file.is_file()) else { return Ok(prompt) };
    let failed = |error: String| format!("cannot attach {}: {error}", file.display());
    let read = || {
        let size = file.metadata().map_err(|error| failed(error.to_string()))?.len();
        if size > MAX_SIZE {
            return Err(failed(format!("larger than {} MiB", MAX_SIZE / 1024 / 1024)));
        }
        fs_err::read(file).map_err(|error| error.to_string())
    };
    let bytes = match read() {
        Ok(bytes) => bytes,
        Err(error) => return Err((prompt, error)),
    };
    let name = file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    match kind {
        Kind::Image => match Image::bytes(&bytes) {
            Ok(image) => Ok(prompt.image(image)),
            Err(error) => Err((prompt, failed(error.to_string()))),
        },
        Kind::Pdf => match Document::pdf(name, &bytes) {
            Ok(document) => Ok(prompt.document(document)),
            Err(error) => Err((prompt, failed(error.to_string()))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_words_that_begin_so_or_quoted() {
        assert_eq!(mentioned("look at @a.png and @\"b c.pdf\", not at me@home.net"), ["a.png", "b c.pdf"]);
        assert_eq!(mentioned("@"), Vec::<&str>::new());
        assert_eq!(mentioned("@\"open"), Vec::<&str>::new());
        assert_eq!(mentioned("(@a.png) @b\n@c"), ["b", "c"]);
        assert_eq!((mention("a.png"), mention("a b.png")), ("@a.png".to_owned(), "@\"a b.png\"".to_owned()));
    }

    #[test]
    fn pasted_paths_of_files_become_mentions_and_other_text_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path();
        for name in ["a b.png", "it's.pdf", "x.png", "sub/main.rs", "Makefile"] {
            let path = cwd.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        let at = cwd.to_str().unwrap();
        for (text, mentions) in [
            (format!("{at}/a b.png"), "@\"a b.png\" "),
            (format!("'{at}/a b.png'\n"), "@\"a b.png\" "),
            (format!("{at}/a\\ b.png"), "@\"a b.png\" "),
            (format!("file://{at}/a%20b.png"), "@\"a b.png\" "),
            (format!("\"{at}/it's.pdf\" {at}/x.png"), "@it's.pdf @x.png "),
            (format!("file://localhost{at}/x.png"), "@x.png "),
            ("x.png".to_owned(), "@x.png "),
            ("sub/main.rs".to_owned(), "@sub/main.rs "),
        ] {
            assert_eq!(pasted(&text, cwd).as_deref(), Some(mentions), "{text}");
        }
        for text in ["Makefile", "sub", "no.png", "look at x.png", "'x.png", "", "x.png\u{1b}", "a%2"] {
            assert_eq!(pasted(text, cwd), None, "{text}");
        }
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("y.png");
        fs_err::write(&file, "").unwrap();
        let shown = file.to_str().unwrap();
        assert_eq!(pasted(shown, cwd), Some(format!("@{shown} ")));
    }
}
