//! One limit for the results of all calls of a message: many long results at once would fill the context.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use musher_tools::ToolOutput;
use musher_tools::limits::MAX_RESULTS_CHARS;

/// What the results of one message may still have, in characters. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct ResultLimit {
    // locked for a few instructions only, never across an await
    left: Arc<Mutex<usize>>,
    scratch: PathBuf,
}

/// What each result has even if the others have used up everything.
const MIN_CHARS: usize = 500;
/// The smallest limit, for models with a small context.
const MIN_TOTAL_CHARS: usize = 20_000;

impl ResultLimit {
    /// Returns the limit for a message to a model that reads this many tokens: a quarter of them, at about three characters each.
    pub(super) fn new(input_tokens: u64, scratch: PathBuf) -> Self {
        let chars = usize::try_from(input_tokens / 4 * 3).unwrap_or(usize::MAX);
        let left = Arc::new(Mutex::new(chars.clamp(MIN_TOTAL_CHARS, MAX_RESULTS_CHARS)));
        Self { left, scratch }
    }

    /// Shortens a result to what is left, and counts it. All of it is saved to a file then.
    pub(super) async fn apply(&self, mut output: ToolOutput) -> ToolOutput {
        let wanted = output.model_chars();
        let allowed = {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            let allowed = wanted.min((*left).max(MIN_CHARS));
            *left = left.saturating_sub(allowed);
            allowed
        };
        if wanted <= allowed {
            return output;
        }
        let scratch = self.scratch.clone();
        let shorten = move || {
            output.shorten(allowed, &scratch);
            output
        };
        tokio::task::spawn_blocking(shorten).await.unwrap_or_else(|error| {
            let text = format!("The result was lost: {error}. Call the tool again.");
            ToolOutput::error(&text, &text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn results_of_one_message_share_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let limit = ResultLimit::new(1_000_000, folder.path().to_owned());
        let long = || ToolOutput::text("x".repeat(120_000));
        assert_eq!(limit.apply(long()).await, long());
        let second = limit.clone().apply(long()).await.model_text();
        assert!(second.starts_with(&"x".repeat(80_000)) && second.len() < 80_600, "{}", second.len());
        assert!(
            second.contains("[Cut after 80000 of 120000 characters") && second.contains("use Grep or Read")
        );
        assert!(limit.apply(long()).await.model_text().contains("[Cut after 500 of"));
        assert_eq!(limit.apply(ToolOutput::text("short")).await.model_text(), "short");
    }

    #[tokio::test]
    async fn limit_follows_the_size_of_the_context() {
        let folder = tempfile::tempdir().unwrap();
        let limit = ResultLimit::new(32_000, folder.path().to_owned());
        let output = limit.apply(ToolOutput::text("x".repeat(60_000))).await;
        assert!(
            output.model_text().contains("[Cut after 24000 of 60000 characters"),
            "{}",
            output.model_text().len()
        );
    }
}
