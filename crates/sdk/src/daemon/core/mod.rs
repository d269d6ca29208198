//! The state of one connection to a daemon with all its sessions, without IO: messages in, effects out.
//!
//! A session is a route: it speaks exec mode on a connection in memory, and its messages are addressed here. When the connection to the
//! daemon is lost, every route waits; on the next connection it is loaded again before its calls continue. Our own daemon replays exactly
//! what was missed (`sequence`); for others the difference is derived from the conversation, with a notification that there is a gap.
//!
//! A call that was sent and not answered when the connection broke has an unknown fate. Calls that can be repeated are; a prompt is repeated only
//! for a daemon that recognises its id; all others fail. No prompt is sent twice.

mod calls;
mod history;
mod incoming;
mod reload;
mod route;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use musher_rpc::Closed;
use musher_wire::{Frame, Id, Json, Request, Response, RpcError};
use serde_json::{Value, json};
use uuid::Uuid;

use super::translate::{to_daemon, with_field};
use calls::{Kind, PendingCall};
use route::{Phase, RequestState, Route};

/// Names a route.
pub(super) type RouteId = u64;

/// The route of calls that concern no session.
pub(super) const CONTROL: RouteId = 0;

/// The maximum number of sessions that are opened at once: a droid daemon fails when it starts many at a time.
const MAX_OPENING: usize = 4;
/// How long before its caller gives up a call is no longer sent.
const MARGIN: Duration = Duration::from_secs(1);
/// The maximum number of calls that wait in one route.
const MAX_CALLS: usize = 1024;

/// What the core wants done.
#[derive(Debug)]
pub(super) enum Effect {
    /// Send to the daemon.
    Send(Frame),
    /// Pass to the session; counts against its bound.
    Deliver(RouteId, Frame),
    /// Pass the response to a call of the session, whether there is room or not: the session waits for it.
    Respond(RouteId, Frame),
    /// End the connection of the session.
    HangUp(RouteId, Closed),
    /// Call [`Core::reload`] after some time.
    ReloadLater(RouteId),
}

/// The routes and calls of a connection.
#[derive(Debug, Default)]
pub(super) struct Core {
    routes: HashMap<RouteId, Route>,
    by_session: HashMap<String, RouteId>,
    calls: HashMap<Id, PendingCall>,
    /// Orders the calls.
    counter: u64,
    /// The time since the beginning.
    now: Duration,
    is_connected: bool,
    token: Option<String>,
    /// Calls that open a session and were sent.
    opening: usize,
    /// Calls that open a session and wait for others to be answered.
    waiting: VecDeque<Id>,
    out: Vec<Effect>,
}

impl Core {
    /// Takes the effects so far.
    pub(super) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.out)
    }

    /// Sets the time since the beginning.
    pub(super) fn set_now(&mut self, now: Duration) {
        self.now = now;
    }

    /// Adds a route. Its session becomes known with its first call.
    pub(super) fn open(&mut self, id: RouteId) {
        self.routes.insert(id, Route::default());
    }

    /// An authenticated connection is there: opens and loads all sessions, and repeats the calls of no session.
    pub(super) fn connected(&mut self, token: Option<String>) {
        self.is_connected = true;
        self.token = token;
        // an interrupt or a close of a session that was dropped here still has to arrive
        let mut orphans: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| !self.routes.contains_key(&call.route))
            .map(|(id, call)| (call.at, id.clone()))
            .collect();
        orphans.sort_unstable_by_key(|(at, _)| *at);
        for (_, id) in orphans {
            self.send(&id);
        }
        self.flush(CONTROL);
        let mut routes: Vec<_> = self.routes.keys().copied().filter(|id| *id != CONTROL).collect();
        routes.sort_unstable();
        for id in routes {
            match self.routes.get(&id).map(|route| &route.phase) {
                Some(Phase::Opening) => self.flush_opening(id),
                Some(Phase::Detached) => self.reload(id),
                _ => {}
            }
        }
    }

    /// The connection is lost. Calls that may have been carried out and cannot be repeated fail.
    pub(super) fn disconnected(&mut self) {
        self.is_connected = false;
        self.opening = 0;
        self.waiting.clear();
        let mut failed = Vec::new();
        self.calls.retain(|id, call| {
            let is_kept = match &mut call.kind {
                Kind::Reload => false,
                Kind::Once => !call.is_sent,
                Kind::Prompt { is_uncertain, .. } => {
                    *is_uncertain |= call.is_sent;
                    return true;
                }
                Kind::Open | Kind::Close | Kind::Repeatable => true,
            };
            call.is_sent = false;
            if !is_kept && call.kind == Kind::Once {
                failed.push((call.route, id.clone()));
            }
            is_kept
        });
        for (route, id) in failed {
            self.respond(route, id, Err(lost("the connection to the daemon broke before the answer came")));
        }
        for route in self.routes.values_mut() {
            route.held.clear();
            // it may not have arrived
            for asked in route.asked.values_mut() {
                if let RequestState::Answered { is_sent, .. } = asked {
                    *is_sent = false;
                }
            }
            if !matches!(route.phase, Phase::New | Phase::Opening) {
                route.phase = Phase::Detached;
            }
        }
    }

    /// The session is gone on this side; the daemon keeps it.
    pub(super) fn gone(&mut self, id: RouteId) {
        let Some(route) = self.routes.remove(&id) else { return };
        if let Some(session) = &route.session {
            self.by_session.remove(session);
        }
        // calls that were sent are forgotten; what should stop the session must still arrive
        let opening: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| call.route == id && call.is_opening())
            .map(|(id, _)| id.clone())
            .collect();
        for id in opening {
            self.forget(&id);
        }
        let is_stop = |call: &PendingCall| {
            call.kind == Kind::Close || call.request.method == "daemon.interrupt_session"
        };
        self.calls.retain(|_, call| call.route != id || (!call.is_sent && is_stop(call)));
        if self.is_connected {
            let stops: Vec<_> =
                self.calls.iter().filter(|(_, call)| call.route == id).map(|(id, _)| id.clone()).collect();
            for stop in stops {
                self.send(&stop);
            }
        }
    }

    /// The connection will not come back: ends every session.
    pub(super) fn give_up(&mut self, why: &Closed) {
        self.calls.clear();
        self.by_session.clear();
        self.out.extend(self.routes.drain().map(|(id, _)| Effect::HangUp(id, why.clone())));
    }

    /// Takes a message of a session.
    pub(super) fn session_says(&mut self, id: RouteId, frame: Frame) {
        match frame {
            Frame::Request(request) => self.call(id, request),
            Frame::Response(response) => self.answer(id, response),
            // clients send no notifications
            Frame::Notification(_) | Frame::Malformed(_) => {}
        }
    }

    /// A call of a session becomes one of the daemon.
    fn call(&mut self, route_id: RouteId, mut request: Request) {
        if !self.routes.contains_key(&route_id) {
            return;
        }
        let kind = Kind::of(&request.method);
        request.method = to_daemon(&request.method);
        if route_id != CONTROL {
            match self.address(route_id, &kind, &mut request) {
                Ok(()) => {}
                Err(error) => return self.respond(route_id, request.id, Err(error)),
            }
        } else if kind == Kind::Open {
            let error = RpcError::new(
                RpcError::INVALID_REQUEST,
                "sessions are opened with `Daemon::session` and `Daemon::resume`",
            );
            return self.respond(route_id, request.id, Err(error));
        }
        let kind = match kind {
            Kind::Prompt { .. } => Kind::prompt(&mut request),
            kind => kind,
        };
        let in_route = self.calls.values().filter(|call| call.route == route_id).count();
        if in_route >= MAX_CALLS {
            return self.respond(route_id, request.id, Err(lost("too many calls wait for the daemon")));
        }
        self.counter += 1;
        let id = request.id.clone();
        let expires = self.now.saturating_add(kind.timeout(&request).saturating_sub(MARGIN));
        let call = PendingCall { route: route_id, request, kind, is_sent: false, at: self.counter, expires };
        self.calls.insert(id.clone(), call);
        if self.may_send(&id) {
            self.send(&id);
        }
    }

    /// Adds the session to a call, and the credential to one that opens it.
    fn address(&mut self, route_id: RouteId, kind: &Kind, request: &mut Request) -> Result<(), RpcError> {
        let Some(route) = self.routes.get_mut(&route_id) else { return Ok(()) };
        if *kind != Kind::Open {
            let Some(session) = &route.session else {
                return Err(RpcError::new(RpcError::INTERNAL, "No active session"));
            };
            request.params = Some(with_field(request.params.as_ref(), "sessionId", session));
            return Ok(());
        }
        let mut params: Value =
            request.params.as_ref().and_then(|params| params.to_value().ok()).unwrap_or_default();
        if !params.is_object() {
            params = json!({});
        }
        // chosen here, so that its notifications find their way before the answer, and a repeated call opens the same session
        let session = match params["sessionId"].as_str() {
            Some(session) => session.to_owned(),
            None => Uuid::new_v4().to_string(),
        };
        if self.by_session.get(&session).is_some_and(|other| *other != route_id) {
            let text = "the session is already open on this connection; use a clone of it";
            return Err(RpcError::new(RpcError::INVALID_REQUEST, text));
        }
        params["sessionId"] = json!(session);
        if let Some(token) = &self.token {
            params["token"] = json!(token);
        }
        if let Some(old) = route.session.replace(session.clone()) {
            self.by_session.remove(&old);
        }
        route.mcp_servers = params.get("mcpServers").cloned();
        route.phase = Phase::Opening;
        self.by_session.insert(session, route_id);
        request.params = Some(Json::from(params));
        Ok(())
    }

    /// A session answers a request.
    fn answer(&mut self, route_id: RouteId, mut response: Response) {
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        if let (Ok(result), Some(session)) = (&mut response.outcome, &route.session) {
            *result = with_field(Some(result), "sessionId", session);
        }
        let can_send = self.is_connected && matches!(route.phase, Phase::Attached);
        if let Some(asked) = route.asked.get_mut(&response.id) {
            *asked = RequestState::Answered { response: response.clone(), is_sent: can_send };
        }
        if can_send {
            self.out.push(Effect::Send(Frame::Response(response)));
        }
    }

    fn respond(&mut self, route: RouteId, id: Id, outcome: Result<Json, RpcError>) {
        self.pass(route, id.clone(), Response::new(id, outcome));
    }

    /// Returns whether a call can go out now.
    fn may_send(&self, id: &Id) -> bool {
        let Some(call) = self.calls.get(id).filter(|_| self.is_connected) else { return false };
        let phase = self.routes.get(&call.route).map(|route| &route.phase);
        call.route == CONTROL || call.kind == Kind::Open || matches!(phase, None | Some(Phase::Attached))
    }

    /// Sends the calls of a route that wait, in order.
    fn flush(&mut self, route_id: RouteId) {
        for id in self.unsent(route_id) {
            if self.may_send(&id) {
                self.send(&id);
            }
        }
    }

    /// Sends the call that opens a session.
    fn flush_opening(&mut self, route_id: RouteId) {
        for id in self.unsent(route_id) {
            if self.calls.get(&id).is_some_and(|call| call.kind == Kind::Open) {
                self.send(&id);
            }
        }
    }

    fn unsent(&self, route_id: RouteId) -> Vec<Id> {
        let is_waiting = |call: &&PendingCall| call.route == route_id && !call.is_sent;
        let mut calls: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, call)| is_waiting(call))
            .map(|(id, call)| (call.at, id.clone()))
            .collect();
        calls.sort_unstable_by_key(|(at, _)| *at);
        calls.into_iter().map(|(_, id)| id).collect()
    }

    /// Sends a call, unless it opens a session and too many are being opened.
    fn send(&mut self, id: &Id) {
        let now = self.now;
        let Some(call) = self.calls.get_mut(id).filter(|call| !call.is_sent) else { return };
        if call.expires <= now {
            // its caller has given up, and must not be surprised
            self.forget(id);
            return;
        }
        if call.is_opening() {
            if self.opening >= MAX_OPENING {
                if !self.waiting.contains(id) {
                    self.waiting.push_back(id.clone());
                }
                return;
            }
            self.opening += 1;
        }
        call.is_sent = true;
        if let Kind::Prompt { message_id, .. } = &call.kind
            && let Some(route) = self.routes.get_mut(&call.route)
            && !route.prompts.contains(message_id)
        {
            route.prompts.push(message_id.clone());
        }
        self.out.push(Effect::Send(Frame::Request(call.request.clone())));
    }

    /// Removes a call. If it opened a session, the next one that waits is sent.
    fn forget(&mut self, id: &Id) -> Option<PendingCall> {
        let call = self.calls.remove(id)?;
        self.waiting.retain(|waiting| waiting != id);
        if call.is_opening() && call.is_sent {
            self.opening = self.opening.saturating_sub(1);
            if let Some(next) = self.waiting.pop_front() {
                self.send(&next);
            }
        }
        Some(call)
    }
}

fn lost(text: &str) -> RpcError {
    RpcError::new(RpcError::DISCONNECTED, text)
}

#[cfg(test)]
mod tests;
