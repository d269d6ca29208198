//! Conversion between raw payloads and typed values.

use serde::de::DeserializeOwned;

use crate::error::Path;
use crate::notify::fast_delta;
use crate::{Id, Json, Method, Notification, Request, SessionNotificationParams, ShapeError};

impl Json {
    /// Reads the payload of `method` as a `T`; `root` names the payload in error messages.
    pub fn read_as<T: DeserializeOwned>(&self, method: &str, root: &str) -> Result<T, ShapeError> {
        read(method, root, self)
    }
}

impl Request {
    /// Creates a call of `M` with the current envelope.
    ///
    /// ```
    /// use musher_wire::{AddUserMessage, AddUserMessageParams, Request};
    ///
    /// let call = Request::call::<AddUserMessage>("1", &AddUserMessageParams::new("Hello"))?;
    /// assert_eq!(call.read::<AddUserMessage>()?.text, "Hello");
    /// # Ok::<(), musher_wire::ShapeError>(())
    /// ```
    pub fn call<M: Method>(id: impl Into<Id>, params: &M::Params) -> Result<Self, ShapeError> {
        let params = Json::new(params).map_err(|source| error(M::NAME, "params", source))?;
        Ok(Self::new(id, M::NAME, params))
    }

    /// Reads the parameters as those of `M`. Absent parameters read as `{}`.
    pub fn read<M: Method>(&self) -> Result<M::Params, ShapeError> {
        read_params(&self.method, self.params.as_ref())
    }
}

impl Notification {
    /// Reads the parameters as those of `droid.session_notification`.
    ///
    /// ```
    /// use musher_wire::{Frame, SessionNotification};
    ///
    /// let line = br#"{"jsonrpc":"2.0","type":"notification","factoryApiVersion":"1.0.0",
    ///   "method":"droid.session_notification","params":{"sessionId":"s","notification":
    ///   {"type":"assistant_text_delta","messageId":"m","blockIndex":0,"textDelta":"Hi"}}}"#;
    /// let Frame::Notification(frame) = Frame::parse(line) else { panic!("not a notification") };
    /// let SessionNotification::AssistantTextDelta(delta) = frame.session()?.notification else { panic!("not text") };
    /// assert_eq!(delta.text_delta, "Hi");
    /// # Ok::<(), musher_wire::ShapeError>(())
    /// ```
    pub fn session(&self) -> Result<SessionNotificationParams, ShapeError> {
        if let Some(delta) = self.params.as_ref().and_then(fast_delta) {
            return Ok(delta);
        }
        read_params(&self.method, self.params.as_ref())
    }
}

/// Reads the parameters of a message. Absent parameters read as `{}`.
fn read_params<T: DeserializeOwned>(method: &str, params: Option<&Json>) -> Result<T, ShapeError> {
    match params {
        Some(params) => read(method, "params", params),
        None => read(method, "params", &Json::empty_object()),
    }
}

/// Reads `payload`. If that fails, reads it again while tracking the path, which is slower.
pub(crate) fn read<T: DeserializeOwned>(method: &str, root: &str, payload: &Json) -> Result<T, ShapeError> {
    serde_json::from_str(payload.text()).or_else(|_| {
        let mut deserializer = serde_json::Deserializer::from_str(payload.text());
        serde_path_to_error::deserialize(&mut deserializer).map_err(|found| {
            let inner = found.path().to_string();
            let dot = if inner.starts_with('[') { "" } else { "." };
            let path = if inner == "." { root.to_owned() } else { format!("{root}{dot}{inner}") };
            ShapeError { method: method.into(), path: Path(path), source: found.into_inner() }
        })
    })
}

pub(crate) fn error(method: &str, root: &str, source: serde_json::Error) -> ShapeError {
    ShapeError { method: method.into(), path: Path(root.to_owned()), source }
}
