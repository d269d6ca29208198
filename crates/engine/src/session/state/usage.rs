//! The tokens a session and its subagents have used. Pure.

use std::collections::BTreeMap;

use musher_model::Usage;

use crate::Event;

/// The token counts of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct UsageTotals {
    own: Usage,
    last_call: Option<Usage>,
    /// By the session of each subagent, those of earlier processes too.
    subagents: BTreeMap<String, Usage>,
}

impl UsageTotals {
    /// Restores stored counts.
    pub(crate) fn stored(own: Usage, last_call: Option<Usage>, subagents: BTreeMap<String, Usage>) -> Self {
        Self { own, last_call, subagents }
    }

    /// Adds a call of the model in a turn.
    pub(super) fn add_call(&mut self, usage: Usage) {
        self.add(usage);
        self.last_call = Some(usage);
    }

    /// Adds a call that is not part of the conversation, such as one for a summary or a title.
    pub(super) fn add(&mut self, usage: Usage) {
        self.own = sum(self.own, usage);
    }

    /// Adds what a subagent has used.
    pub(super) fn add_subagent(&mut self, id: &str, usage: Usage) {
        let total = self.subagents.entry(id.to_owned()).or_default();
        *total = sum(*total, usage);
    }

    /// Sets the size of the context, until the next call of the model replaces the estimate.
    pub(super) fn estimate_context(&mut self, tokens: u64) {
        self.last_call = Some(Usage { input: tokens, ..Usage::default() });
    }

    /// What the session itself has used.
    pub(crate) fn own(&self) -> Usage {
        self.own
    }

    /// What all subagents of the session have used.
    pub(crate) fn of_subagents(&self) -> Usage {
        self.subagents.values().copied().fold(Usage::default(), sum)
    }

    /// What each subagent has used, by its session.
    pub(crate) fn by_subagent(&self) -> &BTreeMap<String, Usage> {
        &self.subagents
    }

    /// What the session and its subagents have used.
    pub(crate) fn inclusive(&self) -> Usage {
        sum(self.own, self.of_subagents())
    }

    /// What the last call of the model has used.
    pub(crate) fn last_call(&self) -> Option<Usage> {
        self.last_call
    }

    /// The tokens the last call read and wrote: the least the next call will read.
    pub(crate) fn context_size(&self) -> u64 {
        self.last_call.map_or(0, |usage| usage.input + usage.cache_read + usage.cache_write + usage.output)
    }

    /// The event that announces the counts.
    pub(crate) fn event(&self) -> Event {
        Event::Usage { total: self.own, inclusive: self.inclusive(), last_call: self.last_call }
    }
}

/// Returns the sum of two counts.
pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
        thinking: one.thinking.saturating_add(other.thinking),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    #[test]
    fn inclusive_usage_counts_each_subagent_once() {
        let mut totals = UsageTotals::default();
        totals.add_call(input(100));
        totals.add_subagent("a", input(10));
        totals.add_subagent("a", input(5));
        totals.add_subagent("b", input(1));
        assert_eq!(totals.own(), input(100));
        assert_eq!(totals.of_subagents(), input(16));
        assert_eq!(totals.inclusive(), input(116));
        assert_eq!(totals.by_subagent()["a"], input(15));
    }

    #[test]
    fn context_size_follows_the_last_call_and_ignores_side_calls() {
        let mut totals = UsageTotals::default();
        assert_eq!(totals.context_size(), 0);
        totals.add_call(Usage { input: 10, output: 5, cache_read: 3, cache_write: 2, thinking: 4 });
        totals.add(input(1000));
        assert_eq!(totals.context_size(), 20);
        totals.estimate_context(7);
        assert_eq!((totals.context_size(), totals.own().input), (7, 1010));
    }
}
