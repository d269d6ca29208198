//! `musher acp`: serves the editor that started it until the editor is gone.
//!
//! Only wiring: the sessions are the crate `musher-acp`. Stdout belongs to the protocol.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher_acp::{Config, Login};
use musher_engine::Environment;
use musher_rpc::{Limits, MAX_LINE_LIMIT, stdio_lines};

use super::stop::Stop;
use crate::args::Acp;
use crate::embedded::{self, HOME_VARIABLE, REHEARSAL};
use crate::exit::{Exit, Failure};
use crate::resolve::Choice;

pub(crate) async fn run(args: Acp) -> Result<Exit, Failure> {
    let config = match Choice::of(&args.agent)? {
        Choice::Engine => with_engine(args)?,
        program @ Choice::Program(_) => with_program(args, &program)?,
    };
    let stop = Stop::listen().context("cannot listen for signals")?;
    // prompts have pictures in them
    let limits = Limits { line: MAX_LINE_LIMIT, ..Limits::default() };
    let editor = stdio_lines(limits).context("cannot serve stdin and stdout")?;
    musher_acp::serve(config, editor, stop.wait()).await.context("the editor's side failed")?;
    Ok(Exit::Done)
}

fn with_program(args: Acp, program: &Choice) -> Result<Config, Failure> {
    let mut config = Config::new(program.agent(args.agent.model.as_deref())?);
    config.model = args.agent.model;
    config.sessions_dir = args.sessions_dir;
    Ok(config)
}

fn with_engine(args: Acp) -> Result<Config, Failure> {
    if args.sessions_dir.is_some() {
        let failure = Failure::setup(anyhow!("the engine keeps its sessions in its home"));
        return Err(failure.hint(format!("set {HOME_VARIABLE} to have that elsewhere")));
    }
    let environment = Arc::new(embedded::environment(args.agent.model.as_deref(), None)?);
    let mut config = Config::new(embedded::agents_of_editor(Arc::clone(&environment)));
    config.additional_directories = true;
    config.model = args.agent.model;
    let sessions_in = |home: &Path| home.join("sessions");
    config.sessions_dir = Some(sessions_in(environment.home()));
    let theirs = environment.factory_home().filter(|theirs| *theirs != environment.home());
    config.foreign_sessions_dir = theirs.map(sessions_in);
    config.logins = vec![own_model(environment), rehearsal()?];
    Ok(config)
}

/// The usual way to a model: the person names one, or has a key for one.
fn own_model(environment: Arc<Environment>) -> Login {
    let settings = environment.home().join("settings.json");
    let what_to_do = format!(
        "Set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY where the editor starts agents, or name a model in `customModels` of {}",
        settings.display()
    );
    Login::check("model", "A model of your own", what_to_do, move || {
        if environment.models_in(environment.home()).is_empty() {
            return Err(format!("there is no key of a vendor, and no model in {}", settings.display()));
        }
        Ok(())
    })
}

/// A way to see how it all looks without any model.
fn rehearsal() -> Result<Login, Failure> {
    let scripted = embedded::agents_of_editor(Arc::new(embedded::environment(Some(REHEARSAL), None)?));
    let about = "Or play a script instead of asking a model: no account, no network, and no intelligence";
    Ok(Login::instead(REHEARSAL, "Rehearsal", about, scripted, REHEARSAL))
}
