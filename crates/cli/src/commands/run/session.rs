//! The session a task runs in: a new one, or a resumed one.

use std::path::Path;

use anyhow::anyhow;
use musher::wire::UpdateSessionSettingsParams;
use musher::{ErrorKind, Session, SessionBuilder};
use musher_engine::Environment;

use crate::args::Run;
use crate::daemon_client;
use crate::embedded;
use crate::exit::Failure;
use crate::models;
use crate::printer::Printer;
use crate::resolve::{Choice, working_directory};
use crate::task;

/// Opens the session.
pub(super) async fn open(args: &Run, choice: &Choice, printer: Printer) -> Result<Session, Failure> {
    let requested = args.agent.model.as_deref();
    if args.daemon {
        return Box::pin(in_daemon(args, choice)).await;
    }
    let agent = choice.agent_within(requested, args.limits.budget.budget(), args.sandbox)?;
    let settings = task::settings(&args.mode, requested, args.auto)?;
    let id = match (&args.session, args.continue_session) {
        (Some(id), _) => id.clone(),
        (None, true) => task::newest(args.cwd.as_deref(), choice).await?,
        (None, false) => {
            let cwd = working_directory(args.cwd.as_deref())?;
            check_settings(args, choice, &cwd, printer)?;
            let builder = with_settings(Session::builder().agent(agent).cwd(cwd), settings);
            let session = builder.open().await.map_err(Failure::setup)?;
            return models::checked(requested, session, engine(args, choice)?.as_ref()).await;
        }
    };
    let opened = Session::resume(&id).agent(agent).open().await;
    let session = opened.map_err(|error| not_opened(error, &id))?;
    if let Some(cwd) = session.state().cwd {
        check_settings(args, choice, Path::new(&cwd), printer)?;
    }
    if settings != UpdateSessionSettingsParams::default() {
        session.update_settings(settings).await?;
    }
    models::checked(requested, session, engine(args, choice)?.as_ref()).await
}

/// Returns the engine, if it is the agent.
pub(super) fn engine(args: &Run, choice: &Choice) -> Result<Option<Environment>, Failure> {
    let is_engine = *choice == Choice::Engine;
    is_engine.then(|| embedded::environment(args.agent.model.as_deref(), None)).transpose()
}

/// Opens the session in the daemon. Its settings are read there.
async fn in_daemon(args: &Run, choice: &Choice) -> Result<Session, Failure> {
    let requested = args.agent.model.as_deref();
    let settings = task::settings(&args.mode, requested, args.auto)?;
    let daemon = daemon_client::connect_or_start(&args.daemon_args).await?;
    let id = match (&args.session, args.continue_session) {
        (Some(id), _) => daemon_client::find(&daemon, Some(id)).await?,
        (None, true) => task::newest(args.cwd.as_deref(), choice).await?,
        (None, false) => {
            let cwd = working_directory(args.cwd.as_deref())?;
            let session = with_settings(daemon.session().cwd(cwd), settings).open().await;
            return models::checked(requested, session.map_err(Failure::setup)?, None).await;
        }
    };
    let session = daemon.resume(&id).open().await.map_err(|error| not_opened(error, &id))?;
    if settings != UpdateSessionSettingsParams::default() {
        session.update_settings(settings).await?;
    }
    models::checked(requested, session, None).await
}

fn with_settings(mut builder: SessionBuilder, settings: UpdateSessionSettingsParams) -> SessionBuilder {
    let params = builder.params_mut();
    params.model_id = settings.model_id;
    params.autonomy_level = settings.autonomy_level;
    params.reasoning_effort = settings.reasoning_effort;
    params.interaction_mode = settings.interaction_mode;
    params.spec_mode_model_id = settings.spec_mode_model_id;
    params.spec_mode_reasoning_effort = settings.spec_mode_reasoning_effort;
    params.restrict_tool_ids = settings.restrict_tool_ids;
    params.enabled_tool_ids = settings.enabled_tool_ids;
    params.disabled_tool_ids = settings.disabled_tool_ids;
    builder
}

fn not_opened(error: musher::Error, id: &str) -> Failure {
    match error.kind() {
        ErrorKind::SessionNotFound { .. } => {
            let failure = Failure::setup(anyhow!("unknown session `{id}`"));
            failure.hint("`--continue` continues the most recent session of this directory")
        }
        _ => Failure::setup(error),
    }
}

fn check_settings(args: &Run, choice: &Choice, cwd: &Path, printer: Printer) -> Result<(), Failure> {
    if *choice != Choice::Engine {
        return Ok(());
    }
    let environment = embedded::environment(args.agent.model.as_deref(), None)?;
    let environment = environment.with_sandbox(args.sandbox.settings());
    embedded::check_settings(&environment, cwd, printer)?;
    task::check_tools(&args.mode, &environment, cwd)
}
