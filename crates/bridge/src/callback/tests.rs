//! Answers of front ends, valid and invalid.

use std::time::Duration;

use serde_json::Value;

use super::*;

fn asked(kind: QuestionKind) -> (Callbacks<u32>, String) {
    let mut callbacks = Callbacks::new();
    let id = callbacks.ask(7, kind, Instant::now() + Duration::from_mins(1));
    (callbacks, id)
}

fn extra(value: &Value) -> Extra {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn permission_of(payload: &Value) -> Result<Permission, Code> {
    let (mut callbacks, id) = asked(QuestionKind::Permission);
    let answer = callbacks.answer(&id, &extra(payload));
    assert_eq!(callbacks.pending.is_empty(), answer.is_ok(), "an invalid answer leaves the callback pending");
    match answer {
        Ok((7, Answer::Permission(permission))) => Ok(permission),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.code),
    }
}

#[test]
fn permission_is_allowed_or_denied() {
    assert_eq!(permission_of(&json!({"behavior": "allow"})), Ok(Permission::allow()));
    assert_eq!(permission_of(&json!({"behavior": "deny"})), Ok(Permission::deny("Denied")));
    let full =
        json!({"behavior": "allow", "updated_input": {"a": 1}, "updated_permissions": [], "message": null});
    let expected = Permission::Allow {
        updated_input: Some(json!({"a": 1}).into()),
        updated_permissions: Some(json!([]).into()),
    };
    assert_eq!(permission_of(&full), Ok(expected));
    let stop = json!({"behavior": "deny", "message": "no", "interrupt": true});
    assert_eq!(
        permission_of(&stop),
        Ok(Permission::Deny { message: "no".to_owned(), interrupt: Some(true) })
    );
}

#[test]
fn invalid_answer_leaves_the_callback_pending() {
    for payload in [
        json!({}),
        json!({"behavior": "maybe"}),
        json!({"behavior": 1}),
        json!({"behavior": "allow", "updated_input": "x"}),
        json!({"behavior": "allow", "updated_permissions": {}}),
        json!({"behavior": "deny", "message": 1}),
        json!({"behavior": "deny", "interrupt": "yes"}),
    ] {
        assert_eq!(permission_of(&payload), Err(Code::InvalidMessage), "{payload}");
    }
}

#[test]
fn hook_may_answer_in_both_spellings_or_nothing() {
    for (payload, expected) in [
        (json!({}), json!({})),
        (
            json!({"continue": false, "decision": "block", "system_message": "s", "reason": "r", "stop_reason": "t",
                "suppress_output": true, "hook_specific_output": {"b": 1, "a": 2}}),
            json!({"continue": false, "decision": "block", "systemMessage": "s", "reason": "r", "stopReason": "t",
                "suppressOutput": true, "hookSpecificOutput": {"b": 1, "a": 2}}),
        ),
        (json!({"systemMessage": "s"}), json!({"systemMessage": "s"})),
    ] {
        let (mut callbacks, id) = asked(QuestionKind::Hook);
        let Ok((_, Answer::Hook(output))) = callbacks.answer(&id, &extra(&payload)) else {
            panic!("{payload}")
        };
        assert_eq!(serde_json::to_value(&output).unwrap(), expected);
    }
    let (mut callbacks, id) = asked(QuestionKind::Hook);
    assert!(callbacks.answer(&id, &extra(&json!({"continue": "no"}))).is_err());
}

#[test]
fn callback_is_answered_once_and_not_after_cancellation() {
    let (mut callbacks, id) = asked(QuestionKind::Hook);
    callbacks.answer(&id, &Extra::default()).unwrap();
    assert_eq!(callbacks.answer(&id, &Extra::default()).unwrap_err().code, Code::CallbackNotFound);
    let (mut callbacks, id) = asked(QuestionKind::Hook);
    callbacks.cancel(&7);
    assert_eq!(callbacks.answer(&id, &Extra::default()).unwrap_err().code, Code::CallbackNotFound);
    assert_eq!(callbacks.next_deadline(), None);
}

#[tokio::test(start_paused = true)]
async fn callback_times_out_with_a_default_answer() {
    let mut callbacks = Callbacks::new();
    let now = Instant::now();
    let permission = callbacks.ask(1, QuestionKind::Permission, now + Duration::from_secs(1));
    let hook = callbacks.ask(2, QuestionKind::Hook, now + Duration::from_secs(2));
    assert_eq!(callbacks.next_deadline(), Some(now + Duration::from_secs(1)));
    assert_eq!(callbacks.expired(now), []);
    let denied = Answer::Permission(Permission::deny("Permission request timed out"));
    assert_eq!(callbacks.expired(now + Duration::from_secs(1)), [(permission, 1, denied)]);
    let silent = Answer::Hook(HookOutput::default());
    assert_eq!(callbacks.expired(now + Duration::from_secs(9)), [(hook, 2, silent)]);
}
