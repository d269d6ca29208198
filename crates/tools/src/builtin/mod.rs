//! The built-in tools, one directory each: `mod.rs` runs the tool, `spec.rs` describes it to the model, `tests.rs` tests it.

mod ask_user;
mod create;
mod edit;
mod execute;
mod exit_spec_mode;
mod fetch;
mod glob;
mod grep;
mod ls;
mod patch;
mod read;
mod running_command;
mod skill;
mod task;
mod task_input;
mod task_output;
mod task_stop;
mod todo;
mod tool_search;
mod web_search;

use tokio_util::sync::CancellationToken;

use crate::ToolOutput;

pub use ask_user::{AskUser, UserQuestion, answers};
pub use create::Create;
pub use edit::Edit;
pub use execute::Execute;
pub use exit_spec_mode::ExitSpecMode;
pub use fetch::{AddressRule, FetchUrl};
pub use glob::Glob;
pub use grep::Grep;
pub use ls::Ls;
pub use patch::ApplyPatch;
pub use read::Read;
pub use skill::Skill;
pub use task::Task;
pub use task_input::TaskInput;
pub use task_output::TaskOutput;
pub use task_stop::TaskStop;
pub use todo::{Todo, TodoStatus, TodoWrite};
pub use tool_search::ToolSearch;
pub use web_search::{SearchProvider, WebSearch};

/// Runs blocking work on a thread. Returns early if the call is cancelled.
async fn on_thread(
    cancel: CancellationToken,
    work: impl FnOnce(&CancellationToken) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    let token = cancel.child_token();
    // also cancels the work if this future is dropped
    let _cancel_on_drop = token.clone().drop_guard();
    let working = tokio::task::spawn_blocking(move || work(&token));
    tokio::select! {
        done = working => done.unwrap_or_else(|error| {
            let reason = format!("the tool failed because of a bug in it: {error}. Try another way.");
            ToolOutput::error(&reason, &reason)
        }),
        () = cancel.cancelled() => ToolOutput::cancelled(),
    }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use musher_permission::Access;
    use rustix::fs::{CWD, Mode, mkfifoat};
    use serde_json::json;

    use super::testing::TestWorkspace;
    use crate::{Category, ListedFrom, Registry, SearchProvider};

    /// How a sentence begins that says what to do.
    const IMPERATIVES: &[&str] = &[
        "Add", "Call", "Check", "Choose", "Continue", "Copy", "Correct", "Describe", "Give", "Remove",
        "Start", "Tell", "Try", "Use",
    ];

    #[tokio::test]
    async fn every_error_ends_with_what_to_do() {
        let mut scene = TestWorkspace::with(&[("a.txt", "one\none\n"), ("sub/b.txt", "")]);
        scene.context.access = Access::Workspace;
        scene.write("bytes.txt", b"caf\xe9");
        mkfifoat(CWD, scene.path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let path = |name: &str| scene.path(name).to_string_lossy().into_owned();
        let patch = |text: &str| json!({"input": format!("*** Begin Patch\n{text}\n*** End Patch")});
        let calls = [
            ("Create", json!({"file_path": "", "content": ""})),
            ("Create", json!({"file_path": path("sub"), "content": ""})),
            ("Create", json!({"file_path": path("pipe"), "content": ""})),
            ("Create", json!({"file_path": path("a.txt/b"), "content": ""})),
            ("Create", json!({"file_path": "/etc/x", "content": ""})),
            ("Create", json!({})),
            ("Read", json!({"file_path": path("missing")})),
            ("Read", json!({"file_path": path("sub")})),
            ("Read", json!({"file_path": path("pipe")})),
            ("Read", json!({"file_path": "a.txt"})),
            ("Read", json!({"file_path": "/etc/hosts"})),
            ("LS", json!({"directory_path": path("missing")})),
            ("LS", json!({"directory_path": "/etc"})),
            ("Glob", json!({"patterns": ["*"], "folder": path("missing")})),
            ("Glob", json!({"patterns": ["*"], "folder": "/etc"})),
            ("Glob", json!({"patterns": ["a{"]})),
            ("Grep", json!({"pattern": "("})),
            ("Grep", json!({"pattern": "x", "path": path("missing")})),
            ("Grep", json!({"pattern": "x", "path": path("pipe")})),
            ("Grep", json!({"pattern": "x", "path": "/etc"})),
            ("Edit", json!({"file_path": path("missing"), "old_str": "a", "new_str": "b"})),
            ("Edit", json!({"file_path": path("bytes.txt"), "old_str": "a", "new_str": "b"})),
            ("Edit", json!({"file_path": path("a.txt"), "old_str": "one", "new_str": "two"})),
            ("Edit", json!({"file_path": path("a.txt"), "old_str": "one", "new_str": "one"})),
            ("Edit", json!({"file_path": path("a.txt"), "old_str": "", "new_str": "one"})),
            ("Edit", json!({"file_path": path("sub/b.txt"), "old_str": "one", "new_str": "two"})),
            ("Edit", json!({"file_path": "/etc/hosts", "old_str": "one", "new_str": "two"})),
            ("ApplyPatch", json!({"input": "nothing"})),
            ("ApplyPatch", patch("*** Add File: a.txt\n+x")),
            ("ApplyPatch", patch("*** Delete File: missing")),
            ("ApplyPatch", patch("*** Update File: missing\n@@\n-x\n+y")),
            ("ApplyPatch", patch("*** Update File: sub/b.txt\n@@\n-x\n+y")),
            ("ApplyPatch", patch("*** Update File: bytes.txt\n@@\n-x\n+y")),
            ("ApplyPatch", patch("*** Update File: a.txt\n*** Move to: sub/b.txt\n@@\n-one\n+y")),
            ("ApplyPatch", patch("*** Delete File: a.txt\n*** Update File: a.txt\n@@\n-one\n+y")),
            ("FetchUrl", json!({"url": "http://"})),
            ("FetchUrl", json!({"url": "http://user:password@127.0.0.1/"})),
            ("FetchUrl", json!({"url": "http://127.0.0.1:1/"})),
            ("WebSearch", json!({"query": ""})),
            ("WebSearch", json!({"query": "x"})),
            ("TaskInput", json!({"task_id": "none", "input": "x"})),
            ("AskUser", json!({"questionnaire": ""})),
            ("AskUser", json!({"questionnaire": "1. [question] Which?\n[topic] T\n[option] A\n[option] B"})),
            ("Task", json!({"subagent_type": "worker"})),
            ("Execute", json!({})),
        ];
        let registry = Registry::builtin().with_web_search(SearchProvider::searxng("http://127.0.0.1:1"));
        for (name, input) in calls {
            let tool = registry.get(name).unwrap();
            let output = scene.run(&**tool, input.clone()).await;
            let text = output.model_text();
            assert!(output.is_error, "{name} {input}: {text}");
            let last = text.trim_end().lines().last().unwrap().rsplit(". ").next().unwrap();
            let first_word = last.split(' ').next().unwrap();
            assert!(IMPERATIVES.contains(&first_word) && last.ends_with('.'), "{name} {input}: {text}");
        }
    }

    #[test]
    fn built_in_tools_have_described_closed_schemas_and_distinct_names() {
        let registry = Registry::builtin().with_web_search(SearchProvider::searxng("http://127.0.0.1"));
        let mut names = BTreeSet::new();
        for tool in registry.iter() {
            let info = tool.info();
            let schema = (info.schema)();
            assert_eq!(schema["additionalProperties"], false, "{}", info.name);
            for required in schema["required"].as_array().unwrap() {
                assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{}", info.name);
            }
            for (name, parameter) in schema["properties"].as_object().unwrap() {
                let description = parameter["description"].as_str().unwrap_or_default();
                assert!(description.len() > 10, "{}: `{name}` has no description", info.name);
            }
            assert!(info.description.len() > 40, "{}", info.name);
            assert!(names.insert(info.id) && names.insert(info.name), "{}", info.name);
            assert!(info.listed_from != ListedFrom::Off || info.category != Category::Edit, "{}", info.name);
        }
        assert_eq!(registry.iter().count(), 19);
    }
}
