//! Words that must not come back into code, comments and documents: each with the reason and the better word.
//!
//! The list is short on purpose. It has only words that a reader cannot search for, or that hide the subject of a sentence.

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
];

/// Paths that still use these words. Remove an entry once its path is clean; `cargo xtask tidy` says which are.
const NOT_CLEAN_YET: &[&str] = &[];

const fn word(phrase: &'static str, reason: &'static str, better: &'static str) -> Word {
    Word { phrase, reason, better, except: &[] }
}

/// Checks the files; returns one line for each word. Prints the allowed paths that have become clean.
pub(crate) fn problems<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut used = vec![false; NOT_CLEAN_YET.len()];
    for file in files {
        // this list itself
        if file.ends_with("xtask/src/language.rs") {
            continue;
        }
        let in_file = check(file, &fs::read_to_string(file)?);
        match NOT_CLEAN_YET.iter().position(|allowed| file.starts_with(allowed)) {
            Some(allowed) => used[allowed] |= !in_file.is_empty(),
            None => found.extend(in_file),
        }
    }
    let clean = NOT_CLEAN_YET.iter().zip(used).filter(|(_, is_used)| !is_used);
    for (path, _) in clean {
        println!("{path} is clean: remove it from NOT_CLEAN_YET in xtask/src/language.rs");
    }
    Ok(found)
}

fn check(file: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let plain = line.replace('_', " ");
        let lower = plain.to_lowercase();
        for word in WORDS {
            let is_constant = word.phrase.chars().any(char::is_uppercase);
            if occurs(if is_constant { &plain } else { &lower }, word) {
                let Word { phrase, reason, better, .. } = word;
                found.push(format!(
                    "{}:{}: `{phrase}`: {reason}; better: {better}",
                    file.display(),
                    number + 1
                ));
            }
        }
    }
    found
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
