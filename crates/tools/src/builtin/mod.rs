//! The built-in tools, one folder each: `mod.rs` runs it, `spec.rs` describes it to the model, `tests.rs` tries it.

mod create;
mod edit;
mod execute;
mod fetch;
mod glob;
mod grep;
mod ls;
mod patch;
mod read;
mod todo;

use tokio_util::sync::CancellationToken;

use crate::{ToolInfo, ToolOutput};

pub use create::Create;
pub use edit::Edit;
pub use execute::{Execute, missing_risk};
pub use fetch::{AddressRule, FetchUrl};
pub use glob::Glob;
pub use grep::Grep;
pub use ls::Ls;
pub use patch::ApplyPatch;
pub use read::Read;
pub use todo::{Todo, TodoStatus, TodoWrite};

/// Runs what may block on a thread for such things. If it is cancelled, nobody waits for it any more.
async fn on_thread(
    cancel: CancellationToken,
    work: impl FnOnce(&CancellationToken) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    let token = cancel.child_token();
    // nobody waits for it either if this is let go of
    let _let_go = token.clone().drop_guard();
    let working = tokio::task::spawn_blocking(move || work(&token));
    tokio::select! {
        done = working => done.unwrap_or_else(|error| {
            let reason = format!("the tool failed (this is a bug): {error}");
            ToolOutput::error(&reason, &reason)
        }),
        () = cancel.cancelled() => ToolOutput::cancelled(),
    }
}

/// The row of a tool that is known to be in the catalogue; a test checks that it is.
const fn info(name: &str) -> &'static ToolInfo {
    static ROWS: [ToolInfo; crate::CATALOG.len()] = crate::CATALOG;
    let mut at = 0;
    while at < ROWS.len() {
        if is_same(ROWS[at].name, name) {
            return &ROWS[at];
        }
        at += 1;
    }
    &ROWS[0]
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use crate::{Registry, tool_info};

    #[test]
    fn every_tool_has_its_own_row_and_a_closed_schema() {
        for tool in Registry::builtin().iter() {
            let info = tool.info();
            assert_eq!(tool_info(info.name), Some(info));
            let schema = tool.schema();
            assert_eq!(schema["additionalProperties"], false, "{}", info.name);
            for required in schema["required"].as_array().unwrap() {
                assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{}", info.name);
            }
            assert!(tool.description().len() > 40, "{}", info.name);
        }
        assert_eq!(Registry::builtin().iter().count(), 10);
    }
}
