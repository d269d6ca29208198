//! Translates the agent's events into updates for the editor, and remembers what was sent so that nothing is sent twice.
//!
//! Pure. Live turns and loaded histories go through the same code, so they look the same.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    CompactionStatus, ContentBlock, ContentChunk, MessageId, Meta, Notice, NoticeSeverity, Plan,
    SessionUpdate, Terminal, TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use musher::wire::{
    ContentBlock as WireBlock, DroidWorkingState, Json, McpServerInfo, Message, MessageRole,
    PermissionToolUse, SessionNotification, ToolExecutionPhase, ToolResultContent,
};
use musher::{Event, ToolOutcome};
use serde_json::{Value, json};

use super::compaction::Compaction;
use super::tool_call::{EXECUTE, ToolCallView, fenced, show, words};
use super::{content, mcp, permission, plan};

/// How many MCP servers without a login are reported.
const MAX_REPORTED_SERVERS: usize = 64;
/// How many bytes of a command's output are shown while it runs: its end.
const MAX_SHOWN_OUTPUT: usize = 64 * 1024;

/// The optional features of an editor that change what it is sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EditorFeatures {
    /// It shows notices beside the conversation.
    pub(crate) notices: bool,
    /// It shows compactions.
    pub(crate) compaction: bool,
    /// It shows terminals whose output the adapter sends in the `_meta` fields that editors have agreed on.
    pub(crate) terminal_output: bool,
}

/// The translator of one session.
#[derive(Debug)]
pub(crate) struct Translator {
    cwd: PathBuf,
    features: EditorFeatures,
    /// The text sent so far, by message of this turn.
    streamed: HashMap<String, StreamedText>,
    calls: HashMap<String, Call>,
    /// The editor's own terminals that were opened in this turn.
    terminals: HashSet<String>,
    compaction: Compaction,
    /// The plan as it was last sent.
    plan: Option<Plan>,
    /// The command that logs in to an MCP server.
    mcp_login: Option<String>,
    /// The MCP servers whose missing login was reported.
    reported_servers: HashSet<String>,
}

#[derive(Debug, Default)]
struct StreamedText {
    text: String,
    thought: String,
}

#[derive(Debug)]
struct Call {
    name: String,
    input: Value,
    shown: ToolCallView,
    /// The content of its permission request, which has more details than the input.
    requested: Option<Vec<ToolCallContent>>,
    /// The end of the output as it was last sent.
    output: String,
    /// Whether one of the editor's terminals shows it.
    has_terminal: bool,
    is_open: bool,
}

impl Translator {
    pub(crate) fn new(cwd: PathBuf, features: EditorFeatures) -> Self {
        let compaction = Compaction::new(features.compaction);
        let (streamed, calls, terminals) = (HashMap::new(), HashMap::new(), HashSet::new());
        Self {
            cwd,
            features,
            streamed,
            calls,
            terminals,
            compaction,
            plan: None,
            mcp_login: None,
            reported_servers: HashSet::new(),
        }
    }

    /// Names this command where a login to an MCP server is missing.
    pub(crate) fn with_mcp_login(self, mcp_login: Option<String>) -> Self {
        Self { mcp_login, ..self }
    }

    /// Translates the states of MCP servers: each that needs a login is reported once, until the user has logged in.
    pub(crate) fn servers(&mut self, servers: &[McpServerInfo]) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        for server in servers {
            if server.requires_auth != Some(true) {
                self.reported_servers.remove(&server.name);
            } else if self.reported_servers.len() < MAX_REPORTED_SERVERS
                && self.reported_servers.insert(server.name.clone())
            {
                let title = format!("The MCP server {} needs a login", server.name);
                let hint = mcp::login_hint(self.mcp_login.as_deref(), &server.name);
                updates.extend(self.notice(NoticeSeverity::Warning, &title, &hint));
            }
        }
        updates
    }

    /// Translates the start or the end of a compaction.
    pub(crate) fn compaction(&mut self, status: CompactionStatus, error: Option<&str>) -> Vec<SessionUpdate> {
        self.compaction.moves(status, error).into_iter().collect()
    }

    /// Translates an event of a turn.
    pub(crate) fn event(&mut self, event: &Event) -> Vec<SessionUpdate> {
        match event {
            Event::TextDelta(delta) => {
                self.streamed.entry(delta.message_id.clone()).or_default().text.push_str(&delta.text);
                vec![text(&delta.message_id, &delta.text)]
            }
            Event::ThinkingDelta(delta) => {
                self.streamed.entry(delta.message_id.clone()).or_default().thought.push_str(&delta.text);
                vec![thought(&delta.message_id, &delta.text)]
            }
            Event::Assistant(message) => self.assistant(message),
            Event::Retracted { message_id } => {
                // it cannot be taken back, but its replacement must be sent in full
                self.streamed.remove(message_id);
                Vec::new()
            }
            Event::ToolCall(call) | Event::ToolCallDelta(call) => {
                self.call(&call.id, &call.name, &call.input)
            }
            Event::ToolPhase(moved) if moved.phase == ToolExecutionPhase::Executing => {
                let is_open = self.calls.get(&moved.tool_use_id).is_some_and(|call| call.is_open);
                if !is_open {
                    return Vec::new();
                }
                let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
                vec![changed(&moved.tool_use_id, fields)]
            }
            Event::ToolProgress(progress) => {
                let update = &progress.update;
                if let Some(terminal) = update.terminal_id.as_ref().filter(|id| self.terminals.contains(*id))
                {
                    return self.in_terminal(&progress.tool_use_id, terminal);
                }
                match update.full_output.as_ref().or(update.text.as_ref()) {
                    Some(output) => self.progress(&progress.tool_use_id, output),
                    None => Vec::new(),
                }
            }
            Event::ToolResult(outcome) => self.outcome(outcome),
            Event::Error(error) => {
                self.notice(NoticeSeverity::Error, "The agent met an error", &error.message)
            }
            Event::Retry(retry) => {
                let why = retry.message.as_deref().unwrap_or(retry.reason.as_str());
                let delay = retry
                    .delay
                    .map_or_else(String::new, |delay| format!(" (in {} s)", delay.as_secs().max(1)));
                self.notice(NoticeSeverity::Warning, "Retrying the model request", &format!("{why}{delay}"))
            }
            Event::State(DroidWorkingState::CompactingConversation) => {
                self.compaction(CompactionStatus::InProgress, None)
            }
            Event::State(_) => self.compaction(CompactionStatus::Completed, None),
            Event::Other(notification)
                if matches!(**notification, SessionNotification::SessionCompacted(_)) =>
            {
                self.compaction(CompactionStatus::Completed, None)
            }
            Event::McpStatus(status) => self.servers(&status.servers),
            Event::McpAuthRequired(wanted) => {
                let title = format!("The MCP server {} wants a login", wanted.server_name);
                self.notice(NoticeSeverity::Warning, &title, &wanted.auth_url)
            }
            Event::HandlerFailed { reason } => {
                self.notice(NoticeSeverity::Warning, "A question was answered with no", reason)
            }
            _ => Vec::new(),
        }
    }

    /// Translates a stored conversation.
    pub(crate) fn history<'a>(
        &mut self,
        messages: impl IntoIterator<Item = &'a Message>,
    ) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        for message in messages {
            updates.extend(self.outcomes_in(message));
            if !message.is_for_people() {
                continue;
            }
            match message.role {
                MessageRole::Assistant => {
                    updates.extend(self.assistant(message));
                    for block in &message.content {
                        if let WireBlock::ToolUse(call) = block {
                            updates.extend(self.call(&call.id, &call.name, &call.input));
                        }
                    }
                }
                MessageRole::User => {
                    let own = content::shown(message).into_iter();
                    updates.extend(own.map(|block| {
                        let chunk = ContentChunk::new(block).message_id(MessageId::new(&*message.id));
                        SessionUpdate::UserMessageChunk(chunk)
                    }));
                }
                _ => {}
            }
        }
        updates.extend(self.close());
        updates
    }

    /// Announces the calls of a permission request with everything known about them, and returns the call to show with it.
    pub(crate) fn permission_request(
        &mut self,
        tool_uses: &[PermissionToolUse],
    ) -> (Vec<SessionUpdate>, Option<ToolCallUpdate>) {
        let mut updates = Vec::new();
        for tool_use in tool_uses {
            let call = &tool_use.tool_use;
            updates.extend(self.call(&call.id, &call.name, &call.input));
            let more = permission::content(tool_use, &self.cwd);
            if let Some(call) = self.calls.get_mut(&tool_use.tool_use.id)
                && !more.is_empty()
            {
                call.shown.content.clone_from(&more);
                call.requested = Some(more);
            }
        }
        let Some(first) = tool_uses.first() else { return (updates, None) };
        let id = &first.tool_use.id;
        let fields = match self.calls.get(id) {
            Some(call) => {
                // one decision covers all of them
                let others = tool_uses.iter().skip(1).filter_map(|other| self.calls.get(&other.tool_use.id));
                let others = others.flat_map(|other| {
                    std::iter::once(words(other.shown.title.clone())).chain(other.shown.content.clone())
                });
                call.fields().content(call.shown.content.iter().cloned().chain(others).collect::<Vec<_>>())
            }
            // a plan is not a call for the editor
            None => ToolCallUpdateFields::new().title(first.tool_use.name.clone()),
        };
        let update = ToolCallUpdate::new(id.clone(), fields.status(ToolCallStatus::Pending));
        (updates, Some(update))
    }

    /// Records that the editor opened a terminal; the progress of a call will name it.
    pub(crate) fn opened_terminal(&mut self, id: String) {
        self.terminals.insert(id);
    }

    /// Shows one of the editor's terminals in a call.
    fn in_terminal(&mut self, id: &str, terminal: &str) -> Vec<SessionUpdate> {
        let is_new = |call: &&mut Call| call.is_open && !call.has_terminal;
        let Some(call) = self.calls.get_mut(id).filter(is_new) else { return Vec::new() };
        call.has_terminal = true;
        call.shown.content = vec![ToolCallContent::Terminal(Terminal::new(terminal.to_owned()))];
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        vec![changed(id, fields.content(call.shown.content.clone()))]
    }

    /// Replaces the plan that a call shows.
    pub(crate) fn edited_plan(&mut self, id: &str, plan: &str) -> Vec<SessionUpdate> {
        let Some(call) = self.calls.get_mut(id) else { return Vec::new() };
        call.shown.content = vec![words(plan)];
        call.requested = Some(call.shown.content.clone());
        vec![changed(id, ToolCallUpdateFields::new().content(call.shown.content.clone()))]
    }

    /// Returns the id of a call of this tool that has no result yet.
    pub(crate) fn open_call(&self, name: &str) -> Option<&str> {
        let mut open = self.calls.iter().filter(|(_, call)| call.is_open && call.name == name);
        open.next().map(|(id, _)| id.as_str())
    }

    /// Ends the turn: calls without a result have failed.
    pub(crate) fn close(&mut self) -> Vec<SessionUpdate> {
        self.streamed.clear();
        self.terminals.clear();
        let mut open: Vec<_> =
            self.calls.drain().filter(|(_, call)| call.is_open).map(|(id, _)| id).collect();
        open.sort();
        let failed = || ToolCallUpdateFields::new().status(ToolCallStatus::Failed);
        let closed = open.iter().map(|id| changed(id, failed()));
        closed.chain(self.compaction.moves(CompactionStatus::Cancelled, None)).collect()
    }

    /// Sends the rest of a message that was not streamed.
    fn assistant(&mut self, message: &Message) -> Vec<SessionUpdate> {
        let streamed = self.streamed.remove(&message.id).unwrap_or_default();
        let thoughts = message.content.iter().filter_map(|block| match block {
            WireBlock::Thinking(block) => Some(block.thinking.as_str()),
            _ => None,
        });
        let thoughts: String = thoughts.collect();
        let rest_of = |whole: &str, sent: &str| {
            if sent.is_empty() {
                whole.to_owned()
            } else {
                whole.strip_prefix(sent).unwrap_or_default().to_owned()
            }
        };
        let thoughts = rest_of(&thoughts, &streamed.thought);
        let words = rest_of(&message.text(), &streamed.text);
        // kept in case the message comes again
        self.streamed.insert(
            message.id.clone(),
            StreamedText { text: streamed.text + &words, thought: streamed.thought + &thoughts },
        );
        let thoughts = (!thoughts.is_empty()).then(|| thought(&message.id, &thoughts));
        let words = (!words.is_empty()).then(|| text(&message.id, &words));
        thoughts.into_iter().chain(words).collect()
    }

    fn call(&mut self, id: &str, name: &str, input: &Json) -> Vec<SessionUpdate> {
        let input = input.to_value().unwrap_or(Value::Null);
        if name == plan::TOOL {
            let plan = plan::plan(&input).filter(|plan| self.plan.as_ref() != Some(plan));
            self.plan = plan.clone().or_else(|| self.plan.take());
            return plan.map(SessionUpdate::Plan).into_iter().collect();
        }
        match self.calls.get_mut(id) {
            Some(known) if known.input == input || !known.is_open => Vec::new(),
            // the start of a call whose permission request had all of it
            Some(_) if is_empty(&input) => Vec::new(),
            Some(known) => {
                known.shown = show(name, &input, &self.cwd);
                if let Some(requested) = &known.requested {
                    known.shown.content.clone_from(requested);
                }
                known.input = input;
                vec![changed(id, known.fields())]
            }
            None => {
                let shown = show(name, &input, &self.cwd);
                let (name, output) = (name.to_owned(), String::new());
                let mut call =
                    Call { name, input, shown, requested: None, output, has_terminal: false, is_open: true };
                let mut update = ToolCall::new(id.to_owned(), call.shown.title.clone())
                    .name(call.name.clone())
                    .kind(call.shown.kind)
                    .status(ToolCallStatus::Pending)
                    .locations(call.shown.locations.clone())
                    .raw_input(call.input.clone());
                if self.feeds_terminal(&call.name) {
                    call.shown.content = vec![ToolCallContent::Terminal(Terminal::new(id.to_owned()))];
                    update = update.meta(meta("terminal_info", json!({"terminal_id": id})));
                }
                let update = update.content(call.shown.content.clone());
                self.calls.insert(id.to_owned(), call);
                vec![SessionUpdate::ToolCall(update)]
            }
        }
    }

    fn progress(&mut self, id: &str, output: &str) -> Vec<SessionUpdate> {
        let feeds = self.calls.get(id).is_some_and(|call| self.feeds_terminal(&call.name));
        let Some(call) = self.calls.get_mut(id).filter(|call| call.is_open) else { return Vec::new() };
        let output = end_of(output);
        if output.trim().is_empty() || output == call.output {
            return Vec::new();
        }
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        let update = if feeds {
            let fresh = output.strip_prefix(call.output.as_str()).unwrap_or(output);
            let data = json!({"terminal_id": id, "data": fresh});
            ToolCallUpdate::new(id.to_owned(), fields).meta(meta("terminal_output", data))
        } else {
            let shown = call.shown.content.iter().cloned().chain([fenced(output)]);
            ToolCallUpdate::new(id.to_owned(), fields.content(shown.collect::<Vec<_>>()))
        };
        output.clone_into(&mut call.output);
        vec![SessionUpdate::ToolCallUpdate(update)]
    }

    fn outcome(&mut self, outcome: &ToolOutcome) -> Vec<SessionUpdate> {
        self.result(&outcome.tool_use_id, &outcome.content, outcome.is_error)
    }

    fn outcomes_in(&mut self, message: &Message) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        for block in &message.content {
            if let WireBlock::ToolResult(result) = block {
                let is_error = result.is_error == Some(true);
                updates.extend(self.result(&result.tool_use_id, &result.content, is_error));
            }
        }
        updates
    }

    fn result(&mut self, id: &str, content: &ToolResultContent, is_error: bool) -> Vec<SessionUpdate> {
        let feeds = self.calls.get(id).is_some_and(|call| self.feeds_terminal(&call.name));
        let Some(call) = self.calls.get_mut(id).filter(|call| call.is_open) else { return Vec::new() };
        call.is_open = false;
        let text = result_text(content);
        let exit_code = (call.name == EXECUTE).then(|| exit_code(&text)).flatten();
        let has_failed = is_error || exit_code.is_some_and(|code| code != 0);
        let status = if has_failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let fields = ToolCallUpdateFields::new()
            .status(status)
            .raw_output(serde_json::to_value(content).unwrap_or(Value::Null));
        if feeds {
            let fresh = text.strip_prefix(call.output.as_str()).unwrap_or(&text);
            let code = exit_code.unwrap_or(i64::from(has_failed));
            let mut terminal = meta("terminal_output", json!({"terminal_id": id, "data": fresh}));
            terminal
                .extend(meta("terminal_exit", json!({"terminal_id": id, "exit_code": code, "signal": null})));
            return vec![SessionUpdate::ToolCallUpdate(
                ToolCallUpdate::new(id.to_owned(), fields).meta(terminal),
            )];
        }
        let mut shown = call.shown.content.clone();
        // a completed change is shown by its diff; the tool's text about it is for the model
        let is_shown =
            !has_failed && (call.shown.kind == ToolKind::Edit || call.shown.kind == ToolKind::SwitchMode);
        if !call.has_terminal && (!is_shown || shown.is_empty()) {
            shown.extend(result_content(content, call.name == EXECUTE));
        }
        vec![changed(id, fields.content(shown))]
    }

    fn feeds_terminal(&self, name: &str) -> bool {
        self.features.terminal_output && name == EXECUTE
    }

    fn notice(&self, severity: NoticeSeverity, title: &str, text: &str) -> Vec<SessionUpdate> {
        if !self.features.notices {
            return Vec::new();
        }
        vec![SessionUpdate::Notice(Notice::new(severity, title).description(text.to_owned()))]
    }
}

impl Call {
    fn fields(&self) -> ToolCallUpdateFields {
        ToolCallUpdateFields::new()
            .title(self.shown.title.clone())
            .name(self.name.clone())
            .kind(self.shown.kind)
            .content(self.shown.content.clone())
            .locations(self.shown.locations.clone())
            .raw_input(self.input.clone())
    }
}

fn text(message_id: &str, piece: &str) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(chunk(message_id, piece))
}

fn thought(message_id: &str, piece: &str) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(chunk(message_id, piece))
}

fn chunk(message_id: &str, piece: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(piece))).message_id(MessageId::new(message_id))
}

fn changed(id: &str, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.to_owned(), fields))
}

fn meta(key: &str, value: Value) -> Meta {
    [(key.to_owned(), value)].into_iter().collect()
}

/// Returns whether an input has no fields.
fn is_empty(input: &Value) -> bool {
    input.as_object().is_none_or(serde_json::Map::is_empty)
}

/// Returns the end of an output, cut between characters.
fn end_of(output: &str) -> &str {
    let start = output.len().saturating_sub(MAX_SHOWN_OUTPUT);
    &output[output.ceil_char_boundary(start)..]
}

fn result_text(content: &ToolResultContent) -> String {
    match content {
        ToolResultContent::Text(text) => text.clone(),
        ToolResultContent::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                WireBlock::Text(block) => Some(block.text.as_str()),
                _ => None,
            });
            texts.collect()
        }
        ToolResultContent::Other(json) => json.text().to_owned(),
        _ => String::new(),
    }
}

fn result_content(content: &ToolResultContent, is_command: bool) -> Vec<ToolCallContent> {
    let images = match content {
        ToolResultContent::Blocks(blocks) => blocks.as_slice(),
        _ => &[],
    };
    let images = images.iter().filter_map(|block| match block {
        WireBlock::Image(image) => {
            let source = &image.source;
            let image =
                agent_client_protocol::v1::schema::ImageContent::new(&*source.data, &*source.media_type);
            Some(ToolCallContent::Content(agent_client_protocol::v1::schema::Content::new(
                ContentBlock::Image(image),
            )))
        }
        _ => None,
    });
    let text = result_text(content);
    let text =
        (!text.trim().is_empty()).then(|| if is_command { fenced(end_of(&text)) } else { words(text) });
    text.into_iter().chain(images).collect()
}

/// Returns the exit code in the last line of a command's output.
fn exit_code(output: &str) -> Option<i64> {
    let (_, rest) = output.rsplit_once("[Process exited with code ")?;
    rest.split_once(']')?.0.trim().parse().ok()
}

#[cfg(test)]
mod tests;
