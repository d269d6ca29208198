//! The tokens a session and its subagents have used, and their cost. Pure.

use std::collections::BTreeMap;

use musher_model::Usage;
use serde_json::{Map, Value};

use crate::Event;
use crate::cost::{Cost, Ledger, Spending};
use crate::session::saved_settings;

pub(crate) use crate::cost::{difference, sum};

/// The token counts of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct UsageTotals {
    own: Usage,
    own_cost: Cost,
    last_call: Option<Usage>,
    /// By the session of each subagent, those of earlier processes too.
    subagents: BTreeMap<String, (Usage, Cost)>,
    /// What the session itself has used, by day and model.
    ledger: Ledger,
    /// The cost before the turn that runs.
    cost_before_turn: Cost,
    /// What calls of the turn that runs have used that ended before their answer was complete.
    unfinished_in_turn: Usage,
    /// Whether the last call is an estimate of the context as it is now, and not what a call has used.
    is_estimate: bool,
}

/// A call of a model: when and by which model tokens were used, and their cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Charge {
    pub(crate) day: String,
    pub(crate) model: String,
    pub(crate) usage: Usage,
    pub(crate) cost: Cost,
}

impl UsageTotals {
    /// Reads the counts in stored settings.
    pub(super) fn of_saved(settings: &Map<String, Value>) -> Self {
        let ledger = Ledger::of_settings(settings);
        Self {
            own: saved_settings::counts(settings, "tokenUsage").unwrap_or_default(),
            own_cost: ledger.total().cost,
            last_call: saved_settings::counts(settings, "lastCallTokenUsage"),
            subagents: saved_settings::subagent_counts(settings),
            ledger,
            cost_before_turn: Cost::default(),
            unfinished_in_turn: Usage::default(),
            is_estimate: false,
        }
    }

    /// Returns the counts of others, `theirs`, with what was added to `base` here.
    pub(super) fn rebased(&self, base: &Self, theirs: &Self) -> Self {
        let mut all = theirs.clone();
        all.own = sum(all.own, difference(self.own, base.own));
        all.own_cost = all.own_cost.plus(self.own_cost.since(base.own_cost));
        all.ledger.add_changes(&self.ledger, &base.ledger);
        for (id, (usage, cost)) in &self.subagents {
            let before = base.subagents.get(id).copied().unwrap_or_default();
            if (*usage, *cost) != before {
                all.add_subagent(id, difference(*usage, before.0), cost.since(before.1));
            }
        }
        all.cost_before_turn = self.cost_before_turn;
        all.unfinished_in_turn = self.unfinished_in_turn;
        all
    }

    /// Adds a call of the model in a turn.
    pub(super) fn add_call(&mut self, charge: Charge) {
        self.last_call = Some(charge.usage);
        self.is_estimate = false;
        self.add(charge);
    }

    /// Adds a call that is not part of the conversation, such as one for a summary or a title.
    pub(super) fn add(&mut self, charge: Charge) {
        let Charge { day, model, usage, cost } = charge;
        self.own = sum(self.own, usage);
        self.own_cost = self.own_cost.plus(cost);
        self.ledger.add(day, model, Spending { calls: 1, usage, cost, estimated_tokens: 0 });
    }

    /// Adds calls that ended before their answer was complete.
    pub(super) fn add_unfinished(&mut self, day: String, model: String, spending: Spending) {
        self.own = sum(self.own, spending.usage);
        self.own_cost = self.own_cost.plus(spending.cost);
        self.unfinished_in_turn = sum(self.unfinished_in_turn, spending.usage);
        self.ledger.add(day, model, spending);
    }

    /// Adds what a subagent has used.
    pub(super) fn add_subagent(&mut self, id: &str, usage: Usage, cost: Cost) {
        let total = self.subagents.entry(id.to_owned()).or_default();
        *total = (sum(total.0, usage), total.1.plus(cost));
    }

    /// Sets the size of the context, until the next call of the model replaces the estimate.
    pub(super) fn estimate_context(&mut self, tokens: u64) {
        self.last_call = Some(Usage { input: tokens, ..Usage::default() });
        self.is_estimate = true;
    }

    /// Begins a turn: its cost counts from here.
    pub(super) fn begin_turn(&mut self) {
        self.cost_before_turn = self.inclusive_cost();
        self.unfinished_in_turn = Usage::default();
    }

    /// Returns what the session itself has used.
    pub(crate) fn own(&self) -> Usage {
        self.own
    }

    /// Returns what the session itself has cost.
    pub(crate) fn own_cost(&self) -> Cost {
        self.own_cost
    }

    /// Returns what all subagents of the session have used.
    pub(crate) fn of_subagents(&self) -> Usage {
        self.subagents.values().map(|(usage, _)| *usage).fold(Usage::default(), sum)
    }

    /// Returns what each subagent has used and cost, by its session.
    pub(crate) fn by_subagent(&self) -> &BTreeMap<String, (Usage, Cost)> {
        &self.subagents
    }

    /// Returns what the session itself has used, by day and model.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns what the session and its subagents have used.
    pub(crate) fn inclusive(&self) -> Usage {
        sum(self.own, self.of_subagents())
    }

    /// Returns what the turn has cost so far, with its subagents.
    pub(crate) fn cost_of_turn(&self) -> Cost {
        self.inclusive_cost().since(self.cost_before_turn)
    }

    fn inclusive_cost(&self) -> Cost {
        self.subagents.values().map(|(_, cost)| *cost).fold(self.own_cost, Cost::plus)
    }

    /// Returns what the last call of the model has used.
    pub(crate) fn last_call(&self) -> Option<Usage> {
        self.last_call
    }

    /// Returns the tokens the last call read and wrote: the least the next call will read.
    pub(crate) fn context_size(&self) -> u64 {
        self.last_call.map_or(0, |usage| usage.input + usage.cache_read + usage.cache_write + usage.output)
    }

    /// Returns whether [`context_size`](Self::context_size) is an estimate of all that the next call will read.
    pub(crate) fn is_estimate(&self) -> bool {
        self.is_estimate
    }

    /// Returns what calls of the turn have used that ended before their answer was complete.
    pub(crate) fn unfinished_in_turn(&self) -> Usage {
        self.unfinished_in_turn
    }

    /// Returns the event that announces the counts.
    pub(crate) fn event(&self) -> Event {
        Event::Usage {
            total: self.own,
            inclusive: self.inclusive(),
            last_call: self.last_call,
            cost: self.own_cost,
        }
    }
}

#[cfg(test)]
mod tests {
    use musher_model::{Price, Rates};

    use super::*;

    fn input(input: u64) -> Usage {
        Usage { input, ..Usage::default() }
    }

    /// Returns a call whose tokens cost a dollar each.
    fn charge(tokens: u64) -> Charge {
        let price = Price::flat(Rates { input: 1e6, ..Rates::default() });
        let usage = input(tokens);
        let cost = Cost::of(&usage, Some(&price));
        Charge { day: "2026-11-19".to_owned(), model: "m".to_owned(), usage, cost }
    }

    fn cost(tokens: u64) -> Cost {
        charge(tokens).cost
    }

    #[test]
    fn inclusive_usage_counts_each_subagent_once() {
        let mut totals = UsageTotals::default();
        totals.add_call(charge(100));
        totals.add_subagent("a", input(10), cost(10));
        totals.add_subagent("a", input(5), cost(5));
        totals.begin_turn();
        totals.add_subagent("b", input(1), cost(1));
        assert_eq!(totals.own(), input(100));
        assert_eq!(totals.of_subagents(), input(16));
        assert_eq!(totals.inclusive(), input(116));
        assert_eq!(totals.by_subagent()["a"], (input(15), cost(15)));
        assert_eq!(totals.cost_of_turn(), cost(1));
        assert_eq!(totals.ledger().total().usage, input(100));
    }

    #[test]
    fn counts_of_several_processes_are_added() {
        let mut base = UsageTotals::default();
        base.add(charge(100));
        base.add_subagent("a", input(10), cost(10));
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        ours.add(charge(5));
        ours.add_subagent("a", input(1), cost(1));
        theirs.add_call(charge(50));
        theirs.add_subagent("b", input(2), cost(2));
        let all = ours.rebased(&base, &theirs);
        assert_eq!((all.own().input, all.of_subagents().input), (155, 13));
        assert_eq!((all.own_cost(), all.ledger().total().calls), (cost(155), 3));
        assert_eq!(all.last_call(), theirs.last_call());
    }

    #[test]
    fn context_size_follows_the_last_call_and_ignores_side_calls() {
        let mut totals = UsageTotals::default();
        assert_eq!(totals.context_size(), 0);
        let usage =
            Usage { input: 10, output: 5, cache_read: 3, cache_write: 2, thinking: 4, ..Usage::default() };
        totals.add_call(Charge { usage, ..charge(0) });
        totals.add(charge(1000));
        assert_eq!(totals.context_size(), 20);
        totals.estimate_context(7);
        assert_eq!((totals.context_size(), totals.own().input), (7, 1010));
    }
}
