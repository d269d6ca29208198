//! The Claude Code CLI as an agent: converts its events to the bridge protocol.

mod log;

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use musher_claude::{
    Call, Error, Event as CliEvent, Extra, HookRequest, Json, Message, PermissionRequest, Process, RequestId,
    System, UserMessage, View,
};
use musher_rpc::{Closed, with_causes};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Agent, Answer, Event, Failure, Gone, Greeting, QuestionKind, exit_details};
use crate::options::Prepared;
use crate::wire::request::PromptContent;
use log::MessageLog;

/// How long an idle CLI may take to end; including the signals after it, the end takes at most five seconds.
const GRACE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a CLI that failed to start may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum number of events before the CLI is ready.
const MAX_EARLY_EVENTS: usize = 4096;

/// The fields of a permission request in the bridge protocol, with their names in the CLI's request.
const PERMISSION_FIELDS: [(&str, &str); 12] = [
    ("tool_name", "tool_name"),
    ("tool_input", "input"),
    ("suggestions", "permission_suggestions"),
    ("tool_use_id", "tool_use_id"),
    ("blocked_path", "blocked_path"),
    ("decision_reason", "decision_reason"),
    ("decision_reason_type", "decision_reason_type"),
    ("agent_id", "agent_id"),
    ("title", "title"),
    ("display_name", "display_name"),
    ("description", "description"),
    ("requires_user_interaction", "requires_user_interaction"),
];

pub(crate) struct Claude {
    process: Process,
    session_id: String,
    initialize: RequestId,
    agent_timeout: Duration,
    /// The events that arrived before the CLI was ready.
    early: VecDeque<CliEvent>,
    /// A message whose change of commands was returned first.
    held_back: Option<Message>,
    log: MessageLog,
}

impl Claude {
    /// Starts the CLI and sends the first request.
    pub(crate) async fn start(
        program: &Path,
        cwd: &Path,
        prepared: Prepared,
        agent_timeout: Duration,
    ) -> Result<Self, Failure> {
        let Prepared { options, sdk_session_id: session_id } = prepared;
        let started = Process::start(program, cwd, &options, |launch| launch.grace(GRACE_TIMEOUT)).await;
        let mut process = started.map_err(|error| spawn_failure(&error))?;
        let initialize =
            process.call(&Call::Initialize(options.initialize())).map_err(|error| spawn_failure(&error))?;
        Ok(Self {
            process,
            session_id,
            initialize,
            agent_timeout,
            early: VecDeque::new(),
            held_back: None,
            log: MessageLog::default(),
        })
    }

    async fn listen(&mut self) -> Result<Greeting, Failure> {
        loop {
            match self.process.next().await {
                Ok(CliEvent::Answered { id, outcome }) if id == self.initialize => {
                    return match outcome {
                        Ok(answer) => Ok(greeting(&answer, self.session_id.clone())),
                        Err(refusal) => Err(self.failed_to_start(refusal.message).await),
                    };
                }
                Ok(CliEvent::Message(message)) if message.is_result() => {
                    let reason = match message.view() {
                        View::Result(result) if !result.errors.is_empty() => result.errors.join("; "),
                        _ => "the agent ended the session before it started".to_owned(),
                    };
                    return Err(self.failed_to_start(reason).await);
                }
                Ok(event) => {
                    self.early.push_back(event);
                    if self.early.len() > MAX_EARLY_EVENTS {
                        return Err(self
                            .failed_to_start(
                                "the agent sent too many messages before it was ready".to_owned(),
                            )
                            .await);
                    }
                }
                Err(closed) => return Err(ended("the agent ended before it was ready", &closed)),
            }
        }
    }

    /// Describes a failed start: waits briefly for the exit of the program.
    async fn failed_to_start(&mut self, reason: String) -> Failure {
        let end = async {
            loop {
                if let Err(closed) = self.process.next().await {
                    return closed;
                }
            }
        };
        match timeout(EXIT_TIMEOUT, end).await {
            Ok(closed) => ended(&reason, &closed),
            Err(_elapsed) => Failure { message: reason, details: json!({"phase": "initialize"}) },
        }
    }

    fn translate(&mut self, event: CliEvent) -> Event<RequestId> {
        match event {
            CliEvent::Message(message) => {
                self.log.message(&message);
                if message.kind() == "system"
                    && message.subtype() == Some("commands_changed")
                    && let View::System(System::CommandsChanged(commands)) = message.view()
                {
                    self.held_back = Some(message);
                    return Event::Commands(Json::new(&commands).unwrap_or_else(|_| Json::null()));
                }
                Event::Message(message.into_text())
            }
            CliEvent::Answered { id, outcome } => {
                Event::Answered { key: id, outcome: outcome.map_err(|refusal| refusal.message) }
            }
            CliEvent::Permission(request) => Event::Question {
                payload: permission_payload(&request),
                key: request.id,
                kind: QuestionKind::Permission,
            },
            CliEvent::Hook(request) => {
                Event::Question { payload: hook_payload(&request), key: request.id, kind: QuestionKind::Hook }
            }
            CliEvent::Mcp(request) => {
                // such servers live in the front end's process, and the protocol has no message for them
                self.process.refuse(&request.id, "unknown MCP server").ok();
                Event::Note(format!("the agent requested the unknown MCP server `{}`", request.server_name))
            }
            CliEvent::Unsupported { subtype, .. } => {
                Event::Note(format!("rejected an unknown request of the agent: `{subtype}`"))
            }
            CliEvent::Cancelled { id } => Event::Cancelled { key: id },
            CliEvent::Noise(text) => Event::Note(format!("the agent printed: {text}")),
            CliEvent::Malformed(reason) => {
                Event::Trouble(format!("cannot read a line of the agent: {reason}"))
            }
            _ => Event::Nothing,
        }
    }
}

impl Agent for Claude {
    type Key = RequestId;

    async fn greet(&mut self) -> Result<Greeting, Failure> {
        let agent_timeout = self.agent_timeout;
        match timeout(agent_timeout, self.listen()).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(Failure {
                message: format!("timed out after {agent_timeout:?} waiting for the agent to start"),
                details: json!({"phase": "initialize"}),
            }),
        }
    }

    async fn next(&mut self) -> Result<Event<RequestId>, Gone> {
        if let Some(event) = self.more() {
            return Ok(event);
        }
        let event = self.process.next().await?;
        Ok(self.translate(event))
    }

    fn more(&mut self) -> Option<Event<RequestId>> {
        if let Some(message) = self.held_back.take() {
            return Some(Event::Message(message.into_text()));
        }
        let event = self.early.pop_front().or_else(|| self.process.try_next())?;
        Some(self.translate(event))
    }

    fn user(&mut self, content: PromptContent) -> Result<(), String> {
        let message = match content {
            PromptContent::Text(text) => UserMessage::text(text),
            PromptContent::Blocks(blocks) => UserMessage::blocks(blocks),
        };
        self.process.user(&message).map_err(|error| with_causes(&error).to_string())
    }

    fn call(&mut self, call: &Call) -> Result<RequestId, String> {
        self.process.call(call).map_err(|error| with_causes(&error).to_string())
    }

    fn forget(&mut self, key: &RequestId) {
        self.process.forget(key);
    }

    fn answer(&mut self, key: &RequestId, answer: &Answer) -> Result<(), String> {
        let answered = match answer {
            Answer::Permission(permission) => self.process.permit(key, permission),
            Answer::Hook(output) => self.process.hook_output(key, output),
        };
        answered.map_err(|error| with_causes(&error).to_string())
    }

    async fn end(self) {
        self.process.end().await;
    }
}

fn greeting(answer: &Json, session_id: String) -> Greeting {
    let fields: Extra = answer.to().unwrap_or_default();
    let field = |name, otherwise: Value| fields.get(name).cloned().unwrap_or_else(|| otherwise.into());
    Greeting {
        session_id,
        models: field("models", json!([])),
        commands: field("commands", json!([])),
        account: Some(field("account", json!({}))),
    }
}

fn permission_payload(request: &PermissionRequest) -> Extra {
    let fields: Extra = request.raw.to().unwrap_or_default();
    let mut payload = Extra::default();
    payload.insert("callback_type", json!("can_use_tool"));
    for (name, theirs) in PERMISSION_FIELDS {
        if let Some(value) = fields.get(theirs).filter(|value| !value.is_null()) {
            payload.insert(name, value.clone());
        }
    }
    payload
}

fn hook_payload(request: &HookRequest) -> Extra {
    let mut payload = Extra::default();
    payload.insert("callback_type", json!("hook"));
    payload.insert("hook_event", json!(request.event));
    payload.insert("hook_input", request.input.clone());
    if let Some(tool_use_id) = &request.tool_use_id {
        payload.insert("tool_use_id", json!(tool_use_id));
    }
    payload
}

fn spawn_failure(error: &Error) -> Failure {
    let mut message = with_causes(error).to_string();
    if let Error::Spawn(musher_rpc::Error::Spawn { program, source, .. }) = error
        && source.kind() == std::io::ErrorKind::NotFound
    {
        let program = program.display();
        message = format!(
            "cannot find the program `{program}`: install Claude Code, or set MUSHER_CLAUDE to its path"
        );
    }
    Failure { message, details: json!({"phase": "spawn"}) }
}

fn ended(reason: &str, closed: &Closed) -> Failure {
    let mut details = closed.exit().map(exit_details).unwrap_or_default();
    details.insert("phase".to_owned(), "initialize".into());
    Failure { message: reason.to_owned(), details: details.into() }
}
