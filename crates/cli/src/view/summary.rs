//! The cost of a turn, in one line.

use musher::TurnResult;

/// Time, calls and tokens of a turn.
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
        let cached = usage.cache_read_tokens.unwrap_or_default();
        let from_cache = if cached > 0 { format!(" + {} cached", grouped(cached)) } else { String::new() };
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        parts.push(format!("{} tokens in{from_cache}, {} out", grouped(input), grouped(output)));
    }
    parts.push(format!("session {}", result.session_id));
    parts.join(" · ")
}

/// A number with a comma between thousands.
fn grouped(number: u64) -> String {
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
    use super::grouped;

    #[test]
    fn large_numbers_are_grouped() {
        let shown: Vec<_> = [0, 12, 999, 1000, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(shown, ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
