//! When a failed call is made again: a pure rule, and the stream that follows it.
//!
//! Nothing was ever executed when a stream fails, for complete tool calls come only with its proper end. So a cut answer may be
//! asked for again even when part of it was shown; the [`Retry`] event says that it has to be taken back.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::time::Instant;

use crate::{EventStream, ModelError, ModelEvent, Provider, Request, Retry};

/// How often and how long to try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// So many attempts in all.
    pub attempts: u32,
    /// No new attempt is begun when so much time was spent without an answer.
    pub total: Duration,
    /// The longest wait a vendor may ask for; if it asks for more, we give up.
    pub longest_retry_after: Duration,
    /// The wait after the first attempt; doubled after each further one.
    pub first_delay: Duration,
    /// The longest wait of our own.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 6,
            total: Duration::from_secs(90),
            longest_retry_after: Duration::from_mins(1),
            first_delay: Duration::from_secs(1),
            longest_delay: Duration::from_secs(20),
        }
    }
}

impl RetryPolicy {
    /// One attempt and no more.
    pub fn never() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// How long to wait before the next attempt, or `None` to give up.
    ///
    /// `attempts` were made, the last of which failed with `error`; `spent` went by without an answer. `jitter` is a random
    /// number from 0 to 1, so that many clients do not come back at the same moment: half of the wait depends on it.
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
        spent: Duration,
        jitter: f64,
    ) -> Option<Duration> {
        if attempts >= self.attempts || !error.class.is_retryable() {
            return None;
        }
        let doubled = self.first_delay.saturating_mul(1 << attempts.saturating_sub(1).min(20));
        let own = doubled.min(self.longest_delay).mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0);
        let delay = match error.retry_after {
            Some(asked) if asked > self.longest_retry_after => return None,
            Some(asked) => asked.max(own.min(self.first_delay)),
            None => own,
        };
        (spent.saturating_add(delay) <= self.total).then_some(delay)
    }
}

/// Asks until there is an answer or no hope. Every further attempt is told as [`ModelEvent::Retry`] before the wait.
///
/// The stream ends after [`ModelEvent::Finish`] or an error. Dropping it ends the call, also during a wait.
pub fn with_retries(provider: Arc<dyn Provider>, request: Request, policy: RetryPolicy) -> EventStream {
    let attempt = Attempt { stream: provider.stream(request.clone()), has_shown: false };
    let now = Instant::now();
    let call =
        Call { provider, request, policy, state: State::Asking(attempt), attempts: 1, failing_since: now };
    Box::pin(stream::unfold(call, Call::next))
}

struct Call {
    provider: Arc<dyn Provider>,
    request: Request,
    policy: RetryPolicy,
    state: State,
    attempts: u32,
    /// Since when there was no answer. Time in which the model was heard does not count.
    failing_since: Instant,
}

enum State {
    Asking(Attempt),
    Waiting(Instant),
    Over,
}

struct Attempt {
    stream: EventStream,
    has_shown: bool,
}

impl Call {
    async fn next(mut self) -> Option<(Result<ModelEvent, ModelError>, Self)> {
        loop {
            match &mut self.state {
                State::Over => return None,
                State::Waiting(until) => {
                    tokio::time::sleep_until(*until).await;
                    let stream = self.provider.stream(self.request.clone());
                    self.attempts += 1;
                    self.state = State::Asking(Attempt { stream, has_shown: false });
                }
                State::Asking(attempt) => {
                    let cut = || ModelError::new(crate::ErrorClass::Cut, "the answer ended before its end");
                    match attempt.stream.next().await.unwrap_or_else(|| Err(cut())) {
                        Ok(event) => {
                            attempt.has_shown = true;
                            if matches!(event, ModelEvent::Finish(_)) {
                                self.state = State::Over;
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
        let retracts = matches!(&self.state, State::Asking(attempt) if attempt.has_shown);
        if retracts {
            self.failing_since = now;
        }
        let Some(delay) = self.policy.decide(self.attempts, &error, now - self.failing_since, random())
        else {
            self.state = State::Over;
            return (Err(error), self);
        };
        self.state = State::Waiting(now + delay);
        let (attempt, reason, message) = (self.attempts, error.class, error.message);
        (Ok(ModelEvent::Retry(Retry { attempt, reason, message, delay, retracts })), self)
    }
}

/// From 0 to 1. The seed of a hash map is random enough to spread clients over a second.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests;
