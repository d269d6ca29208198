//! Reads the stderr of an agent to its end, and keeps its last bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncRead;

use super::process::OpenPipe;
use crate::stream::read_chunk;

/// Shorter values are not treated as secrets: masking them would garble the text.
const MIN_SECRET_LENGTH: usize = 4;

/// The last bytes of a stream, printed without the given secrets.
#[derive(Debug, Clone)]
pub(super) struct Tail(Arc<Inner>);

struct Inner {
    keep: usize,
    secrets: Vec<String>,
    bytes: Mutex<VecDeque<u8>>,
}

impl Tail {
    pub(super) fn new(keep: usize, mut secrets: Vec<String>) -> Self {
        secrets.retain(|secret| secret.len() >= MIN_SECRET_LENGTH);
        // the longest first: one secret may be part of another
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(Arc::new(Inner { keep, secrets, bytes: Mutex::default() }))
    }

    pub(super) fn push(&self, chunk: &[u8]) {
        // the length of a secret more than is shown, so that none is cut where the tail begins
        let keep = self.0.keep + self.0.secrets.first().map_or(0, String::len);
        let mut bytes = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(&chunk[chunk.len().saturating_sub(keep)..]);
        let surplus = bytes.len().saturating_sub(keep);
        bytes.drain(..surplus);
    }

    pub(super) fn text(&self) -> String {
        let bytes: Vec<u8> = {
            let bytes = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.iter().copied().collect()
        };
        let mut text = String::from_utf8_lossy(&bytes[self.start_of(&bytes)..]).into_owned();
        for secret in &self.0.secrets {
            text = text.replace(secret.as_str(), "***");
        }
        text
    }

    /// Returns where the text begins: before a secret that would be cut, and not within a character.
    fn start_of(&self, bytes: &[u8]) -> usize {
        let cut = bytes.len().saturating_sub(self.0.keep);
        for secret in self.0.secrets.iter().map(String::as_bytes) {
            let around = cut.saturating_sub(secret.len() - 1)..(cut + secret.len() - 1).min(bytes.len());
            if let Some(at) = memchr::memmem::find(&bytes[around.clone()], secret) {
                return around.start + at;
            }
        }
        let is_inside = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        cut + bytes[cut..].iter().take(3).take_while(is_inside).count()
    }
}

/// Omits the secrets and the text.
impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").field("keep", &self.keep).finish_non_exhaustive()
    }
}

/// Starts the task that reads `stderr` to its end.
pub(super) fn drain(mut stderr: impl AsyncRead + Unpin + Send + 'static, tail: Tail, pipe: OpenPipe) {
    tokio::spawn(async move {
        let read = |bytes: &[u8]| {
            tail.push(bytes);
            !bytes.is_empty()
        };
        while let Ok(true) = read_chunk(&mut stderr, read).await {}
        drop(pipe);
    });
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn tail_keeps_the_last_bytes() {
        let tail = Tail::new(5, Vec::new());
        tail.push(b"one ");
        tail.push(b"two three");
        assert_eq!(tail.text(), "three");
    }

    #[test]
    fn secret_is_hidden_even_where_the_tail_cuts_it() {
        let secrets = vec!["secret-key".to_owned(), "secret".to_owned(), "key".to_owned(), String::new()];
        let tail = Tail::new(15, secrets);
        tail.push(b"the key is secret-key, really");
        assert_eq!(tail.text(), "***, really");
        tail.push(b" secret-keysecret-key");
        assert_eq!(tail.text(), "******");
    }

    #[test]
    fn tail_never_cuts_a_character() {
        let tail = Tail::new(4, Vec::new());
        tail.push("ééé".as_bytes());
        assert_eq!(tail.text(), "éé");
        tail.push(b"x");
        assert_eq!(tail.text(), "éx");
    }
}
