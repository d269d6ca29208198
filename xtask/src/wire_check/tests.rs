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
fn types_cover_recorded_traffic_except_listed_parts() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/wire");
    let list = fs::read_to_string(fixtures.join("known-unknown.txt")).unwrap();
    let listed: Vec<_> = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let found = check(&[fixtures]).unwrap().unknown;
    assert_eq!(found.keys().collect::<Vec<_>>(), listed);
}

#[test]
fn notification_of_an_unknown_kind_is_a_problem() {
    let notification = line(
        "s2c",
        r#""type":"notification","method":"droid.session_notification","params":{"notification":{"type":"nap"}}"#,
    );
    let problems = report(&notification).problems;
    assert!(problems[0].contains(r#"notification="nap""#), "{problems:?}");
}

#[test]
fn unknown_method_is_a_problem_unless_the_peer_rejected_it() {
    let call = line("c2s", r#""type":"request","id":"1","method":"droid.nope","params":{}"#);
    let refusal = line("s2c", r#""type":"response","id":"1","error":{"code":-32601,"message":"no"}"#);
    assert_eq!(report(&call).problems, ["capture.jsonl:1: unknown method `droid.nope`"]);
    assert_eq!(report(&(call + &refusal)).problems, Vec::<String>::new());
}

#[test]
fn payload_of_the_wrong_shape_is_a_problem_with_its_place() {
    let notification = line(
        "s2c",
        r#""type":"notification","method":"droid.session_notification","params":{"notification":{"type":"tool_result","toolUseId":7,"content":""}}"#,
    );
    let problems = report(&notification).problems;
    assert!(problems[0].contains("params.notification.toolUseId"), "{problems:?}");
}

#[test]
fn responses_are_checked_against_their_request() {
    let call = line("c2s", r#""type":"request","id":"1","method":"droid.fork_session","params":{}"#);
    let answer = line("s2c", r#""type":"response","id":"1","result":{"new":1}"#);
    let problems = report(&(call + &answer)).problems;
    assert!(
        problems[0].starts_with("capture.jsonl:2: invalid payload of `droid.fork_session` at result"),
        "{problems:?}"
    );
}

#[test]
fn parts_without_a_type_are_listed() {
    let notification = line(
        "s2c",
        r#""type":"notification","method":"droid.session_notification","params":{"notification":{"type":"llm_retry","reason":"bored","x":1}}"#,
    );
    let unknown: Vec<_> = report(&notification).unknown.into_keys().collect();
    assert_eq!(
        unknown,
        [
            r#"droid.session_notification Params notification.reason="bored""#,
            "droid.session_notification Params notification.x",
        ]
    );
}

#[test]
fn malformed_line_of_the_agent_is_a_problem() {
    let notification = r#"{"dir":"s2c","t":0,"raw":"oops"}"#;
    assert_eq!(report(notification).problems.len(), 1);
}
