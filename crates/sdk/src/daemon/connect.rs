//! The options of a connection to a daemon: which one, and what to do if there is none.

use std::future::IntoFuture;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use musher_rpc::{Bound, Launch};
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use super::address::{Address, Convention};
use super::link::{Link, LinkOptions};
use super::outbox::BOUND;
use super::socket::{Accepted, Place, Target, Token};
use super::{Daemon, DaemonState, MAX_EVENTS};
use crate::{Error, Result};

/// How long a lost connection is tried again by default.
const RECONNECT_FOR: Duration = Duration::from_mins(5);
/// How long a daemon that was started may take to listen.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two attempts to reach a daemon that was started.
const START_PAUSE: Duration = Duration::from_millis(100);

/// A connection to a daemon, made when this is awaited. See [`Daemon::connect`].
#[derive(Debug, Clone)]
#[must_use = "the connection is made when this is awaited"]
pub struct ConnectDaemon {
    place: Wanted,
    token: Token,
    home: Option<PathBuf>,
    starts: Option<Launch>,
    caller: String,
    options: LinkOptions,
}

#[derive(Debug, Clone)]
enum Wanted {
    Musher,
    Droid,
    Url(String),
}

impl Default for ConnectDaemon {
    fn default() -> Self {
        Self {
            place: Wanted::Musher,
            token: Token::None,
            home: None,
            starts: None,
            caller: concat!("musher/", env!("CARGO_PKG_VERSION")).to_owned(),
            options: LinkOptions { reconnect_for: RECONNECT_FOR, bound: BOUND },
        }
    }
}

impl ConnectDaemon {
    /// Sets the address: `unix:PATH`, `ws://HOST:PORT`, or `wss://HOST` with the feature `daemon-tls`.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.place = Wanted::Url(url.into());
        self
    }

    /// Connects to the user's `droid daemon`, on the port in its port file, or its usual port. Needs a [`token`](Self::token): the key
    /// for the vendor's service; by default the one in `FACTORY_API_KEY`.
    pub fn droid(mut self) -> Self {
        self.place = Wanted::Droid;
        self
    }

    /// Sets the directory of the daemon's socket and token; `MUSHER_HOME` or `~/.musher` by default. For a droid, `~/.factory`.
    pub fn home(mut self, home: impl AsRef<Path>) -> Self {
        self.home = Some(home.as_ref().to_owned());
        self
    }

    /// Sets the token. By default it is read from the file that `musher daemon` writes.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Token::Given(token.into());
        self
    }

    /// Sets the file with the token. It is read for each attempt, because a daemon that was restarted may have another one.
    pub fn token_file(mut self, file: impl AsRef<Path>) -> Self {
        self.token = Token::File(file.as_ref().to_owned());
        self
    }

    /// Starts the daemon with this program if none answers, and leaves it running: it is not a child of this process.
    ///
    /// ```no_run
    /// # async fn example() -> musher::Result<()> {
    /// use musher::{Daemon, Launch};
    ///
    /// let daemon = Daemon::connect().start(Launch::new("musher").args(["daemon"])).await?;
    /// # Ok(()) }
    /// ```
    pub fn start(mut self, launch: Launch) -> Self {
        self.starts = Some(launch);
        self
    }

    /// Sets the name of this client, as the daemon sees it.
    pub fn caller(mut self, name: impl Into<String>) -> Self {
        self.caller = name.into();
        self
    }

    /// Sets how long to try to connect again when the connection breaks; 5 minutes by default. Then all sessions end.
    pub fn reconnect_for(mut self, time: Duration) -> Self {
        self.options.reconnect_for = time;
        self
    }

    /// Sets how much may wait for the reader of one session before it is served later: by default 4096 messages or 8 MiB.
    pub fn session_limit(mut self, messages: usize, bytes: usize) -> Self {
        self.options.bound = Bound { messages, bytes };
        self
    }

    fn target(&self) -> Result<Target> {
        let convention = match &self.place {
            Wanted::Musher => Some(Convention::Musher { home: self.directory("MUSHER_HOME", ".musher")? }),
            Wanted::Droid => Some(Convention::Droid { home: self.directory("", ".factory")? }),
            Wanted::Url(_) => None,
        };
        let given = match &self.place {
            Wanted::Url(url) => Some(Address::parse(url)?),
            Wanted::Musher | Wanted::Droid => None,
        };
        let token = match (&self.token, &self.place) {
            (Token::None, Wanted::Droid) => {
                std::env::var("FACTORY_API_KEY").map_or(Token::None, Token::Given)
            }
            // the token of this machine is for daemons of this machine
            (Token::None, Wanted::Url(_)) if !given.as_ref().is_some_and(Address::is_local) => Token::None,
            (Token::None, Wanted::Url(_)) => {
                let home = self.directory("MUSHER_HOME", ".musher");
                home.map_or(Token::None, |home| Token::File(home.join("daemon.token")))
            }
            (Token::None, Wanted::Musher) => {
                convention.as_ref().and_then(Convention::token_file).map_or(Token::None, Token::File)
            }
            (given, _) => given.clone(),
        };
        let address = match (given, convention) {
            (Some(address), _) => Place::At(address),
            (None, Some(convention)) => Place::By(convention),
            (None, None) => return Err(Error::invalid_input("no address of a daemon was given")),
        };
        Ok(Target { address, token, caller: self.caller.as_str().into() })
    }

    fn directory(&self, variable: &str, folder: &str) -> Result<PathBuf> {
        if let Some(home) = &self.home {
            return Ok(home.clone());
        }
        let named = std::env::var_os(variable).filter(|value| !variable.is_empty() && !value.is_empty());
        let home = named.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(folder)));
        home.ok_or_else(|| {
            Error::invalid_input("the home directory is not known; name the daemon's directory")
        })
    }

    async fn connect(self) -> Result<Daemon> {
        let target = self.target()?;
        let accepted = match (target.connect().await, self.starts) {
            (Ok(accepted), _) => accepted,
            // a daemon that refuses is there
            (Err(error), Some(launch)) if error.is_connection() => started(&target, &launch, error).await?,
            (Err(error), _) => return Err(error),
        };
        let (state_sender, state) = watch::channel(DaemonState::Connected);
        let (events, _) = broadcast::channel(MAX_EVENTS);
        let weak = events.downgrade();
        let address = target.address().to_string();
        let link = Link::start(target, accepted, self.options, state_sender, events);
        Daemon::over(link, state, weak, address).await
    }
}

/// Starts a daemon, and connects when it listens.
async fn started(target: &Target, launch: &Launch, not_there: Error) -> Result<Accepted> {
    launch.start_detached().await?;
    let deadline = Instant::now() + START_TIMEOUT;
    let mut last = not_there;
    while Instant::now() < deadline {
        match target.connect().await {
            Ok(accepted) => return Ok(accepted),
            Err(error) if error.is_connection() => last = error,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(START_PAUSE).await;
    }
    Err(last)
}

impl IntoFuture for ConnectDaemon {
    type Output = Result<Daemon>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Daemon>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.connect())
    }
}
