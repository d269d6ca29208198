//! Agents that do not answer, answer something else, or cannot be started.

use std::os::unix::fs::PermissionsExt as _;

use musher_rehearse::{Reply, Script};
use serde_json::Value;

use super::stage::{Stage, step};

fn hello() -> Stage {
    Stage::new(Script::new().reply(Reply::text("Hello.").when(step(1))))
}

/// A program for `--agent`, as a shell script.
fn agent(stage: &Stage, script: &str) -> String {
    let path = stage.file("agent.sh", format!("#!/bin/sh\n{script}\n"));
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn agent_that_never_opens_a_session_is_ended_at_the_time_limit() {
    let other_id = r#"echo '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"other","result":{"sessionId":"s"}}'"#;
    for answer in ["", other_id] {
        let stage = hello();
        let path = agent(&stage, &format!("while read -r line; do :; {answer}\ndone"));
        for format in [&[][..], &["--json"]] {
            let ran = stage.run(&[&["--agent", &path, "--timeout", "1"], format, &["hello"]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
            assert!(ran.stderr.contains("exceeded `--timeout` before the agent was ready"), "{}", ran.stderr);
        }
    }
}

#[test]
fn agent_that_lists_its_tools_oddly_does_its_task_all_the_same() {
    let musher = env!("CARGO_BIN_EXE_musher");
    for filter in [
        // an error, and an answer of another shape
        format!("sed -u 's/droid[.]list_tools/droid.unknown/' | {musher} \"$@\""),
        format!("{musher} \"$@\" | sed -u 's/\"tools\":.*$/\"tools\":7}}}}/'"),
    ] {
        let stage = hello();
        let path = agent(&stage, &filter);
        let ran = stage.run(&["--agent", &path, "--stream-json", "hello"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stderr, ran.stdout);
        let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["subtype"], &lines[0]["tools"]), (&"init".into(), &Value::Array(Vec::new())));
        assert_eq!(lines.last().unwrap()["finalText"], "Hello.");
    }
}

#[test]
fn file_that_is_not_executable_is_reported_as_that() {
    let stage = hello();
    let path = stage.file("agent.sh", "#!/bin/sh\n");
    for command in ["run", "acp"] {
        let mut words = vec!["--agent", path.as_str()];
        let run = if command == "run" {
            words.push("hello");
            crate::program::ended(stage.command(&words))
        } else {
            crate::program::musher(&[&["acp"], words.as_slice()].concat())
        };
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("`{path}`: the file is not executable")), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("chmod +x {path}")), "{}", run.stderr);
    }
}
