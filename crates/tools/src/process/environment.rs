//! The environment of commands: that of this process, without keys, with variables that make programs non-interactive.

use std::ffi::{OsStr, OsString};

/// Variables that keep programs from asking questions and paging, and that keep a repository from running its own programs when git only
/// reads it. Permission for git commands relies on the latter.
pub(super) const NON_INTERACTIVE: [(&str, &str); 15] = [
    ("TERM", "dumb"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_SSH_COMMAND", "ssh -oBatchMode=yes"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_1", "explicit"),
];

/// Variables that change what the shell does for a command line.
const SHELL_BEHAVIOUR: [&str; 4] = ["BASH_ENV", "CDPATH", "ENV", "SHELLOPTS"];

/// Keys of model vendors and of the agents themselves.
const KEYS: [&str; 8] = [
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "FACTORY_API_KEY",
    "FACTORY_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OLLAMA_HOST",
    "MUSHER_TOKEN",
];
const VENDORS: [&str; 15] = [
    "ANTHROPIC",
    "OPENAI",
    "OPENROUTER",
    "DEEPSEEK",
    "GROQ",
    "MISTRAL",
    "XAI",
    "GEMINI",
    "GOOGLE",
    "MOONSHOT",
    "TOGETHER",
    "FIREWORKS",
    "CEREBRAS",
    "OLLAMA",
    "AZURE_OPENAI",
];

/// Returns the environment for commands, made from the environment of this process.
///
/// `secret` lists more variables to leave out: those that the settings take keys from.
///
/// ```
/// use musher_tools::command_environment;
///
/// let ours = [("HOME", "/home/u"), ("ANTHROPIC_API_KEY", "k"), ("MY_KEY", "k"), ("TERM", "xterm"), ("CDPATH", "/")];
/// let ours = ours.map(|(name, value)| (name.into(), value.into()));
/// let theirs = command_environment(ours, &["MY_KEY".to_owned()]);
/// assert!(theirs.contains(&("HOME".into(), "/home/u".into())) && theirs.contains(&("TERM".into(), "dumb".into())));
/// assert!(!theirs.iter().any(|(name, _)| name == "ANTHROPIC_API_KEY" || name == "MY_KEY" || name == "CDPATH"));
/// ```
pub fn command_environment(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    secret: &[String],
) -> Vec<(OsString, OsString)> {
    let is_ours = |name: &OsStr| NON_INTERACTIVE.iter().any(|(ours, _)| name == *ours);
    let is_left_out = |name: &OsStr| is_secret(name, secret) || is_ours(name) || changes_shell(name);
    let kept = ours.into_iter().filter(|(name, _)| !is_left_out(name));
    kept.chain(NON_INTERACTIVE.map(|(name, value)| (name.into(), value.into()))).collect()
}

fn changes_shell(name: &OsStr) -> bool {
    // the prefix of exported functions; one of them could be named `ls`
    let is_function = name.to_str().is_some_and(|name| name.starts_with("BASH_FUNC_"));
    is_function || SHELL_BEHAVIOUR.iter().any(|variable| name == *variable)
}

fn is_secret(name: &OsStr, secret: &[String]) -> bool {
    let Some(text) = name.to_str() else { return false };
    let is_vendors = || VENDORS.iter().any(|vendor| text.strip_prefix(vendor) == Some("_API_KEY"));
    secret.iter().any(|secret| secret == text) || KEYS.contains(&text) || is_vendors()
}
