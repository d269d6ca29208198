//! The scripted model inside a sandbox: `musher-rehearse` on the sandbox's own loopback.

use anyhow::Result;
use musher_rehearse::{Rehearsal, Script, Server};

use crate::Sandbox;

impl Sandbox {
    /// Serves a script on the sandbox's loopback; needs a tokio runtime. Shut it down before [`finish`](Sandbox::finish).
    pub fn model(&self, script: Script) -> Result<Server> {
        Ok(Server::from_listener(self.listen()?, Rehearsal::new(script))?)
    }
}
