//! The sandbox of commands, for every command that runs the engine.

use musher_engine::{SandboxMode, SandboxNetwork, SandboxSettings};

/// What commands that run without asking may change and connect to.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct SandboxArgs {
    /// Sandbox of commands that run without asking (default: from settings, else by autonomy level)
    #[arg(long, value_name = "MODE")]
    pub(crate) sandbox: Option<Mode>,

    /// Network of commands in the sandbox (default: from settings, else by autonomy level)
    #[arg(long, value_name = "NETWORK")]
    pub(crate) network: Option<Network>,

    /// Fail if this machine cannot enforce the sandbox
    #[arg(long)]
    pub(crate) require_sandbox: bool,
}

/// Where commands may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mode {
    /// Everywhere, except for commands that are proven to be read-only
    Off,
    /// Only in a private temporary directory
    ReadOnly,
    /// In the workspace, too
    WorkspaceWrite,
}

/// What commands may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Network {
    /// Everything
    On,
    /// Nothing
    Off,
    /// Servers that they start themselves
    Local,
}

impl SandboxArgs {
    /// Returns the settings that these arguments stand for.
    pub(crate) fn settings(self) -> SandboxSettings {
        let mode = self.sandbox.map(|mode| match mode {
            Mode::Off => SandboxMode::Off,
            Mode::ReadOnly => SandboxMode::ReadOnly,
            Mode::WorkspaceWrite => SandboxMode::WorkspaceWrite,
        });
        let network = self.network.map(|network| match network {
            Network::On => SandboxNetwork::On,
            Network::Off => SandboxNetwork::Off,
            Network::Local => SandboxNetwork::Local,
        });
        SandboxSettings { mode, network, is_required: self.require_sandbox, ..SandboxSettings::default() }
    }

    /// Returns the same as settings files have it, for an engine behind a protocol; `None` if nothing is given.
    pub(crate) fn value(self) -> Option<serde_json::Value> {
        let SandboxSettings { mode, network, is_required, .. } = self.settings();
        let fields = [
            ("mode", mode.map(|mode| mode.name().into())),
            ("network", network.map(|network| network.name().into())),
            ("required", is_required.then_some(true.into())),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        self.is_any().then(|| serde_json::Value::Object(fields.collect()))
    }

    /// Returns whether any of them is given.
    pub(crate) fn is_any(self) -> bool {
        self.settings() != SandboxSettings::default()
    }
}
