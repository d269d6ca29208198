//! Checks that a session has the requested model.

use anyhow::anyhow;
use musher::Session;
use musher::wire::ListModelsParams;

use crate::exit::Failure;

/// Returns the session if it has the requested model; closes it and returns an error with hints otherwise.
pub(crate) async fn checked(
    requested: Option<&str>,
    session: Session,
    is_engine: bool,
) -> Result<Session, Failure> {
    let has = session.state().settings.model_id.unwrap_or_default();
    // an agent that has no such list has nothing to name
    let listed = session.client().list_models(ListModelsParams::default()).await;
    let listed = listed.map(|listed| listed.models).unwrap_or_default();
    let names: Vec<_> = listed.into_iter().map(|model| model.id).collect();
    let failure = match requested {
        None if has.is_empty() && is_engine => Failure::setup(anyhow!("no model configured")),
        // the engine accepts any name, and fails only at the first model call
        Some(requested) if *requested != has || is_engine && !names.contains(&has) => {
            Failure::setup(anyhow!("unknown model `{requested}`"))
        }
        _ => return Ok(session),
    };
    session.close().await?;
    let failure = match (names.is_empty(), is_engine) {
        (false, _) => failure.hint(format!("available models: {}", names.join(", "))),
        (true, true) => failure.hint(
            "set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a model to `customModels` in settings.json",
        ),
        (true, false) => failure,
    };
    if !is_engine {
        return Err(failure);
    }
    Err(failure.hint("`--model rehearsal` uses scripted responses and needs no account"))
}
