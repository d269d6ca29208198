use std::path::Path;

use musher_wire::{Frame, Notification};
use proptest::prelude::*;

use super::*;

/// A turn of a capture: its id, whether it asks for JSON, and all later messages of the agent.
struct Recorded {
    name: String,
    turn_id: String,
    wants_output: bool,
    notification: Vec<Notification>,
}

/// Returns all turns of all captures of one version that were sent while no other ran.
fn recorded(version: &str) -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire").join(version);
    let mut turns = Vec::new();
    let mut files: Vec<_> = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "jsonl")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        // messages sent as raw text test bad input, not turns
        if name != "bad_input" {
            turns.extend(turns_of(&name, &fs_err::read_to_string(file).unwrap()));
        }
    }
    turns
}

fn turns_of(name: &str, capture: &str) -> Vec<Recorded> {
    let frames: Vec<_> = capture
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|record| (record["dir"] == "c2s", Frame::parse(record["msg"].to_string().as_bytes())))
        .collect();
    let mut turns = Vec::new();
    for (at, (is_ours, frame)) in frames.iter().enumerate() {
        let Frame::Request(request) = frame else { continue };
        if !is_ours || request.method != "droid.add_user_message" {
            continue;
        }
        let params = request.read::<musher_wire::AddUserMessage>().unwrap();
        let notification: Vec<_> = frames[at + 1..]
            .iter()
            .filter_map(|(is_ours, frame)| match frame {
                Frame::Notification(notification) if !is_ours => Some(notification.clone()),
                _ => None,
            })
            .collect();
        let turn_id =
            params.message_id.or_else(|| echo(&notification, request.id.as_str())).unwrap_or_default();
        let wants_output = params.output_format.is_some();
        turns.push(Recorded { name: name.to_owned(), turn_id, wants_output, notification });
    }
    turns
}

/// Returns the id the agent gave to our message.
fn echo(notification: &[Notification], request_id: Option<&str>) -> Option<String> {
    notification.iter().find_map(|notification| match notification.session().ok()?.notification {
        SessionNotification::CreateMessage(created) if created.request_id.as_deref() == request_id => {
            Some(created.message.id)
        }
        _ => None,
    })
}

fn tracker(turn_id: &str, wants_output: bool, now: Instant) -> Tracker {
    let expected = Expectation {
        is_followed: false,
        turn_id: turn_id.to_owned(),
        session_id: "session".to_owned(),
        wants_output,
        usage_before: None,
    };
    Tracker::new(expected, now)
}

/// Follows a turn as far as it goes; the last words of an old agent may need some time.
fn follow(turn_id: &str, wants_output: bool, notification: &[Notification]) -> Vec<Event> {
    let mut now = Instant::now();
    let mut dialect = Dialect::default();
    let mut tracker = tracker(turn_id, wants_output, now);
    let mut events = Vec::new();
    for notification in notification {
        dialect.note_version(notification.envelope.protocol_version.as_deref());
        if let Ok(params) = notification.session() {
            tracker.notification(&mut dialect, params, now, &mut events);
        }
        now += Duration::from_millis(1);
    }
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    events
}

/// Follows a turn, and ends it by force if it does not end, as a session does.
fn follow_to_the_end(turn_id: &str, wants_output: bool, notification: &[Notification]) -> Vec<Event> {
    let mut events = follow(turn_id, wants_output, notification);
    if results(&events).is_empty() {
        tracker(turn_id, wants_output, Instant::now()).give_up(Instant::now(), &mut events);
    }
    events
}

fn results(events: &[Event]) -> Vec<&TurnResult> {
    let results = events.iter().filter_map(|event| match event {
        Event::Result(result) => Some(&**result),
        _ => None,
    });
    results.collect()
}

/// Returns the one result of a recorded turn.
fn result_of(version: &str, name: &str, number: usize) -> TurnResult {
    let turns = recorded(version);
    let turn = turns.iter().filter(|turn| turn.name == name).nth(number).expect("no such turn recorded");
    let events = follow(&turn.turn_id, turn.wants_output, &turn.notification);
    results(&events)[0].clone()
}

#[test]
fn every_recorded_turn_has_exactly_one_result_and_it_comes_last() {
    for version in ["droid-0.99.0", "droid-0.225.2"] {
        let turns = recorded(version);
        assert!(!turns.is_empty());
        for turn in turns {
            let events = follow(&turn.turn_id, turn.wants_output, &turn.notification);
            assert_eq!(results(&events).len(), 1, "{version} {}", turn.name);
            assert!(matches!(events.last(), Some(Event::Result(_))), "{version} {}", turn.name);
        }
    }
}

#[test]
fn recorded_turns_end_as_the_agent_said() {
    for (name, number, end, text) in [
        ("text_turn", 0, TurnEnd::Completed, None),
        ("tool_permission_allow", 0, TurnEnd::Completed, None),
        ("spec_mode_new_session", 0, TurnEnd::HandedOver, None),
        ("structured_output_ok", 0, TurnEnd::Completed, Some(r#"{"number":7}"#)),
        (
            "structured_output_bad",
            0,
            TurnEnd::Failed(FailureKind::StructuredOutput(Reason::StructuredOutputInvalid)),
            // the last attempt, which was streamed but never became a message
            Some("no json here"),
        ),
        (
            "model_error_401",
            0,
            TurnEnd::Failed(FailureKind::Execution(Reason::ModelAuthenticationFailed)),
            None,
        ),
        ("model_error_500_retry", 0, TurnEnd::Completed, Some("Recovered after retries.")),
        ("interrupt", 0, TurnEnd::Interrupted(StoppedBy::Peer), None),
        ("interrupt_tool", 0, TurnEnd::Interrupted(StoppedBy::Peer), None),
        ("queue_message", 0, TurnEnd::Completed, None),
    ] {
        let result = result_of("droid-0.225.2", name, number);
        assert_eq!(result.end, end, "{name}");
        if let Some(text) = text {
            assert_eq!(result.text, text, "{name}");
        }
    }
}

#[test]
fn queued_turn_does_not_end_with_the_one_before_it() {
    let (first, second) =
        (result_of("droid-0.225.2", "queue_message", 0), result_of("droid-0.225.2", "queue_message", 1));
    assert_ne!(first.text, second.text);
    assert_eq!(second.end, TurnEnd::Completed);
}

#[test]
fn old_turn_ends_on_idle_with_its_usage() {
    let result = result_of("droid-0.99.0", "text_turn", 0);
    assert_eq!(result.end, TurnEnd::Completed);
    assert_eq!(result.usage.unwrap().output_tokens, 50);
}

#[test]
fn duplicate_tool_result_is_emitted_once() {
    let turns = recorded("droid-0.225.2");
    let turn = turns.iter().find(|turn| turn.name == "interrupt_tool").unwrap();
    let events = follow(&turn.turn_id, false, &turn.notification);
    let told: Vec<_> = events.iter().filter(|event| matches!(event, Event::ToolResult(_))).collect();
    assert_eq!(told.len(), 1);
    let Event::ToolResult(result) = told[0] else { unreachable!() };
    assert_eq!(result.tool_name.as_deref(), Some("Execute"));
}

/// Returns a notification of an agent that does not announce its version.
fn old(json: &serde_json::Value) -> SessionNotificationParams {
    serde_json::from_value(serde_json::json!({"notification": json})).unwrap()
}

fn state(name: &str) -> SessionNotificationParams {
    old(&serde_json::json!({"type": "droid_working_state_changed", "newState": name}))
}

fn delta(text: &str) -> SessionNotificationParams {
    old(
        &serde_json::json!({"type": "assistant_text_delta", "messageId": "a", "blockIndex": 0, "textDelta": text}),
    )
}

fn answer(text: &str) -> SessionNotificationParams {
    let message =
        serde_json::json!({"id": "a", "role": "assistant", "content": [{"type": "text", "text": text}]});
    old(&serde_json::json!({"type": "create_message", "message": message}))
}

fn feed(tracker: &mut Tracker, now: Instant, notification: Vec<SessionNotificationParams>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut dialect = Dialect::default();
    for params in notification {
        tracker.notification(&mut dialect, params, now, &mut events);
    }
    events
}

#[test]
fn idle_before_the_final_message_does_not_end_the_turn_in_0_36() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    let notification = vec![state("streaming_assistant_message"), delta("Hel"), delta("lo"), state("idle")];
    assert!(results(&feed(&mut tracker, now, notification)).is_empty());
    assert!(tracker.deadline().is_some());
    let mut events = feed(&mut tracker, now, vec![answer("Hello")]);
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    assert_eq!(results(&events)[0].text, "Hello");
    assert_eq!(results(&events)[0].end, TurnEnd::Completed);
}

#[test]
fn idle_without_any_last_word_ends_the_turn_after_a_while() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    let mut events =
        feed(&mut tracker, now, vec![state("streaming_assistant_message"), delta("Hel"), state("idle")]);
    tracker.tick(now + IDLE_TIMEOUT / 2, &mut events);
    assert!(results(&events).is_empty());
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    assert_eq!(results(&events).len(), 1);
}

#[test]
fn idle_that_belongs_to_no_turn_ends_none() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    let mut events = feed(&mut tracker, now, vec![state("idle")]);
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    assert!(results(&events).is_empty());
}

#[test]
fn open_question_keeps_an_idle_turn_open_and_stops_the_clock() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    let mut events = feed(&mut tracker, now, vec![state("waiting_for_tool_confirmation")]);
    tracker.asked();
    events.extend(feed(&mut tracker, now, vec![state("idle")]));
    assert_eq!((tracker.deadline(), tracker.last_progress()), (None, None));
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    assert!(results(&events).is_empty());
    tracker.answered(true, now);
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    assert_eq!(results(&events)[0].end, TurnEnd::Interrupted(StoppedBy::Denied));
}

#[test]
fn retracted_text_is_never_the_answer() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    let retracted = old(&serde_json::json!({"type": "assistant_message_retracted", "messageId": "a"}));
    let events = feed(&mut tracker, now, vec![state("thinking"), delta("wrong"), retracted, delta("right")]);
    assert!(events.contains(&Event::Retracted { message_id: "a".to_owned() }));
    tracker.stopping(StoppedBy::Caller);
    let mut events = Vec::new();
    tracker.give_up(now, &mut events);
    // the text of an interrupted answer is kept, without retracted deltas
    assert_eq!(results(&events)[0].text, "right");
    assert_eq!(results(&events)[0].end, TurnEnd::Interrupted(StoppedBy::Caller));
}

#[test]
fn duplicate_message_is_emitted_once_and_newest_text_counts() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    let notification =
        vec![state("streaming_assistant_message"), answer("Hel"), answer("Hello"), state("idle")];
    let mut events = feed(&mut tracker, now, notification);
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Assistant(_))).count(), 1);
    assert_eq!((results(&events)[0].text.as_str(), results(&events)[0].steps), ("Hello", 1));
}

#[test]
fn missing_structured_output_is_a_failure() {
    for (text, has_output) in [("{\"a\":1}", true), ("plain", false), ("[1]", false)] {
        let now = Instant::now();
        let mut tracker = tracker("t", true, now);
        let notification = vec![state("streaming_assistant_message"), answer(text), state("idle")];
        let mut events = feed(&mut tracker, now, notification);
        tracker.tick(now + IDLE_TIMEOUT, &mut events);
        assert_eq!(results(&events)[0].structured_output.is_some(), has_output, "{text}");
        assert_eq!(results(&events)[0].is_error(), !has_output, "{text}");
    }
}

#[test]
fn tokens_of_an_old_turn_are_those_the_session_gained() {
    let now = Instant::now();
    let mut tracker = tracker("t", false, now);
    tracker.expected.usage_before =
        Some(TokenUsage { input_tokens: 100, output_tokens: 10, ..TokenUsage::default() });
    let usage = old(&serde_json::json!({
        "type": "session_token_usage_changed", "tokenUsage": {"inputTokens": 150, "outputTokens": 30},
    }));
    let notification = vec![state("streaming_assistant_message"), answer("x"), usage, state("idle")];
    let mut events = feed(&mut tracker, now, notification);
    assert_eq!(tracker.tokens_used(), 70);
    tracker.tick(now + IDLE_TIMEOUT, &mut events);
    let used = results(&events)[0].usage.unwrap();
    assert_eq!((used.input_tokens, used.output_tokens), (50, 20));
}

fn all_turns() -> &'static [Recorded] {
    static TURNS: std::sync::OnceLock<Vec<Recorded>> = std::sync::OnceLock::new();
    TURNS
        .get_or_init(|| [recorded("droid-0.99.0"), recorded("droid-0.225.2")].into_iter().flatten().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Reordered, missing and duplicate notifications: there is one result, and it comes last.
    #[test]
    fn turn_always_ends_with_exactly_one_result(
        pick in any::<prop::sample::Index>(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..20),
        keep in any::<prop::sample::Index>(),
        is_shuffled in any::<bool>(),
    ) {
        let turn = pick.get(all_turns());
        let notification: Vec<_> = if is_shuffled {
            order.iter().filter(|_| !turn.notification.is_empty()).map(|at| at.get(&turn.notification).clone()).collect()
        } else {
            let mut notification = turn.notification.clone();
            for (a, b) in &swaps {
                if !notification.is_empty() {
                    let (a, b) = (a.index(notification.len()), b.index(notification.len()));
                    notification.swap(a, b);
                }
            }
            notification.truncate(keep.index(notification.len() + 1));
            notification
        };
        let events = follow_to_the_end(&turn.turn_id, turn.wants_output, &notification);
        prop_assert_eq!(results(&events).len(), 1);
        prop_assert!(matches!(events.last(), Some(Event::Result(_))));
        let messages: HashSet<_> = events.iter().filter_map(|event| match event {
            Event::Assistant(message) => Some(message.id.clone()),
            _ => None,
        }).collect();
        let told = events.iter().filter(|event| matches!(event, Event::Assistant(_))).count();
        prop_assert_eq!(messages.len(), told, "a message was emitted twice");
    }
}
