//! Reads scenario files, and plays one with an executable in its own sandbox.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::capture::{self, Record, Scenario, replacements};
use testkit::rehearse::Script;
use testkit::{Backend, Sandbox, droid};

use crate::Executable;

/// Returns the directory with the scenarios and the list.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A scenario file: the steps of the client, the script of the model, and the files.
///
/// Everywhere in it, `$WORKSPACE` and `$HOME` stand for the sandbox's directories, and `$MODEL` for the name of the scripted model.
#[derive(Deserialize)]
struct File {
    about: String,
    #[serde(default)]
    model: Value,
    /// Files of the workspace, created before the start.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Files of `~/.factory`.
    #[serde(default)]
    home: BTreeMap<String, String>,
    #[serde(default)]
    args: Vec<String>,
    /// Whether the vendor's service knows the account; droid checks that before it starts subagents.
    #[serde(default)]
    account: bool,
    #[serde(default)]
    answers: Value,
    steps: Value,
}

/// Plays a scenario and returns the messages, with the sandbox's directories replaced by fixed ones.
pub(crate) async fn play(name: &str, executable: &Executable) -> Result<Vec<Record>> {
    let path = folder().join("scenarios").join(format!("{name}.yaml"));
    let file: File = serde_saphyr::from_str(&fs_err::read_to_string(&path)?)
        .with_context(|| format!("in {}", path.display()))?;
    let sandbox = Sandbox::new()?;
    let (workspace, home, temp) = (sandbox.workspace(), sandbox.home(), sandbox.temp());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let variables = [
        ("$WORKSPACE".to_owned(), text(&workspace)),
        ("$HOME".to_owned(), text(&home)),
        ("$MODEL".to_owned(), droid::CHAT_MODEL.to_owned()),
    ];
    let fill = |value: &Value| capture::filled(value, &variables);
    let fill_text = |text: &str| fill(&text.into()).as_str().unwrap_or_default().to_owned();

    let script: Script = serde_json::from_value(fill(&script(&file.model))).context("in `model`")?;
    let backend = Backend::start(&sandbox)?;
    if file.account {
        backend.answer("/api/cli/whoami", json!({"userId": "user_1", "orgId": "org_1"}));
    }
    let model = sandbox.model(script)?;
    droid::configure(&sandbox, &model.url())?;
    let factory = home.join(".factory");
    for (folder, files) in [(&workspace, &file.files), (&factory, &file.home)] {
        for (name, content) in files {
            let path = folder.join(name);
            fs_err::create_dir_all(path.parent().context("a file has a folder")?)?;
            fs_err::write(path, fill_text(content))?;
        }
    }
    let launch = sandbox
        .launch(executable.path())
        .args(["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"])
        .args(&file.args)
        .env("MUSHER_HOME", &factory);
    let program = sandbox.spawn(&droid::with_account(launch, &backend))?;

    let answers = if file.answers.is_null() { Value::Array(Vec::new()) } else { file.answers };
    let scenario: Scenario = serde_json::from_value(json!({
        "about": file.about, "answers": answers, "steps": file.steps,
    }))
    .with_context(|| format!("in {}", path.display()))?;
    let pairs: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let said = capture::play(program, &scenario, &pairs).await?;

    let replacements = replacements(
        &[(&workspace, "/workspace"), (&home, "/home/user"), (&temp, "/tmp")],
        &[(&model.url(), "http://model"), (&backend.url(), "http://backend")],
    );
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await?;
    Ok(said
        .into_iter()
        .map(|record| Record { msg: capture::filled(&record.msg, &replacements), ..record })
        .collect())
}

/// Returns the script of the model. Side requests, such as for a title, get an answer unless the script has one; they offer no tools.
///
/// The token usage is the same for all, unless the script sets it, so that the length of the system prompt has no effect.
fn script(given: &Value) -> Value {
    let mut script = if given.is_null() { json!({"replies": []}) } else { given.clone() };
    if let Some(replies) = script.get_mut("replies").and_then(Value::as_array_mut)
        && !replies.iter().any(|reply| reply["when"]["tools"] == false)
    {
        let nothing = json!({"input": 0, "output": 0});
        replies
            .insert(0, json!({"when": {"tools": false}, "steps": [{"text": "A title"}], "usage": nothing}));
    }
    for reply in script["replies"].as_array_mut().into_iter().flatten() {
        if reply.get("usage").is_none() {
            reply["usage"] = json!({"input": 100, "output": 10});
        }
    }
    script
}

/// Returns the names of all scenario files.
#[cfg(test)]
pub(crate) fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(folder().join("scenarios"))? {
        let path = entry?.path();
        names.push(path.file_stem().context("a file has a name")?.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
