//! Turns: text, images, partial messages, structured results, and resumed sessions.

use musher_claude::{Handlers, Options, SessionSource, UserMessage, View};
use musher_rehearse::{Reply, Script, when};
use serde_json::json;
use testkit::peers::Installed;

use super::stage::{Stage, on_both, soon};

on_both! {
    turn_with_text, old_claude_turn_with_text => text_turn;
    partial_messages_and_an_image, old_claude_partial_messages_and_an_image => pieces_and_image;
    structured_output_is_in_the_result, old_claude_structured_output_is_in_the_result => structured;
    session_is_resumed_and_forked, old_claude_session_is_resumed_and_forked => resume_and_fork;
    unknown_session_fails_to_start, old_claude_unknown_session_fails_to_start => unknown_session;
}

async fn text_turn(claude: Installed) -> anyhow::Result<()> {
    let version = claude.peer.version;
    let stage = Stage::new(claude, Script::new().otherwise(Reply::text("Hello from the script.")))?;
    let id = uuid::Uuid::new_v4().to_string();
    let options = Options::new().session(SessionSource::NewWithId(id.clone()));
    let (session, mut messages) = soon(stage.start(options, Handlers::new())).await?;
    assert!(!session.models()?.is_empty() && !session.commands()?.is_empty());
    for _ in 0..2 {
        session.send("Say hello.").await?;
        let mut seen = Vec::new();
        let result = soon(messages.until_result(|message| seen.push(message.view()))).await?;
        assert_eq!((result.is_error, result.result.as_deref()), (false, Some("Hello from the script.")));
        assert_eq!(result.session_id.as_deref(), Some(&*id));
        let init = seen.iter().find_map(|view| match view {
            View::Init(init) => Some(init.claude_code_version.as_str()),
            _ => None,
        });
        assert_eq!(init, Some(version), "every turn begins with it");
        let said = seen.iter().find_map(|view| match view {
            View::Assistant(said) => Some(said.message.content.text()),
            _ => None,
        });
        assert_eq!(said.as_deref(), Some("Hello from the script."));
    }
    let exit = soon(session.close()).await?;
    assert!(exit.status.unwrap().success(), "{exit:?}");
    // buffered output can still be read
    soon(async { while messages.next().await.is_ok() {} }).await;
    stage.finish().await
}

async fn pieces_and_image(claude: Installed) -> anyhow::Result<()> {
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let stage = Stage::new(claude, Script::new().otherwise(Reply::text("A very small picture.")))?;
    let options = Options::new().with_partial_messages();
    let (session, mut messages) = soon(stage.start(options, Handlers::new())).await?;
    session.send(UserMessage::text("What is this?").image("image/png", DOT)).await?;
    let mut pieces = String::new();
    let see = |message: &musher_claude::Message| {
        if let View::StreamEvent(event) = message.view() {
            pieces += &event.text_delta().unwrap_or_default();
        }
    };
    soon(messages.until_result(see)).await?;
    assert_eq!(pieces, "A very small picture.");
    let sent = stage.model.calls().iter().any(|call| call.body.as_ref().unwrap().to_string().contains(DOT));
    assert!(sent, "the model got the image");
    soon(session.close()).await?;
    stage.finish().await
}

async fn structured(claude: Installed) -> anyhow::Result<()> {
    let answer = json!({"color": "blue"});
    let script = Script::new()
        .reply(
            Reply::tool("StructuredOutput", answer.clone()).when(when().offers("StructuredOutput").call(1)),
        )
        .otherwise(Reply::text("Done."));
    let stage = Stage::new(claude, script)?;
    let schema =
        json!({"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]});
    let options = Options::new().output_schema(schema.into());
    let (session, mut messages) = soon(stage.start(options, Handlers::new())).await?;
    session.send("SessionSource color?").await?;
    let result = soon(messages.until_result(|_| {})).await?;
    assert_eq!(result.structured_output.map(|it| it.to_value().unwrap()), Some(answer));
    soon(session.close()).await?;
    stage.finish().await
}

async fn resume_and_fork(claude: Installed) -> anyhow::Result<()> {
    let script = Script::new().otherwise(Reply::text("Noted."));
    let stage = Stage::new(claude, script)?;
    let first = uuid::Uuid::new_v4().to_string();
    let copy = uuid::Uuid::new_v4().to_string();
    let starts = [
        (SessionSource::NewWithId(first.clone()), &first, "The word is amber."),
        (SessionSource::Resume { id: first.clone(), at: None }, &first, "SessionSource word?"),
        (
            SessionSource::Fork { id: first.clone(), at: None, new_id: Some(copy.clone()) },
            &copy,
            "And again?",
        ),
    ];
    for (which, id, text) in starts {
        let (session, mut messages) =
            soon(stage.start(Options::new().session(which), Handlers::new())).await?;
        session.send(text).await?;
        let result = soon(messages.until_result(|_| {})).await?;
        assert_eq!(result.session_id.as_ref(), Some(id));
        soon(session.close()).await?;
        let call = stage.model.calls().last().unwrap().body.as_ref().unwrap()["messages"].to_string();
        assert!(call.contains("The word is amber.") && call.contains(text), "{call}");
    }
    stage.finish().await
}

async fn unknown_session(claude: Installed) -> anyhow::Result<()> {
    let stage = Stage::new(claude, Script::new().otherwise(Reply::text("Hello.")))?;
    let which = SessionSource::Resume { id: uuid::Uuid::new_v4().to_string(), at: None };
    let outcome = soon(stage.start(Options::new().session(which), Handlers::new())).await;
    let Err(musher_claude::Error::NotStarted { exit: Some(exit), .. }) = outcome else {
        panic!("not refused: {outcome:?}")
    };
    assert_eq!(exit.status.unwrap().code(), Some(1));
    stage.finish().await
}
