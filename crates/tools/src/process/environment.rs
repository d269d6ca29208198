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
const SHELL_BEHAVIOUR: [&str; 6] = ["BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "GLOBIGNORE", "SHELLOPTS"];

/// Keys of model vendors and of the agents themselves.
const KEYS: [&str; 11] = [
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "FACTORY_API_KEY",
    "FACTORY_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OLLAMA_HOST",
    "MUSHER_TOKEN",
    "BRAVE_API_KEY",
    "TAVILY_API_KEY",
    "EXA_API_KEY",
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
/// `secret` lists more variables to leave out: those that the settings take keys from. Variables that look like credentials are left out,
/// too, except those in `allowed`, where a `*` at the end stands for any ending.
///
/// ```
/// use musher_tools::command_environment;
///
/// let ours = [("HOME", "/home/u"), ("ANTHROPIC_API_KEY", "k"), ("MINE", "k"), ("NPM_TOKEN", "k"), ("GH_TOKEN", "k"),
///     ("TERM", "xterm"), ("CDPATH", "/"), ("SSH_AUTH_SOCK", "/s"), ("CACHE_URL", "redis://u:p@h")];
/// let ours = ours.map(|(name, value)| (name.into(), value.into()));
/// let theirs = command_environment(ours, &["MINE".to_owned()], &["GH_*".to_owned()]);
/// let has = |name: &str| theirs.iter().any(|(theirs, _)| theirs == name);
/// assert!(has("HOME") && has("GH_TOKEN") && has("SSH_AUTH_SOCK") && theirs.contains(&("TERM".into(), "dumb".into())));
/// for name in ["ANTHROPIC_API_KEY", "MINE", "NPM_TOKEN", "CACHE_URL", "CDPATH"] {
///     assert!(!has(name), "{name}");
/// }
/// ```
pub fn command_environment(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    secret: &[String],
    allowed: &[String],
) -> Vec<(OsString, OsString)> {
    let is_ours = |name: &OsStr| NON_INTERACTIVE.iter().any(|(ours, _)| name == *ours);
    let is_left_out = |name: &OsStr| is_secret(name, secret) || is_ours(name) || changes_shell(name);
    let is_credential =
        |name: &OsStr, value: &OsStr| looks_like_credential(name, value) && !is_allowed(name, allowed);
    let kept = ours.into_iter().filter(|(name, value)| !is_left_out(name) && !is_credential(name, value));
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

/// Whether a variable looks like a credential, by its name, or because its value is an address with a password.
pub fn looks_like_credential(name: &OsStr, value: &OsStr) -> bool {
    const WORDS: [&str; 20] = [
        "TOKEN",
        "TOKENS",
        "SECRET",
        "SECRETS",
        "KEY",
        "KEYS",
        "APIKEY",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "PASS",
        "PWD",
        "CREDENTIAL",
        "CREDENTIALS",
        "PAT",
        "DSN",
        "AUTHTOKEN",
        "JWT",
        "COOKIE",
        "SECRETKEY",
    ];
    let Some(name) = name.to_str().map(str::to_ascii_uppercase) else { return false };
    // the directories of the shell
    if ["PWD", "OLDPWD"].contains(&&*name) {
        return false;
    }
    let has_word =
        name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| WORDS.contains(&word));
    // commands need their proxy, also one with a password
    let is_address = !name.ends_with("_PROXY") && value.to_str().is_some_and(has_password);
    has_word
        || is_address
        || name.contains("PASSWORD")
        || name.contains("SECRET")
        || name.ends_with("_AUTH")
        || ["DATABASE_URL", "CONNECTION_STRING"].iter().any(|end| name.ends_with(end))
}

/// Whether a text is an address with a password: `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, word)| !word.is_empty()))
}

fn is_allowed(name: &OsStr, allowed: &[String]) -> bool {
    allowed.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(start) => name.to_str().is_some_and(|name| name.starts_with(start)),
        None => name == allowed.as_str(),
    })
}
