//! `musher sessions`.

use std::path::PathBuf;

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  musher sessions                                      the sessions of this directory
  musher sessions list --all --json                    all there are, for scripts
  musher sessions show 3f2a                            what was said; the start of an id will do
  musher sessions search \"race condition\"              in which session was that?
  musher sessions fork 3f2a --title \"another way\"      a copy to go on with, of droid's as well
  musher sessions export 3f2a -o talk.md               as Markdown
  musher sessions delete 3f2a --yes                    for good, without being asked

Sessions of musher are in $MUSHER_HOME/sessions (~/.musher/sessions), those of droid in ~/.factory/sessions. The latter are \
never changed: they can be listed, shown, searched, exported and forked.
Exit codes: 0 done, 1 nothing found or a session is in use, 2 wrong usage, no such session.";

/// List, read, search and keep sessions, ours and droid's
///
/// Works on what is on disk; no agent is started. Wherever a session is named, the beginning of its id is enough if no other
/// session begins so.
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
    /// Put sessions away: lists leave them out, nothing is lost
    Archive(Archive),
    /// Take sessions out again that were put away
    Unarchive(Archive),
    Delete(Delete),
    Export(Export),
}

/// Whose sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Owner {
    /// Those of the built-in engine
    Musher,
    /// Those of droid
    Droid,
}

const LIST_EXAMPLES: &str = "\
Examples:
  musher sessions list                                 of this directory, newest first
  musher sessions list --all --of droid
  musher sessions list --all --json | jq -r '.[].id'";

/// List sessions, newest first
#[derive(Debug, Default, clap::Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct List {
    /// Of all directories
    #[arg(short, long, conflicts_with = "cwd")]
    pub(crate) all: bool,

    /// Of this directory; the one we are in if absent
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// At most so many
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// Which sessions, and how they are told.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Which {
    /// Only those of one kind
    #[arg(long, value_name = "WHOM")]
    pub(crate) of: Option<Owner>,

    /// Also those that were put away
    #[arg(long)]
    pub(crate) archived: bool,

    /// Print one JSON list
    #[arg(long)]
    pub(crate) json: bool,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  musher sessions show 3f2a
  musher sessions show 3f2a --full | less
  musher sessions show 3f2a --json | jq '.messages[-1]'";

/// Show what was said
#[derive(Debug, clap::Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct Show {
    /// The session: its id, or the beginning of it
    pub(crate) id: String,

    /// Print one JSON object
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,

    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,

    /// All of what tools answered, and what the model thought
    #[arg(long)]
    pub(crate) full: bool,
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  musher sessions search parser
  musher sessions search \"cannot find value\" --cwd . --json

Upper and lower case are the same. Prompts, answers, calls of tools and their results are searched.
Exit codes: 0 found, 1 nothing found, 2 wrong usage.";

/// Find text in all sessions
#[derive(Debug, clap::Args)]
#[command(after_help = SEARCH_EXAMPLES)]
pub(crate) struct Search {
    /// The text
    pub(crate) text: String,

    /// Only in sessions of this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// At most so many sessions
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) which: Which,
}

/// Give a session a title
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  musher sessions rename 3f2a \"the flaky test\"")]
pub(crate) struct Rename {
    /// The session
    pub(crate) id: String,

    /// The title
    pub(crate) title: String,
}

const FORK_EXAMPLES: &str = "\
Examples:
  musher sessions fork 3f2a
  musher sessions fork 3f2a --before MESSAGE           up to a message (ids: `show --json`)
  musher exec -s \"$(musher sessions fork 3f2a)\" \"try it with a table instead\"

Prints the id of the copy. A session of droid is copied into our own, where `musher exec -s` can go on with it.";

/// Copy a session, to go on from there in another way
#[derive(Debug, clap::Args)]
#[command(after_help = FORK_EXAMPLES)]
pub(crate) struct Fork {
    /// The session
    pub(crate) id: String,

    /// The title of the copy; the same if absent
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Copy only what was said before this message
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) before: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sessions to put away, or to take out again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  musher sessions archive 3f2a 77b0\n  musher sessions unarchive 3f2a")]
pub(crate) struct Archive {
    /// The sessions
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

/// Delete sessions for good
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  musher sessions delete 3f2a\n  musher sessions delete 3f2a 77b0 --yes")]
pub(crate) struct Delete {
    /// The sessions
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// Do not ask; needed where nobody can be asked
    #[arg(short, long)]
    pub(crate) yes: bool,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  musher sessions export 3f2a > talk.md
  musher sessions export 3f2a --format json -o talk.json
  musher sessions export 3f2a --format jsonl           the records as they are stored";

/// Write a session to a file or to stdout
#[derive(Debug, clap::Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct Export {
    /// The session
    pub(crate) id: String,

    /// In which form
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    pub(crate) format: ExportFormat,

    /// The file; stdout if absent. One that is there is not overwritten
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite the file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// For people
    Markdown,
    /// One JSON object, as `show --json` prints it
    Json,
    /// The records as they are stored, one per line
    Jsonl,
}
