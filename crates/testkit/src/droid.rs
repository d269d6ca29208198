//! The setup of `droid` in a sandbox: models in its settings, a key, a URL for its own service, and its command line.
//!
//! It does not speak the protocol: tests send the messages.

use anyhow::Result;
use serde_json::{Value, json};

use crate::peers::Installed;
use crate::{Backend, Launch, Sandbox};

/// The scripted model over chat completions, as `modelId` of `droid.initialize_session`.
pub const CHAT_MODEL: &str = "custom:rehearsal-chat";
/// The scripted model over the responses API of `OpenAI`.
pub const RESPONSES_MODEL: &str = "custom:rehearsal-responses";
/// The scripted model over the messages API of Anthropic.
pub const ANTHROPIC_MODEL: &str = "custom:rehearsal-anthropic";

/// A key without any rights; the agent only checks that it has one.
pub const DUMMY_KEY: &str = "fk-rehearsal";

/// Writes the settings into the sandbox's home and returns the launch of `droid exec` over JSON-RPC.
///
/// `model_url` is the base URL of the scripted model server, without a path.
pub fn launch(sandbox: &Sandbox, droid: &Installed, model_url: &str, backend: &Backend) -> Result<Launch> {
    configure(sandbox, model_url)?;
    let launch = sandbox.launch(droid.entry()).args([
        "exec",
        "--input-format",
        "stream-jsonrpc",
        "--output-format",
        "stream-jsonrpc",
    ]);
    Ok(with_account(launch, backend))
}

/// Gives a program what a `droid` below it needs: a key and a URL for its own service.
#[must_use]
pub fn with_account(launch: Launch, backend: &Backend) -> Launch {
    launch.env("FACTORY_API_KEY", DUMMY_KEY).env("FACTORY_API_BASE_URL", backend.url())
}

/// Writes `~/.factory/settings.json` with the three scripted models; the first one is the default.
pub fn configure(sandbox: &Sandbox, model_url: &str) -> Result<()> {
    let folder = sandbox.home().join(".factory");
    fs_err::create_dir_all(&folder)?;
    let settings = serde_json::to_vec_pretty(&settings(model_url))?;
    fs_err::write(folder.join("settings.json"), settings)?;
    Ok(())
}

fn settings(model_url: &str) -> Value {
    let model = |id: &str, name: &str, base: String, provider: &str| {
        json!({
            "model": id.trim_start_matches("custom:"),
            "displayName": name,
            "baseUrl": base,
            "apiKey": DUMMY_KEY,
            "provider": provider,
            "maxOutputTokens": 8192,
        })
    };
    json!({
        "model": CHAT_MODEL,
        "customModels": [
            model(CHAT_MODEL, "Rehearsal Chat", format!("{model_url}/v1"), "generic-chat-completion-api"),
            model(RESPONSES_MODEL, "Rehearsal Responses", format!("{model_url}/v1"), "openai"),
            model(ANTHROPIC_MODEL, "Rehearsal Anthropic", model_url.to_owned(), "anthropic"),
        ],
    })
}
