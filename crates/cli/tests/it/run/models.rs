//! The names of models, and what is said if one is wrong or cannot be asked.

use musher_rehearse::{HttpError, Reply, Script};
use serde_json::json;

use super::stage::Stage;
use crate::program::{Run, ended};
use crate::pty::{CTRL_C, Terminal};

fn answers() -> Stage {
    Stage::new(Script::new().reply(Reply::text("Hello there.").times(9)))
}

fn told(run: &Run) -> String {
    format!("{:?}\n{}\n{}", run.code, run.stdout, run.stderr)
}

/// Runs it with these variables, and without the settings of the stage.
fn bare(stage: &Stage, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    fs_err::remove_file(stage.home().join("settings.json")).ok();
    let mut command = stage.musher(arguments);
    command.envs(variables.iter().copied());
    ended(command)
}

#[test]
fn every_name_of_a_custom_model_means_it_in_run_and_exec() {
    let stage = answers();
    for name in ["scripted", "custom:scripted", "custom:Scripted-0"] {
        for command in ["run", "exec"] {
            let run = stage.run_musher(&[command, "-m", name, "Hello"]);
            assert_eq!(
                (run.code, run.stdout.as_str()),
                (Some(0), "Hello there.\n"),
                "{command} {name}: {}",
                told(&run)
            );
        }
    }
    let run = stage.run_musher(&["run", "-m", "scripted2", "Hello"]);
    assert_eq!(run.code, Some(2), "{}", told(&run));
    assert!(
        run.stderr.contains("unknown model `scripted2`") && run.stderr.contains("custom:Scripted-0"),
        "{}",
        told(&run)
    );
}

#[test]
fn model_of_a_vendor_is_named_by_the_vendor_also_if_it_is_not_listed() {
    let stage = answers();
    let url = format!("{}/v1", stage.model_url());
    let variables = [("OPENAI_API_KEY", "x"), ("OPENAI_BASE_URL", url.as_str())];
    for command in ["run", "exec"] {
        for name in ["openai/gpt-4.1", "openai/brand-new"] {
            let run = bare(&stage, &[command, "-m", name, "Hello"], &variables);
            assert_eq!(
                (run.code, run.stdout.as_str()),
                (Some(0), "Hello there.\n"),
                "{command} {name}: {}",
                told(&run)
            );
        }
    }
}

#[test]
fn key_of_a_vendor_without_listed_models_leads_to_a_name_to_pass() {
    let stage = answers();
    for (variable, vendor) in [("OPENROUTER_API_KEY", "openrouter"), ("CEREBRAS_API_KEY", "cerebras")] {
        let run = bare(&stage, &["run", "Hello"], &[(variable, "x")]);
        assert_eq!(run.code, Some(2), "{}", told(&run));
        assert!(run.stderr.contains(&format!("{variable} is set")), "{}", told(&run));
        assert!(run.stderr.contains(&format!("--model {vendor}/")), "{}", told(&run));
    }
}

#[test]
fn wrong_model_in_the_settings_stops_the_run_and_a_named_one_does_not() {
    let stage = answers();
    let file = stage.home().join("settings.json");
    let mut settings: serde_json::Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
    settings["model"] = json!("scriptd");
    fs_err::write(&file, settings.to_string()).unwrap();
    for command in ["run", "exec"] {
        let run = stage.run_musher(&[command, "Hello"]);
        assert_eq!(run.code, Some(2), "{}", told(&run));
        let error = format!("unknown model `scriptd` in `{}`", file.display());
        assert!(run.stderr.contains(&error) && run.stderr.contains("custom:Scripted-0"), "{}", told(&run));
    }
    assert!(stage.calls().is_empty());
    let run = stage.run_musher(&["run", "-m", "scripted", "Hello"]);
    assert_eq!(run.code, Some(0), "{}", told(&run));
}

#[test]
fn refused_connection_is_shown_at_once_with_the_number_of_the_retry_and_its_countdown() {
    let stage = answers();
    // a port that was free a moment ago
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let mut command = stage.command(&["-m", "openai/gpt-4.1", "Hello"]);
    command.env("OPENAI_API_KEY", "x").env("OPENAI_BASE_URL", url);
    let mut terminal = Terminal::start(command);
    terminal.until("Connection refused");
    terminal.until("retry 1 in 1 s");
    terminal.until("retry 3 in");
    terminal.until("attempt 3) in");
    terminal.type_in(CTRL_C);
    assert_eq!(terminal.end(), Some(130), "{}", terminal.shown());
    assert!(stage.calls().is_empty());
}

#[test]
fn run_asks_for_no_title_or_keeps_the_title_it_has_paid_for() {
    let stage = answers();
    let run = stage.run_musher(&["run", "Hello"]);
    assert_eq!(run.code, Some(0), "{}", told(&run));
    let calls = stage.calls().len();
    let list = stage.run_musher(&["sessions", "--json"]);
    let is_paid = list.stdout.contains("A title");
    assert!(calls == 1 || (calls == 2 && is_paid), "{calls} calls: {}", told(&list));
}

#[test]
fn refusal_of_a_vendor_is_shown_once_with_the_place_of_the_model_and_its_key() {
    let stage =
        Stage::new(Script::new().reply(Reply::error(HttpError::new(401).message("no such key")).times(9)));
    let url = format!("{}/v1", stage.model_url());
    let run = bare(
        &stage,
        &["run", "-m", "openai/gpt-4.1", "Hello"],
        &[("OPENAI_API_KEY", "x"), ("OPENAI_BASE_URL", &url)],
    );
    assert_eq!(run.code, Some(1), "{}", told(&run));
    let all = told(&run);
    assert_eq!(all.matches("no such key").count(), 1, "{all}");
    assert!(all.contains(&format!("model gpt-4.1 of openai at {url}, key from OPENAI_API_KEY")), "{all}");
}
