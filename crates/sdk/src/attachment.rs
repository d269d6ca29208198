//! Pictures and files that go with a prompt, checked before anything is sent.

use musher_wire::Source;

use crate::{Error, Result};

/// The picture types that models take.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A picture.
///
/// ```
/// use musher::Image;
///
/// let image = Image::base64("image/png", "iVBORw0KGgo=")?;
/// assert!(Image::base64("image/bmp", "Qk0=").unwrap_err().is_invalid_input());
/// # Ok::<(), musher::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Image(pub(crate) Source);

impl Image {
    /// A picture that is encoded already.
    pub fn base64(media_type: &str, data: impl Into<String>) -> Result<Self> {
        if !IMAGE_TYPES.contains(&media_type) {
            let known = IMAGE_TYPES.join(", ");
            return Err(Error::invalid_input(format!("`{media_type}` is no picture type (known: {known})")));
        }
        let data = data.into();
        check_base64(&data)?;
        Ok(Self(Source::base64(media_type, data)))
    }

    /// A picture from its bytes; the type is told by how they begin.
    pub fn bytes(bytes: &[u8]) -> Result<Self> {
        let media_type = match bytes {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return Err(Error::invalid_input("these bytes are no PNG, JPEG, GIF or WebP picture")),
        };
        Ok(Self(Source::base64(media_type, encode(bytes))))
    }
}

/// A file that goes with a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Document(pub(crate) Source);

impl Document {
    /// Plain text.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self(Source { name: Some(name.into()), ..Source::text(text) })
    }

    /// A PDF from its bytes.
    pub fn pdf(name: impl Into<String>, bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(b"%PDF-") {
            return Err(Error::invalid_input("these bytes are no PDF"));
        }
        Ok(Self(Source { name: Some(name.into()), ..Source::base64("application/pdf", encode(bytes)) }))
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let group = part(0) << 16 | part(1) << 8 | part(2);
        for place in 0..4 {
            let index = (group >> (18 - 6 * place)) as usize & 63;
            text.push(if place <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

fn check_base64(data: &str) -> Result<()> {
    let body = data.trim_end_matches('=');
    let is_good = data.len().is_multiple_of(4)
        && data.len() - body.len() <= 2
        && !data.is_empty()
        && body.bytes().all(|byte| ALPHABET.contains(&byte));
    if is_good { Ok(()) } else { Err(Error::invalid_input("the picture's data is not base64")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_as_base64() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn pictures_are_told_by_their_first_bytes() {
        assert_eq!(Image::bytes(b"\x89PNG\r\n").unwrap().0.media_type, "image/png");
        assert_eq!(Image::bytes(b"RIFF1234WEBPVP8 ").unwrap().0.media_type, "image/webp");
        assert!(Image::bytes(b"BM").unwrap_err().is_invalid_input());
        assert!(Image::base64("image/png", "not base64!").unwrap_err().is_invalid_input());
        assert!(Document::pdf("a.pdf", b"PK").unwrap_err().is_invalid_input());
    }
}
