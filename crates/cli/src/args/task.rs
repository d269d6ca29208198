//! The arguments that `musher run` and `musher exec` share: what an agent works with, and its limits.

use super::BudgetArgs;

/// Which model effort, mode and tools the task has.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ModeArgs {
    /// Reasoning effort of the model (default: the model's own)
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) reasoning_effort: Option<String>,

    /// Start in spec mode: plan before making changes
    #[arg(long)]
    pub(crate) use_spec: bool,

    /// Model for spec mode (default: the session's model)
    #[arg(long, value_name = "ID")]
    pub(crate) spec_model: Option<String>,

    /// Reasoning effort in spec mode
    #[arg(long, value_name = "LEVEL")]
    pub(crate) spec_reasoning_effort: Option<String>,

    /// Enable only these tools, by id or name
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub(crate) only_tools: Vec<String>,

    /// Enable these tools as well
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', alias = "enabled-tools")]
    pub(crate) add_tools: Vec<String>,

    /// Disable these tools
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', alias = "disabled-tools")]
    pub(crate) remove_tools: Vec<String>,
}

/// How long the task may take, and what it waits for.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct LimitArgs {
    /// Wait while another process runs a turn of the session (default: fail)
    #[arg(long)]
    pub(crate) wait: bool,

    /// Stop after this time, starting the agent included (default: no limit)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(crate) timeout: Option<u64>,

    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}
