//! A tool from outside the workspace's own crates: adding it to the registry is all that is needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use musher_engine::{Choice, Command, Reply, UserResponse};
use musher_tools::{
    Action, Category, Context, Input, Offer, Registry, Run, Tool, ToolInfo, ToolOutput, object_schema,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::scripted::{calls, text};
use crate::stage::Stage;

/// Deploys to a place.
#[derive(Debug)]
struct Deploy;

const INFO: ToolInfo =
    ToolInfo::new("deploy", "Deploy", Category::Execute, "Deploys the workspace to a place.", schema)
        .offer(Offer::At(5));

fn schema() -> Value {
    object_schema(&json!({"place": {"type": "string"}}), &["place"])
}

impl Tool for Deploy {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        let place = input.get("place").and_then(Value::as_str).ok_or("`place` is required")?;
        Ok(Action::Network { target: Some(place) })
    }

    fn run<'a>(&'a self, input: Input, _context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move { ToolOutput::text(format!("deployed to {}", input["place"])) })
    }
}

#[tokio::test]
async fn added_tool_is_listed_offered_permission_checked_and_run() {
    let mut tools = Registry::builtin();
    tools.add(Deploy);
    let folder = || Arc::new(tempfile::tempdir().unwrap());
    let script =
        [calls("", &[("Deploy", json!({"place": "staging"})), ("Deploy", json!({}))]), text("Done.")];
    let mut stage = Stage::with_tools(folder(), folder(), script, tools);
    stage.create(musher_engine::NewSession::default()).await;

    let command_id = stage.submit(Command::ListTools(Box::default()));
    let Reply::Tools(listed) = stage.reply(&command_id).await else { panic!("no tools") };
    let row = listed.iter().find(|tool| tool.id == "deploy").expect("listed");
    assert_eq!(
        (row.name.as_str(), row.category.as_str(), row.currently_allowed),
        ("Deploy", "execute", false)
    );

    stage.say("Deploy it.");
    let (seen, request) = stage.until_question().await;
    assert!(seen.last().unwrap().starts_with("may call_0 run?"), "{seen:?}");
    let offered: Vec<String> =
        stage.model.requests().remove(0).tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(offered[..3], ["Read", "Deploy", "LS"], "at its place");

    stage.agent.respond(request, UserResponse::Decision(Choice::ProceedOnce.into())).unwrap();
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("deployed to \"staging\""), "{seen}");
    assert!(seen.contains("`place` is required"), "wrong arguments are refused without asking: {seen}");
}

/// The sources of a directory, without tests.
fn sources(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|name| name == "tests");
        if path.is_dir() && !is_test {
            sources(&path, all);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !is_test {
            let text = fs_err::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
            all.push((path, code));
        }
    }
}

#[test]
fn engine_decides_nothing_by_the_name_of_a_tool() {
    let mut all = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut all);
    assert!(all.len() > 50, "{}", all.len());
    for tool in Registry::builtin().infos() {
        let quoted = format!("\"{}\"", tool.name);
        for (path, code) in &all {
            assert!(!code.contains(&quoted), "{quoted} in {}", path.display());
        }
    }
}
