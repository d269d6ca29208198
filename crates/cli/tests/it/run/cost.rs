//! Tokens and money: in the last line of a run, in lists, in `musher usage`; and the budgets that limit them.

use musher_rehearse::{Reply, Script, Usage, when};
use serde_json::{Value, json};

use super::stage::{Stage, step};
use crate::program::Run;

/// The scripted model at $2 and $10 for a million tokens, a tenth of it for cached input.
fn priced(script: Script) -> Stage {
    let stage = Stage::new(script);
    let settings = json!({"customModels": [{
        "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{}/v1", stage.model_url()),
        "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
        "price": {"input": 2, "output": 10, "cacheRead": 0.2},
    }]});
    fs_err::write(stage.home().join("settings.json"), settings.to_string()).unwrap();
    stage
}

fn used(reply: Reply) -> Reply {
    reply.usage(Usage {
        input: Some(1000),
        output: Some(100),
        cache_read: Some(9000),
        reasoning: Some(40),
        ..Usage::default()
    })
}

/// Two calls: 2000 tokens of new input, 18,000 of cached input, 200 of output.
fn looks_around() -> Script {
    let look = Reply::tool("LS", json!({"directory_path": "."}));
    Script::new().reply(used(look).when(step(1))).reply(used(Reply::text("Empty.")).when(step(2)))
}

fn parsed(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn last_line_adds_up_and_has_the_cost() {
    let ran = priced(looks_around()).run(&["look around"]);
    let expected = "1 tool call · 20,000 tokens in (18,000 cached, 90%), 200 out (80 reasoning) · $0.0096 · session ID\n";
    assert!(ran.stderr.ends_with(expected), "{}", ran.stderr);
    // without a price there is no cost
    let ran = Stage::new(looks_around()).run(&["look around"]);
    assert!(ran.stderr.ends_with("200 out (80 reasoning) · session ID\n"), "{}", ran.stderr);
}

#[test]
fn programs_get_tokens_by_kind_and_the_cost() {
    let result = parsed(&priced(looks_around()).run(&["--json", "look around"]));
    assert_eq!((&result["cost_usd"], &result["usage"]["reasoning_tokens"]), (&json!(0.0096), &json!(80)));
    assert_eq!(result["usage"]["cache_read_input_tokens"], 18_000);
    let ran = priced(looks_around()).run(&["--stream-json", "look around"]);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["cost_usd"]), (&json!("completion"), &json!(0.0096)));
    assert_eq!(parsed(&Stage::new(looks_around()).run(&["--json", "x"]))["cost_usd"], Value::Null);
}

#[test]
fn usage_of_all_sessions_is_kept_by_day_model_and_project() {
    let stage = priced(looks_around());
    assert_eq!(stage.run(&["look around"]).code, Some(0));
    let usage = parsed(&stage.run_musher(&["usage", "--by", "day,model,project", "--json"]));
    let row = &usage["rows"][0];
    assert_eq!(usage["rows"].as_array().unwrap().len(), 1, "{usage}");
    assert_eq!(row["model"], "custom:Scripted-0");
    assert_eq!(row["project"], json!(stage.workspace().canonicalize().unwrap()));
    assert_eq!(
        (&row["calls"], &row["input_tokens"], &row["cost_usd"]),
        (&json!(2), &json!(2000), &json!(0.0096))
    );
    assert_eq!(usage["total"]["output_tokens"], 200);

    let table = stage.run_musher(&["usage"]);
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", table.stdout);
    assert!(lines[0].starts_with("day") && lines[0].ends_with("cost"), "{}", table.stdout);
    assert!(
        lines[2].starts_with("total") && lines[2].ends_with("20,000     90%     200  $0.0096"),
        "{}",
        table.stdout
    );

    let list = parsed(&stage.run_musher(&["sessions", "list", "--json"]));
    assert_eq!((&list[0]["usage"]["cost_usd"], &list[0]["usage"]["calls"]), (&json!(0.0096), &json!(2)));
    let list = stage.run_musher(&["sessions"]);
    assert!(list.stdout.contains("musher  $0.0096  look around"), "{}", list.stdout);
}

#[test]
fn answer_that_was_cut_off_counts_as_an_estimate() {
    let cut = Reply::text("Half an answer").and_close().times(1).when(step(1));
    let stage = priced(Script::new().reply(cut).reply(used(Reply::text("Done.")).when(step(1))));
    assert_eq!(stage.run(&["look around"]).code, Some(0));
    let usage = parsed(&stage.run_musher(&["usage", "--json"]));
    let total = &usage["total"];
    assert_eq!(total["calls"], 2, "{usage}");
    assert!(total["estimated_tokens"].as_u64() > Some(1000), "{usage}");
    assert!(total["cost_usd"].as_f64() > Some(0.0048), "{usage}");
    let table = stage.run_musher(&["usage"]);
    assert!(table.stdout.lines().last().unwrap().contains("~$0.0"), "{}", table.stdout);
}

#[test]
fn request_that_cannot_fit_is_not_sent() {
    for (budget, expected) in [
        (
            ["--budget-tokens", "10"],
            "budget of 10 tokens exceeded: 10 are left, and the next request needs about ",
        ),
        (
            ["--budget-usd", "0.0001"],
            "budget of $0.0001 exceeded: $0.0001 is left, and the next request needs about $",
        ),
    ] {
        let stage = priced(looks_around());
        let ran = stage.run(&[budget[0], budget[1], "hi"]);
        assert_eq!((ran.code, stage.calls().len()), (Some(1), 0), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        let ran = stage.run_musher(&["exec", budget[0], budget[1], "hi"]);
        assert_eq!((ran.code, stage.calls().len()), (Some(1), 0), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn budget_in_dollars_needs_a_price_and_the_built_in_agent() {
    let stage = Stage::new(looks_around());
    let ran = stage.run(&["--budget-usd", "1", "hi"]);
    assert_eq!((ran.code, stage.calls().len()), (Some(1), 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("the price of `scripted` is unknown"), "{}", ran.stderr);
    let ran = stage.run(&["--budget-usd", "1", "--agent", "/bin/sh", "hi"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`--budget-usd` works only with the built-in agent"), "{}", ran.stderr);
}

#[test]
fn budget_covers_subagents() {
    let task = json!({
        "subagent_type": "explorer", "description": "Look around", "prompt": "Look at the files, subagent.",
    });
    let look = Reply::tool("LS", json!({"directory_path": "."}));
    let script = Script::new()
        .reply(used(look).when(when().with_tools().prompt("subagent")))
        .reply(Reply::tool("Task", task).when(step(1)));
    let stage = priced(script);
    let ran = stage.run(&["--budget-tokens", "40000", "--auto", "high", "delegate"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("budget of 40000 tokens exceeded"), "{}", ran.stderr);
    // the subagent would look around forever
    assert!((3..8).contains(&stage.calls().len()), "{}", stage.calls().len());
}

#[test]
fn empty_answer_is_a_failure() {
    let stage = Stage::new(Script::new().reply(Reply::text(" ").when(step(1))));
    let ran = stage.run(&["hello"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("no answer"), "{}", ran.stderr);
}

#[test]
fn settings_of_an_untrusted_repository_are_named_with_the_way_to_trust_them() {
    let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(step(1))));
    let folder = stage.workspace().join(".musher");
    fs_err::create_dir_all(&folder).unwrap();
    let hooks = json!({"Stop": [{"hooks": [{"type": "command", "command": "touch made-by-hook"}]}]});
    fs_err::write(folder.join("hooks.json"), hooks.to_string()).unwrap();
    let ran = stage.run(&["hello"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let expected = "is not trusted, so its hooks are ignored; `musher trust` shows and enables them\n";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    assert!(!stage.workspace().join("made-by-hook").exists());
}
