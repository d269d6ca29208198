//! The task behind a [`Daemon`](super::Daemon): one connection for all sessions, which is made again when it breaks.
//!
//! It only moves messages; [`Core`] decides. It never waits for a session, and for the daemon only with the sessions' input held back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Bound, Closed, Connection, FrameReceiver, FrameSender, Limits, memory_with};
use musher_wire::{Frame, Notification};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::core::{Core, Effect, RouteId};
use super::outbox::{Outbox, Taken};
use super::socket::{Accepted, Target};
use super::{DaemonState, core};
use crate::{Error, Result};

/// The maximum number of messages from sessions that wait.
const COMMANDS: usize = 1024;
/// The pause before the first attempt to connect again; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// The pause before a session is loaded again that could not be.
const RELOAD_PAUSE: Duration = Duration::from_millis(500);
/// The bound between the outbox of a session and its reader.
const HAND_OVER: Bound = Bound { messages: 64, bytes: 256 * 1024 };
/// How long the daemon may take to take what was sent, when the connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A message to the task.
#[derive(Debug)]
pub(super) enum Command {
    Open(RouteId, Outbox),
    FromSession(RouteId, Frame),
    Gone(RouteId),
    Drained(RouteId),
    /// Close the connection now.
    Close,
}

/// How the link behaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkOptions {
    /// How long to try to connect again.
    pub(super) reconnect_for: Duration,
    /// The bound of each session.
    pub(super) bound: Bound,
}

/// The way to the task. It ends when all clones are gone.
#[derive(Debug, Clone)]
pub(super) struct Link {
    commands: mpsc::Sender<Command>,
    next: Arc<std::sync::atomic::AtomicU64>,
    bound: Bound,
}

impl Link {
    /// Starts the task with a connection that is there.
    pub(super) fn start(
        target: Target,
        accepted: Accepted,
        options: LinkOptions,
        state: watch::Sender<DaemonState>,
        events: broadcast::Sender<Arc<Notification>>,
    ) -> Self {
        let (commands, received) = mpsc::channel(COMMANDS);
        let mut core = Core::default();
        core.open(core::CONTROL);
        let task = Task {
            core,
            target,
            options,
            state,
            events,
            outboxes: HashMap::new(),
            unsent: VecDeque::new(),
            reloads: Vec::new(),
            begun: Instant::now(),
        };
        tokio::spawn(task.run(accepted, received));
        Self {
            commands,
            next: Arc::new(std::sync::atomic::AtomicU64::new(core::CONTROL + 1)),
            bound: options.bound,
        }
    }

    /// Makes a connection for one session.
    pub(super) async fn connect(&self) -> Result<Connection> {
        let id = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.connect_as(id).await
    }

    /// Makes the connection of a route.
    pub(super) async fn connect_as(&self, id: RouteId) -> Result<Connection> {
        // the outbox is the queue of the session; this one only hands over
        let hand_over = Limits { data: HAND_OVER, ..Limits::default() };
        let (near, far) = memory_with(Limits::default(), hand_over);
        let outbox = Outbox::new(self.bound);
        let open = Command::Open(id, outbox.clone());
        self.commands.send(open).await.map_err(|_closed| Error::closed(Closed::Local))?;
        tokio::spawn(from_session(id, far.incoming, self.commands.clone()));
        tokio::spawn(to_session(id, outbox, far.outgoing, self.commands.downgrade()));
        Ok(near)
    }

    /// Closes the connection to the daemon; all sessions end on this side.
    pub(super) async fn close(&self) {
        self.commands.send(Command::Close).await.ok();
        self.commands.closed().await;
    }
}

/// Moves the messages of a session to the task.
async fn from_session(id: RouteId, mut incoming: FrameReceiver, commands: mpsc::Sender<Command>) {
    while let Ok(frame) = incoming.recv().await {
        if commands.send(Command::FromSession(id, frame)).await.is_err() {
            return;
        }
    }
    commands.send(Command::Gone(id)).await.ok();
}

/// Moves messages to a session at its own pace.
async fn to_session(id: RouteId, outbox: Outbox, outgoing: FrameSender, commands: mpsc::WeakSender<Command>) {
    loop {
        match outbox.take().await {
            Taken::Frame(frame) => {
                if outgoing.send(frame).await.is_err() {
                    return;
                }
            }
            Taken::Drained => {
                let Some(commands) = commands.upgrade() else { return };
                commands.send(Command::Drained(id)).await.ok();
            }
            Taken::Closed(why) => return outgoing.close_because(why),
        }
    }
}

struct Task {
    core: Core,
    target: Target,
    options: LinkOptions,
    state: watch::Sender<DaemonState>,
    events: broadcast::Sender<Arc<Notification>>,
    outboxes: HashMap<RouteId, Outbox>,
    /// Messages for which the connection had no room.
    unsent: VecDeque<Frame>,
    /// Sessions to load again, and when.
    reloads: Vec<(Instant, RouteId)>,
    begun: Instant,
}

impl Task {
    async fn run(mut self, accepted: Accepted, mut commands: mpsc::Receiver<Command>) {
        let mut accepted = Some(accepted);
        let why = loop {
            let Some(now) = accepted.take() else { break Closed::Ended };
            let Some(why) = self.serve(now, &mut commands).await else { break Closed::Local };
            tracing::info!(why = %musher_rpc::with_causes(&why), "the connection to the daemon broke");
            match self.reconnect(&mut commands, &why).await {
                Ok(again) => accepted = again,
                Err(error) => {
                    tracing::warn!(error = %error.with_causes(), "cannot connect to the daemon again");
                    break why;
                }
            }
            if accepted.is_none() {
                break Closed::Local;
            }
        };
        self.core.give_up(&why);
        self.perform(None);
        self.state.send_replace(DaemonState::Closed);
    }

    /// Serves one connection. Returns why it broke, or `None` if this side is done.
    async fn serve(&mut self, accepted: Accepted, commands: &mut mpsc::Receiver<Command>) -> Option<Closed> {
        let Accepted { connection, token, early } = accepted;
        let Connection { mut incoming, outgoing } = connection;
        self.unsent.clear();
        self.core.set_now(self.begun.elapsed());
        self.core.connected(token);
        for frame in early {
            self.core.daemon_says(frame);
        }
        self.state.send_replace(DaemonState::Connected);
        let mut batch = VecDeque::new();
        loop {
            self.perform(Some(&outgoing));
            let reload = self.reloads.iter().map(|(at, _)| *at).min();
            tokio::select! {
                command = commands.recv(), if self.unsent.is_empty() => match command {
                    None | Some(Command::Close) => {
                        self.perform(Some(&outgoing));
                        outgoing.finish(CLOSE_TIMEOUT).await;
                        return None;
                    }
                    Some(command) => self.command(command),
                },
                received = incoming.recv_batch(&mut batch) => match received {
                    Ok(()) => {
                        self.core.set_now(self.begun.elapsed());
                        batch.drain(..).for_each(|frame| self.core.daemon_says(frame));
                    }
                    Err(why) => {
                        self.core.disconnected();
                        return Some(why);
                    }
                },
                () = room(&self.unsent, &outgoing), if !self.unsent.is_empty() => {
                    self.unsent.pop_front();
                }
                () = until(reload), if reload.is_some() => self.reload_due(),
            }
        }
    }

    /// Connects again, with growing pauses. Returns `None` if this side is done meanwhile.
    async fn reconnect(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
        why: &Closed,
    ) -> Result<Option<Accepted>> {
        let deadline = Instant::now() + self.options.reconnect_for;
        let mut pause = FIRST_PAUSE;
        let mut attempt = 0;
        let mut last = Error::closed(why.clone());
        self.perform(None);
        loop {
            attempt += 1;
            self.state.send_replace(DaemonState::Reconnecting { attempt });
            let target = self.target.clone();
            let connecting = async move {
                tokio::time::sleep(jittered(pause)).await;
                target.connect().await
            };
            // in a task of its own, because sessions must be served meanwhile
            let mut attempts = JoinSet::new();
            attempts.spawn(timeout_at(deadline, connecting));
            let outcome = loop {
                tokio::select! {
                    Some(outcome) = attempts.join_next() => break outcome,
                    command = commands.recv() => match command {
                        None | Some(Command::Close) => return Ok(None),
                        Some(command) => {
                            self.command(command);
                            self.perform(None);
                        }
                    },
                }
            };
            match outcome {
                Ok(Ok(Ok(accepted))) => return Ok(Some(accepted)),
                Ok(Ok(Err(error))) => last = error,
                Ok(Err(_elapsed)) => return Err(last),
                Err(_panicked) => {}
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    fn command(&mut self, command: Command) {
        self.core.set_now(self.begun.elapsed());
        match command {
            Command::Open(id, outbox) => {
                self.outboxes.insert(id, outbox);
                if id != core::CONTROL {
                    self.core.open(id);
                }
            }
            Command::FromSession(id, frame) => self.core.session_says(id, frame),
            Command::Gone(id) => {
                if let Some(outbox) = self.outboxes.remove(&id) {
                    outbox.close(Closed::Local);
                }
                self.core.gone(id);
            }
            Command::Drained(id) => self.core.drained(id),
            Command::Close => {}
        }
    }

    fn reload_due(&mut self) {
        let now = Instant::now();
        let due: Vec<_> = self.reloads.extract_if(.., |(at, _)| *at <= now).collect();
        for (_, id) in due {
            self.core.reload(id);
        }
    }

    /// Does what the core wants. Without a connection, messages to the daemon are not sent: the core sends them on the next one.
    fn perform(&mut self, outgoing: Option<&FrameSender>) {
        loop {
            let effects = self.core.effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    Effect::Send(frame) => {
                        if let Some(outgoing) = outgoing {
                            self.send(outgoing, frame);
                        }
                    }
                    Effect::Deliver(core::CONTROL, Frame::Notification(notification)) => {
                        // having no listener is not a failure
                        self.events.send(Arc::new(notification)).ok();
                    }
                    Effect::Deliver(id, frame) => {
                        if self.outboxes.get(&id).is_some_and(|outbox| outbox.push(frame)) {
                            self.core.overflowed(id);
                        }
                    }
                    Effect::Respond(id, frame) => {
                        if let Some(outbox) = self.outboxes.get(&id) {
                            outbox.push(frame);
                        }
                    }
                    Effect::HangUp(id, why) => {
                        if let Some(outbox) = self.outboxes.remove(&id) {
                            outbox.close(why);
                        }
                    }
                    Effect::ReloadLater(id) => self.reloads.push((Instant::now() + RELOAD_PAUSE, id)),
                }
            }
        }
    }

    fn send(&mut self, outgoing: &FrameSender, frame: Frame) {
        use musher_rpc::NotSent;
        if !self.unsent.is_empty() {
            return self.unsent.push_back(frame);
        }
        match outgoing.try_send(frame) {
            // a connection that is closed is noticed by its reader
            Ok(()) | Err(NotSent::Closed) => {}
            Err(NotSent::Full(frame)) => self.unsent.push_back(frame),
        }
    }
}

/// Sends the first message that waits, once there is room for it.
async fn room(unsent: &VecDeque<Frame>, outgoing: &FrameSender) {
    if let Some(frame) = unsent.front() {
        // a connection that is closed is noticed by its reader
        outgoing.send(frame.clone()).await.ok();
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Between half and all of the pause, so that many clients of a daemon that was restarted do not come at once.
fn jittered(pause: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_u128() & 0xFFFF;
    #[expect(clippy::cast_precision_loss, reason = "16 bits fit")]
    let share = random as f64 / 65536.0;
    pause.mul_f64(0.5 + share / 2.0)
}
