//! Messages that go the same way together: they take one lock and one wake-up, not one each.

use std::collections::VecDeque;

use crate::message::Message;

/// Messages in their order, as they came out of a connection.
///
/// ```
/// use musher_rpc::{Batch, Limits, RawLine, lines_over};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Closed> {
/// let mut connection = lines_over(&b"one\ntwo\n"[..], tokio::io::sink(), Limits::default());
/// let mut batch = Batch::new();
/// connection.incoming.recv_batch(&mut batch).await?;
/// assert_eq!(batch.len(), 2);
/// assert_eq!(batch.pop(), Some(RawLine::from("one".to_owned())));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Batch<M>(pub(crate) VecDeque<(M, usize)>);

impl<M> Batch<M> {
    /// About how many bytes are received at once. No more, because what is received cannot be overtaken any more.
    pub(crate) const ENOUGH: usize = 16 * 1024;

    /// No messages.
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the first.
    pub fn pop(&mut self) -> Option<M> {
        self.0.pop_front().map(|(message, _)| message)
    }
}

impl<M: Message> Batch<M> {
    pub(crate) fn push(&mut self, message: M) {
        let weight = message.weight();
        self.0.push_back((message, weight));
    }
}

impl<M> Default for Batch<M> {
    fn default() -> Self {
        Self::new()
    }
}
