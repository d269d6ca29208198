//! A call of a model beside the conversation: one text in, one text out, no tools.

use std::sync::Arc;

use futures_util::StreamExt as _;
use musher_model::{ModelError, ModelEvent, Provider, Request, RetryPolicy, Usage, with_retries};

/// More text than this is not kept.
const LONGEST: usize = 256 << 10;

/// Asks, and gives the whole text of the answer. Safe to drop at any moment.
pub(super) async fn ask(
    provider: Arc<dyn Provider>,
    request: Request,
    retries: RetryPolicy,
) -> Result<(String, Usage), ModelError> {
    let mut events = with_retries(provider, request, retries);
    let (mut text, mut used) = (String::new(), Usage::default());
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::TextDelta(piece) if text.len() < LONGEST => text.push_str(&piece),
            ModelEvent::Usage(usage) => used = usage,
            // it is said again from the beginning
            ModelEvent::Retry(_) => text.clear(),
            _ => {}
        }
    }
    Ok((text, used))
}
