//! Tests of the retry policy as a table, and of the stream with a scripted model, in paused time.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;
use crate::{ErrorClass, FinishReason, Message};

const CUT: ErrorClass = ErrorClass::Cut;

fn error(class: ErrorClass) -> ModelError {
    ModelError::new(class, "no")
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn delay_doubles_up_to_the_maximum_and_half_of_it_is_jitter() {
    let policy = RetryPolicy { max_attempts: 100, ..RetryPolicy::default() };
    let delays = |jitter| {
        (1..=7).map(move |attempt| policy.decide(attempt, &error(CUT), Duration::ZERO, jitter).unwrap())
    };
    assert_eq!(delays(1.0).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 20, 20].map(seconds));
    assert_eq!(
        delays(0.0).collect::<Vec<_>>(),
        [500, 1000, 2000, 4000, 8000, 10000, 10000].map(Duration::from_millis)
    );
}

#[test]
fn requested_delay_is_respected_up_to_the_maximum() {
    let policy = RetryPolicy::default();
    let requested =
        |retry_after| ModelError { retry_after: Some(seconds(retry_after)), ..error(ErrorClass::RateLimit) };
    assert_eq!(policy.decide(1, &requested(7), Duration::ZERO, 0.0), Some(seconds(7)));
    assert_eq!(policy.decide(1, &requested(60), Duration::ZERO, 0.0), Some(seconds(60)));
    assert_eq!(policy.decide(1, &requested(61), Duration::ZERO, 0.0), None);
    // a delay of 0 has a minimum, so that a vendor that keeps failing is not flooded with requests
    assert_eq!(policy.decide(1, &requested(0), Duration::ZERO, 0.0), Some(Duration::from_millis(500)));
}

#[test]
fn elapsed_time_never_exceeds_the_maximum() {
    let policy = RetryPolicy::default();
    assert_eq!(policy.decide(1, &error(CUT), seconds(89), 1.0), Some(seconds(1)));
    assert_eq!(policy.decide(1, &error(CUT), seconds(90), 1.0), None);
}

/// A model whose attempts emit a number of words, pause, and then fail or finish.
#[derive(Debug)]
struct Scripted(Mutex<VecDeque<(usize, Duration, Option<ErrorClass>)>>);

impl Provider for Scripted {
    fn stream(&self, _request: Request) -> EventStream {
        let (words, pause, end) = self.0.lock().unwrap().pop_front().expect("no more attempts");
        let said = stream::iter((0..words).map(|_| Ok(ModelEvent::TextDelta("word".to_owned()))));
        let end = match end {
            Some(class) => Err(error(class)),
            None => Ok(ModelEvent::Finish(FinishReason::Stop)),
        };
        let last = stream::once(async move {
            tokio::time::sleep(pause).await;
            end
        });
        Box::pin(said.chain(last))
    }
}

async fn play(attempts: impl IntoIterator<Item = (usize, u64, Option<ErrorClass>)>) -> Vec<String> {
    let attempts = attempts.into_iter().map(|(words, pause, end)| (words, seconds(pause), end));
    let provider = Arc::new(Scripted(Mutex::new(attempts.collect())));
    let request = Request::new("m", vec![Message::user("hello")]);
    let started = Instant::now();
    let mut events: Vec<String> = with_retries(provider, request, RetryPolicy::default())
        .map(|event| match event {
            Ok(ModelEvent::Retry(retry)) => {
                format!("retry {} {} {}", retry.attempt, retry.reason, retry.retracts)
            }
            Ok(ModelEvent::TextDelta(text)) => text,
            Ok(ModelEvent::Finish(_)) => "finish".to_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("error {}", error.class),
        })
        .collect()
        .await;
    if started.elapsed() > seconds(150) {
        events.push("too late".to_owned());
    }
    events
}

#[tokio::test(start_paused = true)]
async fn successful_first_attempt_is_not_retried() {
    assert_eq!(play([(2, 0, None)]).await, ["word", "word", "finish"]);
}

#[tokio::test(start_paused = true)]
async fn every_retry_is_emitted_and_says_whether_it_retracts_events() {
    let events = play([(0, 0, Some(ErrorClass::Overloaded)), (1, 0, Some(CUT)), (1, 0, None)]).await;
    assert_eq!(events, ["retry 1 overloaded false", "word", "retry 2 cut true", "word", "finish"]);
}

#[tokio::test(start_paused = true)]
async fn last_attempt_ends_with_its_error() {
    let events = play(std::iter::repeat_n((0, 0, Some(ErrorClass::Server)), 6)).await;
    assert_eq!(events.len(), 6);
    assert_eq!(events[5], "error server_error");
}

#[tokio::test(start_paused = true)]
async fn rejected_request_is_not_retried() {
    assert_eq!(play([(0, 0, Some(ErrorClass::Auth))]).await, ["error auth"]);
}

#[tokio::test(start_paused = true)]
async fn timeouts_count_towards_the_elapsed_time() {
    let events = play([(0, 60, Some(ErrorClass::Timeout)), (0, 60, Some(ErrorClass::Timeout))]).await;
    assert_eq!(events, ["retry 1 timeout false", "error timeout"]);
}

#[tokio::test(start_paused = true)]
async fn long_truncated_answer_is_retried() {
    let events = play([(1, 100, Some(CUT)), (1, 0, None)]).await;
    assert_eq!(events, ["word", "retry 1 cut true", "word", "finish"]);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_during_a_delay_ends_the_call() {
    let provider = Arc::new(Scripted(Mutex::new([(0, Duration::ZERO, Some(CUT))].into())));
    let request = Request::new("m", Vec::new());
    let mut stream = with_retries(Arc::<Scripted>::clone(&provider), request, RetryPolicy::default());
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Retry(_)))));
    drop(stream);
    assert_eq!(Arc::strong_count(&provider), 1);
}
