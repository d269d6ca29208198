//! The open session.
//!
//! All fields are private to this module: a caller changes a session through methods that keep its parts consistent. The parts with
//! rules of their own are types of their own: [`Conversation`], [`UsageTotals`], [`Title`], [`Notes`], [`Servers`].

mod confine; // the limits of a subagent
mod conversation;
mod lease; // who writes the session
mod notes;
mod restore; // a session read from disk
mod servers;
mod settings; // settings, and the permission policy that follows them
mod title;
mod usage;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use musher_model::Usage;
use musher_tools::{Context, Registry, Sandbox};
use serde_json::{Map, Value};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::hooks::HookRunner;
use super::journal::Journal;
use super::saved_settings;
use super::session_end_hooks::SessionEndHooks;
use super::subagents::{Subagent, Subagents};
use super::thinking::{Accepted, Origin};
use super::titles::{TitleCall, is_from_user};
use super::turn::{Turn, now_ms};
use crate::command::{Attach, CommandId, SystemPrompt};
use crate::config::{Config, Problem};
use crate::context::OpenTodos;
use crate::cost::{Cost, today};
use crate::event::{TitleCause, TurnCompleted, TurnEnd};
use crate::hooks::env_file::Variables;
use crate::hooks::{HookEvent, Hooks};
use crate::mcp::Mcp;
use crate::models::{Model, Models};
use crate::permission::Policy;
use crate::sandbox::Sandboxes;
use crate::skills::Library;
use crate::unfinished::UnfinishedCalls;
use crate::{Effort, Event, Mode, SessionId, Settings, SettingsChange};
use musher_message::{Message, Visibility};
use musher_store::{Compaction, Log, Record, StoreError};

pub(crate) use conversation::Conversation;
use notes::Notes;
use servers::Servers;
pub(crate) use title::{Title, title_event, title_of};
use usage::Charge;
pub(crate) use usage::{UsageTotals, difference, sum};

/// The open session.
pub(crate) struct Session {
    /// The calls that the interrupted turn has not started, until the turn continues; `None` if no turn continues.
    interrupted: Option<Vec<String>>,
    /// Counts the sessions this agent has opened.
    number: u64,
    id: SessionId,
    cwd: PathBuf,
    opened: Instant,
    settings: Settings,
    /// What may run without asking. Follows the settings.
    policy: Policy,
    system_prompt: Option<SystemPrompt>,
    attach: Attach,
    /// The stored settings, with fields of other programs.
    saved: Map<String, Value>,
    config: Config,
    library: Library,
    models: Models,
    /// Problems of the settings files that were not reported yet.
    problems: Vec<Problem>,
    conversation: Conversation,
    title: Title,
    /// The call of the model for a title.
    title_call: Option<TitleCall>,
    usage: UsageTotals,
    /// What calls have used that ended before their answer was complete, and that was not counted yet.
    unfinished: UnfinishedCalls,
    /// The token counts that were last read or saved.
    saved_usage: UsageTotals,
    /// Changes of settings that were not saved yet.
    unsaved: Vec<SettingsChange>,
    /// What others have changed, and the client does not know.
    unsent: Vec<Event>,
    notes: Notes,
    hooks: Arc<Hooks>,
    /// Hook runs that are logged once the conversation begins.
    unlogged_hook_runs: Vec<Message>,
    servers: Servers,
    /// What tools get besides their arguments.
    tools: Context,
    /// What commands may change and connect to.
    sandboxes: Arc<Sandboxes>,
    /// What hooks and MCP servers may change and connect to; `None` if everything.
    program_sandbox: Option<Sandbox>,
    /// Tools the model has found by a search, in the order in which they were found.
    loaded_tools: Vec<String>,
    /// The reasoning that vendors may accept back.
    accepted: Accepted,
    /// The efforts that a model did not know, and that were reported.
    reported_efforts: HashSet<(String, Effort)>,
    /// The latest request to the model.
    origin: Option<Origin>,
    /// Set if this session is a subagent of another.
    subagent: Option<Subagent>,
    subagents: Subagents,
    /// Ends the tasks of the session.
    cancel: CancellationToken,
    _guard: DropGuard,
}

/// What a session is made of.
pub(crate) struct Parts {
    pub(crate) id: SessionId,
    pub(crate) cwd: PathBuf,
    pub(crate) journal: Journal,
    pub(crate) attach: Attach,
    pub(crate) settings: Settings,
    pub(crate) policy: Policy,
    pub(crate) config: Config,
    pub(crate) library: Library,
    pub(crate) models: Models,
    pub(crate) hooks: Hooks,
    pub(crate) mcp: Mcp,
    pub(crate) tools: Context,
    pub(crate) sandboxes: Arc<Sandboxes>,
    pub(crate) program_sandbox: Option<Sandbox>,
    pub(crate) problems: Vec<Problem>,
}

impl Session {
    pub(crate) fn new(parts: Parts) -> Self {
        let cancel = CancellationToken::new();
        Self {
            interrupted: None,
            number: 0,
            id: parts.id,
            opened: Instant::now(),
            settings: parts.settings,
            policy: parts.policy,
            system_prompt: None,
            attach: parts.attach,
            saved: Map::new(),
            config: parts.config,
            library: parts.library,
            models: parts.models,
            problems: parts.problems,
            conversation: Conversation::new(parts.journal),
            title: Title::default(),
            title_call: None,
            usage: UsageTotals::default(),
            unfinished: UnfinishedCalls::default(),
            saved_usage: UsageTotals::default(),
            unsaved: Vec::new(),
            unsent: Vec::new(),
            notes: Notes::new(parts.cwd.clone()),
            hooks: Arc::new(parts.hooks),
            unlogged_hook_runs: Vec::new(),
            servers: Servers::new(parts.mcp),
            tools: parts.tools,
            sandboxes: parts.sandboxes,
            program_sandbox: parts.program_sandbox,
            loaded_tools: Vec::new(),
            accepted: Accepted::default(),
            reported_efforts: HashSet::new(),
            origin: None,
            subagent: None,
            subagents: Subagents::default(),
            _guard: cancel.clone().drop_guard(),
            cancel,
            cwd: parts.cwd,
        }
    }

    /// Ends what the session has started, and runs its last hooks. Neither takes longer than the limit.
    ///
    /// The log is closed when this returns, before anything is awaited: the next program that opens the session finds it free.
    pub(crate) fn close(
        self,
        end_hooks: Option<SessionEndHooks>,
        limit: Duration,
    ) -> impl Future<Output = ()> {
        let Self { conversation, cancel, tools, servers, subagent, subagents, .. } = self;
        drop(conversation);
        cancel.cancel();
        async move {
            let end = async {
                let servers = async {
                    // a subagent uses the servers of the session that started it
                    if subagent.is_none() {
                        servers.mcp().shutdown().await;
                    }
                };
                tokio::join!(tools.processes.end_all(), subagents.ended(), servers);
            };
            let last_hooks = async {
                if let Some(hooks) = end_hooks {
                    hooks.run_unobserved(limit).await;
                }
            };
            tokio::join!(async { tokio::time::timeout(limit, end).await.ok() }, last_hooks);
        }
    }

    /// Sets the number by which tasks name the session.
    pub(crate) fn set_number(&mut self, number: u64) {
        self.number = number;
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns when the session was opened by this process.
    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    pub(crate) fn title(&self) -> &Title {
        &self.title
    }

    pub(crate) fn usage(&self) -> &UsageTotals {
        &self.usage
    }

    pub(crate) fn servers(&self) -> &Servers {
        &self.servers
    }

    pub(crate) fn servers_mut(&mut self) -> &mut Servers {
        &mut self.servers
    }

    pub(crate) fn mcp(&self) -> &Mcp {
        self.servers.mcp()
    }

    pub(crate) fn tools(&self) -> &Context {
        &self.tools
    }

    /// Returns what commands may change and connect to.
    pub(crate) fn sandboxes(&self) -> &Arc<Sandboxes> {
        &self.sandboxes
    }

    /// Returns what hooks and MCP servers may change and connect to; `None` if everything.
    pub(crate) fn program_sandbox(&self) -> Option<&Sandbox> {
        self.program_sandbox.as_ref()
    }

    /// Sets the variables `SessionStart` hooks have left for commands.
    pub(crate) fn set_command_variables(&mut self, variables: Variables) {
        self.tools.environment = variables.into();
    }

    /// Names of the tools the model has found by a search, in order.
    pub(crate) fn loaded_tools(&self) -> &[String] {
        &self.loaded_tools
    }

    /// Offers a tool to the model from the next call on.
    pub(crate) fn load_tool(&mut self, name: String) {
        if !self.loaded_tools.contains(&name) {
            self.loaded_tools.push(name);
        }
    }

    pub(crate) fn subagent(&self) -> Option<&Subagent> {
        self.subagent.as_ref()
    }

    pub(crate) fn subagents(&self) -> &Subagents {
        &self.subagents
    }

    pub(crate) fn subagents_mut(&mut self) -> &mut Subagents {
        &mut self.subagents
    }

    /// Cancelled when the session is closed.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Adds a problem that is reported when the session is announced.
    pub(crate) fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Takes the problems of the settings files, to report them.
    pub(crate) fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    // the model

    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// Returns the id of the model in use: spec mode may have its own.
    pub(crate) fn model_id(&self) -> &str {
        self.settings.model_in_use()
    }

    /// Returns the reasoning effort in use.
    pub(crate) fn effort(&self) -> Effort {
        match (self.settings.spec_effort, self.settings.mode) {
            (Some(effort), Mode::Spec) => effort,
            _ => self.settings.effort,
        }
    }

    /// Returns the reasoning effort that the model gets: the one in use, or the closest one it knows.
    pub(crate) fn effort_in_use(&self) -> Effort {
        let known = self.model().map(|model| model.efforts).unwrap_or_default();
        self.effort().closest(&known).unwrap_or(Effort::Off)
    }

    /// Returns what to tell the user if the model does not know the effort in use. Once for each model and effort.
    pub(crate) fn unsupported_effort(&mut self, model: &Model) -> Option<String> {
        let effort = self.effort();
        let used = effort.closest(&model.efforts);
        if used == Some(effort) || used.is_none() && effort == Effort::Off {
            return None;
        }
        if !self.reported_efforts.insert((model.name.clone(), effort)) {
            return None;
        }
        let (name, effort) = (&model.display_name, effort.name());
        Some(match used {
            Some(Effort::Off) | None => format!(
                "the model {name} has no reasoning effort to set, so `{effort}` has no effect; `reasoning` of a custom model says how it is asked"
            ),
            Some(used) => format!(
                "the model {name} does not know the reasoning effort `{effort}`, so it uses `{}`",
                used.name()
            ),
        })
    }

    /// Returns the model in use, if it is configured. Its calls count for the session, also if they end early.
    pub(crate) fn model(&self) -> Option<Model> {
        let model = self.models.find(self.model_id())?;
        let provider = self.unfinished.watch(model.provider, self.model_id(), model.price.clone());
        Some(Model { provider, ..model })
    }

    /// Returns the reasoning that vendors may accept back.
    pub(crate) fn accepted(&self) -> &Accepted {
        &self.accepted
    }

    /// A vendor has rejected the reasoning in the conversation: none of it is sent any more.
    pub(crate) fn reject_thinking(&mut self) {
        self.accepted.reject(self.conversation.messages().len());
    }

    /// Stores with a response which model has written it, and what its reasoning is bound to.
    pub(crate) fn mark_response(&mut self, message: &mut Message) {
        match &self.origin {
            Some(origin) => origin.mark(message),
            None => message.model_id = Some(self.model_id().to_owned()),
        }
        self.accepted.marked();
    }

    /// Sets the latest request to the model, which the next response answers.
    pub(crate) fn set_origin(&mut self, origin: Origin) {
        self.origin = Some(origin);
    }

    // the conversation and its log

    /// Appends a message to the log and to memory. A message with the id of the last one becomes part of it.
    pub(crate) fn append(&mut self, message: Message) -> Result<Arc<Message>, StoreError> {
        let settings = self.settings_for_new_log();
        self.conversation.append(message, || settings.unwrap_or_default())
    }

    /// Returns the log, created if there is none yet.
    pub(crate) fn log(&mut self) -> Result<&mut Log, StoreError> {
        let settings = self.settings_for_new_log();
        self.conversation.log(|| settings.unwrap_or_default())
    }

    fn settings_for_new_log(&self) -> Option<Map<String, Value>> {
        self.conversation.is_new().then(|| saved_settings::save(self))
    }

    /// Saves settings and counts, if there is a log. A failure is only traced: the next save repeats it.
    pub(crate) fn save(&mut self) {
        let saved = self.owning(|session| {
            let settings = saved_settings::save(session);
            session.conversation.save_settings(settings)
        });
        match saved {
            Ok(()) => {
                self.unsaved.clear();
                self.saved_usage = self.usage.clone();
            }
            Err(error) => {
                tracing::warn!(error = %error.with_causes(), "the settings of a session were not saved");
            }
        }
    }

    /// Appends a record, if there is a log.
    pub(crate) fn note(&mut self, record: &Record) -> Result<(), StoreError> {
        self.conversation.note(record)
    }

    /// Logs the end of a turn, and saves settings and counts. Returns the summary of the turn.
    pub(crate) fn end_turn(&mut self, turn: &Turn, reason: TurnEnd) -> TurnCompleted {
        let outcome = Record::TurnOutcome { turn_id: turn.id().to_owned(), reason: reason.name().to_owned() };
        if let Err(error) = self.note(&outcome).and_then(|()| self.sync()) {
            tracing::warn!(error = %error.with_causes(), "the end of a turn is not in the log");
        }
        self.saved.insert(saved_settings::LAST_TURN_REASON.to_owned(), reason.name().into());
        self.count_unfinished();
        self.save();
        turn.completed(reason, &self.usage)
    }

    /// Waits until the log is on disk, if there is one.
    fn sync(&mut self) -> Result<(), StoreError> {
        if self.is_owned() { self.log()?.sync() } else { Ok(()) }
    }

    /// Replaces the first `removed` messages by a summary. Returns the event that announces it.
    pub(crate) fn compact(&mut self, summary: String, removed: usize) -> Result<Event, StoreError> {
        let messages = self.conversation.messages();
        let last = removed.checked_sub(1).and_then(|last| messages.get(last));
        let summary = compaction(summary, removed, last.map(|message| message.id.clone()));
        let summary_id = summary.id.clone();
        let settings = self.settings_for_new_log();
        self.conversation.compact(summary, removed, || settings.unwrap_or_default())?;
        let kept = self.conversation.messages().get(removed..).unwrap_or_default();
        let shown = kept.iter().find(|message| message.visibility == Visibility::Both);
        let boundary = shown.map(|message| message.id.clone());
        Ok(Event::Compacted { summary_id, removed, boundary })
    }

    // the title

    /// Sets the title the user gives. Returns the event that announces it.
    pub(crate) fn rename(&mut self, title: String, command_id: CommandId) -> Result<Event, StoreError> {
        self.owning(|session| session.log()?.set_title(&title, true))?;
        self.title.set_manual(title.clone());
        Ok(Event::Title { title, cause: TitleCause::Manual, command_id: Some(command_id) })
    }

    /// Makes a title from the first message of the user. It is announced at the end of the turn.
    pub(crate) fn title_from_message(&mut self, text: &str) {
        let messages = self.conversation.messages().iter();
        let is_first = messages.filter(|message| is_from_user(message)).count() == 1;
        let title = title_of(text);
        if self.title.is_manual() || !is_first || title.is_empty() {
            return;
        }
        self.title.set_from_message(&title);
        self.save_title(&title);
    }

    /// Takes the title made from a message, to announce it.
    pub(crate) fn take_unannounced_title(&mut self) -> Option<String> {
        self.title.take_unannounced()
    }

    /// Sets a title made by the model, and counts its call. Returns the event that announces it, unless the user has set a title, or the
    /// model has made none.
    pub(crate) fn title_from_model(&mut self, title: Option<String>, usage: Option<Usage>) -> Option<Event> {
        if let Some(usage) = usage {
            self.usage.add(self.charge(usage));
        }
        self.count_unfinished();
        let is_saved = self.owning(|session| {
            session.save();
            match &title {
                Some(title) => session.log()?.set_title(title, false),
                None => Ok(true),
            }
        });
        if let Err(error) = &is_saved {
            tracing::warn!(error = %error.with_causes(), "the title was not saved");
        }
        let title = title.filter(|_| !self.title.is_manual())?;
        self.title.set_from_model(&title);
        Some(title_event(title, TitleCause::Model))
    }

    fn save_title(&mut self, title: &str) {
        if let Err(error) = self.log().and_then(|log| log.set_title(title, false)) {
            tracing::warn!(error = %error.with_causes(), "the title was not saved");
        }
    }

    // usage

    /// Counts a call of the model in a turn. Returns the event that announces it.
    pub(crate) fn record_call(&mut self, usage: Usage) -> Event {
        self.usage.add_call(self.charge(usage));
        self.count_unfinished();
        self.usage.event()
    }

    /// Counts calls for a summary. Returns the event that announces them, if there were any.
    pub(crate) fn record_summary(&mut self, usage: &[Usage]) -> Option<Event> {
        for usage in usage {
            self.usage.add(self.charge(*usage));
        }
        let has_unfinished = self.count_unfinished();
        (has_unfinished || !usage.is_empty()).then(|| self.usage.event())
    }

    /// Counts the calls that ended before their answer was complete. Returns whether there were any.
    fn count_unfinished(&mut self) -> bool {
        let spent = self.unfinished.take();
        let has_any = !spent.is_empty();
        for (model, spending) in spent {
            self.usage.add_unfinished(today(), model, spending);
        }
        has_any
    }

    /// Counts what a subagent has used. Returns the event that announces it.
    pub(crate) fn record_subagent(&mut self, id: &SessionId, usage: Usage, cost: Cost) -> Event {
        self.usage.add_subagent(id.as_str(), usage, cost);
        self.usage.event()
    }

    /// A turn of this session was interrupted and continues, with these calls that have not started.
    pub(crate) fn set_interrupted(&mut self, open_calls: Option<Vec<String>>) {
        self.interrupted = open_calls;
    }

    /// Returns the calls that the interrupted turn has not started, once, if a turn continues.
    pub(crate) fn take_interrupted(&mut self) -> Option<Vec<String>> {
        self.interrupted.take()
    }

    /// Records that a call starts.
    pub(crate) fn call_starts(&mut self, call_id: &str) -> Result<(), StoreError> {
        self.note(&Record::call_started(call_id))
    }

    /// Begins to count the cost of a turn.
    pub(crate) fn begin_turn_cost(&mut self) {
        self.usage.begin_turn();
    }

    /// Returns what a call of the model in use costs now.
    fn charge(&self, usage: Usage) -> Charge {
        let price = self.model().and_then(|model| model.price);
        let cost = Cost::of(&usage, price.as_ref());
        Charge { day: today(), model: self.model_id().to_owned(), usage, cost }
    }

    /// Sets the estimated size of the context until the next call of the model.
    pub(crate) fn estimate_context(&mut self, tokens: u64) {
        self.usage.estimate_context(tokens);
    }

    // reminders for the model

    /// Adds a reminder to the next call of the model.
    pub(crate) fn remind(&mut self, text: String) {
        self.notes.add(text);
    }

    /// Adds the notes of the folders of a path to the next call of the model. Reads files.
    pub(crate) fn read_folder_notes(&mut self, path: &Path) {
        self.notes.read_folders_of(path);
    }

    /// Returns whether the model has to get the uncommitted changes now. True at most once per session.
    pub(crate) fn begin_working_tree(&mut self) -> bool {
        self.notes.begin_working_tree()
    }

    /// Returns the reminder of open steps of the to-do list, once for each list.
    pub(crate) fn remind_of_todos(&mut self, tools: &Registry) -> Option<String> {
        let messages = self.conversation.messages().iter().map(Arc::as_ref);
        self.notes.remind_of_todos(OpenTodos::of(messages, tools)?)
    }

    /// Takes all reminders as one hidden message.
    pub(crate) fn take_reminders(&mut self) -> Option<Message> {
        self.notes.take()
    }

    /// Returns a hidden message if the model does not know the current mode.
    pub(crate) fn report_mode(&mut self) -> Option<Message> {
        self.notes.report_mode(self.settings.mode)
    }

    // hooks

    /// Returns whether hooks run at an event.
    pub(crate) fn has_hooks(&self, event: &HookEvent<'_>) -> bool {
        self.hooks.has_match(event)
    }

    /// Returns what a task needs to run the hooks of an event, if there are any.
    pub(crate) fn hooks_for(&self, event: &HookEvent<'_>) -> Option<HookRunner> {
        self.has_hooks(event).then(|| self.hook_runner())
    }

    /// Returns what a task needs to run hooks.
    pub(crate) fn hook_runner(&self) -> HookRunner {
        HookRunner::new(self, Arc::clone(&self.hooks))
    }

    /// Drops the hooks: the session runs none from now on.
    pub(crate) fn drop_hooks(&mut self) {
        self.hooks = Arc::default();
    }

    /// Keeps a hook run for the log. Returns the runs to log now: none while no turn runs.
    #[must_use]
    pub(crate) fn keep_hook_run(&mut self, run: Message) -> Vec<Message> {
        self.unlogged_hook_runs.push(run);
        if self.is_owned() { self.take_hook_runs() } else { Vec::new() }
    }

    /// Takes the hook runs that were not logged, to log them.
    pub(crate) fn take_hook_runs(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.unlogged_hook_runs)
    }
}

/// Returns a summary as it is logged.
pub(crate) fn compaction(summary: String, removed: usize, last_removed: Option<String>) -> Compaction {
    Compaction {
        id: uuid::Uuid::new_v4().to_string(),
        at_ms: now_ms(),
        summary_tokens: super::lists::tokens(summary.len()),
        summary,
        removed: u64::try_from(removed).unwrap_or(u64::MAX),
        last_removed,
        ..Compaction::default()
    }
}
