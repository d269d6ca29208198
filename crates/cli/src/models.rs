//! A session must have the model that was wished for: any other would be a surprise.

use anyhow::anyhow;
use musher::Session;
use musher::wire::ListModelsParams;

use crate::exit::Failure;

/// The session if its model is the right one; otherwise it is closed, and what can be done is said.
pub(crate) async fn checked(
    wished: Option<&str>,
    session: Session,
    is_engine: bool,
) -> Result<Session, Failure> {
    let has = session.state().settings.model_id.unwrap_or_default();
    // an agent that has no such list has nothing to name
    let listed = session.list_models(ListModelsParams::default()).await;
    let listed = listed.map(|listed| listed.models).unwrap_or_default();
    let names: Vec<_> = listed.into_iter().map(|model| model.id).collect();
    let failure = match wished {
        None if has.is_empty() && is_engine => Failure::setup(anyhow!("no model is set up")),
        // ours takes any name, and says no only when the model is asked
        Some(wished) if *wished != has || is_engine && !names.contains(&has) => {
            Failure::setup(anyhow!("there is no model `{wished}`"))
        }
        _ => return Ok(session),
    };
    session.close().await?;
    let failure = match (names.is_empty(), is_engine) {
        (false, _) => failure.hint(format!("there are {}", names.join(", "))),
        (true, true) => failure.hint(
            "name one in `customModels` of settings.json, or set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY",
        ),
        (true, false) => failure,
    };
    if !is_engine {
        return Err(failure);
    }
    Err(failure.hint("`--model rehearsal` plays a script instead: no account, and no intelligence"))
}
