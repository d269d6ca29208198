//! Rules of the settings about commands: the first words of one. They match whole words, never a piece of the text.

use std::fmt;

use super::command::{Word, base_name, is_system_program, word_texts};

/// The beginning of a command, such as `git push`.
#[derive(Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    words: Vec<String>,
}

impl Rule {
    /// A rule as settings have it. Quotes are read as the shell does; a `*` at the end says what is true anyway.
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

    /// Whether a command that shall be held back is meant. One word too many is better than one too few: the program is compared
    /// by its last part, and a last word that ends in `/` or `=` also stands for what goes on from there.
    pub(super) fn catches(&self, argv: &[Word]) -> bool {
        let Some((program, rest)) = self.words.split_first() else { return false };
        let Some((Word::Literal(name), arguments)) = argv.split_first() else { return false };
        let is_program = name == program || base_name(name) == base_name(program);
        is_program && Self::positions(rest, arguments).any(|arguments| Self::begins(rest, arguments))
    }

    /// Where the words behind the program may begin: at the first argument, and behind global options such as those of
    /// `git -C folder push`. A word behind an option may be its value or the sub-command, so that both are tried.
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
                // it may well become what is wanted
                Word::Pattern { .. } | Word::Unknown => true,
            })
    }

    /// Whether a command that may run is meant: word for word.
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
    fn what_is_held_back_is_held_back_also_if_it_is_unknown_or_goes_on() {
        assert!(Rule::parse("rm -rf /").catches(&argv(&["rm", "-rf", "/etc"])));
        assert!(!Rule::parse("rm -rf /").covers(&argv(&["rm", "-rf", "/etc"])));
        assert!(Rule::parse("dd if=").catches(&argv(&["dd", "if=/dev/zero", "of=x"])));
        let unknown = [Word::Literal("git".to_owned()), Word::Unknown];
        assert!(Rule::parse("git push").catches(&unknown) && !Rule::parse("git").covers(&unknown));
    }
}
