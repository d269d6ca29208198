//! One row per tool.

use serde_json::json;

use super::*;

fn shown(name: &str, input: &Value) -> Value {
    let shown = show(name, input, Path::new("/repo"));
    json!({
        "title": shown.title, "kind": shown.kind,
        "content": shown.content, "locations": shown.locations,
    })
}

#[test]
fn each_tool_has_its_title_kind_files_and_changes() {
    let at = |path: &str| json!([{"path": path}]);
    let diff = |path: &str, old: Value, new: &str| {
        let mut diff = json!({"type": "diff", "path": path, "newText": new});
        if !old.is_null() {
            diff["oldText"] = old;
        }
        diff
    };
    let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let none = json!([]);
    let patch = "*** Begin Patch\n*** Update File: a.rs\n-old\n+new\n*** Add File: b.rs\n+b\n*** End Patch";
    #[rustfmt::skip]
    let rows = [
        ("Read", json!({"file_path": "a.rs", "offset": 9}), "Read a.rs", "read", none.clone(), json!([{"path": "/repo/a.rs", "line": 10}])),
        ("LS", json!({"directory_path": "/etc"}), "List /etc", "read", none.clone(), at("/etc")),
        ("Grep", json!({"pattern": "fn main"}), "Grep fn main", "search", none.clone(), none.clone()),
        ("Glob", json!({"patterns": ["*.rs", "*.md"]}), "Glob *.rs, *.md", "search", none.clone(), none.clone()),
        ("Edit", json!({"file_path": "/repo/a.rs", "old_str": "a", "new_str": "b"}), "Edit a.rs", "edit", json!([diff("/repo/a.rs", "a".into(), "b")]), at("/repo/a.rs")),
        ("MultiEdit", json!({"file_path": "a.rs", "changes": [{"old_str": "a", "new_str": "b"}, {"old_str": "c", "new_str": "d"}]}), "Edit a.rs", "edit",
            json!([diff("/repo/a.rs", "a".into(), "b"), diff("/repo/a.rs", "c".into(), "d")]), at("/repo/a.rs")),
        ("Create", json!({"file_path": "/repo/new.txt", "content": "hi\n"}), "Create new.txt", "edit", json!([diff("/repo/new.txt", Value::Null, "hi\n")]), at("/repo/new.txt")),
        ("ApplyPatch", json!({"input": patch}), "Edit a.rs, b.rs", "edit", json!([diff("/repo/a.rs", "old\n".into(), "new\n"), diff("/repo/b.rs", Value::Null, "b\n")]), json!([{"path": "/repo/a.rs"}, {"path": "/repo/b.rs"}])),
        ("ApplyPatch", json!({"input": "what?"}), "Edit", "edit", text("```\nwhat?\n```"), none.clone()),
        ("Execute", json!({"command": "cargo test\necho done"}), "cargo test…", "execute", none.clone(), none.clone()),
        ("Execute", json!({}), "Run a command", "execute", none.clone(), none.clone()),
        ("FetchUrl", json!({"url": "http://localhost"}), "Fetch http://localhost", "fetch", none.clone(), none.clone()),
        ("Task", json!({"description": "Look around"}), "Task Look around", "think", none.clone(), none.clone()),
        ("ExitSpecMode", json!({"title": "Do it", "plan": "# Plan"}), "Do it", "switch_mode", text("# Plan"), none.clone()),
        ("files___read", json!({}), "files: read", "other", none.clone(), none.clone()),
        ("Unheard", json!("of"), "Unheard", "other", none.clone(), none.clone()),
    ];
    for (name, input, title, kind, content, locations) in rows {
        let mut expected = json!({"title": title, "kind": kind, "content": content, "locations": locations});
        let mut told = shown(name, &input);
        // an absent old text may be printed as null
        for side in [&mut expected, &mut told] {
            for entry in side["content"].as_array_mut().unwrap() {
                entry.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            }
        }
        assert_eq!(told, expected, "{name} {input}");
    }
}

#[test]
fn fence_is_longer_than_any_in_the_text() {
    assert_eq!(fenced("a ```` b\n"), words("`````\na ```` b\n`````"));
}
