//! Sessions that are resumed.

use musher_rehearse::{Reply, Script, when};

use super::stage::Stage;

fn two_turns() -> Stage {
    let on = |prompt: &str| when().with_tools().prompt(prompt);
    Stage::new(
        Script::new()
            .reply(Reply::text("I remember mango.").when(on("which word")))
            .reply(Reply::text("Noted.").when(on("remember mango"))),
    )
}

#[test]
fn continue_resumes_the_newest_session_of_the_folder() {
    let stage = two_turns();
    assert_eq!(stage.run(&["remember mango"]).stdout, "Noted.\n");
    let ran = stage.run(&["--continue", "which word?"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "I remember mango.\n"), "{}", ran.stderr);
    let both = stage.calls().into_iter().filter_map(|call| Some(call.body.as_ref()?.to_string()));
    let has_both = |body: &String| body.contains("remember mango") && body.contains("which word");
    assert!(both.into_iter().any(|body| has_both(&body)), "the model sees what was said before");
    let elsewhere = stage.run(&["--cwd", stage.home().to_str().unwrap(), "--continue", "which word?"]);
    assert_eq!(elsewhere.code, Some(2), "{}", elsewhere.stderr);
}

#[test]
fn session_is_named_in_the_summary_and_resumes_by_that_name() {
    let stage = two_turns();
    let first = crate::program::ended(stage.command(&["remember mango"]));
    let id = first.stderr.trim_end().rsplit(' ').next().unwrap().to_owned();
    let ran = crate::program::ended(stage.command(&["--session", &id, "which word?"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "I remember mango.\n"), "{}", ran.stderr);
    assert!(ran.stderr.trim_end().ends_with(&id), "{}", ran.stderr);
}
