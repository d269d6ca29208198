//! A model call outside of the conversation: one text in, one text out, no tools.

use std::sync::Arc;

use futures_util::StreamExt as _;
use musher_model::{ModelError, ModelEvent, Provider, Request, RetryPolicy, Usage, with_retries};

/// The maximum length of the text, in bytes.
const MAX_TEXT: usize = 256 << 10;

/// Calls the model. Returns the whole text of its response. Cancel safe.
pub(super) async fn ask(
    provider: Arc<dyn Provider>,
    request: Request,
    retries: RetryPolicy,
) -> Result<(String, Usage), ModelError> {
    let mut events = with_retries(provider, request, retries);
    let (mut text, mut used) = (String::new(), Usage::default());
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::TextDelta(piece) if text.len() < MAX_TEXT => text.push_str(&piece),
            ModelEvent::Usage(usage) => used = usage,
            // the response starts again
            ModelEvent::Retry(_) => text.clear(),
            _ => {}
        }
    }
    Ok((text, used))
}
