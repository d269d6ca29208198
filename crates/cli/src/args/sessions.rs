//! The arguments of `musher sessions`.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::UnknownArgumentValueParser;

const EXAMPLES: &str = "\
Examples:
  musher sessions                               Sessions of this directory
  musher sessions list --all --json             All sessions, for scripts
  musher sessions show 3f2a                     Read one; an id prefix is enough
  musher sessions search \"race condition\"       Find text in all sessions
  musher sessions fork 3f2a --title \"plan B\"    Copy a session, droid's too
  musher sessions export 3f2a -o talk.md        Write it as Markdown
  musher sessions delete 3f2a --yes             Delete without asking

musher keeps its sessions in $MUSHER_HOME/sessions (default: ~/.musher/sessions). droid keeps its own in ~/.factory/sessions; \
musher never changes those, but can list, show, search, export and fork them.
Exit codes: 0 done, 1 no match or session is running, 2 wrong usage or unknown session.";

/// List, read, search and manage sessions
///
/// Works on the sessions on disk, musher's and droid's; no agent is started. An id can be shortened to any unambiguous prefix.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) action: Option<Action>,

    #[command(flatten)]
    pub(crate) list: List,
}

/// What to do with sessions.
#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(crate) enum Action {
    List(List),
    Show(Show),
    Search(Search),
    Rename(Rename),
    Fork(Fork),
    /// Archive sessions (hidden from lists, not deleted)
    Archive(Archive),
    /// Restore archived sessions
    Unarchive(Archive),
    Compact(Compact),
    Summary(Summary),
    Delete(Delete),
    Export(Export),
}

/// Which program a session belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Owner {
    /// Sessions of musher's engine
    Musher,
    /// Sessions of droid
    Droid,
}

const LIST_EXAMPLES: &str = "\
Examples:
  musher sessions list                          This directory, newest first
  musher sessions list --all --owner droid
  musher sessions list --all --json | jq -r '.[].id'";

/// List sessions, newest first
#[derive(Debug, Default, clap::Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct List {
    /// List the sessions of all directories
    #[arg(short, long, conflicts_with = "cwd")]
    pub(crate) all: bool,

    /// List the sessions of this directory (default: current)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Maximum number of sessions to show
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) filter: Filter,
}

/// Which sessions, and in which form.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Filter {
    /// Only sessions of this program (default: both)
    #[arg(long, value_name = "OWNER")]
    pub(crate) owner: Option<Owner>,

    /// Was the name of `--owner`.
    #[arg(long, hide = true, num_args = 0..=1, value_parser = UnknownArgumentValueParser::suggest_arg("--owner"))]
    pub(crate) of: Option<String>,

    /// Include archived sessions
    #[arg(long)]
    pub(crate) archived: bool,

    /// Print one JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  musher sessions show 3f2a
  musher sessions show 3f2a --full | less
  musher sessions show 3f2a --json | jq '.messages[-1]'";

/// Show the conversation of a session
#[derive(Debug, clap::Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct Show {
    /// Session id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,

    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,

    /// Include complete tool results and the model's thinking
    #[arg(long)]
    pub(crate) full: bool,
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  musher sessions search parser
  musher sessions search \"cannot find value\" --cwd . --json

Searches prompts, answers, tool calls and tool results. Case is ignored.
Exit codes: 0 found, 1 no match, 2 wrong usage.";

/// Find text in all sessions
#[derive(Debug, clap::Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct Search {
    /// Text to find
    pub(crate) text: String,

    /// Search only sessions of this directory (default: all)
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Maximum number of sessions to show
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) filter: Filter,
}

/// Change the title of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  musher sessions rename 3f2a \"the flaky test\"")]
pub(crate) struct Rename {
    /// Session id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// New title
    pub(crate) title: String,
}

const FORK_EXAMPLES: &str = "\
Examples:
  musher sessions fork 3f2a
  musher sessions fork 3f2a --before MESSAGE    (message ids: show --json)
  musher run -s \"$(musher sessions fork 3f2a)\" \"try a table instead\"

Prints the id of the copy. A session of droid is copied to musher's sessions, where `musher run -s` can resume it.";

/// Copy a session, to continue it in another direction
#[derive(Debug, clap::Args)]
#[command(after_help = FORK_EXAMPLES)]
pub(crate) struct Fork {
    /// Session id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// Title of the copy (default: the same title)
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Copy only the messages before this one (default: all)
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) before: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sessions to archive or to restore.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  musher sessions archive 3f2a 77b0\n  musher sessions unarchive 3f2a")]
pub(crate) struct Archive {
    /// Session ids, or unambiguous prefixes of them
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

const COMPACT_EXAMPLES: &str = "\
Examples:
  musher sessions compact 3f2a
  musher sessions compact 3f2a --instructions \"keep every decision about the parser\"
  musher run -s \"$(musher sessions compact 3f2a)\" \"and now the tests\"

Asks the model for a summary, and prints the id of a new session that begins with it. The old session stays as it is.
`musher sessions summary` shows and replaces the summary.";

/// Continue a long session in a new one that begins with a summary
#[derive(Debug, clap::Args)]
#[command(after_help = COMPACT_EXAMPLES)]
pub(crate) struct Compact {
    /// Session id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// What the summary must contain
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,

    /// Model that writes the summary (default: the session's model)
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,
}

const SUMMARY_EXAMPLES: &str = "\
Examples:
  musher sessions summary 3f2a > summary.md
  musher sessions summary 3f2a --replace summary.md

Exit codes: 0 done, 1 the session was not compacted, 2 wrong usage or unknown session.";

/// Show or replace the summary that the model reads instead of compacted messages
#[derive(Debug, clap::Args)]
#[command(after_help = SUMMARY_EXAMPLES)]
pub(crate) struct Summary {
    /// Session id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// Replace it by the text of this file, or of stdin if `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) replace: Option<PathBuf>,
}

/// Delete sessions permanently
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  musher sessions delete 3f2a\n  musher sessions delete 3f2a 77b0 --yes")]
pub(crate) struct Delete {
    /// Session ids, or unambiguous prefixes of them
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// Do not ask (required without a terminal)
    #[arg(short, long)]
    pub(crate) yes: bool,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  musher sessions export 3f2a > talk.md
  musher sessions export 3f2a --format json -o talk.json
  musher sessions export 3f2a --format jsonl    The stored records, unchanged";

/// Export a session to a file or to stdout
#[derive(Debug, clap::Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct Export {
    /// Session id, or an unambiguous prefix of it
    pub(crate) id: String,

    /// Export format
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub(crate) format: ExportFormat,

    /// File to write; must not exist (default: stdout)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// The formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// Readable text
    Markdown,
    /// One JSON object, the same as `show --json`
    Json,
    /// The stored records, one per line
    Jsonl,
}
