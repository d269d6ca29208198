use super::*;

fn report(capture: &str) -> Report {
    let mut report = Report::default();
    let entries = entry::read(capture).unwrap();
    Checker { file: Path::new("capture.jsonl"), entries: &entries, report: &mut report }.check();
    report
}

fn line(dir: &str, message: &str) -> String {
    format!(r#"{{"dir":"{dir}","t":0,"msg":{{"jsonrpc":"2.0","factoryApiVersion":"1.0.0",{message}}}}}"#)
        + "\n"
}

#[test]
fn all_recorded_traffic_passes() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/wire");
    let report = check(&[fixtures]).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert!(report.counts.lines > 2000, "{:?}", report.counts);
}

#[test]
fn our_types_name_all_parts_of_recorded_traffic_but_the_listed_ones() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/wire");
    let list = fs::read_to_string(fixtures.join("known-unknown.txt")).unwrap();
    let listed: Vec<_> = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let found = check(&[fixtures]).unwrap().unknown;
    assert_eq!(found.keys().collect::<Vec<_>>(), listed);
}

#[test]
fn a_notification_of_an_unknown_kind_is_a_problem() {
    let news = line(
        "s2c",
        r#""type":"notification","method":"droid.session_notification","params":{"notification":{"type":"nap"}}"#,
    );
    let problems = report(&news).problems;
    assert!(problems[0].contains(r#"notification="nap""#), "{problems:?}");
}

#[test]
fn an_unknown_method_is_a_problem_unless_the_peer_refused_it() {
    let call = line("c2s", r#""type":"request","id":"1","method":"droid.nope","params":{}"#);
    let refusal = line("s2c", r#""type":"response","id":"1","error":{"code":-32601,"message":"no"}"#);
    assert_eq!(report(&call).problems, ["capture.jsonl:1: unknown method `droid.nope`"]);
    assert_eq!(report(&(call + &refusal)).problems, Vec::<String>::new());
}

#[test]
fn a_payload_of_the_wrong_shape_is_a_problem_with_its_place() {
    let news = line(
        "s2c",
        r#""type":"notification","method":"droid.session_notification","params":{"notification":{"type":"tool_result","toolUseId":7,"content":""}}"#,
    );
    let problems = report(&news).problems;
    assert!(problems[0].contains("params.notification.toolUseId"), "{problems:?}");
}

#[test]
fn answers_are_checked_against_the_call_they_answer() {
    let call = line("c2s", r#""type":"request","id":"1","method":"droid.fork_session","params":{}"#);
    let answer = line("s2c", r#""type":"response","id":"1","result":{"new":1}"#);
    let problems = report(&(call + &answer)).problems;
    assert!(problems[0].starts_with("capture.jsonl:2: `droid.fork_session`"), "{problems:?}");
}

#[test]
fn parts_our_types_do_not_name_are_listed() {
    let news = line(
        "s2c",
        r#""type":"notification","method":"droid.session_notification","params":{"notification":{"type":"llm_retry","reason":"bored","x":1}}"#,
    );
    let unknown: Vec<_> = report(&news).unknown.into_keys().collect();
    assert_eq!(
        unknown,
        [
            r#"droid.session_notification Params notification.reason="bored""#,
            "droid.session_notification Params notification.x",
        ]
    );
}

#[test]
fn a_malformed_line_of_the_agent_is_a_problem() {
    let news = r#"{"dir":"s2c","t":0,"raw":"oops"}"#;
    assert_eq!(report(news).problems.len(), 1);
}
