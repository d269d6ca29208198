//! Commands in the terminals of the editor: reported and ended like any other.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use crate::acp::stage::{Editor, Stage, Who, call_of, eventually, execute, model_heard, on};

fn script(run: Reply) -> Script {
    Script::new()
        .reply(run.when(on("run", 1)))
        .reply(Reply::text("Ran.").when(on("run", 2)))
        .reply(Reply::text("Still here.").when(on("next", 1)))
}

async fn open(editor: &mut Editor) -> anyhow::Result<String> {
    let session = editor.open(json!({"terminal": true, "_meta": {"terminal_output": true}})).await?;
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-high"})).await?;
    Ok(session)
}

/// Waits until the editor did this.
async fn served(editor: &mut Editor, method: &str) -> anyhow::Result<Value> {
    match editor.told.iter().find(|line| line["served"] == method) {
        Some(line) => Ok(line.clone()),
        None => editor.until(method, |line| line["served"] == method).await,
    }
}

/// Waits until no process of the sandbox has this in its command line.
async fn gone(stage: &Stage, words: &str) {
    let is_gone = || stage.sandbox().processes().iter().all(|process| !process.command.contains(words));
    eventually(words, is_gone).await;
}

pub(crate) async fn a_command_runs_in_the_editors_terminal_and_is_reported_like_any_other(
    who: &Who,
) -> anyhow::Result<()> {
    let command = "cat; test -n \"$MUSHER_HOME\" && echo \"out:$TERM:$EDITORS_OWN:\"; echo err >&2; exit 3";
    let mut stage = Stage::new(who, script(execute(command, "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    editor.serve_terminals().await?;
    let (reason, updates) = editor.turn(&session, "run").await?;
    assert_eq!(reason, "end_turn");
    let created = served(editor, "terminal/create").await?;
    assert_eq!(
        (&created["params"]["cwd"], &created["params"]["sessionId"]),
        (&json!(editor.cwd), &json!(session))
    );
    assert_eq!(created["params"]["args"].as_array().unwrap().last(), Some(&json!(command)));
    // editors keep logs of what they are told
    let told = created["params"]["env"].to_string();
    assert!(told.contains("BASH_ENV") && !told.contains("MUSHER_HOME"), "{told}");
    let call = call_of(&updates, "execute");
    assert_eq!(call["content"], json!([{"type": "terminal", "terminalId": "terminal-1"}]), "{call:#}");
    assert_eq!((&call["status"], call["_meta"].get("terminal_info")), (&json!("failed"), None), "{call:#}");
    let running = updates.iter().find(|update| update["status"] == "in_progress").unwrap();
    assert_eq!(running["toolCallId"], call["toolCallId"]);
    served(editor, "terminal/release").await?;
    let heard = model_heard(stage.model());
    // the variables are those of every command, and nothing is there to be read
    assert!(heard.contains("Command failed (exit code: 3)") && heard.contains("out:dumb::"), "{heard}");
    assert!(heard.contains("err\\n") && heard.contains("[Process exited with code 3]"), "{heard}");
    stage.finish().await
}

pub(crate) async fn a_long_output_of_a_terminal_is_shortened_and_saved(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute("seq 1 20000", "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    editor.serve_terminals().await?;
    let (_, updates) = editor.turn(&session, "run").await?;
    let result = call_of(&updates, "execute")["rawOutput"].to_string();
    assert!(result.contains("[... 19940 lines skipped ...]"), "{result}");
    let saved = result.split("Full command output saved to: ").nth(1).unwrap();
    let saved = fs_err::read_to_string(saved.split(" (").next().unwrap())?;
    assert_eq!(saved.lines().count(), 20_000);
    stage.finish().await
}

/// A command that starts others, in ways that make them hard to find.
fn tree() -> String {
    "echo begun; sleep 3601 & setsid sleep 3602 & (trap '' TERM HUP; sleep 3603) & \
     /usr/bin/env -i /usr/bin/setsid /bin/sleep 3604 & wait"
        .to_owned()
}

fn sleepers(stage: &Stage) -> usize {
    stage.sandbox().processes().iter().filter(|process| process.command.contains("sleep 360")).count()
}

pub(crate) async fn a_cancelled_command_ends_with_everything_it_started(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute(&tree(), "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    editor.serve_terminals().await?;
    let prompt = editor.prompt(&session, "run").await?;
    served(editor, "terminal/wait_for_exit").await?;
    eventually("the sleepers", || sleepers(&stage) >= 4).await;
    let editor = &mut stage.editor;
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "cancelled");
    served(editor, "terminal/kill").await?;
    served(editor, "terminal/release").await?;
    gone(&stage, "sleep 360").await;
    assert_eq!(stage.editor.turn(&session, "next").await?.0, "end_turn");
    stage.finish().await
}

pub(crate) async fn a_command_that_takes_too_long_ends_with_everything_it_started(
    who: &Who,
) -> anyhow::Result<()> {
    let arguments = json!({
        "command": tree(), "summary": "Run it", "timeout": 2, "riskLevel": "low", "riskLevelReason": "for a test",
    });
    let mut stage = Stage::new(who, script(Reply::tool("Execute", arguments)))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    editor.serve_terminals().await?;
    assert_eq!(editor.turn(&session, "run").await?.0, "end_turn");
    let heard = model_heard(stage.model());
    assert!(heard.contains("Command timed out after 2 seconds") && heard.contains("begun"), "{heard}");
    gone(&stage, "sleep 360").await;
    stage.finish().await
}

pub(crate) async fn an_editor_that_opens_no_terminal_does_not_stop_the_command(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute("echo out", "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    let before = editor.told.len();
    let prompt = editor.prompt(&session, "run").await?;
    let asked = editor.asked_for("terminal/create").await?;
    editor.fail(&asked, "no more terminals").await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "end_turn");
    let call = call_of(&editor.updates(before), "execute");
    assert_eq!(call["status"], "completed");
    assert!(call["content"].to_string().contains("out"), "{call:#}");
    stage.finish().await
}

pub(crate) async fn an_editor_that_never_opens_a_terminal_can_be_cancelled(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute("touch never.txt", "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    let prompt = editor.prompt(&session, "run").await?;
    editor.asked_for("terminal/create").await?;
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "cancelled");
    assert_eq!(editor.turn(&session, "next").await?.0, "end_turn");
    assert!(!stage.sandbox().workspace().join("never.txt").exists());
    stage.finish().await
}

pub(crate) async fn an_editor_that_falls_silent_can_be_cancelled(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute("touch never.txt", "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    let prompt = editor.prompt(&session, "run").await?;
    let asked = editor.asked_for("terminal/create").await?;
    editor.answer(&asked, json!({"terminalId": "t"})).await?;
    editor.asked_for("terminal/wait_for_exit").await?;
    editor.notify("session/cancel", json!({"sessionId": session})).await?;
    editor.asked_for("terminal/kill").await?;
    assert_eq!(editor.done(prompt).await?["result"]["stopReason"], "cancelled");
    assert_eq!(editor.turn(&session, "next").await?.0, "end_turn");
    stage.finish().await
}

pub(crate) async fn when_the_editor_goes_the_commands_in_its_terminals_end(who: &Who) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute(&tree(), "low")))?;
    let editor = &mut stage.editor;
    let session = open(editor).await?;
    editor.serve_terminals().await?;
    editor.prompt(&session, "run").await?;
    served(editor, "terminal/wait_for_exit").await?;
    eventually("the sleepers", || sleepers(&stage) >= 4).await;
    // fails if anything is left
    stage.finish().await
}

pub(crate) async fn a_command_in_a_terminal_has_the_sandbox_of_every_command(
    who: &Who,
) -> anyhow::Result<()> {
    let mut stage = Stage::new(who, script(execute("make", "medium")))?;
    let outside = stage.sandbox().home().join("escaped");
    let makefile = format!(
        "all:\n\techo x > made; echo $$TMPDIR; echo x > $$TMPDIR/kept\n\t-echo x > {}\n",
        outside.display()
    );
    fs_err::write(stage.sandbox().workspace().join("Makefile"), makefile)?;
    let made = stage.sandbox().workspace().join("made");
    let editor = &mut stage.editor;
    let session = editor.open(json!({"terminal": true, "_meta": {"terminal_output": true}})).await?;
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-medium"})).await?;
    editor.serve_terminals().await?;
    let (_, updates) = editor.turn(&session, "run").await?;
    let created = served(editor, "terminal/create").await?;
    assert_eq!(created["params"]["args"].as_array().unwrap().last(), Some(&json!("make")));
    let result = call_of(&updates, "execute")["rawOutput"].to_string();
    assert!(result.contains("Read-only file system") && result.contains("/musher-"), "{result}");
    assert!(made.exists() && !outside.exists(), "{result}");
    stage.finish().await
}
