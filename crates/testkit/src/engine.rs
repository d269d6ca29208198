//! The setup of the engine in a sandbox: the models of droid's settings, which the engine reads too, and one with reasoning efforts.

use anyhow::Result;
use serde_json::json;

use crate::{Sandbox, droid};

/// Writes the settings into the sandbox's home: those of [`droid::configure`], and a model with efforts in `~/.musher`.
///
/// `model_url` is the base URL of the scripted model server, without a path.
pub fn configure(sandbox: &Sandbox, model_url: &str) -> Result<()> {
    droid::configure(sandbox, model_url)?;
    let folder = sandbox.home().join(".musher");
    fs_err::create_dir_all(&folder)?;
    let settings = json!({
        "model": droid::CHAT_MODEL,
        "customModels": [{
            "model": "rehearsal-thinker",
            "displayName": "Rehearsal Thinker",
            "baseUrl": format!("{model_url}/v1"),
            "apiKey": droid::DUMMY_KEY,
            "provider": "openai",
            "efforts": ["low", "high"],
        }],
    });
    Ok(fs_err::write(folder.join("settings.json"), settings.to_string())?)
}
