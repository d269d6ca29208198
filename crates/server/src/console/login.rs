//! Tickets, which log a browser in once, and the cookies that browsers get for them. Pure.
//!
//! A cookie is signed and not stored, so that a browser stays logged in when the daemon is started again. Its key is derived from the token
//! of the daemon: with a new token all browsers are logged out.

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use crate::daemon::Token;

/// How long a ticket is valid, in seconds.
const TICKET_LIFETIME: u64 = 10 * 60;
/// Tickets that wait for their browser. The oldest are dropped.
const MAX_TICKETS: usize = 16;
/// How long a cookie is valid, in seconds.
pub(super) const COOKIE_LIFETIME: u64 = 30 * 24 * 60 * 60;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The tickets that no browser has used.
#[derive(Default)]
pub(super) struct Tickets {
    open: VecDeque<(Token, u64)>,
}

impl std::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tickets({})", self.open.len())
    }
}

impl Tickets {
    pub(super) fn create(&mut self, now: u64) -> String {
        let ticket = Token::random();
        let text = ticket.as_str().to_owned();
        self.open.push_back((ticket, now + TICKET_LIFETIME));
        if self.open.len() > MAX_TICKETS {
            self.open.pop_front();
        }
        text
    }

    /// Removes a ticket. Returns whether it was valid.
    pub(super) fn take(&mut self, ticket: &str, now: u64) -> bool {
        self.open.retain(|(_, until)| now <= *until);
        // all are compared, so that the time tells nothing
        let mut found = None;
        for (at, (known, _)) in self.open.iter().enumerate() {
            if known.matches(ticket) {
                found = Some(at);
            }
        }
        found.is_some_and(|at| self.open.remove(at).is_some())
    }
}

/// The key that signs cookies.
pub(super) struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(...)")
    }
}

impl Key {
    pub(super) fn derive(token: &Token) -> Self {
        Self(hmac(token.as_str().as_bytes(), b"musher console cookie"))
    }

    /// Creates the value of a cookie: when it ends, a random part, and the signature of both.
    pub(super) fn cookie(&self, now: u64) -> String {
        let body = format!("{}.{}", now + COOKIE_LIFETIME, uuid::Uuid::new_v4().simple());
        format!("{body}.{}", self.sign(&body))
    }

    pub(super) fn verify(&self, cookie: &str, now: u64) -> bool {
        let Some((body, signature)) = cookie.rsplit_once('.') else { return false };
        let until = body.split('.').next().and_then(|until| until.parse::<u64>().ok());
        let is_signed = Token::new(self.sign(body)).is_some_and(|right| right.matches(signature));
        is_signed && until.is_some_and(|until| now <= until)
    }

    fn sign(&self, body: &str) -> String {
        hex(&hmac(&self.0, body.as_bytes()))
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    const BLOCK: usize = 64;
    let mut padded = [0_u8; BLOCK];
    if key.len() > BLOCK {
        padded[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    let inner = Sha256::new().chain_update(padded.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    let outer = Sha256::new().chain_update(padded.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize();
    outer.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_is_that_of_the_standard() {
        // RFC 4231, test cases 2 and 6
        assert_eq!(
            hex(&hmac(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(&hmac(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn ticket_is_valid_once_and_for_a_time() {
        let mut tickets = Tickets::default();
        let (one, other) = (tickets.create(100), tickets.create(100));
        assert!(!tickets.take("x", 100) && !tickets.take("", 100));
        assert!(tickets.take(&one, 100) && !tickets.take(&one, 100));
        assert!(!tickets.take(&other, 101 + TICKET_LIFETIME));
        let first = tickets.create(100);
        for _ in 0..MAX_TICKETS {
            tickets.create(100);
        }
        assert!(!tickets.take(&first, 100));
    }

    #[test]
    fn cookie_is_valid_for_its_key_and_time_only() {
        let token = Token::random();
        let (key, other) = (Key::derive(&token), Key::derive(&Token::random()));
        let cookie = key.cookie(100);
        assert!(key.verify(&cookie, 100) && Key::derive(&token).verify(&cookie, 100 + COOKIE_LIFETIME));
        assert!(!key.verify(&cookie, 101 + COOKIE_LIFETIME) && !other.verify(&cookie, 100));
        let longer = cookie.replacen(&(100 + COOKIE_LIFETIME).to_string(), "99999999999", 1);
        for forged in [longer.as_str(), "", ".", "1.2.3", &cookie[1..]] {
            assert!(!key.verify(forged, 100), "{forged}");
        }
    }
}
