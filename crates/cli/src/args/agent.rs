//! The choice of an agent, for every command that works with one. `resolve.rs` says what it means.

/// Which agent, and which model.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AgentArgs {
    /// Agent to use: `engine` (built in), `droid`, or the path of a program that speaks droid's protocol (default:
    /// engine)
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// Model to use (default: the agent's choice)
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,
}
