//! Complete answers of each vendor, byte by byte, compared with the files in `formats/`.
//!
//! After an intended change, run the tests with `UPDATE_SNAPSHOTS=1` and read the difference.

use std::fmt::Write as _;

use musher_rehearse::{
    Api, Call, End, Finish, HttpError, Plan, Rehearsal, Reply, Script, Step, ToolCall, Usage, when,
};
use serde_json::{Value, json};

const APIS: [Api; 3] = [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic];

/// Thinking, text in two pieces, and two tool calls, the first with its arguments in pieces.
fn everything() -> Reply {
    let usage = Usage {
        input: Some(100),
        output: Some(50),
        cache_read: Some(20),
        cache_creation: Some(10),
        reasoning: Some(7),
    };
    Reply::thinking(["Let me ", "look."])
        .and_text(["Looking", " now."])
        .and(Step::Tool(ToolCall::new("Read", json!({"path": "a.rs"})).chunk(8)))
        .and_tool("LS", json!({}))
        .usage(usage)
}

fn plan(api: Api, reply: Reply, stream: bool) -> Plan {
    let call =
        Call { api, model: "some-model".to_owned(), stream, encrypted_reasoning: true, ..Call::default() };
    let answer = Rehearsal::new(Script::new().reply(reply)).answer(&call);
    api.plan(&call, &answer, 1_700_000_000)
}

fn shown(plan: &Plan) -> String {
    let mut text =
        format!("{}\n", plan.status.map_or_else(|| "no status".to_owned(), |status| status.to_string()));
    for (name, value) in &plan.headers {
        writeln!(text, "{name}: {value}").unwrap();
    }
    let body = plan.text();
    let pretty =
        serde_json::from_str::<Value>(&body).map(|json| serde_json::to_string_pretty(&json).unwrap() + "\n");
    write!(text, "\n{}", pretty.unwrap_or(body)).unwrap();
    writeln!(text, "({:?})", plan.end).unwrap();
    text
}

#[track_caller]
fn compare(name: &str, actual: &str) {
    let path = format!("{}/tests/it/formats/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs_err::write(&path, actual).unwrap();
    }
    let expected = fs_err::read_to_string(&path).unwrap_or_default();
    let difference = expected.lines().zip(actual.lines()).position(|(one, other)| one != other);
    assert!(
        expected == actual,
        "{path} differs at line {:?}; now it is:\n{actual}",
        difference.map(|line| line + 1)
    );
}

#[test]
fn stream_with_every_kind_of_content() {
    for api in APIS {
        compare(&format!("{}-stream", api.name()), &shown(&plan(api, everything(), true)));
    }
}

#[test]
fn complete_answer_with_every_kind_of_content() {
    for api in APIS {
        compare(&format!("{}-whole", api.name()), &shown(&plan(api, everything(), false)));
    }
}

#[test]
fn empty_answer() {
    for api in APIS {
        compare(&format!("{}-empty", api.name()), &shown(&plan(api, Reply::empty(), true)));
    }
}

#[test]
fn answer_that_reached_max_tokens() {
    for api in APIS {
        let reply = Reply::text("too lo").finish(Finish::Length);
        compare(&format!("{}-length", api.name()), &shown(&plan(api, reply, true)));
    }
}

#[test]
fn error_in_the_middle_of_a_stream() {
    for api in APIS {
        let reply = Reply::text(["Hel"]).and_error(HttpError::new(529).message("Overloaded"));
        compare(&format!("{}-error-in-stream", api.name()), &shown(&plan(api, reply, true)));
    }
}

#[test]
fn each_status_has_the_vendors_body() {
    for api in APIS {
        let mut text = String::new();
        for status in [400, 401, 402, 403, 404, 413, 429, 500, 503, 529] {
            let plan = plan(api, Reply::error(HttpError::new(status)), true);
            writeln!(text, "{} {}", plan.status.unwrap(), plan.text()).unwrap();
        }
        compare(&format!("{}-errors", api.name()), &text);
    }
}

#[test]
fn error_in_a_stream_is_a_status_without_one() {
    for api in APIS {
        let reply = Reply::text("Hel").and_error(HttpError::new(500));
        assert_eq!(plan(api, reply, false).status, Some(500));
    }
}

#[test]
fn malformed_arguments_go_out_as_they_are() {
    for api in APIS {
        let reply = Reply::empty().and(Step::Tool(ToolCall::with_text("Read", "{\"pa")));
        let text = plan(api, reply, true).text();
        assert!(text.contains(r#""{\"pa""#), "{text}");
    }
}

#[test]
fn cut_leaves_the_block_open() {
    for api in APIS {
        let plan = plan(api, Reply::text(["Hel"]).and_reset(), true);
        assert_eq!(plan.end, End::Reset);
        let text = plan.text();
        assert!(text.contains("Hel"), "{text}");
        for end in ["content_block_stop", "output_text.done", "finish_reason\":\"", "[DONE]"] {
            assert!(!text.contains(end), "{end} in {text}");
        }
    }
}

#[test]
fn usage_comes_at_the_end_of_a_chat_stream_only_if_asked_for() {
    let call = Call { include_usage: false, ..Call::default() };
    let answer = Rehearsal::new(Script::new().otherwise(Reply::text("x"))).answer(&call);
    let text = Api::OpenaiChat.plan(&call, &answer, 0).text();
    assert!(!text.contains("usage"), "{text}");
}

#[test]
fn delays_are_in_the_plan_and_nowhere_else() {
    let reply = || Reply::text(["a", "b"]).and_wait_ms(5).and_tool("T", json!({})).delay_ms(100, 10);
    let milliseconds = |plan: &Plan| -> Vec<u128> {
        plan.chunks.iter().map(|chunk| chunk.after.as_millis()).filter(|after| *after > 0).collect()
    };
    for api in APIS {
        let streamed = plan(api, reply(), true);
        assert_eq!(
            (streamed.delay.as_millis(), milliseconds(&streamed)),
            (100, vec![10, 15]),
            "{}",
            api.name()
        );
        let whole = plan(api, reply(), false);
        assert_eq!((whole.delay.as_millis(), milliseconds(&whole)), (125, vec![]), "{}", api.name());
    }
}

#[test]
fn ids_differ_between_answers_and_repeat_between_rehearsals() {
    let ids = || {
        let rehearsal = Rehearsal::new(Script::new().reply(Reply::tool("T", json!({})).when(when())));
        let call = Call::default();
        [(); 2].map(|()| format!("{:?}", rehearsal.answer(&call).events[0].event))
    };
    let [one, two] = ids();
    assert!(
        one.contains("call_rehearsal_000001_1") && two.contains("call_rehearsal_000002_1"),
        "{one} {two}"
    );
    assert_eq!(ids(), [one, two]);
}
