//! The task that lets a subagent work: gives it its prompt, passes on its news, and ends it in any case.

use std::path::PathBuf;
use std::time::Duration;

use musher_model::Media;
use musher_tools::{Context, Part, Registry};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::task_result::Outcome;
use super::watch::{News, Seen, Watch};
use crate::command::{Prompt, Ticket};
use crate::permission::{self, Policy, Verdict};
use crate::session::children::{FromSession, Input};
use crate::{AgentHandle, Command, Event, SessionId};

/// What is needed to let a subagent work.
pub(super) struct Work {
    pub(super) id: SessionId,
    pub(super) agent: AgentHandle,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) watch: Watch,
    pub(super) prompt: String,
    pub(super) pictures: Pictures,
    /// How long it may take to end.
    pub(super) stop: Duration,
    pub(super) home: Home,
}

/// Where news go: the session that started it.
#[derive(Clone)]
pub(super) struct Home {
    pub(super) session: u64,
    pub(super) inputs: mpsc::Sender<Input>,
    /// Cancelled when nobody wants news any more.
    pub(super) is_closed: CancellationToken,
}

/// Pictures to be read, with what is needed to read them as the `Read` tool would.
pub(super) struct Pictures {
    pub(super) paths: Vec<PathBuf>,
    pub(super) policy: Policy,
    pub(super) tools: Registry,
    pub(super) context: Context,
}

impl Work {
    /// Lets it work until it is done or told to end. When this returns nothing of it runs any more, and its log is closed.
    pub(super) async fn run(mut self, cancel: &CancellationToken) -> Outcome {
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Outcome::Stopped,
            outcome = self.work() => outcome,
        };
        // an agent that does not listen ends when its handle and its events are dropped
        self.agent.stop().ok();
        let limit = self.stop * 2;
        let events = &mut self.events;
        tokio::time::timeout(limit, async { while events.recv().await.is_some() {} }).await.ok();
        outcome
    }

    async fn work(&mut self) -> Outcome {
        let images = match self.pictures.read().await {
            Ok(images) => images,
            Err(problem) => return Outcome::Failed(problem),
        };
        let prompt = Prompt { text: std::mem::take(&mut self.prompt), images, ..Prompt::default() };
        let asked = self.agent.submit(Ticket("task".into()), Command::Prompt(Box::new(prompt)));
        if asked.is_err() {
            return Outcome::Failed("The subagent could not be asked".to_owned());
        }
        while let Some(event) = self.events.recv().await {
            match self.watch.take(event.what) {
                Seen::Nothing => {}
                Seen::News(news) => self.home.tell(&self.id, news).await,
                Seen::Over(outcome) => return outcome,
            }
        }
        Outcome::Failed("The subagent ended unexpectedly".to_owned())
    }
}

impl Home {
    /// Tells the session that started it, for as long as that is open.
    pub(super) async fn tell(&self, subagent: &SessionId, news: News) {
        let what = FromSession::Subagent { id: subagent.clone(), news };
        let input = Input::Session { session: self.session, what };
        tokio::select! {
            biased;
            () = self.is_closed.cancelled() => {}
            _ = self.inputs.send(input) => {}
        }
    }
}

impl Pictures {
    async fn read(&self) -> Result<Vec<Media>, String> {
        let mut all = Vec::new();
        for path in &self.paths {
            all.push(self.one(path.to_string_lossy().into_owned()).await?);
        }
        Ok(all)
    }

    /// Reads what the session may read without asking; everything else has to be read, and asked for, by itself.
    async fn one(&self, path: String) -> Result<Media, String> {
        let Some(tool) = self.tools.get("Read") else {
            return Err("Pictures cannot be read here".to_owned());
        };
        let path_given = std::path::Path::new(&path);
        let absolute = self.context.workspace.root().join(path_given).to_string_lossy().into_owned();
        let input: Map<String, Value> =
            [("file_path".to_owned(), Value::from(absolute))].into_iter().collect();
        let call = permission::Call::new("Read", tool.action(&input)?);
        let Verdict::Run(access) = permission::decide(&self.policy, &call, &self.context.workspace) else {
            return Err(format!("The picture {path} may not be read without asking"));
        };
        let context = self.context.clone().with_access(access);
        let output = tool.run(input, &context, CancellationToken::new()).await;
        let picture = output.for_model.into_iter().find_map(|part| match part {
            Part::Image { media_type, data } => Some((media_type, data)),
            Part::Text(_) => None,
        });
        let (media_type, data) =
            picture.ok_or_else(|| format!("{path} is not a picture that can be read"))?;
        let name = path_given.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Media { media_type, data, name })
    }
}
