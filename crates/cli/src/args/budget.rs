//! The arguments that limit what a task may spend, for `run` and `exec`.

use musher_engine::Budget;

/// What a task may spend.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct BudgetArgs {
    /// Stop before this number of tokens is exceeded, subagents included (default: no limit)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget_tokens: Option<u64>,

    /// Stop before this cost in US dollars is exceeded, subagents included (default: no limit)
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub(crate) budget_usd: Option<f64>,
}

impl BudgetArgs {
    /// Returns the budget for the engine, if one is set.
    pub(crate) fn budget(self) -> Option<Budget> {
        if self.budget_tokens.is_none() && self.budget_usd.is_none() {
            return None;
        }
        let budget = self.budget_tokens.into_iter().fold(Budget::default(), Budget::tokens);
        Some(self.budget_usd.into_iter().fold(budget, Budget::usd))
    }
}

pub(super) fn amount(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "expected an amount above 0, such as 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amount_is_a_positive_number() {
        assert_eq!((amount("0.5"), amount("$2")), (Ok(0.5), Ok(2.0)));
        for wrong in ["0", "-1", "NaN", "inf", "much", ""] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
