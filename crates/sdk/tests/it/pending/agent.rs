//! An agent in the process of the test that asks as its prompts tell it to.

use std::sync::Arc;
use std::time::Duration;

use musher::wire::{
    AddUserMessage, AskUser, InitializeSession, InterruptSession, Json, Method, RequestPermission,
};
use musher::{Agent, transport};
use musher_rpc::{Connection, Incoming, Peer};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// More messages than a turn's queue holds.
const MANY: usize = 3000;

/// The agent's requests, and their answers.
pub(super) struct AgentRequests {
    answers: mpsc::Receiver<String>,
    requests: watch::Receiver<usize>,
}

impl AgentRequests {
    /// Waits for the next answer.
    pub(super) async fn answer(&mut self) -> String {
        self.answers.recv().await.expect("the agent is there")
    }

    /// Waits until the agent has made this many requests.
    pub(super) async fn requests(&mut self, count: usize) {
        self.requests.wait_for(|made| *made >= count).await.expect("the agent is there");
    }
}

/// Starts an agent for one session.
pub(super) fn start() -> (Agent, AgentRequests) {
    let (ours, theirs) = transport::memory();
    let (sender, answers) = mpsc::channel(64);
    let (made, requests) = watch::channel(0);
    tokio::spawn(serve(theirs, sender, made));
    (Agent::connection(ours), AgentRequests { answers, requests })
}

async fn serve(connection: Connection, answers: mpsc::Sender<String>, made: watch::Sender<usize>) {
    let (peer, mut inbox) = Peer::start(connection);
    let made = Arc::new(made);
    let mut interrupted = CancellationToken::new();
    while let Some(incoming) = inbox.recv().await {
        let Incoming::Request(request) = incoming else { continue };
        let result = match &*request.method {
            InitializeSession::NAME => json!({"sessionId": "s", "session": {"messages": []}}),
            _ => json!({}),
        };
        peer.respond(request.id.clone(), Ok(Json::from(result))).await.ok();
        match &*request.method {
            AddUserMessage::NAME => {
                interrupted = CancellationToken::new();
                let params = request.read::<AddUserMessage>().unwrap();
                let turn = Turning {
                    peer: peer.clone(),
                    id: params.message_id.unwrap(),
                    answers: answers.clone(),
                    made: Arc::clone(&made),
                    ended: CancellationToken::new(),
                };
                tokio::spawn(turn.run(params.text, interrupted.clone()));
            }
            InterruptSession::NAME => interrupted.cancel(),
            _ => {}
        }
    }
}

#[derive(Clone)]
struct Turning {
    peer: Peer,
    id: String,
    answers: mpsc::Sender<String>,
    made: Arc<watch::Sender<usize>>,
    ended: CancellationToken,
}

impl Turning {
    async fn run(self, prompt: String, interrupted: CancellationToken) {
        // an interrupted request stays open: an answer to it is still heard
        let working = tokio::spawn(self.clone().work(prompt));
        tokio::select! {
            _ = working => self.end("completed").await,
            () = interrupted.cancelled() => self.end("cancelled").await,
        }
    }

    async fn work(self, prompt: String) {
        match prompt.as_str() {
            "one" => {
                let answer = self.permission().await;
                self.say(&answer).await;
            }
            "two" => {
                let (first, second) = tokio::join!(self.permission(), self.permission());
                self.say(&format!("{first} {second}")).await;
            }
            "many then one" => {
                self.say_many().await;
                let answer = self.permission().await;
                self.say(&answer).await;
            }
            "one then many" => {
                let (answer, ()) = tokio::join!(self.permission(), self.say_many());
                self.say(&answer).await;
            }
            "question" => {
                let answer = self.question().await;
                self.say(&answer).await;
            }
            // the request is made, and the turn ends without its answer
            "not waiting" => self.ask_and_go_on().await,
            "later" => {
                let agent = self.clone();
                tokio::spawn(async move {
                    agent.ended.cancelled().await;
                    agent.permission().await;
                });
            }
            _ => {}
        }
    }

    async fn ask_and_go_on(&self) {
        let agent = self.clone();
        let mut made = self.made.subscribe();
        tokio::spawn(async move { agent.permission().await });
        made.changed().await.ok();
    }

    async fn permission(&self) -> String {
        let tool_use =
            json!({"type": "tool_use", "id": "t", "name": "Execute", "input": {"command": "cargo test"}});
        let params = json!({
            "toolUses": [{
                "toolUse": tool_use, "confirmationType": "exec",
                "details": {"type": "exec", "fullCommand": "cargo test"},
            }],
            "options": [
                {"label": "Yes", "value": "proceed_once"}, {"label": "Always", "value": "proceed_always"},
                {"label": "No", "value": "cancel"},
            ],
        });
        let answer = self.ask(RequestPermission::NAME, params).await;
        self.heard(answer["selectedOption"].as_str().unwrap_or("nothing"))
    }

    async fn question(&self) -> String {
        let params =
            json!({"toolCallId": "c", "questions": [{"index": 1, "question": "Which?", "options": ["Red"]}]});
        let answer = self.ask(AskUser::NAME, params).await;
        let is_declined = answer["cancelled"] == true;
        self.heard(if is_declined {
            "declined"
        } else {
            answer["answers"][0]["answer"].as_str().unwrap_or("nothing")
        })
    }

    async fn ask(&self, method: &'static str, params: Value) -> Value {
        let mut asking = Box::pin(self.peer.request(method, Json::from(params), Duration::from_secs(30)));
        // sent by the first poll
        tokio::select! {
            biased;
            _ = &mut asking => panic!("answered at once"),
            () = std::future::ready(()) => self.made.send_modify(|made| *made += 1),
        }
        asking.await.map(|answer| answer.to_value().unwrap()).unwrap_or_default()
    }

    fn heard(&self, answer: &str) -> String {
        self.answers.try_send(answer.to_owned()).expect("few answers wait");
        answer.to_owned()
    }

    async fn say_many(&self) {
        for number in 0..MANY {
            self.message(&number.to_string(), "x").await;
        }
    }

    async fn say(&self, text: &str) {
        self.message("last", text).await;
    }

    async fn message(&self, id: &str, text: &str) {
        let content = json!([{"type": "text", "text": text}]);
        let id = format!("{}-{id}", self.id);
        self.notify(
            json!({"type": "create_message", "message": {"id": id, "role": "assistant", "content": content}}),
        )
        .await;
    }

    async fn end(&self, reason: &str) {
        self.notify(json!({"type": "agent_turn_completed", "reason": reason, "turnId": self.id})).await;
        self.ended.cancel();
    }

    async fn notify(&self, notification: Value) {
        let params = Json::from(json!({"notification": notification}));
        self.peer.notify("droid.session_notification", params).await.ok();
    }
}
