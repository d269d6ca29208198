//! Retries of failed model calls: the retry policy as a pure function, and the stream that applies it.
//!
//! No tool has run when a stream fails, because tool calls are reported only at the proper end of an answer. So a truncated
//! answer can be retried even if part of it was shown; the [`Retry`] event says that this part must be retracted.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::time::Instant;

use crate::{EventStream, ModelError, ModelEvent, Provider, Request, Retry};

/// How often and for how long to retry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Maximum number of attempts, including the first. Default: 6.
    pub max_attempts: u32,
    /// Maximum time without an answer; no attempt starts after it. Default: 90 s.
    pub max_elapsed: Duration,
    /// Maximum delay that a vendor may request with `Retry-After`; a longer one is an error. Default: 60 s.
    pub max_retry_after: Duration,
    /// Delay before the first retry, doubled for each further one. Default: 1 s.
    pub first_delay: Duration,
    /// Maximum delay, unless the vendor requests one. Default: 20 s.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 6,
            max_elapsed: Duration::from_secs(90),
            max_retry_after: Duration::from_mins(1),
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(20),
        }
    }
}

impl RetryPolicy {
    /// Returns the policy that never retries.
    pub fn never() -> Self {
        Self { max_attempts: 1, ..Self::default() }
    }

    /// Returns the delay before the next attempt, or `None` to give up.
    ///
    /// `attempts` attempts were made, the last of which failed with `error`; `elapsed` is the time without an answer.
    /// `jitter` is a random number from 0 to 1 that determines half of the delay, so that many clients do not retry at the
    /// same moment.
    ///
    /// ```
    /// use std::time::Duration;
    /// use musher_model::{ErrorClass, ModelError, RetryPolicy};
    ///
    /// let policy = RetryPolicy::default();
    /// let busy = ModelError::new(ErrorClass::Overloaded, "busy");
    /// assert_eq!(policy.decide(1, &busy, Duration::ZERO, 1.0), Some(Duration::from_secs(1)));
    /// assert_eq!(policy.decide(3, &busy, Duration::ZERO, 1.0), Some(Duration::from_secs(4)));
    /// assert_eq!(policy.decide(6, &busy, Duration::ZERO, 1.0), None);
    /// let refused = ModelError::new(ErrorClass::Invalid, "no such field");
    /// assert_eq!(policy.decide(1, &refused, Duration::ZERO, 1.0), None);
    /// ```
    pub fn decide(
        &self,
        attempts: u32,
        error: &ModelError,
        elapsed: Duration,
        jitter: f64,
    ) -> Option<Duration> {
        if attempts >= self.max_attempts || !error.class.is_retryable() {
            return None;
        }
        let doubled = self.first_delay.saturating_mul(1 << attempts.saturating_sub(1).min(20));
        let own = doubled.min(self.max_delay).mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0);
        let delay = match error.retry_after {
            Some(requested) if requested > self.max_retry_after => return None,
            Some(requested) => requested.max(own.min(self.first_delay)),
            None => own,
        };
        (elapsed.saturating_add(delay) <= self.max_elapsed).then_some(delay)
    }
}

/// Calls a model and retries failed calls according to `policy`. Emits [`ModelEvent::Retry`] before the delay of each retry.
///
/// The stream ends after [`ModelEvent::Finish`] or an error. Dropping it ends the call, also during a delay.
pub fn with_retries(provider: Arc<dyn Provider>, request: Request, policy: RetryPolicy) -> EventStream {
    let attempt = Attempt { stream: provider.stream(request.clone()), has_events: false };
    let now = Instant::now();
    let call =
        Call { provider, request, policy, state: State::Calling(attempt), attempts: 1, failing_since: now };
    Box::pin(stream::unfold(call, Call::next))
}

struct Call {
    provider: Arc<dyn Provider>,
    request: Request,
    policy: RetryPolicy,
    state: State,
    attempts: u32,
    /// Start of the time without an answer. Restarts when an attempt fails after it had received events.
    failing_since: Instant,
}

enum State {
    Calling(Attempt),
    Waiting(Instant),
    Done,
}

struct Attempt {
    stream: EventStream,
    has_events: bool,
}

impl Call {
    async fn next(mut self) -> Option<(Result<ModelEvent, ModelError>, Self)> {
        loop {
            match &mut self.state {
                State::Done => return None,
                State::Waiting(until) => {
                    tokio::time::sleep_until(*until).await;
                    let stream = self.provider.stream(self.request.clone());
                    self.attempts += 1;
                    self.state = State::Calling(Attempt { stream, has_events: false });
                }
                State::Calling(attempt) => {
                    let cut = || {
                        ModelError::new(
                            crate::ErrorClass::Cut,
                            "the answer was truncated: the stream ended early",
                        )
                    };
                    match attempt.stream.next().await.unwrap_or_else(|| Err(cut())) {
                        Ok(event) => {
                            // counts alone are nothing that could be retracted
                            attempt.has_events |= !matches!(event, ModelEvent::Usage(_));
                            if matches!(event, ModelEvent::Finish(_)) {
                                self.state = State::Done;
                            }
                            return Some((Ok(event), self));
                        }
                        Err(error) => return Some(self.failed(error)),
                    }
                }
            }
        }
    }

    fn failed(mut self, error: ModelError) -> (Result<ModelEvent, ModelError>, Self) {
        let now = Instant::now();
        let retracts = matches!(&self.state, State::Calling(attempt) if attempt.has_events);
        if retracts {
            self.failing_since = now;
        }
        let Some(delay) = self.policy.decide(self.attempts, &error, now - self.failing_since, random())
        else {
            self.state = State::Done;
            return (Err(error), self);
        };
        self.state = State::Waiting(now + delay);
        let (attempt, reason, message) = (self.attempts, error.class, error.message);
        (Ok(ModelEvent::Retry(Retry { attempt, reason, message, delay, retracts })), self)
    }
}

/// Returns a random number from 0 to 1. The seed of a hash map is random enough to spread retries.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests;
