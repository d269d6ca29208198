//! Every boundary at which a connection can break, without a connection.

use musher_wire::Notification;

use super::reload::MAX_RELOADS;
use super::*;
use crate::daemon::translate;

const TOKEN: &str = "secret";

/// A core with a route, and the messages that left it.
struct Stage {
    core: Core,
    route: RouteId,
}

impl Stage {
    fn connected() -> Self {
        let mut core = Core::default();
        core.open(CONTROL);
        core.open(1);
        core.connected(Some(TOKEN.to_owned()));
        Self { core, route: 1 }
    }

    /// Creates a stage with a session that is open.
    fn opened(extra: &Value) -> Self {
        let mut stage = Self::connected();
        stage.call("open", "droid.load_session", &json!({"sessionId": "s"}));
        let sent = stage.sent();
        assert_eq!(sent[0]["params"], json!({"sessionId": "s", "token": TOKEN}));
        let mut result =
            json!({"session": {"messages": []}, "workingState": "idle", "isAgentLoopInProgress": false});
        merge(&mut result, extra);
        stage.answer("open", &result);
        assert_eq!(stage.responses(), ["open"]);
        stage
    }

    fn call(&mut self, id: &str, method: &'static str, params: &Value) {
        self.core.session_says(self.route, Frame::Request(Request::new(id, method, Json::from(params))));
    }

    fn prompt(&mut self, id: &str) {
        self.call(id, "droid.add_user_message", &json!({"text": "hi", "messageId": format!("m-{id}")}));
    }

    fn answer(&mut self, id: &str, result: &Value) {
        self.core.daemon_says(Frame::Response(Response::new(Id::from(id), Ok(Json::from(result)))));
    }

    /// Answers the call of this side that loads the session again.
    fn reloaded(&mut self, extra: &Value) -> Value {
        let sent = self.sent();
        let load = sent
            .iter()
            .find(|sent| sent["method"] == "daemon.load_session")
            .expect("it is loaded again")
            .clone();
        let mut result =
            json!({"session": {"messages": []}, "workingState": "idle", "isAgentLoopInProgress": false});
        merge(&mut result, extra);
        self.answer(load["id"].as_str().unwrap(), &result);
        load["params"].clone()
    }

    fn notify(&mut self, content: &Value, sequence: Option<u64>) {
        let mut params = json!({"sessionId": "s", "notification": content});
        if let Some(sequence) = sequence {
            params["sequence"] = json!(sequence);
        }
        let notification = Notification::new("daemon.session_notification", Json::from(params));
        self.core.daemon_says(Frame::Notification(notification));
    }

    fn ask(&mut self, id: &str) {
        let params = json!({"sessionId": "s", "toolUses": [], "options": []});
        let request = Request::new(id, "daemon.request_permission", Json::from(params));
        self.core.daemon_says(Frame::Request(request));
    }

    fn decide(&mut self, id: &str) {
        let result = json!({"selectedOption": "proceed_once"});
        let response = Response::new(Id::from(id), Ok(Json::from(result)));
        self.core.session_says(self.route, Frame::Response(response));
    }

    fn reconnect(&mut self) {
        self.core.disconnected();
        self.core.connected(Some(TOKEN.to_owned()));
    }

    /// Takes the messages to the daemon; the others stay.
    fn sent(&mut self) -> Vec<Value> {
        self.take(|effect| matches!(effect, Effect::Send(_)))
    }

    /// Takes the ids of the calls that were answered with a result; with a `!` those that failed.
    fn responses(&mut self) -> Vec<String> {
        let name = |value: &Value| {
            let id = value["id"].as_str().unwrap_or_default();
            if value.get("error").is_some() { format!("!{id}") } else { id.to_owned() }
        };
        self.take(|effect| matches!(effect, Effect::Respond(..))).iter().map(name).collect()
    }

    /// Takes what goes to the session: types of notifications, and methods of others.
    fn told(&mut self) -> Vec<String> {
        let name = |value: &Value| {
            let kind = value["params"]["notification"]["type"].as_str();
            kind.or_else(|| value["method"].as_str()).unwrap_or_default().to_owned()
        };
        self.take(|effect| matches!(effect, Effect::Deliver(..))).iter().map(name).collect()
    }

    fn take(&mut self, wanted: impl Fn(&Effect) -> bool) -> Vec<Value> {
        let (taken, rest): (Vec<_>, Vec<_>) = self.core.effects().into_iter().partition(wanted);
        self.core.out = rest;
        let frames = taken.into_iter().map(|effect| match effect {
            Effect::Send(frame) | Effect::Deliver(_, frame) | Effect::Respond(_, frame) => frame.to_line(),
            other => panic!("{other:?}"),
        });
        frames.map(|line| serde_json::from_str(&line).unwrap()).collect()
    }
}

fn merge(into: &mut Value, extra: &Value) {
    for (key, value) in extra.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}

fn message(id: &str, role: &str) -> Value {
    json!({"id": id, "role": role, "content": [{"type": "text", "text": "x"}], "createdAt": 1, "updatedAt": 1})
}

fn created(id: &str, role: &str) -> Value {
    json!({"type": "create_message", "message": message(id, role)})
}

#[test]
fn new_session_gets_an_id_before_it_is_opened_so_that_nothing_is_missed() {
    let mut stage = Stage::connected();
    stage.call("open", "droid.initialize_session", &json!({"machineId": "m", "cwd": "/w"}));
    let sent = stage.sent();
    let id = sent[0]["params"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(sent[0]["method"], "daemon.initialize_session");
    // the notification of a hook comes before the answer
    let params = json!({"sessionId": id, "notification": {"type": "x"}});
    stage.core.daemon_says(Frame::Notification(Notification::new(
        "daemon.session_notification",
        Json::from(params),
    )));
    assert_eq!(stage.told(), ["x"]);
    // repeated with the same id after the connection broke
    stage.reconnect();
    assert_eq!(stage.sent()[0]["params"]["sessionId"], id);
    stage.answer("open", &json!({"sessionId": id}));
    assert_eq!(stage.responses(), ["open"]);
}

#[test]
fn same_session_is_not_opened_twice_on_one_connection() {
    let mut stage = Stage::opened(&json!({}));
    stage.core.open(2);
    stage.route = 2;
    stage.call("second", "droid.load_session", &json!({"sessionId": "s"}));
    assert_eq!(stage.responses(), ["!second"]);
    assert!(stage.sent().is_empty());
}

#[test]
fn counted_notifications_are_passed_on_once_and_in_order_across_connections() {
    let mut stage = Stage::opened(&json!({"lastSequence": 10}));
    stage.notify(&json!({"type": "old"}), Some(10));
    stage.notify(&json!({"type": "a"}), Some(11));
    stage.reconnect();
    // replayed before and after the answer, and live
    stage.notify(&json!({"type": "again"}), Some(11));
    stage.notify(&json!({"type": "b"}), Some(12));
    assert_eq!(stage.reloaded(&json!({"lastSequence": 13}))["afterSequence"], 11);
    assert_eq!(stage.told(), ["a", "b"]);
    stage.notify(&json!({"type": "c"}), Some(13));
    stage.notify(&json!({"type": "d"}), Some(14));
    assert_eq!(stage.told(), ["c", "d"]);
}

#[test]
fn journal_that_lost_what_was_missed_or_started_again_is_a_gap() {
    for result in [json!({"lastSequence": 30, "missedEvents": 5}), json!({"lastSequence": 3})] {
        let mut stage = Stage::opened(&json!({"lastSequence": 10}));
        stage.reconnect();
        stage.reloaded(&result);
        assert!(stage.told().contains(&GAP_METHOD.to_owned()), "{result}");
        stage.notify(&json!({"type": "next"}), Some(result["lastSequence"].as_u64().unwrap() + 1));
        assert_eq!(stage.told(), ["next"]);
    }
}

#[test]
fn daemon_that_does_not_count_tells_a_gap_and_the_messages_that_were_missed() {
    let mut stage = Stage::opened(&json!({}));
    stage.prompt("p");
    stage.answer("p", &json!({}));
    stage.notify(&created("m-p", "user"), None);
    stage.told();
    stage.reconnect();
    // before the conversation
    stage.notify(&json!({"type": "live"}), None);
    let messages = json!([message("m-p", "user"), message("a", "assistant")]);
    let params = stage.reloaded(&json!({"session": {"messages": messages}}));
    assert_eq!(params["loadAllMessages"], true);
    let told = stage.told();
    assert_eq!(
        told,
        [GAP_METHOD, "create_message", "agent_turn_completed", "droid_working_state_changed", "live"]
    );
}

const GAP_METHOD: &str = translate::GAP;

#[test]
fn turn_that_still_runs_is_not_ended_by_a_new_connection() {
    let mut stage = Stage::opened(&json!({}));
    stage.prompt("p");
    stage.answer("p", &json!({}));
    stage.reconnect();
    let unfinished = json!({"messages": [message("m-p", "user"), message("a", "assistant")]});
    stage.reloaded(&json!({"session": unfinished, "isAgentLoopInProgress": true, "workingState": "streaming_assistant_message"}));
    // the answer is announced when it is complete
    assert_eq!(stage.told(), [GAP_METHOD, "create_message", "droid_working_state_changed"]);
    stage.notify(&created("a", "assistant"), None);
    assert_eq!(stage.told(), ["create_message"]);
}

#[test]
fn prompt_that_was_sent_is_repeated_only_for_a_daemon_that_recognises_it() {
    let mut stage = Stage::opened(&json!({"lastSequence": 0}));
    stage.prompt("p");
    assert_eq!(stage.sent().len(), 1);
    stage.reconnect();
    stage.reloaded(&json!({"lastSequence": 0}));
    let sent = stage.sent();
    assert_eq!((sent.len(), &sent[0]["params"]["messageId"]), (1, &json!("m-p")));
    stage.answer("p", &json!({"duplicate": true}));
    assert_eq!(stage.responses(), ["p"]);
}

#[test]
fn prompt_with_an_unknown_fate_is_never_repeated_for_another_daemon() {
    let cases = [
        // the session has it
        (json!({"session": {"messages": [message("m-p", "user")]}}), "p"),
        (json!({"queuedMessages": [{"text": "hi", "requestId": "p"}], "isAgentLoopInProgress": true}), "p"),
        // it does not
        (json!({}), "!p"),
    ];
    for (result, expected) in cases {
        let mut stage = Stage::opened(&json!({}));
        stage.prompt("p");
        assert_eq!(stage.sent().len(), 1);
        stage.reconnect();
        stage.reloaded(&result);
        assert_eq!(stage.responses(), [expected], "{result}");
        assert!(stage.sent().is_empty());
    }
}

#[test]
fn prompt_that_ended_while_the_connection_was_lost_ends_its_turn() {
    let mut stage = Stage::opened(&json!({}));
    stage.prompt("p");
    stage.reconnect();
    let messages = json!([message("m-p", "user"), message("a", "assistant")]);
    stage.reloaded(&json!({"session": {"messages": messages}}));
    assert_eq!(stage.responses(), ["p"]);
    assert!(stage.told().contains(&"agent_turn_completed".to_owned()));
}

#[test]
fn prompt_that_may_be_about_to_begin_is_settled_by_what_follows() {
    for (content, expected) in [
        (created("m-p", "user"), "p"),
        (json!({"type": "droid_working_state_changed", "newState": "idle"}), "!p"),
    ] {
        let mut stage = Stage::opened(&json!({}));
        stage.prompt("p");
        stage.reconnect();
        stage.reloaded(&json!({"isAgentLoopInProgress": true, "workingState": "thinking"}));
        assert!(stage.responses().is_empty());
        stage.notify(&content, None);
        assert_eq!(stage.responses(), [expected]);
    }
}

#[test]
fn prompt_that_was_not_sent_waits_for_the_connection() {
    let mut stage = Stage::opened(&json!({}));
    stage.core.disconnected();
    stage.prompt("p");
    assert!(stage.sent().is_empty());
    stage.core.connected(None);
    stage.reloaded(&json!({}));
    let sent = stage.sent();
    assert_eq!((sent.len(), &sent[0]["method"]), (1, &json!("daemon.add_user_message")));
}

#[test]
fn prompt_whose_caller_has_given_up_is_not_sent() {
    let mut stage = Stage::opened(&json!({"lastSequence": 0}));
    stage.core.disconnected();
    stage.prompt("late");
    stage.core.set_now(Duration::from_secs(20));
    stage.prompt("p");
    stage.core.set_now(Duration::from_secs(40));
    stage.core.connected(None);
    stage.reloaded(&json!({"lastSequence": 0}));
    let sent = stage.sent();
    assert_eq!((sent.len(), &sent[0]["id"]), (1, &json!("p")));
}

#[test]
fn calls_that_cannot_be_repeated_fail_and_others_are_repeated_in_order() {
    let mut stage = Stage::opened(&json!({}));
    stage.call("fork", "droid.fork_session", &json!({}));
    stage.call("rename", "droid.rename_session", &json!({"title": "t"}));
    stage.call("skills", "droid.list_skills", &json!({}));
    stage.sent();
    stage.reconnect();
    assert_eq!(stage.responses(), ["!fork"]);
    stage.reloaded(&json!({}));
    let sent = stage.sent();
    let sent: Vec<_> = sent.iter().map(|sent| sent["id"].as_str().unwrap()).collect();
    assert_eq!(sent, ["rename", "skills"]);
}

#[test]
fn request_is_asked_once_and_its_answer_is_sent_again_if_it_may_be_lost() {
    let mut stage = Stage::opened(&json!({}));
    stage.ask("q");
    stage.ask("q");
    assert_eq!(stage.told(), ["droid.request_permission"]);
    // not answered yet: redelivered before the answer of the load, and in it
    stage.reconnect();
    stage.ask("q");
    let pending = json!({"pendingPermissions": [{"requestId": "q", "toolUses": [], "options": []}]});
    stage.reloaded(&pending);
    assert!(!stage.told().contains(&"droid.request_permission".to_owned()));
    stage.decide("q");
    let sent = stage.sent();
    assert_eq!(sent[0]["result"], json!({"sessionId": "s", "selectedOption": "proceed_once"}));
    // answered, and the connection breaks before the daemon confirms it
    stage.reconnect();
    stage.ask("q");
    let sent = stage.sent();
    let ids: Vec<_> = sent.iter().map(|sent| &sent["id"]).collect();
    assert_eq!((sent[0]["method"].as_str(), ids[1]), (Some("daemon.load_session"), &json!("q")));
    let mut loaded = json!({"session": {"messages": []}});
    merge(&mut loaded, &pending);
    stage.answer(ids[0].as_str().unwrap(), &loaded);
    assert!(stage.sent().is_empty(), "once on each connection");
}

#[test]
fn answer_given_while_the_connection_is_lost_is_sent_on_the_next_one() {
    let mut stage = Stage::opened(&json!({}));
    stage.ask("q");
    stage.core.disconnected();
    stage.decide("q");
    assert!(stage.sent().is_empty());
    stage.core.connected(None);
    let load = stage.sent();
    let pending = json!({"session": {"messages": []}, "pendingPermissions": [{"requestId": "q", "toolUses": [], "options": []}]});
    stage.answer(load[0]["id"].as_str().unwrap(), &pending);
    let sent = stage.sent();
    assert_eq!((sent.len(), &sent[0]["id"]), (1, &json!("q")));
}

#[test]
fn request_that_was_answered_elsewhere_is_withdrawn() {
    let mut stage = Stage::opened(&json!({"lastSequence": 1}));
    stage.ask("q");
    stage.told();
    stage.reconnect();
    stage.reloaded(&json!({"lastSequence": 1}));
    assert_eq!(stage.told(), ["permission_resolved"]);
}

#[test]
fn request_of_a_session_that_is_not_held_is_not_answered() {
    let mut stage = Stage::connected();
    stage.ask("q");
    assert!(stage.core.effects().is_empty());
}

#[test]
fn slow_reader_is_served_later_from_where_it_stopped() {
    let mut stage = Stage::opened(&json!({"lastSequence": 0}));
    stage.notify(&json!({"type": "a"}), Some(1));
    stage.core.overflowed(1);
    stage.notify(&json!({"type": "lost"}), Some(2));
    stage.ask("q");
    assert_eq!(stage.told(), ["a"]);
    stage.core.drained(1);
    // still of the stream from before
    stage.notify(&json!({"type": "too early"}), Some(3));
    assert_eq!(stage.reloaded(&json!({"lastSequence": 2}))["afterSequence"], 1);
    stage.notify(&json!({"type": "lost"}), Some(2));
    stage.notify(&json!({"type": "too early"}), Some(3));
    assert_eq!(stage.told(), ["lost", "too early"]);
}

#[test]
fn dead_agent_ends_the_turns_of_its_session() {
    let mut stage = Stage::opened(&json!({}));
    stage.prompt("p");
    stage.answer("p", &json!({}));
    stage.notify(&json!({"type": "session_process_exited", "message": "killed"}), None);
    assert_eq!(
        stage.told(),
        ["session_process_exited", "agent_turn_completed", "droid_working_state_changed"]
    );
}

#[test]
fn session_that_the_daemon_does_not_know_any_more_ends() {
    let mut stage = Stage::opened(&json!({}));
    stage.core.disconnected();
    stage.prompt("p");
    stage.core.connected(None);
    let load = stage.sent();
    let error = RpcError::new(RpcError::NOT_FOUND, "Session not found: s");
    let response = Response::new(Id::from(load[0]["id"].as_str().unwrap()), Err(error));
    stage.core.daemon_says(Frame::Response(response));
    assert_eq!(stage.responses(), ["!p"]);
    assert!(matches!(stage.core.effects()[..], [Effect::HangUp(1, _)]));
}

#[test]
fn load_that_fails_is_repeated_a_few_times() {
    let mut stage = Stage::opened(&json!({}));
    stage.reconnect();
    for _ in 0..MAX_RELOADS {
        let load = stage.sent();
        let error = RpcError::new(RpcError::INTERNAL, "Send request timed out");
        let response = Response::new(Id::from(load[0]["id"].as_str().unwrap()), Err(error));
        stage.core.daemon_says(Frame::Response(response));
        assert!(matches!(stage.core.effects()[..], [Effect::ReloadLater(1)]));
        stage.core.reload(1);
    }
    stage.reloaded(&json!({}));
    assert!(stage.told().contains(&GAP_METHOD.to_owned()));
}

#[test]
fn interrupt_of_a_session_that_was_dropped_still_arrives() {
    let mut stage = Stage::opened(&json!({}));
    stage.core.disconnected();
    stage.call("stop", "droid.interrupt_session", &json!({}));
    stage.core.gone(1);
    stage.core.connected(None);
    let sent = stage.sent();
    assert_eq!((sent.len(), &sent[0]["method"]), (1, &json!("daemon.interrupt_session")));
    assert_eq!(sent[0]["params"]["sessionId"], "s");
}

#[test]
fn closed_session_hangs_up_after_the_answer() {
    let mut stage = Stage::opened(&json!({}));
    stage.call("close", "droid.close_session", &json!({}));
    stage.answer("close", &json!({}));
    assert_eq!((stage.responses(), stage.sent().len()), (vec!["close".to_owned()], 1));
    assert!(matches!(stage.core.effects()[..], [Effect::HangUp(1, Closed::Ended)]));
}

#[test]
fn only_a_few_sessions_are_opened_at_once() {
    let mut stage = Stage::connected();
    for route in 2..12 {
        stage.core.open(route);
        stage.route = route;
        stage.call(
            &format!("open-{route}"),
            "droid.load_session",
            &json!({"sessionId": format!("s{route}")}),
        );
    }
    assert_eq!(stage.sent().len(), MAX_OPENING);
    for route in 2..12 {
        stage.answer(&format!("open-{route}"), &json!({"session": {"messages": []}}));
    }
    assert_eq!(stage.sent().len(), 10 - MAX_OPENING);
    assert_eq!(stage.responses().len(), 10);
}

#[test]
fn error_without_an_id_belongs_to_the_call_that_it_mentions() {
    let mut stage = Stage::opened(&json!({}));
    stage.call("c", "droid.list_skills", &json!({}));
    let mut error = RpcError::new(RpcError::PARSE, "Parse error");
    error.data = Some(Json::from(json!({"protocolVersionMismatch": {"requestId": "c"}})));
    stage.core.daemon_says(Frame::Response(Response::new(Id::Null, Err(error))));
    assert_eq!(stage.responses(), ["!c"]);
}
