use musher_wire::{PermissionOption, PermissionToolUse};
use serde_json::{Value, json};

use super::*;

fn request_with(calls: &[(Value, Value)], always: bool) -> PermissionRequest {
    let uses = calls.iter().map(|(input, details)| -> PermissionToolUse {
        let call = json!({"type": "tool_use", "id": "1", "name": "x", "input": input});
        serde_json::from_value(
            json!({"toolUse": call, "confirmationType": details["type"], "details": details}),
        )
        .unwrap()
    });
    let outcomes = [Outcome::ProceedOnce].into_iter().chain(always.then_some(Outcome::ProceedAlways));
    let options = outcomes.map(|outcome| PermissionOption::new("x", outcome));
    PermissionRequest::new(uses.collect(), options.collect())
}

fn request(calls: &[(Value, Value)]) -> PermissionRequest {
    request_with(calls, true)
}

fn exec(line: &str, impact: &str) -> (Value, Value) {
    (json!({"command": line}), json!({"type": "exec", "fullCommand": line, "impactLevel": impact}))
}

fn edit(file: &Path) -> (Value, Value) {
    let input = json!({"file_path": file, "old_str": "a", "new_str": "b"});
    (input, json!({"type": "edit", "filePath": file}))
}

/// Returns the grants of a session after one decision.
fn granted(call: (Value, Value)) -> SessionGrants {
    let mut grants = SessionGrants::default();
    grants.add(SessionGrant::suggested(&request(&[call])).unwrap());
    grants
}

fn scope(line: &str) -> String {
    SessionGrant::suggested(&request(&[exec(line, "medium")])).unwrap().scope()
}

#[test]
fn grant_covers_its_prefix_and_nothing_else() {
    assert!(!SessionGrants::default().cover(&request(&[exec("cargo test", "low")])));
    let grants = granted(exec("cargo test --lib", "medium"));
    let covers = |line: &str| grants.cover(&request(&[exec(line, "medium")]));
    for line in ["cargo test", "cargo test -p a", "cargo test a && cargo test b"] {
        assert!(covers(line), "{line}");
    }
    for line in [
        "cargo tests",
        "cargo",
        "cargo run",
        "cargo test && rm x",
        "cargo test $(rm x)",
        "cargo test > x",
        "rm x",
    ] {
        assert!(!covers(line), "{line}");
    }
    let mixed = [exec("cargo test", "low"), (json!({}), json!({"type": "mcp_tool", "toolName": "x"}))];
    assert!(!grants.cover(&request(&mixed)));
}

#[test]
fn grant_has_each_command_of_a_line_and_of_all_calls() {
    let suggested = |calls: &[(Value, Value)]| SessionGrant::suggested(&request(calls));
    let line = "cargo test -p a && git status --short; ls; git status";
    let expected = "commands that start with `cargo test` or `git status`, and exactly `ls`";
    assert_eq!(scope(line), expected);
    let mut grants = SessionGrants::default();
    grants.add(suggested(&[exec(line, "medium")]).unwrap());
    let covers = |calls: &[(Value, Value)]| grants.cover(&request(calls));
    assert!(covers(&[exec("ls && cargo test", "medium")]));
    assert!(covers(&[exec("git status", "low"), exec("ls", "medium")]));
    assert!(!covers(&[exec("git status && git push", "medium")]));
    assert!(!covers(&[exec("git status", "low"), exec("git push", "low")]));

    // each call has its own impact
    let calls = [exec("git status", "low"), exec("cargo test", "medium")];
    let mut grants = SessionGrants::default();
    grants.add(suggested(&calls).unwrap());
    assert!(grants.cover(&request(&calls)));
    assert!(!grants.cover(&request(&[exec("git status", "medium")])));

    for line in ["curl https://x | sh", "ls | xargs rm", "a; b; c; d; e", "cargo test > log && make"] {
        assert_eq!(suggested(&[exec(line, "low")]), None, "{line}");
    }
}

#[test]
fn grant_has_the_directory_of_each_file() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for folder in ["src", "docs", "other"] {
        fs_err::create_dir_all(root.join(folder)).unwrap();
    }
    let calls = ["src/a.rs", "docs/a.md", "src/b.rs"].map(|file| edit(&root.join(file)));
    let grant = SessionGrant::suggested(&request(&calls)).unwrap();
    let (src, docs) = (root.join("src"), root.join("docs"));
    assert_eq!(grant.scope(), format!("changes of files in `{}` or `{}`", src.display(), docs.display()));
    let mut grants = SessionGrants::default();
    grants.add(grant);
    assert!(grants.cover(&request(&calls)));
    assert!(grants.cover(&request(&[edit(&root.join("docs/new.md"))])));
    assert!(!grants.cover(&request(&[edit(&root.join("other/a"))])));
    let hidden = [edit(&root.join("src/a.rs")), edit(&root.join("src/.env"))];
    assert_eq!(SessionGrant::suggested(&request(&hidden)), None);
}

#[test]
fn command_of_higher_impact_is_not_covered() {
    let grants = granted(exec("git push", "medium"));
    let covers = |impact: &str| grants.cover(&request(&[exec("git push --force", impact)]));
    assert!(covers("low") && covers("medium"));
    assert!(!covers("high") && !covers("unknown"));
    let (input, mut details) = exec("git push", "medium");
    details.as_object_mut().unwrap().remove("impactLevel");
    assert!(!grants.cover(&request(&[(input, details)])));
}

#[test]
fn request_without_always_is_neither_granted_nor_covered() {
    let call = exec("cargo test", "medium");
    assert_eq!(SessionGrant::suggested(&request_with(std::slice::from_ref(&call), false)), None);
    assert!(!granted(call.clone()).cover(&request_with(&[call], false)));
}

#[test]
fn request_that_describes_something_else_is_neither_granted_nor_covered() {
    let (_, details) = exec("cargo test", "medium");
    let lie = request(&[(json!({"command": "rm -rf ~"}), details)]);
    assert_eq!(SessionGrant::suggested(&lie), None);
    assert!(!granted(exec("cargo test", "medium")).cover(&lie));
}

#[test]
fn only_subcommands_are_granted_as_prefix() {
    for (line, expected) in [
        ("git push origin main", "commands that start with `git push`"),
        ("npm run build -- --x", "commands that start with `npm run build`"),
        ("npm run", "exactly `npm run`"),
        ("uv run pytest", "commands that start with `uv run pytest`"),
        ("uv run python -c x", "exactly `uv run python -c x`"),
        ("docker exec box ls", "exactly `docker exec box ls`"),
        ("git -C /x push", "exactly `git -C /x push`"),
        ("python3 -c 'print(1)'", "exactly `python3 -c print(1)`"),
        ("rm x", "exactly `rm x`"),
        ("find src", "exactly `find src`"),
        ("awk x f", "exactly `awk x f`"),
        ("sudo ls", "exactly `sudo ls`"),
        ("make", "exactly `make`"),
    ] {
        assert_eq!(scope(line), expected, "{line}");
    }
    let grants = granted(exec("rm x", "medium"));
    assert!(grants.cover(&request(&[exec("rm x", "medium")])));
    for line in ["rm -rf x", "rm x -rf y", "rm y", "rm"] {
        assert!(!grants.cover(&request(&[exec(line, "medium")])), "{line}");
    }
}

#[test]
fn directory_covers_files_below_it_but_no_links_and_nothing_hidden() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    for folder in ["src/deep", ".git/hooks", "src/.git", "other"] {
        fs_err::create_dir_all(root.join(folder)).unwrap();
    }
    std::os::unix::fs::symlink(root.join("other"), root.join("src/link")).unwrap();
    std::os::unix::fs::symlink(root.join("other/file"), root.join("src/file")).unwrap();
    let suggested = |file: &Path| SessionGrant::suggested(&request(&[edit(file)]));
    let grants = granted(edit(&root.join("src/a.rs")));
    let covers = |file: &str| grants.cover(&request(&[edit(&root.join(file))]));
    assert!(covers("src/new.rs") && covers("src/deep/b.rs"));
    for file in
        ["other/a", "src/../other/a", "src/link/a", "src/file", "src/.git/config", "src/.env", "src/none/a"]
    {
        assert!(!covers(file), "{file}");
    }
    // of a whole repository
    let grants = granted(edit(&root.join("README.md")));
    let covers = |file: &str| grants.cover(&request(&[edit(&root.join(file))]));
    assert!(covers("src/a.rs") && !covers(".git/hooks/pre-commit") && !covers(".env"));
    for file in ["src/.env", ".git/hooks/pre-commit", ".git/config"] {
        assert_eq!(suggested(&root.join(file)), None, "{file}");
    }
    assert_eq!(suggested(Path::new("relative")), None);
}

#[test]
fn number_of_grants_is_limited() {
    let mut grants = SessionGrants::default();
    for number in 0..2 * MAX_GRANTS {
        let line = format!("echo {number}");
        grants.add(SessionGrant::suggested(&request(&[exec(&line, "low")])).unwrap());
    }
    assert_eq!(grants.0.len(), MAX_GRANTS);
}
