//! The session a task runs in: a new one, or a resumed one.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use musher::wire::UpdateSessionSettingsParams;
use musher::{ErrorKind, Session};

use crate::args::Run;
use crate::embedded;
use crate::exit::Failure;
use crate::models;
use crate::printer::Printer;
use crate::resolve::{Choice, working_directory};

/// Opens the session.
pub(super) async fn open(args: &Run, choice: &Choice, printer: Printer) -> Result<Session, Failure> {
    let requested = args.agent.model.as_deref();
    let agent = choice.agent(requested)?;
    let id = match (&args.session, args.continue_session) {
        (Some(id), _) => id.clone(),
        (None, true) => newest(args, choice).await?,
        (None, false) => {
            let cwd = working_directory(args.cwd.as_deref())?;
            check_settings(args, choice, &cwd, printer)?;
            let mut builder = Session::builder().agent(agent).cwd(cwd);
            let params = builder.params_mut();
            params.model_id = requested.map(str::to_owned);
            params.autonomy_level = args.auto.map(Into::into);
            let session = builder.open().await.map_err(Failure::setup)?;
            return models::checked(requested, session, *choice == Choice::Engine).await;
        }
    };
    let opened = Session::resume(&id).agent(agent).open().await;
    let session = opened.map_err(|error| match error.kind() {
        ErrorKind::SessionNotFound { .. } => {
            let failure = Failure::setup(anyhow!("unknown session `{id}`"));
            failure.hint("`--continue` continues the most recent session of this directory")
        }
        _ => Failure::setup(error),
    })?;
    if let Some(cwd) = session.state().cwd {
        check_settings(args, choice, Path::new(&cwd), printer)?;
    }
    if requested.is_some() || args.auto.is_some() {
        let settings = UpdateSessionSettingsParams {
            model_id: requested.map(str::to_owned),
            autonomy_level: args.auto.map(Into::into),
            ..UpdateSessionSettingsParams::default()
        };
        session.update_settings(settings).await?;
    }
    models::checked(requested, session, *choice == Choice::Engine).await
}

fn check_settings(args: &Run, choice: &Choice, cwd: &Path, printer: Printer) -> Result<(), Failure> {
    if *choice != Choice::Engine {
        return Ok(());
    }
    let environment = embedded::environment(args.agent.model.as_deref(), None)?;
    embedded::check_settings(&environment, cwd, printer)
}

/// The id of the newest session of the folder.
async fn newest(args: &Run, choice: &Choice) -> Result<String, Failure> {
    let cwd = working_directory(args.cwd.as_deref())?;
    let mut list = musher::list_sessions().cwd(&cwd).limit(1);
    if let Some(folder) = choice.sessions_dir()? {
        list = list.sessions_dir(folder);
    }
    let found = list.await.context("cannot list the sessions")?;
    let Some(session) = found.into_iter().next() else {
        let failure = Failure::setup(anyhow!("no session to continue in `{}`", cwd.display()));
        return Err(failure.hint("omit `--continue` to start a new session"));
    };
    Ok(session.id)
}
