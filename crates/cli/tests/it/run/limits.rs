//! Limits of a turn: time, tokens, a signal.

use musher_rehearse::{Hang, Reply, Script, Usage};
use serde_json::json;

use super::stage::{Stage, step};

fn never_answers() -> Stage {
    Stage::new(Script::new().reply(Reply::hang(Hang::AfterHeaders).when(step(1))))
}

#[test]
fn turn_that_takes_too_long_is_stopped() {
    let ran = never_answers().run(&["--timeout", "1", "hello"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: stopped: exceeded `--timeout`"), "{}", ran.stderr);
}

#[test]
fn turn_that_uses_too_much_is_stopped() {
    let look = |call| {
        let usage = Usage { input: Some(1000), output: Some(10), ..Usage::default() };
        Reply::tool("LS", json!({"directory_path": "."})).usage(usage).when(step(call))
    };
    let stage = Stage::new((1..20).fold(Script::new(), |script, call| script.reply(look(call))));
    let ran = stage.run(&["--budget-tokens", "6500", "look around"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: budget of 6500 tokens exceeded"), "{}", ran.stderr);
    assert!((1..6).contains(&stage.calls().len()), "{}", stage.calls().len());
}

#[test]
fn signal_interrupts_also_without_a_terminal() {
    for signal in ["-INT", "-TERM"] {
        let stage = never_answers();
        let running = stage.start(&["hello"]);
        stage.until_asked(1);
        let ran = running.stop(signal);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("error: interrupted"), "{}", ran.stderr);
    }
}

#[test]
fn silent_model_is_asked_again_after_the_timeout_of_the_settings() {
    for hang in [Hang::BeforeHeaders, Hang::AfterHeaders] {
        let stage = Stage::new(Script::new().reply(Reply::hang(hang).when(step(1))));
        let settings = stage.home().join("settings.json");
        let mut all: serde_json::Value = serde_json::from_slice(&fs_err::read(&settings).unwrap()).unwrap();
        all["llmRequestTimeout"] = json!(100);
        fs_err::write(&settings, all.to_string()).unwrap();
        // without the setting, the second request would come after a minute
        let running = stage.start(&["hello"]);
        stage.until_asked(2);
        let ran = running.stop("-INT");
        assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    }
}
