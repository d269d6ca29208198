//! The session a task runs in: a new one, or an old one that goes on.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use musher::wire::UpdateSessionSettingsParams;
use musher::{ErrorKind, Session};
use tokio::sync::mpsc;

use crate::args::Run;
use crate::drive::{Asked, handlers};
use crate::embedded;
use crate::exit::Failure;
use crate::models;
use crate::printer::Printer;
use crate::resolve::{Choice, working_directory};

/// Opens the session; what the agent asks goes the way.
pub(super) async fn open(
    args: &Run,
    choice: &Choice,
    way: mpsc::Sender<Asked>,
    printer: Printer,
) -> Result<Session, Failure> {
    let wished = args.agent.model.as_deref();
    let agent = choice.agent(wished)?;
    let (on_permission, on_question) = handlers(way);
    let id = match (&args.session, args.goes_on) {
        (Some(id), _) => id.clone(),
        (None, true) => newest(args, choice).await?,
        (None, false) => {
            let cwd = working_directory(args.cwd.as_deref())?;
            check_settings(args, choice, &cwd, printer)?;
            let mut builder = Session::builder()
                .agent(agent)
                .cwd(cwd)
                .on_permission(on_permission)
                .on_question(on_question);
            let params = builder.params_mut();
            params.model_id = wished.map(str::to_owned);
            params.autonomy_level = args.yes.map(Into::into);
            let session = builder.open().await.map_err(Failure::setup)?;
            return models::checked(wished, session, *choice == Choice::Engine).await;
        }
    };
    let opened =
        Session::resume(&id).agent(agent).on_permission(on_permission).on_question(on_question).open();
    let session = opened.await.map_err(|error| match error.kind() {
        ErrorKind::SessionNotFound { .. } => {
            let failure = Failure::setup(anyhow!("there is no session `{id}`"));
            failure.hint("`--continue` goes on with the newest one of this folder")
        }
        _ => Failure::setup(error),
    })?;
    if let Some(cwd) = session.state().cwd {
        check_settings(args, choice, Path::new(&cwd), printer)?;
    }
    if wished.is_some() || args.yes.is_some() {
        let settings = UpdateSessionSettingsParams {
            model_id: wished.map(str::to_owned),
            autonomy_level: args.yes.map(Into::into),
            ..UpdateSessionSettingsParams::default()
        };
        session.update_settings(settings).await?;
    }
    models::checked(wished, session, *choice == Choice::Engine).await
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
        let failure = Failure::setup(anyhow!("there is no session in `{}` to go on with", cwd.display()));
        return Err(failure.hint("leave out `--continue` to begin one"));
    };
    Ok(session.id)
}
