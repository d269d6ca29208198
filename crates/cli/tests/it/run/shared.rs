//! A session in which another process runs a turn: a prompt is refused with its process, or waits.

use musher_rehearse::{Hang, Reply, Script, when};

use super::stage::Stage;
use crate::program::{Running, ended};

#[test]
fn prompt_during_the_turn_of_another_process_is_refused_or_waits() {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    let script = Script::new()
        .reply(Reply::text("Third.").when(on("third")))
        .reply(Reply::hang(Hang::AfterHeaders).when(on("second")))
        .reply(Reply::text("First.").when(on("first")));
    for waits_with in ["run", "exec"] {
        let stage = Stage::new(script.clone());
        let first = ended(stage.command(&["first"]));
        let id = first.stderr.trim_end().rsplit(' ').next().unwrap().to_owned();
        let calls = stage.calls().len();
        let second = stage.start(&["--session", &id, "second"]);
        stage.until_asked(calls + 1);

        let process = second.id().to_string();
        for words in [&["run", "-s", &id, "third"][..], &["exec", "-s", &id, "third"]] {
            let refused = ended(stage.musher(words));
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
            let expected = format!("error: the session is running in process {process}\n");
            assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
            assert!(refused.stderr.contains("`--wait` waits"), "{}", refused.stderr);
        }
        let shown = ended(stage.musher(&["sessions", "show", &id]));
        assert!(shown.stdout.contains("second"), "reading works: {}{}", shown.stdout, shown.stderr);

        let third = Running::spawn(stage.musher(&[waits_with, "-s", &id, "--wait", "third"]));
        let stopped = second.stop("-INT");
        assert_eq!(stopped.code, Some(130), "{}", stopped.stderr);
        let ran = third.finish();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Third.\n"), "{}", ran.stderr);
        assert!(stage.model_received("second"), "it continues what the other process wrote");
        let last = stage
            .calls()
            .into_iter()
            .rfind(|call| call.body.as_ref().is_some_and(|body| body.to_string().contains("third")));
        assert!(last.unwrap().body.as_ref().unwrap().to_string().contains("second"));
    }
}
