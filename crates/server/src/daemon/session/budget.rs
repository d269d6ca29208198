//! Budgets: what a session, and all sessions on one day, may spend. For every agent, from what it reports.
//!
//! A turn does not begin without a rest of the budget. A turn that exceeds it is interrupted after the model call that did: what was
//! spent is on disk, so neither a new agent nor a new daemon begins with nothing.

use musher_engine::store::shared::Spent;
use musher_wire::{Extra, Json, RpcError};
use serde_json::{Value, json};

use super::actor::{Actor, AgentCall, Waiting};
use crate::daemon::error;

/// What is known about the spending of a session.
#[derive(Debug, Default)]
pub(super) struct Spending {
    /// The total tokens that the agent has reported last.
    tokens: Option<u64>,
    /// The total money in billionths of a US dollar that the agent has reported last.
    nanos: Option<u64>,
    /// What was counted of the running turn.
    counted: Spent,
    /// Whether the turn was interrupted because of the budget.
    is_interrupted: bool,
}

impl Actor {
    /// Returns why no turn may run, if that is so.
    pub(super) fn over_budget(&self) -> Option<RpcError> {
        let limits = self.hub.options.budget;
        if limits.is_unlimited() {
            return None;
        }
        let (session, day) = match self.hub.options.shared.spent(&self.id, &today()) {
            Ok(spent) => spent,
            // a limit that cannot be checked is not kept
            Err(failure) => return Some(error::internal(format!("cannot read what was spent: {failure}"))),
        };
        let money = |nanos: u64| format!("${}.{:04}", nanos / 1_000_000_000, nanos % 1_000_000_000 / 100_000);
        let checks = [
            (session.tokens, limits.session.tokens, "session", false),
            (session.nanos, limits.session.nanos, "session", true),
            (day.tokens, limits.day.tokens, "day", false),
            (day.nanos, limits.day.nanos, "day", true),
        ];
        let (spent, limit, what, is_money) =
            checks.into_iter().find(|(spent, limit, ..)| limit.is_some_and(|limit| *spent >= limit))?;
        let limit = limit.unwrap_or_default();
        let (limit, spent) = if is_money {
            (money(limit), money(spent))
        } else {
            (format!("{limit} tokens"), spent.to_string())
        };
        Some(error::internal(format!("budget of {limit} per {what} exceeded: {spent} were spent")))
    }

    /// An agent has opened the session: reads the totals to which it adds.
    pub(super) fn learn_spending(&mut self, opened: &Json, is_new: bool) {
        if is_new {
            (self.spending.tokens, self.spending.nanos) = (Some(0), Some(0));
        } else if self.spending.tokens.is_none()
            && let Ok(value) = opened.to_value()
        {
            self.spending.tokens = Some(tokens(&value["inclusiveTokenUsage"]));
        }
    }

    /// The agent has reported the totals of the session after a model call.
    pub(super) async fn usage_changed(&mut self, line: &str) {
        if self.hub.options.budget.is_unlimited() {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        let usage = value.get("inclusiveTokenUsage").unwrap_or(&value["tokenUsage"]);
        // without a former report, the end of the turn tells
        let since = |before: Option<u64>, now: u64| before.map_or(0, |before| now.saturating_sub(before));
        let (used, cost) = (tokens(usage), nanos(&value["musher.costUsd"]));
        let amount = Spent {
            tokens: since(self.spending.tokens.replace(used), used),
            nanos: since(self.spending.nanos.replace(cost), cost),
        };
        if self.turn_started.is_some() {
            self.spending.counted = self.spending.counted.plus(amount);
        }
        self.spend(amount);
        if self.turn_started.is_none() || self.spending.is_interrupted {
            return;
        }
        if let Some(reason) = self.over_budget() {
            self.spending.is_interrupted = true;
            let notice = json!({"type": "error", "message": reason.message, "errorType": "BudgetError"});
            self.publish(&[&notice.to_string()]);
            let call = AgentCall::new("droid.interrupt_session", &Extra::default());
            self.send_call(call, Waiting::Ignored).await;
        }
    }

    /// A turn has ended: what it has spent in all is certain now.
    pub(super) fn turn_spent(&mut self, line: &str) {
        if self.hub.options.budget.is_unlimited() {
            return;
        }
        let counted = std::mem::take(&mut self.spending.counted);
        self.spending.is_interrupted = false;
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        let turn = Spent {
            tokens: tokens(&value["tokenUsage"]).saturating_add(tokens(&value["childTokenUsage"])),
            nanos: nanos(&value["musher.costUsd"]),
        };
        self.spend(turn.minus(counted));
    }

    fn spend(&self, amount: Spent) {
        if amount == Spent::default() {
            return;
        }
        if let Err(failure) = self.hub.options.shared.spend(&self.id, &today(), amount) {
            tracing::error!(error = %failure.with_causes(), session = %self.id, "cannot record what was spent");
        }
    }
}

/// Returns all tokens of a usage, cached ones included.
fn tokens(usage: &Value) -> u64 {
    let kinds = ["inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens"];
    kinds.iter().filter_map(|kind| usage[kind].as_u64()).fold(0, u64::saturating_add)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and amounts are positive"
)]
fn nanos(usd: &Value) -> u64 {
    (usd.as_f64().unwrap_or_default() * 1e9).round() as u64
}

/// Returns the day in UTC.
fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}
