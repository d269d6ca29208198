//! Worktrees: a session works beside the user's files, and nothing that is not committed and merged is ever removed.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{Client, Stage};

/// Runs git, with a person for commits.
#[expect(clippy::disallowed_methods, reason = "the tests make repositories")]
fn git(folder: &Path, arguments: &[&str]) -> String {
    let person = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
    let ran = Command::new("git").current_dir(folder).args(person).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// A repository in the working directory, with a hook that must not run.
fn repository(stage: &Stage) {
    use std::os::unix::fs::PermissionsExt as _;
    let work = stage.work();
    git(&work, &["init", "--quiet", "--initial-branch=main"]);
    fs_err::write(work.join("a.txt"), "one\n").unwrap();
    fs_err::write(work.join(".gitignore"), "*.secret\n").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "-m", "first"]);
    let hook = work.join(".git/hooks/post-checkout");
    fs_err::create_dir_all(hook.parent().unwrap()).unwrap();
    fs_err::write(&hook, "#!/bin/sh\ntouch \"$HOME/hook-ran\"\n").unwrap();
    fs_err::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn open(client: &mut Client, stage: &Stage, worktree: Value) -> Value {
    let params =
        json!({"machineId": "test", "cwd": stage.work(), "token": client.token, "worktree": worktree});
    client.call("daemon.initialize_session", params).await
}

async fn list(client: &mut Client) -> Value {
    client.call("daemon.list_worktrees", json!({})).await["worktrees"].clone()
}

async fn refusal(client: &mut Client, name: &str) -> String {
    let refusal = client.refusal("daemon.remove_worktree", json!({"name": name})).await;
    refusal["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn worktree_has_the_work_of_its_session_and_is_removed_when_that_is_merged() {
    let mut stage = Stage::new();
    repository(&stage);
    let mut client = stage.client().await;
    let opened = open(&mut client, &stage, json!({"name": "task"})).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let path = stage.home.path().join(".musher/worktrees/task");
    assert_eq!(
        (&opened["worktree"]["path"], &opened["worktree"]["branch"]),
        (&json!(path), &json!("musher/task"))
    );
    assert!(path.join("a.txt").exists() && !stage.home.path().join("hook-ran").exists());
    client.request("daemon.add_user_message", json!({"sessionId": session, "text": "touch it"})).await;
    let asked = client.until(&json!({"method": "daemon.request_permission"})).await;
    client.answer(&asked, json!({"sessionId": session, "selectedOption": "proceed_once"})).await;
    client.until_idle(&session).await;
    assert!(path.join("made.txt").exists() && !stage.work().join("made.txt").exists());

    let listed = list(&mut client).await;
    let item = &listed[0];
    assert_eq!(
        (&item["name"], &item["sessionId"], &item["isOpen"]),
        (&json!("task"), &json!(session), &json!(true))
    );
    assert_eq!((&item["uncommitted"], &item["isRemovable"]), (&json!(1), &json!(false)), "{item}");
    assert!(item["bytes"].as_u64().unwrap() > 4, "{item}");
    assert!(refusal(&mut client, "task").await.contains("its session is open"));
    client.call("daemon.close_session", json!({"sessionId": session})).await;

    assert!(refusal(&mut client, "task").await.contains("1 files in it are not committed"));
    git(&path, &["add", "."]);
    git(&path, &["commit", "--quiet", "-m", "made"]);
    assert!(refusal(&mut client, "task").await.contains("1 commits are in no other branch"));
    git(&stage.work(), &["merge", "--quiet", "musher/task"]);
    // not even a file that git ignores is deleted
    fs_err::write(path.join("key.secret"), "k").unwrap();
    assert!(refusal(&mut client, "task").await.contains("not committed"));
    assert!(path.join("key.secret").exists());
    fs_err::remove_file(path.join("key.secret")).unwrap();
    client.call("daemon.remove_worktree", json!({"name": "task"})).await;
    assert!(!path.exists() && stage.work().join("made.txt").exists());
    assert_eq!(git(&stage.work(), &["branch", "--list", "musher/*"]), "");
    assert_eq!(list(&mut client).await, json!([]));
    stage.stop();
}

#[tokio::test]
async fn archiving_removes_an_empty_worktree_and_keeps_one_with_changes() {
    let mut stage = Stage::new();
    repository(&stage);
    let mut client = stage.client().await;
    let mut sessions = Vec::new();
    for name in ["changed", "empty"] {
        let opened = open(&mut client, &stage, json!({"name": name, "base": "main"})).await;
        let session = opened["sessionId"].as_str().unwrap().to_owned();
        client.turn(&session, "say hello").await;
        client.call("daemon.close_session", json!({"sessionId": session})).await;
        sessions.push(session);
    }
    let folder = stage.home.path().join(".musher/worktrees");
    fs_err::write(folder.join("changed/new.txt"), "new").unwrap();
    for session in &sessions {
        client.call("daemon.archive_session", json!({"sessionId": session})).await;
    }
    assert!(folder.join("changed/new.txt").exists() && !folder.join("empty").exists());
    let names: Vec<Value> =
        list(&mut client).await.as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["changed"]);
    stage.stop();
}

#[tokio::test]
async fn worktree_that_cannot_be_made_opens_no_session() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let params = |worktree: Value| json!({"machineId": "test", "cwd": stage.work(), "token": "t", "worktree": worktree});
    let refusal = client.refusal("daemon.initialize_session", params(json!(true))).await;
    assert_eq!(refusal["code"], -32602, "{refusal}");
    repository(&stage);
    for wrong in [json!({"base": "nope"}), json!({"base": "--help"}), json!({"name": "../x"}), json!(7)] {
        let refusal = client.refusal("daemon.initialize_session", params(wrong.clone())).await;
        assert_eq!(refusal["code"], -32602, "{wrong}: {refusal}");
    }
    open(&mut client, &stage, json!({"name": "taken"})).await;
    let refusal = client.refusal("daemon.initialize_session", params(json!({"name": "taken"}))).await;
    assert!(refusal["data"].to_string().contains("already exists"), "{refusal}");
    assert_eq!(list(&mut client).await.as_array().unwrap().len(), 1);
    assert_eq!(
        client.call("daemon.list_opened_sessions", json!({})).await["sessions"].as_array().unwrap().len(),
        1
    );
    stage.stop();
}
