//! The session a task runs in: new, resumed or forked, with the settings of the arguments.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use musher::wire::{SessionOrigin, Tag, UpdateSessionSettingsParams};
use musher::{Agent, Session};
use musher_engine::Environment;

use crate::args::Exec;
use crate::embedded;
use crate::exit::Failure;
use crate::printer::Printer;
use crate::resolve::Choice;
use crate::{models, resolve, task};

/// A tool that is disabled, since no user could answer.
pub(super) const NO_QUESTIONS: &str = "ask-user";

/// Opens the session with the requested model.
pub(super) async fn open(
    args: &Exec,
    environment: Arc<Environment>,
    printer: Printer,
) -> Result<Session, Failure> {
    let is_new = args.session_id.is_none() && args.fork.is_none() && !args.continue_session;
    let session = open_with_any_model(args, Arc::clone(&environment), printer).await?;
    if is_new {
        models::checked(args.model.as_deref(), session, Some(&environment)).await
    } else {
        Ok(session)
    }
}

/// Opens the session, with or without a model; sends no prompt.
pub(super) async fn open_with_any_model(
    args: &Exec,
    environment: Arc<Environment>,
    printer: Printer,
) -> Result<Session, Failure> {
    let agent = embedded::agent(Arc::clone(&environment));
    let session = match (&args.session_id, &args.fork) {
        (Some(id), _) => resume(args, agent, id).await?,
        (None, Some(id)) => {
            let original = resume(args, agent, id).await?;
            let copy = original.fork().await.context("cannot fork the session")?;
            original.close().await?;
            copy
        }
        (None, None) if args.continue_session => {
            let id = task::newest(args.cwd.as_deref(), &Choice::Engine).await?;
            resume(args, agent, &id).await?
        }
        (None, None) => return create(args, &environment, agent, printer).await,
    };
    if let Some(cwd) = session.state().cwd {
        embedded::check_settings(&environment, Path::new(&cwd), printer)?;
        task::check_tools(&args.mode, &environment, Path::new(&cwd))?;
    }
    let settings = changed(args)?;
    if settings != UpdateSessionSettingsParams::default() {
        session.update_settings(settings).await?;
    }
    Ok(session)
}

async fn create(
    args: &Exec,
    environment: &Environment,
    agent: Agent,
    printer: Printer,
) -> Result<Session, Failure> {
    let cwd = resolve::working_directory(args.cwd.as_deref())?;
    embedded::check_settings(environment, &cwd, printer)?;
    task::check_tools(&args.mode, environment, &cwd)?;
    let mut builder = Session::builder()
        .agent(agent)
        .cwd(cwd)
        .origin(SessionOrigin::from("cli_exec"))
        .auto_reject_permissions();
    let settings = changed(args)?;
    let params = builder.params_mut();
    params.model_id = settings.model_id;
    params.reasoning_effort = settings.reasoning_effort;
    params.autonomy_level = settings.autonomy_level;
    params.interaction_mode = settings.interaction_mode;
    params.spec_mode_model_id = settings.spec_mode_model_id;
    params.spec_mode_reasoning_effort = settings.spec_mode_reasoning_effort;
    params.restrict_tool_ids = settings.restrict_tool_ids;
    params.enabled_tool_ids = settings.enabled_tool_ids;
    params.disabled_tool_ids = settings.disabled_tool_ids;
    params.tags = settings.tags;
    params.skip_permissions_unsafe = args.skip_permissions_unsafe.then_some(true);
    params.disable_builtin_skills = args.disable_builtin_skills.then_some(true);
    if let Some(more) = appended(args)? {
        builder = builder.append_system_prompt(more);
    }
    builder.open().await.map_err(Failure::setup)
}

async fn resume(args: &Exec, agent: Agent, id: &str) -> Result<Session, Failure> {
    let mut builder = Session::resume(id).agent(agent);
    let params = builder.params_mut();
    params.auto_reject_permission_requests = Some(true);
    params.skip_permissions_unsafe = args.skip_permissions_unsafe.then_some(true);
    params.disabled_tool_ids = Some(disabled(args));
    let found = builder.open().await;
    found.map_err(|error| match error.kind() {
        musher::ErrorKind::SessionNotFound { .. } => Failure::setup(anyhow!("unknown session `{id}`")),
        _ => Failure::setup(error),
    })
}

/// Returns the settings of the arguments.
fn changed(args: &Exec) -> Result<UpdateSessionSettingsParams, Failure> {
    let tags: Vec<_> = args.tags.iter().map(|text| tag(text)).collect::<Result<_, _>>()?;
    let mut settings = task::settings(&args.mode, args.model.as_deref(), args.auto)?;
    settings.disabled_tool_ids = Some(disabled(args));
    settings.tags = (!tags.is_empty()).then_some(tags);
    Ok(settings)
}

fn disabled(args: &Exec) -> Vec<String> {
    let removed = args.mode.remove_tools.iter().map(String::as_str);
    removed.chain([NO_QUESTIONS]).map(str::to_owned).collect()
}

/// Returns a name, or a JSON object.
fn tag(text: &str) -> Result<Tag, Failure> {
    if text.starts_with('{') {
        let tag = serde_json::from_str(text).with_context(|| format!("invalid tag `{text}`"));
        return tag.map_err(Failure::setup);
    }
    Ok(Tag::new(text))
}

fn appended(args: &Exec) -> Result<Option<String>, Failure> {
    let from_file = args.append_system_prompt_file.as_ref().map(fs_err::read_to_string).transpose();
    let from_file = from_file.map_err(Failure::setup)?;
    let texts: Vec<_> = args.append_system_prompt.iter().cloned().chain(from_file).collect();
    Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
}
