//! The conversation with the CLI as a state machine: lines in, events and lines out. No IO, no clock.
//!
//! It matches responses with requests in both directions, and knows whether a turn is running. Each request is answered once; a request
//! that the CLI cancelled cannot be answered any more.

use std::collections::{HashMap, HashSet};

use musher_rpc::RawLine;
use musher_wire::Json;
use serde::Serialize;

use crate::user::UserMessage;
use crate::wire::control::{Call, CanUseTool, McpMessage, PermissionAnswer};
use crate::wire::hook::{HookCallback, event_of};
use crate::wire::line::CliLine;
use crate::{
    HookOutput, HookRequest, McpRequest, Message, Permission, PermissionRequest, Refusal, RequestId,
};

/// A conversation.
///
/// ```
/// use musher_claude::{Call, Event, Protocol};
///
/// let mut protocol = Protocol::new();
/// let (asked, line) = protocol.call(&Call::Interrupt);
/// assert_eq!(line, r#"{"type":"control_request","request_id":"musher-1","request":{"subtype":"interrupt"}}"#);
/// let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"musher-1"}}"#;
/// assert!(matches!(protocol.receive(answer.to_owned().into()), Event::Answered { id, .. } if id == asked));
/// ```
#[derive(Debug, Default)]
pub struct Protocol {
    made: u64,
    calls: HashSet<RequestId>,
    open: HashMap<RequestId, Pending>,
    is_busy: bool,
}

/// A pending request of the CLI.
#[derive(Debug)]
enum Pending {
    Permission { input: Json },
    Hook,
    Mcp,
}

/// The meaning of a line of the CLI.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message to display.
    Message(Message),
    /// The response to a call.
    Answered {
        /// The id of the call.
        id: RequestId,
        /// The outcome.
        outcome: Result<Json, Refusal>,
    },
    /// A permission request. Answer it with [`Protocol::permit`].
    Permission(PermissionRequest),
    /// A hook request. Answer it with [`Protocol::hook_output`].
    Hook(HookRequest),
    /// A message for an in-process MCP server. Answer it with [`Protocol::mcp_reply`].
    Mcp(McpRequest),
    /// A request of an unknown kind. The reply must be sent.
    Unsupported {
        /// The kind of the request.
        subtype: String,
        /// The line to send.
        reply: String,
    },
    /// The CLI cancelled a request: it must not be answered any more.
    Cancelled {
        /// The id of the request.
        id: RequestId,
    },
    /// Internal messages of the CLI, to be ignored.
    Nothing,
    /// Output that is not a message, such as debug text.
    Noise(String),
    /// A line that looks like a message but cannot be parsed.
    Malformed(String),
}

impl Protocol {
    /// Creates a conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Processes a line of the CLI.
    pub fn receive(&mut self, line: RawLine) -> Event {
        match CliLine::parse(line) {
            CliLine::Message(message) => {
                match (message.kind(), message.subtype()) {
                    ("system", Some("init")) => self.is_busy = true,
                    ("result", _) => self.is_busy = false,
                    _ => {}
                }
                Event::Message(message)
            }
            CliLine::Request { id, subtype, request } => self.request(&RequestId(id), subtype, &request),
            CliLine::Response { id, outcome } => {
                let id = RequestId(id);
                if self.calls.remove(&id) { Event::Answered { id, outcome } } else { Event::Nothing }
            }
            CliLine::Cancel { id } => {
                let id = RequestId(id);
                if self.open.remove(&id).is_some() { Event::Cancelled { id } } else { Event::Nothing }
            }
            CliLine::Housekeeping => Event::Nothing,
            CliLine::Noise(text) => Event::Noise(text),
            CliLine::Malformed(reason) => Event::Malformed(reason),
        }
    }

    /// Returns the line for a call, and the id of its response.
    pub fn call(&mut self, call: &Call) -> (RequestId, String) {
        self.made += 1;
        let id = RequestId(format!("musher-{}", self.made));
        self.calls.insert(id.clone());
        let line = print(&ControlRequest { r#type: "control_request", request_id: &id, request: call });
        (id, line)
    }

    /// Drops a call: its response is ignored.
    pub fn forget(&mut self, id: &RequestId) {
        self.calls.remove(id);
    }

    /// Returns the line for a user message, which starts a turn or joins the running one.
    pub fn user(&mut self, message: &UserMessage) -> String {
        self.is_busy = true;
        message.to_line()
    }

    /// Returns the line that answers a permission request; `None` if the request is not pending.
    pub fn permit(&mut self, id: &RequestId, permission: &Permission) -> Option<String> {
        let Some(Pending::Permission { input }) =
            self.take(id, |open| matches!(open, Pending::Permission { .. }))
        else {
            return None;
        };
        let answer = match permission {
            Permission::Allow { updated_input, updated_permissions } => PermissionAnswer::Allow {
                updated_input: updated_input.as_ref().unwrap_or(&input),
                updated_permissions: updated_permissions.as_ref(),
            },
            Permission::Deny { message, interrupt } => {
                PermissionAnswer::Deny { message, interrupt: *interrupt }
            }
        };
        Some(success(id, &answer))
    }

    /// Returns the line that answers a hook request; `None` if the request is not pending.
    pub fn hook_output(&mut self, id: &RequestId, output: &HookOutput) -> Option<String> {
        self.take(id, |open| matches!(open, Pending::Hook))?;
        Some(success(id, output))
    }

    /// Returns the line that answers a message to an MCP server; `None` if the request is not pending.
    ///
    /// A JSON-RPC notification has no response, but the CLI expects one.
    pub fn mcp_reply(&mut self, id: &RequestId, reply: Option<&Json>) -> Option<String> {
        #[derive(Serialize)]
        struct Reply<'a> {
            mcp_response: &'a Json,
        }
        self.take(id, |open| matches!(open, Pending::Mcp))?;
        let acknowledged;
        let mcp_response = if let Some(reply) = reply {
            reply
        } else {
            acknowledged = Json::from(serde_json::json!({"jsonrpc": "2.0", "result": {}, "id": 0}));
            &acknowledged
        };
        Some(success(id, &Reply { mcp_response }))
    }

    /// Returns the line that answers any request with an error; `None` if the request is not pending.
    pub fn refuse(&mut self, id: &RequestId, reason: &str) -> Option<String> {
        self.open.remove(id)?;
        Some(failure(id, reason))
    }

    /// Returns whether a turn is running, as far as the protocol shows it.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    fn take(&mut self, id: &RequestId, is_it: impl FnOnce(&Pending) -> bool) -> Option<Pending> {
        if self.open.get(id).is_some_and(is_it) { self.open.remove(id) } else { None }
    }

    fn request(&mut self, id: &RequestId, subtype: String, request: &Json) -> Event {
        let understood = match subtype.as_str() {
            "can_use_tool" => self.permission(id, request),
            "hook_callback" => self.hook(id, request),
            "mcp_message" => self.mcp(id, request),
            _ => None,
        };
        understood.unwrap_or_else(|| {
            let reply = failure(id, &format!("unsupported control request: {subtype}"));
            Event::Unsupported { subtype, reply }
        })
    }

    fn permission(&mut self, id: &RequestId, request: &Json) -> Option<Event> {
        let it: CanUseTool = request.to().ok()?;
        self.open.insert(id.clone(), Pending::Permission { input: it.input.clone() });
        Some(Event::Permission(PermissionRequest {
            id: id.clone(),
            tool_name: it.tool_name,
            input: it.input,
            tool_use_id: it.tool_use_id,
            suggestions: it.permission_suggestions,
            raw: request.clone(),
        }))
    }

    fn hook(&mut self, id: &RequestId, request: &Json) -> Option<Event> {
        let it: HookCallback = request.to().ok()?;
        self.open.insert(id.clone(), Pending::Hook);
        Some(Event::Hook(HookRequest {
            id: id.clone(),
            callback_id: it.callback_id,
            event: event_of(&it.input).unwrap_or_default(),
            input: it.input,
            tool_use_id: it.tool_use_id,
        }))
    }

    fn mcp(&mut self, id: &RequestId, request: &Json) -> Option<Event> {
        let it: McpMessage = request.to().ok()?;
        self.open.insert(id.clone(), Pending::Mcp);
        Some(Event::Mcp(McpRequest { id: id.clone(), server_name: it.server_name, message: it.message }))
    }
}

#[derive(Serialize)]
struct ControlRequest<'a> {
    r#type: &'static str,
    request_id: &'a RequestId,
    request: &'a Call,
}

#[derive(Serialize)]
struct ControlResponse<'a, T> {
    r#type: &'static str,
    response: Answer<'a, T>,
}

#[derive(Serialize)]
#[serde(tag = "subtype", rename_all = "lowercase")]
enum Answer<'a, T> {
    Success { request_id: &'a RequestId, response: &'a T },
    Error { request_id: &'a RequestId, error: &'a str },
}

fn success<T: Serialize>(id: &RequestId, response: &T) -> String {
    let response = Answer::Success { request_id: id, response };
    print(&ControlResponse { r#type: "control_response", response })
}

fn failure(id: &RequestId, error: &str) -> String {
    print(&ControlResponse::<()> {
        r#type: "control_response",
        response: Answer::Error { request_id: id, error },
    })
}

/// Prints a message. The types above have string keys only and contain valid JSON, so serializing cannot fail.
pub(crate) fn print<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

#[cfg(test)]
mod tests;
