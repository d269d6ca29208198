//! A client on one side, a made-up agent on the other: what goes through, and how it ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use musher_engine::{Error, Happening, Reply, WorkingState};
use musher_rpc::{Limits, memory, memory_with};
use musher_wire::{Json, Notification, Request, RpcError};
use tokio::task::JoinHandle;

use super::*;

/// Ends only tests that would never end.
const DEADLINE: Duration = Duration::from_secs(20);

/// An agent that notes what it is told and says what the test wants.
#[derive(Debug, Clone, Default)]
struct Fake(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    commands: Vec<(String, String)>,
    answers: Vec<(String, Answer)>,
    is_busy: bool,
    is_drained: bool,
    is_stopped: bool,
    /// Dropped when the agent is told to end, as a real one does.
    says: Option<mpsc::Sender<Event>>,
}

impl Desk for Fake {
    async fn room(&self) {}

    fn submit(&self, ticket: Ticket, command: Command) -> Result<(), Busy> {
        let mut notes = self.0.lock().unwrap();
        if notes.is_busy {
            return Err(Busy);
        }
        let name = format!("{command:?}");
        let name = name.split([' ', '(']).next().unwrap().to_owned();
        notes.commands.push((ticket.0.as_ref().to_owned(), name));
        Ok(())
    }

    fn answer(&self, question: String, answer: Answer) -> Result<(), Busy> {
        self.0.lock().unwrap().answers.push((question, answer));
        Ok(())
    }

    fn drain(&self) -> Result<(), Busy> {
        let mut notes = self.0.lock().unwrap();
        notes.is_drained = true;
        notes.says = None;
        Ok(())
    }

    fn stop(&self) -> Result<(), Busy> {
        let mut notes = self.0.lock().unwrap();
        notes.is_stopped = true;
        notes.says = None;
        Ok(())
    }
}

struct Stage {
    client: Connection,
    agent: Fake,
    serving: JoinHandle<End>,
}

fn stage() -> Stage {
    let (client, server) = memory();
    on(client, server)
}

fn on(client: Connection, server: Connection) -> Stage {
    let (says, events) = mpsc::channel(64);
    let agent = Fake::default();
    agent.0.lock().unwrap().says = Some(says);
    let serving = tokio::spawn(run(server, agent.clone(), events));
    Stage { client, agent, serving }
}

impl Stage {
    async fn ask(&self, id: &str, method: &'static str) {
        let request = Request::new(id, method, Json::empty_object());
        self.client.outgoing.send(Frame::Request(request)).await.unwrap();
    }

    async fn say(&self, what: Happening) {
        let says = self.agent.0.lock().unwrap().says.clone().unwrap();
        says.send(Event { session: None, what }).await.unwrap();
    }

    async fn reply(&self, id: &str, outcome: Result<Reply, Error>) {
        self.say(Happening::Reply { ticket: Ticket(id.into()), outcome }).await;
    }

    async fn response(&mut self) -> (String, Result<Json, RpcError>) {
        let frame = timeout(DEADLINE, self.client.incoming.recv()).await.unwrap().unwrap();
        let Frame::Response(response) = frame else { panic!("{frame:?}") };
        (response.id.to_string(), response.outcome)
    }

    async fn end(self) -> End {
        timeout(DEADLINE, self.serving).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn a_request_is_answered_once_with_its_id() {
    let mut stage = stage();
    stage.ask("a", "droid.list_skills").await;
    stage.ask("b", "droid.nope").await;
    assert_eq!(stage.response().await.0, "b");
    stage.reply("a", Ok(Reply::Done)).await;
    // a faulty engine must not spoil the promise
    stage.reply("a", Err(Error::NoSession)).await;
    assert_eq!(stage.response().await, ("a".to_owned(), Ok(Json::empty_object())));
    stage.ask("c", "droid.rename_session").await;
    let (id, outcome) = stage.response().await;
    assert_eq!((id.as_str(), outcome.unwrap_err().code), ("c", RpcError::INVALID_PARAMS));
    assert_eq!(stage.agent.0.lock().unwrap().commands, [("a".to_owned(), "ListSkills".to_owned())]);
}

#[tokio::test]
async fn too_much_is_refused_and_the_refusal_is_the_one_answer() {
    let mut stage = stage();
    stage.agent.0.lock().unwrap().is_busy = true;
    stage.ask("a", "droid.list_skills").await;
    let (id, outcome) = stage.response().await;
    assert_eq!((id.as_str(), outcome.unwrap_err().code), ("a", RpcError::INTERNAL));
    stage.agent.drain().unwrap();
    drop(stage.client.outgoing);
    assert!(stage.client.incoming.recv().await.is_err(), "no second answer");
}

#[tokio::test]
async fn what_the_agent_left_unanswered_is_answered_when_it_ends() {
    let mut stage = stage();
    stage.ask("a", "droid.list_skills").await;
    stage.ask("b", "droid.nope").await;
    assert_eq!(stage.response().await.0, "b");
    stage.agent.stop().unwrap();
    let (id, outcome) = stage.response().await;
    assert_eq!((id.as_str(), outcome.unwrap_err().message.as_str()), ("a", "the agent has ended"));
    assert_eq!(stage.end().await, End::Done);
}

#[tokio::test]
async fn the_end_of_input_drains_the_agent() {
    let stage = stage();
    let Stage { client, agent, serving } = stage;
    let mut incoming = client.incoming;
    client.outgoing.close();
    drop(client.outgoing);
    assert!(timeout(DEADLINE, incoming.recv()).await.unwrap().is_err());
    assert_eq!(timeout(DEADLINE, serving).await.unwrap().unwrap(), End::Done);
    let notes = agent.0.lock().unwrap();
    assert_eq!((notes.is_drained, notes.is_stopped), (true, false));
}

#[tokio::test]
async fn a_client_that_is_gone_stops_the_agent() {
    let Stage { client, agent, serving } = stage();
    let Connection { incoming, outgoing } = client;
    drop(incoming);
    assert_eq!(timeout(DEADLINE, serving).await.unwrap().unwrap(), End::ClientGone);
    assert!(agent.0.lock().unwrap().is_stopped);
    drop(outgoing);
}

#[tokio::test]
async fn an_interrupt_gets_through_while_the_client_reads_nothing() {
    let tight = Limits { data: musher_rpc::Bound { messages: 1, bytes: 1 << 20 }, ..Limits::default() };
    let (client, server) = memory_with(Limits::default(), tight);
    let stage = on(client, server);
    for _ in 0..100 {
        let says = stage.agent.0.lock().unwrap().says.clone().unwrap();
        let event = Event { session: None, what: Happening::State(WorkingState::Streaming) };
        if says.try_send(event).is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    stage.ask("stop", "droid.interrupt_session").await;
    let heard = async {
        while stage.agent.0.lock().unwrap().commands.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(DEADLINE, heard).await.unwrap();
    assert_eq!(stage.agent.0.lock().unwrap().commands[0].1, "Interrupt");
}

#[tokio::test]
async fn news_of_a_client_and_unasked_answers_are_ignored() {
    let mut stage = stage();
    let news = Notification::new("droid.session_notification", Json::empty_object());
    stage.client.outgoing.send(Frame::Notification(news)).await.unwrap();
    let answer = Response::new(Id::from("zzz"), Ok(Json::empty_object()));
    stage.client.outgoing.send(Frame::Response(answer)).await.unwrap();
    stage.ask("b", "droid.nope").await;
    assert_eq!(stage.response().await.0, "b");
    assert!(stage.agent.0.lock().unwrap().answers.is_empty());
}

#[tokio::test]
async fn closed_ends_serving_after_all_before_it_was_written() {
    let mut stage = stage();
    stage.ask("c", "droid.close_session").await;
    let heard = async {
        while stage.agent.0.lock().unwrap().commands.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    timeout(DEADLINE, heard).await.unwrap();
    stage.reply("c", Ok(Reply::Done)).await;
    stage.say(Happening::Closed).await;
    assert_eq!(stage.response().await, ("c".to_owned(), Ok(Json::empty_object())));
    assert_eq!(stage.end().await, End::Done);
}
