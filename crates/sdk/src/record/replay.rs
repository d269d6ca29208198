//! An agent that plays a recording: the thin shell around [`Player`].

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use musher_rpc::{Connection, memory};
use musher_wire::{Frame, Json, Notification};
use tokio::time::timeout;

use super::player::{Next, Player};
use super::script::Script;
use super::tap::nth_path;
use crate::error::Kind;
use crate::{Agent, Connector, Error, Result};

/// The default time limit for the client's next step.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// An agent that replays a recording of [`Agent::record`].
///
/// Calls are matched by method and order, not by arguments; answers to the agent's requests must be the recorded ones. The
/// agent sends the recorded messages in the same order, without pauses. If a client does something that was not recorded,
/// the call fails and the connection ends; [`Replay::check`] returns the reason.
///
/// ```
/// use musher::{Replay, Session};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
/// let recording = r#"
///     {"dir":"c2s","msg":{"type":"request","id":"1","method":"droid.initialize_session","params":{}}}
///     {"dir":"s2c","msg":{"type":"response","id":"1","result":{"sessionId":"s-1","session":{"messages":[]}}}}
/// "#;
/// let replay = Replay::parse(recording)?;
/// let session = Session::builder().agent(replay.agent()).open().await?;
/// assert_eq!(session.id(), "s-1");
///
/// let refused = session.client().list_skills().await.unwrap_err();
/// assert!(refused.with_causes().to_string().contains("`droid.list_skills`, which was not recorded"));
/// assert!(replay.check().is_err());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Replay {
    scripts: Vec<Script>,
    is_strict: bool,
    timeout: Duration,
    stage: Arc<Mutex<Stage>>,
}

/// The results of the connections made so far.
#[derive(Debug, Default)]
struct Stage {
    connections: usize,
    complaint: Option<String>,
    /// For each connection, the next step that its client must do.
    left: Vec<Option<String>>,
}

impl Replay {
    /// Loads a recording, and those of further connections (`a.2.jsonl` beside `a.jsonl`).
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let read = |path: &Path| {
            fs_err::read_to_string(path).map_err(|source| Error::because(Kind::InvalidInput, source))
        };
        let mut replay = Self::parse(&read(path)?)?;
        for number in 2.. {
            let next = nth_path(path, number);
            if !next.exists() {
                break;
            }
            replay = replay.then(&read(&next)?)?;
        }
        Ok(replay)
    }

    /// Parses a recording of one connection.
    pub fn parse(recording: &str) -> Result<Self> {
        let scripts = vec![Script::parse(recording)?];
        Ok(Self { scripts, is_strict: false, timeout: DEFAULT_TIMEOUT, stage: Arc::default() })
    }

    /// Adds the recording of another connection, for operations that open one: a fork, a compaction, another session.
    pub fn then(mut self, recording: &str) -> Result<Self> {
        self.scripts.push(Script::parse(recording)?);
        Ok(self)
    }

    /// Requires the recorded arguments of calls, too, except for ids, tags and directories.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Sets how long the client may take for its next step before the replay fails; one minute by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns the agent. Its connections replay the recorded ones, each once.
    pub fn agent(&self) -> Agent {
        Agent::connector(self.clone())
    }

    /// Checks that clients did all that was recorded, and nothing else.
    pub fn check(&self) -> Result<()> {
        let stage = self.stage();
        if let Some(complaint) = &stage.complaint {
            return Err(replay_error(complaint));
        }
        if let Some(left) = stage.left.iter().flatten().next() {
            return Err(replay_error(left));
        }
        if stage.connections < self.scripts.len() {
            let (made, recorded) = (stage.connections, self.scripts.len());
            return Err(replay_error(&format!("{recorded} connections were recorded, {made} were made")));
        }
        Ok(())
    }

    fn stage(&self) -> std::sync::MutexGuard<'_, Stage> {
        // nothing panics while it is held
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> Result<Connection> {
        let mut stage = self.stage();
        let number = stage.connections;
        let Some(script) = self.scripts.get(number) else {
            let complaint = format!("only {number} connections were recorded");
            stage.complaint.get_or_insert(complaint.clone());
            return Err(replay_error(&complaint));
        };
        let player = Player::new(script.clone(), self.is_strict);
        stage.connections += 1;
        stage.left.push(player.wants());
        drop(stage);
        let (ours, theirs) = memory();
        tokio::spawn(self.clone().play(theirs, player, number));
        Ok(ours)
    }

    /// Plays until the client or the recorded agent ends the connection, or a step fails.
    async fn play(self, mut connection: Connection, mut player: Player, number: usize) {
        let mut noted = 0;
        loop {
            let next = player.next();
            if player.done > noted {
                // not for each word of the agent: a long recording has many
                noted = player.done;
                self.stage().left[number] = player.wants();
            }
            let complaint = match next {
                Ok(Next::Say(frame)) => match connection.outgoing.send(*frame).await {
                    Ok(()) => continue,
                    Err(_gone) => return,
                },
                Ok(Next::Leave) => return,
                Ok(Next::Wait) => {
                    let limit = if player.wants().is_some() { self.timeout } else { Duration::MAX };
                    match timeout(limit, connection.incoming.recv()).await {
                        Ok(Ok(frame)) => match player.take(frame) {
                            Ok(()) => continue,
                            Err(complaint) => complaint,
                        },
                        Ok(Err(_gone)) => return,
                        Err(_elapsed) => {
                            let wanted = player.wants().unwrap_or_default();
                            format!("{wanted}, but nothing came within {limit:?}")
                        }
                    }
                }
                Err(complaint) => complaint,
            };
            return self.fail(&connection, &mut player, complaint).await;
        }
    }

    /// Sends the failure to the client, too: a caller that reads only the turn should see why it ended.
    async fn fail(&self, connection: &Connection, player: &mut Player, complaint: String) {
        tracing::error!(complaint, "the recording does not fit");
        self.stage().complaint.get_or_insert(complaint.clone());
        let params = serde_json::json!({"notification": {
            "type": "error", "message": format!("replay: {complaint}"), "errorType": "replay",
        }});
        let notification = Notification::new("droid.session_notification", Json::from(params));
        let mut last_words = vec![Frame::Notification(notification)];
        last_words.extend(player.refusal());
        for frame in last_words {
            // a client that is gone does not need them
            connection.outgoing.send(frame).await.ok();
        }
    }
}

impl Connector for Replay {
    fn connect(&self) -> Pin<Box<dyn Future<Output = Result<Connection>> + Send + '_>> {
        Box::pin(std::future::ready(self.start()))
    }
}

fn replay_error(complaint: &str) -> Error {
    Error::because(Kind::Session, format!("replay: {complaint}"))
}
