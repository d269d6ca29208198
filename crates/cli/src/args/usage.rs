//! The arguments of `musher usage`.

const EXAMPLES: &str = "\
Examples:
  musher usage                      Tokens and cost of each day
  musher usage --by model,project   Totals by model and directory
  musher usage --days 7 --json      The last week, for scripts

Counts the sessions on disk, those of subagents included. Days are in UTC. A cost is known if the model has a price: see \
`musher models`, or set `price` of a custom model in settings.json.";

/// Show tokens and cost by day, model or project
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Usage {
    /// Group by one or more of these
    #[arg(long, value_name = "KEYS", value_delimiter = ',', default_value = "day")]
    pub(crate) by: Vec<GroupBy>,

    /// Count only this number of days, today included (default: all)
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) days: Option<u32>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What usage is grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GroupBy {
    /// Day in UTC
    Day,
    /// Model
    Model,
    /// Working directory
    Project,
}
