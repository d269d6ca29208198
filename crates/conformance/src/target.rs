//! Agents under test: the interface that a suite needs, and agents that are programs.

use std::path::PathBuf;

use anyhow::Result;
use musher::Agent;
use testkit::peers::Installed;
use testkit::rehearse::{Reply, Script};
use testkit::{Backend, Sandbox, droid, engine};

use crate::stage::{Kind, Stage};

/// An agent that the SDK can drive.
pub trait Target {
    /// Prepares the agent in a new sandbox, with a model that follows the script.
    fn stage(&self, script: Script) -> Result<Stage>;
}

/// An agent that is a program with droid's command line.
#[derive(Debug)]
pub enum Executable {
    /// The real droid, of any version.
    Droid(Installed),
    /// `musher`, by its path.
    Musher(PathBuf),
}

impl Executable {
    /// Returns the name used in transcripts and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Droid(_) => "droid",
            Self::Musher(_) => "musher",
        }
    }

    /// Returns the path of the program.
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Droid(installed) => installed.entry(),
            Self::Musher(path) => path.clone(),
        }
    }
}

impl Target for Executable {
    fn stage(&self, script: Script) -> Result<Stage> {
        let sandbox = Sandbox::new()?;
        // additional model calls, such as for titles, must not fail
        let model = sandbox.model(script.otherwise(Reply::text("A title")))?;
        let (launch, kind) = match self {
            Self::Droid(installed) => {
                let backend = Backend::start(&sandbox)?;
                (droid::launch(&sandbox, installed, &model.url(), &backend)?, Kind::Droid(backend))
            }
            Self::Musher(path) => {
                engine::configure(&sandbox, &model.url())?;
                let words = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
                (sandbox.launch(path).args(words), Kind::Program)
            }
        };
        let agent = Agent::launch(sandbox.agent(&launch));
        Ok(Stage::new(sandbox, model, agent, kind))
    }
}
