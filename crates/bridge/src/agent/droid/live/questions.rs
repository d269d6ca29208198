//! The questions of a session: which are open, what is answered at once, and what an answer changes.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::Poll;

use musher::wire::PermissionToolUse;
use musher::{Decision, Permission, Questions, Reply};
use musher_claude::{Call, Extra, Permission as Verdict, PermissionMode};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{HELD, Live, Phase};
use crate::agent::droid::ask::{self, Told, Update};
use crate::agent::droid::desk::Asked;
use crate::agent::droid::modes::Standing;
use crate::agent::droid::scribe::Stopped;
use crate::agent::droid::tools::ASK_USER;
use crate::agent::{Answer, Event, QuestionKind};

/// A question of the agent that the front end has to answer.
pub(super) enum Open {
    /// Several tools are asked for one by one; one no is enough.
    Tools {
        asked: Permission,
        at: usize,
        reply: oneshot::Sender<Decision>,
    },
    Questions {
        asked: Questions,
        told: Told,
        reply: oneshot::Sender<Reply>,
    },
}

impl Live {
    pub(in crate::agent::droid) fn answer(&mut self, key: u64, answer: &Answer) -> Result<(), String> {
        let Answer::Permission(verdict) = answer else {
            return Err("this is no answer to a hook".to_owned());
        };
        let open = self.open.remove(&key).ok_or("there is no such question any more")?;
        if matches!(verdict, Verdict::Deny { interrupt: Some(true), .. }) {
            self.scribe.stopping(Stopped::Refusal);
        }
        match open {
            Open::Tools { asked, at, reply } => self.rule(asked, at, reply, verdict),
            Open::Questions { asked, told, reply } => {
                let answered = ask::reply(&asked.questions, verdict);
                if answered == Reply::Declined {
                    self.scribe.denied(&told);
                }
                // a question that was withdrawn meanwhile needs no answer
                reply.send(answered).ok();
                Ok(())
            }
        }
    }

    /// A question came; it has to wait until the front end knows the tool call.
    pub(super) fn asked(&mut self, asked: Asked) {
        if matches!(self.phase, Phase::Running(_)) && !self.is_known(&asked) {
            self.held = Some((asked, Instant::now() + HELD));
            return;
        }
        self.take_up(asked);
    }

    fn is_known(&self, asked: &Asked) -> bool {
        match asked {
            Asked::Permission(asked, _) => {
                asked.tool_uses.iter().all(|asked| self.scribe.knows_call(&asked.tool_use.id))
            }
            Asked::Questions(..) => self.scribe.open_call(ASK_USER).is_some(),
        }
    }

    pub(super) fn look_at_held(&mut self) {
        if self.held.as_ref().is_some_and(|(asked, _)| self.is_known(asked)) {
            self.release();
        }
    }

    pub(super) fn release(&mut self) {
        if let Some((asked, _)) = self.held.take() {
            self.take_up(asked);
        }
    }

    fn take_up(&mut self, asked: Asked) {
        match asked {
            Asked::Permission(asked, reply) => self.ask_for(asked, 0, reply),
            Asked::Questions(asked, reply) => {
                let told = ask::questions_told(&asked.questions, self.scribe.open_call(ASK_USER));
                if self.standing == Standing::DenyAll {
                    self.scribe.denied(&told);
                    reply.send(Reply::Declined).ok();
                    return;
                }
                let payload = ask::questions(&told);
                self.question(payload, Open::Questions { asked, told, reply });
            }
        }
    }

    /// Asks for the tools from the one at `at` on; those that are allowed already are not asked for.
    fn ask_for(&mut self, asked: Permission, at: usize, reply: oneshot::Sender<Decision>) {
        let Some((at, next)) = self.next_to_ask(&asked, at) else {
            reply.send(Decision::allow_once()).ok();
            return;
        };
        if self.standing == Standing::DenyAll {
            self.scribe.denied(&ask::told(next));
            reply.send(Decision::deny()).ok();
            return;
        }
        let payload = ask::permission(next);
        self.question(payload, Open::Tools { asked, at, reply });
    }

    fn next_to_ask<'a>(&self, asked: &'a Permission, at: usize) -> Option<(usize, &'a PermissionToolUse)> {
        if self.standing == Standing::AllowAll {
            return None;
        }
        let mut rest = asked.tool_uses.iter().enumerate().skip(at);
        rest.find(|(_, tool_use)| !self.rules.allow(tool_use))
    }

    fn question(&mut self, payload: Extra, open: Open) {
        let key = self.new_key();
        self.open.insert(key, open);
        self.ready.push_back(Event::Question { key, kind: QuestionKind::Permission, payload });
    }

    /// The front end has decided about the tool at `at`.
    fn rule(
        &mut self,
        asked: Permission,
        at: usize,
        reply: oneshot::Sender<Decision>,
        verdict: &Verdict,
    ) -> Result<(), String> {
        let Some(tool_use) = asked.tool_uses.get(at) else {
            return Err("bug: the question is about no tool".to_owned());
        };
        let ruling = ask::ruling(&asked.options, tool_use, verdict);
        for update in ruling.updates {
            self.update(update);
        }
        if ruling.is_no {
            self.scribe.denied(&ask::told(tool_use));
        }
        if ruling.is_no || at + 1 >= asked.tool_uses.len() {
            reply.send(ruling.decision).ok();
        } else {
            self.ask_for(asked, at + 1, reply);
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
                // nobody waits for this one
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

    /// The turn is over, and nobody needs an answer any more.
    pub(super) fn close_questions(&mut self) {
        self.held = None;
        for key in std::mem::take(&mut self.open).into_keys() {
            self.ready.push_back(Event::Cancelled { key });
        }
    }
}

/// Waits until an open question is taken back by the agent.
pub(super) async fn withdrawn(open: &mut BTreeMap<u64, Open>) -> u64 {
    poll_fn(|context| {
        for (key, open) in open.iter_mut() {
            let closed = match open {
                Open::Tools { reply, .. } => reply.poll_closed(context),
                Open::Questions { reply, .. } => reply.poll_closed(context),
            };
            if closed.is_ready() {
                return Poll::Ready(*key);
            }
        }
        Poll::Pending
    })
    .await
}
