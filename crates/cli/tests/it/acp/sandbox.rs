//! The flags of the sandbox in `musher acp`.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use super::editor::Editor;
use crate::run::stage::{Stage, execute, step};

/// Denies a permission request.
fn deny(request: &Value) -> Value {
    let options = request["params"]["options"].as_array().unwrap();
    let denial = options.iter().find(|option| option["kind"] == "reject_once").unwrap();
    json!({"outcome": {"outcome": "selected", "optionId": denial["optionId"]}})
}

#[test]
fn flag_confines_what_an_editors_session_runs_without_asking() {
    for (flags, expected) in [
        (&[][..], [true, true]),
        (&["--sandbox", "workspace-write"], [true, false]),
        (&["--sandbox", "read-only"], [false, false]),
        (&["--sandbox", "off"], [true, true]),
    ] {
        let command = "bash -c 'echo x > made; echo x > ../escaped'";
        let script =
            Script::new().reply(execute(command).when(step(1))).reply(Reply::text("Done.").when(step(2)));
        let stage = Stage::new(script);
        let mut editor = Editor::start(stage.musher(&[&["acp"], flags].concat()));
        let session = editor.open(&stage.workspace());
        let mode = editor.call("session/set_mode", json!({"sessionId": session, "modeId": "auto-high"}));
        assert!(mode["result"].is_object(), "{mode}");
        let mut requests = Vec::new();
        let (done, updates) = editor.turn(&session, "go", |request| {
            requests.push(request.to_string());
            deny(request)
        });
        assert!(done["result"].is_object(), "{flags:?}: {done}");
        let written = [stage.workspace().join("made"), stage.workspace().join("../escaped")];
        assert_eq!(written.map(|path| path.exists()), expected, "{flags:?}: {updates:?}");
        // what fails in the sandbox is asked about, and says why
        assert_eq!(requests.len(), usize::from(!expected[1]), "{flags:?}: {requests:?}");
        assert!(requests.iter().all(|request| request.contains("sandbox")), "{flags:?}: {requests:?}");
        editor.leave();
    }
}
