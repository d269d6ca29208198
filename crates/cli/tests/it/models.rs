//! `musher models`, and how models are asked to reason.

use std::path::Path;

use serde_json::{Value, json};

use crate::doctor::stage::World;
use crate::program::{Run, Running};

const KEY: &str = "sk-secret";

fn json_of(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn model<'a>(list: &'a Value, name: &str) -> &'a Value {
    let models = list["models"].as_array().unwrap();
    models.iter().find(|model| model["model"] == name).unwrap_or_else(|| panic!("no {name} in {list:#}"))
}

/// Starts a scripted model that lists these names and records requests. Returns its address.
fn serve(world: &World, names: &[&str]) -> (Running, String) {
    let script = json!({"models": names, "otherwise": {"steps": [{"text": "Done."}]}});
    world.write("script.yaml", script);
    let (script, record) = (world.path("script.yaml"), world.path("requests"));
    let paths = [script.display().to_string(), record.display().to_string()];
    let running = Running::start(&["rehearse", "--json", "--script", &paths[0], "--record", &paths[1]]);
    let started: Value = serde_json::from_str(&running.line()).unwrap();
    let url = started["url"].as_str().unwrap().to_owned();
    (running, url)
}

#[test]
fn models_with_a_key_are_listed_with_limits_efforts_and_prices() {
    let world = World::new();
    let run = world.musher_with(&["models"], &[("ANTHROPIC_API_KEY", KEY)]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let line = run.stdout.lines().find(|line| line.starts_with("custom:claude-opus-5-5 ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let expected = ["1M", "128k", "text,image,pdf", "low,medium,high,xhigh,max", "$4", "/", "$20"];
    assert_eq!(words[1..], expected, "{line}");
    assert!(!run.stdout.contains("gpt-") && !run.stdout.contains(KEY), "{}", run.stdout);

    let list = json_of(&world.musher_with(&["models", "haiku-5", "--json"], &[("ANTHROPIC_API_KEY", KEY)]));
    assert_eq!(list["models"].as_array().unwrap().len(), 1);
    let haiku = model(&list, "claude-haiku-5-5");
    assert_eq!((&haiku["reasoning"], &haiku["available"]), (&json!("anthropic-adaptive"), &json!(true)));
    assert!(haiku["source"].as_str().unwrap().starts_with("https://"), "{haiku}");
    assert!(list["catalog"]["date"].as_str().unwrap() >= "2026-11-12", "{list}");
}

#[test]
fn without_a_key_the_catalog_is_shown_on_wish() {
    let world = World::new();
    let run = world.musher(&["models"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""));
    assert!(run.stderr.contains("no model has a key"), "{}", run.stderr);
    let list = json_of(&world.musher(&["models", "--all", "--json"]));
    for name in
        ["claude-fable-5-1", "gpt-6.1-sol", "gemini-4-argon", "deepseek-v4-pro", "kimi-k3", "grok-4.7"]
    {
        let model = model(&list, name);
        assert_eq!(model["available"], false, "{model}");
        assert!(model["price"]["output"].as_f64().is_some() && model["context_window"].is_u64(), "{model}");
    }
    let gpt = model(&list, "gpt-5.1");
    assert_eq!((&gpt["context_window"], &gpt["max_input_tokens"]), (&json!(400_000), &json!(272_000)));
}

#[test]
fn vendors_are_asked_on_wish_and_their_answers_are_kept() {
    let world = World::new();
    let (server, url) = serve(&world, &["gpt-99", "text-embedding-9"]);
    let address = format!("{url}/v1");
    let variables = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", address.as_str())];
    let run = world.musher_with(&["models", "gpt-99", "--refresh"], &variables);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), "openai: 1 models\n"));
    assert!(run.stdout.contains("custom:openai/gpt-99   1.05M    128k"), "{}", run.stdout);
    server.stop("-TERM");

    let list = json_of(&world.musher_with(&["models", "--all", "--json"], &variables));
    assert_eq!(model(&list, "gpt-99")["reasoning"], "openai");
    let run = world.musher_with(&["models", "gpt-99", "--refresh"], &variables);
    assert_eq!(run.code, Some(1), "the server is stopped");
    assert!(run.stderr.contains("warning: openai did not name its models: "), "{}", run.stderr);
    assert!(run.stdout.contains("gpt-99") && !run.stderr.contains(KEY), "the answers before are kept");

    world.write(".musher/models.json", "[]");
    let run = world.musher_with(&["models", "gpt-5.5"], &variables);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("models.json: cannot read the models of vendors"), "{}", run.stderr);
}

#[test]
fn settings_correct_the_catalog_and_those_of_an_untrusted_repository_do_not() {
    let world = World::new();
    let overrides = |window: u64| json!({"modelOverrides": {"gpt-5.5": {"contextWindow": window}}});
    world.write(".musher/settings.json", overrides(123_000));
    world.write("repo/.musher/settings.json", overrides(7));
    let list = json_of(&world.musher_with(&["models", "gpt-5.5", "--json"], &[("OPENAI_API_KEY", KEY)]));
    assert_eq!(model(&list, "gpt-5.5")["context_window"], 123_000);
}

/// The requests that the scripted model has received.
fn requests(path: &Path) -> Vec<Value> {
    let mut files: Vec<_> = fs_err::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let records =
        files.iter().map(|file| serde_json::from_slice::<Value>(&fs_err::read(file).unwrap()).unwrap());
    records.map(|record| record["body"].clone()).filter(|body| body["messages"].is_array()).collect()
}

#[test]
fn custom_model_thinks_with_the_closest_effort_and_reports_that_once() {
    let world = World::new();
    let (server, url) = serve(&world, &["claude-opus-4-6"]);
    let entry =
        |name: &str| json!({"model": name, "displayName": name, "baseUrl": url, "provider": "anthropic"});
    let models = [entry("claude-opus-4-6"), entry("my-model")];
    world.write(".musher/settings.json", json!({"customModels": models}));
    let run = world.musher(&[
        "run",
        "-m",
        "custom:claude-opus-4-6-0",
        "--yes",
        "hello",
        "--reasoning-effort",
        "xhigh",
    ]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let report = "the model claude-opus-4-6 does not know the reasoning effort `xhigh`, so it uses `high`";
    assert_eq!(run.stderr.matches(report).count(), 1, "{}", run.stderr);
    let run =
        world.musher(&["run", "-m", "custom:my-model-0", "--yes", "hello", "--reasoning-effort", "high"]);
    assert!(run.stderr.contains("the model my-model has no reasoning effort to set"), "{}", run.stderr);
    let run = world.musher(&["run", "-m", "custom:claude-opus-4-6-0", "--yes", "hello"]);
    assert!(!run.stderr.contains("reasoning effort"), "{}", run.stderr);
    server.stop("-TERM");

    let requests = requests(&world.path("requests"));
    let asked: Vec<_> = requests
        .iter()
        .filter(|body| body["tools"].is_array())
        .map(|body| {
            (body["thinking"].clone(), body["output_config"]["effort"].clone(), body["max_tokens"].clone())
        })
        .collect();
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let expected = [
        (adaptive.clone(), json!("high"), json!(128_000)),
        (Value::Null, Value::Null, json!(32_000)),
        (adaptive, json!("medium"), json!(128_000)),
    ];
    assert_eq!(asked, expected);
}
