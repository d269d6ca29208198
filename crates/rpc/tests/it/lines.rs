//! Reading lines: recorded traffic cut anywhere, rubbish of every kind, and lines without end.

use std::path::Path;

use musher_rpc::{Closed, Limits, Line, LineSplitter, over};
use musher_wire::{Frame, Reason};
use proptest::prelude::*;
use tokio::io::AsyncWriteExt;

use crate::support::{all, notification, soon};

/// Every recorded line of both directions, as it was on the wire.
fn recorded() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire");
    let folders =
        fs_err::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files =
        folders.flat_map(|folder| fs_err::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let captures = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let texts: Vec<_> = captures.map(|path| fs_err::read_to_string(path).unwrap()).collect();
    let lines: Vec<_> = texts.iter().flat_map(|text| text.lines()).filter_map(on_the_wire).collect();
    assert!(lines.len() > 1000, "the fixtures are there");
    lines
}

fn on_the_wire(record: &str) -> Option<Vec<u8>> {
    let record: serde_json::Value = serde_json::from_str(record).ok()?;
    if let Some(raw) = record.get("raw") {
        return Some(raw.as_str()?.trim_end_matches('\n').into());
    }
    record.get("msg").or_else(|| record.get("m")).map(|message| message.to_string().into_bytes())
}

fn split<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(bool, Vec<u8>)> {
    let mut lines = Vec::new();
    let mut splitter = LineSplitter::new(limit);
    let mut take = |line: Line<'_>| match line {
        Line::Whole(line) => lines.push((true, line.to_vec())),
        Line::TooLong(line) => lines.push((false, line.to_vec())),
    };
    for piece in pieces {
        splitter.push(piece, &mut take);
    }
    splitter.finish(&mut take);
    lines
}

#[test]
fn recorded_lines_cut_at_any_byte_stay_the_same() {
    for line in recorded() {
        let stream = [b"before\n", line.as_slice(), b"\r\nafter"].concat();
        let whole = split(usize::MAX, [stream.as_slice()]);
        // every byte; in the few long lines every so often, as the cost is quadratic
        for cut in (0..=stream.len()).step_by(1 + line.len() / 4000) {
            let mut expected = whole.iter();
            let mut splitter = LineSplitter::new(usize::MAX);
            let mut compare = |line: Line<'_>| {
                assert_eq!(Some(line), expected.next().map(|(_, line)| Line::Whole(line)), "cut at {cut}");
            };
            splitter.push(&stream[..cut], &mut compare);
            splitter.push(&stream[cut..], &mut compare);
            splitter.finish(&mut compare);
            assert_eq!(expected.next(), None);
        }
    }
}

#[tokio::test]
async fn recorded_traffic_read_in_tiny_pieces_gives_the_same_frames() {
    let lines: Vec<_> = recorded().into_iter().filter(|line| line.len() < 2000).take(300).collect();
    let expected: Vec<_> =
        lines.iter().filter(|line| !Frame::is_blank(line)).map(|line| Frame::parse(line)).collect();
    for size in [1, 7] {
        let (near, mut far) = tokio::io::duplex(size);
        let mut connection = over(near, tokio::io::sink(), Limits::default());
        let text = lines.join(&b'\n');
        let writing = tokio::spawn(async move { far.write_all(&text).await });
        let (frames, closed) = all(&mut connection.incoming).await;
        assert_eq!(frames, expected);
        assert!(matches!(closed, Closed::Ended));
        soon(writing).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn each_kind_of_bad_line_is_one_frame_and_the_next_line_is_read() {
    let deep = format!(r#"{{"method":"m","params":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let long = format!(r#"{{"method":"{}"}}"#, "x".repeat(1_000_000));
    let rows: &[(&str, &[u8], &str)] = &[
        ("not JSON", b"oops", "malformed"),
        ("half a message", br#"{"type":"notification","method":"m""#, "malformed"),
        ("an array", b"[]", "malformed"),
        ("a number", b"42", "malformed"),
        ("null", b"null", "malformed"),
        ("no kind of message", b"{}", "malformed"),
        ("method of the wrong type", br#"{"type":"notification","method":7}"#, "malformed"),
        ("id of the wrong type", br#"{"type":"request","id":{},"method":"m"}"#, "malformed"),
        ("numeric id", br#"{"type":"request","id":7,"method":"m"}"#, "request"),
        ("invalid UTF-8 in a string", b"{\"method\":\"a\xff\"}", "notification"),
        ("invalid UTF-8 alone", b"\xff\xfe", "malformed"),
        ("NUL bytes", b"\0\0\0", "malformed"),
        ("byte-order mark", b"\xef\xbb\xbf{\"method\":\"m\"}", "malformed"),
        ("CRLF", b"{\"method\":\"m\"}\r", "notification"),
        ("too deep", deep.as_bytes(), "malformed"),
        ("too long", long.as_bytes(), "malformed"),
        ("empty", b"", "nothing"),
        ("blank", b" \t ", "nothing"),
        ("only CR", b"\r", "nothing"),
    ];
    for (name, line, expected) in rows {
        let text = [line, b"\n".as_slice(), notification(1).to_line().as_bytes()].concat();
        let limits = Limits { line: 500_000, ..Limits::default() };
        let mut connection = over(std::io::Cursor::new(text), tokio::io::sink(), limits);
        let (mut frames, closed) = all(&mut connection.incoming).await;
        assert!(matches!(closed, Closed::Ended));
        assert_eq!(frames.pop(), Some(notification(1)), "{name}: the next line, which has no line end");
        let kinds: Vec<_> = frames
            .iter()
            .map(|frame| match frame {
                Frame::Request(_) => "request",
                Frame::Response(_) => "response",
                Frame::Notification(_) => "notification",
                Frame::Malformed(_) => "malformed",
            })
            .collect();
        let expected: &[&str] = if *expected == "nothing" { &[] } else { &[expected] };
        assert_eq!(kinds, expected, "{name}");
    }
}

#[tokio::test]
async fn line_of_100_mb_is_one_frame_and_the_stream_continues() {
    let (near, mut far) = tokio::io::duplex(256 * 1024);
    let mut connection = over(near, tokio::io::sink(), Limits::default());
    let writing = tokio::spawn(async move {
        let chunk = vec![b'x'; 1024 * 1024];
        far.write_all(br#"{"type":"response","id":"7","result":""#).await?;
        for _ in 0..100 {
            far.write_all(&chunk).await?;
        }
        far.write_all(format!("\"}}\n{}\n", notification(1).to_line()).as_bytes()).await
    });
    let (frames, _) = all(&mut connection.incoming).await;
    soon(writing).await.unwrap().unwrap();
    let [Frame::Malformed(malformed), next] = &frames[..] else { panic!("{} frames", frames.len()) };
    assert!(matches!(malformed.reason, Reason::TooLong { limit: musher_rpc::DEFAULT_LINE_LIMIT }));
    assert_eq!(malformed.raw.len(), 1024);
    assert!(malformed.raw.starts_with(r#"{"type":"response","id":"7","#));
    assert_eq!(*next, notification(1));
}

/// What the splitter should do, said plainly.
fn model(limit: usize, text: &[u8]) -> Vec<(bool, Vec<u8>)> {
    text.split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| line.len() > limit || !Frame::is_blank(line))
        .map(|line| if line.len() > limit { (false, line[..limit].to_vec()) } else { (true, line.to_vec()) })
        .collect()
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_give_the_lines_of_the_model(
        pieces in prop::collection::vec(prop::collection::vec(prop_oneof![
            3 => Just(b'\n'), 2 => Just(b'\r'), 2 => Just(b' '), 6 => any::<u8>(),
        ], 0..12), 0..12),
        limit in 1_usize..8,
    ) {
        let text = pieces.concat();
        prop_assert_eq!(split(limit, pieces.iter().map(Vec::as_slice)), model(limit, &text));
    }

    #[test]
    fn damaged_line_never_takes_the_next_one_with_it(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..3), 1..8),
        size in 1_usize..400,
    ) {
        thread_local!(static RECORDED: Vec<Vec<u8>> = recorded());
        let mut line = RECORDED.with(|lines| which.get(lines).clone());
        for (at, byte, kind) in damage {
            if line.is_empty() {
                break;
            }
            let at = at.index(line.len());
            match kind {
                0 => line[at] = byte,
                1 => line.insert(at, byte),
                _ => line.truncate(at),
            }
        }
        let good = notification(7).to_line();
        let stream = [line.as_slice(), b"\n", good.as_bytes(), b"\n"].concat();
        let lines = split(usize::MAX, stream.chunks(size));
        let frames: Vec<_> = lines.iter().map(|(_, line)| Frame::parse(line)).collect();
        prop_assert_eq!(frames.last(), Some(&notification(7)));
    }
}
