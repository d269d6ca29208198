//! The three vendor formats as pure functions: request body to [`Call`], [`Answer`] to [`Plan`].
//!
//! Each format is one file with the same functions: `read`, `stream`, `whole`, `error`. None does IO or knows the script.

mod anthropic;
mod json;
mod models;
mod openai_chat;
mod openai_error;
mod openai_responses;
mod route;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Call;
use crate::answer::{Answer, Fault, tokens};
use crate::plan::{End, Plan};
use crate::script::{Cut, Hang, HttpError};

pub(crate) use models::{list as list_models, one as one_model};
pub(crate) use route::Route;

/// A vendor's API for model requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Api {
    /// `POST /v1/chat/completions`, which many vendors imitate.
    OpenaiChat,
    /// `POST /v1/responses`.
    OpenaiResponses,
    /// `POST /v1/messages`.
    Anthropic,
}

impl Api {
    /// Returns the name used in scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// Reads the body of a request. Requires only the fields without which no answer is possible; the error is for the client.
    pub fn read(self, body: &Value) -> Result<Call, String> {
        match self {
            Self::OpenaiChat => openai_chat::read(body),
            Self::OpenaiResponses => openai_responses::read(body),
            Self::Anthropic => anthropic::read(body),
        }
    }

    /// Formats an answer as this API would send it. `now` is the time in seconds since 1970, for the formats that include it.
    pub fn plan(self, call: &Call, answer: &Answer, now: u64) -> Plan {
        if let Some(error) = answer.http_error() {
            return self.error(error, answer.number).after(answer.duration());
        }
        if answer.fault() == Some(&Fault::Hang(Hang::BeforeHeaders)) {
            return Plan::silence().after(answer.delay);
        }
        let plan = if call.stream {
            self.stream(call, answer, now).after(answer.delay)
        } else {
            self.whole(call, answer, now).after(answer.duration())
        };
        self.identified(plan, answer.number)
    }

    /// Formats an error as this API would send it.
    pub fn error(self, error: &HttpError, number: u64) -> Plan {
        let body = match self {
            Self::OpenaiChat | Self::OpenaiResponses => openai_error::body(error),
            Self::Anthropic => anthropic::error(error, number),
        };
        let mut plan = Plan::json(error.status, &body);
        if let Some(seconds) = error.retry_after_seconds {
            plan = plan.header("retry-after", seconds.to_string());
        }
        self.identified(plan, number)
    }

    /// Formats the answer to a request for a token count (Anthropic only).
    pub(crate) fn count_tokens(call: &Call) -> Plan {
        Plan::json(200, &serde_json::json!({"input_tokens": tokens(call.input_chars)}))
    }

    fn stream(self, call: &Call, answer: &Answer, now: u64) -> Plan {
        Plan::event_stream(match self {
            Self::OpenaiChat => openai_chat::stream(call, answer, now),
            Self::OpenaiResponses => openai_responses::stream(call, answer, now),
            Self::Anthropic => anthropic::stream(call, answer),
        })
    }

    fn whole(self, call: &Call, answer: &Answer, now: u64) -> Plan {
        if let Some(Fault::InStream(error)) = answer.fault() {
            return self.error(error, answer.number);
        }
        let body = match self {
            Self::OpenaiChat => openai_chat::whole(call, answer, now),
            Self::OpenaiResponses => openai_responses::whole(call, answer, now),
            Self::Anthropic => anthropic::whole(call, answer),
        };
        let plan = Plan::json(200, &body);
        match answer.fault() {
            Some(fault) => plan.broken_off(end_of(fault)),
            None => plan,
        }
    }

    fn identified(self, plan: Plan, number: u64) -> Plan {
        let (name, id) = match self {
            Self::OpenaiChat | Self::OpenaiResponses => ("x-request-id", request_id(number)),
            Self::Anthropic => ("request-id", request_id(number)),
        };
        if plan.headers.iter().any(|(header, _)| *header == name) { plan } else { plan.header(name, id) }
    }
}

fn request_id(number: u64) -> String {
    format!("req_rehearsal_{number:06}")
}

/// Returns how the connection ends after a fault; an error event ends it properly.
fn end_of(fault: &Fault) -> End {
    match fault {
        Fault::Http(_) | Fault::InStream(_) => End::Complete,
        Fault::Cut(Cut::Close) => End::Close,
        Fault::Cut(Cut::Reset) => End::Reset,
        Fault::Hang(_) => End::Hang,
    }
}
