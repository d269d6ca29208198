//! The requests of a session: open requests, requests answered by rules, and the effects of answers.

use musher::wire::{PermissionDetails, PermissionToolUse};
use musher::{Answers, PendingPermission, PendingQuestion, PendingRequest, PermissionRequest};
use musher_claude::{Call, Extra, Permission as Verdict, PermissionMode};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{HELD_TIMEOUT, Live, MAX_HELD, Phase};
use crate::agent::droid::ask::{self, ToolCall, Update};
use crate::agent::droid::modes::Standing;
use crate::agent::droid::tools::{self, ASK_USER};
use crate::agent::droid::translate::Stopped;
use crate::agent::{Answer, Event, QuestionKind};

/// A request of the agent that the front end has to answer. Dropping it denies it.
pub(super) enum Open {
    /// Several tools are asked for one by one; one denial is enough.
    Tools {
        pending: PendingPermission,
        at: usize,
    },
    Questions {
        pending: PendingQuestion,
        told: ToolCall,
    },
}

impl Live {
    pub(in crate::agent::droid) fn answer(&mut self, key: u64, answer: &Answer) -> Result<(), String> {
        let Answer::Permission(verdict) = answer else {
            return Err("invalid answer to a hook".to_owned());
        };
        let open = self.open.remove(&key).ok_or("there is no such question any more")?;
        if matches!(verdict, Verdict::Deny { interrupt: Some(true), .. }) {
            self.translator.stopping(Stopped::Refusal);
        }
        match open {
            Open::Tools { pending, at } => self.rule(pending, at, verdict),
            Open::Questions { pending, told } => {
                let answers = ask::reply(&pending.request().questions, verdict);
                if answers == Answers::Declined {
                    self.translator.denied(&told);
                }
                pending.answer(answers);
                Ok(())
            }
        }
    }

    /// Handles a new request. It waits until the front end knows its tool call.
    pub(super) fn requested(&mut self, request: PendingRequest) {
        let must_wait = !self.held.is_empty() || !self.is_known(&request);
        if must_wait && matches!(self.phase, Phase::Running(_)) && self.held.len() < MAX_HELD {
            self.held.push_back((request, Instant::now() + HELD_TIMEOUT));
            return;
        }
        self.take_up(request);
    }

    fn is_known(&self, request: &PendingRequest) -> bool {
        match request {
            PendingRequest::Permission(pending) => {
                let tool_uses = &pending.request().tool_uses;
                tool_uses.iter().all(|asked| self.translator.knows_call(&asked.tool_use.id))
            }
            PendingRequest::Question(_) => self.translator.open_call(ASK_USER).is_some(),
        }
    }

    pub(super) fn look_at_held(&mut self) {
        while self.held.front().is_some_and(|(request, _)| self.is_known(request)) {
            self.release_first();
        }
    }

    pub(super) fn release_first(&mut self) {
        if let Some((request, _)) = self.held.pop_front() {
            self.take_up(request);
        }
    }

    fn take_up(&mut self, request: PendingRequest) {
        match request {
            PendingRequest::Permission(pending) => self.ask_for(pending, 0),
            PendingRequest::Question(pending) => {
                let call = self.translator.open_call(ASK_USER);
                let told = ask::questions_told(&pending.request().questions, call);
                if self.standing == Standing::DenyAll {
                    self.translator.denied(&told);
                    pending.decline();
                    return;
                }
                let payload = ask::questions(&told);
                self.question(payload, Open::Questions { pending, told });
            }
        }
    }

    /// Asks for the tools from the one at `at` on; those that are allowed already are not asked for.
    fn ask_for(&mut self, pending: PendingPermission, at: usize) {
        let Some((at, next)) = self.next_to_ask(pending.request(), at) else {
            pending.allow_once();
            return;
        };
        if self.standing == Standing::DenyAll {
            self.translator.denied(&ask::told(next));
            pending.deny();
            return;
        }
        let payload = ask::permission(next);
        self.question(payload, Open::Tools { pending, at });
    }

    fn next_to_ask<'a>(
        &self,
        asked: &'a PermissionRequest,
        at: usize,
    ) -> Option<(usize, &'a PermissionToolUse)> {
        let mut rest = asked.tool_uses.iter().enumerate().skip(at);
        if self.standing == Standing::AllowAll {
            // a session with a sandbox leaves it only if a user says so
            return rest.find(|(_, tool_use)| leaves_sandbox(tool_use));
        }
        rest.find(|(_, tool_use)| !self.rules.allow(tool_use))
    }

    fn question(&mut self, payload: Extra, open: Open) {
        let key = self.new_key();
        // the futures do not keep the request alive
        match &open {
            Open::Tools { pending, .. } => watch(&mut self.settlements, key, pending.settled()),
            Open::Questions { pending, .. } => watch(&mut self.settlements, key, pending.settled()),
        }
        self.open.insert(key, open);
        self.ready.push_back(Event::Question { key, kind: QuestionKind::Permission, payload });
    }

    /// The front end has decided about the tool at `at`.
    fn rule(&mut self, pending: PendingPermission, at: usize, verdict: &Verdict) -> Result<(), String> {
        let asked = pending.request();
        let Some(tool_use) = asked.tool_uses.get(at) else {
            return Err("bug: the question is about no tool".to_owned());
        };
        let ruling = ask::ruling(&asked.options, tool_use, verdict);
        for update in ruling.updates {
            match update {
                // the suggestion was about this command, and not about others that begin so
                Update::Allow { tool, content: Some(content) }
                    if tools::shown_command(tool_use).is_some_and(|shown| shown == content) =>
                {
                    self.rules.add_command(&tool, &content);
                }
                update => self.update(update),
            }
        }
        if ruling.is_denial {
            self.translator.denied(&ask::told(tool_use));
        }
        if ruling.is_denial || at + 1 >= asked.tool_uses.len() {
            pending.decide(ruling.decision);
        } else {
            self.ask_for(pending, at + 1);
        }
        ruling.complaint.map_or(Ok(()), Err)
    }

    fn update(&mut self, update: Update) {
        match update {
            Update::Allow { tool, content } => {
                if !self.rules.add_parts(&tool, content.as_deref()) {
                    let note = format!("the rule for `{tool}` is not understood: it is asked for as before");
                    self.ready.push_back(Event::Note(note));
                }
            }
            Update::Mode(PermissionMode::BypassPermissions) if !self.basis.may_bypass => {
                let note = "the session was not started with `allow_dangerously_skip_permissions`";
                self.ready.push_back(Event::Note(note.to_owned()));
            }
            Update::Mode(mode) => {
                // the front end does not wait for this call
                let key = self.new_key();
                self.carry_out(key, Call::SetPermissionMode(mode));
            }
            Update::Unknown(text) => {
                self.ready
                    .push_back(Event::Note(format!("this agent cannot change its permissions by {text}")));
            }
        }
    }

    pub(super) fn withdraw(&mut self, key: u64) {
        if self.open.remove(&key).is_some() {
            self.ready.push_back(Event::Cancelled { key });
        }
    }

    /// Cancels the open questions, because the turn ended.
    pub(super) fn close_questions(&mut self) {
        self.held.clear();
        for key in std::mem::take(&mut self.open).into_keys() {
            self.ready.push_back(Event::Cancelled { key });
        }
    }
}

/// Yields the key of a question once the agent no longer needs its answer.
fn watch(settlements: &mut JoinSet<u64>, key: u64, settled: impl Future<Output = ()> + Send + 'static) {
    settlements.spawn(async move {
        settled.await;
        key
    });
}

/// Returns whether a call would run without the sandbox, in which it would run otherwise.
fn leaves_sandbox(tool_use: &PermissionToolUse) -> bool {
    matches!(&tool_use.details, PermissionDetails::Exec(exec) if exec.leaves_sandbox == Some(true))
}
