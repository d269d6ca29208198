//! The Claude Code CLI as an agent: its events in the words of the front end's protocol.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use musher_claude::{
    Call, Error, Event as CliEvent, Extra, HookRequest, Json, Message, PermissionRequest, Process, RequestId,
    System, UserMessage, View,
};
use musher_rpc::Closed;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Agent, Answer, Event, Failure, Gone, Greeting, QuestionKind, exit_details};
use crate::options::Prepared;
use crate::wire::request::Said;

/// How long an idle CLI may take to end by itself; with the signals after it, all is over within five seconds.
const GRACE: Duration = Duration::from_secs(1);
/// How long one that gave up may take to exit.
const FAREWELL: Duration = Duration::from_secs(3);
/// How much it may say before it is ready.
const EARLY: usize = 4096;

/// The fields of a permission request that the front end sees, by their name there.
const TOLD: [(&str, &str); 12] = [
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
    hello: RequestId,
    patience: Duration,
    /// What was said before it was ready.
    early: VecDeque<CliEvent>,
    /// A message whose news were told first.
    held_back: Option<Message>,
}

impl Claude {
    /// Starts the CLI and says hello.
    pub(crate) async fn start(
        program: &Path,
        cwd: &Path,
        prepared: Prepared,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let Prepared { options, sdk_session_id: session_id } = prepared;
        let started = Process::start(program, cwd, &options, |launch| launch.grace(GRACE)).await;
        let mut process = started.map_err(|error| spawn_failure(&error))?;
        let hello =
            process.call(&Call::Initialize(options.initialize())).map_err(|error| spawn_failure(&error))?;
        Ok(Self { process, session_id, hello, patience, early: VecDeque::new(), held_back: None })
    }

    async fn listen(&mut self) -> Result<Greeting, Failure> {
        loop {
            match self.process.next().await {
                Ok(CliEvent::Answered { id, outcome }) if id == self.hello => {
                    return match outcome {
                        Ok(answer) => Ok(greeting(&answer, self.session_id.clone())),
                        Err(refusal) => Err(self.gave_up(refusal.message).await),
                    };
                }
                Ok(CliEvent::Message(message)) if message.is_result() => {
                    let said = match message.view() {
                        View::Result(result) if !result.errors.is_empty() => result.errors.join("; "),
                        _ => "the agent ended the session before it began".to_owned(),
                    };
                    return Err(self.gave_up(said).await);
                }
                Ok(event) => {
                    self.early.push_back(event);
                    if self.early.len() > EARLY {
                        return Err(self
                            .gave_up("the agent says too much and is not ready".to_owned())
                            .await);
                    }
                }
                Err(closed) => return Err(ended("the agent ended before it was ready", &closed)),
            }
        }
    }

    /// It will not be ready: learns how it ends, if that is soon.
    async fn gave_up(&mut self, said: String) -> Failure {
        let end = async {
            loop {
                if let Err(closed) = self.process.next().await {
                    return closed;
                }
            }
        };
        match timeout(FAREWELL, end).await {
            Ok(closed) => ended(&said, &closed),
            Err(_elapsed) => Failure { message: said, details: json!({"phase": "initialize"}) },
        }
    }

    fn translate(&mut self, event: CliEvent) -> Event<RequestId> {
        match event {
            CliEvent::Message(message) => {
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
                // servers of this kind live in the front end's process, and the protocol has no message for them
                self.process.refuse(&request.id, "there is no such server").ok();
                Event::Note(format!("the agent asks for the unknown MCP server `{}`", request.server_name))
            }
            CliEvent::Unsupported { subtype, .. } => {
                Event::Note(format!("refused a request of the agent: `{subtype}`"))
            }
            CliEvent::Cancelled { id } => Event::Cancelled { key: id },
            CliEvent::Noise(text) => Event::Note(format!("the agent printed: {text}")),
            CliEvent::Malformed(reason) => {
                Event::Trouble(format!("the agent wrote a line that cannot be read: {reason}"))
            }
            _ => Event::Nothing,
        }
    }
}

impl Agent for Claude {
    type Key = RequestId;

    async fn greet(&mut self) -> Result<Greeting, Failure> {
        let patience = self.patience;
        match timeout(patience, self.listen()).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => Err(Failure {
                message: format!("the agent was not ready within {patience:?}"),
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

    fn user(&mut self, said: Said) -> Result<(), String> {
        let message = match said {
            Said::Text(text) => UserMessage::text(text),
            Said::Blocks(blocks) => UserMessage::blocks(blocks),
        };
        self.process.user(&message).map_err(|error| error.to_string())
    }

    fn call(&mut self, call: &Call) -> Result<RequestId, String> {
        self.process.call(call).map_err(|error| error.to_string())
    }

    fn forget(&mut self, key: &RequestId) {
        self.process.forget(key);
    }

    fn answer(&mut self, key: &RequestId, answer: &Answer) -> Result<(), String> {
        let answered = match answer {
            Answer::Permission(permission) => self.process.permit(key, permission),
            Answer::Hook(output) => self.process.hook_output(key, output),
        };
        answered.map_err(|error| error.to_string())
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
    for (name, theirs) in TOLD {
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
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    Failure { message, details: json!({"phase": "spawn"}) }
}

fn ended(said: &str, closed: &Closed) -> Failure {
    let mut details = closed.exit().map(exit_details).unwrap_or_default();
    details.insert("phase".to_owned(), "initialize".into());
    Failure { message: said.to_owned(), details: details.into() }
}
