//! What a command line does: proven from its text, or unknown.
//!
//! A line is parsed twice: by a small parser for plain lines ([`plain`]) and by the full shell grammar ([`tree`]). A line that runs without
//! permission at level off must be plain, and both parsers must find the same commands. In other lines, every command that the grammar
//! finds is judged, and the risk is at least medium.

mod place;
mod plain;
mod programs;
mod tree;
mod word;

use crate::{Risk, Workspace};

use self::place::Place;
pub(super) use self::plain::read_plain;
#[cfg(test)]
pub(super) use self::programs::{Takes, listed as listed_options, wrapper_names};
pub(super) use self::programs::{base_name, is_system_program};
use self::tree::Step;
pub(super) use self::word::Word;
#[cfg(test)]
pub(super) use self::word::read_word;
use super::files::{Extent, Finding};
use super::show::is_deceptive;
use super::{Policy, Rule};

/// Longer lines are not parsed.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// Lines with more commands are not judged.
const MAX_COMMANDS: usize = 50;
/// Lines with more words are not judged: each word may be a path that has to be resolved.
const MAX_WORDS: usize = 1000;
/// Maximum depth of shells that run shells.
const MAX_SHELL_DEPTH: usize = 3;

/// The judgement of a line.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    /// What the line does.
    pub(super) finding: Finding,
    /// The commands of the line, each with what it does.
    commands: Vec<(Vec<Word>, Finding)>,
    /// The commands that wrappers and shells run.
    inner: Vec<Vec<Word>>,
    /// Whether the line consists of nothing but these commands.
    is_plain: bool,
    /// Whether the line may run programs that are unknown before it runs.
    pub(super) hides_a_program: bool,
}

impl Judged {
    fn unreadable(reason: &str) -> Self {
        let finding = Finding::ask(reason);
        Self { finding, commands: Vec::new(), inner: Vec::new(), is_plain: false, hides_a_program: true }
    }

    fn all(&self) -> impl Iterator<Item = &Vec<Word>> {
        self.commands.iter().map(|(words, _)| words).chain(&self.inner)
    }

    /// Returns the first rule that matches one of the commands, including nested ones.
    pub(super) fn caught_by<'a>(&self, rules: &'a [Rule]) -> Option<&'a Rule> {
        rules.iter().find(|rule| self.all().any(|words| rule.catches(words)))
    }

    /// Returns whether the rules cover every command that changes something.
    pub(super) fn is_covered_by(&self, rules: &[Rule]) -> bool {
        let is_named = |(words, _): &&(Vec<Word>, Finding)| rules.iter().any(|rule| rule.covers(words));
        let is_covered = |command| is_named(&command) || command.1.risk == Risk::None;
        self.is_plain
            && self.commands.iter().any(|command| is_named(&command))
            && self.commands.iter().all(is_covered)
    }

    /// Returns the name of the first program.
    pub(super) fn first_program(&self) -> String {
        let first = self.commands.first().and_then(|(words, _)| words.first()).and_then(Word::literal);
        first.map(|name| super::visible(base_name(name)).into_owned()).unwrap_or_default()
    }

    /// Returns the programs, with the sub-command where it matters.
    pub(super) fn extracted(&self) -> Vec<String> {
        let names = self.commands.iter().filter_map(|(words, _)| programs::short_name(words));
        names.map(|name| super::visible(&name).into_owned()).collect()
    }
}

/// Judges a command line as bash would run it in the workspace.
pub(super) fn judge(line: &str, policy: &Policy, workspace: &Workspace) -> Judged {
    judge_at(line, &mut Place::new(policy, workspace), 0)
}

/// Returns the words of a text if it is one plain command.
pub(super) fn word_texts(text: &str) -> Option<Vec<String>> {
    let [words] = <[Vec<Word>; 1]>::try_from(read_plain(text, "")?).ok()?;
    let text = |word: Word| match word {
        Word::Literal(text) | Word::Pattern { text, .. } => Some(text),
        Word::Unknown => None,
    };
    words.into_iter().map(text).collect()
}

fn judge_at(line: &str, place: &mut Place<'_>, depth: usize) -> Judged {
    if line.len() > MAX_LINE_BYTES {
        return Judged::unreadable("The command is too long to be judged.");
    }
    if line.contains(is_deceptive) {
        return Judged::unreadable("The command has control or invisible characters.");
    }
    let home = place.policy.home.to_str().unwrap_or_default().to_owned();
    let Some(steps) = tree::read_steps(line, &home) else {
        return Judged::unreadable("The command could not be read with certainty.");
    };
    let in_tree = || {
        steps.iter().filter_map(|step| match step {
            Step::Command { words, .. } => Some(words),
            _ => None,
        })
    };
    if in_tree().count() > MAX_COMMANDS || in_tree().map(Vec::len).sum::<usize>() > MAX_WORDS {
        return Judged::unreadable("The command has too many parts to be judged.");
    }
    let judged = match read_plain(line, &home) {
        Some(commands) if !commands.iter().eq(in_tree()) => {
            Judged::unreadable("The command could not be read with certainty.")
        }
        Some(commands) => {
            let steps =
                commands.into_iter().map(|words| Step::Command { words, is_repeated: false }).collect();
            walk(steps, true, place, depth)
        }
        None => walk(steps, false, place, depth),
    };
    with_hidden_home(judged, line)
}

/// Asks if a line removes or changes directories whose names are known only when it runs, and mentions the home directory: `${HOME%/}`.
fn with_hidden_home(mut judged: Judged, line: &str) -> Judged {
    let is_hidden = |words: &Vec<Word>| {
        let name = words.first().and_then(Word::literal).map(base_name);
        matches!(name, Some("rm" | "find" | "chmod" | "chown" | "chgrp" | "mv" | "shred" | "rsync"))
            && words.contains(&Word::Unknown)
    };
    if (line.contains("HOME") || line.contains('~')) && judged.all().any(is_hidden) {
        let found = Finding::ask("It may remove or change what is in your home directory.");
        judged.finding = judged.finding.and(found);
    }
    judged
}

/// Returns whether the text does not say which program runs: it is computed, or it is in text that is computed.
fn hides_its_program(words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let is_computed = |words: &[Word]| words.iter().any(|word| word.literal().is_none());
    match first.literal().map(base_name) {
        None => true,
        Some("eval") => is_computed(rest),
        Some("sh" | "bash" | "dash" | "zsh" | "ksh") => {
            let has_text = |word: &Word| {
                word.literal()
                    .is_some_and(|it| it.starts_with('-') && !it.starts_with("--") && it.contains('c'))
            };
            rest.iter()
                .position(has_text)
                .is_some_and(|at| rest.get(at + 1).is_some_and(|it| it.literal().is_none()))
        }
        Some(_) => false,
    }
}

fn walk(steps: Vec<Step>, is_plain: bool, place: &mut Place<'_>, depth: usize) -> Judged {
    let least = if is_plain { Risk::None } else { Risk::Medium };
    let mut judged =
        Judged { finding: Finding::of(least), is_plain, hides_a_program: false, ..Judged::unreadable("") };
    for step in steps {
        let finding = match step {
            Step::Command { words, is_repeated } => {
                if words.is_empty() {
                    continue;
                }
                let finding = programs::judge(&words, is_repeated, place, &mut judged.inner, depth);
                judged.commands.push((words, finding.clone()));
                finding
            }
            Step::Assign { name } => Finding::of(programs::assignment(&name)),
            Step::Redirect { is_write: true, target } => {
                place.has_written = true;
                place.write_word(&target)
            }
            Step::Redirect { is_write: false, target } => place.read_word(&target, Extent::File),
            Step::Function { is_recursive: true } => Finding::ask("It has a function that calls itself."),
            Step::Function { is_recursive: false } | Step::Evaluate => Finding::of(Risk::High),
            Step::Structure => Finding::of(Risk::Medium),
        };
        judged.finding = judged.finding.and(finding);
    }
    let hides_a_program = judged.all().any(|words| hides_its_program(words));
    judged.hides_a_program = hides_a_program;
    if judged.inner.len() > MAX_COMMANDS {
        return Judged::unreadable("The command has too many parts to be judged.");
    }
    judged
}
