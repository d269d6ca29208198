//! Names of contents: their SHA-256 in hex.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The hash of some bytes, 64 hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // writing to a string cannot fail
        write!(hex, "{byte:02x}").ok();
    }
    hex
}

/// Whether a text can be such a hash, and so the name of a file.
pub(super) fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
