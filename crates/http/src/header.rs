//! Headers with names and values from settings.

use http::{HeaderName, HeaderValue};

use crate::{Error, ErrorKind};

/// Checks a header. Its value is treated as a secret: it is never shown, not even in the error.
///
/// ```
/// let (name, value) = musher_http::header("Authorization", "Bearer t0ken")?;
/// assert_eq!(format!("{name}: {value:?}"), "authorization: Sensitive");
/// # Ok::<(), musher_http::Error>(())
/// ```
pub fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Error> {
    let key = HeaderName::from_bytes(name.as_bytes())
        .map_err(|error| Error::because(ErrorKind::Header, format!("invalid header name `{name}`"), error))?;
    let mut value = HeaderValue::from_str(value).map_err(|error| {
        Error::because(ErrorKind::Header, format!("invalid value of the header `{key}`"), error)
    })?;
    value.set_sensitive(true);
    Ok((key, value))
}
