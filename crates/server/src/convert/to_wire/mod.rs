//! Converts events of the engine to messages for clients. Pure: everything comes from the event.

mod message;
mod notification;
mod question;
mod reply;
mod settings;

pub(crate) use message::from_history;
pub(crate) use notification::{Outgoing, outgoing};

use musher_engine::{Choice, Usage, WorkingState};
use musher_wire as wire;
use musher_wire::{Count, DroidWorkingState, TokenUsage, ToolConfirmationOutcome};

fn count(number: usize) -> Count {
    Count::from(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Milliseconds since 1970.
fn moment(ms: i64) -> Count {
    Count::from(u64::try_from(ms).unwrap_or_default())
}

fn usage(usage: &Usage) -> TokenUsage {
    let mut tokens = TokenUsage::new(usage.input, usage.output);
    tokens.cache_creation_tokens = Some(usage.cache_write.into());
    tokens.cache_read_tokens = Some(usage.cache_read.into());
    tokens.thinking_tokens = Some(usage.thinking.into());
    tokens.factory_credits = Some(0.into());
    tokens
}

fn last_call(usage: &Usage) -> wire::LastCallTokenUsage {
    wire::LastCallTokenUsage {
        input_tokens: Some(usage.input.into()),
        output_tokens: Some(usage.output.into()),
        cache_read_tokens: Some(usage.cache_read.into()),
        ..wire::LastCallTokenUsage::default()
    }
}

fn state(state: WorkingState) -> DroidWorkingState {
    match state {
        WorkingState::Idle => DroidWorkingState::Idle,
        WorkingState::Thinking => DroidWorkingState::Thinking,
        WorkingState::Streaming => DroidWorkingState::StreamingAssistantMessage,
        WorkingState::Waiting => DroidWorkingState::WaitingForToolConfirmation,
        WorkingState::Executing => DroidWorkingState::ExecutingTool,
        WorkingState::Compacting => DroidWorkingState::CompactingConversation,
    }
}

fn choice(choice: Choice) -> ToolConfirmationOutcome {
    choice.name().into()
}
