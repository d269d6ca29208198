//! Command rules of the settings, to allow and to deny: the first words of a command. They match whole words, never part of a word.

use std::fmt;

use super::command::{Word, base_name, is_system_program, word_texts};

/// The first words of a command, such as `git push`.
#[derive(Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    words: Vec<String>,
}

impl Rule {
    /// Parses a rule of the settings. Quotes are read as the shell reads them; a trailing `*` has no effect.
    ///
    /// ```
    /// use musher_permission::Rule;
    ///
    /// assert_eq!(Rule::parse("git push"), Rule::parse(" git 'push' *"));
    /// ```
    pub fn parse(text: &str) -> Self {
        let plain = || text.split_whitespace().map(str::to_owned).collect();
        let mut words: Vec<String> = word_texts(text).unwrap_or_else(plain);
        if words.len() > 1 && words.last().is_some_and(|word| word == "*") {
            words.pop();
        }
        Self { text: words.join(" "), words }
    }

    /// Returns whether a command to be blocked matches. Matches generously: the program is compared by its base name, and a last word
    /// that ends in
    /// `/` or `=` also matches its continuations.
    pub(super) fn catches(&self, argv: &[Word]) -> bool {
        let Some((program, rest)) = self.words.split_first() else { return false };
        let Some((Word::Literal(name), arguments)) = argv.split_first() else { return false };
        let is_program = name == program || base_name(name) == base_name(program);
        is_program && Self::positions(rest, arguments).any(|arguments| Self::begins(rest, arguments))
    }

    /// Returns the places where the words after the program may start: at the first argument, and after global options such as those of
    /// `git -C folder push`. A word after an option may be its value or the sub-command, so both are tried.
    fn positions<'a>(rest: &[String], arguments: &'a [Word]) -> impl Iterator<Item = &'a [Word]> {
        let is_option = |word: &Word| word.literal().is_none_or(|text| text.starts_with('-'));
        let names_command = rest.first().is_some_and(|word| !word.starts_with('-'));
        let mut skipped = 0;
        while names_command && skipped < arguments.len() {
            let may_be_value = skipped > 0 && is_option(&arguments[skipped - 1]);
            if !is_option(&arguments[skipped]) && !may_be_value {
                break;
            }
            skipped += 1;
        }
        (0..=skipped).map(|at| &arguments[at..])
    }

    fn begins(rest: &[String], arguments: &[Word]) -> bool {
        let mut pairs = rest.iter().zip(arguments).enumerate();
        rest.len() <= arguments.len()
            && pairs.all(|(at, (wanted, word))| match word {
                Word::Literal(word) => {
                    let is_open = at + 1 == rest.len() && (wanted.ends_with('/') || wanted.ends_with('='));
                    word == wanted || (is_open && word.starts_with(wanted.as_str()))
                }
                // its run-time value may match
                Word::Pattern { .. } | Word::Unknown => true,
            })
    }

    /// Returns whether a command to be allowed matches: word for word.
    pub(super) fn covers(&self, argv: &[Word]) -> bool {
        let Some((program, rest)) = self.words.split_first() else { return false };
        let Some((Word::Literal(name), arguments)) = argv.split_first() else { return false };
        let is_program = name == program || (is_system_program(name) && base_name(name) == program);
        is_program
            && rest.len() <= arguments.len()
            && arguments.iter().all(|word| matches!(word, Word::Literal(_)))
            && rest
                .iter()
                .zip(arguments)
                .all(|(wanted, word)| matches!(word, Word::Literal(word) if word == wanted))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rule").field(&self.words).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<Word> {
        words.iter().map(|word| Word::Literal((*word).to_owned())).collect()
    }

    #[test]
    fn rules_match_whole_words_from_the_beginning() {
        let push = Rule::parse("git push");
        assert!(push.covers(&argv(&["git", "push"])) && push.covers(&argv(&["git", "push", "origin"])));
        assert!(push.covers(&argv(&["/usr/bin/git", "push"])) && !push.covers(&argv(&["./git", "push"])));
        assert!(!push.covers(&argv(&["git", "pushx"])) && !push.covers(&argv(&["git", "-q", "push"])));
        assert!(!push.covers(&argv(&["git"])) && !push.covers(&[]));
        assert!(
            push.catches(&argv(&["git", "-C", ".", "push"])) && push.catches(&argv(&["git", "-P", "push"]))
        );
        assert!(!push.catches(&argv(&["git", "commit", "-m", "push"])));
        assert!(push.catches(&argv(&["./git", "push"])) && !push.catches(&argv(&["git", "pull"])));
        assert!(!Rule::parse("").covers(&argv(&["ls"])) && !Rule::parse(" ").catches(&argv(&["ls"])));
    }

    #[test]
    fn blocked_command_stays_blocked_with_unknown_options_or_more_commands() {
        assert!(Rule::parse("rm -rf /").catches(&argv(&["rm", "-rf", "/etc"])));
        assert!(!Rule::parse("rm -rf /").covers(&argv(&["rm", "-rf", "/etc"])));
        assert!(Rule::parse("dd if=").catches(&argv(&["dd", "if=/dev/zero", "of=x"])));
        let unknown = [Word::Literal("git".to_owned()), Word::Unknown];
        assert!(Rule::parse("git push").catches(&unknown) && !Rule::parse("git").covers(&unknown));
    }
}
