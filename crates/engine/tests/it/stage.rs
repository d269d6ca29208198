//! An agent with a scripted model and an empty folder, and its events as short lines of text.

use std::sync::Arc;
use std::time::Duration;

use musher_engine::{
    AgentHandle, ChildStep, Command, Content, Effort, Environment, Event, Happening, ModelView, NewSession,
    Prompt, Question, Reply, Role, Ticket, ToolPhase, Visibility, start,
};
use musher_model::RetryPolicy;
use musher_tools::{Part, Registry};
use tempfile::TempDir;
use tokio::sync::mpsc::Receiver;

use crate::scripted::{self, Scripted};

/// No test waits longer for an event.
const PATIENCE: Duration = Duration::from_secs(20);

/// The model's id.
pub(crate) const MODEL: &str = "scripted";

/// An agent to play with.
pub(crate) struct Stage {
    pub(crate) agent: AgentHandle,
    pub(crate) events: Receiver<Event>,
    pub(crate) model: Arc<Scripted>,
    pub(crate) home: Arc<TempDir>,
    pub(crate) work: Arc<TempDir>,
    /// The id of the session that was last opened.
    pub(crate) session: String,
    tickets: usize,
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
        let view = ModelView {
            id: MODEL.to_owned(),
            provider: "test".to_owned(),
            display_name: "Scripted".to_owned(),
            efforts: vec![Effort::Off],
            default_effort: Effort::Off,
            text_only: false,
        };
        let retries = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
        let variables = [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.path().into())];
        let environment = Environment::new(home.path())
            .with_variables(variables)
            .with_tools(tools)
            .with_provider(view, Arc::clone(&model) as Arc<dyn musher_model::Provider>)
            .with_retries(retries);
        let (agent, events) = start(Arc::new(environment));
        Self { agent, events, model, home, work, session: String::new(), tickets: 0 }
    }

    pub(crate) async fn create(&mut self, new: NewSession) {
        let cwd = self.work.path().to_owned();
        let ticket = self.submit(Command::Create(Box::new(NewSession { cwd, ..new })));
        let Reply::Created(created) = self.reply(&ticket).await else { panic!("not created") };
        created.id.as_str().clone_into(&mut self.session);
    }

    /// Asks for something. Tickets are `1`, `2` ...
    pub(crate) fn submit(&mut self, command: Command) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets.to_string().into());
        self.agent.submit(ticket.clone(), command).unwrap();
        ticket
    }

    pub(crate) fn say(&mut self, text: &str) -> Ticket {
        self.submit(Command::Prompt(Box::new(Prompt { text: text.to_owned(), ..Prompt::default() })))
    }

    pub(crate) async fn next(&mut self) -> Event {
        let event = tokio::time::timeout(PATIENCE, self.events.recv()).await;
        event.expect("an event in time").expect("the agent is there")
    }

    /// The outcome of a command. What comes before is left out.
    pub(crate) async fn outcome(&mut self, ticket: &Ticket) -> Result<Reply, musher_engine::Error> {
        loop {
            match self.next().await.what {
                Happening::Reply { ticket: of, outcome } if of == *ticket => return outcome,
                _ => {}
            }
        }
    }

    pub(crate) async fn reply(&mut self, ticket: &Ticket) -> Reply {
        self.outcome(ticket).await.unwrap()
    }

    /// Everything that happens until something, that included.
    pub(crate) async fn until(&mut self, is_last: impl Fn(&Happening) -> bool) -> Vec<Happening> {
        let mut all = Vec::new();
        loop {
            let what = self.next().await.what;
            let is_over = is_last(&what);
            all.push(what);
            if is_over {
                return all;
            }
        }
    }

    /// Everything until the agent is idle, as text.
    pub(crate) async fn until_idle(&mut self) -> Vec<String> {
        lines(&self.until(is_idle).await)
    }

    /// Everything until somebody is asked, as text, and the id of the question.
    pub(crate) async fn until_question(&mut self) -> (Vec<String>, String) {
        let all = self.until(is_question).await;
        let Some(
            Happening::Question(Question::Permission { id, .. } | Question::Ask { id, .. })
            | Happening::ChildQuestion {
                question: Question::Permission { id, .. } | Question::Ask { id, .. },
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
            tokio::time::timeout(PATIENCE, self.events.recv()).await.expect("the end in time")
        {
            all.push(event.what);
        }
        lines(&all)
    }
}

pub(crate) fn is_question(what: &Happening) -> bool {
    matches!(what, Happening::Question(_) | Happening::ChildQuestion { .. })
}

pub(crate) fn is_idle(what: &Happening) -> bool {
    matches!(what, Happening::State(musher_engine::WorkingState::Idle))
}

pub(crate) fn lines(all: &[Happening]) -> Vec<String> {
    all.iter().map(line).collect()
}

/// An event in one line, without ids.
pub(crate) fn line(what: &Happening) -> String {
    match what {
        Happening::Reply { ticket, outcome: Ok(_) } => format!("reply {}", ticket.0),
        Happening::Reply { ticket, outcome: Err(error) } => format!("refused {} {error}", ticket.0),
        Happening::State(state) => format!("state {state:?}"),
        Happening::Message { message, ticket } => {
            let ticket = ticket.as_ref().map(|ticket| format!(" for {}", ticket.0)).unwrap_or_default();
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::Tool => "tool",
                Role::System => "system",
            };
            match message.visibility {
                Visibility::LlmOnly if message.role == Role::User => format!("hidden {role}{ticket}"),
                Visibility::LlmOnly => format!("hidden {role}{ticket}: {}", content(&message.content)),
                Visibility::UserOnly => format!("note {role}{ticket}: {}", content(&message.content)),
                Visibility::Both => format!("message {role}{ticket}: {}", content(&message.content)),
            }
        }
        Happening::TextDelta { block, text, .. } => format!("text {block} {text:?}"),
        Happening::TextComplete { block, .. } => format!("text {block} complete"),
        Happening::ThinkingDelta { block, text, .. } => format!("thinking {block} {text:?}"),
        Happening::ThinkingComplete { block, .. } => format!("thinking {block} complete"),
        Happening::Retracted { .. } => "retracted".to_owned(),
        Happening::ToolCall { id, name, input } => {
            format!("call {id} {name} {}", if input.is_empty() { "begins" } else { "complete" })
        }
        Happening::ToolPhase { id, phase, .. } => {
            format!("{id} {}", if *phase == ToolPhase::Queued { "queued" } else { "executing" })
        }
        Happening::ToolProgress { id, text, .. } => format!("{id} says {text:?}"),
        Happening::ToolResult { id, content, is_error, .. } => {
            format!("{id} {}: {}", if *is_error { "failed" } else { "done" }, parts(content))
        }
        Happening::Question(Question::Permission { calls, choices, .. })
        | Happening::ChildQuestion { question: Question::Permission { calls, choices, .. }, .. } => {
            let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            format!("may {} run? {choices:?}", ids.join(", "))
        }
        Happening::Question(Question::Ask { questions, .. }) => format!("asks {}", questions.len()),
        Happening::PermissionResolved { tool_use_ids, choice, .. } => {
            format!("resolved {} {choice:?}", tool_use_ids.join(", "))
        }
        Happening::QuestionWithdrawn { .. } => "withdrawn".to_owned(),
        Happening::TurnCompleted(completed) => format!("turn {:?}", completed.reason),
        Happening::Usage { total, .. } => format!("used {}", total.input),
        Happening::Settings { settings, ticket } => {
            let ticket = ticket.as_ref().map(|ticket| format!(" for {}", ticket.0)).unwrap_or_default();
            format!("settings{ticket} {:?} {:?}", settings.mode, settings.autonomy)
        }
        Happening::Title { title, cause, .. } => format!("title {title:?} {cause:?}"),
        Happening::StructuredOutput { output, .. } => format!("structured {output}"),
        Happening::Problem { message, name, .. } => format!("problem {message} {name:?}"),
        Happening::Retry { attempt, reason } => format!("retry {attempt} {reason:?}"),
        Happening::Discarded { text, .. } => format!("discarded {text:?}"),
        Happening::HookStarted(run) => format!("hook {} begins", run.event),
        Happening::HookCompleted(run) => format!("hook {} over", run.event),
        Happening::Compacted { removed, .. } => format!("compacted {removed}"),
        Happening::Child { subagent, description, .. } => format!("child {subagent} {description:?}"),
        Happening::ChildProgress { id, step, .. } => match step {
            ChildStep::Said(text) => format!("{id}: said {text:?}"),
            ChildStep::Called { name, .. } => format!("{id}: calls {name}"),
            ChildStep::Returned { name, is_error, .. } => {
                format!("{id}: {name} {}", if *is_error { "failed" } else { "done" })
            }
        },
        Happening::McpStatus(servers) => format!("servers {}", servers.len()),
        Happening::Closed => "closed".to_owned(),
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
    });
    each.collect::<Vec<_>>().join(" | ")
}
