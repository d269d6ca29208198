//! Parses scripts, and checks the errors.

use musher_rehearse::{
    Api, Cut, Finish, Hang, HttpError, Pattern, Pieces, Reply, Script, Step, ToolCall, Usage, when,
};
use serde_json::json;

#[track_caller]
fn error(text: &str) -> String {
    Script::parse("my.yaml", text).unwrap_err().to_string()
}

#[test]
fn shape_errors_name_the_line_and_column() {
    assert_eq!(
        error("repliess: []\n"),
        "my.yaml:1:1: unknown field `repliess`, expected one of about, models, replies, otherwise"
    );
    assert_eq!(
        error("replies:\n  - when:\n      turn: 1\n      prmpt: x\n    steps: []\n"),
        "my.yaml:4:7: unknown field `prmpt`, expected one of turn, call, prompt, tool_result, model, tools, offers, \
         system, api"
    );
    assert_eq!(error("replies:\n  - name: a\n"), "my.yaml:2:5: missing field `steps`");
    assert_eq!(
        error("replies:\n  - steps:\n      - text: a\n      - txet: b\n"),
        "my.yaml:4:9: unknown variant `txet`, expected one of text, thinking, tool, wait_ms, error, cut, hang"
    );
    assert_eq!(
        error("replies:\n  - steps:\n      - text: a\n        tool: {name: x}\n"),
        "my.yaml:4:9: a step has exactly one key; start the next step with `-`"
    );
    assert_eq!(
        error("replies:\n  - steps:\n      - text: 12\n"),
        "my.yaml:3:9: invalid type: integer `12`, expected a text, a list of texts, or an object with `text` and \
         `chunk`"
    );
}

#[test]
fn syntax_errors_name_the_line_and_column_in_both_languages() {
    assert_eq!(error("replies:\n  - steps: [\n"), "my.yaml:2:12: unclosed bracket '['");
    assert_eq!(
        error("{\"replies\": [\n  {\"steps\": [}\n]}"),
        "my.yaml:2:13: mismatched bracket '[' closed by '}'"
    );
    assert_eq!(
        error("{\"replies\": [\n  {\"steps\": [],\n   \"x\": 1}\n]}"),
        "my.yaml:3:4: unknown field `x`, expected one of name, when, times, steps, usage, delay, finish"
    );
    assert_eq!(
        error("replies:\n  - steps: []\n    steps: []\n"),
        "my.yaml:3:5: duplicate mapping key: steps not allowed here"
    );
}

#[test]
fn value_errors_name_the_line_and_column() {
    for (text, expected) in [
        (
            "replies:\n  - when:\n      turn: 1\n      prompt: \"(\"\n    steps: []\n",
            "my.yaml:4:15: invalid regular expression `(`: unclosed group",
        ),
        (
            "replies:\n  - when: {tool_result: {}}\n    steps: []\n",
            "my.yaml:2:25: `tool_result` needs `tool`, `text` or both",
        ),
        (
            "replies:\n  - when: {turn: 0}\n    steps: []\n",
            "my.yaml:2:12: invalid value: integer `0`, expected a number of at least 1",
        ),
        (
            "replies:\n  - steps:\n      - error: {status: 200}\n",
            "my.yaml:3:17: invalid value: integer `200`, expected an HTTP error status, 400 to 599",
        ),
        (
            "replies:\n  - steps:\n      - text: {text: a, chunk: 0}\n",
            "my.yaml:3:25: invalid value: integer `0`, expected a number of at least 1",
        ),
        (
            "replies:\n  - steps:\n      - text: a\n      - cut: reset\n      - text: b\n",
            "my.yaml:5:9: nothing may follow `cut`: this step would never be played",
        ),
        (
            "replies:\n  - steps:\n      - text: a\n      - hang: before_headers\n",
            "my.yaml:4:9: `hang: before_headers` must be the only step: the steps before it need the headers",
        ),
        (
            "replies:\n  - steps:\n      - tool: {name: x, arguments: {a: 1}, arguments_text: b}\n",
            "my.yaml:3:9: a tool takes `arguments` or `arguments_text`, not both",
        ),
        (
            "otherwise:\n  when: {turn: 1}\n  steps: []\n",
            "my.yaml:2:3: `otherwise` takes no `when`: it answers every remaining call",
        ),
        (
            "otherwise:\n  times: 1\n  steps: []\n",
            "my.yaml:2:3: `otherwise` takes no `times`: it answers every remaining call",
        ),
        ("", "my.yaml:1:1: the script is empty: it needs `replies`, `otherwise` or both"),
    ] {
        assert_eq!(error(text), expected);
    }
}

#[test]
fn unquoted_no_is_a_string() {
    let script = Script::parse("my.yaml", "otherwise: {steps: [{text: no}, {text: [yes, on]}]}").unwrap();
    assert_eq!(script, Script::new().otherwise(Reply::text("no").and_text(["yes", "on"])));
}

#[test]
fn missing_file_is_named_in_the_error() {
    let path = std::path::Path::new("no/such/script.yaml");
    let error = Script::read(path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("no/such/script.yaml"), "{source}");
}

/// Every key of the script language once, and the same built in Rust.
#[test]
fn yaml_json_and_rust_build_the_same_script() {
    let yaml = r#"
about: all keys
models: [one, two]
replies:
  - name: everything
    when:
      turn: 2
      call: 3
      prompt: "^a+$"
      tool_result: {tool: Read, text: "1\\.5"}
      model: opus
      tools: true
      offers: Read
      system: agent
      api: anthropic
    times: 4
    steps:
      - thinking: hm
      - text: {text: abcdef, chunk: 4}
      - wait_ms: 5
      - text: [a, b]
      - tool: {name: Read, arguments: {path: a}, id: one, chunk: 3}
      - tool: {name: Read, arguments_text: "{"}
      - cut: reset
    usage: {input: 1, output: 2, cache_read: 3, cache_creation: 4, reasoning: 5}
    delay: {first_ms: 6, between_ms: 7}
    finish: length
  - steps: [{error: {status: 429, message: m, kind: k, code: c, retry_after_seconds: 8, in_stream: true}}]
  - when: {tool_result: done, tools: false}
    steps: [{hang: before_headers}]
otherwise:
  steps: []
"#;
    let usage = Usage {
        input: Some(1),
        output: Some(2),
        cache_read: Some(3),
        cache_creation: Some(4),
        reasoning: Some(5),
    };
    let everything = Reply::thinking("hm")
        .and_text(Pieces::Every { text: "abcdef".to_owned(), chunk: 4 })
        .and_wait_ms(5)
        .and_text(["a", "b"])
        .and(Step::Tool(ToolCall::new("Read", json!({"path": "a"})).id("one").chunk(3)))
        .and(Step::Tool(ToolCall::with_text("Read", "{")))
        .and(Step::Cut(Cut::Reset))
        .named("everything")
        .times(4)
        .usage(usage)
        .delay_ms(6, 7)
        .finish(Finish::Length)
        .when(
            when()
                .turn(2)
                .call(3)
                .prompt(Pattern::new("^a+$").unwrap())
                .tool_result("1.5")
                .result_of("Read")
                .model("opus")
                .with_tools()
                .offers("Read")
                .system("agent")
                .api(Api::Anthropic),
        );
    let mut error = HttpError::new(429).message("m").kind("k").retry_after_seconds(8).in_stream();
    error.code = Some("c".to_owned());
    let mut built = Script::new()
        .model("one")
        .model("two")
        .reply(everything)
        .reply(Reply::error(error))
        .reply(Reply::hang(Hang::BeforeHeaders).when(when().tool_result("done").without_tools()))
        .otherwise(Reply::empty());
    built.about = Some("all keys".to_owned());

    let read = Script::parse("yaml", yaml).unwrap();
    assert_eq!(read, built);
    let printed = serde_json::to_string_pretty(&built).unwrap();
    assert_eq!(Script::parse("json", &printed).unwrap(), built);
}

#[test]
fn schema_knows_every_key_and_refuses_others() {
    let schema = Script::schema();
    assert_eq!(schema["additionalProperties"], false);
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(keys(&schema["properties"]), ["about", "models", "otherwise", "replies"]);
    let reply = &schema["$defs"]["Reply"];
    assert_eq!(keys(&reply["properties"]), ["delay", "finish", "name", "steps", "times", "usage", "when"]);
    assert_eq!(reply["required"], json!(["steps"]));
    let when = &schema["$defs"]["When"];
    assert_eq!(when["properties"]["turn"]["minimum"], 1);
    assert_eq!(schema["$defs"]["HttpError"]["required"], json!(["status"]));
}

#[test]
fn tour_says_that_it_is_scripted() {
    let tour = Script::tour().unwrap();
    for reply in tour.replies.iter().chain(&tour.otherwise) {
        let text = serde_json::to_string(&reply.steps).unwrap().to_lowercase();
        assert!(text.contains("script"), "{text}");
    }
}

#[test]
fn scripts_in_the_documentation_are_valid() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rehearse.md");
    let text = fs_err::read_to_string(page).unwrap();
    let scripts: Vec<&str> =
        text.split("```yaml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        Script::parse("docs/rehearse.md", script).unwrap();
    }
}
