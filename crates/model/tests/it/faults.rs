//! Every fault of the scripted model, over HTTP, in all three formats.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use musher_http::{Client, Timeouts};
use musher_model::{
    Arguments, Endpoint, ErrorClass, Format, HttpProvider, Message, ModelError, ModelEvent, Provider,
    Request, RetryPolicy, Secret, with_retries,
};
use musher_rehearse::{Hang, HttpError, Reply, Script, Server, Step, ToolCall};
use serde_json::json;

/// Deadline that only matters to tests that would hang.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
pub(crate) const FORMATS: [Format; 3] = [Format::OpenaiChat, Format::OpenaiResponses, Format::Anthropic];

pub(crate) fn provider(format: Format, url: &str, timeouts: Timeouts) -> HttpProvider {
    let base = if format == Format::Anthropic { url.to_owned() } else { format!("{url}/v1") };
    let mut endpoint = Endpoint::new(format, base);
    endpoint.key = Some(Secret::new("sk-test-0123456789"));
    HttpProvider::new(Client::builder().timeouts(timeouts).build(), endpoint)
}

pub(crate) fn question() -> Request {
    Request::new("some-model", vec![Message::user("Hello")])
}

/// Calls the model once; returns all events, and the error if the call failed.
pub(crate) async fn ask(provider: &HttpProvider) -> (Vec<ModelEvent>, Option<ModelError>) {
    let collecting = async {
        let (mut events, mut failed) = (Vec::new(), None);
        let mut stream = provider.stream(question());
        while let Some(event) = stream.next().await {
            assert!(failed.is_none(), "an event after an error");
            match event {
                Ok(event) => events.push(event),
                Err(error) => failed = Some(error),
            }
        }
        (events, failed)
    };
    tokio::time::timeout(DEADLINE, collecting)
        .await
        .expect("neither an answer nor an error before the deadline")
}

async fn each(reply: Reply, check: impl Fn(Format, Vec<ModelEvent>, Option<ModelError>)) {
    for format in FORMATS {
        let server = Server::bind("127.0.0.1:0", Script::new().otherwise(reply.clone())).unwrap();
        let (events, failed) = ask(&provider(format, &server.url(), Timeouts::default())).await;
        check(format, events, failed);
        server.shutdown().await;
    }
}

fn text(events: &[ModelEvent]) -> String {
    let text = |event: &ModelEvent| match event {
        ModelEvent::TextDelta(text) => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn has_call(events: &[ModelEvent]) -> bool {
    events.iter().any(|event| matches!(event, ModelEvent::ToolCall(_)))
}

#[tokio::test]
async fn successful_answer_is_complete() {
    let reply = Reply::text(["Hel", "lo"]).and_tool("LS", json!({"path": "."}));
    each(reply, |format, events, failed| {
        assert_eq!(failed, None, "{format:?}");
        assert_eq!(text(&events), "Hello");
        assert!(has_call(&events));
        assert!(matches!(events.last(), Some(ModelEvent::Finish(_))));
    })
    .await;
}

#[tokio::test]
async fn every_status_is_classified() {
    let cases = [
        (400, ErrorClass::Invalid),
        (401, ErrorClass::Auth),
        (402, ErrorClass::Billing),
        (403, ErrorClass::Permission),
        (404, ErrorClass::NotFound),
        (429, ErrorClass::RateLimit),
        (500, ErrorClass::Server),
        (503, ErrorClass::Overloaded),
        (529, ErrorClass::Overloaded),
    ];
    for (status, class) in cases {
        // a neutral error code, so that only the status determines the class
        let error = HttpError::new(status).message("for a test").kind("some_error");
        each(Reply::error(error), |format, events, failed| {
            let error = failed.unwrap();
            assert_eq!((events.len(), error.class, error.status), (0, class, Some(status)), "{format:?}");
            assert_eq!(error.message, "for a test");
            assert!(error.request_id.unwrap().starts_with("req_rehearsal"));
        })
        .await;
    }
}

#[tokio::test]
async fn requested_delay_is_reported() {
    let error = HttpError::new(429).retry_after_seconds(7);
    each(Reply::error(error), |_, _, failed| {
        assert_eq!(failed.unwrap().retry_after, Some(Duration::from_secs(7)));
    })
    .await;
}

#[tokio::test]
async fn key_in_an_error_message_is_redacted() {
    let error = HttpError::new(401).message("bad key sk-test-0123456789 of sk-other-987654");
    each(Reply::error(error), |_, _, failed| assert_eq!(failed.unwrap().message, "bad key *** of ***")).await;
}

#[tokio::test]
async fn truncated_answer_is_an_error_without_complete_calls() {
    let call = || Reply::text("Hello").and_tool("LS", json!({"path": "."}));
    for reply in [call().and_close(), call().and_reset()] {
        each(reply, |format, events, failed| {
            // a reset may overtake data that was sent before it, including the headers
            let class = failed.unwrap().class;
            assert!(matches!(class, ErrorClass::Cut | ErrorClass::Network), "{format:?} {class}");
            assert!(!has_call(&events), "{format:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn error_inside_the_stream_follows_the_earlier_events() {
    let reply = Reply::text("Hel").and_error(HttpError::new(529).message("too busy"));
    each(reply, |format, events, failed| {
        let error = failed.unwrap();
        assert_eq!((text(&events).as_str(), error.message.as_str()), ("Hel", "too busy"), "{format:?}");
        assert!(error.class.is_retryable());
    })
    .await;
}

#[tokio::test]
async fn empty_answer_is_an_error() {
    each(Reply::empty(), |format, events, failed| {
        // the vendor charges for it, so what it has counted is reported
        let is_usage = |event: &ModelEvent| matches!(event, ModelEvent::Usage(_));
        assert!(!events.is_empty() && events.iter().all(is_usage), "{format:?}: {events:?}");
        assert_eq!(failed.unwrap().class, ErrorClass::Empty, "{format:?}");
    })
    .await;
}

#[tokio::test]
async fn malformed_arguments_are_reported() {
    let reply = Reply::empty().and(Step::Tool(ToolCall::with_text("LS", "{\"path\":")));
    each(reply, |format, events, failed| {
        assert_eq!(failed, None);
        let malformed = |event: &ModelEvent| match event {
            ModelEvent::ToolCall(call) => matches!(call.arguments, Arguments::Malformed { .. }),
            _ => false,
        };
        assert!(events.iter().any(malformed), "{format:?}");
    })
    .await;
}

#[tokio::test]
async fn slow_fragments_do_not_time_out() {
    let reply = Reply::text(["a", "b", "c", "d", "e", "f"]).delay_ms(50, 50);
    for format in FORMATS {
        let server = Server::bind("127.0.0.1:0", Script::new().otherwise(reply.clone())).unwrap();
        let timeouts = Timeouts { silence: Some(Duration::from_secs(10)), ..Timeouts::default() };
        let (events, failed) = ask(&provider(format, &server.url(), timeouts)).await;
        assert_eq!((text(&events).as_str(), failed), ("abcdef", None));
        server.shutdown().await;
    }
}

#[tokio::test]
async fn silence_ends_with_a_timeout_at_every_stage() {
    let short = Some(Duration::from_millis(150));
    let timeouts = Timeouts { connect: short, headers: short, silence: short };
    for reply in
        [Reply::hang(Hang::BeforeHeaders), Reply::hang(Hang::AfterHeaders), Reply::text("Hel").and_hang()]
    {
        for format in FORMATS {
            let server = Server::bind("127.0.0.1:0", Script::new().otherwise(reply.clone())).unwrap();
            let (_, failed) = ask(&provider(format, &server.url(), timeouts)).await;
            assert_eq!(failed.unwrap().class, ErrorClass::Timeout, "{format:?}");
            server.wait_until_idle(DEADLINE).await.unwrap();
            server.shutdown().await;
        }
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_call() {
    let server = Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::text("Hel").and_hang())).unwrap();
    let provider = provider(Format::Anthropic, &server.url(), Timeouts::default());
    let mut stream = provider.stream(question());
    for is_expected in [
        |event: &ModelEvent| matches!(event, ModelEvent::Usage(_)),
        |event: &ModelEvent| matches!(event, ModelEvent::TextDelta(_)),
    ] {
        let event = tokio::time::timeout(DEADLINE, stream.next()).await.unwrap();
        assert!(event.as_ref().is_some_and(|event| event.as_ref().is_ok_and(is_expected)), "{event:?}");
    }
    assert_eq!(server.open_connections(), 1);
    drop(stream);
    server.wait_until_idle(DEADLINE).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn no_request_is_sent_before_the_stream_is_polled() {
    let server = Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::text("Hi"))).unwrap();
    drop(provider(Format::Anthropic, &server.url(), Timeouts::default()).stream(question()));
    assert_eq!(server.requests().len(), 0);
    server.shutdown().await;
}

#[tokio::test]
async fn retries_end_with_the_answer_and_say_whether_they_retract_events() {
    let script = Script::new()
        .reply(Reply::error(HttpError::new(529)).times(1))
        .reply(Reply::text("wrong").and_tool("LS", json!({})).and_close().times(1))
        .otherwise(Reply::text("right"));
    let policy = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
    for format in FORMATS {
        let server = Server::bind("127.0.0.1:0", script.clone()).unwrap();
        let model = Arc::new(provider(format, &server.url(), Timeouts::default()));
        let events: Vec<ModelEvent> = tokio::time::timeout(
            DEADLINE,
            with_retries(model, question(), policy).map(Result::unwrap).collect(),
        )
        .await
        .unwrap();
        let retries: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::Retry(retry) => Some((retry.attempt, retry.reason, retry.retracts)),
                _ => None,
            })
            .collect();
        assert_eq!(retries, [(1, ErrorClass::Overloaded, false), (2, ErrorClass::Cut, true)], "{format:?}");
        assert!(text(&events).ends_with("right") && !has_call(&events));
        assert_eq!(server.calls().len(), 3);
        server.shutdown().await;
    }
}

#[tokio::test]
async fn rejected_request_is_sent_once() {
    let server =
        Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::error(HttpError::new(400)))).unwrap();
    let model = Arc::new(provider(Format::Anthropic, &server.url(), Timeouts::default()));
    let events: Vec<_> = with_retries(model, question(), RetryPolicy::default()).collect().await;
    assert_eq!((events.len(), server.calls().len()), (1, 1));
    server.shutdown().await;
}

#[tokio::test]
async fn each_format_has_its_own_headers() {
    for format in FORMATS {
        let server = Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::text("Hi"))).unwrap();
        ask(&provider(format, &server.url(), Timeouts::default())).await;
        let requests = server.requests();
        let header = |name: &str| requests[0].header(name);
        match format {
            Format::Anthropic => {
                assert_eq!(header("x-api-key"), Some("(redacted)"));
                assert_eq!(
                    (header("anthropic-version"), header("authorization")),
                    (Some("2023-06-01"), None)
                );
            }
            _ => assert_eq!((header("authorization"), header("x-api-key")), (Some("(redacted)"), None)),
        }
        assert_eq!(header("content-type"), Some("application/json"));
        server.shutdown().await;
    }
}
