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

    use crate::{Category, ListedFrom, Registry, SearchProvider};

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
