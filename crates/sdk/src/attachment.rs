//! Pictures and files of a prompt, checked before anything is sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use musher_wire::Source;

use crate::error::Kind;
use crate::{Error, Result};

/// The media types of pictures that models accept.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A picture of a prompt.
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
    /// Creates a picture from base64.
    ///
    /// # Errors
    ///
    /// Fails if models do not accept the type, or the data is not base64.
    pub fn base64(media_type: &str, data: impl Into<String>) -> Result<Self> {
        if !IMAGE_TYPES.contains(&media_type) {
            let known = IMAGE_TYPES.join(", ");
            return Err(Error::invalid_input(format!(
                "`{media_type}` is not a picture type (known: {known})"
            )));
        }
        let data = data.into();
        check_base64(&data)?;
        Ok(Self(Source::base64(media_type, data)))
    }

    /// Creates a picture from its bytes; the type is detected from the first bytes.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a PNG, JPEG, GIF or WebP picture.
    pub fn bytes(bytes: &[u8]) -> Result<Self> {
        let media_type = match bytes {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return Err(Error::invalid_input("these bytes are not a PNG, JPEG, GIF or WebP picture")),
        };
        Ok(Self(Source::base64(media_type, STANDARD.encode(bytes))))
    }
}

/// A file of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Document(pub(crate) Source);

impl Document {
    /// Creates a document of plain text.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self(Source { name: Some(name.into()), ..Source::text(text) })
    }

    /// Creates a PDF document from its bytes.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a PDF.
    pub fn pdf(name: impl Into<String>, bytes: &[u8]) -> Result<Self> {
        if !bytes.starts_with(b"%PDF-") {
            return Err(Error::invalid_input("these bytes are not a PDF"));
        }
        Ok(Self(Source {
            name: Some(name.into()),
            ..Source::base64("application/pdf", STANDARD.encode(bytes))
        }))
    }
}

fn check_base64(data: &str) -> Result<()> {
    match STANDARD.decode(data) {
        Ok(bytes) if !bytes.is_empty() => Ok(()),
        Ok(_empty) => Err(Error::invalid_input("the picture is empty")),
        Err(error) => Err(Error::because(Kind::InvalidInput, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_recognised_by_their_first_bytes() {
        assert_eq!(Image::bytes(b"\x89PNG\r\n").unwrap().0.media_type, "image/png");
        assert_eq!(Image::bytes(b"RIFF1234WEBPVP8 ").unwrap().0.media_type, "image/webp");
        assert!(Image::bytes(b"BM").unwrap_err().is_invalid_input());
        for wrong in ["not base64!", "", "Zg", "Zg=", "Zm9v\n"] {
            assert!(Image::base64("image/png", wrong).unwrap_err().is_invalid_input(), "{wrong:?}");
        }
        assert_eq!(Image::base64("image/png", "Zg==").unwrap().0.data, "Zg==");
        assert!(Document::pdf("a.pdf", b"PK").unwrap_err().is_invalid_input());
    }
}
