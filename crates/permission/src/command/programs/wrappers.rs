//! Programs that run another command: the inner command is judged.

use std::sync::LazyLock;

use crate::Risk;

use super::options::Options;
use super::readers;
use crate::command::place::Place;
use crate::command::{MAX_SHELL_DEPTH, Word, judge_at};
use crate::files::{Extent, Finding};
use crate::secrets::Recursion;

const TIMEOUT: Options = Options::new("k:s:v", "kill-after= signal= preserve-status foreground verbose");
const NICE: Options = Options::new("#n:", "adjustment=");
const STDBUF: Options = Options::new("i:o:e:", "input= output= error=");
const IONICE: Options = Options::new("c:n:t", "");
const XARGS: Options =
    Options::new("0rtpxn:P:L:I:d:s:", "null no-run-if-empty max-args= max-procs= delimiter=");
const ENV: Options = Options::new("i0u:", "ignore-environment null unset=");

const TIME: Options = Options::new("p", "");
const COMMAND: Options = Options::new("p", "");

/// Returns the programs whose options are listed, for the test that compares them with the real ones.
#[cfg(test)]
pub(super) fn listed() -> impl Iterator<Item = super::Listed> {
    let all = [
        ("timeout", TIMEOUT),
        ("nice", NICE),
        ("stdbuf", STDBUF),
        ("ionice", IONICE),
        ("xargs", XARGS),
        ("env", ENV),
        ("time", TIME),
        ("command", COMMAND),
    ];
    all.into_iter().map(|(name, options)| (vec![name], options.all()))
}

/// All programs that run another command.
pub(super) const NAMES: &[&str] = &[
    "bash", "sh", "dash", "eval", "env", "timeout", "nice", "nohup", "setsid", "exec", "builtin", "noglob",
    "time", "stdbuf", "ionice", "command", "sudo", "doas", "xargs", "find",
];

/// Judges a command that runs another one. `None` if it does not.
pub(super) fn judge(
    name: &str,
    arguments: &[Word],
    is_repeated: bool,
    place: &mut Place<'_>,
    inner: &mut Vec<Vec<Word>>,
    depth: usize,
) -> Option<Finding> {
    if !NAMES.contains(&name) {
        return None;
    }
    if matches!(name, "bash" | "sh" | "dash" | "eval") && arguments != [Word::Literal("--version".to_owned())]
    {
        return Some(shell(name, arguments, place, inner, depth));
    }
    let (rest, least) = match name {
        "env" => environment(arguments),
        "timeout" => {
            let rest = TIMEOUT.read_front(arguments).map(|(_, rest)| rest);
            // a pattern could expand to a duration and a program
            let command = rest.and_then(|rest| match rest.split_first() {
                Some((Word::Literal(_), command)) => Some(command),
                _ => None,
            });
            (command, Risk::None)
        }
        "nice" => front(NICE, arguments),
        "nohup" | "setsid" | "exec" | "builtin" | "noglob" => front(Options::new("", ""), arguments),
        "time" => front(TIME, arguments),
        "stdbuf" => front(STDBUF, arguments),
        "ionice" => front(IONICE, arguments),
        "command" if !matches!(arguments.first().and_then(Word::literal), Some("-v" | "-V")) => {
            front(COMMAND, arguments)
        }
        "sudo" | "doas" => front(Options::new("nEHSku:g:", "non-interactive user= preserve-env"), arguments),
        "xargs" => {
            let (rest, least) = front(XARGS, arguments);
            // xargs appends words of its input
            let more =
                rest.map(|rest| if rest.is_empty() { Vec::new() } else { [rest, &[Word::Unknown]].concat() });
            // most inputs are names of files that are listed here
            let first = rest.and_then(|rest| rest.first()).and_then(Word::literal).unwrap_or_default();
            let read = if readers::prints_content(super::base_name(first)) {
                place.read(".", Extent::Below(&Recursion::all()))
            } else {
                Finding::NOTHING
            };
            let found = run(more.as_deref(), least.max(Risk::Medium), is_repeated, place, inner, depth);
            return Some(found.and(read));
        }
        "find" => {
            let ran = ran_by_find(arguments);
            if ran.is_empty() {
                return None;
            }
            let reads = |words: &Vec<Word>| {
                let name = words.first().and_then(Word::literal).unwrap_or_default();
                readers::prints_content(super::base_name(name))
            };
            let read = if ran.iter().any(reads) { read_by_find(arguments, place) } else { Finding::NOTHING };
            let found = ran.iter().map(|words| run(Some(words), Risk::Medium, true, place, inner, depth));
            return Some(found.fold(read, Finding::and));
        }
        _ => return None,
    };
    Some(run(rest, least, is_repeated, place, inner, depth))
}

type Rest<'a> = (Option<&'a [Word]>, Risk);

fn front(options: Options, arguments: &[Word]) -> Rest<'_> {
    (options.read_front(arguments).map(|(_, rest)| rest), Risk::None)
}

fn run(
    words: Option<&[Word]>,
    least: Risk,
    is_repeated: bool,
    place: &mut Place<'_>,
    inner: &mut Vec<Vec<Word>>,
    depth: usize,
) -> Finding {
    let Some(words) = words else {
        inner.push(vec![Word::Unknown]);
        return Finding::ask("Which program it runs cannot be told from its options.");
    };
    if words.is_empty() {
        return Finding::of(Risk::High);
    }
    inner.push(words.to_vec());
    // a shell builtin that changes the directory does so only in its own process, or not at all
    if depth >= MAX_SHELL_DEPTH || inner.len() > super::super::MAX_COMMANDS {
        return Finding::ask("The command is nested too deep to be judged.");
    }
    super::judge(words, is_repeated, place, inner, depth + 1).at_least(least)
}

/// Judges `env`, which prints if it has no command.
fn environment(arguments: &[Word]) -> Rest<'_> {
    static NOTHING: LazyLock<[Word; 1]> = LazyLock::new(|| [Word::Literal("true".to_owned())]);
    let Some((_, mut rest)) = ENV.read_front(arguments) else { return (None, Risk::High) };
    let mut least = Risk::None;
    while let Some((first, more)) = rest.split_first() {
        match first.literal().and_then(|text| text.split_once('=')) {
            Some((name, _)) => {
                least = least.max(super::assignment(name));
                rest = more;
            }
            None => return (Some(rest), least),
        }
    }
    (Some(NOTHING.as_slice()), least)
}

/// Judges a shell with a script text: the text is judged as the line itself is.
fn shell(
    name: &str,
    arguments: &[Word],
    place: &mut Place<'_>,
    inner: &mut Vec<Vec<Word>>,
    depth: usize,
) -> Finding {
    let joined: String;
    let line = if name == "eval" {
        let words: Option<Vec<&str>> = arguments.iter().map(Word::literal).collect();
        joined = words.unwrap_or_default().join(" ");
        (!joined.is_empty()).then_some(joined.as_str())
    } else {
        match arguments {
            [Word::Literal(option), Word::Literal(line), rest @ ..]
                if option.strip_prefix('-').is_some_and(|letters| {
                    letters.ends_with('c') && letters.chars().all(|letter| "ceux".contains(letter))
                }) && rest.iter().all(|word| word.literal().is_some()) =>
            {
                Some(line.as_str())
            }
            _ => None,
        }
    };
    let Some(line) = line else {
        // a script file, or a text that is known only when it runs; a literal text after other options is judged as far as possible
        let least = Finding::of(Risk::High);
        let texts: Vec<&str> =
            arguments.iter().filter_map(Word::literal).filter(|text| text.contains(' ')).collect();
        return texts.into_iter().fold(least, |found, line| found.and(nested(line, place, inner, depth)));
    };
    let found = nested(line, place, inner, depth);
    // the arguments of the script are not examined
    if arguments.len() > 2 || name == "eval" { found.at_least(Risk::High) } else { found }
}

fn nested(line: &str, place: &mut Place<'_>, inner: &mut Vec<Vec<Word>>, depth: usize) -> Finding {
    if depth >= MAX_SHELL_DEPTH {
        return Finding::ask("The command is nested too deep to be judged.");
    }
    let judged = judge_at(line, place, depth + 1);
    inner.extend(judged.all().cloned());
    if judged.hides_a_program {
        inner.push(vec![Word::Unknown]);
    }
    judged.finding
}

/// Returns the effect of reading the files that `find` finds. A name counts only if every file must have it.
fn read_by_find(arguments: &[Word], place: &Place<'_>) -> Finding {
    let texts: Vec<&str> = arguments.iter().map(|word| word.literal().unwrap_or("*")).collect();
    let is_expression =
        |text: &&str| text.starts_with(['-', '(', '!']) && text.len() > 2 || *text == "(" || *text == "!";
    let starts = texts.iter().take_while(|text| !is_expression(text));
    let is_simple = !texts.iter().any(|text| ["-o", "-or", "!", "-not", "(", ","].contains(text));
    let named =
        texts.windows(2).filter(|pair| is_simple && pair[0] == "-name").map(|pair| pair[1].to_owned());
    let recursion = Recursion { included: named.take(1).collect(), ..Recursion::all() };
    let mut starts: Vec<&str> = starts.copied().collect();
    if starts.is_empty() {
        starts.push(".");
    }
    let read = starts.iter().map(|start| place.read(start, Extent::Below(&recursion)));
    read.fold(Finding::NOTHING, Finding::and)
}

/// Returns the commands of `-exec` and similar actions, each with an unknown file name.
fn ran_by_find(arguments: &[Word]) -> Vec<Vec<Word>> {
    let is_run = |word: &Word| matches!(word.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    let mut ran = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(is_run) {
        rest = &rest[at + 1..];
        let end =
            rest.iter().position(|word| matches!(word.literal(), Some(";" | "+"))).unwrap_or(rest.len());
        let words = rest[..end].iter().map(|word| match word.literal() {
            Some(text) if text.contains("{}") => Word::Unknown,
            _ => word.clone(),
        });
        ran.push(words.collect());
        rest = &rest[end..];
    }
    ran
}
