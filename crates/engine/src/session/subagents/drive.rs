//! The task that runs a subagent: sends its prompt, forwards its reports, and ends it in any case.

use std::path::PathBuf;
use std::time::Duration;

use musher_model::Media;
use musher_tools::{Context, Feature, Part, Registry};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::task_result::Outcome;
use super::watch::{Seen, SubagentReport, Watch};
use crate::command::{CommandId, Prompt};
use crate::permission::{self, Policy, Verdict};
use crate::session::tasks::{SessionInput, SessionSender};
use crate::{AgentHandle, Command, SessionEvent, SessionId};

/// Everything the task needs.
pub(super) struct Work {
    pub(super) id: SessionId,
    pub(super) agent: AgentHandle,
    pub(super) events: mpsc::Receiver<SessionEvent>,
    pub(super) watch: Watch,
    pub(super) prompt: String,
    pub(super) pictures: Pictures,
    /// How long the subagent may take to end.
    pub(super) stop_timeout: Duration,
    pub(super) parent: Parent,
}

/// The session that has started the subagent, and gets its reports.
#[derive(Clone)]
pub(super) struct Parent {
    pub(super) sender: SessionSender,
    /// Cancelled when the session is closed.
    pub(super) is_closed: CancellationToken,
}

/// Images for the prompt, with what is needed to read them like the `Read` tool.
pub(super) struct Pictures {
    pub(super) paths: Vec<PathBuf>,
    pub(super) policy: Policy,
    pub(super) tools: Registry,
    pub(super) context: Context,
}

impl Work {
    /// Runs the subagent until it is done or cancelled. When this returns, all its tasks have ended and its log is closed.
    pub(super) async fn run(mut self, cancel: &CancellationToken) -> Outcome {
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Outcome::Stopped,
            outcome = self.work() => outcome,
        };
        // an agent that does not react ends when its handle and its events are dropped
        self.agent.stop().ok();
        let limit = self.stop_timeout * 2;
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
        let submitted = self.agent.submit(CommandId("task".into()), Command::Prompt(Box::new(prompt)));
        if submitted.is_err() {
            return Outcome::Failed("The subagent did not take its prompt".to_owned());
        }
        while let Some(event) = self.events.recv().await {
            match self.watch.take(event.event) {
                Seen::Nothing => {}
                Seen::Report(report) => self.parent.report(&self.id, report).await,
                Seen::Ended(outcome) => return outcome,
            }
        }
        Outcome::Failed("The subagent ended unexpectedly".to_owned())
    }
}

impl Parent {
    /// Sends a report, unless the session is closed.
    pub(super) async fn report(&self, subagent: &SessionId, report: SubagentReport) {
        let input = SessionInput::Subagent { id: subagent.clone(), report };
        tokio::select! {
            biased;
            () = self.is_closed.cancelled() => {}
            _ = self.sender.send(input) => {}
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

    /// Reads an image the session may read without permission. The subagent has to ask for others.
    async fn one(&self, path: String) -> Result<Media, String> {
        let Some(tool) = self.tools.providing(Feature::Files) else {
            return Err("cannot read images: no tool reads files".to_owned());
        };
        let path_given = std::path::Path::new(&path);
        let absolute = self.context.workspace.root().join(path_given).to_string_lossy().into_owned();
        let input: Map<String, Value> =
            [("file_path".to_owned(), Value::from(absolute))].into_iter().collect();
        let call = permission::Call::new(tool.info().name, tool.action(&input)?);
        let Verdict::Run(access) = permission::decide(&self.policy, &call, &self.context.workspace) else {
            return Err(format!("reading the image {path} needs permission"));
        };
        let context = self.context.clone().with_access(access);
        let output = tool.run(input, &context, CancellationToken::new()).await;
        let picture = output.for_model.into_iter().find_map(|part| match part {
            Part::Image { media_type, data } => Some((media_type, data)),
            Part::Text(_) | Part::Document(_) => None,
        });
        let (media_type, data) = picture.ok_or_else(|| format!("{path} is not a readable image"))?;
        let name = path_given.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Media { media_type, data, name })
    }
}
