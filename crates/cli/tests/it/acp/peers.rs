//! The official TypeScript SDK as the editor. Each scenario is a function; the lists below say with which agents it is played.

mod asking;
mod beside;
mod droid;
mod options;
mod prompts;
mod sessions;
mod turns;

/// Plays scenarios with an agent: one test for each.
macro_rules! play {
    ($behind:ident, $peer:expr; $($scenes:ident { $($scene:ident,)+ })+) => {
        $($(
            #[tokio::test]
            async fn $scene() -> anyhow::Result<()> {
                let sdk = testkit::require_peer!(testkit::peers::ACP_SDK);
                let agent = crate::acp::stage::Behind::$behind(testkit::require_peer!($peer));
                super::$scenes::$scene(&crate::acp::stage::Who::new(sdk, agent)).await
            }
        )+)+
    };
}

use play;
