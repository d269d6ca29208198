//! The flags of the sandbox, in `run` and `exec`.

use musher_rehearse::{Reply, Script};

use super::stage::{Stage, execute, step};
use crate::program::ended;

fn script() -> Script {
    let command = "bash -c 'echo x > made; echo x > ../escaped'";
    Script::new().reply(execute(command).when(step(1))).reply(Reply::text("Done.").when(step(2)))
}

#[test]
fn flags_confine_what_runs_without_asking() {
    for (flags, expected) in [
        (&[][..], [true, true]),
        (&["--sandbox", "workspace-write"], [true, false]),
        (&["--sandbox", "workspace-write", "--network", "off", "--require-sandbox"], [true, false]),
        (&["--sandbox", "read-only"], [false, false]),
        (&["--sandbox", "off"], [true, true]),
    ] {
        for command in ["run", "exec"] {
            let stage = Stage::new(script());
            let arguments = [&[command, "--auto", "high"], flags, &["go"]].concat();
            let run = ended(stage.musher(&arguments));
            let written = [stage.workspace().join("made"), stage.workspace().join("../escaped")]
                .map(|path| path.exists());
            assert_eq!(written, expected, "{arguments:?}: {}", run.stderr);
            // `exec` tells the model why, and `run` asks whether it may run again without the sandbox: no terminal is a denial
            let is_reported = match command {
                "exec" => stage.model_received("most likely failed because of it"),
                _ => run.code == Some(3),
            };
            assert_eq!(is_reported, !expected[1], "{arguments:?}: {}", run.stderr);
        }
    }
}

#[test]
fn flags_are_refused_for_an_agent_that_has_no_sandbox_of_ours() {
    let stage = Stage::new(script());
    let run = stage.run(&["--agent", "/bin/sh", "--sandbox", "read-only", "go"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("work only with the built-in agent"), "{}", run.stderr);
}
