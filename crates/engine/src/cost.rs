//! What model calls cost, and the ledger of a session: tokens and money by day and model. Pure.
//!
//! Amounts are integers, so that counts of several processes can be added and subtracted without rounding.

use std::collections::BTreeMap;

use musher_model::{Price, Usage};
use serde_json::{Map, Value};

/// The field of the stored settings that holds the ledger.
const LEDGER: &str = "usageByDay";
const COST: &str = "costUsd";
const UNPRICED: &str = "unpricedTokens";
const ESTIMATED: &str = "estimatedTokens";
const NANOS_PER_DOLLAR: f64 = 1e9;

/// What tokens cost. Tokens of models without a known price are counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// In billionths of a US dollar.
    nanos: u64,
    unpriced_tokens: u64,
}

impl Cost {
    /// Returns the cost of one call at this price.
    pub fn of(usage: &Usage, price: Option<&Price>) -> Self {
        match price {
            Some(price) => Self { nanos: nanos(price.cost(usage)), unpriced_tokens: 0 },
            None => Self { nanos: 0, unpriced_tokens: all_tokens(usage) },
        }
    }

    /// Returns the cost in US dollars, or `None` if no price is known for any of the tokens.
    pub fn usd(self) -> Option<f64> {
        (self.nanos > 0 || self.unpriced_tokens == 0).then(|| dollars(self.nanos))
    }

    /// Returns the number of tokens whose price is unknown, and which [`usd`](Self::usd) does not include.
    pub fn unpriced_tokens(self) -> u64 {
        self.unpriced_tokens
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
        }
    }

    /// Returns what was added since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_sub(before.nanos),
            unpriced_tokens: self.unpriced_tokens.saturating_sub(before.unpriced_tokens),
        }
    }

    /// Writes the cost into stored counts. Writes nothing if nothing was spent, so that other programs see their own form.
    pub(crate) fn store(self, counts: &mut Map<String, Value>) {
        if self.nanos > 0 {
            counts.insert(COST.to_owned(), dollars(self.nanos).into());
        }
        if self.unpriced_tokens > 0 {
            counts.insert(UNPRICED.to_owned(), self.unpriced_tokens.into());
        }
    }

    /// Reads the cost from stored counts.
    pub(crate) fn stored(counts: &Value) -> Self {
        Self {
            nanos: counts.get(COST).and_then(Value::as_f64).map_or(0, nanos),
            unpriced_tokens: counts.get(UNPRICED).and_then(Value::as_u64).unwrap_or(0),
        }
    }
}

/// Tokens, calls and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// The number of model calls.
    pub calls: u64,
    /// The tokens by kind.
    pub usage: Usage,
    /// Their cost.
    pub cost: Cost,
    /// The number of tokens that are an estimate: those of calls that ended before the vendor had counted them.
    pub estimated_tokens: u64,
}

impl Spending {
    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            usage: sum(self.usage, other.usage),
            cost: self.cost.plus(other.cost),
            estimated_tokens: self.estimated_tokens.saturating_add(other.estimated_tokens),
        }
    }

    fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            usage: difference(self.usage, before.usage),
            cost: self.cost.since(before.cost),
            estimated_tokens: self.estimated_tokens.saturating_sub(before.estimated_tokens),
        }
    }
}

/// The token counts of subagents in stored settings, by their sessions.
pub(crate) const SUBAGENTS: &str = "childInclusiveTokenUsageBySessionId";

impl Spending {
    /// Returns what a session and its subagents have spent, from its stored settings.
    pub fn of_session(settings: &Map<String, Value>) -> Self {
        let own = Ledger::of_session(settings, "").total();
        let subagents = settings.get(SUBAGENTS).and_then(Value::as_object).into_iter().flatten();
        let subagents = subagents.map(|(_, counts)| {
            let usage = usage_of(counts);
            let known = Cost::stored(counts);
            let cost = if known == Cost::default() { Cost::of(&usage, None) } else { known };
            Self { calls: 0, usage, cost, estimated_tokens: 0 }
        });
        subagents.fold(own, Self::plus)
    }
}

/// What a session has spent, by day (UTC, `2026-11-19`) and model. Without its subagents, which are sessions of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: BTreeMap<(String, String), Spending>,
}

impl Ledger {
    /// Reads the ledger in the stored settings of a session. Entries that cannot be read are left out.
    ///
    /// ```
    /// use musher_engine::Ledger;
    ///
    /// let settings = serde_json::json!({"usageByDay": [
    ///     {"day": "2026-11-19", "model": "some/model", "calls": 2, "inputTokens": 100, "costUsd": 0.25},
    /// ]});
    /// let ledger = Ledger::of_settings(settings.as_object().unwrap());
    /// assert_eq!(ledger.total().cost.usd(), Some(0.25));
    /// ```
    pub fn of_settings(settings: &Map<String, Value>) -> Self {
        let mut ledger = Self::default();
        for entry in settings.get(LEDGER).and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
            let (Some(day), Some(model)) = (text("day"), text("model")) else { continue };
            let spending = Spending {
                calls: entry.get("calls").and_then(Value::as_u64).unwrap_or(0),
                usage: usage_of(entry),
                cost: Cost::stored(entry),
                estimated_tokens: entry.get(ESTIMATED).and_then(Value::as_u64).unwrap_or(0),
            };
            ledger.add(day, model, spending);
        }
        ledger
    }

    /// Reads the ledger of a session. Tokens that are not in it, such as those of other programs, count for `last_day`, without a price.
    pub fn of_session(settings: &Map<String, Value>, last_day: &str) -> Self {
        let mut ledger = Self::of_settings(settings);
        let all = settings.get("tokenUsage").map(usage_of).unwrap_or_default();
        let usage = difference(all, ledger.total().usage);
        if all_tokens(&usage) > 0 {
            let model = settings.get("model").and_then(Value::as_str).unwrap_or("unknown");
            let spending = Spending { usage, cost: Cost::of(&usage, None), ..Spending::default() };
            ledger.add(last_day.to_owned(), model.to_owned(), spending);
        }
        ledger
    }

    /// Returns the entries: day, model and what was spent.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str, Spending)> {
        self.entries.iter().map(|((day, model), spending)| (day.as_str(), model.as_str(), *spending))
    }

    /// Returns the sum of all entries.
    pub fn total(&self) -> Spending {
        self.entries.values().copied().fold(Spending::default(), Spending::plus)
    }

    /// Adds spending to a day and a model.
    pub fn add(&mut self, day: String, model: String, spending: Spending) {
        let entry = self.entries.entry((day, model)).or_default();
        *entry = entry.plus(spending);
    }

    /// Adds what `ours` has more than `base`.
    pub(crate) fn add_changes(&mut self, ours: &Self, base: &Self) {
        for (key, spending) in &ours.entries {
            let change = spending.since(base.entries.get(key).copied().unwrap_or_default());
            if change != Spending::default() {
                self.add(key.0.clone(), key.1.clone(), change);
            }
        }
    }

    /// Returns the ledger as it is stored, by the field it is stored in. Null if nothing was spent.
    pub(crate) fn stored(&self) -> (&'static str, Value) {
        let entries: Vec<Value> =
            self.entries.iter().map(|((day, model), it)| entry(day, model, it)).collect();
        (LEDGER, if entries.is_empty() { Value::Null } else { entries.into() })
    }
}

fn entry(day: &str, model: &str, spending: &Spending) -> Value {
    let mut entry = usage_value(spending.usage);
    entry.insert("day".to_owned(), day.into());
    entry.insert("model".to_owned(), model.into());
    entry.insert("calls".to_owned(), spending.calls.into());
    spending.cost.store(&mut entry);
    if spending.estimated_tokens > 0 {
        entry.insert(ESTIMATED.to_owned(), spending.estimated_tokens.into());
    }
    entry.into()
}

/// Returns today's date in UTC: `2026-11-19`.
pub(crate) fn today() -> String {
    jiff::Timestamp::now().to_string().chars().take(10).collect()
}

/// Returns stored token counts, with droid's names.
pub(crate) fn usage_value(usage: Usage) -> Map<String, Value> {
    let counts = [
        ("inputTokens", usage.input),
        ("outputTokens", usage.output),
        ("cacheCreationTokens", usage.cache_write),
        ("cacheReadTokens", usage.cache_read),
        ("thinkingTokens", usage.thinking),
    ];
    counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect()
}

/// Reads stored token counts.
pub(crate) fn usage_of(counts: &Value) -> Usage {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheCreationTokens"),
        thinking: count("thinkingTokens"),
        // stored as a part of the cost only
        cache_write_long: 0,
    }
}

/// Returns all tokens of a call, cached or not. Thinking is part of the output.
pub(crate) fn all_tokens(usage: &Usage) -> u64 {
    [usage.input, usage.output, usage.cache_read, usage.cache_write].into_iter().fold(0, u64::saturating_add)
}

/// Returns the sum of two counts.
pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
        cache_write_long: one.cache_write_long.saturating_add(other.cache_write_long),
        thinking: one.thinking.saturating_add(other.thinking),
    }
}

/// Returns what was added to a count.
pub(crate) fn difference(now: Usage, before: Usage) -> Usage {
    Usage {
        input: now.input.saturating_sub(before.input),
        output: now.output.saturating_sub(before.output),
        cache_read: now.cache_read.saturating_sub(before.cache_read),
        cache_write: now.cache_write.saturating_sub(before.cache_write),
        cache_write_long: now.cache_write_long.saturating_sub(before.cache_write_long),
        thinking: now.thinking.saturating_sub(before.thinking),
    }
}

/// Returns an amount of US dollars in billionths. A negative amount counts as none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from float saturates, which is intended"
)]
pub(crate) fn nanos(dollars: f64) -> u64 {
    (dollars * NANOS_PER_DOLLAR).round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
pub(crate) fn dollars(nanos: u64) -> f64 {
    nanos as f64 / NANOS_PER_DOLLAR
}

#[cfg(test)]
mod tests {
    use musher_model::Rates;
    use serde_json::json;

    use super::*;

    fn spending(input: u64, price: Option<&Price>) -> Spending {
        let usage = Usage { input, ..Usage::default() };
        Spending { calls: 1, usage, cost: Cost::of(&usage, price), estimated_tokens: 0 }
    }

    #[test]
    fn tokens_without_a_price_are_counted_apart() {
        let price = Price::flat(Rates { input: 2.0, ..Rates::default() });
        let known = spending(1_000_000, Some(&price)).cost;
        let unknown = spending(7, None).cost;
        assert_eq!((known.usd(), known.unpriced_tokens()), (Some(2.0), 0));
        assert_eq!((unknown.usd(), unknown.unpriced_tokens()), (None, 7));
        let both = known.plus(unknown);
        assert_eq!((both.usd(), both.unpriced_tokens()), (Some(2.0), 7));
        assert_eq!(both.since(known), unknown);
        assert_eq!(Cost::default().usd(), Some(0.0));
    }

    #[test]
    fn ledger_survives_storage_and_damaged_entries_are_left_out() {
        let price = Price::flat(Rates { input: 0.1, output: 3.3, ..Rates::default() });
        let mut ledger = Ledger::default();
        ledger.add("2026-11-19".to_owned(), "a/b".to_owned(), spending(123, Some(&price)));
        ledger.add("2026-11-19".to_owned(), "a/b".to_owned(), spending(4, Some(&price)));
        let estimated = Spending { estimated_tokens: 5, ..spending(5, None) };
        ledger.add("2026-11-20".to_owned(), "c".to_owned(), estimated);
        let (field, mut stored) = ledger.stored();
        stored.as_array_mut().unwrap().push(json!({"day": 7}));
        let settings = json!({ field: stored });
        assert_eq!(Ledger::of_settings(settings.as_object().unwrap()), ledger);
        assert_eq!((ledger.total().calls, ledger.total().usage.input), (3, 132));
        assert_eq!(ledger.total().estimated_tokens, 5);
        assert_eq!(Ledger::default().stored().1, Value::Null);
    }

    #[test]
    fn changes_of_two_processes_are_added() {
        let entry = |ledger: &mut Ledger, input| {
            ledger.add("d".to_owned(), "m".to_owned(), spending(input, None));
        };
        let mut base = Ledger::default();
        entry(&mut base, 100);
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        entry(&mut ours, 10);
        entry(&mut theirs, 1);
        theirs.add_changes(&ours, &base);
        assert_eq!((theirs.total().calls, theirs.total().usage.input), (3, 111));
    }

    #[test]
    fn tokens_outside_of_the_ledger_have_no_price() {
        let settings = json!({
            "model": "m",
            "tokenUsage": {"inputTokens": 150, "outputTokens": 1},
            "usageByDay": [{"day": "d", "model": "m", "calls": 1, "inputTokens": 100, "costUsd": 0.5}],
            "childInclusiveTokenUsageBySessionId": {"a": {"inputTokens": 7, "costUsd": 0.25}, "b": {"inputTokens": 3}},
        });
        let settings = settings.as_object().unwrap();
        let ledger = Ledger::of_session(settings, "e");
        let days: Vec<_> = ledger.entries().map(|(day, _, spending)| (day, spending.usage.input)).collect();
        assert_eq!(days, [("d", 100), ("e", 50)]);
        let all = Spending::of_session(settings);
        assert_eq!((all.usage.input, all.cost.usd(), all.cost.unpriced_tokens()), (160, Some(0.75), 54));
    }

    #[test]
    fn today_is_a_date() {
        let today = today();
        assert_eq!((today.len(), today.matches('-').count()), (10, 2), "{today}");
    }
}
