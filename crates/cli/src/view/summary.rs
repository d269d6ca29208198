//! The cost of a turn, in one line.

use musher::{Cost, TokenUsage, TurnResult};

/// Time, calls, tokens and money of a turn.
pub(crate) fn summary(result: &TurnResult, tool_calls: usize) -> String {
    let seconds = result.duration.as_secs_f64();
    let mut parts = vec![if seconds < 60.0 {
        format!("{seconds:.1}s")
    } else {
        format!("{}m{:02}s", result.duration.as_secs() / 60, result.duration.as_secs() % 60)
    }];
    if tool_calls > 0 {
        parts.push(format!("{tool_calls} tool call{}", if tool_calls == 1 { "" } else { "s" }));
    }
    if let Some(usage) = &result.usage {
        parts.push(tokens(usage));
    }
    if let Some(cost) = result.cost {
        parts.push(priced(cost));
    }
    parts.push(format!("session {}", result.session_id));
    parts.join(" · ")
}

/// Tokens by kind: `12,200 tokens in (9,000 cached, 74%), 140 out (100 reasoning)`. Input includes the cached part.
fn tokens(usage: &TokenUsage) -> String {
    let (read, written) =
        (usage.cache_read_tokens.unwrap_or_default(), usage.cache_creation_tokens.unwrap_or_default());
    let input = usage.input_tokens.saturating_add(read).saturating_add(written);
    let cached = if read > 0 {
        format!(" ({} cached, {}%)", grouped(read), percent(read, input))
    } else {
        String::new()
    };
    let thinking = usage.thinking_tokens.filter(|tokens| *tokens > 0);
    let thinking = thinking.map(|tokens| format!(" ({} reasoning)", grouped(tokens))).unwrap_or_default();
    format!("{} tokens in{cached}, {} out{thinking}", grouped(input), grouped(usage.output_tokens))
}

fn priced(cost: Cost) -> String {
    let beside = if cost.unpriced_tokens > 0 {
        format!(" + {} tokens of unknown price", grouped(cost.unpriced_tokens))
    } else {
        String::new()
    };
    dollars(cost.usd) + &beside
}

/// Returns an amount of money: `$12.30`, `$0.0042`.
pub(crate) fn dollars(usd: f64) -> String {
    if usd == 0.0 || usd >= 1.0 { format!("${usd:.2}") } else { format!("${usd:.4}") }
}

/// Returns the part in percent, rounded down.
pub(crate) fn percent(part: u64, of: u64) -> u64 {
    part.saturating_mul(100).checked_div(of).unwrap_or(0)
}

/// Returns a number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        let shown: Vec<_> = [0, 12, 999, 1000, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(shown, ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn small_amounts_have_more_digits() {
        let shown: Vec<_> = [0.0, 0.00123, 0.25, 1.0, 12.345].into_iter().map(dollars).collect();
        assert_eq!(shown, ["$0.00", "$0.0012", "$0.2500", "$1.00", "$12.35"]);
        assert_eq!((percent(3, 4), percent(0, 0)), (75, 0));
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let mut usage = TokenUsage::default();
        (usage.input_tokens, usage.output_tokens) = (3000, 140);
        assert_eq!(tokens(&usage), "3,000 tokens in, 140 out");
        usage.cache_read_tokens = Some(9000);
        usage.cache_creation_tokens = Some(200);
        usage.thinking_tokens = Some(100);
        assert_eq!(tokens(&usage), "12,200 tokens in (9,000 cached, 73%), 140 out (100 reasoning)");
    }
}
