//! Compaction from the command line: a summary is made, shown, replaced, and read by the model.

use musher_rehearse::{Reply, Script};
use serde_json::Value;

use super::stage::{Stage, step};

/// Side calls, such as for a summary, are answered with "A title".
fn stage() -> Stage {
    Stage::new(Script::new().reply(Reply::text("Noted.").when(step(1))))
}

fn only_session(stage: &Stage) -> String {
    let list = stage.run_musher(&["sessions", "list", "--json"]);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    list[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn summary_is_made_shown_and_replaced() {
    let stage = stage();
    assert_eq!(stage.run(&["remember the mango"]).code, Some(0));
    let old = only_session(&stage);
    let compacted = stage.run_musher(&["sessions", "compact", &old, "--instructions", "keep the fruit"]);
    assert_eq!(compacted.code, Some(0), "{}", compacted.stderr);
    assert!(
        compacted.stderr.contains("messages replaced by this summary:\n\nA title\n"),
        "{}",
        compacted.stderr
    );
    assert!(stage.model_received("keep the fruit"));
    let new = compacted.stdout.trim();
    assert_ne!(new, old);

    assert_eq!(stage.run_musher(&["sessions", "summary", new]).stdout, "A title\n");
    assert!(stage.run_musher(&["sessions", "show", new]).stdout.contains("| A title"));
    let file = stage.file("summary.md", "The fruit was a mango.\n");
    let replaced = stage.run_musher(&["sessions", "summary", new, "--replace", &file]);
    assert_eq!(replaced.stderr, format!("replaced the summary of {new}\n"));
    assert_eq!(stage.run_musher(&["sessions", "summary", new]).stdout, "The fruit was a mango.\n");

    assert_eq!(stage.run(&["--session", new, "which fruit?"]).code, Some(0));
    let last = stage.calls().into_iter().rev().find_map(|call| {
        let body = call.body.as_ref()?.to_string();
        body.contains("which fruit?").then_some(body)
    });
    let last = last.unwrap();
    assert!(last.contains("The fruit was a mango.") && !last.contains("remember the mango"), "{last}");
}

#[test]
fn session_without_a_summary_says_how_to_get_one() {
    let stage = stage();
    assert_eq!(stage.run(&["hello"]).code, Some(0));
    let id = only_session(&stage);
    let file = stage.file("summary.md", "text");
    for words in [vec!["sessions", "summary", &id], vec!["sessions", "summary", &id, "--replace", &file]] {
        let run = stage.run_musher(&words);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("hint: `musher sessions compact {id}`")), "{}", run.stderr);
    }
}
