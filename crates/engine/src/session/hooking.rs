//! Hooks in the life of a session: fired in tasks, never in the actor's own; their news and what they want come back as inputs.
//!
//! Here are those of the session and of the turn as a whole; those of calls are in `hooked_calls`, the one before summing up is in `compact`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::children::{Back, FromSession, FromTurn, Input};
use super::lifecycle::Starting;
use super::prompt::Queued;
use super::running::Running;
use super::state::Session;
use super::turn::{Turn, hook_context, message, user_note};
use crate::command::{Reply, Ticket};
use crate::hooks::env_file::{self, Variables};
use crate::hooks::{About, HookNews, HookOutcome, Hooks, Moment, Place};
use crate::{Autonomy, Happening, HookRun, Mode, Settings};
use musher_message::{Message, Role, Visibility};

/// The hooks of a session with everything they are told of it: what a task needs to fire them.
#[derive(Debug, Clone)]
pub(crate) struct Kit {
    hooks: Arc<Hooks>,
    session_id: String,
    transcript: PathBuf,
    cwd: PathBuf,
    mode: &'static str,
    place: Place,
}

impl Kit {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            hooks: Arc::clone(&session.hooks),
            session_id: session.id.as_str().to_owned(),
            transcript: session.journal.path(),
            cwd: session.cwd.clone(),
            mode: permission_mode(&session.settings),
            place: Place {
                project: session.config.root.clone(),
                environment: session.tools.environment.to_vec(),
            },
        }
    }

    /// Fires the hooks of a moment.
    pub(crate) async fn fire<Told: Future<Output = ()>>(
        &self,
        moment: &Moment<'_>,
        ids: &HookRun,
        cancel: &CancellationToken,
        listener: impl FnMut(HookNews) -> Told,
    ) -> HookOutcome {
        let about = About {
            session_id: &self.session_id,
            transcript_path: &self.transcript,
            cwd: &self.cwd,
            permission_mode: self.mode,
        };
        self.hooks.fire(moment, &about, &self.place, ids, cancel, listener).await
    }

    /// Fires them for a turn, which is told how they go.
    pub(crate) async fn fire_in_turn(
        &self,
        moment: &Moment<'_>,
        ids: &HookRun,
        cancel: &CancellationToken,
        back: &Back,
    ) -> HookOutcome {
        self.fire(moment, ids, cancel, tell_turn(back)).await
    }

    /// Fires them for a session, which is told how they go.
    pub(crate) async fn fire_in_session(
        &self,
        moment: &Moment<'_>,
        ids: &HookRun,
        cancel: &CancellationToken,
        (session, inputs): (u64, &mpsc::Sender<Input>),
    ) -> HookOutcome {
        self.fire(moment, ids, cancel, tell_session(session, inputs)).await
    }
}

/// Tells the turn how hooks go.
pub(super) fn tell_turn(back: &Back) -> impl FnMut(HookNews) -> BoxFuture<'static, ()> + use<> {
    let back = back.clone();
    move |news| {
        let back = back.clone();
        async move {
            back.send(FromTurn::Hook(Box::new(news))).await;
        }
        .boxed()
    }
}

/// Tells the session how hooks go.
pub(super) fn tell_session(
    session: u64,
    inputs: &mpsc::Sender<Input>,
) -> impl FnMut(HookNews) -> BoxFuture<'static, ()> + use<> {
    let inputs = inputs.clone();
    move |news| {
        let inputs = inputs.clone();
        async move {
            let what = FromSession::Hook(Box::new(news));
            inputs.send(Input::Session { session, what }).await.ok();
        }
        .boxed()
    }
}

/// Ids of a run that is about a message.
pub(super) fn about_message(id: &str) -> HookRun {
    HookRun { parent_id: Some(id.to_owned()), ..HookRun::default() }
}

impl Actor {
    /// What a task needs to fire the hooks of a moment, if there are any.
    pub(super) fn hooks_at(&self, moment: &Moment<'_>) -> Option<Kit> {
        let session = self.session.as_ref()?;
        session.hooks.fit(moment).then(|| Kit::of(session))
    }

    /// Hooks begin or have ended.
    pub(super) fn hook_news(&mut self, news: HookNews) {
        match news {
            HookNews::Started(run) => self.emit(Happening::HookStarted(Box::new(run))),
            HookNews::Completed(run) => {
                self.keep_hook_run(&run);
                self.emit(Happening::HookCompleted(Box::new(run)));
            }
        }
    }

    /// Keeps in the log that hooks have run. In a session in which nothing was said yet, that waits until something is.
    fn keep_hook_run(&mut self, run: &HookRun) {
        let Some(session) = &mut self.session else { return };
        session.first_hooks.push(hook_message(run));
        if session.journal.is_open() {
            for message in std::mem::take(&mut session.first_hooks) {
                self.log(message);
            }
        }
    }

    /// Tells people what hooks want them to know.
    pub(super) fn tell_of_hooks(&mut self, outcome: &HookOutcome) {
        if let Some(text) = &outcome.system_message {
            self.append(user_note(text), None);
        }
        if let Some(mishap) = &outcome.mishap {
            tracing::warn!(%mishap, "a hook");
        }
    }

    /// A session is open: its hooks run, and then the command that opened it is answered.
    pub(super) fn begin_session(&mut self, source: &'static str, then: Option<(Ticket, Reply)>) {
        let Some(session) = &self.session else { return self.answer_start(then) };
        let message_id = session.messages.last().map(|message| message.id.clone());
        let moment = Moment::SessionStart { source, message_id: message_id.as_deref(), env_file: None };
        let Some(kit) = self.hooks_at(&moment) else { return self.answer_start(then) };
        let (number, inputs, cancel) = (session.number, self.inputs.clone(), session.cancel.child_token());
        let env_file = env_file::place(&session.tools.scratch)
            .inspect_err(|error| tracing::warn!(%error, "hooks cannot leave variables for commands"));
        let env_file = env_file.ok();
        self.lifecycle.start(Starting { cancel: cancel.clone(), then });
        tokio::spawn(async move {
            let env_file = env_file.as_deref();
            let moment = Moment::SessionStart { source, message_id: message_id.as_deref(), env_file };
            let ids = HookRun { parent_id: message_id.clone(), ..HookRun::default() };
            let outcome = kit.fire_in_session(&moment, &ids, &cancel, (number, &inputs)).await;
            let variables = match env_file {
                Some(file) => env_file::read(file, &kit.cwd, &kit.place.environment, &cancel).await,
                None => None,
            };
            let what = FromSession::Started { outcome: Box::new(outcome), variables };
            inputs.send(Input::Session { session: number, what }).await.ok();
        });
    }

    /// The first hooks of a session are over. What they said is told to the model with the next words of the user, and what they left is
    /// in the environment of commands.
    pub(super) fn session_started(&mut self, outcome: &HookOutcome, variables: Option<Variables>) {
        if let (Some(session), Some(variables)) = (&mut self.session, variables) {
            session.tools.environment = variables.into();
        }
        if let (Some(session), Some(text)) = (&mut self.session, &outcome.additional_context) {
            session.new_notes.push(hook_context("SessionStart", text));
        }
        self.settle_start();
    }

    /// Answers the command that opened the session, if its hooks have held that up.
    pub(super) fn settle_start(&mut self) {
        let then = self.lifecycle.started();
        self.answer_start(then);
    }

    fn answer_start(&mut self, then: Option<(Ticket, Reply)>) {
        if let Some((ticket, reply)) = then {
            self.reply(ticket, Ok(reply));
        }
    }

    /// Whether hooks have a say about what the user says. They are asked before it becomes a part of the conversation.
    pub(super) fn has_prompt_hooks(&self) -> bool {
        let moment = Moment::UserPromptSubmit { message_id: "", prompt: "", has_images: false };
        // what a subagent is asked, no user has said
        self.session.as_ref().is_some_and(|session| session.subagent.is_none() && session.hooks.fit(&moment))
    }

    /// Asks the hooks about what the user says; the turn waits for them.
    pub(super) fn ask_about_prompt(&mut self, queued: Queued) {
        let (id, prompt) = (queued.id.clone(), queued.prompt.text.clone());
        let has_images = !queued.prompt.images.is_empty();
        let moment = Moment::UserPromptSubmit { message_id: &id, prompt: &prompt, has_images };
        let Some(kit) = self.hooks_at(&moment) else { return self.enter_prompt(queued) };
        let Some((back, cancel)) = self.child() else { return };
        if let Some(running) = self.turns.running_mut() {
            running.hold_prompt(queued);
        }
        back.clone().spawn(async move {
            let moment = Moment::UserPromptSubmit { message_id: &id, prompt: &prompt, has_images };
            let outcome = kit.fire_in_turn(&moment, &about_message(&id), &cancel, &back).await;
            back.send(FromTurn::PromptJudged(Box::new(outcome))).await;
        });
    }

    /// The hooks have said what they think of it.
    pub(super) fn prompt_judged(&mut self, outcome: &HookOutcome) {
        let Some(queued) = self.turns.running_mut().and_then(Running::take_prompt) else { return };
        if self.turns.running().is_none_or(|running| running.turn.is_over()) {
            return self.discarded(&queued);
        }
        if let Some(reason) = outcome.stop.as_ref().or(outcome.block.as_ref()) {
            self.discarded(&queued);
            self.problem(reason.clone(), "Error");
            self.emit(Happening::Discarded { text: queued.prompt.text, ticket: queued.ticket });
            return self.with_turn(Turn::refuse);
        }
        if let (Some(session), Some(text)) = (&mut self.session, &outcome.additional_context) {
            session.new_notes.push(hook_context("UserPromptSubmit", text));
        }
        self.enter_prompt(queued);
        self.tell_of_hooks(outcome);
    }

    /// The model is done. Hooks may want it to go on.
    pub(super) fn stopping(&mut self, message_id: String) {
        let Some(running) = self.turns.running() else { return };
        let (is_again, elapsed) = (running.turn.holds > 0, millis(running.turn.started));
        let tools = u64::try_from(running.turn.tool_count).unwrap_or(u64::MAX);
        let is_subagent = self.session.as_ref().is_some_and(|session| session.subagent.is_some());
        let moment = stop_moment(is_subagent, &message_id, is_again, tools, elapsed);
        let Some(kit) = self.hooks_at(&moment) else {
            return self.with_turn(|turn, effects| turn.stopped(None, effects));
        };
        let Some((back, cancel)) = self.child() else { return };
        back.clone().spawn(async move {
            let moment = stop_moment(is_subagent, &message_id, is_again, tools, elapsed);
            let ids = about_message(&message_id);
            let outcome = kit.fire_in_turn(&moment, &ids, &cancel, &back).await;
            back.send(FromTurn::MayStop(Box::new(outcome))).await;
        });
    }

    /// The hooks have said whether the model may stop.
    pub(super) fn may_stop(&mut self, outcome: &HookOutcome) {
        self.tell_of_hooks(outcome);
        // who wants everything to end wants no more work
        let reason = outcome.block.clone().filter(|_| outcome.stop.is_none());
        self.with_turn(|turn, effects| turn.stopped(reason, effects));
    }

    /// Somebody is asked for consent: hooks may fetch them. Nothing waits for that.
    pub(super) fn notify(&self, message: String, kind: &'static str) {
        let moment = Moment::Notification { message: &message, notification_type: kind };
        let Some(kit) = self.hooks_at(&moment) else { return };
        let Some(session) = &self.session else { return };
        let (number, inputs, cancel) = (session.number, self.inputs.clone(), session.cancel.clone());
        tokio::spawn(async move {
            let moment = Moment::Notification { message: &message, notification_type: kind };
            kit.fire_in_session(&moment, &HookRun::default(), &cancel, (number, &inputs)).await;
        });
    }
}

fn stop_moment(
    is_subagent: bool,
    message_id: &str,
    stop_hook_active: bool,
    tool_execution_count: u64,
    elapsed_time: u64,
) -> Moment<'_> {
    if is_subagent {
        return Moment::SubagentStop { message_id, stop_hook_active, tool_execution_count, elapsed_time };
    }
    Moment::Stop { message_id, stop_hook_active, tool_execution_count, elapsed_time }
}

pub(super) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A run of hooks as it is kept, with the fields droid has for it.
fn hook_message(run: &HookRun) -> Message {
    let mut kept = message(run.id.clone(), Role::System, Vec::new(), Visibility::UserOnly);
    let begun = i64::try_from(run.order / 1000).unwrap_or(kept.created_at_ms);
    let commands = run.commands.iter().map(|(command, timeout)| {
        let mut shown = json!({"type": "command", "command": command});
        if let Some(timeout) = timeout {
            shown["timeout"] = json!(timeout);
        }
        shown
    });
    let results = run.results.iter().map(
        |result| json!({"exitCode": result.exit_code, "stdout": result.stdout, "stderr": result.stderr}),
    );
    let fields = [
        ("hookEventName", json!(run.event)),
        ("hookMatcher", json!(run.matcher)),
        ("hookCommands", commands.collect()),
        ("hookStatus", json!(if run.has_failed() { "error" } else { "completed" })),
        ("hookResults", results.collect()),
        ("hookToolCallId", json!(run.tool_call_id)),
        ("hookParentId", json!(run.parent_id)),
        ("hookOrder", json!(run.order)),
        ("hookStartTime", json!(begun)),
        ("hookEndTime", json!(kept.updated_at_ms)),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    kept.extra.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    kept.created_at_ms = begun;
    kept
}

/// The word hooks know for what may happen without asking.
fn permission_mode(settings: &Settings) -> &'static str {
    match (settings.mode, settings.autonomy) {
        (Mode::Spec, _) => "spec",
        (_, Autonomy::Off) => "off",
        (_, Autonomy::Low) => "auto-low",
        (_, Autonomy::Medium) => "auto-medium",
        (_, Autonomy::High) => "auto-high",
    }
}
