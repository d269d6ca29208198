//! The arguments of `musher attach` and `musher inbox`: commands for a daemon.

use clap::Subcommand;

/// Which daemon.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DaemonArgs {
    /// Address of the daemon: `unix:PATH`, `ws://HOST:PORT` or `wss://HOST` (default: unix:~/.musher/daemon.sock)
    #[arg(long = "daemon-url", value_name = "ADDRESS")]
    pub(crate) url: Option<String>,
}

const ATTACH_EXAMPLES: &str = "\
Examples:
  musher attach              The session that works or was used last
  musher attach 3f2a         This one; an id prefix is enough

In a terminal this is a chat (`musher chat`) in the session: the end of the conversation, the running turn with the requests that \
wait for an answer, and a prompt. Ctrl-D leaves; the session continues in the daemon. Without a terminal it prints the running turn.
Environment: MUSHER_DAEMON_URL is the default of --daemon-url, MUSHER_DAEMON_TOKEN the token of the daemon.
Exit codes: 0 done, 1 the turn failed, 2 wrong usage or no daemon, 3 permission denied, 4 the model refused.";

/// Watch a session in the daemon and talk to it
#[derive(Debug, clap::Args)]
#[command(after_help = ATTACH_EXAMPLES)]
pub(crate) struct Attach {
    /// Session id, or an unambiguous prefix of it (default: the session that works or was used last)
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

const INBOX_EXAMPLES: &str = "\
Examples:
  musher inbox                        What waits for you
  musher inbox allow 7c1d             Allow the tool calls of a request once
  musher inbox deny 7c1d              Deny them, which ends the turn
  musher inbox answer 7c1d red        Answer a question
  musher inbox --json                 For scripts

Lists the permission requests and questions of all sessions in the daemon and of their subagents. The first answer counts, \
from any client.
Environment: MUSHER_DAEMON_URL is the default of --daemon-url, MUSHER_DAEMON_TOKEN the token of the daemon.
Exit codes: 0 done, 1 answered by someone else meanwhile, 2 wrong usage or no daemon.";

/// List and answer what waits for you in the daemon
#[derive(Debug, clap::Args)]
#[command(after_help = INBOX_EXAMPLES, args_conflicts_with_subcommands = false)]
pub(crate) struct Inbox {
    #[command(subcommand)]
    pub(crate) action: Option<InboxAction>,

    /// Print one JSON array
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

/// What to do with a request.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum InboxAction {
    Allow(InboxAllow),
    Deny(InboxDeny),
    Answer(InboxAnswer),
}

/// Allow the tool calls of a permission request
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  musher inbox allow 7c1d\n  musher inbox allow 7c1d --always")]
pub(crate) struct InboxAllow {
    /// Request id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// Also allow similar later ones
    #[arg(long)]
    pub(crate) always: bool,
}

/// Deny a permission request, or decline a question
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  musher inbox deny 7c1d")]
pub(crate) struct InboxDeny {
    /// Request id, or an unambiguous prefix of it
    pub(crate) id: String,
}

/// Answer a question
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  musher inbox answer 7c1d red\n  musher inbox answer 7c1d red large    One answer per question"
)]
pub(crate) struct InboxAnswer {
    /// Request id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// One answer for each question
    #[arg(required = true, value_name = "ANSWER")]
    pub(crate) answers: Vec<String>,
}
