//! The engine in this process: where its files are, which variables it sees, and the scripted model if it is requested.
//!
//! The one place of the program that reads the environment for it.

mod agent;
mod rehearsal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use musher_engine::config::Config;
use musher_engine::{Effort, Environment, ModelView};
use musher_rehearse::Script;

use crate::exit::Failure;
use crate::hide::{self, protect_memory};
use crate::printer::Printer;
use crate::sanitize::sanitized;
use crate::variables::value;

pub(crate) use agent::agent;

/// The model that only follows a script.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// Where settings and sessions are kept, instead of `~/.musher`.
pub(crate) const HOME_VARIABLE: &str = "MUSHER_HOME";

/// The engine with the configuration of the user. The scripted model exists only if `model` requests it.
pub(crate) fn environment(model: Option<&str>, settings: Option<&Path>) -> Result<Environment, Failure> {
    protect_memory();
    let mut environment = Environment::new(home()?).with_variables(hide::variables().iter().cloned());
    if let Some(folder) = factory_home() {
        environment = environment.with_factory_home(folder);
    }
    if let Some(settings) = settings {
        if !settings.is_file() {
            return Err(Failure::setup(anyhow!("cannot read the settings file `{}`", settings.display())));
        }
        environment = environment.with_runtime_settings(settings);
    }
    // `musher` itself starts sandboxed commands in the terminals of editors
    if let Ok(launcher) = std::env::current_exe() {
        environment = environment.with_launcher(launcher);
    }
    if model == Some(REHEARSAL) {
        environment = environment.with_provider(view(), Arc::new(rehearsal::Scripted::tour()?));
    }
    Ok(match model {
        Some(model) => environment.with_default_model(model),
        None => environment,
    })
}

/// Reports the mistakes in the settings of a folder, and fails if no session could start with them.
///
/// The engine checks again. What it reports before the first turn is not part of a turn, so it would not be shown.
pub(crate) fn check_settings(environment: &Environment, cwd: &Path, printer: Printer) -> Result<(), Failure> {
    let (config, problems) = environment.session_config(cwd).map_err(Failure::setup)?;
    let sandbox = environment.check_sandbox(&config).map_err(|problem| {
        let hint = "`musher doctor` shows what this machine can enforce";
        Failure::setup(anyhow!("{problem}")).hint(hint)
    })?;
    for problem in problems.into_iter().chain(sandbox) {
        printer.note(format!("warning: {problem}"));
    }
    if let Some(note) = ignored_settings(&config) {
        printer.note(note);
    }
    Ok(())
}

/// Tells which settings of an untrusted repository are ignored, and how to enable them.
fn ignored_settings(config: &Config) -> Option<String> {
    let mut fields: Vec<&str> = config.trust.ignored().iter().map(|ignored| ignored.what.as_str()).collect();
    fields.sort_unstable();
    fields.dedup();
    let root = sanitized(&config.root.to_string_lossy(), 500);
    (!fields.is_empty()).then(|| {
        format!(
            "note: {root} is not trusted, so its {} are ignored; `musher trust` shows and enables them",
            sanitized(&fields.join(", "), 500)
        )
    })
}

/// Where our settings and sessions are.
pub(crate) fn home() -> Result<PathBuf, Failure> {
    match (value(HOME_VARIABLE), value("HOME")) {
        (Some(home), _) => Ok(PathBuf::from(home)),
        (None, Some(user)) => Ok(Path::new(&user).join(".musher")),
        (None, None) => {
            let failure = Failure::setup(anyhow!("neither {HOME_VARIABLE} nor HOME is set"));
            Err(failure.hint(format!("set {HOME_VARIABLE} to the directory for settings and sessions")))
        }
    }
}

/// Where droid's are.
pub(crate) fn factory_home() -> Option<PathBuf> {
    value("HOME").map(|user| Path::new(&user).join(".factory"))
}

/// An engine with this script for a model, its own home, and nothing of the user's settings and keys.
pub(crate) fn scripted(home: PathBuf, script: Script) -> Environment {
    let paths = ["PATH", "HOME", "TMPDIR", "LANG"];
    let variables = paths.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    Environment::new(home)
        .with_variables(variables)
        .with_provider(view(), Arc::new(rehearsal::Scripted::of(script)))
        .with_default_model(REHEARSAL)
}

/// The scripted model in a list.
fn view() -> ModelView {
    ModelView {
        id: REHEARSAL.to_owned(),
        provider: "musher".to_owned(),
        display_name: "Rehearsal (scripted)".to_owned(),
        efforts: vec![Effort::Off],
        default_effort: Effort::Off,
        text_only: true,
    }
}
