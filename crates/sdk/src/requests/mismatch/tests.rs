use serde_json::json;

use super::*;

fn found(name: &str, input: Value, details: Value) -> Vec<(&'static str, String)> {
    let mut asked = json!({
        "toolUse": {"type": "tool_use", "id": "t", "name": name},
        "confirmationType": details["type"],
    });
    asked["toolUse"]["input"] = input;
    asked["details"] = details;
    let asked: PermissionToolUse = serde_json::from_value(asked).unwrap();
    Mismatch::of(&asked).into_iter().map(|it| (it.subject, it.called)).collect()
}

/// Returns every permission request in the captures of droid.
fn captured() -> Vec<PermissionToolUse> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/wire/droid-0.225.2");
    let mut all = Vec::new();
    for file in fs_err::read_dir(folder).unwrap() {
        let text = fs_err::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines().filter(|line| line.contains("droid.request_permission")) {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            let Some(uses) = message["msg"]["params"]["toolUses"].as_array() else { continue };
            all.extend(
                uses.iter().map(|it| serde_json::from_value::<PermissionToolUse>(it.clone()).unwrap()),
            );
        }
    }
    all
}

#[test]
fn requests_of_droid_describe_their_calls() {
    let all = captured();
    assert!(all.len() > 10, "{}", all.len());
    for asked in all {
        assert_eq!(Mismatch::of(&asked), [], "{asked:?}");
    }
}

#[test]
fn other_command_or_no_command_is_found() {
    let exec = |line: &str| json!({"type": "exec", "fullCommand": line});
    let run = |command: &str, line: &str| found("Execute", json!({"command": command}), exec(line));
    assert_eq!(run("cargo test", "cargo test\n"), []);
    assert_eq!(run("a\u{202e}b", "a\\u{202e}b"), []);
    assert_eq!(run("a\r\nb", "a\\u{d}\nb"), []);
    assert_eq!(run("rm -rf ~", "ls"), [("command", "rm -rf ~".to_owned())]);
    // only what cannot be seen is spelled out
    assert_eq!(run("rm x", "\\u{72}m x").len(), 1);
    let other = found("Create", json!({"file_path": "/x"}), exec("ls"));
    assert_eq!(other[0].0, "call");
    assert!(other[0].1.starts_with("Create {"), "{other:?}");
}

#[test]
fn created_file_with_other_content_or_path_is_found() {
    let create = |path: &str, content: Option<&str>| {
        let details = json!({"type": "create", "filePath": "/w/a", "content": "x\ny\n"});
        found("Create", json!({"file_path": path, "content": content}), details)
    };
    for path in ["/w/a", "a", "./a", "/w/b/../a", "~/a"] {
        assert_eq!(create(path, Some("x\r\ny")), [], "{path}");
    }
    for path in ["/w/b", "../a", "b/a", ".", ""] {
        assert_eq!(create(path, Some("x\ny\n")), [("file", path.to_owned())], "{path}");
    }
    assert_eq!(create("a", Some("x\nz\n")), [("content", "x\nz\n".to_owned())]);
    assert_eq!(create("a", None)[0].0, "call");
}

#[test]
fn link_to_the_described_file_is_the_same_file() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    fs_err::create_dir(root.join("real")).unwrap();
    std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
    let (real, link) = (root.join("real/a"), root.join("link/a"));
    let is_same =
        |described: &Path, called: &Path| is_same_file(described.to_str().unwrap(), called.to_str().unwrap());
    assert!(is_same(&real, &link) && !is_same(&link, &root.join("other/a")));
}

#[test]
fn edit_that_replaces_something_else_is_found() {
    let edit = |old: &str, new: &str, shown: (&str, &str)| {
        let details =
            json!({"type": "edit", "filePath": "/w/a", "oldContent": shown.0, "newContent": shown.1});
        found("Edit", json!({"file_path": "/w/a", "old_str": old, "new_str": new}), details)
    };
    let shown = ("alpha\r\nbeta\u{d}\r\nbeta\r\n", "alpha\r\nBETA\u{d}\r\nbeta\r\n");
    assert_eq!(edit("beta", "BETA", shown), []);
    assert_eq!(edit("b", "B", ("b b", "B B")), []);
    assert_eq!(edit("a\u{202e}", "b", ("a\\u{202e}", "b")), []);
    let lie = [("change", "- beta\n+ rm -rf ~".to_owned())];
    assert_eq!(edit("beta", "rm -rf ~", shown), lie);
    // the change is nowhere in what is shown
    assert_eq!(edit("gamma", "rm", ("x", "x")).len(), 1);
    assert_eq!(edit("", "rm", ("x", "x")).len(), 1);
    let details = json!({"type": "edit", "filePath": "/w/a", "oldContent": "x", "newContent": "y"});
    assert_eq!(found("Edit", json!({"file_path": "/w/a", "patch": "z"}), details)[0].0, "call");
    let bare = json!({"type": "edit", "filePath": "/w/a"});
    assert_eq!(found("Edit", json!({"file_path": "/w/a", "old_str": "a", "new_str": "b"}), bare), []);
}

#[test]
fn several_edits_are_compared_in_order() {
    let input = json!({"file_path": "/w/a", "edits": [
        {"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}]});
    let details =
        |new: &str| json!({"type": "edit", "filePath": "/w/a", "oldContent": "a", "newContent": new});
    assert_eq!(found("MultiEdit", input.clone(), details("c")), []);
    assert_eq!(found("MultiEdit", input, details("b"))[0].0, "change");
}

#[test]
fn other_patch_plan_or_tool_is_found() {
    let patch = |text: &str| json!({"type": "apply_patch", "filePath": "/w/a", "patchContent": text});
    assert_eq!(found("ApplyPatch", json!({"input": "*** x"}), patch("*** x")), []);
    assert_eq!(found("ApplyPatch", json!("*** x"), patch("*** x")), []);
    assert_eq!(
        found("ApplyPatch", json!({"input": "*** y"}), patch("*** x")),
        [("patch", "*** y".to_owned())]
    );
    let plan = json!({"type": "exit_spec_mode", "plan": "read"});
    assert_eq!(found("ExitSpecMode", json!({"plan": "delete"}), plan), [("plan", "delete".to_owned())]);
    let tool = |name: &str, server: &str, actual: &str| json!({"type": "mcp_tool", "toolName": name, "serverName": server, "actualToolName": actual});
    for (name, server, actual) in
        [("db___query", "db", "query"), ("my_server___fs_read_0a1b2c3d", "my server", "fs.read")]
    {
        assert_eq!(found(name, json!({}), tool(name, server, actual)), []);
    }
    let lie = [("tool", "db___drop".to_owned())];
    assert_eq!(found("db___drop", json!({}), tool("db___query", "db", "query")), lie);
    assert_eq!(found("db___drop", json!({}), tool("db___drop", "db", "query")), lie);
}

#[test]
fn violation_of_another_tool_or_command_is_found() {
    let violation = json!({"type": "sandbox_violation", "violatingToolName": "Read", "target": "/x"});
    assert_eq!(found("Read", json!({"file_path": "/x"}), violation.clone()), []);
    assert_eq!(found("Execute", json!({"command": "rm"}), violation), [("tool", "Execute".to_owned())]);
    let shield = json!({"type": "droid_shield_violation", "command": "git commit"});
    assert_eq!(found("Execute", json!({"command": "git commit"}), shield.clone()), []);
    assert_eq!(found("Execute", json!({"command": "rm"}), shield)[0].0, "command");
}
