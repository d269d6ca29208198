//! One connection: authentication, routing of calls and answers, and what every client is sent.
//!
//! The reader waits for no session. Responses of calls that read the disk come when they are done.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use musher_engine::SessionId;
use musher_rpc::{Connection, FrameSender};
use musher_wire::{Frame, Id, Json, Notification, Request, Response, RpcError};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::error;
use super::hub::{Hub, StateChange};
use super::local;
use super::params;
use super::registry::Registry;
use super::rewrite;
use super::session::{self, Call, Client, Control, FORWARDED};
use super::worktree;
use crate::console;

/// How long a client may take to authenticate.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Responses that wait for a client that does not read.
const MAX_REPLIES: usize = 256;
/// Calls of a client that read the disk at once. Further ones wait.
const MAX_LOCAL: usize = 4;
/// Such calls that wait.
const MAX_LOCAL_WAITING: usize = 64;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A connection.
struct Conversation {
    hub: Arc<Hub>,
    client: Client,
    is_authenticated: bool,
    /// Lifts the limits on clients that are not authenticated.
    admitted: Arc<AtomicBool>,
    /// Counts clients that are not authenticated.
    permit: Option<OwnedSemaphorePermit>,
    /// The sessions that this client may follow.
    followed: HashSet<SessionId>,
    tasks: JoinSet<()>,
    local: Arc<Semaphore>,
    /// Whether it has asked for the inbox.
    watches_inbox: bool,
}

/// Serves a client until it is gone. When it has authenticated, `admitted` is set, and the permit of those who have not is returned.
pub(crate) async fn serve(
    hub: Arc<Hub>,
    connection: Connection,
    admitted: Arc<AtomicBool>,
    permit: OwnedSemaphorePermit,
    is_logged_in: bool,
) {
    let Connection { mut incoming, outgoing } = connection;
    let (replies, waiting) = mpsc::channel(MAX_REPLIES);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    hub.connected(id, outgoing.clone());
    let mut it = Conversation {
        client: Client { id, outgoing: outgoing.clone(), replies },
        hub: Arc::clone(&hub),
        is_authenticated: false,
        admitted,
        permit: Some(permit),
        followed: HashSet::new(),
        tasks: JoinSet::new(),
        local: Arc::new(Semaphore::new(MAX_LOCAL)),
        watches_inbox: false,
    };
    if is_logged_in {
        it.admit();
    }
    let mut writer = JoinSet::new();
    writer.spawn(write_replies(waiting, outgoing.clone()));
    let deadline = Instant::now() + LOGIN_TIMEOUT;
    loop {
        tokio::select! {
            frame = incoming.recv() => match frame {
                Ok(frame) => it.frame(frame),
                Err(reason) => {
                    tracing::debug!(client = id, reason = %musher_rpc::with_causes(&reason), "a client is gone");
                    break;
                }
            },
            () = sleep_until(deadline), if !it.is_authenticated && !it.admitted.load(Ordering::Relaxed) => {
                tracing::debug!(client = id, "disconnected a client that has not authenticated");
                break;
            }
            () = outgoing.closed() => break,
            Some(_) = it.tasks.join_next() => {}
        }
    }
    outgoing.close();
    hub.registry.unfollow(id, &it.followed);
    hub.disconnected(id);
}

async fn write_replies(mut waiting: mpsc::Receiver<Frame>, outgoing: FrameSender) {
    while let Some(frame) = waiting.recv().await {
        if outgoing.send_now(frame).await.is_err() {
            return;
        }
    }
}

impl Conversation {
    fn frame(&mut self, frame: Frame) {
        if let Err(reason) = frame.check_envelope() {
            return self.malformed(&frame, &reason);
        }
        match frame {
            Frame::Request(request) => {
                self.hub.metrics.requests.add(1);
                if let Err(refusal) = self.request(&request) {
                    self.respond(&request, Err(refusal));
                }
            }
            Frame::Response(response) if self.is_authenticated => self.answer(response),
            Frame::Response(_) | Frame::Notification(_) | Frame::Malformed(_) => {}
        }
    }

    fn malformed(&self, frame: &Frame, reason: &musher_wire::Reason) {
        tracing::debug!(client = self.client.id, %reason, "a client sent what is not a message");
        let (id, has_number) = match frame {
            Frame::Request(request) => (request.id.clone(), matches!(request.id, Id::Number(_))),
            Frame::Malformed(malformed) => (malformed.id.clone().unwrap_or(Id::Null), false),
            Frame::Response(_) | Frame::Notification(_) => (Id::Null, false),
        };
        // the real daemon repeats the id before a login, and not after it
        let repeats = !self.is_authenticated && matches!(id, Id::Text(_));
        let refusal =
            if has_number && !self.is_authenticated { error::not_authenticated() } else { error::parse() };
        let id = if repeats { id } else { Id::Null };
        self.hub.metrics.errors.add(1);
        self.client.respond(Frame::Response(Response::new(id, Err(refusal))));
    }

    fn respond(&self, request: &Request, outcome: Result<Json, RpcError>) {
        let outcome = outcome.map_err(|refusal| {
            self.hub.metrics.errors.add(1);
            error::with_versions(refusal, request)
        });
        self.client.respond(Frame::Response(Response::new(request.id.clone(), outcome)));
    }

    /// Handles a request, or returns why it is refused.
    fn request(&mut self, request: &Request) -> Result<(), RpcError> {
        let method = &*request.method;
        if method == "daemon.authenticate" {
            return self.authenticate(request);
        }
        if !self.is_authenticated {
            return Err(error::unknown_method(method));
        }
        match method {
            "daemon.logout" => self.logout(request),
            "daemon.initialize_session" => return self.initialize(request),
            "daemon.load_session" | "daemon.add_user_message" => {
                let fields = params::checked(request)?;
                if method == "daemon.load_session" {
                    params::text(&fields, "token")?;
                }
                let session = session_id(&fields)?;
                self.known(&session)?;
                if method == "daemon.load_session" {
                    self.followed.insert(session.clone());
                }
                return self.call(&session, request, fields);
            }
            "daemon.interrupt_session" => {
                let fields = params::checked(request)?;
                let session = session_id(&fields)?;
                let call = self.to_call(request, fields);
                let sent = self.hub.registry.control(&session, Control::Interrupt(call));
                if let Err(control) = sent
                    && let Control::Interrupt(call) = *control
                {
                    session::refuse(&call, error::not_open());
                }
            }
            "daemon.close_session" => {
                let fields = params::checked(request)?;
                let session = session_id(&fields)?;
                if self.hub.registry.info(&session).is_none() {
                    self.respond(request, Ok(Json::empty_object()));
                    return Ok(());
                }
                return self.call(&session, request, fields);
            }
            "daemon.list_inbox" => {
                self.watch_inbox();
                self.respond(request, Ok(self.hub.questions.list()));
            }
            "daemon.answer_inbox" => return self.answer_inbox(request),
            _ if FORWARDED.contains(&method) => {
                let fields = params::checked(request)?;
                let session = session_id(&fields)?;
                self.known(&session)?;
                return self.call(&session, request, fields);
            }
            _ if local::is_known(method) || console::is_known(method) => return self.local(request),
            _ => return Err(error::unknown_method(method)),
        }
        Ok(())
    }

    fn authenticate(&mut self, request: &Request) -> Result<(), RpcError> {
        let fields = params::fields(request).map_err(|_invalid| error::parse())?;
        let text = |name: &str| fields.get(name).and_then(|value| value.to::<String>().ok());
        let (Some(_caller), true) = (text("caller"), text("apiKey").is_some() || text("token").is_some())
        else {
            return Err(error::parse());
        };
        // both are compared, so that the time tells nothing about which one is right
        let token = &self.hub.options.token;
        let is_right = [text("apiKey"), text("token")].iter().fold(false, |is_right, given| {
            is_right | given.as_deref().is_some_and(|given| token.matches(given))
        });
        if !is_right {
            self.hub.metrics.failed_logins.add(1);
            return Err(error::wrong_credential());
        }
        self.respond(request, Ok(Json::from(json!({"userId": "local", "orgId": "local"}))));
        self.admit();
        Ok(())
    }

    /// The client has authenticated.
    fn admit(&mut self) {
        let status = json!({
            "supportsRequestCwd": true,
            "isDroidCLIInPath": false,
            "droidCLIVersion": env!("CARGO_PKG_VERSION"),
            "homedir": self.hub.options.user_home.as_deref().unwrap_or(std::path::Path::new("")).to_string_lossy(),
            "platform": std::env::consts::OS,
            "hostId": self.hub.options.host_id,
        });
        let status = Notification::new("daemon.connection_status", Json::from(status));
        self.client.respond(Frame::Notification(status));
        if !self.is_authenticated {
            self.is_authenticated = true;
            self.admitted.store(true, Ordering::Relaxed);
            self.permit = None;
            let states = self.hub.states.subscribe();
            self.tasks.spawn(tell_states(Arc::clone(&self.hub), states, self.client.clone()));
        }
    }

    /// The connection stays, and methods vanish.
    fn logout(&mut self, request: &Request) {
        self.respond(request, Ok(Json::from(json!({"accepted": true}))));
        self.is_authenticated = false;
        self.tasks.abort_all();
        self.hub.registry.unfollow(self.client.id, &self.followed);
        self.followed.clear();
        self.watches_inbox = false;
    }

    fn initialize(&mut self, request: &Request) -> Result<(), RpcError> {
        let mut fields = params::checked(request)?;
        params::text(&fields, "token")?;
        let cwd = params::text(&fields, "cwd")?;
        let session = match params::optional::<String>(&fields, "sessionId", "string")? {
            Some(id) => {
                SessionId::parse(&id).ok_or_else(|| error::invalid_value("sessionId", "Invalid id"))?
            }
            None => SessionId::random(),
        };
        if !std::path::Path::new(&cwd).is_dir() {
            return Err(error::no_directory(&cwd));
        }
        fields.insert("sessionId", Value::from(session.as_str()));
        self.followed.insert(session.clone());
        let wanted = worktree::wanted(&fields)?;
        fields.remove("worktree");
        match wanted {
            Some(wanted) => self.initialize_in_worktree(session, request, fields, wanted, cwd.into()),
            None => self.call(&session, request, fields),
        }
    }

    /// Creates the worktree of a session, then the session in it.
    fn initialize_in_worktree(
        &mut self,
        session: SessionId,
        request: &Request,
        mut fields: musher_wire::Extra,
        wanted: worktree::Wanted,
        cwd: std::path::PathBuf,
    ) -> Result<(), RpcError> {
        if self.tasks.len() > MAX_LOCAL_WAITING {
            return Err(error::busy("too many requests wait"));
        }
        let (hub, local) = (Arc::clone(&self.hub), Arc::clone(&self.local));
        let mut call = self.to_call(request, musher_wire::Extra::default());
        let failed = call.caller();
        self.tasks.spawn(async move {
            let Ok(_permit) = local.acquire().await else { return };
            let created = worktree::create(&hub, &session, &cwd, wanted).await;
            let sent = created.map(|worktree| {
                fields.insert("cwd", Value::from(worktree.cwd().to_string_lossy()));
                fields.insert("worktree", worktree.value());
                call.fields = fields;
                call
            });
            let refused = match sent {
                Ok(call) => {
                    let caller = call.caller();
                    hub.registry.call(&hub, &session, call).map_err(|refusal| (caller, refusal))
                }
                Err(refusal) => Err((failed, refusal)),
            };
            if let Err((caller, refusal)) = refused {
                hub.metrics.errors.add(1);
                caller.respond(Err(refusal));
            }
        });
        Ok(())
    }

    /// Fails if there is no such session, so that no task is started for it.
    fn known(&self, session: &SessionId) -> Result<(), RpcError> {
        let options = &self.hub.options;
        let is_known = self.hub.registry.info(session).is_some()
            || options.store.find(session).is_some()
            || options.agents.finds(session);
        if is_known { Ok(()) } else { Err(error::no_session(session.as_str())) }
    }

    fn to_call(&self, request: &Request, fields: musher_wire::Extra) -> Call {
        Call { client: self.client.clone(), request: request.clone(), fields }
    }

    fn call(
        &self,
        session: &SessionId,
        request: &Request,
        fields: musher_wire::Extra,
    ) -> Result<(), RpcError> {
        let call = self.to_call(request, fields);
        self.hub.registry.call(&self.hub, session, call)
    }

    /// An answer to a question. Any client may answer; the first answer counts.
    fn answer(&self, response: Response) {
        let Some(id) = response.id.as_str().map(str::to_owned) else { return };
        let Some(session) = self.hub.questions.session_of(&id) else {
            tracing::debug!(%id, "ignored an answer to a question that is not open");
            return;
        };
        let control = Control::Answer { id, outcome: response.outcome, reply: None };
        if let Err(refusal) = self.hub.registry.control_open(&self.hub, &session, control) {
            tracing::warn!(%refusal, "an answer was dropped");
        }
    }

    fn answer_inbox(&self, request: &Request) -> Result<(), RpcError> {
        let fields = params::fields(request)?;
        let id = params::text(&fields, "requestId")?;
        let result = fields.get("result").cloned();
        let result = result.ok_or_else(|| error::invalid("result", "object", "undefined"))?;
        let Some(session) = self.hub.questions.session_of(&id) else {
            self.respond(request, Ok(Json::from(json!({"accepted": false}))));
            return Ok(());
        };
        let reply = Some(self.to_call(request, fields).caller());
        let control = Control::Answer { id, outcome: Ok(result), reply };
        self.hub.registry.control_open(&self.hub, &session, control)
    }

    fn watch_inbox(&mut self) {
        if std::mem::replace(&mut self.watches_inbox, true) {
            return;
        }
        let (mut changes, hub, client) =
            (self.hub.questions.follow(), Arc::clone(&self.hub), self.client.clone());
        changes.mark_unchanged();
        self.tasks.spawn(async move {
            while changes.changed().await.is_ok() {
                changes.mark_unchanged();
                let notice = Notification::new("daemon.inbox_changed", hub.questions.list());
                if client.outgoing.send(Frame::Notification(notice)).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Runs a call that reads the disk, beside others.
    fn local(&mut self, request: &Request) -> Result<(), RpcError> {
        if self.tasks.len() > MAX_LOCAL_WAITING {
            return Err(error::busy("too many requests wait"));
        }
        let (hub, client, request) = (Arc::clone(&self.hub), self.client.clone(), request.clone());
        let local = Arc::clone(&self.local);
        self.tasks.spawn(async move {
            let Ok(_permit) = local.acquire().await else { return };
            let outcome = local::handle(&hub, &request).await;
            let outcome = outcome.map_err(|refusal| {
                hub.metrics.errors.add(1);
                error::with_versions(refusal, &request)
            });
            client.respond(Frame::Response(Response::new(request.id, outcome)));
        });
        Ok(())
    }
}

/// Tells a client what it has to know about sessions that it does not follow.
async fn tell_states(hub: Arc<Hub>, mut states: broadcast::Receiver<Arc<StateChange>>, client: Client) {
    loop {
        let frames = match states.recv().await {
            Ok(change) => match &*change {
                StateChange::Session { session, payload } => {
                    if hub.registry.follows(session, client.id) {
                        continue;
                    }
                    vec![rewrite::notification(session.as_str(), payload, None)]
                }
                StateChange::Everyone(frame) => vec![frame.clone()],
            },
            // the states of now replace those that were missed
            Err(broadcast::error::RecvError::Lagged(_)) => current_states(&hub.registry, client.id),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        for frame in frames {
            if client.outgoing.send(frame).await.is_err() {
                return;
            }
        }
    }
}

fn current_states(registry: &Registry, client: u64) -> Vec<Frame> {
    let opened = registry.opened();
    let others = opened.iter().filter(|(session, _)| !registry.follows(session, client));
    let frame = |(session, info): &(SessionId, session::Info)| {
        let payload = json!({"type": "droid_working_state_changed", "newState": info.state});
        rewrite::notification(session.as_str(), &payload.to_string(), None)
    };
    others.map(frame).collect()
}

fn session_id(fields: &musher_wire::Extra) -> Result<SessionId, RpcError> {
    let id = params::text(fields, "sessionId")?;
    SessionId::parse(&id).ok_or_else(|| error::no_session(&id))
}
