//! Sessions that are loaded again: after the connection was lost, or because their reader was too slow.

use std::time::Duration;

use musher_rpc::Closed;
use musher_wire::{Frame, Id, Json, LoadSessionResult, Request, RpcError};
use serde_json::json;
use uuid::Uuid;

use super::calls::{Kind, PendingCall};
use super::incoming::pending_requests;
use super::route::{Phase, RequestState};
use super::{Core, Effect, RouteId, history, lost};
use crate::daemon::translate;

/// The maximum number of attempts to load a session again.
pub(super) const MAX_RELOADS: u32 = 5;

impl Core {
    /// The reader of a session is too slow: nothing more is passed on until [`drained`](Self::drained).
    pub(in crate::daemon) fn overflowed(&mut self, id: RouteId) {
        if let Some(route) = self.routes.get_mut(&id)
            && matches!(route.phase, Phase::Attached | Phase::Reloading)
        {
            route.phase = Phase::Lagging;
        }
    }

    /// The reader of a session has caught up: what it missed is loaded.
    pub(in crate::daemon) fn drained(&mut self, id: RouteId) {
        let Some(route) = self.routes.get_mut(&id).filter(|route| route.phase == Phase::Lagging) else {
            return;
        };
        route.phase = Phase::Detached;
        route.was_slow = true;
        if self.is_connected {
            self.reload(id);
        }
    }

    /// Loads a session that is open on this side again.
    pub(in crate::daemon) fn reload(&mut self, route_id: RouteId) {
        if !self.is_connected {
            return;
        }
        let Some(route) = self.routes.get_mut(&route_id).filter(|route| route.phase == Phase::Detached)
        else {
            return;
        };
        let Some(session) = &route.session else { return };
        let mut params = json!({"sessionId": session});
        if let Some(token) = &self.token {
            params["token"] = json!(token);
        }
        if let Some(servers) = &route.mcp_servers {
            params["mcpServers"] = servers.clone();
        }
        match route.sequence {
            Some(sequence) => params["afterSequence"] = json!(sequence),
            None => params["loadAllMessages"] = json!(true),
        }
        route.phase = Phase::Reloading;
        self.counter += 1;
        let request = Request::new(Uuid::new_v4().to_string(), "daemon.load_session", Json::from(params));
        let id = request.id.clone();
        self.calls.insert(
            id.clone(),
            PendingCall {
                route: route_id,
                request,
                kind: Kind::Reload,
                is_sent: false,
                at: self.counter,
                expires: Duration::MAX,
            },
        );
        self.send(&id);
    }

    pub(super) fn reloaded(&mut self, route_id: RouteId, outcome: Result<Json, RpcError>) {
        // a reader that became too slow meanwhile is served later
        let Some(route) = self.routes.get_mut(&route_id).filter(|route| route.phase == Phase::Reloading)
        else {
            return;
        };
        let loaded = outcome.and_then(|result| {
            let told =
                result.to_value().map_err(|error| RpcError::new(RpcError::INTERNAL, error.to_string()))?;
            let loaded = result
                .to::<LoadSessionResult>()
                .map_err(|error| RpcError::new(RpcError::INTERNAL, error.to_string()))?;
            Ok((told, loaded))
        });
        let (told, loaded) = match loaded {
            Ok(loaded) => loaded,
            Err(error) if error.code != RpcError::NOT_FOUND && route.reloads < MAX_RELOADS => {
                route.reloads += 1;
                route.phase = Phase::Detached;
                return self.out.push(Effect::ReloadLater(route_id));
            }
            Err(error) => return self.end_route(route_id, &error),
        };
        route.reloads = 0;
        let last = told["lastSequence"].as_u64();
        // a journal that is behind what this side has seen is another one, and an old one may have lost its beginning
        let is_complete = told["missedEvents"].as_u64().unwrap_or_default() == 0;
        let is_replayed =
            is_complete && matches!((route.sequence, last), (Some(seen), Some(last)) if last >= seen);
        if !is_replayed {
            // the conversation tells what is replayed, too
            route.sequence = last;
        }
        route.phase = Phase::Attached;
        let held = std::mem::take(&mut route.held);
        let was_slow = std::mem::take(&mut route.was_slow);
        let session = route.session.clone().unwrap_or_default();
        // first: the turn of a prompt that did arrive may have ended
        self.settle_prompts(route_id, &loaded, last.is_some());
        if !is_replayed {
            let reason = if was_slow { "slow_reader" } else { "reconnected" };
            self.out.push(Effect::Deliver(route_id, translate::gap(&session, reason)));
            self.tell_missed(route_id, &session, &loaded);
        }
        for notification in held {
            self.deliver(route_id, notification);
        }
        let pending = pending_requests(&told);
        self.settle_asked(route_id, &pending);
        self.deliver_pending(route_id, pending);
        self.flush(route_id);
    }

    /// Tells a session what it missed, from the conversation.
    pub(super) fn tell_missed(&mut self, route_id: RouteId, session: &str, loaded: &LoadSessionResult) {
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        let missed = history::missed(loaded, &route.seen);
        route.seen.extend(loaded.session.messages.iter().map(|message| message.id.clone()));
        let is_busy = history::is_busy(loaded);
        let mut ended = Vec::new();
        if !is_busy {
            // a prompt that waits in a queue has not begun, and one with an unknown fate is settled later
            let waits = |prompt: &String| {
                let queued = loaded.queued_messages.iter().flatten();
                queued.filter_map(|it| it.message_id.as_ref()).any(|it| it == prompt)
                    || self.calls.values().any(|call| call.is_prompt(prompt))
            };
            ended = route.prompts.extract_if(.., |prompt| !waits(prompt)).collect();
        }
        let ends = ended.iter().map(
            |turn| json!({"type": "agent_turn_completed", "turnId": turn, "reason": history::reason(loaded)}),
        );
        let state = loaded
            .working_state
            .clone()
            .map(|state| json!({"type": "droid_working_state_changed", "newState": state}));
        let told: Vec<_> = missed.into_iter().chain(ends).chain(state).collect();
        for content in told {
            self.out.push(Effect::Deliver(route_id, translate::notification(session, &content)));
        }
    }

    /// Requests that were answered elsewhere meanwhile need no answer of this side. Answers that may not have arrived are sent again.
    pub(super) fn settle_asked(&mut self, route_id: RouteId, pending: &[(Id, Request)]) {
        let Some(route) = self.routes.get_mut(&route_id) else { return };
        let session = route.session.clone().unwrap_or_default();
        let is_pending = |id: &Id| pending.iter().any(|(other, _)| other == id);
        route.asked.retain(|id, asked| {
            if is_pending(id) {
                if let RequestState::Answered { response, is_sent } = asked
                    && !*is_sent
                {
                    *is_sent = true;
                    self.out.push(Effect::Send(Frame::Response(response.clone())));
                }
                return true;
            }
            if matches!(asked, RequestState::Open) {
                let resolved = json!({"type": "permission_resolved", "requestId": id.to_string(), "selectedOption": "cancel"});
                self.out.push(Effect::Deliver(route_id, translate::notification(&session, &resolved)));
            }
            false
        });
    }

    pub(super) fn deliver_pending(&mut self, route_id: RouteId, pending: Vec<(Id, Request)>) {
        for (_, request) in pending {
            self.ask(route_id, request);
        }
    }

    /// Decides the fate of prompts that were sent on the lost connection.
    pub(super) fn settle_prompts(
        &mut self,
        route_id: RouteId,
        loaded: &LoadSessionResult,
        recognises_ids: bool,
    ) {
        let is_busy = history::is_busy(loaded);
        let mut settled = Vec::new();
        for (id, call) in self.calls.iter_mut().filter(|(_, call)| call.route == route_id) {
            let Kind::Prompt { message_id, is_uncertain } = &mut call.kind else { continue };
            if !*is_uncertain {
                continue;
            }
            let queued = loaded.queued_messages.iter().flatten();
            let is_queued = queued
                .into_iter()
                .any(|it| it.message_id.as_ref() == Some(message_id) || id.as_str() == Some(&it.request_id));
            let is_known =
                is_queued || loaded.session.messages.iter().any(|message| message.id == *message_id);
            if recognises_ids {
                (*is_uncertain, call.is_sent) = (false, false);
            } else if is_known || !is_busy {
                settled.push((id.clone(), is_known));
            }
            // else the agent may be about to begin it: its notifications tell
        }
        for (id, is_known) in settled {
            self.settle_prompt(&id, is_known);
        }
    }

    pub(super) fn settle_prompt(&mut self, id: &Id, is_known: bool) {
        let Some(call) = self.calls.remove(id) else { return };
        let Kind::Prompt { message_id, .. } = call.kind else { return };
        let outcome = if is_known {
            Ok(Json::empty_object())
        } else {
            if let Some(route) = self.routes.get_mut(&call.route) {
                route.prompts.retain(|prompt| *prompt != message_id);
            }
            Err(lost("the connection broke while the prompt was sent, and the session does not have it"))
        };
        self.respond(call.route, id.clone(), outcome);
    }

    /// A prompt with an unknown fate has begun.
    pub(super) fn announced(&mut self, route_id: RouteId, message_id: &str) {
        let found = self.uncertain(route_id).into_iter().find(|(_, prompt)| prompt == message_id);
        if let Some((id, _)) = found {
            self.settle_prompt(&id, true);
        }
    }

    /// The agent is idle: prompts with an unknown fate did not arrive.
    pub(super) fn idle(&mut self, route_id: RouteId) {
        for (id, _) in self.uncertain(route_id) {
            self.settle_prompt(&id, false);
        }
    }

    pub(super) fn uncertain(&self, route_id: RouteId) -> Vec<(Id, String)> {
        let calls = self.calls.iter().filter(|(_, call)| call.route == route_id);
        calls
            .filter_map(|(id, call)| match &call.kind {
                Kind::Prompt { message_id, is_uncertain: true } => Some((id.clone(), message_id.clone())),
                _ => None,
            })
            .collect()
    }

    /// The daemon does not have the session any more.
    pub(super) fn end_route(&mut self, route_id: RouteId, error: &RpcError) {
        let ids: Vec<_> =
            self.calls.iter().filter(|(_, call)| call.route == route_id).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.forget(&id);
            self.respond(route_id, id, Err(error.clone()));
        }
        let why = Closed::Broken(std::sync::Arc::new(std::io::Error::other(format!(
            "cannot load the session again: {error}"
        ))));
        self.out.push(Effect::HangUp(route_id, why));
        self.gone(route_id);
    }
}
