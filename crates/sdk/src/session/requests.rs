//! The agent's requests: sent to the reader of the turn, to a subscription or to a handler, and answered once.

use musher_rpc::Peer;
use musher_wire::{
    AskUser, AskUserResult, Id, Json, Method, Request, RequestPermission, RequestPermissionResult, RpcError,
    ToolConfirmationOutcome,
};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::actor::{Actor, Command, Running};
use crate::handlers::Answered;
use crate::requests::MAX_WAITING;
use crate::{Event, PendingPermission, PendingQuestion, PendingRequest, PermissionRequest, QuestionRequest};

/// A request of the agent that is being answered.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    /// Cancelled when the agent no longer needs an answer.
    pub(super) withdrawn: CancellationToken,
    /// The turn it came in.
    turn_id: Option<Box<str>>,
}

impl Actor {
    /// Answers a request of the agent in a task of its own.
    pub(super) fn request(&mut self, request: Request) {
        if self.is_nobodys(&request) {
            if self.parked.len() < MAX_WAITING {
                self.parked.push(request);
            }
            return;
        }
        let peer = self.client.peer().control();
        let Err(request) = self.editor_requests.start(&self.handlers.editor, peer, request) else { return };
        match &*request.method {
            RequestPermission::NAME => match request.read::<RequestPermission>() {
                Ok(params) => self.permission(request.id, params.into()),
                Err(error) => {
                    // a request that cannot be read cannot be allowed
                    let denied = RequestPermissionResult::new(ToolConfirmationOutcome::Cancel);
                    self.answer(request.id, async move { unreadable(denied, error.to_string()) });
                }
            },
            AskUser::NAME => match request.read::<AskUser>() {
                Ok(params) => self.question(request.id, params.into()),
                Err(error) => {
                    let declined = AskUserResult::new(Vec::new());
                    self.answer(request.id, async move { unreadable(declined, error.to_string()) });
                }
            },
            other => {
                let error = RpcError::new(RpcError::METHOD_NOT_FOUND, format!("Unknown method: {other}"));
                let peer = self.client.peer().control();
                tokio::spawn(async move { peer.respond(request.id, Err(error)).await.ok() });
            }
        }
    }

    /// Returns whether a request of a session with other clients has no reader and no handler here.
    fn is_nobodys(&self, request: &Request) -> bool {
        let has_handler = match &*request.method {
            RequestPermission::NAME => self.handlers.permission.is_some(),
            AskUser::NAME => self.handlers.questions.is_some(),
            _ => true,
        };
        self.may_stay_open() && !has_handler && self.reader().is_none()
    }

    /// Returns whether others may answer: in a session with other clients, unless the request belongs to a turn of this side.
    fn may_stay_open(&self) -> bool {
        self.handlers.is_shared && self.turn.as_ref().is_none_or(Running::is_followed)
    }

    /// Offers the requests without a reader to a new one.
    pub(super) fn unpark(&mut self) {
        for request in std::mem::take(&mut self.parked) {
            self.request(request);
        }
        self.deliver();
    }

    fn permission(&mut self, id: Id, request: PermissionRequest) {
        self.log.permission(&request);
        let handlers = self.handlers.clone();
        let Some(over) = self.reader() else {
            return self.answer(id, async move { handlers.decide(request).await });
        };
        let (pending, waiting) = PendingPermission::new(request);
        let request = pending.shared_request();
        let stays = self.may_stay_open();
        self.answer(id, async move { handlers.pending_permission(&request, waiting, &over, stays).await });
        self.publish(PendingRequest::Permission(pending));
    }

    fn question(&mut self, id: Id, request: QuestionRequest) {
        let handlers = self.handlers.clone();
        let Some(over) = self.reader() else {
            return self.answer(id, async move { handlers.answer(request).await });
        };
        let (pending, waiting) = PendingQuestion::new(request);
        let request = pending.shared_request();
        let stays = self.may_stay_open();
        self.answer(id, async move { handlers.pending_question(&request, waiting, &over, stays).await });
        self.publish(PendingRequest::Question(pending));
    }

    /// Returns the token that voids a request that goes to a reader; `None` if requests go to the handlers.
    fn reader(&self) -> Option<CancellationToken> {
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.asks_on_stream()) {
            return Some(turn.requests.clone());
        }
        let is_read = self.requests.borrow().as_ref().is_some_and(|requests| !requests.is_closed());
        is_read.then(CancellationToken::new)
    }

    /// Hands a request to its reader. One that cannot be handed over is dropped, which denies it.
    fn publish(&mut self, request: PendingRequest) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.asks_on_stream()) {
            turn.add([Event::from(request)]);
        } else if let Some(requests) = &*self.requests.borrow() {
            requests.try_send(request).ok();
        }
    }

    fn answer<T: Serialize + Send + 'static>(
        &mut self,
        id: Id,
        answer: impl Future<Output = Answered<T>> + Send + 'static,
    ) {
        let turn_id = self.turn.as_mut().map(|turn| {
            turn.tracker.asked();
            turn.tracker.turn_id().into()
        });
        let withdrawn = CancellationToken::new();
        self.open.insert(id.clone(), OpenRequest { withdrawn: withdrawn.clone(), turn_id });
        tokio::spawn(respond(self.client.peer().control(), self.answers.clone(), id, withdrawn, answer));
    }

    /// A request was answered, or withdrawn. Its turn may have ended meanwhile.
    pub(super) fn answered(&mut self, id: &Id, is_denial: bool, failure: Option<String>) {
        let turn_id = self.open.remove(id).and_then(|open| open.turn_id);
        let Some(turn) = &mut self.turn else { return };
        if turn_id.as_deref() != Some(turn.tracker.turn_id()) || turn.tracker.is_over() {
            return;
        }
        turn.tracker.answered(is_denial, super::actor::now());
        if let Some(reason) = failure {
            turn.tracker.note_error(reason.clone());
            turn.add([Event::HandlerFailed { reason }]);
        }
        self.deliver();
    }

    /// Withdraws a request: the agent no longer needs an answer.
    pub(super) fn withdrawn(&mut self, request_id: &str) {
        self.parked.retain(|request| request.id != Id::from(request_id));
        if let Some(open) = self.open.get(&Id::from(request_id)) {
            open.withdrawn.cancel();
        }
    }
}

/// Answers one request and reports that to the session. A request that was withdrawn is not answered.
async fn respond<T: Serialize>(
    peer: Peer,
    session: mpsc::WeakSender<Command>,
    id: Id,
    withdrawn: CancellationToken,
    answer: impl Future<Output = Answered<T>>,
) {
    let answered = tokio::select! {
        biased;
        () = withdrawn.cancelled() => None,
        answered = answer => Some(answered),
    };
    let (is_denial, failure) = match answered {
        None => (false, None),
        Some(answered) if answered.is_left_open => (false, None),
        Some(answered) => {
            let outcome = Json::new(&answered.result)
                .map_err(|error| RpcError::new(RpcError::INTERNAL, error.to_string()));
            // a connection that is gone is noticed by the session itself
            peer.respond(id.clone(), outcome).await.ok();
            (answered.is_denial, answered.failure)
        }
    };
    if let Some(session) = session.upgrade() {
        session.send(Command::Answered { id, is_denial, failure }).await.ok();
    }
}

fn unreadable<T>(result: T, failure: String) -> Answered<T> {
    Answered { result, is_denial: true, failure: Some(failure), is_left_open: false }
}
