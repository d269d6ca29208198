//! Prices of models, and what a call costs. Pure.
//!
//! Vendors change their rates with the length of the prompt, so a price has steps; the whole call costs the rates of its step.

use serde::{Deserialize, Serialize};

use crate::Usage;

const TOKENS_PER_RATE: f64 = 1e6;

/// The price of a model.
///
/// ```
/// use musher_model::{Price, Usage};
///
/// let price: Price = serde_json::from_str(
///     r#"{"input": 2, "output": 10, "cacheRead": 0.2, "steps": [{"above": 272000, "input": 4, "output": 15}]}"#,
/// )?;
/// let usage = Usage { input: 100_000, output: 1_000, cache_read: 100_000, ..Usage::default() };
/// assert!((price.cost(&usage) - 0.23).abs() < 1e-9);
/// assert_eq!(price.next_step(200_000), Some(272_000));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Price {
    /// The rates up to the first step.
    #[serde(flatten)]
    pub rates: Rates,
    /// Other rates for longer prompts, sorted by length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PriceStep>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rates {
    /// Input that is not cached.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input read from the cache. Default: the rate of other input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Input written to the cache for the default time. Default: the rate of other input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Input written to the cache for an hour. Default: `cache_write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_long: Option<f64>,
}

/// The rates of prompts above a length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriceStep {
    /// The rates apply to calls with more input tokens than this, cached ones included.
    pub above: u64,
    /// The rates.
    #[serde(flatten)]
    pub rates: Rates,
}

impl Price {
    /// Creates a price without steps.
    pub fn flat(rates: Rates) -> Self {
        Self { rates, steps: Vec::new() }
    }

    /// Returns the rates of a call with this many input tokens, cached ones included.
    pub fn rates(&self, input_tokens: u64) -> Rates {
        let step = self.steps.iter().filter(|step| input_tokens > step.above).max_by_key(|step| step.above);
        step.map_or(self.rates, |step| step.rates)
    }

    /// Returns the number of input tokens above which a call of this length would cost other rates, if it grew.
    pub fn next_step(&self, input_tokens: u64) -> Option<u64> {
        self.steps.iter().map(|step| step.above).filter(|above| *above >= input_tokens).min()
    }

    /// Returns the cost of one call in US dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let rates =
            self.rates(usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write));
        let write = rates.cache_write.unwrap_or(rates.input);
        let long = usage.cache_write_long.min(usage.cache_write);
        let parts = [
            (usage.input, rates.input),
            (usage.output, rates.output),
            (usage.cache_read, rates.cache_read.unwrap_or(rates.input)),
            (usage.cache_write.saturating_sub(long), write),
            (long, rates.cache_write_long.unwrap_or(write)),
        ];
        parts.iter().map(|(tokens, rate)| tokens_as_f64(*tokens) * rate / TOKENS_PER_RATE).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn tokens_as_f64(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stepped() -> Price {
        let rates = Rates {
            input: 2.0,
            output: 10.0,
            cache_read: Some(0.1),
            cache_write: Some(2.5),
            cache_write_long: None,
        };
        let long = Rates {
            input: 4.0,
            output: 15.0,
            cache_read: Some(0.2),
            cache_write: Some(5.0),
            cache_write_long: None,
        };
        Price { rates, steps: vec![PriceStep { above: 272_000, rates: long }] }
    }

    #[track_caller]
    fn assert_cost(usage: Usage, dollars: f64) {
        let cost = stepped().cost(&usage);
        assert!((cost - dollars).abs() < 1e-9, "{cost} instead of {dollars}");
    }

    #[test]
    fn call_costs_the_rates_of_its_kinds_of_tokens() {
        let usage = Usage {
            input: 10_000,
            output: 2_000,
            cache_read: 100_000,
            cache_write: 4_000,
            ..Usage::default()
        };
        assert_cost(usage, 0.02 + 0.02 + 0.01 + 0.01);
        assert_cost(Usage { thinking: 1_000, ..usage }, 0.06);
    }

    #[test]
    fn input_written_to_the_cache_for_an_hour_has_its_own_rate() {
        let mut price = stepped();
        price.rates.cache_write_long = Some(4.0);
        let usage = Usage { cache_write: 100_000, cache_write_long: 40_000, ..Usage::default() };
        assert!((price.cost(&usage) - (0.15 + 0.16)).abs() < 1e-9);
        assert_cost(usage, 0.25);
    }

    #[test]
    fn call_above_a_step_costs_the_rates_of_the_step_as_a_whole() {
        let below = Usage { input: 1_000, cache_read: 271_000, ..Usage::default() };
        assert_cost(below, 0.002 + 0.0271);
        let above = Usage { input: 1_001, cache_read: 271_000, output: 1_000, ..Usage::default() };
        assert_cost(above, 0.004_004 + 0.0542 + 0.015);
    }

    #[test]
    fn missing_cache_rates_count_as_input() {
        let price = Price::flat(Rates { input: 1.0, output: 2.0, ..Rates::default() });
        let usage = Usage { cache_read: 500_000, cache_write: 500_000, ..Usage::default() };
        assert!((price.cost(&usage) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn next_step_is_the_first_one_not_yet_passed() {
        assert_eq!(stepped().next_step(0), Some(272_000));
        assert_eq!(stepped().next_step(272_000), Some(272_000));
        assert_eq!(stepped().next_step(272_001), None);
    }
}
