//! The last hooks of a session, which get a bounded time.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::children::{FromSession, Input};
use super::hooking::{Kit, about_message, millis, tell_session};
use super::state::Session;
use crate::HookRun;
use crate::command::Ticket;
use crate::hooks::{HookNews, Hooks, Moment};

/// The last hooks of a session.
#[derive(Debug)]
pub(super) struct Farewell {
    kit: Kit,
    reason: &'static str,
    message_id: Option<String>,
    duration_ms: u64,
    messages: usize,
}

impl Farewell {
    /// The last hooks of a session, if there are any. They are run once: from now on it has no hooks.
    pub(super) fn of(session: &mut Session, reason: &'static str) -> Option<Self> {
        let farewell = Self {
            kit: Kit::of(session),
            reason,
            message_id: session.messages.last().map(|message| message.id.clone()),
            duration_ms: millis(session.opened),
            messages: session.messages.len(),
        };
        // a subagent is a part of another session
        let are_there = session.subagent.is_none() && session.hooks.fit(&farewell.moment());
        session.hooks = Arc::new(Hooks::default());
        are_there.then_some(farewell)
    }

    fn moment(&self) -> Moment<'_> {
        Moment::SessionEnd {
            reason: self.reason,
            message_id: self.message_id.as_deref(),
            session_duration_ms: self.duration_ms,
            message_count: self.messages,
        }
    }

    /// Runs them. What takes longer than the limit is ended, and that is waited for: nothing is left behind.
    pub(super) async fn say<Told: Future<Output = ()>>(
        self,
        limit: Duration,
        listener: impl FnMut(HookNews) -> Told,
    ) {
        let cancel = CancellationToken::new();
        let ids = self.message_id.as_deref().map_or_else(HookRun::default, about_message);
        let moment = self.moment();
        let fired = self.kit.fire(&moment, &ids, &cancel, listener);
        tokio::pin!(fired);
        if tokio::time::timeout(limit, &mut fired).await.is_err() {
            cancel.cancel();
            fired.await;
        }
    }

    /// Runs them when nobody can be told any more.
    pub(super) async fn say_alone(self, limit: Duration) {
        self.say(limit, |_| std::future::ready(())).await;
    }
}

impl Actor {
    /// A client closes the session: its last hooks run, then it is told that it is closed.
    pub(super) fn begin_close(&mut self, ticket: Ticket) {
        self.end_turn();
        let farewell = self.session.as_mut().and_then(|session| Farewell::of(session, "other"));
        let (Some(session), Some(farewell)) = (&self.session, farewell) else { return self.closed(ticket) };
        self.lifecycle.close();
        let (number, inputs, limit) = (session.number, self.inputs.clone(), self.environment.limits.stop);
        tokio::spawn(async move {
            farewell.say(limit, tell_session(number, &inputs)).await;
            inputs.send(Input::Session { session: number, what: FromSession::Closed(ticket) }).await.ok();
        });
    }
}
