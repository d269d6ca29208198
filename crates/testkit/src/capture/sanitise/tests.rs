//! Tests what is removed, and that the rest is kept.

use std::path::Path;

use serde_json::{Value, json};

use super::{replacements, sanitise};

fn clean(message: Value) -> Value {
    let folders = [(Path::new("/tmp/s1/workspace"), "/workspace"), (Path::new("/tmp/s1/home"), "/home/user")];
    sanitise(
        message,
        &replacements(&folders, &[("fk-secret", "<key>"), ("http://127.0.0.1:4242", "http://127.0.0.1:1")]),
    )
}

#[test]
fn ordinary_message_stays_as_it_is() {
    let message =
        json!({"jsonrpc": "2.0", "id": "1", "result": {"n": 1, "ok": true, "none": null, "list": ["a", 2]}});
    assert_eq!(clean(message.clone()), message);
}

#[test]
fn folders_are_replaced_in_values_keys_and_file_names() {
    let message = json!({"/tmp/s1/home/.factory": "cd /tmp/s1/workspace/a && ls", "log": "sessions/-tmp-s1-workspace/x.jsonl"});
    assert_eq!(
        clean(message),
        json!({"/home/user/.factory": "cd /workspace/a && ls", "log": "sessions/-workspace/x.jsonl"})
    );
}

#[test]
fn keys_addresses_and_host_ids_do_not_stay() {
    let message = json!({"apiKey": "anything", "text": "Bearer fk-secret at http://127.0.0.1:4242/v1", "hostId": "h", "pid": 812});
    let expected = json!({
        "apiKey": "<removed>",
        "text": "Bearer <key> at http://127.0.0.1:1/v1",
        "hostId": "11111111-1111-4111-8111-111111111111",
        "pid": 1,
    });
    assert_eq!(clean(message), expected);
}

#[test]
fn text_with_a_hidden_reminder_is_removed_completely() {
    let message = json!({"text": "before <system-reminder>secret\nlines</system-reminder> after"});
    assert_eq!(clean(message), json!({"text": "<system-reminder>...</system-reminder>"}));
}

#[test]
fn one_built_in_and_one_custom_model_are_kept() {
    let models = |ids: &[(&str, bool)]| -> Vec<_> {
        ids.iter().map(|(id, custom)| json!({"id": id, "isCustom": custom})).collect()
    };
    let message = json!({"availableModels": models(&[("a", false), ("b", false), ("c", true), ("d", true)])});
    assert_eq!(clean(message), json!({"availableModels": models(&[("a", false), ("c", true)])}));
    let message = json!({"models": models(&[("a", false), ("b", false), ("c", false)])});
    assert_eq!(clean(message), json!({"models": models(&[("a", false), ("b", false)])}));
}

#[test]
fn registry_servers_are_cut_and_session_servers_are_not() {
    let registry = json!({"servers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]});
    assert_eq!(clean(registry), json!({"servers": [{"name": "a"}, {"name": "b"}]}));
    let session = json!({"servers": [{"name": "a", "status": "up"}, {"name": "b", "status": "up"}, {"name": "c", "status": "up"}]});
    assert_eq!(clean(session.clone()), session);
}

#[test]
fn long_descriptions_and_huge_strings_are_cut() {
    let message =
        json!({"description": "d".repeat(81), "title": "t".repeat(4001), "summary": "s".repeat(4000)});
    let expected = json!({"description": "...", "title": format!("{}...", "t".repeat(200)), "summary": "s".repeat(4000)});
    assert_eq!(clean(message), expected);
}
