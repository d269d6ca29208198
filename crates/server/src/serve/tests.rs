//! A client on one side, the receiving end of an agent handle on the other: what passes through, and how serving ends.

use std::time::Duration;

use musher_engine::{AgentInbox, CommandId, Control, Error, Event, Reply, WorkingState};
use musher_rpc::{Limits, memory, memory_with};
use musher_wire::{Json, Notification, Request, RpcError};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::task::JoinHandle;

use super::*;

/// Ends only tests that would never end.
const DEADLINE: Duration = Duration::from_secs(20);

struct Stage {
    client: Connection,
    /// For commands of another client.
    handle: AgentHandle,
    agent: FakeAgent,
    serving: JoinHandle<End>,
}

/// Stands for the agent: the test reads its inbox and sends its events. Dropping `events` ends it.
struct FakeAgent {
    inbox: AgentInbox,
    events: mpsc::Sender<SessionEvent>,
}

impl FakeAgent {
    /// Waits for a command; returns the request's id and the command's name.
    async fn command(&mut self) -> (String, String) {
        let (id, command) = timeout(DEADLINE, self.inbox.commands.recv()).await.unwrap().unwrap();
        let name = format!("{command:?}");
        (id.0.as_ref().to_owned(), name.split([' ', '(']).next().unwrap().to_owned())
    }

    async fn control(&mut self) -> Control {
        timeout(DEADLINE, self.inbox.controls.recv()).await.unwrap().unwrap()
    }
}

fn stage() -> Stage {
    let (client, server) = memory();
    on(client, server)
}

fn on(client: Connection, server: Connection) -> Stage {
    let (events, received) = mpsc::channel(64);
    let (handle, inbox) = AgentHandle::channel();
    let serving = tokio::spawn(serve(server, handle.clone(), received));
    Stage { client, handle, agent: FakeAgent { inbox, events }, serving }
}

impl Stage {
    async fn ask(&self, id: &str, method: &'static str) {
        let request = Request::new(id, method, Json::empty_object());
        self.client.outgoing.send(Frame::Request(request)).await.unwrap();
    }

    async fn emit(&self, event: Event) {
        self.agent.events.send(SessionEvent { session: None, event }).await.unwrap();
    }

    async fn reply(&self, id: &str, outcome: Result<Reply, Error>) {
        self.emit(Event::Reply { command_id: CommandId(id.into()), outcome }).await;
    }

    async fn response(&mut self) -> (String, Result<Json, RpcError>) {
        let frame = timeout(DEADLINE, self.client.incoming.recv()).await.unwrap().unwrap();
        let Frame::Response(response) = frame else { panic!("{frame:?}") };
        (response.id.to_string(), response.outcome)
    }
}

#[tokio::test]
async fn request_gets_exactly_one_response_with_its_id() {
    let mut stage = stage();
    stage.ask("a", "droid.list_skills").await;
    stage.ask("b", "droid.nope").await;
    assert_eq!(stage.response().await.0, "b");
    stage.reply("a", Ok(Reply::Done)).await;
    // even if a faulty engine replies twice
    stage.reply("a", Err(Error::NoSession)).await;
    assert_eq!(stage.response().await, ("a".to_owned(), Ok(Json::empty_object())));
    stage.ask("c", "droid.rename_session").await;
    let (id, outcome) = stage.response().await;
    assert_eq!((id.as_str(), outcome.unwrap_err().code), ("c", RpcError::INVALID_PARAMS));
    assert_eq!(stage.agent.command().await, ("a".to_owned(), "ListSkills".to_owned()));
    assert_eq!(stage.agent.inbox.commands.try_recv().unwrap_err(), TryRecvError::Empty);
}

#[tokio::test(start_paused = true)]
async fn request_to_a_busy_agent_gets_one_error() {
    let mut stage = stage();
    while stage.handle.submit(CommandId("filler".into()), Command::ListSkills).is_ok() {}
    stage.ask("a", "droid.list_skills").await;
    let (id, outcome) = stage.response().await;
    assert_eq!((id.as_str(), outcome.unwrap_err().code), ("a", RpcError::INTERNAL));
    let Stage { mut client, agent, .. } = stage;
    drop(agent);
    drop(client.outgoing);
    assert!(client.incoming.recv().await.is_err(), "no second answer");
}

#[tokio::test]
async fn requests_that_the_agent_left_unanswered_get_errors_when_it_ends() {
    let mut stage = stage();
    stage.ask("a", "droid.list_skills").await;
    stage.ask("b", "droid.nope").await;
    assert_eq!(stage.response().await.0, "b");
    let Stage { client, agent, serving, handle } = stage;
    drop(agent);
    let frame = { client }.incoming.recv().await.unwrap();
    let Frame::Response(response) = frame else { panic!("{frame:?}") };
    let (id, message) = (response.id.to_string(), response.outcome.unwrap_err().message);
    assert_eq!((id.as_str(), message.as_str()), ("a", "the agent has ended"));
    assert_eq!(timeout(DEADLINE, serving).await.unwrap().unwrap(), End::Done);
    drop(handle);
}

#[tokio::test]
async fn end_of_input_drains_the_agent() {
    let Stage { client, mut agent, serving, .. } = stage();
    let mut incoming = client.incoming;
    client.outgoing.close();
    drop(client.outgoing);
    assert!(matches!(agent.control().await, Control::Drain));
    drop(agent.events);
    assert!(timeout(DEADLINE, incoming.recv()).await.unwrap().is_err());
    assert_eq!(timeout(DEADLINE, serving).await.unwrap().unwrap(), End::Done);
    assert!(agent.inbox.controls.try_recv().is_err(), "not stopped as well");
}

#[tokio::test]
async fn vanished_client_stops_the_agent() {
    let Stage { client, mut agent, serving, .. } = stage();
    let Connection { incoming, outgoing } = client;
    drop(incoming);
    assert!(matches!(agent.control().await, Control::Stop));
    drop(agent.events);
    assert_eq!(timeout(DEADLINE, serving).await.unwrap().unwrap(), End::ClientGone);
    drop(outgoing);
}

#[tokio::test]
async fn interrupt_reaches_the_agent_while_the_client_reads_nothing() {
    let tight = Limits { data: musher_rpc::Bound { messages: 1, bytes: 1 << 20 }, ..Limits::default() };
    let (client, server) = memory_with(Limits::default(), tight);
    let mut stage = on(client, server);
    for _ in 0..100 {
        let event = SessionEvent { session: None, event: Event::State(WorkingState::Streaming) };
        if stage.agent.events.try_send(event).is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    stage.ask("stop", "droid.interrupt_session").await;
    assert!(matches!(stage.agent.control().await, Control::Interrupt { .. }));
}

#[tokio::test]
async fn notifications_and_unknown_responses_of_a_client_are_ignored() {
    let mut stage = stage();
    let notification = Notification::new("droid.session_notification", Json::empty_object());
    stage.client.outgoing.send(Frame::Notification(notification)).await.unwrap();
    let answer = Response::new(Id::from("zzz"), Ok(Json::empty_object()));
    stage.client.outgoing.send(Frame::Response(answer)).await.unwrap();
    stage.ask("b", "droid.nope").await;
    assert_eq!(stage.response().await.0, "b");
    assert_eq!(stage.agent.inbox.controls.try_recv().unwrap_err(), TryRecvError::Empty);
}

#[tokio::test]
async fn closed_event_ends_serving_after_earlier_events_are_written() {
    let mut stage = stage();
    stage.ask("c", "droid.close_session").await;
    assert_eq!(stage.agent.command().await.0, "c");
    stage.reply("c", Ok(Reply::Done)).await;
    stage.emit(Event::Closed).await;
    assert_eq!(stage.response().await, ("c".to_owned(), Ok(Json::empty_object())));
    let Stage { agent, serving, client, handle } = stage;
    drop(agent);
    assert_eq!(timeout(DEADLINE, serving).await.unwrap().unwrap(), End::Done);
    drop((client, handle));
}

#[tokio::test]
async fn handle_that_skips_permissions_sets_the_flag_on_new_and_loaded_sessions() {
    let Stage { client, mut agent, handle, .. } = stage();
    let handle = handle.skipping_permissions();
    let params = r#"{"machineId":"m","cwd":"/w"}"#;
    for (method, params) in [("initialize_session", params), ("load_session", r#"{"sessionId":"s"}"#)] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"request","id":"1","method":"droid.{method}","params":{params}}}"#
        );
        let action = dispatch(Frame::parse(line.as_bytes()), &Pending::default());
        let Action::Submit(ticket, command) = action else { panic!("{action:?}") };
        handle.submit(ticket, command).unwrap();
        let skips = match timeout(DEADLINE, agent.inbox.commands.recv()).await.unwrap().unwrap().1 {
            Command::Create(session) => session.attach.skip_permissions,
            Command::Load(session) => session.attach.skip_permissions,
            other => panic!("{other:?}"),
        };
        assert!(skips, "{method}");
    }
    drop(client);
}
