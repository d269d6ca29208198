//! Damaged logs.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::support::{Home, after, messages, record, said, session_id, two_turns};
use crate::{Record, Stored};
use musher_message::{Message, Role};

/// Reads, loads twice, and appends in between; checks the invariants.
fn check(home: &Home, mut is_kept: impl FnMut(&Message) -> bool) -> TestCaseResult {
    let read = home.store().read(&session_id("s")).unwrap();
    let said_ids = |session: &Stored| session.messages.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
    for message in messages(two_turns()).iter().filter(|message| is_kept(message)) {
        let found = read.messages.iter().find(|found| found.id == message.id);
        // results for interrupted calls may have been added
        let is_complete = found.is_some_and(|found| found.content.starts_with(&message.content));
        prop_assert!(is_complete, "{} is lost; {}", message.id, read.damage);
    }
    let mut first = home.store().load(&session_id("s")).unwrap();
    prop_assert_eq!(said_ids(&first.session).len(), said_ids(&read).len());
    let last = first.session.messages.last().map(|message| message.id.clone());
    let mut more = said("more", Role::User, "More.");
    more.parent_id = last;
    first.log.append(&record(more.clone())).unwrap();
    drop(first.log);
    let second = home.store().load(&session_id("s")).unwrap();
    prop_assert!(second.session.damage.is_none(), "reported twice: {}", second.session.damage);
    first.session.messages.push(more);
    let ids = said_ids(&first.session);
    prop_assert_eq!(said_ids(&second.session), ids);
    Ok(())
}

/// Returns the position of each record, including its line end.
fn places(content: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut begin = 0;
    let ends = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.map(|end| std::mem::replace(&mut begin, end)..end).collect()
}

/// Selects the messages whose lines are complete.
fn kept<'a>(
    content: &'a [u8],
    is_complete: impl Fn(&std::ops::Range<usize>) -> bool + 'a,
) -> impl FnMut(&Message) -> bool {
    let records: Vec<Record> = two_turns();
    let places = places(content);
    let whole: Vec<String> = records
        .iter()
        .zip(&places[1..])
        .filter_map(|(record, at)| match record {
            Record::Message(message) if is_complete(at) => Some(message.id.clone()),
            _ => None,
        })
        .collect();
    move |message| whole.contains(&message.id)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_prefix_loads_with_all_complete_records(cut in 0.0..1.0) {
        let home = Home::with_session("s");
        let file = home.log_file("s");
        let content = fs_err::read(&file).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let cut = (content.len() as f64 * cut) as usize;
        fs_err::write(&file, &content[..cut]).unwrap();
        check(&home, kept(&content, |at| at.end <= cut))?;
    }

    #[test]
    fn any_changed_byte_loses_at_most_one_record(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let home = Home::with_session("s");
        let file = home.log_file("s");
        let mut content = fs_err::read(&file).unwrap();
        let whole = content.clone();
        let at = at.index(content.len());
        content[at] = byte;
        fs_err::write(&file, &content).unwrap();
        check(&home, kept(&whole, |place| !place.contains(&at)))?;
    }

    #[test]
    fn garbage_between_lines_loses_no_record(line in 0_usize..9, garbage in prop::collection::vec(any::<u8>(), 0..400)) {
        let home = Home::with_session("s");
        let file = home.log_file("s");
        let content = fs_err::read(&file).unwrap();
        let at = places(&content)[line].start;
        let mut damaged = content[..at].to_vec();
        damaged.extend_from_slice(&garbage);
        damaged.push(b'\n');
        damaged.extend_from_slice(&content[at..]);
        fs_err::write(&file, &damaged).unwrap();
        check(&home, |_| true)?;
    }
}

#[test]
fn missing_line_end_loses_no_record() {
    for replacement in [b'x', b'{', b'}', b' ', b'\0', b'"', 0xff] {
        for line in 0..9 {
            let home = Home::with_session("s");
            let file = home.log_file("s");
            let mut content = fs_err::read(&file).unwrap();
            let end = places(&content)[line].end - 1;
            content[end] = replacement;
            fs_err::write(&file, &content).unwrap();
            check(&home, |_| true).unwrap();
        }
    }
}

#[test]
fn trailing_zeros_are_removed() {
    let home = Home::with_session("s");
    let file = home.log_file("s");
    let mut content = fs_err::read(&file).unwrap();
    content.extend([0; 4096]);
    fs_err::write(&file, &content).unwrap();
    assert!(home.store().read(&session_id("s")).unwrap().damage.is_torn);
    check(&home, |_| true).unwrap();
    assert!(!fs_err::read(&file).unwrap().contains(&0));
}

#[test]
fn log_without_its_first_line_is_listed_after_the_next_record() {
    let home = Home::with_session("s");
    let file = home.log_file("s");
    let content = fs_err::read(&file).unwrap();
    fs_err::write(&file, &content[places(&content)[0].end..]).unwrap();
    assert!(home.store().list(None, 9).is_empty());
    let mut loaded = home.store().load(&session_id("s")).unwrap();
    assert!(loaded.session.damage.is_start_lost);
    loaded.log.append(&record(after("ending", said("u3", Role::User, "More.")))).unwrap();
    let listed = &home.store().list(None, 9)[0];
    assert_eq!(
        listed.cwd.as_deref(),
        Some(std::path::Path::new("/workspace")),
        "the directory is repeated in the settings"
    );
    assert_eq!(home.store().read(&session_id("s")).unwrap().messages.len(), 7);
}

#[test]
fn damaged_log_is_kept_as_a_backup() {
    let home = Home::with_session("s");
    let file = home.log_file("s");
    let mut content = fs_err::read(&file).unwrap();
    content.splice(0..0, *b"garbage\n");
    fs_err::write(&file, &content).unwrap();
    check(&home, |_| true).unwrap();
    let entries = fs_err::read_dir(file.parent().unwrap()).unwrap();
    let damaged: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "damaged"))
        .collect();
    assert_eq!(damaged.len(), 1);
    assert_eq!(fs_err::read(&damaged[0]).unwrap(), content);
}

#[test]
fn object_inside_a_damaged_record_is_not_a_record() {
    let home = Home::with_session("s");
    let file = home.log_file("s");
    let mut content = fs_err::read(&file).unwrap();
    let forged = r#"{"type":"message","id":"forged","message":{"role":"user","content":[]}}"#;
    for damaged in [
        format!(
            r#"{{"type":"message","id":"x","message":{{"role":"assistant","content":[{{"type":"tool_use","input":{forged}"#
        ),
        format!("\u{1}\"type\":\"x\",\"input\":{forged}}}"),
    ] {
        content.extend_from_slice(damaged.as_bytes());
        content.push(b'\n');
    }
    fs_err::write(&file, &content).unwrap();
    let session = home.store().read(&session_id("s")).unwrap();
    assert_eq!(session.damage.damaged_lines, 2);
    assert_eq!(session.messages, messages(two_turns()));
}
