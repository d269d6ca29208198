//! How a turn ends before its time: the model fails, or somebody interrupts.

use musher_model::{ErrorClass, ModelError};
use uuid::Uuid;

use super::{Effect, Phase, Turn, message, user_note};
use crate::Happening;
use crate::event::TurnEnd;
use musher_message::{Content, Role, Visibility};

impl Turn {
    /// Ends the turn because somebody wants it. Says what is settled by it; [`Effect::Finish`] is for the caller to add.
    pub(crate) fn interrupt(&mut self, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Model(_) | Phase::Shrinking => {
                for text in ["Request cancelled by user", "Request interrupted by user"] {
                    out.push(Effect::Append(system(text, Visibility::LlmOnly)));
                }
            }
            Phase::Tools(batch) => batch.interrupt(out),
            // hooks are asked before there is anything, or after there is everything
            Phase::Idle | Phase::Stopping | Phase::Over => {}
        }
    }

    /// Ends the turn since hooks refuse what the user said.
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
            let text = "The model gave no answer, although it was asked several times.";
            out.push(Effect::Append(system(text, Visibility::UserOnly)));
            return self.finish(TurnEnd::Completed, out);
        }
        let text = match error.status {
            Some(status) if !error.message.starts_with(&status.to_string()) => {
                format!("{status} {}", error.message)
            }
            _ => error.message.clone(),
        };
        if error.class == ErrorClass::ContextLength && !std::mem::replace(&mut self.has_overflowed, true) {
            self.phase = Phase::Shrinking;
            return out.push(Effect::Overflow { error: text });
        }
        self.fail(text, Some("Error"), reason(error.class), out);
    }

    /// Ends the turn with a problem people can read.
    pub(crate) fn fail(&mut self, text: String, name: Option<&str>, reason: TurnEnd, out: &mut Vec<Effect>) {
        let note = user_note(&text);
        let name = name.map(str::to_owned);
        out.push(Effect::Emit(Happening::Problem { message: text, kind: "Error".to_owned(), name }));
        out.push(Effect::Append(note));
        self.finish(reason, out);
    }
}

fn system(text: &str, visibility: Visibility) -> crate::Message {
    message(Uuid::new_v4().to_string(), Role::System, vec![Content::Text(text.to_owned())], visibility)
}

fn reason(class: ErrorClass) -> TurnEnd {
    match class {
        ErrorClass::Auth | ErrorClass::Permission => TurnEnd::ModelAuthenticationFailed,
        ErrorClass::Billing => TurnEnd::ModelUsageExhausted,
        ErrorClass::Invalid | ErrorClass::ContextLength => TurnEnd::ModelRequestRejected,
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
