//! What several tests need: frames, deadlines, and a look at the processes of the machine.

use std::time::Duration;

use musher_rpc::{Closed, FrameReceiver};
use musher_wire::{Frame, Json, Notification};
use tokio::time::timeout;

/// Far more than anything here takes: a test that needs it has found a hang.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// Waits for something that must happen.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.expect("it should have happened long ago")
}

/// A notification with a number, to tell one from another.
pub(crate) fn notification(number: usize) -> Frame {
    Frame::Notification(Notification::new(
        "notification",
        Json::new(&serde_json::json!({"number": number})).unwrap(),
    ))
}

/// All frames until the end, and the reason of the end.
pub(crate) async fn all(incoming: &mut FrameReceiver) -> (Vec<Frame>, Closed) {
    let mut frames = Vec::new();
    loop {
        match soon(incoming.recv()).await {
            Ok(frame) => frames.push(frame),
            Err(closed) => return (frames, closed),
        }
    }
}
