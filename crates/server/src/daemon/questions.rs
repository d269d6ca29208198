//! What waits for a person: the inbox in memory, written through to the shared state.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_engine::SessionId;
use musher_engine::store::StoreError;
use musher_engine::store::shared::InboxItem;
use musher_wire::{Frame, Id, Json, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::options::SharedState;
use super::rewrite;

/// A request of an agent that waits for a person.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) id: String,
    /// The id under which the agent waits for the answer; `None` for a question of a former daemon, until the agent asks again.
    pub(crate) agent_id: Option<String>,
    pub(crate) session: SessionId,
    pub(crate) body: Body,
}

/// A question as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body {
    /// The method of the agent.
    pub(crate) method: String,
    pub(crate) params: Json,
    pub(crate) created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
}

const PERMISSION: &str = "droid.request_permission";
const QUESTION: &str = "droid.ask_user";
/// Begins the ids of items that are no questions: a turn runs in the session.
const TURN: &str = "turn:";

fn turn_id(session: &SessionId) -> String {
    format!("{TURN}{}", session.as_str())
}

impl Question {
    /// Returns whether the daemon knows how to pass this request to a person.
    pub(crate) fn is_known(method: &str) -> bool {
        method == PERMISSION || method == QUESTION
    }

    pub(crate) fn is_permission(&self) -> bool {
        self.body.method == PERMISSION
    }

    /// Returns the session whose agent asks, if it is a subagent of this one.
    pub(crate) fn subagent(&self) -> Option<String> {
        let params = self.body.params.to_value().ok()?;
        let ids = params.get("associatedSessionIds")?.as_array()?;
        let other = ids.iter().filter_map(Value::as_str).find(|id| *id != self.session.as_str())?;
        Some(other.to_owned())
    }

    /// Returns what the question is about: the tool calls that wait. Equal for a question that is asked again.
    pub(crate) fn calls(&self) -> Vec<String> {
        let Ok(params) = self.body.params.to_value() else { return Vec::new() };
        let uses = params["toolUses"].as_array().into_iter().flatten();
        let ids = uses.map(|item| &item["toolUse"]["id"]).chain([&params["toolCallId"]]);
        ids.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns whether the agent may ask this again after a restart: a subagent that has asked is gone.
    pub(crate) fn may_return(&self) -> bool {
        self.subagent().is_none() && !self.calls().is_empty()
    }

    /// Returns the request for clients.
    pub(crate) fn frame(&self) -> Frame {
        let request = Request::new(self.id.as_str(), self.body.method.clone(), self.body.params.clone());
        rewrite::question(self.session.as_str(), &request)
    }

    /// Returns the question in the result of `load_session`.
    pub(crate) fn pending(&self) -> Value {
        let mut value = self.body.params.to_value().unwrap_or_else(|_| json!({}));
        value["requestId"] = self.id.as_str().into();
        value
    }

    /// Returns the question in the inbox.
    fn item(&self) -> Value {
        let kind = if self.is_permission() { "permission" } else { "question" };
        let subagent = self.subagent();
        let mut item = json!({
            "requestId": self.id,
            "kind": kind,
            "sessionId": self.session.as_str(),
            "createdAt": self.body.created_at,
            "request": self.body.params.to_value().unwrap_or_default(),
        });
        if let Some(subagent) = subagent {
            item["parentSessionId"] = self.session.as_str().into();
            item["subagentSessionId"] = subagent.into();
        }
        if let Some(cwd) = &self.body.cwd {
            item["cwd"] = cwd.as_str().into();
        }
        if let Some(title) = &self.body.title {
            item["title"] = title.as_str().into();
        }
        item
    }
}

/// The questions of all sessions.
#[derive(Debug)]
pub(crate) struct Questions {
    shared: Arc<dyn SharedState>,
    open: Mutex<Vec<Question>>,
    /// The sessions whose turns a former daemon was killed in.
    interrupted: Vec<SessionId>,
    /// Counts changes.
    changes: watch::Sender<u64>,
}

impl Questions {
    pub(crate) fn open(shared: Arc<dyn SharedState>) -> Result<Self, StoreError> {
        let mut open = Vec::new();
        let mut turns = Vec::new();
        for item in shared.open_items()? {
            if item.request_id.starts_with(TURN) {
                turns.push(item.session);
                continue;
            }
            match serde_json::from_str(&item.body) {
                Ok(body) => {
                    open.push(Question { id: item.request_id, agent_id: None, session: item.session, body });
                }
                Err(error) => tracing::warn!(%error, "skipped a damaged request in the inbox"),
            }
        }
        Ok(Self { shared, open: Mutex::new(open), interrupted: turns, changes: watch::Sender::new(0) })
    }

    /// Returns the sessions whose turns a former daemon was killed in, if that daemon was to continue turns.
    pub(crate) fn interrupted(&self) -> &[SessionId] {
        &self.interrupted
    }

    /// Notes that a turn runs, for a daemon that starts after this one was killed.
    pub(crate) fn turn_runs(&self, session: &SessionId) {
        let body = "{}".to_owned();
        let item = InboxItem { request_id: turn_id(session), session: session.clone(), body };
        if let Err(error) = self.shared.put(&item) {
            tracing::error!(error = %error.with_causes(), "a turn will not continue after a restart");
        }
    }

    /// Notes that no turn runs any more.
    pub(crate) fn turn_is_over(&self, session: &SessionId) {
        if let Err(error) = self.shared.close(&turn_id(session)) {
            tracing::error!(error = %error.with_causes(), "a turn that is over may continue after a restart");
        }
    }

    /// Returns the question of a former daemon that is asked again.
    pub(crate) fn former(&self, again: &Question) -> Option<Question> {
        let (open, calls) = (self.lock(), again.calls());
        let is_former = |known: &&Question| {
            known.agent_id.is_none()
                && known.session == again.session
                && known.body.method == again.body.method
                && known.calls() == calls
        };
        open.iter().find(is_former).cloned()
    }

    /// Adds a question. It waits in memory even if it cannot be stored.
    pub(crate) fn put(&self, question: Question) {
        let body = serde_json::to_string(&question.body).unwrap_or_default();
        let item = InboxItem { request_id: question.id.clone(), session: question.session.clone(), body };
        if let Err(error) = self.shared.put(&item) {
            tracing::error!(error = %error.with_causes(), "a request will not survive a restart");
        }
        let mut open = self.lock();
        open.retain(|known| known.id != question.id);
        open.push(question);
        drop(open);
        self.changed();
    }

    /// Closes a question. Of several callers one gets it, and only its answer counts.
    pub(crate) fn close(&self, id: &str) -> Option<Question> {
        let question = {
            let mut open = self.lock();
            let at = open.iter().position(|question| question.id == id)?;
            open.remove(at)
        };
        self.changed();
        match self.shared.close(id) {
            Ok(true) => Some(question),
            // another process of the fleet was first
            Ok(false) => None,
            Err(error) => {
                tracing::error!(error = %error.with_causes(), "an answered request will be asked again after a restart");
                Some(question)
            }
        }
    }

    /// Returns the session of an open question.
    pub(crate) fn session_of(&self, id: &str) -> Option<SessionId> {
        self.lock().iter().find(|question| question.id == id).map(|question| question.session.clone())
    }

    pub(crate) fn of_session(&self, session: &SessionId) -> Vec<Question> {
        self.lock().iter().filter(|question| question.session == *session).cloned().collect()
    }

    /// Returns the sessions with questions.
    pub(crate) fn sessions(&self) -> std::collections::BTreeSet<SessionId> {
        self.lock().iter().map(|question| question.session.clone()).collect()
    }

    /// Returns the result of `daemon.list_inbox`.
    pub(crate) fn list(&self) -> Json {
        let items: Vec<Value> = self.lock().iter().map(Question::item).collect();
        Json::from(json!({"items": items}))
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn follow(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Question>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the answer to a question, as the agent gets it.
pub(crate) fn answer(id: &str, outcome: Result<Json, musher_wire::RpcError>) -> Frame {
    // an agent does not know that its session has a name
    let outcome = outcome.map(|result| match result.to::<musher_wire::Extra>() {
        Ok(mut fields) => {
            fields.remove("sessionId");
            Json::new(&fields).unwrap_or(result)
        }
        Err(_) => result,
    });
    Frame::Response(musher_wire::Response::new(Id::from(id), outcome))
}
