//! What kind of file some bytes are. Pure.

use std::borrow::Cow;

use infer::MatcherType;

/// The kind of a file, as far as it matters for a model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// Text, without a byte order mark.
    Text(Cow<'a, str>),
    /// An image that models accept, with its media type.
    Image(&'static str),
    /// A PDF.
    Pdf,
    /// Anything else, with its media type or a description.
    Binary(&'static str),
}

/// The number of bytes that are searched for control characters.
const SAMPLE_BYTES: usize = 64 << 10;

impl<'a> Kind<'a> {
    /// Looks at the content, not at the name: a file with the wrong ending would be rejected by a vendor.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        if bytes.starts_with(b"%PDF-") {
            return Self::Pdf;
        }
        if let Some(text) = utf16(bytes) {
            return Self::Text(Cow::Owned(text));
        }
        let has_nul = memchr::memchr(0, bytes).is_some();
        if !has_nul && let Ok(text) = str::from_utf8(bytes) {
            return Self::Text(Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)));
        }
        match infer::get(bytes) {
            Some(found) if found.matcher_type() != MatcherType::Text => match found.mime_type() {
                image @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp") => Self::Image(image),
                "application/pdf" => Self::Pdf,
                other => Self::Binary(other),
            },
            _ if has_nul || has_many_controls(bytes) => Self::Binary("unknown binary format"),
            // text in an encoding of one byte: Latin-1 has a character for each
            _ => Self::Text(Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect())),
        }
    }
}

/// Decodes UTF-16 with a byte order mark.
fn utf16(bytes: &[u8]) -> Option<String> {
    let (rest, unit): (_, fn([u8; 2]) -> u16) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return None,
    };
    let (units, rest) = rest.as_chunks::<2>();
    let units: Vec<u16> = units.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok().filter(|text| rest.is_empty() && !text.contains('\0'))
}

/// Returns whether more than two in a hundred bytes are control characters that texts do not have.
fn has_many_controls(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let is_control = |byte: &&u8| byte.is_ascii_control() && !b"\t\n\r\x0c\x1b".contains(byte);
    sample.iter().filter(is_control).count() * 50 > sample.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_follows_from_the_content() {
        let text = |text: &'static str| Kind::Text(Cow::Borrowed(text));
        for (bytes, expected) in [
            (&b""[..], text("")),
            (b"BMW is a maker of cars\n", text("BMW is a maker of cars\n")),
            (b"#!/bin/sh\n", text("#!/bin/sh\n")),
            (b"\xef\xbb\xbfmarked", text("marked")),
            (b"caf\xe9 noir", text("caf\u{e9} noir")),
            (b"\xff\xfeh\0i\0", text("hi")),
            (b"\xfe\xff\0h\0i", text("hi")),
            (b"\x1b[1mbold\x1b[0m", text("\u{1b}[1mbold\u{1b}[0m")),
            (b"%PDF-1.7\n", Kind::Pdf),
            (b"\x89PNG\r\n\x1a\n\0", Kind::Image("image/png")),
            (b"\xff\xd8\xff\xe0\0", Kind::Image("image/jpeg")),
            (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", Kind::Binary("application/x-executable")),
            (b"\x1f\x8b\x08\0\0\0\0\0", Kind::Binary("application/gzip")),
            (b"text\0with a nul", Kind::Binary("unknown binary format")),
            (b"\x01\x02\x03\xff\xfe\xfd", Kind::Binary("unknown binary format")),
        ] {
            assert_eq!(Kind::of(bytes), expected, "{bytes:?}");
        }
    }
}
