//! `musher acp`: serves the editor that started it until the editor closes the connection.
//!
//! Only wiring: the sessions are the crate `musher-acp`. Stdout belongs to the protocol.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use musher_acp::{Config, Login, ModelNames};
use musher_engine::Environment;
use musher_engine::store::Store;
use musher_rpc::{Limits, MAX_LINE_LIMIT, stdio_lines};

use super::stop::Stop;
use crate::args::{Acp, SandboxArgs};
use crate::embedded::{self, HOME_VARIABLE, REHEARSAL};
use crate::exit::{Exit, Failure};
use crate::hide::erase_keys;
use crate::models;
use crate::resolve::Choice;

/// How long agents may take to exit when the editor disconnects. Editors kill a program that takes longer than a few seconds.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: Acp) -> Result<Exit, Failure> {
    let config = match Choice::of(&args.agent)? {
        Choice::Engine => with_engine(args)?,
        program @ Choice::Program(_) => with_program(args, &program)?,
    };
    let stop = Stop::listen().context("cannot listen for signals")?;
    // prompts have pictures in them
    let limits = Limits { line: MAX_LINE_LIMIT, ..Limits::default() };
    let editor = stdio_lines(limits).context("cannot serve stdin and stdout")?;
    musher_acp::serve(config, editor, stop.wait()).await.context("lost the connection to the editor")?;
    Ok(Exit::Done)
}

fn with_program(args: Acp, program: &Choice) -> Result<Config, Failure> {
    program.check_sandbox(args.sandbox)?;
    let agent = program.agent(args.agent.model.as_deref())?;
    let mut config = Config::new(agent.close_timeout(CLOSE_TIMEOUT));
    config.model = args.agent.model;
    config.sessions_dir = args.sessions_dir;
    Ok(config)
}

fn with_engine(args: Acp) -> Result<Config, Failure> {
    if args.sessions_dir.is_some() {
        let failure = Failure::setup(anyhow!("cannot use `--sessions-dir` with the engine"));
        return Err(failure.hint(format!("set {HOME_VARIABLE} to store its sessions elsewhere")));
    }
    let environment = embedded::environment(args.agent.model.as_deref(), None)?;
    erase_keys();
    let environment = Arc::new(environment.with_sandbox(args.sandbox.settings()));
    let mut config = Config::new(embedded::agent(Arc::clone(&environment)));
    config.additional_directories = true;
    config.model.clone_from(&args.agent.model);
    let names = Arc::clone(&environment);
    // what the engine lists by id, editors know
    config.model_names =
        ModelNames::new(move |cwd, name| names.model_entry(cwd, name).map(|entry| entry.listed_id));
    config.mcp_login = Some("musher mcp login".to_owned());
    let sessions_in = |home: &Path| Store::sessions_dir(home);
    config.sessions_dir = Some(sessions_in(environment.home()));
    let theirs = environment.factory_home().filter(|theirs| *theirs != environment.home());
    config.foreign_sessions_dir = theirs.map(sessions_in);
    config.logins = vec![own_model(environment, args.agent.model), rehearsal(args.sandbox)?];
    Ok(config)
}

/// Returns the usual authentication method: the user configures a model, or has a key for one. Some keys need the name of a model as well.
fn own_model(environment: Arc<Environment>, requested: Option<String>) -> Login {
    let settings = environment.home().join("settings.json");
    let what_to_do = match models::unlisted(&environment, environment.home()).as_slice() {
        [] => format!(
            "Set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment of the editor, or add a model to `customModels` in {}",
            settings.display()
        ),
        hints => {
            format!(
                "{} in the arguments of `musher acp`, or `model` in {}",
                hints.join("; "),
                settings.display()
            )
        }
    };
    Login::check("model", "Your own model", what_to_do, move || {
        let home = environment.home();
        let configured = environment.config(home).0.settings.model;
        let is_named = |name: &String| environment.has_model(home, name);
        if !environment.models_in(home).is_empty()
            || requested.as_ref().or(configured.as_ref()).is_some_and(is_named)
        {
            return Ok(());
        }
        match models::unlisted(&environment, home).as_slice() {
            [] => Err(format!("no vendor key found, and no model in {}", settings.display())),
            hints => Err(hints.join("; ")),
        }
    })
}

/// Returns an authentication method for the scripted model, to try everything without an account.
fn rehearsal(sandbox: SandboxArgs) -> Result<Login, Failure> {
    let environment = embedded::environment(Some(REHEARSAL), None)?.with_sandbox(sandbox.settings());
    let scripted = embedded::agent(Arc::new(environment));
    let about = "Scripted responses; no account, no network and no AI model is involved";
    Ok(Login::switch_agent(REHEARSAL, "Rehearsal", about, scripted, REHEARSAL))
}
