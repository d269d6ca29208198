//! The player with clients that follow the recording, deviate from it, and act at random.

use std::path::Path;

use musher_wire::{AddUserMessage, InitializeSession};
use proptest::prelude::*;

use super::*;

const TURN: &str = r#"
{"dir":"c2s","msg":{"type":"request","id":"1","method":"droid.initialize_session","params":{"cwd":"/a"}}}
{"dir":"s2c","msg":{"type":"response","id":"1","result":{"sessionId":"s"}}}
{"dir":"c2s","msg":{"type":"request","id":"2","method":"droid.add_user_message","params":{"text":"Hi","messageId":"m"}}}
{"dir":"s2c","msg":{"type":"response","id":"2","result":{}}}
{"dir":"s2c","msg":{"type":"notification","method":"x","params":{"a":"m","b":"context-m","c":"m2","d":["m"],"e":"say \"m\" twice"}}}
{"dir":"s2c","msg":{"type":"request","id":"q","method":"droid.request_permission","params":{}}}
{"dir":"c2s","msg":{"type":"response","id":"q","result":{"selectedOption":"proceed_once"}}}
{"dir":"s2c","msg":{"type":"notification","method":"y","params":{}}}
"#;

fn player(recording: &str) -> Player {
    Player::new(Script::parse(recording).unwrap(), false)
}

fn call(id: &str, method: &'static str, params: Value) -> Frame {
    Frame::Request(Request::new(id, method, Json::from(params)))
}

fn answer(id: &str, option: &str) -> Frame {
    let result = serde_json::json!({"selectedOption": option});
    Frame::Response(Response::new(Id::from(id), Ok(Json::from(result))))
}

/// Returns all messages of the agent until it waits or ends the connection.
fn said(player: &mut Player) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Ok(Next::Say(frame)) = player.next() {
        frames.push(*frame);
    }
    frames
}

#[test]
fn ids_of_calls_and_messages_are_those_of_the_real_client() {
    let mut player = player(TURN);
    player.take(call("real-1", InitializeSession::NAME, Value::Null)).unwrap();
    assert!(
        matches!(&said(&mut player)[..], [Frame::Response(response)] if response.id.as_str() == Some("real-1"))
    );
    let params = serde_json::json!({"text": "Hi", "messageId": "my \"own\""});
    player.take(call("real-2", AddUserMessage::NAME, params)).unwrap();
    let frames = said(&mut player);
    let [Frame::Response(_), Frame::Notification(notification), Frame::Request(question)] = &frames[..]
    else {
        panic!("{frames:?}")
    };
    let expected = serde_json::json!({
        "a": "my \"own\"", "b": "context-my \"own\"", "c": "m2", "d": ["my \"own\""], "e": "say \"m\" twice",
    });
    assert_eq!(notification.params.as_ref().unwrap().to_value().unwrap(), expected);
    assert_eq!(question.id.as_str(), Some("q"));
    player.take(answer("q", "proceed_once")).unwrap();
    assert_eq!(said(&mut player).len(), 1);
    assert_eq!(player.wants(), None);
}

#[test]
fn what_comes_early_is_held_until_its_moment() {
    let mut player = player(TURN);
    player.take(call("late", AddUserMessage::NAME, Value::Null)).unwrap();
    assert_eq!(said(&mut player), []);
    assert!(
        player
            .wants()
            .unwrap()
            .contains("call `droid.initialize_session` (line 2), but it called `droid.add_user_message`")
    );
    player.take(call("first", InitializeSession::NAME, Value::Null)).unwrap();
    assert_eq!(said(&mut player).len(), 4);
    let again = player.take(call("again", AddUserMessage::NAME, Value::Null)).unwrap_err();
    assert!(again.contains("which was not recorded"), "{again}");
}

#[test]
fn goodbye_can_be_said_at_any_time() {
    let mut player = player(TURN);
    player.take(call("bye", CloseSession::NAME, Value::Null)).unwrap();
    assert_eq!(said(&mut player).len(), 1);
    assert_eq!(player.next(), Ok(Next::Leave));
}

#[test]
fn answer_to_unknown_request_is_refused() {
    let mut player = player(TURN);
    assert!(player.take(answer("q?", "cancel")).unwrap_err().contains("which the agent did not make"));
    // this one is only asked later, and then the answer is there
    player.take(answer("q", "cancel")).unwrap();
}

/// Returns an action of a client, valid or not.
fn moves() -> impl Strategy<Value = Frame> {
    let methods = [
        InitializeSession::NAME,
        AddUserMessage::NAME,
        InterruptSession::NAME,
        CloseSession::NAME,
        "droid.list_tools",
        "droid.load_session",
    ];
    prop_oneof![
        4 => (any::<u8>(), prop::sample::select(methods.to_vec()))
            .prop_map(|(id, method)| call(&id.to_string(), method, serde_json::json!({"messageId": id.to_string()}))),
        1 => (prop::sample::select(vec!["q", "f11f4b", "x"]), prop::sample::select(vec!["proceed_once", "cancel"]))
            .prop_map(|(id, option)| answer(id, option)),
    ]
}

proptest! {
    #[test]
    fn agent_sends_only_recorded_messages_to_any_client(
        name in prop::sample::select(vec!["interrupt", "tool_permission_allow", "list_everything", "fork"]),
        moves in prop::collection::vec(moves(), 0..30),
    ) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/droid-0.225.2");
        let text = fs_err::read_to_string(folder.join(name).with_extension("jsonl")).unwrap();
        let mut player = player(&text);
        let mut heard = 0;
        let count = moves.len();
        for frame in moves {
            if player.take(frame).is_err() {
                break;
            }
            heard += said(&mut player).len();
        }
        prop_assert!(heard <= text.lines().count() + count);
    }

    #[test]
    fn any_text_is_a_recording_or_an_error(text in "(\\PC|\n|\\{\"dir\":\"s2c\",|\"msg\":|\\{\\}\\}?){0,40}") {
        Script::parse(&text).ok();
    }
}
