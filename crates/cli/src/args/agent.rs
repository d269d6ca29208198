//! The choice of an agent, for every command that works with one. `resolve.rs` says what it means.

/// Who does the work, and with which model.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AgentArgs {
    /// Who does the work: `engine` (built in), `droid`, or the path of a program that speaks its protocol
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// The model; the agent's own choice if absent
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,
}
