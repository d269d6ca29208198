//! The slash commands: ours, which are carried out here, and the agent's, which go to it as they are typed.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, UnstructuredCommandInput};
use musher::wire::{CommandInfo, SkillInfo};

/// One of our own commands, with what was typed behind it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Compact(Option<String>),
    Context,
    Mode(Option<String>),
    Model(Option<String>),
    Sessions,
    Status,
    Help,
}

/// Name, description and hint of each.
#[rustfmt::skip]
const OURS: [(&str, &str, Option<&str>); 7] = [
    ("compact", "Compact the conversation to free context", Some("what to keep in mind")),
    ("context", "Show how full the model's context is", None),
    ("mode", "Show or change the mode", Some("spec, normal, auto-low, auto-medium or auto-high")),
    ("model", "Show or change the model", Some("the id of a model")),
    ("sessions", "List the sessions of this directory", None),
    ("status", "Show what this session is set to", None),
    ("help", "List the commands", None),
];

impl Command {
    /// Returns the command in a prompt, if it is one of ours.
    pub(crate) fn read(prompt: &str) -> Option<Self> {
        let line = prompt.trim().strip_prefix('/')?;
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        Some(match name {
            "compact" => Self::Compact(rest),
            "context" => Self::Context,
            "mode" => Self::Mode(rest),
            "model" => Self::Model(rest),
            "sessions" => Self::Sessions,
            "status" => Self::Status,
            "help" => Self::Help,
            _ => return None,
        })
    }
}

/// Returns all commands to announce: ours first, then the agent's that have other names.
pub(crate) fn available(commands: Vec<CommandInfo>, skills: Vec<SkillInfo>) -> Vec<AvailableCommand> {
    let mut all: Vec<_> =
        OURS.iter().map(|(name, about, hint)| command(*name, *about, hint.map(str::to_owned))).collect();
    let commands = commands
        .into_iter()
        .map(|found| command(found.name, found.description.unwrap_or_default(), found.argument_hint));
    let skills = skills
        .into_iter()
        .filter(|skill| skill.enabled != Some(false) && skill.user_invocable != Some(false))
        .map(|skill| command(skill.name, skill.description.unwrap_or_default(), None));
    for found in commands.chain(skills) {
        if all.iter().all(|known| known.name != found.name) {
            all.push(found);
        }
    }
    all
}

fn command(name: impl Into<String>, about: impl Into<String>, hint: Option<String>) -> AvailableCommand {
    let name = name.into();
    let command = AvailableCommand::new(name.trim_start_matches('/'), about);
    match hint {
        Some(hint) => command.input(AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint))),
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_commands_are_recognized() {
        assert_eq!(
            Command::read("/compact  keep the names "),
            Some(Command::Compact(Some("keep the names".to_owned())))
        );
        assert_eq!(Command::read("/mode"), Some(Command::Mode(None)));
        for other in ["/review all", "compact", "/ compact", "/compactly", "see /help"] {
            assert_eq!(Command::read(other), None, "{other}");
        }
    }

    #[test]
    fn every_announced_command_of_ours_is_understood() {
        for (name, _, _) in OURS {
            assert!(Command::read(&format!("/{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn commands_and_skills_of_the_agent_are_sent_once() {
        let hinted = CommandInfo { argument_hint: Some("a file".to_owned()), ..CommandInfo::new("review") };
        let hidden = SkillInfo { user_invocable: Some(false), ..SkillInfo::new("hidden") };
        let skills = vec![SkillInfo::new("review"), SkillInfo::new("deploy"), hidden];
        let names: Vec<_> = available(vec![hinted, CommandInfo::new("help")], skills)
            .into_iter()
            .skip(OURS.len())
            .map(|command| (command.name, command.input.is_some()))
            .collect();
        assert_eq!(names, [("review".to_owned(), true), ("deploy".to_owned(), false)]);
    }
}
