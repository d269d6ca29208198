//! An agent in memory that does what a function says, call by call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use musher::wire::{Frame, Json, Notification, Request, Response};
use musher::{Agent, Connection, Connector, transport::memory};
use serde_json::{Value, json};

type Doing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Answers the calls of a session, each in a task of its own.
#[derive(Clone)]
struct Actor(Arc<dyn Fn(Call) -> Doing + Send + Sync>);

/// A call of the adapter.
pub(crate) struct Call {
    request: Request,
    outgoing: musher_rpc::FrameSender,
}

/// An agent that treats calls so. What opens a session and what is asked besides is answered already.
pub(crate) fn actor<F: Future<Output = ()> + Send + 'static>(
    act: impl Fn(Call) -> F + Send + Sync + 'static,
) -> Agent {
    Agent::connector(Actor(Arc::new(move |call| Box::pin(act(call)))))
}

/// Answers a request; a prompt gets a turn that ends at once.
pub(crate) async fn answer_all(request: Request, outgoing: musher_rpc::FrameSender) {
    let call = Call { request, outgoing };
    call.answer_as_usual().await;
    if call.method() == "droid.add_user_message" {
        call.end_turn("completed").await;
    }
}

impl Call {
    pub(crate) fn new(request: Request, outgoing: musher_rpc::FrameSender) -> Self {
        Self { request, outgoing }
    }

    pub(crate) fn method(&self) -> String {
        self.request.method.to_string()
    }

    pub(crate) fn params(&self) -> Value {
        self.request.params.as_ref().map_or(Value::Null, |params| params.to_value().unwrap())
    }

    /// Answers everything except prompts as every agent does.
    pub(crate) async fn answer_as_usual(&self) {
        let result = match &*self.request.method {
            "droid.initialize_session" => json!({"sessionId": "s", "session": {"messages": []}}),
            "droid.load_session" => json!({"session": {"messages": []}}),
            "droid.list_commands" => json!({"commands": []}),
            "droid.list_skills" => json!({"skills": []}),
            "droid.get_context_stats" => json!({"used": 10, "remaining": 90, "limit": 100}),
            _ => json!({}),
        };
        self.answer(result).await;
    }

    pub(crate) async fn answer(&self, result: Value) {
        let response = Response::new(self.request.id.clone(), Ok(Json::new(&result).unwrap()));
        self.outgoing.send(Frame::Response(response)).await.ok();
    }

    /// Emits a notification about the session. Returns false if the receiver is gone.
    pub(crate) async fn say(&self, notification: Value) -> bool {
        let params = Json::new(&json!({"sessionId": "s", "notification": notification})).unwrap();
        let said = Notification::new("droid.session_notification", params);
        self.outgoing.send(Frame::Notification(said)).await.is_ok()
    }

    /// A whole message of the assistant.
    pub(crate) async fn say_text(&self, id: &str, text: &str) -> bool {
        let content = json!([{"type": "text", "text": text}]);
        let message = json!({"id": id, "role": "assistant", "content": content});
        self.say(json!({"type": "create_message", "message": message})).await
    }

    /// The end of the turn that this call began.
    pub(crate) async fn end_turn(&self, reason: &str) {
        let turn = self.params()["messageId"].clone();
        self.say(json!({"type": "droid_working_state_changed", "newState": "idle"})).await;
        self.say(json!({"type": "agent_turn_completed", "turnId": turn, "reason": reason})).await;
    }
}

impl Connector for Actor {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        let (ours, mut theirs) = memory();
        let actor = self.clone();
        tokio::spawn(async move {
            while let Ok(frame) = theirs.incoming.recv().await {
                if let Frame::Request(request) = frame {
                    tokio::spawn(actor.0(Call { request, outgoing: theirs.outgoing.clone() }));
                }
            }
        });
        Box::pin(std::future::ready(Ok(ours)))
    }
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Actor")
    }
}
