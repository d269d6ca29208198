//! Programs whose arguments are a language: only a small part of it is proven.

use std::sync::LazyLock;

use crate::Risk;
use regex::Regex;

use super::is_listed;
use super::options::Options;
use crate::command::Word;
use crate::command::place::Place;
use crate::files::{Extent, Finding};

const SED: Options = Options::new(
    "nErsuze:i?",
    "quiet silent regexp-extended expression= separate null-data in-place=? unbuffered",
);
const AWK: Options = Options::new("F:", "");
/// Tests and actions of `find` without a value. None of them writes, deletes or runs anything.
const FIND_FLAGS: &str = "-print -print0 -ls -prune -depth -d -xdev -mount -noleaf -empty -readable -writable -executable \
    -true -false -daystart -nouser -nogroup -quit -follow -and -or -not -a -o";
/// Tests and actions of `find` with a value.
const FIND_VALUED: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype \
    -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer \
    -newermt -newerct -newerat -user -group -uid -gid -perm -links -inum -samefile -lname -ilname \
    -fstype -used -printf -D";

/// Returns the programs whose options are listed, for the test that compares them with the real ones.
#[cfg(test)]
pub(super) fn listed() -> impl Iterator<Item = super::Listed> {
    use super::options::Takes;

    let of = |list: &'static str, takes| list.split_whitespace().map(move |name| (name.to_owned(), takes));
    let find = of(FIND_FLAGS, Takes::NoNextWord).chain(of(FIND_VALUED, Takes::NextWord)).collect();
    let awk = ["awk", "gawk", "mawk"].map(|name| (vec![name], AWK.all()));
    awk.into_iter().chain([(vec!["sed"], SED.all()), (vec!["find"], find)])
}

/// Judges `find` with tests, and with no action but printing.
pub(super) fn find(words: &[Word], place: &Place<'_>) -> Option<Finding> {
    let mut words = words.iter();
    let mut is_path = true;
    while let Some(word) = words.next() {
        let text = match word {
            Word::Literal(text) => text.as_str(),
            Word::Pattern { text, prefix }
                if is_path && *prefix > 0 && !text.starts_with(['-', '(', '!']) =>
            {
                continue;
            }
            Word::Pattern { .. } | Word::Unknown => return None,
        };
        if is_path && ["-H", "-L", "-P"].contains(&text) {
            continue;
        }
        if is_path && !text.starts_with('-') && !["(", ")", "!", ","].contains(&text) {
            place.paths(text)?;
            continue;
        }
        is_path = false;
        match text {
            "(" | ")" | "!" | "," => {}
            flag if is_listed(FIND_FLAGS, flag) => {}
            // the value must be known, but its text does not matter
            valued if is_listed(FIND_VALUED, valued) => drop(words.next()?.literal()?),
            _ => return None,
        }
    }
    Some(Finding::NOTHING)
}

/// Judges `sed` with commands that print, delete or substitute.
pub(super) fn sed(words: &[Word], place: &Place<'_>) -> Option<Finding> {
    let given = SED.read(words)?;
    let mut scripts: Vec<&str> = Vec::new();
    for (name, value) in &given.options {
        match (name.as_str(), value.as_deref()) {
            ("-e" | "--expression", Some(script)) => scripts.push(script),
            // a suffix is the name of a backup file
            ("-i" | "--in-place", Some(suffix)) if !suffix.is_empty() => return None,
            _ => {}
        }
    }
    let files = if scripts.is_empty() {
        let (script, files) = given.operands.split_first()?;
        scripts.push(script.literal()?);
        files
    } else {
        given.operands.as_slice()
    };
    if !scripts.iter().all(|script| is_plain_sed(script)) {
        return None;
    }
    let read =
        files.iter().map(|file| place.read_word(file, Extent::File)).fold(Finding::NOTHING, Finding::and);
    if !given.has(&["-i", "--in-place"]) {
        return Some(read);
    }
    Some(files.iter().map(|file| place.write_word(file)).fold(read.at_least(Risk::Low), Finding::and))
}

/// Returns whether a script has only addresses with `p`, `d`, `q`, `=` or `s`, without the flags that write or run.
fn is_plain_sed(script: &str) -> bool {
    static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let address = r"(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])*/I?)";
        let range = format!(r"(?:{address}(?:,(?:\+?\d+|{address}))?)?\s*!?\s*");
        let substitute = ["/", r"\|", "#", ",", "@"].map(|end| {
            let inner = format!(r"(?:[^{end}\\\n]|\\[^\n])*");
            format!(r"s{end}{inner}{end}{inner}{end}[gpIi0-9]*")
        });
        let command = format!(r"{range}(?:[pdq=]|{})\s*", substitute.join("|"));
        Regex::new(&format!(r"^\s*{command}(?:[;\n]\s*{command})*;?\s*$")).ok()
    });
    has_plain_brackets(script) && SCRIPT.as_ref().is_some_and(|pattern| pattern.is_match(script))
}

/// Returns whether no bracket expression contains a character that may end a command: implementations of `sed` differ there.
fn has_plain_brackets(script: &str) -> bool {
    let mut rest = script;
    while let Some(start) = rest.find('[') {
        let inside = &rest[start + 1..];
        // the first character never closes the bracket
        let first = inside.chars().next().map_or(0, char::len_utf8);
        let Some(end) = inside[first..].find(']').map(|end| end + first) else { return false };
        if inside[..end].contains(['/', '|', '#', ',', '@', ';', '\n', '[', '\\']) {
            return false;
        }
        rest = &inside[end + 1..];
    }
    true
}

/// Judges `awk` with programs that can neither call functions, nor write, nor run anything.
pub(super) fn awk(words: &[Word], place: &Place<'_>) -> Option<Finding> {
    let (_, rest) = AWK.read_front(words)?;
    let (program, files) = rest.split_first()?;
    let program = program.literal()?;
    if program.contains(['(', ')', '|', '>', '<', '@', '`'])
        || program.contains("getline")
        || program.contains("ARG")
    {
        return None;
    }
    // an operand with `=` is an assignment; one with `-` may be an option in some implementations
    let is_file =
        |word: &Word| word.literal().is_some_and(|text| !text.contains('=') && !text.starts_with('-'));
    if !files.iter().all(is_file) {
        return None;
    }
    Some(files.iter().map(|file| place.read_word(file, Extent::File)).fold(Finding::NOTHING, Finding::and))
}
