//! Keys in the environment of a process whose agent is the engine: other programs of the user do not see them.

use musher_rehearse::{Hang, Reply, Script};
use serde_json::json;

use super::stage::{Stage, step};
use crate::acp::editor::Editor;
use crate::program::Running;

const CANARY: &str = "s3cret-canary";

fn stage() -> Stage {
    Stage::new(Script::new().reply(Reply::hang(Hang::AfterHeaders).when(step(1))))
}

fn with_keys(mut command: std::process::Command) -> std::process::Command {
    for name in ["OPENAI_API_KEY", "SENTRY_DSN", "GH_PAT", "SESSION_JWT", "AWS_SECRET_ACCESS_KEY"] {
        command.env(name, CANARY);
    }
    command.env("CACHE_URL", format!("redis://user:{CANARY}@localhost/1")).env("SHOWN", "visible");
    command
}

fn assert_hidden(process: u32, what: &str) {
    match fs_err::read(format!("/proc/{process}/environ")) {
        Ok(environment) => {
            let environment = String::from_utf8_lossy(&environment);
            assert!(environment.contains("SHOWN=visible"), "{what}: {environment}");
            assert!(!environment.contains(CANARY), "{what}: {environment}");
        }
        // only root may read it
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{what}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn keys_are_erased_while_the_engine_works() {
    for arguments in [&["run", "go"][..], &["exec", "go"]] {
        let stage = stage();
        let running = Running::spawn(with_keys(stage.musher(arguments)));
        stage.until_asked(1);
        assert_hidden(running.id(), arguments[0]);
        running.stop("-TERM");
    }
    let stage = stage();
    let daemon = Running::spawn(with_keys(stage.musher(&["daemon", "--listen", "127.0.0.1:0"])));
    assert!(daemon.line().starts_with("listening on"));
    assert_hidden(daemon.id(), "daemon");
    daemon.stop("-TERM");
    let mut editor = Editor::start(with_keys(stage.musher(&["acp"])));
    editor.open(&stage.workspace());
    assert_hidden(editor.process(), "acp");
    editor.leave();
}

/// The engine reads keys from its copy of the environment, which is made before they are erased.
#[test]
fn erased_key_still_reaches_the_model_server() {
    let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(step(1))));
    let settings = json!({"customModels": [{
        "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{}/v1", stage.model_url()),
        "apiKey": "${OPENAI_API_KEY}", "extraHeaders": {"x-team": "${OPENAI_API_KEY}"}, "provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
    }]});
    fs_err::write(stage.home().join("settings.json"), settings.to_string()).unwrap();
    let run = crate::program::ended(with_keys(stage.musher(&["run", "go"])));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let sent = stage.calls().iter().any(|call| format!("{:?}", call.headers).contains(CANARY));
    assert!(sent, "{:?}", stage.calls().first().map(|call| &call.headers));
}
