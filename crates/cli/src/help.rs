//! Help in a narrow terminal: the comment of an example goes below its command if both do not fit beside each other. Pure.
//!
//! The text of help is in `args/`; clap breaks lines of prose.

use clap::Command;

/// The indentation of a comment below its command.
const INDENT: &str = "      ";

/// Returns the command with help for a terminal of this width.
pub(crate) fn fitted(command: Command, width: usize) -> Command {
    let fit =
        |text: Option<&clap::builder::StyledStr>| text.map(|text| fitted_text(&text.to_string(), width));
    let (short, long) = (fit(command.get_after_help()), fit(command.get_after_long_help()));
    let command = short.into_iter().fold(command, Command::after_help);
    let command = long.into_iter().fold(command, Command::after_long_help);
    command.mut_subcommands(|subcommand| fitted(subcommand, width))
}

fn fitted_text(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let example = line.strip_prefix("  ").filter(|_| line.chars().count() > width);
        match example.and_then(|example| example.split_once("  ")) {
            Some((command, comment)) if !command.is_empty() => {
                lines.push(format!("  {command}"));
                lines.push(format!("{INDENT}{}", comment.trim_start()));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_of_a_long_example_goes_below_its_command() {
        let text = "Examples:\n  musher run hi        Short\n  musher run 'fix the tests'   Runs a prompt\n\nProse that is long.";
        let expected = "Examples:\n  musher run hi        Short\n  musher run 'fix the tests'\n      Runs a prompt\n\nProse that is long.";
        assert_eq!(fitted_text(text, 40), expected);
        assert_eq!(fitted_text(text, 80), text);
    }

    #[test]
    fn no_comment_of_an_example_is_beyond_eighty_columns() {
        use clap::CommandFactory as _;
        let mut pending = vec![fitted(crate::args::Args::command(), 80)];
        let mut examples = 0;
        while let Some(command) = pending.pop() {
            pending.extend(command.get_subcommands().cloned());
            for text in [command.get_after_help(), command.get_after_long_help()].into_iter().flatten() {
                let text = text.to_string();
                for line in text.lines().filter(|line| line.starts_with("  musher")) {
                    examples += 1;
                    let is_alone = !line.trim().contains("  ");
                    assert!(is_alone || line.chars().count() <= 80, "{}: {line}", command.get_name());
                }
            }
        }
        assert!(examples > 40, "{examples}");
    }
}
