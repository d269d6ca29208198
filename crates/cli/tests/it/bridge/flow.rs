//! The flow of messages: order, independence, back-pressure, timeouts.

use serde_json::{Value, json};

use super::stage::Stage;

#[tokio::test]
async fn message_of_the_agent_is_passed_on_letter_for_letter() -> anyhow::Result<()> {
    let stage = Stage::fake(&[], &[])?;
    let odd = r#"{"z":1.50,"type":"odd","a":123456789012345678901234567890,"a":"\u00e9"}"#;
    let create = json!({"type": "session.create", "id": "1",
        "payload": {"prompt": format!("raw {odd}\nexit 0"), "cwd": stage.sandbox.workspace()}});
    let copy = stage.sandbox.home().join("copy");
    let shell = format!("{} bridge | tee {}", env!("CARGO_BIN_EXE_musher"), copy.display());
    let claude = stage.sandbox.home().join("claude");
    let launch = stage.sandbox.launch("sh").args(["-c", &shell]).env("MUSHER_CLAUDE", claude);
    let mut program = stage.sandbox.spawn(&launch)?;
    program.send(&create).await?;
    program.read_until("the exit", |line| line["payload"]["code"] == "SDK_ERROR").await?;
    program.end().await?;
    let text = fs_err::read_to_string(copy)?;
    assert!(text.contains(&format!(r#","payload":{odd}}}"#)), "{text}");
    stage.finish().await
}

#[tokio::test]
async fn session_that_waits_for_an_answer_does_not_hold_up_another() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let first = app.ask_for_session("ask\nsay asked", json!({})).await?;
    let second = app.ask_for_session("say one", json!({})).await?;
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let created = app.until("both sessions", |line| line["type"] == "session.created").await?;
        sessions.push((created["id"].clone(), created["session_id"].as_str().unwrap().to_owned()));
    }
    let of = |id: &str| sessions.iter().find(|(request, _)| *request == id).unwrap().1.clone();
    let (blocked, free) = (of(&first), of(&second));
    let is_question = |line: &&Value| line["type"] == "callback.request";
    let question = match app.told.iter().find(is_question).cloned() {
        Some(question) => question,
        None => app.callback(&blocked).await?,
    };
    for number in 0..20 {
        app.say(&free, &format!("say {number}")).await?;
    }
    app.until("the last word", |line| line["payload"]["text"] == "19").await?;
    app.answer(&question, json!({"behavior": "deny"})).await?;
    let answered = app.message(&blocked, "answered").await?;
    assert_eq!(answered["response"]["response"], json!({"behavior": "deny", "message": "Denied"}));
    // nothing of a session comes before it was created, and its order is kept
    for session in [&blocked, &free] {
        let lines: Vec<_> = app.told.iter().filter(|line| line["session_id"] == **session).collect();
        assert_eq!(lines[0]["type"], "session.created");
    }
    let said: Vec<_> = app.told.iter().filter(|line| line["session_id"] == free).collect();
    let numbers: Vec<_> =
        said.iter().filter_map(|line| line["payload"]["text"].as_str()?.parse::<u32>().ok()).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    stage.finish().await
}

#[tokio::test]
async fn messages_before_hello_come_after_the_session_was_created() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[("FAKE_EARLY", "1")])?;
    let session = stage.app.create("", json!({})).await?;
    assert_eq!(stage.app.told.len(), 1, "created is the first line");
    stage.app.message(&session, "early").await?;
    // the request it made meanwhile was refused at once
    let answered = stage.app.message(&session, "answered").await?;
    assert_eq!(answered["response"]["subtype"], "error");
    stage.finish().await
}

#[tokio::test]
async fn callback_that_is_not_answered_in_time_is_answered_for_the_app() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&["--callback-timeout", "1"], &[])?;
    let app = &mut stage.app;
    let session = app.create("ask", json!({})).await?;
    let question = app.callback(&session).await?;
    let error = app.error("CALLBACK_TIMEOUT").await?;
    assert_eq!((&error["id"], &error["session_id"]), (&question["id"], &json!(session)));
    let answered = app.message(&session, "answered").await?;
    let expected = json!({"behavior": "deny", "message": "Permission request timed out"});
    assert_eq!(answered["response"]["response"], expected);
    app.answer(&question, json!({"behavior": "allow"})).await?;
    assert_eq!(app.error("CALLBACK_NOT_FOUND").await?["id"], question["id"]);
    app.say(&session, "hook").await?;
    let question = app.callback(&session).await?;
    assert_eq!(question["payload"]["hook_event"], "Stop");
    assert_eq!(app.error("CALLBACK_TIMEOUT").await?["id"], question["id"]);
    assert_eq!(app.message(&session, "answered").await?["response"]["response"], json!({}));
    stage.finish().await
}

#[tokio::test]
async fn app_that_stops_reading_loses_nothing_and_memory_stays_bounded() -> anyhow::Result<()> {
    const MESSAGES: usize = 25_000;
    let mut stage = Stage::fake(&[], &[])?;
    let session = stage.app.create("", json!({})).await?;
    let pid = stage.sandbox.processes().into_iter().find(|it| it.command.contains("musher")).unwrap().pid;
    let resident = || -> usize {
        let status = fs_err::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let before = resident();
    stage.app.say(&session, &format!("many {MESSAGES} 1000\nresult")).await?;
    stage.until_the_agent_waits().await;
    let grown = resident().saturating_sub(before);
    assert!(grown < 40 * 1024, "grew by {grown} KiB");
    assert!(stage.written_by_agent() < MESSAGES * 1000, "the agent was stopped");
    // nothing is lost
    let app = &mut stage.app;
    app.message(&session, "result").await?;
    let numbers: Vec<_> = app
        .told
        .iter()
        .filter_map(|line| line["payload"]["number"].as_u64())
        .map(|it| usize::try_from(it).unwrap())
        .collect();
    assert_eq!(numbers, (0..MESSAGES).collect::<Vec<_>>());
    stage.finish().await
}

#[tokio::test]
async fn very_long_prompt_reaches_the_agent_whole_and_blocks_pass_through() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let long = format!("length\n{}", "é".repeat(2_500_000));
    let session = app.create(&long, json!({})).await?;
    assert_eq!(app.message(&session, "length").await?["length"], long.chars().count());
    let blocks = json!([{"type": "text", "text": "hi"}, {"type": "image", "source": {}}]);
    app.ask("session.send", Some(&session), json!({"content": blocks})).await?;
    assert_eq!(app.message(&session, "got").await?["content"], blocks);
    stage.finish().await
}

#[tokio::test]
async fn agent_that_does_not_read_holds_up_no_other_session() -> anyhow::Result<()> {
    let mut stage = Stage::fake(&[], &[])?;
    let app = &mut stage.app;
    let deaf = app.create("deaf", json!({})).await?;
    app.message(&deaf, "deaf").await?;
    let big = "x".repeat(8_000_000);
    for _ in 0..5 {
        app.say(&deaf, &big).await?;
    }
    let error = app.error("SDK_ERROR").await?;
    assert_eq!(error["session_id"], deaf);
    let free = app.create("say hello", json!({})).await?;
    app.message(&free, "said").await?;
    let kill = app.ask("session.kill", Some(&deaf), json!({})).await?;
    assert_eq!(app.reply(&kill).await?["type"], "session.killed");
    stage.finish().await
}
