//! Checks that a session has the requested model, and says which names there are.

use std::path::Path;

use anyhow::anyhow;
use musher::Session;
use musher::wire::ListModelsParams;
use musher_engine::Environment;
use musher_model::{ModelEntry, Origin};

use crate::exit::Failure;

/// A model of each vendor whose models are known by name only, for hints.
const EXAMPLES: [(&str, &str); 8] = [
    ("openrouter", "qwen/qwen3-coder"),
    ("xai", "grok-4"),
    ("groq", "openai/gpt-oss-120b"),
    ("mistral", "devstral-medium-latest"),
    ("together", "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8"),
    ("fireworks", "accounts/fireworks/models/qwen3-coder-480b-a35b-instruct"),
    ("cerebras", "qwen-3-coder-480b"),
    ("ollama", "qwen3-coder"),
];

/// Returns the session if it has the requested model; closes it and returns an error with hints otherwise. `engine` is the engine, if
/// that is the agent: it knows more names than it lists.
pub(crate) async fn checked(
    requested: Option<&str>,
    session: Session,
    engine: Option<&Environment>,
) -> Result<Session, Failure> {
    let state = session.state();
    let has = state.settings.model_id.unwrap_or_default();
    let cwd = state.cwd.unwrap_or_else(|| "/".into());
    let cwd = cwd.as_path();
    let is_known = |name: &str| engine.is_none_or(|engine| engine.has_model(cwd, name));
    let failure = match requested {
        None if has.is_empty() && engine.is_some() => Failure::setup(anyhow!("no model configured")),
        // the engine keeps an unknown name of a resumed session, and would fail only at the first model call
        Some(requested) if *requested != has || !is_known(&has) => {
            Failure::setup(anyhow!("unknown model `{requested}`"))
        }
        _ => return Ok(session),
    };
    // an agent that has no such list has nothing to name
    let listed = session.client().list_models(ListModelsParams::default()).await;
    let listed = listed.map(|listed| listed.models).unwrap_or_default();
    let names: Vec<_> = listed.into_iter().map(|model| model.id).collect();
    session.close().await?;
    let failure = if names.is_empty() {
        failure
    } else {
        failure.hint(format!("available models: {}", names.join(", ")))
    };
    let Some(engine) = engine else { return Err(failure) };
    let mut failure = unlisted(engine, cwd).into_iter().fold(failure, Failure::hint);
    if names.is_empty() && failure.hints.is_empty() {
        failure = failure.hint(
            "set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a model to `customModels` in settings.json",
        );
    }
    Err(failure.hint("`--model rehearsal` uses scripted responses and needs no account"))
}

/// Says how to name a model of each vendor whose key is set and whose models are not listed.
pub(crate) fn unlisted(engine: &Environment, cwd: &Path) -> Vec<String> {
    let config = engine.config(cwd).0;
    let is_unlisted = |vendor: &&str| config.models.entries().iter().all(|entry| entry.vendor != **vendor);
    let hint = |vendor: &str| {
        let example = EXAMPLES.iter().find(|(name, _)| *name == vendor).map_or("MODEL", |(_, model)| model);
        let open = engine.model_entry(cwd, &format!("{vendor}/{example}"));
        let variable = open.as_ref().and_then(variable);
        let variable = variable.map(|name| format!("{name} is set: ")).unwrap_or_default();
        format!("{variable}name a model of {vendor}, such as `--model {vendor}/{example}`")
    };
    config.models.vendors().filter(is_unlisted).map(hint).collect()
}

/// Says where a model is, and where its key is from: the first thing to look at if it cannot be asked.
pub(crate) fn place(engine: &Environment, cwd: &Path, name: &str) -> Option<String> {
    let entry = engine.model_entry(cwd, name)?;
    let key = match (&entry.endpoint.key, variable(&entry), &entry.origin) {
        (None, _, _) => "no key".to_owned(),
        (Some(_), Some(variable), _) => format!("key from {variable}"),
        (Some(_), None, Origin::Settings { file, .. }) => format!("key from {file}"),
        (Some(_), None, _) => "with a key".to_owned(),
    };
    Some(format!(
        "model {} of {} at {}, {key}",
        entry.model,
        entry.vendor,
        without_secrets(&entry.endpoint.base_url)
    ))
}

fn variable(entry: &ModelEntry) -> Option<&str> {
    match &entry.origin {
        Origin::Environment { variable } => Some(variable),
        _ => None,
    }
}

/// Removes what may be secret from a URL: user information and the query.
pub(crate) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn secrets_in_urls_are_not_shown() {
        let shown = super::without_secrets;
        assert_eq!(shown("https://user:s3cret@host:1/a/b?key=s3cret#x"), "https://host:1/a/b");
        assert_eq!(shown("https://host"), "https://host");
    }
}
