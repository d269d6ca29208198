//! `musher doctor`: checks the setup and suggests fixes.
//!
//! Changes nothing, asks no model and no server, and prints no key.

mod agents;
mod check;
mod explain;
mod home;
mod machine;
mod models;
mod servers;
mod settings;

use std::path::Path;

use anyhow::Context as _;
use musher_engine::{Layers, Limits};
use serde_json::{Value, json};

use crate::args::Doctor;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::style::Style;
use check::{Check, State};

pub(crate) async fn run(args: Doctor, printer: Printer) -> Result<Exit, Failure> {
    let environment = embedded::environment(None, None)?;
    let no_folder = || format!("cannot open `{}`", args.cwd.display());
    let cwd = fs_err::canonicalize(&args.cwd).with_context(no_folder).map_err(Failure::setup)?;
    let (config, problems) = environment.config(&cwd);
    if args.settings {
        return explain::run(&config, &problems, args.json, printer);
    }

    let mut checks = agents::checks().await;
    checks.extend(models::checks(&config, &problems));
    checks.extend(servers::checks(&environment, &config, &problems));
    checks.extend(settings::checks(&config, &problems));
    checks.push(settings::trust(&config));
    checks.extend(home::checks(environment.home()));
    checks.extend(machine::checks(
        Path::new("/"),
        Layers::available(),
        &config,
        environment.check_sandbox(&config),
    ));
    checks.push(limits(Limits::default()));
    checks.push(Check::ok("daemon", "daemon", "not used by this version"));

    let is_broken = checks.iter().any(|check| check.state == State::Error);
    if args.json {
        let list: Vec<Value> = checks.iter().map(Check::json).collect();
        printer.json(&serde_json::to_string_pretty(&json!({"ok": !is_broken, "checks": list}))?)?;
    } else {
        for line in check::report(&checks, Style::of_stdout()) {
            printer.data(line)?;
        }
    }
    Ok(if is_broken { Exit::Failed } else { Exit::Done })
}

/// Returns the limits of a session of the engine.
fn limits(limits: Limits) -> Check {
    let Limits { queued_prompts, waiting_events, parallel_calls, identical_calls, model_calls, .. } = limits;
    let text = format!(
        "queues of {queued_prompts} prompts and {waiting_events} events; {parallel_calls} parallel tool calls; a turn ends after \
         {identical_calls} identical tool calls or {model_calls} model requests"
    );
    Check::ok("limits", "engine", text)
}
