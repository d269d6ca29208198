//! Messages of the daemon: answers, requests and notifications, and the sessions that they are for.

use musher_rpc::Closed;
use musher_wire::{Frame, Id, Json, LoadSessionResult, Notification, Request, Response, RpcError};
use serde_json::{Value, json};

use super::calls::{Kind, PendingCall};
use super::route::{Phase, RequestState};
use super::{CONTROL, Core, Effect, RouteId};
use crate::daemon::translate::{self, Facts, Head, to_exec};

/// The maximum number of notifications that are held while a session is loaded again.
const MAX_HELD: usize = 4096;

impl Core {
    /// Takes a message of the daemon.
    pub(in crate::daemon) fn daemon_says(&mut self, frame: Frame) {
        match frame {
            Frame::Response(response) => self.response(response),
            Frame::Request(request) => self.request(request),
            Frame::Notification(notification) => self.notification(notification),
            Frame::Malformed(malformed) => {
                let text = format!("the daemon's answer is malformed: {}", malformed.reason);
                if let Some(id) = malformed.id {
                    self.response(Response::new(id, Err(RpcError::new(RpcError::INTERNAL, text))));
                }
            }
        }
    }

    /// The daemon answers a call.
    pub(super) fn response(&mut self, response: Response) {
        let id = match &response.id {
            Id::Null => match mentioned(&response) {
                Some(id) => id,
                None => return,
            },
            id => id.clone(),
        };
        let Some(call) = self.forget(&id) else { return };
        match call.kind {
            Kind::Open => self.opened(call, response),
            Kind::Reload => self.reloaded(call.route, response.outcome),
            Kind::Close => {
                let is_closed = response.outcome.is_ok();
                self.pass(call.route, id, response);
                if is_closed && self.routes.contains_key(&call.route) {
                    self.out.push(Effect::HangUp(call.route, Closed::Ended));
                    self.gone(call.route);
                }
            }
            Kind::Prompt { message_id, .. } => {
                if let (Err(_), Some(route)) = (&response.outcome, self.routes.get_mut(&call.route)) {
                    route.prompts.retain(|prompt| *prompt != message_id);
                }
                self.pass(call.route, id, response);
            }
            Kind::Repeatable | Kind::Once => self.pass(call.route, id, response),
        }
    }

    pub(super) fn pass(&mut self, route: RouteId, id: Id, mut response: Response) {
        response.id = id;
        if self.routes.contains_key(&route) {
            self.out.push(Effect::Respond(route, Frame::Response(response)));
        }
    }

    /// A session was opened, or could not be.
    pub(super) fn opened(&mut self, call: PendingCall, response: Response) {
        let route_id = call.route;
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        let Ok(result) = &response.outcome else {
            route.phase = Phase::New;
            if let Some(session) = route.session.take() {
                self.by_session.remove(&session);
            }
            return self.pass(route_id, call.request.id, response);
        };
        let result = result.clone();
        let told: Value = result.to_value().unwrap_or_default();
        if let Some(session) = told["sessionId"].as_str()
            && route.session.as_deref() != Some(session)
        {
            // a daemon that does not take the caller's id
            if let Some(old) = route.session.replace(session.to_owned()) {
                self.by_session.remove(&old);
            }
            self.by_session.insert(session.to_owned(), route_id);
        }
        route.phase = Phase::Attached;
        route.sequence = told["lastSequence"].as_u64().max(route.sequence);
        let mut pending = Vec::new();
        if let Ok(loaded) = result.to::<LoadSessionResult>() {
            route.seen.extend(loaded.session.messages.iter().map(|message| message.id.clone()));
            pending = pending_requests(&told);
        }
        self.pass(route_id, call.request.id, response);
        self.deliver_pending(route_id, pending);
        self.flush(route_id);
    }

    /// The daemon asks something.
    pub(super) fn request(&mut self, mut request: Request) {
        let head = Head::of(request.params.as_ref());
        // never answered for a session that this side does not hold: the first answer would win
        let Some(&route_id) = head.session_id.as_ref().and_then(|session| self.by_session.get(session))
        else {
            return;
        };
        request.method = to_exec(&request.method);
        self.ask(route_id, request);
    }

    pub(super) fn ask(&mut self, route_id: RouteId, request: Request) {
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        match route.asked.get_mut(&request.id) {
            // the session still decides
            Some(RequestState::Open) => {}
            Some(RequestState::Answered { response, is_sent }) => {
                if !*is_sent && self.is_connected {
                    *is_sent = true;
                    self.out.push(Effect::Send(Frame::Response(response.clone())));
                }
            }
            // loading tells again
            None if matches!(route.phase, Phase::Lagging | Phase::Detached) => {}
            None => {
                route.asked.insert(request.id.clone(), RequestState::Open);
                self.out.push(Effect::Deliver(route_id, Frame::Request(request)));
            }
        }
    }

    pub(super) fn notification(&mut self, mut notification: Notification) {
        let head = Head::of(notification.params.as_ref());
        let route_id = head.session_id.as_ref().and_then(|session| self.by_session.get(session)).copied();
        if notification.method != "daemon.session_notification" {
            return self.out.push(Effect::Deliver(CONTROL, Frame::Notification(notification)));
        }
        let Some(route_id) = route_id else {
            return self.out.push(Effect::Deliver(CONTROL, Frame::Notification(notification)));
        };
        let sequence = head.sequence;
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        if let (Some(sequence), Some(seen)) = (sequence, route.sequence)
            && sequence <= seen
        {
            return;
        }
        notification.method = to_exec(&notification.method);
        match route.phase {
            Phase::Lagging | Phase::Detached | Phase::New => {}
            // the conversation comes first
            Phase::Reloading if sequence.is_none() => {
                if route.held.len() < MAX_HELD {
                    route.held.push(notification);
                }
            }
            // of the stream from before: what was not passed on meanwhile is replayed first
            Phase::Reloading if sequence > route.sequence.map(|seen| seen + 1) => {}
            Phase::Opening | Phase::Attached | Phase::Reloading => self.deliver(route_id, notification),
        }
    }

    /// Passes a notification to its session, and learns from it.
    pub(super) fn deliver(&mut self, route_id: RouteId, notification: Notification) {
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        let head = Head::of(notification.params.as_ref());
        let facts = Facts::of(head.notification);
        route.sequence = head.sequence.max(route.sequence);
        let (mut created, mut is_idle, mut ended) = (None, false, None);
        match facts.kind.as_str() {
            "create_message" => created = facts.message_id(),
            "permission_resolved" => {
                if let Some(id) = facts.request_id() {
                    route.asked.remove(&Id::from(id));
                }
            }
            "agent_turn_completed" => {
                route.prompts.retain(|prompt| facts.turn_id().is_some_and(|turn| turn != prompt));
                route.asked.retain(|_, asked| matches!(asked, RequestState::Open));
            }
            "droid_working_state_changed" => is_idle = facts.is_idle(),
            // the agent can no longer say how its turns end
            "session_process_exited" => ended = Some("process_exit"),
            "session_closed" | "session_inactivity" => ended = Some("cancelled"),
            _ => {}
        }
        if let Some(id) = &created {
            route.seen.insert(id.clone());
        }
        self.out.push(Effect::Deliver(route_id, Frame::Notification(notification)));
        if let Some(id) = created {
            self.announced(route_id, &id);
        }
        if is_idle {
            self.idle(route_id);
        }
        if let Some(reason) = ended {
            self.end_turns(route_id, reason);
        }
    }

    pub(super) fn end_turns(&mut self, route_id: RouteId, reason: &str) {
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        let session = route.session.clone().unwrap_or_default();
        for turn in std::mem::take(&mut route.prompts) {
            let end = json!({"type": "agent_turn_completed", "turnId": turn, "reason": reason});
            self.out.push(Effect::Deliver(route_id, translate::notification(&session, &end)));
        }
        let idle = json!({"type": "droid_working_state_changed", "newState": "idle"});
        self.out.push(Effect::Deliver(route_id, translate::notification(&session, &idle)));
    }
}

/// Reads the pending requests of a loaded session, with their ids, as exec mode has them.
pub(super) fn pending_requests(told: &Value) -> Vec<(Id, Request)> {
    let of = |field: &str, method: &'static str| {
        let items = told[field].as_array().cloned().unwrap_or_default();
        items.into_iter().filter_map(move |item| {
            let id = Id::from(item["requestId"].as_str()?);
            Some((id.clone(), Request::new(id, method, Json::from(item))))
        })
    };
    of("pendingPermissions", "droid.request_permission")
        .chain(of("pendingAskUserRequests", "droid.ask_user"))
        .collect()
}

/// Returns the call that an error without an id is about. droid names it in the details.
fn mentioned(response: &Response) -> Option<Id> {
    let data = response.outcome.as_ref().err()?.data.as_ref()?.to_value().ok()?;
    data["protocolVersionMismatch"]["requestId"].as_str().map(Id::from)
}
