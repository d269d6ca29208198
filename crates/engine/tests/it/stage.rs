//! An agent with a scripted model and an empty folder, and its events as short lines of text.

use std::sync::Arc;
use std::time::Duration;

use musher_engine::{
    AgentHandle, Command, CommandId, Content, Effort, Environment, Event, ModelView, NewSession, Prompt,
    Reply, Role, SessionEvent, SubagentStep, ToolPhase, UserRequest, Visibility, start,
};
use musher_model::RetryPolicy;
use musher_tools::{Part, Registry};
use tempfile::TempDir;
use tokio::sync::mpsc::Receiver;

use crate::scripted::{self, Scripted};

/// How long a test waits for an event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(20);

/// The model's id.
pub(crate) const MODEL: &str = "scripted";

/// An agent to play with.
pub(crate) struct Stage {
    pub(crate) agent: AgentHandle,
    pub(crate) events: Receiver<SessionEvent>,
    pub(crate) model: Arc<Scripted>,
    pub(crate) home: Arc<TempDir>,
    pub(crate) work: Arc<TempDir>,
    /// The id of the session that was last opened.
    pub(crate) session: String,
    commands: usize,
}

impl Stage {
    /// An agent with a session.
    pub(crate) async fn open(replies: impl IntoIterator<Item = scripted::Reply>) -> Self {
        Self::open_with(replies, NewSession::default()).await
    }

    /// An agent with a session that is begun so.
    pub(crate) async fn open_with(
        replies: impl IntoIterator<Item = scripted::Reply>,
        new: NewSession,
    ) -> Self {
        let mut stage = Self::empty(replies);
        stage.create(new).await;
        stage
    }

    /// An agent without a session.
    pub(crate) fn empty(replies: impl IntoIterator<Item = scripted::Reply>) -> Self {
        let folder = || Arc::new(tempfile::tempdir().unwrap());
        Self::at(folder(), folder(), replies)
    }

    /// Another agent in these folders.
    pub(crate) fn at(
        home: Arc<TempDir>,
        work: Arc<TempDir>,
        replies: impl IntoIterator<Item = scripted::Reply>,
    ) -> Self {
        Self::with_tools(home, work, replies, Registry::builtin())
    }

    /// Another agent in these folders, with these tools.
    pub(crate) fn with_tools(
        home: Arc<TempDir>,
        work: Arc<TempDir>,
        replies: impl IntoIterator<Item = scripted::Reply>,
        tools: Registry,
    ) -> Self {
        let model = Scripted::new(replies);
        let provider = Arc::clone(&model) as Arc<dyn musher_model::Provider>;
        Self { model, ..Self::with_models(home, work, [(MODEL, provider)], tools) }
    }

    /// Another agent in these folders, with these models. The first is the default.
    pub(crate) fn with_models(
        home: Arc<TempDir>,
        work: Arc<TempDir>,
        models: impl IntoIterator<Item = (&'static str, Arc<dyn musher_model::Provider>)>,
        tools: Registry,
    ) -> Self {
        Self::with_setup(home, work, models, tools, |environment| environment)
    }

    /// Another agent whose environment is changed before it starts.
    pub(crate) fn with_setup(
        home: Arc<TempDir>,
        work: Arc<TempDir>,
        models: impl IntoIterator<Item = (&'static str, Arc<dyn musher_model::Provider>)>,
        tools: Registry,
        setup: impl FnOnce(Environment) -> Environment,
    ) -> Self {
        let view = |id: &str| ModelView {
            id: id.to_owned(),
            provider: "test".to_owned(),
            display_name: "Scripted".to_owned(),
            efforts: vec![Effort::Off],
            default_effort: Effort::Off,
            text_only: false,
        };
        let model = Scripted::new([]);
        let retries = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
        let variables = [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.path().into())];
        let environment = Environment::new(home.path()).with_variables(variables).with_tools(tools);
        let environment = models
            .into_iter()
            .fold(environment, |environment, (id, model)| environment.with_provider(view(id), model));
        let environment = environment.with_retries(retries);
        let (agent, events) = start(Arc::new(setup(environment)));
        Self { agent, events, model, home, work, session: String::new(), commands: 0 }
    }

    pub(crate) async fn create(&mut self, new: NewSession) {
        let cwd = self.work.path().to_owned();
        let command_id = self.submit(Command::Create(Box::new(NewSession { cwd, ..new })));
        let Reply::Created(created) = self.reply(&command_id).await else { panic!("not created") };
        created.id.as_str().clone_into(&mut self.session);
    }

    /// Asks for something. Ids are `1`, `2` ...
    pub(crate) fn submit(&mut self, command: Command) -> CommandId {
        self.commands += 1;
        let command_id = CommandId(self.commands.to_string().into());
        self.agent.submit(command_id.clone(), command).unwrap();
        command_id
    }

    pub(crate) fn say(&mut self, text: &str) -> CommandId {
        self.submit(Command::Prompt(Box::new(Prompt { text: text.to_owned(), ..Prompt::default() })))
    }

    pub(crate) async fn next(&mut self) -> SessionEvent {
        let event = tokio::time::timeout(EVENT_TIMEOUT, self.events.recv()).await;
        event.expect("an event in time").expect("the agent is there")
    }

    /// The outcome of a command. What comes before is left out.
    pub(crate) async fn outcome(&mut self, command_id: &CommandId) -> Result<Reply, musher_engine::Error> {
        loop {
            match self.next().await.event {
                Event::Reply { command_id: of, outcome } if of == *command_id => return outcome,
                _ => {}
            }
        }
    }

    pub(crate) async fn reply(&mut self, command_id: &CommandId) -> Reply {
        self.outcome(command_id).await.unwrap()
    }

    /// Everything that happens until something, that included.
    pub(crate) async fn until(&mut self, is_last: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            let event = self.next().await.event;
            let is_over = is_last(&event);
            all.push(event);
            if is_over {
                return all;
            }
        }
    }

    /// Everything until the agent is idle, as text.
    pub(crate) async fn until_idle(&mut self) -> Vec<String> {
        lines(&self.until(is_idle).await)
    }

    /// Everything until the next permission request or question, as text, and its id.
    pub(crate) async fn until_question(&mut self) -> (Vec<String>, String) {
        let all = self.until(is_question).await;
        let Some(
            Event::UserRequest(UserRequest::Permission { id, .. } | UserRequest::Questions { id, .. })
            | Event::SubagentRequest {
                request: UserRequest::Permission { id, .. } | UserRequest::Questions { id, .. },
                ..
            },
        ) = all.last()
        else {
            panic!("no question");
        };
        (lines(&all), id.clone())
    }

    /// Waits until the events end.
    pub(crate) async fn until_end(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(event) =
            tokio::time::timeout(EVENT_TIMEOUT, self.events.recv()).await.expect("the end in time")
        {
            all.push(event.event);
        }
        lines(&all)
    }
}

pub(crate) fn is_question(event: &Event) -> bool {
    matches!(event, Event::UserRequest(_) | Event::SubagentRequest { .. })
}

pub(crate) fn is_idle(event: &Event) -> bool {
    matches!(event, Event::State(musher_engine::WorkingState::Idle))
}

pub(crate) fn lines(all: &[Event]) -> Vec<String> {
    all.iter().map(line).collect()
}

/// An event in one line, without ids.
pub(crate) fn line(event: &Event) -> String {
    match event {
        Event::Reply { command_id, outcome: Ok(_) } => format!("reply {}", command_id.0),
        Event::Reply { command_id, outcome: Err(error) } => format!("refused {} {error}", command_id.0),
        Event::State(state) => format!("state {state:?}"),
        Event::Message { message, command_id } => {
            let command_id =
                command_id.as_ref().map(|command_id| format!(" for {}", command_id.0)).unwrap_or_default();
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
                Role::System => "system",
            };
            match message.visibility {
                Visibility::LlmOnly if message.role == Role::User => format!("hidden {role}{command_id}"),
                Visibility::LlmOnly => format!("hidden {role}{command_id}: {}", content(&message.content)),
                Visibility::UserOnly => format!("note {role}{command_id}: {}", content(&message.content)),
                Visibility::Both => format!("message {role}{command_id}: {}", content(&message.content)),
            }
        }
        Event::TextDelta { block, text, .. } => format!("text {block} {text:?}"),
        Event::TextComplete { block, .. } => format!("text {block} complete"),
        Event::ThinkingDelta { block, text, .. } => format!("thinking {block} {text:?}"),
        Event::ThinkingComplete { block, .. } => format!("thinking {block} complete"),
        Event::Retracted { .. } => "retracted".to_owned(),
        Event::ToolCall { id, name, input } => {
            format!("call {id} {name} {}", if input.is_empty() { "begins" } else { "complete" })
        }
        Event::ToolPhase { id, phase, .. } => {
            format!("{id} {}", if *phase == ToolPhase::Queued { "queued" } else { "executing" })
        }
        Event::ToolProgress { id, text, .. } => format!("{id} says {text:?}"),
        Event::ToolResult { id, content, is_error, .. } => {
            format!("{id} {}: {}", if *is_error { "failed" } else { "done" }, parts(content))
        }
        Event::UserRequest(UserRequest::Permission { calls, choices, .. })
        | Event::SubagentRequest { request: UserRequest::Permission { calls, choices, .. }, .. } => {
            let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            format!("may {} run? {choices:?}", ids.join(", "))
        }
        Event::UserRequest(UserRequest::Questions { questions, .. }) => format!("asks {}", questions.len()),
        Event::PermissionResolved { tool_use_ids, choice, .. } => {
            format!("resolved {} {choice:?}", tool_use_ids.join(", "))
        }
        Event::RequestWithdrawn { .. } => "withdrawn".to_owned(),
        Event::TurnCompleted(completed) => format!("turn {:?}", completed.reason),
        Event::Usage { total, .. } => format!("used {}", total.input),
        Event::Settings { settings, command_id } => {
            let command_id =
                command_id.as_ref().map(|command_id| format!(" for {}", command_id.0)).unwrap_or_default();
            format!("settings{command_id} {:?} {:?}", settings.mode, settings.autonomy)
        }
        Event::Title { title, cause, .. } => format!("title {title:?} {cause:?}"),
        Event::StructuredOutput { output, .. } => format!("structured {output}"),
        Event::Problem { message, name, .. } => format!("problem {message} {name:?}"),
        Event::Retry { attempt, reason, .. } => format!("retry {attempt} {reason:?}"),
        Event::Discarded { text, .. } => format!("discarded {text:?}"),
        Event::HookStarted(run) => format!("hook {} begins", run.event),
        Event::HookCompleted(run) => format!("hook {} over", run.event),
        Event::Compacted { removed, .. } => format!("compacted {removed}"),
        Event::SubagentStarted { subagent, description, .. } => format!("child {subagent} {description:?}"),
        Event::SubagentProgress { id, step, .. } => match step {
            SubagentStep::Message(text) => format!("{id}: said {text:?}"),
            SubagentStep::ToolCall { name, .. } => format!("{id}: calls {name}"),
            SubagentStep::ToolResult { name, is_error, .. } => {
                format!("{id}: {name} {}", if *is_error { "failed" } else { "done" })
            }
        },
        Event::McpStatus(servers) => format!("servers {}", servers.len()),
        Event::Closed => "closed".to_owned(),
        other => format!("{other:?}"),
    }
}

fn content(content: &[Content]) -> String {
    let each = content.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Thinking(thinking) => format!("({})", thinking.text),
        Content::ToolUse(call) => format!("{} {}", call.id, call.name),
        other => format!("{other:?}"),
    });
    each.collect::<Vec<_>>().join(" | ")
}

pub(crate) fn parts(parts: &[Part]) -> String {
    let each = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Image { .. } => "(picture)".to_owned(),
        Part::Document(_) => "[document]".to_owned(),
    });
    each.collect::<Vec<_>>().join(" | ")
}
