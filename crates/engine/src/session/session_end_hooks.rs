//! The `SessionEnd` hooks, which get a bounded time.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::hooks::{HookRunner, about_message, millis};
use super::state::Session;
use crate::HookRun;
use crate::hooks::{HookEvent, HookProgress};

/// The `SessionEnd` hooks of a session.
#[derive(Debug)]
pub(crate) struct SessionEndHooks {
    runner: HookRunner,
    reason: &'static str,
    message_id: Option<String>,
    duration_ms: u64,
    messages: usize,
}

impl SessionEndHooks {
    /// Takes the hooks of a session, which has none afterwards: they run once. Returns `None` if none run at its end.
    pub(super) fn take(session: &mut Session, reason: &'static str) -> Option<Self> {
        let hooks = Self {
            runner: session.hook_runner(),
            reason,
            message_id: session.conversation().last_id().map(str::to_owned),
            duration_ms: millis(session.opened()),
            messages: session.conversation().messages().len(),
        };
        // a subagent is a part of another session
        let has_hooks = session.subagent().is_none() && session.has_hooks(&hooks.event());
        session.drop_hooks();
        has_hooks.then_some(hooks)
    }

    fn event(&self) -> HookEvent<'_> {
        HookEvent::SessionEnd {
            reason: self.reason,
            message_id: self.message_id.as_deref(),
            session_duration_ms: self.duration_ms,
            message_count: self.messages,
        }
    }

    /// Runs the hooks. Cancels them at the limit and waits for their end, so that no program is left behind.
    pub(super) async fn run<Done: Future<Output = ()>>(
        self,
        limit: Duration,
        listener: impl FnMut(HookProgress) -> Done,
    ) {
        let cancel = CancellationToken::new();
        let ids = self.message_id.as_deref().map_or_else(HookRun::default, about_message);
        let event = self.event();
        let running = self.runner.run(&event, &ids, &cancel, listener);
        tokio::pin!(running);
        if tokio::time::timeout(limit, &mut running).await.is_err() {
            cancel.cancel();
            running.await;
        }
    }

    /// Runs the hooks without reporting their progress.
    pub(super) async fn run_unobserved(self, limit: Duration) {
        self.run(limit, |_| std::future::ready(())).await;
    }
}
