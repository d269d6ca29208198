//! The last message of a turn: how it ended, its token usage, and the denials.

use musher::{FailureKind, StoppedBy, TokenUsage, TurnEnd, TurnResult};
use serde_json::{Map, Value, json};

use super::{Stopped, Totals, Translator};

impl Translator {
    /// Ends a turn that could not begin or broke off.
    pub(in crate::agent::droid) fn failed(&mut self, reason: &str) -> Vec<String> {
        let mut messages = self.cut(false);
        let usage = usage(&[0; 4]);
        messages.push(self.message(json!({
            "type": "result", "subtype": "error_during_execution", "is_error": true, "duration_ms": 0,
            "duration_api_ms": 0, "num_turns": self.turn.steps, "stop_reason": null, "total_cost_usd": self.cost(), "usage": usage,
            "modelUsage": self.model_usage(), "permission_denials": self.turn.denials, "terminal_reason": "error",
            "errors": [reason],
        })));
        messages
    }

    /// Ends a turn with its result.
    pub(super) fn result(&mut self, result: &TurnResult) -> Vec<String> {
        let mut messages = self.cut(result.is_interrupted());
        self.info.session_id.clone_from(&result.session_id);
        let tokens = tokens(result.usage.as_ref());
        let totals = self.totals.entry(self.info.model.clone()).or_default();
        totals.tokens.iter_mut().zip(tokens).for_each(|(total, new)| *total += new);
        totals.usd += result.cost.map_or(0.0, |cost| cost.usd);
        let Ending { subtype, terminal_reason, mut errors } = self.ending(result);
        errors.extend(result.errors.iter().map(|error| error.message.clone()));
        let is_error = subtype != "success";
        let mut told = json!({
            "type": "result",
            "subtype": subtype,
            "is_error": is_error,
            "duration_ms": u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX),
            // no agent reports this time
            "duration_api_ms": 0,
            // of the process, like Claude Code's; droid reports none
            "total_cost_usd": self.cost(),
            "num_turns": result.steps,
            "stop_reason": self.turn.stop_reason,
            "usage": usage(&tokens),
            "modelUsage": self.model_usage(),
            "permission_denials": self.turn.denials,
            "terminal_reason": terminal_reason,
        });
        if is_error {
            told["errors"] = json!(errors);
        } else {
            told["result"] = json!(result.text);
        }
        if let Some(output) = &result.structured_output {
            told["structured_output"] = json!(output);
        }
        messages.push(self.message(told));
        messages
    }

    fn ending(&self, result: &TurnResult) -> Ending {
        let aborted =
            if self.turn.stop_reason == Some("tool_use") { "aborted_tools" } else { "aborted_streaming" };
        let ending = |subtype, terminal_reason: &str, error: Option<String>| Ending {
            subtype,
            terminal_reason: terminal_reason.to_owned(),
            errors: error.into_iter().collect(),
        };
        match (&result.end, self.turn.stopped) {
            (TurnEnd::Interrupted(_), Some(Stopped::MaxTurns)) => {
                let most = self.options.max_turns.unwrap_or_default();
                ending(
                    "error_max_turns",
                    "max_turns",
                    Some(format!("Reached maximum number of turns ({most})")),
                )
            }
            (TurnEnd::Interrupted(StoppedBy::Denied), None)
            | (TurnEnd::Completed | TurnEnd::HandedOver, _) => ending("success", "completed", None),
            (TurnEnd::Interrupted(_), _) => {
                ending("error_during_execution", aborted, Some("the turn was interrupted".to_owned()))
            }
            (TurnEnd::Failed(FailureKind::StructuredOutput(reason)), _) => {
                ending("error_max_structured_output_retries", reason.as_str(), None)
            }
            (TurnEnd::Failed(FailureKind::Refusal), _) => ending("error_during_execution", "refusal", None),
            (TurnEnd::Failed(FailureKind::Execution(reason)), _) => {
                ending("error_during_execution", reason.as_str(), None)
            }
            (other, _) => {
                ending("error_during_execution", "error", Some(format!("the turn ended: {other:?}")))
            }
        }
    }

    /// Returns what all turns have cost in US dollars, as far as the agent knows prices.
    fn cost(&self) -> f64 {
        self.totals.values().map(|totals| totals.usd).sum()
    }

    fn model_usage(&self) -> Value {
        let models =
            self.totals.iter().map(|(model, Totals { tokens: [input, output, created, read], usd })| {
                let counts = json!({
                    "inputTokens": input, "outputTokens": output, "cacheCreationInputTokens": created,
                    "cacheReadInputTokens": read, "webSearchRequests": 0, "costUSD": usd, "contextWindow": 0,
                    "maxOutputTokens": 0,
                });
                (model.clone(), counts)
            });
        Value::Object(models.collect::<Map<_, _>>())
    }
}

struct Ending {
    subtype: &'static str,
    terminal_reason: String,
    errors: Vec<String>,
}

/// Input, output, written to and read from the cache.
fn tokens(usage: Option<&TokenUsage>) -> [u64; 4] {
    let Some(usage) = usage else { return [0; 4] };
    [
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_creation_tokens.unwrap_or_default(),
        usage.cache_read_tokens.unwrap_or_default(),
    ]
}

fn usage([input, output, created, read]: &[u64; 4]) -> Value {
    json!({
        "input_tokens": input, "output_tokens": output,
        "cache_creation_input_tokens": created, "cache_read_input_tokens": read,
    })
}
