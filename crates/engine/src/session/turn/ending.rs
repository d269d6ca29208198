//! How a turn ends: failures, interrupts, and the summary of the turn.

use musher_model::{ErrorClass, ModelError};
use uuid::Uuid;

use super::{Effect, Phase, Turn, message, user_note};
use crate::Event;
use crate::event::{TurnCompleted, TurnEnd};
use crate::session::state::{UsageTotals, sum};
use musher_message::{Content, Role, Visibility};

impl Turn {
    /// Interrupts the turn. The caller adds [`Effect::Finish`].
    pub(crate) fn interrupt(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Model(_) | Phase::Compacting => {
                for text in ["Request cancelled by user", "Request interrupted by user"] {
                    out.push(Effect::Append(system(text, Visibility::LlmOnly)));
                }
            }
            Phase::Tools(batch) => batch.interrupt(out),
            // these phases have nothing to cancel: nothing has begun, or everything is done
            Phase::Idle | Phase::Stopping | Phase::Over => {}
        }
    }

    /// Ends the turn because hooks have refused the prompt.
    pub(crate) fn refuse(&mut self, out: &mut Vec<Effect>) {
        self.finish(TurnEnd::PromptRejected, out);
    }

    pub(super) fn model_failed(&mut self, error: &ModelError, out: &mut Vec<Effect>) {
        if let Phase::Model(draft) = &mut self.phase {
            let mut shown = Vec::new();
            if draft.has_shown() {
                draft.retract(&mut shown);
            }
            out.extend(shown.into_iter().map(Effect::Emit));
        }
        if error.class == ErrorClass::Empty {
            let text = "The model returned no answer after several attempts.";
            out.push(Effect::Append(system(text, Visibility::UserOnly)));
            return self.finish(TurnEnd::Completed, out);
        }
        let text = match error.status {
            Some(status) if !error.message.starts_with(&status.to_string()) => {
                format!("{status} {}", error.message)
            }
            _ => error.message.clone(),
        };
        if error.class == ErrorClass::Thinking && !std::mem::replace(&mut self.has_dropped_thinking, true) {
            tracing::info!(error = %text, "the vendor rejected earlier reasoning; repeating the call without it");
            out.push(Effect::DropThinking);
            return self.call_model(out);
        }
        if error.class == ErrorClass::ContextLength && !std::mem::replace(&mut self.has_overflowed, true) {
            self.phase = Phase::Compacting;
            return out.push(Effect::ContextOverflow { error: text });
        }
        self.fail(text, Some("Error"), reason(error.class), out);
    }

    /// Ends the turn with a problem for the user.
    pub(crate) fn fail(&mut self, text: String, name: Option<&str>, reason: TurnEnd, out: &mut Vec<Effect>) {
        let note = user_note(&text);
        let name = name.map(str::to_owned);
        out.push(Effect::Emit(Event::Problem { message: text, kind: "Error".to_owned(), name }));
        out.push(Effect::Append(note));
        self.finish(reason, out);
    }

    /// Returns the summary of the turn, and of its session.
    pub(crate) fn completed(&self, reason: TurnEnd, session: &UsageTotals) -> TurnCompleted {
        TurnCompleted {
            turn_id: self.id.clone(),
            reason,
            usage: sum(sum(self.usage, session.unfinished_in_turn()), self.subagent_usage),
            cumulative: session.inclusive(),
            child: self.subagent_usage,
            cumulative_child: session.of_subagents(),
            cost: session.cost_of_turn(),
            took: self.started.elapsed(),
        }
    }
}

fn system(text: &str, visibility: Visibility) -> crate::Message {
    message(Uuid::new_v4().to_string(), Role::System, vec![Content::Text(text.to_owned())], visibility)
}

fn reason(class: ErrorClass) -> TurnEnd {
    match class {
        ErrorClass::Auth | ErrorClass::Permission => TurnEnd::ModelAuthenticationFailed,
        ErrorClass::Billing => TurnEnd::ModelUsageExhausted,
        ErrorClass::Invalid | ErrorClass::ContextLength | ErrorClass::Thinking => {
            TurnEnd::ModelRequestRejected
        }
        ErrorClass::RateLimit
        | ErrorClass::Overloaded
        | ErrorClass::Server
        | ErrorClass::Network
        | ErrorClass::Timeout
        | ErrorClass::Cut
        | ErrorClass::Protocol => TurnEnd::ModelProviderUnavailable,
        _ => TurnEnd::Error,
    }
}
