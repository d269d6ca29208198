//! The bridge with the real Claude Code, two versions of it, with the real droid, and with a scripted model.

mod callbacks;
mod controls;
mod droid;
mod ends;
mod logging;
mod sessions;

/// Runs a test on both versions.
macro_rules! on_both {
    ($($name:ident, $old_name:ident => $test:ident;)*) => {
        $(
            #[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                $test(testkit::require_peer!(testkit::peers::CLAUDE)).await
            }

            #[tokio::test]
            async fn $old_name() -> anyhow::Result<()> {
                $test(testkit::require_peer!(testkit::peers::CLAUDE_OLD)).await
            }
        )*
    };
}

use on_both;
