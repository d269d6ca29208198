use super::{DEFAULT_LINE_LIMIT, Line, LineSplitter, MAX_SPARE};

fn split(limit: usize, pieces: &[&[u8]]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut splitter = LineSplitter::new(limit);
    let mut take = |line: Line<'_>| lines.push(format!("{line:?}"));
    for piece in pieces {
        splitter.push(piece, &mut take);
    }
    splitter.finish(&mut take);
    lines
}

#[test]
fn any_two_cuts_give_the_same_lines() {
    let text =
        "a\r\n\n \t\r\nh\u{e9}llo\nexactly8\r\nexactly8\nnine long\r\nten longer\n\r\rx\r\nlast\r".as_bytes();
    let whole = split(8, &[text]);
    assert_eq!(
        whole,
        [
            r#"Whole("a")"#,
            r#"Whole("héllo")"#,
            r#"Whole("exactly8")"#,
            r#"Whole("exactly8")"#,
            r#"TooLong("nine lon")"#,
            r#"TooLong("ten long")"#,
            r#"Whole("\r\rx")"#,
            r#"Whole("last")"#,
        ]
    );
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let pieces = [&text[..first], &text[first..second], &text[second..]];
            assert_eq!(split(8, &pieces), whole, "cut at {first} and {second}");
        }
    }
}

#[test]
fn carriage_return_is_kept_only_within_a_line() {
    assert_eq!(split(3, &[b"abc\r", b"\n"]), [r#"Whole("abc")"#]);
    assert_eq!(split(3, &[b"abc\r", b"d\n"]), [r#"TooLong("abc")"#]);
    assert_eq!(split(3, &[b"abc\r", b"\r\n"]), [r#"TooLong("abc")"#]);
}

#[test]
fn too_long_line_is_reported_early_and_once() {
    let mut lines = Vec::new();
    let mut splitter = LineSplitter::new(4);
    splitter.push(b"12345", |line| lines.push(format!("{line:?}")));
    assert_eq!(lines, [r#"TooLong("1234")"#]);
    splitter.push(b"6789", |line| lines.push(format!("{line:?}")));
    splitter.push(b"0\nok\n", |line| lines.push(format!("{line:?}")));
    splitter.finish(|line| lines.push(format!("{line:?}")));
    assert_eq!(lines, [r#"TooLong("1234")"#, r#"Whole("ok")"#]);
}

#[test]
fn line_of_100_mb_stays_within_the_memory_limit_and_the_stream_continues() {
    let mut splitter = LineSplitter::new(DEFAULT_LINE_LIMIT);
    let (mut seen, mut most) = (Vec::new(), 0);
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..100 * 1024 * 1024 / chunk.len() {
        splitter.push(&chunk, |line| seen.push(matches!(line, Line::TooLong(_))));
        most = most.max(splitter.capacity());
    }
    splitter.push(b"\nnext\n", |line| seen.push(line == Line::Whole(b"next")));
    assert_eq!(seen, [true, true]);
    assert!(most <= DEFAULT_LINE_LIMIT + 1, "held {most} bytes");
    assert_eq!(splitter.capacity(), 0);
}

#[test]
fn memory_of_a_big_line_is_released() {
    let mut splitter = LineSplitter::new(DEFAULT_LINE_LIMIT);
    let big = vec![b'x'; 1024 * 1024];
    splitter.push(&big, |_| panic!("not yet"));
    assert!(splitter.capacity() >= big.len());
    let mut length = 0;
    splitter.push(b"\nsma", |line| length = if let Line::Whole(line) = line { line.len() } else { 0 });
    assert_eq!(length, big.len());
    assert!(splitter.capacity() <= MAX_SPARE);
}

#[test]
fn limit_cannot_exceed_the_maximum() {
    assert_eq!(LineSplitter::new(usize::MAX).limit(), super::MAX_LINE_LIMIT);
}
