//! Test helper: an agent on stdin and stdout that echoes the parameters of each call, and says `bye` when its input ends.

use std::time::Duration;

use musher_rpc::{Incoming, Limits, Peer, stdio};
use musher_wire::Json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (peer, mut inbox) = Peer::start(stdio(Limits::default())?);
    while let Some(incoming) = inbox.recv().await {
        if let Incoming::Request(request) = incoming {
            let params = request.params.ok_or("a call without parameters")?;
            peer.respond(request.id, Ok(params)).await?;
        }
    }
    peer.notify("bye", Json::empty_object()).await?;
    if peer.finish(Duration::from_secs(30)).await { Ok(()) } else { Err("not everything was written".into()) }
}
