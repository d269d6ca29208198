//! Model calls that end before their answer is complete: cut, interrupted, or repeated by a retry. Vendors charge for them, so they count.
//!
//! What the vendor has reported by then counts as it is. The rest is estimated from the size of the request and of what has arrived, and
//! marked as an estimate. A call that the vendor has refused at once costs nothing.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::Stream;
use musher_model::{EventStream, ModelError, ModelEvent, Price, Provider, Request, Usage};

use crate::budget::request_tokens;
use crate::cost::{Cost, Spending, all_tokens};

/// What a call that is watched reports.
pub(crate) trait Observer: Send + Unpin {
    /// The vendor has reported the usage so far.
    fn reported(&mut self, usage: &Usage);

    /// The call has ended before its answer was complete. `estimated` of the tokens are an estimate.
    fn unfinished(&mut self, usage: &Usage, estimated: u64);
}

/// Returns a stream that tells the observer what the call uses. `input` is the estimated size of the request, `cached` the part of it that
/// the vendor may have cached.
pub(crate) fn watch(
    inner: EventStream,
    input: u64,
    cached: u64,
    observer: impl Observer + 'static,
) -> EventStream {
    let progress = Progress { input, cached: cached.min(input), ..Progress::default() };
    Box::pin(Watched { inner, progress, observer })
}

struct Watched<O: Observer> {
    inner: EventStream,
    progress: Progress,
    observer: O,
}

impl<O: Observer> Stream for Watched<O> {
    type Item = Result<ModelEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.progress.is_sent = true;
        let polled = self.inner.as_mut().poll_next(context);
        if let Poll::Ready(Some(event)) = &polled {
            self.progress.add(event);
            if let Ok(ModelEvent::Usage(usage)) = event {
                self.observer.reported(usage);
            }
        }
        polled
    }
}

impl<O: Observer> Drop for Watched<O> {
    fn drop(&mut self) {
        if let Some((usage, estimated)) = self.progress.unfinished() {
            self.observer.unfinished(&usage, estimated);
        }
    }
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    input: u64,
    cached: u64,
    /// The length of what has arrived, in bytes.
    output_bytes: usize,
    reported: Option<Usage>,
    is_sent: bool,
    has_begun: bool,
    has_failed: bool,
    is_finished: bool,
}

impl Progress {
    fn add(&mut self, event: &Result<ModelEvent, ModelError>) {
        match event {
            Ok(ModelEvent::TextDelta(text) | ModelEvent::ThinkingDelta(text)) => {
                self.output_bytes += text.len();
            }
            Ok(ModelEvent::ToolArguments { delta, .. }) => self.output_bytes += delta.len(),
            Ok(ModelEvent::Usage(usage)) => self.reported = Some(*usage),
            Ok(ModelEvent::Finish(_)) => self.is_finished = true,
            Ok(_) => {}
            Err(_) => self.has_failed = true,
        }
        self.has_begun |= event.is_ok();
    }

    /// Returns what an unfinished call has used, and how many of these tokens are estimated.
    fn unfinished(&self) -> Option<(Usage, u64)> {
        let is_refused = self.has_failed && !self.has_begun;
        if !self.is_sent || self.is_finished || is_refused {
            return None;
        }
        let output = u64::try_from(self.output_bytes.div_ceil(4)).unwrap_or(u64::MAX);
        if let Some(reported) = self.reported {
            // most vendors count the output at the end only
            let output = output.max(reported.output);
            return Some((Usage { output, ..reported }, output - reported.output));
        }
        let usage =
            Usage { input: self.input - self.cached, cache_read: self.cached, output, ..Usage::default() };
        Some((usage, all_tokens(&usage)))
    }
}

/// What the unfinished calls of a session have used, until the session counts it. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnfinishedCalls {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// By the id of the model.
    spent: BTreeMap<String, Spending>,
    /// The size of the last prompt of the conversation, which the vendor may have cached.
    last_prompt: u64,
}

impl UnfinishedCalls {
    /// Returns a provider whose unfinished calls count.
    pub(crate) fn watch(
        &self,
        inner: Arc<dyn Provider>,
        model_id: &str,
        price: Option<Price>,
    ) -> Arc<dyn Provider> {
        Arc::new(Watching { inner, model_id: model_id.to_owned(), price, calls: self.clone() })
    }

    /// Takes what was used since it was last taken, by the id of the model.
    pub(crate) fn take(&self) -> BTreeMap<String, Spending> {
        std::mem::take(&mut self.state().spent)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Watching {
    inner: Arc<dyn Provider>,
    model_id: String,
    price: Option<Price>,
    calls: UnfinishedCalls,
}

impl Provider for Watching {
    fn stream(&self, request: Request) -> EventStream {
        let input = request_tokens(&request);
        let is_conversation = request.cache_key.is_some();
        let cached = if is_conversation { self.calls.state().last_prompt } else { 0 };
        let call = SessionCall {
            calls: self.calls.clone(),
            model_id: self.model_id.clone(),
            price: self.price.clone(),
            is_conversation,
        };
        watch(self.inner.stream(request), input, cached, call)
    }
}

struct SessionCall {
    calls: UnfinishedCalls,
    model_id: String,
    price: Option<Price>,
    is_conversation: bool,
}

impl Observer for SessionCall {
    fn reported(&mut self, usage: &Usage) {
        if self.is_conversation {
            self.calls.state().last_prompt = usage.cache_read.saturating_add(usage.cache_write);
        }
    }

    fn unfinished(&mut self, usage: &Usage, estimated: u64) {
        let spending = Spending {
            calls: 1,
            usage: *usage,
            cost: Cost::of(usage, self.price.as_ref()),
            estimated_tokens: estimated,
        };
        let mut state = self.calls.state();
        let known = state.spent.entry(self.model_id.clone()).or_default();
        *known = known.plus(spending);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};
    use musher_model::{ErrorClass, FinishReason, Message};

    use super::*;

    /// A model that sends these events and then nothing for ever.
    #[derive(Debug)]
    struct Scripted(Vec<Result<ModelEvent, ModelError>>);

    impl Provider for Scripted {
        fn stream(&self, _request: Request) -> EventStream {
            Box::pin(stream::iter(self.0.clone()).chain(stream::pending()))
        }
    }

    fn request() -> Request {
        let mut request = Request::new("some-model", vec![Message::user("x".repeat(400))]);
        request.cache_key = Some("session".to_owned());
        request
    }

    /// Returns what a call counts for that is dropped after these events.
    async fn spent(calls: &UnfinishedCalls, events: Vec<Result<ModelEvent, ModelError>>) -> Option<Spending> {
        let count = events.len();
        let model = calls.watch(Arc::new(Scripted(events)), "m", None);
        let seen = model.stream(request()).take(count).count().await;
        assert_eq!(seen, count);
        calls.take().remove("m")
    }

    #[expect(clippy::unnecessary_wraps, reason = "an item of a stream")]
    fn text(text: &str) -> Result<ModelEvent, ModelError> {
        Ok(ModelEvent::TextDelta(text.to_owned()))
    }

    #[expect(clippy::unnecessary_wraps, reason = "an item of a stream")]
    fn used(usage: Usage) -> Result<ModelEvent, ModelError> {
        Ok(ModelEvent::Usage(usage))
    }

    fn failure() -> Result<ModelEvent, ModelError> {
        Err(ModelError::new(ErrorClass::Overloaded, "busy"))
    }

    #[tokio::test]
    async fn complete_and_refused_calls_do_not_count() {
        let calls = UnfinishedCalls::default();
        let finish = Ok(ModelEvent::Finish(FinishReason::Stop));
        assert_eq!(spent(&calls, vec![text("Hi"), used(Usage::default()), finish]).await, None);
        assert_eq!(spent(&calls, vec![failure()]).await, None);
        drop(calls.watch(Arc::new(Scripted(Vec::new())), "m", None).stream(request()));
        assert_eq!(calls.take().len(), 0, "it was never sent");
    }

    #[tokio::test]
    async fn unfinished_call_without_counts_is_estimated_with_what_may_be_cached() {
        let calls = UnfinishedCalls::default();
        let spending = spent(&calls, vec![text("four"), text("more"), failure()]).await.unwrap();
        assert_eq!((spending.usage.input, spending.usage.output), (100, 2));
        assert_eq!((spending.calls, spending.estimated_tokens), (1, 102));
        let complete = Usage { input: 5, cache_read: 60, cache_write: 20, ..Usage::default() };
        spent(&calls, vec![used(complete), Ok(ModelEvent::Finish(FinishReason::Stop))]).await;
        let spending = spent(&calls, vec![text("four")]).await.unwrap();
        assert_eq!((spending.usage.input, spending.usage.cache_read), (20, 80));
    }

    #[tokio::test]
    async fn reported_counts_are_exact_and_only_the_output_is_estimated() {
        let calls = UnfinishedCalls::default();
        let reported = Usage { input: 7, cache_read: 90, output: 1, ..Usage::default() };
        let spending = spent(&calls, vec![used(reported), text(&"x".repeat(40))]).await.unwrap();
        assert_eq!(spending.usage, Usage { output: 10, ..reported });
        assert_eq!(spending.estimated_tokens, 9);
        assert_eq!(spending.cost.unpriced_tokens(), 107);
    }
}
