//! The sessions that are open: finds the task of a session, or starts one.
//!
//! Messages are sent and tasks removed under one lock, so that no message goes to a task that has ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use musher_engine::SessionId;
use musher_wire::RpcError;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::error;
use super::hub::Hub;
use super::session::{self, Call, Control, Info, Inputs, Shared};
use super::topic::Topic;

/// Calls that wait for the task of a session.
const MAX_CALLS: usize = 128;
const MAX_CONTROLS: usize = 128;
/// How long the sessions of a daemon that stops may take.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The sessions that are open.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<SessionId, Entry>>,
}

/// An open session.
#[derive(Debug, Clone)]
struct Entry {
    calls: mpsc::Sender<Call>,
    controls: mpsc::Sender<Control>,
    shared: Arc<Shared>,
}

impl Registry {
    /// Sends a call to a session, which is opened if it is not.
    pub(crate) fn call(&self, hub: &Arc<Hub>, session: &SessionId, call: Call) -> Result<(), RpcError> {
        let mut sessions = self.lock();
        let entry = entry(&mut sessions, hub, session)?;
        entry.calls.try_send(call).map_err(|_full| error::busy("the session is busy"))
    }

    /// Sends a control message to a session, if it is open. Returns it otherwise.
    pub(crate) fn control(&self, session: &SessionId, control: Control) -> Result<(), Box<Control>> {
        match self.lock().get(session) {
            Some(entry) => entry.controls.try_send(control).map_err(|full| Box::new(full.into_inner())),
            None => Err(Box::new(control)),
        }
    }

    /// Sends a control message to a session, which is opened if it is not.
    pub(crate) fn control_open(
        &self,
        hub: &Arc<Hub>,
        session: &SessionId,
        control: Control,
    ) -> Result<(), RpcError> {
        let mut sessions = self.lock();
        let entry = entry(&mut sessions, hub, session)?;
        entry.controls.try_send(control).map_err(|_invalid| error::busy("the session is busy"))
    }

    /// Opens a session that has something to do.
    pub(crate) fn wake(&self, hub: &Arc<Hub>, session: &SessionId) -> Result<(), RpcError> {
        self.control_open(hub, session, Control::Wake)
    }

    /// A client is gone: it follows none of these sessions any more.
    pub(crate) fn unfollow<'a>(&self, client: u64, sessions: impl IntoIterator<Item = &'a SessionId>) {
        for session in sessions {
            let entry = self.lock().get(session).cloned();
            if let Some(entry) = entry {
                entry.shared.unfollow(client);
                // a session that no client follows may end
                entry.controls.try_send(Control::Look).ok();
            }
        }
    }

    /// Removes a session whose task is about to end, unless messages for it have arrived.
    pub(crate) fn remove_if_unused(&self, session: &SessionId, inputs: &Inputs) -> bool {
        let mut sessions = self.lock();
        if !inputs.is_empty() {
            return false;
        }
        sessions.remove(session);
        true
    }

    /// Returns the sessions with an agent, and what is known of them.
    pub(crate) fn opened(&self) -> Vec<(SessionId, Info)> {
        let sessions = self.lock();
        let infos = sessions.iter().map(|(id, entry)| (id.clone(), entry.shared.info()));
        infos.filter(|(_, info)| info.has_agent).collect()
    }

    /// Returns the number of prompts that have not begun, and of sessions that wait for the right to run a turn.
    pub(crate) fn waiting(&self) -> (u64, u64) {
        let sessions = self.lock();
        sessions.values().fold((0, 0), |(prompts, turns), entry| {
            let (more, waits) = entry.shared.waiting();
            (prompts + more as u64, turns + u64::from(waits))
        })
    }

    pub(crate) fn info(&self, session: &SessionId) -> Option<Info> {
        self.lock().get(session).map(|entry| entry.shared.info())
    }

    /// Returns the events of a session that is open.
    pub(crate) fn topic(&self, session: &SessionId) -> Option<Arc<Topic>> {
        self.lock().get(session).map(|entry| Arc::clone(&entry.shared.topic))
    }

    /// Returns whether a client follows a session.
    pub(crate) fn follows(&self, session: &SessionId, client: u64) -> bool {
        self.lock().get(session).is_some_and(|entry| entry.shared.follows(client))
    }

    /// Ends the sessions that do nothing, and waits for them within a time limit.
    pub(crate) async fn stop_idle(&self) {
        let is_idle = |entry: &Entry| !entry.shared.info().is_working();
        let idle: Vec<(SessionId, Entry)> = {
            let sessions = self.lock();
            let all = sessions.iter().filter(|(_, entry)| is_idle(entry));
            all.map(|(id, entry)| (id.clone(), entry.clone())).collect()
        };
        let stopped = async {
            for (_, entry) in &idle {
                entry.controls.send(Control::Stop).await.ok();
            }
            for (_, entry) in &idle {
                entry.controls.closed().await;
            }
        };
        if timeout(STOP_TIMEOUT, stopped).await.is_err() {
            tracing::warn!("not all sessions ended in time");
        }
        let mut sessions = self.lock();
        for (id, entry) in idle {
            if entry.controls.is_closed() {
                sessions.remove(&id);
            }
        }
    }

    /// Ends all sessions, and waits for them within a time limit.
    pub(crate) async fn stop_all(&self) {
        let entries: Vec<Entry> = self.lock().values().cloned().collect();
        let stopped = async {
            for entry in &entries {
                entry.controls.send(Control::Stop).await.ok();
            }
            for entry in &entries {
                entry.controls.closed().await;
            }
        };
        if timeout(STOP_TIMEOUT, stopped).await.is_err() {
            tracing::warn!("not all sessions ended in time");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry<'a>(
    sessions: &'a mut HashMap<SessionId, Entry>,
    hub: &Arc<Hub>,
    session: &SessionId,
) -> Result<&'a mut Entry, RpcError> {
    if !sessions.contains_key(session) {
        if sessions.len() >= hub.options.max_sessions {
            let what = format!("{} sessions are open, which is the limit", sessions.len());
            return Err(error::busy(&what));
        }
        let topic = Topic::open(&*hub.options.shared, session).map_err(|error| {
            error::internal(format!("cannot open the events of the session: {}", error.with_causes()))
        })?;
        let shared = Arc::new(Shared::new(topic));
        let (calls, call_inputs) = mpsc::channel(MAX_CALLS);
        let (controls, control_inputs) = mpsc::channel(MAX_CONTROLS);
        let inputs = Inputs { calls: call_inputs, controls: control_inputs };
        session::spawn(Arc::clone(hub), session.clone(), Arc::clone(&shared), inputs);
        sessions.insert(session.clone(), Entry { calls, controls, shared });
    }
    sessions.get_mut(session).ok_or_else(|| error::internal("the session is gone"))
}
