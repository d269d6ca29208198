//! Runs a script: picks replies and counts how often each was used.
//!
//! The only state is the counters. No IO, no waiting.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use crate::script::{HttpError, Reply, Script};
use crate::{Answer, Call, Source};

/// A running script.
///
/// ```
/// use musher_rehearse::{Call, Event, Rehearsal, Reply, Script};
///
/// let rehearsal = Rehearsal::new(Script::new().reply(Reply::text("Hello").times(1)));
/// let answer = rehearsal.answer(&Call::default());
/// assert_eq!(answer.events[0].event, Event::Text("Hello".to_owned()));
///
/// // Used up: the second call gets an error that says so.
/// assert!(rehearsal.answer(&Call::default()).http_error().is_some());
/// ```
#[derive(Debug)]
pub struct Rehearsal {
    script: Script,
    // Locked for a few instructions only, never across an await or a callback.
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    answers: u64,
    times: Vec<u32>,
}

impl Rehearsal {
    /// Starts a script from its beginning.
    pub fn new(script: Script) -> Self {
        let used = Used { answers: 0, times: vec![0; script.replies.len()] };
        Self { script, used: Mutex::new(used) }
    }

    /// Returns the script.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Returns how many calls each reply has answered, in the order of the script.
    pub fn uses(&self) -> Vec<u32> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).times.clone()
    }

    /// Answers one call: picks the reply, counts its use, and returns the answer as data.
    pub fn answer(&self, call: &Call) -> Answer {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.answers += 1;
        let number = used.answers;
        let mut why_not = Vec::new();
        for (index, reply) in self.script.replies.iter().enumerate() {
            if let Some(reason) = reply.when.mismatch(call) {
                why_not.push(reason);
            } else if let Some(times) = reply.times.filter(|times| used.times[index] >= *times) {
                why_not.push(format!("used up after {times} {}", if times == 1 { "call" } else { "calls" }));
            } else {
                used.times[index] += 1;
                drop(used);
                let source = Source::Reply { index, name: reply.name.clone() };
                return Answer::new(number, source, reply, call);
            }
        }
        drop(used);
        if let Some(reply) = &self.script.otherwise {
            return Answer::new(number, Source::Otherwise, reply, call);
        }
        let error = HttpError::new(400).message(self.unmatched(call, &why_not));
        Answer::new(number, Source::Unmatched, &Reply::error(error), call)
    }

    fn unmatched(&self, call: &Call, why_not: &[String]) -> String {
        let mut message = format!("rehearsal: no reply of the script matches this call ({})", describe(call));
        for (index, reason) in why_not.iter().enumerate() {
            let name = self.script.replies.get(index).and_then(|reply| reply.name.clone());
            let source = Source::Reply { index, name };
            // Writing to a String cannot fail.
            let _ = write!(message, "; {source}: {reason}");
        }
        if why_not.is_empty() {
            message.push_str("; the script has no replies");
        }
        message
    }
}

fn describe(call: &Call) -> String {
    let mut text = format!(
        "api {}, model `{}`, turn {}, call {}, {} tools, prompt `{}`",
        call.api.name(),
        excerpt(&call.model),
        call.turn,
        call.call,
        call.tools.len(),
        excerpt(&call.prompt),
    );
    for result in &call.tool_results {
        let tool = result.tool.as_deref().unwrap_or("an unknown tool");
        let _ = write!(text, ", result of {tool} `{}`", excerpt(&result.text));
    }
    text
}

fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let mut short: String = text.chars().take(MAX_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
