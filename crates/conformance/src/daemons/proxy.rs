//! Stands between a client and a daemon: on a Unix socket outside of the sandbox, because the client's tasks run there; and cuts connections.

use std::net::{Ipv4Addr, TcpStream as StdStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Result;
use musher_rpc::{Admission, Connection, WebSocketOptions, accept_websocket, connect_websocket_over};
use testkit::Sandbox;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

/// Where the daemon listens.
#[derive(Debug, Clone)]
pub(super) enum Upstream {
    /// A port in the sandbox.
    Port(u16),
    /// A Unix socket.
    Socket(PathBuf),
}

/// A proxy on a socket; stops when dropped, with all its connections.
#[derive(Debug)]
pub(super) struct Proxy {
    path: PathBuf,
    connections: Arc<AtomicU32>,
    messages: Arc<AtomicU32>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy. With `cut_after`, its first connection is cut when this number of messages has passed, in both directions together;
    /// later connections are not.
    pub(super) fn start(
        sandbox: &Arc<Sandbox>,
        upstream: Upstream,
        path: &Path,
        cut_after: Option<u32>,
    ) -> Result<Self> {
        let listener = UnixListener::bind(path)?;
        let connections = Arc::new(AtomicU32::new(0));
        let messages = Arc::new(AtomicU32::new(0));
        let (sandbox, counted, passed) =
            (Arc::clone(sandbox), Arc::clone(&connections), Arc::clone(&messages));
        let task = tokio::spawn(async move {
            let mut links = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let Ok((client, _)) = accepted else { return };
                        let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
                        let limit = cut_after.filter(|_| is_first);
                        let (sandbox, upstream, passed) = (Arc::clone(&sandbox), upstream.clone(), Arc::clone(&passed));
                        links.spawn(async move {
                            // a daemon that is gone refuses, and so does the proxy
                            relay(client, &sandbox, &upstream, limit, &passed).await.ok();
                        });
                    }
                    Some(_) = links.join_next() => {}
                }
            }
        });
        Ok(Self { path: path.to_owned(), connections, messages, task })
    }

    /// Returns the address for clients.
    pub(super) fn url(&self) -> String {
        format!("unix:{}", self.path.display())
    }

    /// Returns the number of connections so far.
    pub(super) fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of messages that have passed.
    pub(super) fn messages(&self) -> u32 {
        self.messages.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Passes messages on until one side is gone or the limit is reached.
async fn relay(
    client: UnixStream,
    sandbox: &Sandbox,
    upstream: &Upstream,
    limit: Option<u32>,
    passed: &AtomicU32,
) -> Result<()> {
    let options = WebSocketOptions::default();
    let url = "ws://127.0.0.1/";
    let mut daemon = match upstream {
        Upstream::Port(port) => {
            let port = *port;
            let stream = sandbox.run(move || StdStream::connect((Ipv4Addr::LOCALHOST, port)))??;
            stream.set_nonblocking(true)?;
            connect_websocket_over(TcpStream::from_std(stream)?, url, options).await?
        }
        Upstream::Socket(path) => {
            connect_websocket_over(UnixStream::connect(path).await?, url, options).await?
        }
    };
    let mut client = accept_websocket(client, options, |_| Admission::Admit).await?;
    let mut count = 0;
    while limit.is_none_or(|limit| count < limit) {
        if !pass(&mut client, &mut daemon).await? {
            break;
        }
        count += 1;
        passed.fetch_add(1, Ordering::SeqCst);
    }
    // what was passed on before the cut still arrives
    daemon.outgoing.close();
    client.outgoing.close();
    Ok(())
}

/// Passes on one message; returns whether there was one.
async fn pass(client: &mut Connection, daemon: &mut Connection) -> Result<bool> {
    tokio::select! {
        frame = client.incoming.recv() => match frame {
            Ok(frame) => daemon.outgoing.send(frame).await?,
            Err(_gone) => return Ok(false),
        },
        frame = daemon.incoming.recv() => match frame {
            Ok(frame) => client.outgoing.send(frame).await?,
            Err(_gone) => return Ok(false),
        },
    }
    Ok(true)
}
