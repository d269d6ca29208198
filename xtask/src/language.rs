//! Words that must not come back into code, comments and documents: each with the reason and the better word.
//!
//! The list is short on purpose. It has only words that a reader cannot search for, or that hide the subject of a sentence.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

/// A word or phrase. In lower case it matches in any case, in upper case only constants. `_` in the text counts as a space.
struct Word {
    phrase: &'static str,
    reason: &'static str,
    better: &'static str,
    /// Longer phrases that contain this one and are fine.
    except: &'static [&'static str],
}

const SUBJECT: &str = "it hides the subject";
const PRIVATE: &str = "readers search for the standard term";
const WORDS: &[Word] = &[
    word("whoever", SUBJECT, "the caller, the client, the user"),
    word("for who", SUBJECT, "for readers who, for callers that"),
    word("nobody", SUBJECT, "no client, no reader, not interactive"),
    word("somebody", SUBJECT, "the user, another process"),
    word("so many", "it is not a number", "maximum, limit, this many"),
    word("put away", PRIVATE, "archive"),
    word("sum up", PRIVATE, "compact, summarize"),
    word("summed up", PRIVATE, "compacted, summarized"),
    word("errand", PRIVATE, "task call"),
    Word {
        // a request id on the wire
        except: &["\"farewell\""],
        ..word("farewell", PRIVATE, "close request, session-end hooks, flush")
    },
    word("MOST", "constants have standard names", "MAX_..."),
    word("LONGEST", "constants have standard names", "MAX_..."),
    word("PATIENCE", "constants have standard names", "..._TIMEOUT"),
    word("goes on", PRIVATE, "continues, resumes"),
    word("go on with", PRIVATE, "continue, resume"),
    word("gone on with", PRIVATE, "continued, resumed"),
    word("is told", PRIVATE, "is sent, is emitted, is reported"),
    word("was told", PRIVATE, "was sent, was emitted, was reported"),
    word("heeded", PRIVATE, "respected"),
    Word {
        except: &["there is no", "is no longer"],
        ..word("is no", "it is not English as in `is no JSON`", "is not, is not valid, invalid")
    },
    word("wished", PRIVATE, "requested"),
    Word {
        // an address
        except: &[".ai/news/"],
        ..word("news", PRIVATE, "notification, event")
    },
    word("unasked", PRIVATE, "without asking"),
    word("scribe", PRIVATE, "translator"),
    word("happening", PRIVATE, "event"),
    word("consent", PRIVATE, "approval, decision"),
    word("anew", PRIVATE, "again, from the start"),
];

/// Paths whose words are not ours: programs of others, and input whose exact text matters.
const FOREIGN: &[&str] = &[
    "crates/server/src/console/web/vendor",
    "crates/conformance/scenarios/bad_input.yaml",
    // a name that no subagent has
    "crates/conformance/scenarios/subagents.yaml",
    "crates/conformance/known-differences.yaml",
];

/// Where files that are neither Rust nor prose are checked, too, with the endings of those files.
const OTHER_FILES: &[(&str, &[&str])] = &[
    ("crates", &["css", "html", "js", "mjs", "py", "toml", "yaml"]),
    ("examples", &["css", "html", "js", "json", "md", "mjs", "py", "rs", "sh", "toml", "ts", "yaml"]),
    ("xtask/scenarios", &["yaml"]),
];

/// What begins a line of a comment, and is no part of its text.
const COMMENT_MARKS: &[&str] = &["//!", "///", "//", "#", "/**", "*"];

const fn word(phrase: &'static str, reason: &'static str, better: &'static str) -> Word {
    Word { phrase, reason, better, except: &[] }
}

/// Checks the files, and all others that users and contributors read; returns one line for each word.
pub(crate) fn problems<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<Vec<String>> {
    let mut files: BTreeSet<PathBuf> = files.into_iter().cloned().collect();
    for (folder, endings) in OTHER_FILES {
        add_files(Path::new(folder), endings, &mut files)?;
    }
    let mut found = Vec::new();
    for file in files {
        // this list itself
        let is_list = file.ends_with("xtask/src/language.rs");
        if !is_list && !FOREIGN.iter().any(|foreign| file.starts_with(foreign)) {
            found.extend(check(&file, &fs::read_to_string(&file)?));
        }
    }
    Ok(found)
}

fn add_files(folder: &Path, endings: &[&str], files: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "__pycache__"].contains(&&*name) {
                add_files(&path, endings, files)?;
            }
        } else if path.extension().is_some_and(|ending| endings.iter().any(|it| ending == *it)) {
            files.insert(path);
        }
    }
    Ok(())
}

/// Finds the words, also those of which a line has the beginning and the next line the rest.
fn check(file: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines: Vec<String> = text.lines().map(|line| line.replace('_', " ")).collect();
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map_or("", |next| without_mark(next));
        let broken = format!("{} {next}", line.trim_end());
        for word in WORDS {
            let is_constant = word.phrase.chars().any(char::is_uppercase);
            let lower = |text: &str| if is_constant { text.to_owned() } else { text.to_lowercase() };
            let is_here = || occurs(&lower(line), word) || !occurs(&lower(next), word);
            // the next line may also complete a longer phrase that is fine
            if occurs(&lower(&broken), word) && is_here() {
                let Word { phrase, reason, better, .. } = word;
                found.push(format!(
                    "{}:{}: `{phrase}`: {reason}; better: {better}",
                    file.display(),
                    index + 1
                ));
            }
        }
    }
    found
}

/// Returns a line without its indentation and the mark of a comment.
fn without_mark(line: &str) -> &str {
    let line = line.trim_start();
    COMMENT_MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start()
}

/// Whether the phrase occurs as whole words, outside of the longer phrases that are fine.
fn occurs(line: &str, word: &Word) -> bool {
    let line = word.except.iter().fold(line.to_owned(), |line, fine| line.replace(fine, ""));
    line.match_indices(word.phrase).any(|(at, phrase)| {
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(line: &str) -> Vec<String> {
        let found = check(Path::new("a.rs"), line);
        found.iter().map(|problem| problem.split('`').nth(1).unwrap().to_owned()).collect()
    }

    #[test]
    fn word_is_found_in_comments_identifiers_and_strings() {
        assert_eq!(phrases("/// Whoever reads this."), ["whoever"]);
        assert_eq!(phrases("fn a_session_goes_on() {}"), ["goes on"]);
        assert_eq!(phrases("const MOST_LINES: usize = 5;"), ["MOST"]);
        assert_eq!(phrases("bail!(\"`{text}` is no JSON\")"), ["is no"]);
    }

    #[test]
    fn phrase_that_is_split_across_lines_is_found_once_where_it_begins() {
        let found = check(Path::new("a.rs"), "/// A session goes\n/// on with the next.\n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a.rs:1: `goes on`"), "{found:?}");
        assert_eq!(check(Path::new("a.md"), "It does not\nsum up what goes on.\n").len(), 2);
        for fine in ["// there is\n// no session", "// this is no\n// longer so"] {
            assert_eq!(check(Path::new("a.rs"), fine), Vec::<String>::new(), "{fine}");
        }
    }

    #[test]
    fn similar_words_are_not_found() {
        for line in [
            "// there is no session, and it is no longer needed",
            "// most of them, the longest, with patience",
            "// is not, is now, is nothing",
            "// almost, for whom, for whole files",
        ] {
            assert_eq!(phrases(line), Vec::<String>::new(), "{line}");
        }
    }
}
