//! The official TypeScript SDK as the editor, and the real droid as the agent.

mod asking;
mod sessions;
mod turns;

/// A stage with both peers, or a failure that says how to get them.
macro_rules! stage {
    ($script:expr) => {
        crate::acp::stage::Stage::new(
            &testkit::require_peer!(testkit::peers::ACP_SDK),
            &testkit::require_peer!(testkit::peers::DROID),
            $script,
        )?
    };
}

use stage;
