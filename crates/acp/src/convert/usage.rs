//! Token counts: of a turn, for its response, and of the model's context, for the editor's display.

use agent_client_protocol::v1::schema::{SessionUpdate, Usage, UsageUpdate};
use musher::{SessionUsage, TokenUsage};

/// Returns the tokens that a turn used.
pub(crate) fn turn_usage(used: &TokenUsage) -> Usage {
    // thoughts are part of the output already
    Usage::new(used.total(), used.input_tokens, used.output_tokens)
        .thought_tokens(used.thinking_tokens)
        .cached_read_tokens(used.cache_read_tokens)
        .cached_write_tokens(used.cache_creation_tokens)
}

/// The usage of the model's context window, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct ContextUsage {
    size: Option<u64>,
    /// The numbers that were last sent.
    sent: Option<(u64, u64)>,
}

impl ContextUsage {
    /// Takes the agent's count of the whole context.
    pub(crate) fn counted(&mut self, used: u64, size: u64) -> Option<SessionUpdate> {
        self.size = Some(size);
        let has_changed = self.sent.replace((used, size)) != Some((used, size));
        has_changed.then(|| SessionUpdate::UsageUpdate(UsageUpdate::new(used, size)))
    }

    /// Takes the tokens of one model call, which are the context now. The totals of a session say nothing about that.
    pub(crate) fn called(&mut self, usage: &SessionUsage) -> Option<SessionUpdate> {
        self.counted(usage.last_call?.total(), self.size?)
    }
}

#[cfg(test)]
mod tests {
    use musher::wire;
    use serde_json::json;

    use super::*;

    #[test]
    fn turn_usage_includes_cached_tokens() {
        let used = json!({"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 100, "thinkingTokens": 2});
        let used = serde_json::from_value::<wire::TokenUsage>(used).unwrap();
        let told = serde_json::to_value(turn_usage(&(&used).into())).unwrap();
        let expected = json!({
            "totalTokens": 115, "inputTokens": 10, "outputTokens": 5, "thoughtTokens": 2, "cachedReadTokens": 100,
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn usage_is_updated_with_every_call_once_the_size_is_known() {
        let call = |input: u64| {
            let last = json!({"inputTokens": input, "cacheReadTokens": 20, "outputTokens": 3});
            let total = json!({"inputTokens": 9000, "outputTokens": 9000});
            let changed = json!({"tokenUsage": total, "lastCallTokenUsage": last});
            SessionUsage::from(serde_json::from_value::<wire::SessionTokenUsageChanged>(changed).unwrap())
        };
        let mut usage = ContextUsage::default();
        assert_eq!(usage.called(&call(7)), None);
        assert!(usage.counted(30, 100).is_some());
        assert_eq!(usage.called(&call(7)), None, "an unchanged count is not sent again");
        let told = usage.called(&call(17)).map(|update| serde_json::to_value(update).unwrap());
        assert_eq!(told, Some(json!({"sessionUpdate": "usage_update", "used": 40, "size": 100})));
    }
}
