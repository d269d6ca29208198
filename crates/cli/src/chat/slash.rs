//! The commands of the chat: names and what they do.

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

const fn command(name: &'static str, about: &'static str) -> Command {
    Command { name, about }
}

/// The commands, in the order of the help.
pub(crate) const COMMANDS: [Command; 27] = [
    command("help", "Show the commands and the keys"),
    command("model", "Choose the model, or `/model NAME`"),
    command("effort", "Choose the reasoning effort"),
    command("mode", "Choose between working and planning first"),
    command("autonomy", "Choose what runs without asking"),
    command("new", "Start a new session"),
    command("resume", "Continue another session of this directory"),
    command("fork", "Continue in a copy of this session"),
    command("rewind", "Go back to an earlier prompt, with its files if you like"),
    command("compact", "Replace the conversation by a summary; `/compact WHAT TO KEEP`"),
    command("context", "Show what fills the context of the model"),
    command("usage", "Show the tokens of this session"),
    command("rename", "Set the title: `/rename TITLE`"),
    command("diff", "Show what has changed in the repository"),
    command("review", "Ask for a review of these changes"),
    command("mcp", "List the MCP servers"),
    command("tools", "List the tools"),
    command("skills", "List the skills"),
    command("memory", "List the files with instructions for the agent"),
    command("thinking", "Show the last thoughts of the model whole"),
    command("export", "Write the conversation to a Markdown file: `/export FILE`"),
    command("image", "Attach a picture or a PDF to the next prompt: `/image FILE`"),
    command("editor", "Write the prompt in $EDITOR"),
    command("theme", "Choose the colors, or `/theme NAME`"),
    command("vim", "Switch between the keys of vi and of Emacs"),
    command("status", "Show the session, the model and the settings"),
    command("quit", "Leave the chat; the session stays"),
];

/// Returns whether a command changes the session, so that no turn may run.
pub(crate) fn needs_idle(name: &str) -> bool {
    matches!(name, "new" | "resume" | "fork" | "rewind" | "compact" | "review")
}
