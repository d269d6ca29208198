//! Token counts: of a turn, for its answer, and of the model's context, for the editor's gauge.

use agent_client_protocol::v1::schema::{SessionUpdate, Usage, UsageUpdate};
use musher::wire::{Count, SessionTokenUsageChanged, TokenUsage};

/// What a turn used.
pub(crate) fn of_turn(used: &TokenUsage) -> Usage {
    let number = |count: &Option<Count>| count.as_ref().map(Count::get);
    let (input, output) = (used.input_tokens.get(), used.output_tokens.get());
    let (read, written) = (number(&used.cache_read_tokens), number(&used.cache_creation_tokens));
    let cached = read.unwrap_or_default() + written.unwrap_or_default();
    // thoughts are part of the output already
    Usage::new(input + output + cached, input, output)
        .thought_tokens(number(&used.thinking_tokens))
        .cached_read_tokens(read)
        .cached_write_tokens(written)
}

/// How full the model's context is, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    size: Option<u64>,
    told: Option<(u64, u64)>,
}

impl Gauge {
    /// The agent counted.
    pub(crate) fn counted(&mut self, used: u64, size: u64) -> Option<SessionUpdate> {
        self.size = Some(size);
        let is_news = self.told.replace((used, size)) != Some((used, size));
        is_news.then(|| SessionUpdate::UsageUpdate(UsageUpdate::new(used, size)))
    }

    /// The model was asked: what that call took is in the context now. The totals of a session say nothing about that.
    pub(crate) fn called(&mut self, usage: &SessionTokenUsageChanged) -> Option<SessionUpdate> {
        let last = usage.last_call_token_usage.as_ref()?;
        let counts = [&last.input_tokens, &last.cache_read_tokens, &last.output_tokens];
        let used = counts.into_iter().flatten().map(Count::get).sum();
        self.counted(used, self.size?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_turn_is_summed_up_with_what_the_cache_gave() {
        let used = json!({"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 100, "thinkingTokens": 2});
        let told = serde_json::to_value(of_turn(&serde_json::from_value(used).unwrap())).unwrap();
        let expected = json!({
            "totalTokens": 115, "inputTokens": 10, "outputTokens": 5, "thoughtTokens": 2, "cachedReadTokens": 100,
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn the_gauge_moves_with_every_call_once_the_size_is_known() {
        let call = |input: u64| {
            let last = json!({"inputTokens": input, "cacheReadTokens": 20, "outputTokens": 3});
            let total = json!({"inputTokens": 9000, "outputTokens": 9000});
            let changed = json!({"tokenUsage": total, "lastCallTokenUsage": last});
            serde_json::from_value::<SessionTokenUsageChanged>(changed).unwrap()
        };
        let mut gauge = Gauge::default();
        assert_eq!(gauge.called(&call(7)), None);
        assert!(gauge.counted(30, 100).is_some());
        assert_eq!(gauge.called(&call(7)), None, "the same again is no news");
        let told = gauge.called(&call(17)).map(|update| serde_json::to_value(update).unwrap());
        assert_eq!(told, Some(json!({"sessionUpdate": "usage_update", "used": 40, "size": 100})));
    }
}
