//! The inbox of a daemon: everything that waits for a person, across all sessions and their subagents.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use musher_wire::{AskUserParams, Json, RequestPermissionParams};
use serde::Deserialize;
use serde_json::json;

use super::Daemon;
use crate::{Answers, Decision, Error, PermissionRequest, QuestionRequest, Result};

/// A request that waits for a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InboxItem {
    /// The id of the request.
    pub request_id: String,
    /// The session that asks, or whose subagent asks.
    pub session_id: String,
    /// The session from which it was started, if a subagent asks.
    pub parent_session_id: Option<String>,
    /// The session of the subagent that asks, if one does.
    pub subagent_session_id: Option<String>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// Its title.
    pub title: Option<String>,
    /// When it was asked.
    pub created_at: Option<SystemTime>,
    /// What is asked.
    pub request: InboxRequest,
}

/// What a session asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InboxRequest {
    /// Whether tool calls may run.
    Permission(Box<PermissionRequest>),
    /// Questions to the user.
    Question(Box<QuestionRequest>),
    /// A kind that this version does not know. Only another client can answer it.
    Other(Json),
}

#[derive(Deserialize)]
struct Answered {
    accepted: Option<bool>,
}

#[derive(Deserialize)]
struct Listed {
    items: Vec<ListedItem>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedItem {
    request_id: String,
    kind: String,
    session_id: String,
    parent_session_id: Option<String>,
    subagent_session_id: Option<String>,
    cwd: Option<PathBuf>,
    title: Option<String>,
    /// In milliseconds since 1970.
    created_at: Option<u64>,
    request: Json,
}

impl From<ListedItem> for InboxItem {
    fn from(item: ListedItem) -> Self {
        let request = match item.kind.as_str() {
            "permission" => {
                let params = item.request.to::<RequestPermissionParams>();
                params.ok().map(|params| InboxRequest::Permission(Box::new(params.into())))
            }
            "question" => {
                let params = item.request.to::<AskUserParams>();
                params.ok().map(|params| InboxRequest::Question(Box::new(params.into())))
            }
            _ => None,
        };
        Self {
            request: request.unwrap_or(InboxRequest::Other(item.request)),
            request_id: item.request_id,
            session_id: item.session_id,
            parent_session_id: item.parent_session_id,
            subagent_session_id: item.subagent_session_id,
            cwd: item.cwd,
            title: item.title,
            created_at: item.created_at.map(|millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis)),
        }
    }
}

impl Daemon {
    /// Lists everything that waits for a person. From now on, [`notifications`](Self::notifications) has `daemon.inbox_changed`
    /// when that changes. Only `musher daemon` has an inbox; the error of others [is unsupported](crate::Error::is_unsupported).
    ///
    /// ```no_run
    /// # async fn example(daemon: musher::Daemon) -> musher::Result<()> {
    /// use musher::{Decision, InboxRequest};
    ///
    /// for item in daemon.inbox().await? {
    ///     if let InboxRequest::Permission(request) = &item.request {
    ///         println!("{:?} asks: {:?}", item.title, request.tool_uses);
    ///         daemon.answer_permission(&item, Decision::allow_once()).await?;
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub async fn inbox(&self) -> Result<Vec<InboxItem>> {
        let listed: Listed = self.ask("daemon.list_inbox", json!({})).await?;
        Ok(listed.items.into_iter().map(InboxItem::from).collect())
    }

    /// Decides on a permission request in the inbox. The first answer of all clients counts; a later one fails.
    pub async fn answer_permission(&self, item: &InboxItem, decision: Decision) -> Result<()> {
        let InboxRequest::Permission(request) = &item.request else {
            return Err(Error::invalid_input("the item is not a permission request"));
        };
        decision.check(request).map_err(Error::invalid_input)?;
        self.answer_inbox(&item.request_id, Json::new(&decision.into_wire())).await
    }

    /// Answers questions in the inbox. The first answer of all clients counts; a later one fails.
    pub async fn answer_question(&self, item: &InboxItem, answers: Answers) -> Result<()> {
        let InboxRequest::Question(request) = &item.request else {
            return Err(Error::invalid_input("the item is not a question"));
        };
        let answers = answers.into_wire(request).map_err(Error::invalid_input)?;
        self.answer_inbox(&item.request_id, Json::new(&answers)).await
    }

    async fn answer_inbox(&self, request_id: &str, result: serde_json::Result<Json>) -> Result<()> {
        let result = result.map_err(|error| Error::invalid_input(error.to_string()))?;
        let result = result.to_value().map_err(|error| Error::invalid_input(error.to_string()))?;
        let params = json!({"requestId": request_id, "result": result});
        let answered: Answered = self.ask("daemon.answer_inbox", params).await?;
        if answered.accepted == Some(false) {
            return Err(Error::session("the request is not open any more"));
        }
        Ok(())
    }
}
