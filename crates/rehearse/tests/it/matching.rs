//! Requests of agents, and the reply each gets.

use musher_rehearse::{Answer, Api, Call, Rehearsal, Reply, Script, Source, ToolResult, when};
use proptest::prelude::*;
use serde_json::{Value, json};

#[track_caller]
fn read(api: Api, body: &Value) -> Call {
    api.read(body).unwrap()
}

fn counts(call: &Call) -> (u32, u32, &str) {
    (call.turn, call.call, &call.prompt)
}

fn result(tool: &str, text: &str) -> ToolResult {
    let body = json!({
        "model": "m",
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": tool, "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}
        ]
    });
    read(Api::Anthropic, &body).tool_results.remove(0)
}

#[test]
fn anthropic_reminders_and_results_beside_the_prompt_do_not_count_as_turns() {
    let body = json!({
        "model": "claude-opus-5-5",
        "stream": true,
        "system": [{"type": "text", "text": "You are an agent."}, {"type": "text", "text": "Be brief."}],
        "tools": [{"name": "Read", "input_schema": {}}, {"name": "Bash", "input_schema": {}}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\nlist the files\n</system-reminder>"},
                {"type": "text", "text": "first question"}
            ]},
            {"role": "assistant", "content": "first answer"},
            {"role": "user", "content": "second question"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "ls"}}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "text of a"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [
                    {"type": "text", "text": "one"}, {"type": "text", "text": "two"}
                ], "is_error": true},
                {"type": "text", "text": "<system-reminder>be careful</system-reminder>"}
            ]}
        ]
    });
    let call = read(Api::Anthropic, &body);
    assert_eq!(counts(&call), (2, 2, "second question"));
    assert_eq!(call.system, "You are an agent.\nBe brief.");
    assert_eq!(call.tools, ["Read", "Bash"]);
    assert_eq!(call.tool_results, [result("Read", "text of a"), result("Bash", "one\ntwo")]);
    assert!(call.stream);
}

#[test]
fn chat_completions_count_rounds_of_tools() {
    let tool_call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "LS", "arguments": "{}"}});
    let body = json!({
        "model": "gpt",
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {"name": "LS"}}],
        "messages": [
            {"role": "system", "content": "system text"},
            {"role": "developer", "content": [{"type": "text", "text": "developer text"}]},
            {"role": "user", "content": "environment"},
            {"role": "user", "content": [{"type": "text", "text": "list"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": null, "tool_calls": [tool_call("a")]},
            {"role": "tool", "tool_call_id": "a", "content": "nothing"},
            {"role": "assistant", "content": "again", "tool_calls": [tool_call("b"), tool_call("c")]},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "x"}]},
            {"role": "tool", "tool_call_id": "c", "content": "y"}
        ]
    });
    let call = read(Api::OpenaiChat, &body);
    assert_eq!(counts(&call), (1, 3, "environment\nlist"));
    assert_eq!(call.system, "system text\ndeveloper text");
    assert_eq!(call.tool_results, [result("LS", "x"), result("LS", "y")]);
    assert_eq!((call.stream, call.include_usage), (true, true));
}

#[test]
fn responses_count_an_answer_of_several_items_once() {
    let body = json!({
        "model": "gpt",
        "instructions": "be an agent",
        "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "LS"}, {"type": "web_search"}],
        "input": [
            {"role": "developer", "content": "and brief"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list"}]},
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "a", "name": "LS", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "LS", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "x"},
            {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "y"}]}
        ]
    });
    let call = read(Api::OpenaiResponses, &body);
    assert_eq!(counts(&call), (1, 2, "list"));
    assert_eq!(call.system, "be an agent\nand brief");
    assert_eq!(call.tools, ["LS", "web_search"]);
    assert_eq!(call.tool_results, [result("LS", "x"), result("LS", "y")]);
    assert!(call.encrypted_reasoning);

    let short = read(Api::OpenaiResponses, &json!({"model": "gpt", "input": "hello"}));
    assert_eq!(counts(&short), (1, 1, "hello"));
}

#[test]
fn requests_without_required_fields_are_rejected() {
    for (api, body, expected) in [
        (Api::OpenaiChat, json!({"messages": []}), "model: you must provide a model parameter"),
        (Api::OpenaiChat, json!({"model": "m"}), "messages: a list of messages is required"),
        (Api::OpenaiResponses, json!({"model": "m"}), "input: a text or a list of items is required"),
        (Api::Anthropic, json!({"model": "m"}), "messages: Field required"),
        (Api::Anthropic, json!([]), "the request body must be a JSON object"),
    ] {
        assert_eq!(api.read(&body).unwrap_err(), expected);
    }
}

#[test]
fn first_matching_reply_that_is_not_used_up_answers() {
    let rehearsal = Rehearsal::new(
        Script::new()
            .reply(Reply::text("a").named("twice").times(2))
            .reply(Reply::text("b").when(when().prompt("go")))
            .otherwise(Reply::text("c")),
    );
    let source = |prompt: &str| {
        let call = Call { prompt: prompt.to_owned(), ..Call::default() };
        rehearsal.answer(&call).source.to_string()
    };
    let sources = [source("go"), source("x"), source("go"), source("go"), source("x")];
    assert_eq!(sources, ["twice", "twice", "reply 2", "reply 2", "otherwise"]);
    assert_eq!(rehearsal.uses(), [2, 2]);
}

#[test]
fn every_matcher_can_select_a_reply() {
    let fitting = Call {
        api: Api::Anthropic,
        model: "claude-opus".to_owned(),
        system: "You are an agent".to_owned(),
        prompt: "list files".to_owned(),
        turn: 2,
        call: 3,
        tool_results: vec![result("Read", "hello"), result("Bash", "exit 1")],
        tools: vec!["Read".to_owned()],
        ..Call::default()
    };
    let matchers = [
        (when().turn(2), when().turn(1), "turn is 2, not 1"),
        (when().call(3), when().call(1), "call is 3, not 1"),
        (when().api(Api::Anthropic), when().api(Api::OpenaiChat), "api is anthropic, not openai_chat"),
        (when().model("opus"), when().model("gpt"), "model does not match `gpt`"),
        (when().with_tools(), when().without_tools(), "tools are offered"),
        (when().offers("Read"), when().offers("LS"), "the tool LS is not offered"),
        (when().prompt("list"), when().prompt("write"), "prompt does not match `write`"),
        (when().system("agent"), when().system("title"), "system does not match `title`"),
        (when().tool_result("exit"), when().tool_result("bye"), "there is no new tool result matching `bye`"),
        (when().result_of("Bash"), when().result_of("LS"), "there is no new tool result of LS"),
        (
            when().result_of("Bash").tool_result("exit"),
            when().result_of("Read").tool_result("exit"),
            "there is no new tool result of Read matching `exit`",
        ),
    ];
    for (yes, no, why) in matchers {
        assert_eq!(yes.mismatch(&fitting), None);
        assert_eq!(no.mismatch(&fitting).as_deref(), Some(why));
    }
    let bare = Call::default();
    assert_eq!(when().with_tools().mismatch(&bare).as_deref(), Some("no tools are offered"));
    assert_eq!(when().tool_result("").mismatch(&bare).as_deref(), Some("there is no new tool result"));
}

#[test]
fn unmatched_call_gets_an_error_with_the_reason() {
    let rehearsal = Rehearsal::new(
        Script::new()
            .reply(Reply::text("a").named("greeting").when(when().turn(1).prompt("hello")))
            .reply(Reply::text("b").when(when().turn(2))),
    );
    let call = Call { prompt: "bye".to_owned(), ..Call::default() };
    let Answer { source, .. } = rehearsal.answer(&call);
    assert_eq!(source, Source::Unmatched);
    let answer = rehearsal.answer(&call);
    let error = answer.http_error().unwrap();
    assert_eq!(error.status, 400);
    assert_eq!(
        error.message.as_deref().unwrap(),
        "rehearsal: no reply of the script matches this call (api openai_chat, model `rehearsal`, turn 1, call 1, \
         0 tools, prompt `bye`); greeting: prompt does not match `hello`; reply 2: turn is 1, not 2"
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    // Words of the formats, so that the parsers get beyond their first checks.
    let word = prop::sample::select(vec![
        "role",
        "user",
        "assistant",
        "tool",
        "system",
        "content",
        "text",
        "type",
        "messages",
        "input",
        "model",
        "tools",
        "tool_calls",
        "function",
        "name",
        "id",
        "tool_use",
        "tool_result",
        "function_call",
        "call_id",
        "function_call_output",
        "output",
        "reasoning",
        "summary",
        "message",
        "stream",
        "x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..8).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_body_is_read_without_panic_and_any_call_is_answered(body in any_json(), messages in any_json()) {
        let rehearsal = Rehearsal::new(Script::new().reply(Reply::text("x").when(when().tool_result("x"))));
        for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic] {
            for body in [body.clone(), json!({"model": "m", "messages": messages, "input": messages, "tools": body})] {
                if let Ok(call) = api.read(&body) {
                    prop_assert!(call.turn >= 1 && call.call >= 1);
                    let answer = rehearsal.answer(&call);
                    prop_assert!(api.plan(&call, &answer, 0).status.is_some());
                }
            }
        }
    }
}
