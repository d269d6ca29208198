use super::super::keys::{Code, Input, Key, Parser};
use super::layout::Layout;
use super::*;

/// Types what a terminal would send.
fn typed(editor: &mut Editor, bytes: &str) {
    let mut parser = Parser::default();
    let mut inputs = parser.feed(bytes.as_bytes());
    inputs.extend(parser.flush());
    for input in inputs {
        match input {
            Input::Key(key) => drop(editor.key(key)),
            Input::Paste(text) => editor.paste(&text),
            Input::Focus(_) => {}
        }
    }
}

fn after(keys: &str) -> (String, usize) {
    let mut editor = Editor::new(false);
    typed(&mut editor, keys);
    (editor.text().to_owned(), editor.cursor())
}

fn vi(keys: &[&str]) -> (String, usize) {
    let mut editor = Editor::new(true);
    for keys in keys {
        typed(&mut editor, keys);
    }
    (editor.text().to_owned(), editor.cursor())
}

#[test]
fn keys_of_emacs_edit_the_text() {
    for (keys, text, cursor) in [
        ("hello", "hello", 5),
        ("hello\u{1}", "hello", 0),
        ("hello\u{1}\u{5}", "hello", 5),
        ("one two\u{1b}b", "one two", 4),
        ("one two\u{1}\u{1b}f", "one two", 3),
        ("one two\u{17}", "one ", 4),
        ("one two\u{1b}\u{7f}", "one ", 4),
        ("one two\u{1b}b\u{b}", "one ", 4),
        ("one two\u{15}", "", 0),
        ("one two\u{15}\u{19}\u{19}", "one twoone two", 14),
        ("one\ntwo", "one\ntwo", 7),
        ("one\ntwo\u{1b}[A", "one\ntwo", 3),
        ("one\ntwo\u{1b}[A\u{1b}[B", "one\ntwo", 7),
        ("ab\u{14}", "ab", 2),
        ("ab\u{1b}[D\u{14}", "ba", 2),
        ("abc\u{1b}[D\u{1b}[3~", "ab", 2),
        ("one two\u{1f}", "one", 3),
        ("one two\u{1f}\u{1f}", "", 0),
        ("a\u{1}\u{1b}d", "", 0),
    ] {
        assert_eq!(after(keys), (text.to_owned(), cursor), "{keys:?}");
    }
}

#[test]
fn what_looks_like_one_character_is_one() {
    for cluster in ["é", "e\u{301}", "日", "👩\u{200d}💻", "🇩🇪", "ก็"] {
        assert_eq!(after(&format!("a{cluster}\u{7f}")), ("a".to_owned(), 1), "{cluster}");
        assert_eq!(after(&format!("{cluster}b\u{1b}[D\u{1b}[D")), (format!("{cluster}b"), 0), "{cluster}");
    }
}

#[test]
fn up_and_down_have_no_meaning_at_the_ends() {
    let mut editor = Editor::new(false);
    editor.set("one\ntwo");
    assert!(editor.key(Key::plain(Code::Up)));
    assert!(!editor.key(Key::plain(Code::Up)));
    assert!(editor.key(Key::plain(Code::Down)));
    assert!(!editor.key(Key::plain(Code::Down)));
}

#[test]
fn long_paste_is_one_mark_and_comes_back_whole() {
    let text = "line\n".repeat(200_000);
    let mut editor = Editor::new(false);
    typed(&mut editor, "see ");
    editor.paste(&text);
    typed(&mut editor, " please");
    assert_eq!(editor.text(), "see [paste 1: 200000 lines, 1000000 bytes] please");
    assert_eq!(editor.take(), format!("see {text} please"));
    assert!(editor.is_empty());
}

#[test]
fn paste_of_control_characters_is_text() {
    let mut editor = Editor::new(false);
    editor.paste("a\u{1b}[31m\u{3}b\tc\n");
    assert_eq!(editor.text(), "a[31mb\tc\n");
}

#[test]
fn keys_of_vi_edit_the_text() {
    for (keys, text, cursor) in [
        (&["one two", "\u{1b}"][..], "one two", 6),
        (&["one two", "\u{1b}", "0"], "one two", 0),
        (&["one two", "\u{1b}", "0dw"], "two", 0),
        (&["one two", "\u{1b}", "bcwsix"], "one six", 7),
        (&["one two", "\u{1b}", "dd"], "", 0),
        (&["one two", "\u{1b}", "0x"], "ne two", 0),
        (&["one two", "\u{1b}", "0wD"], "one ", 4),
        (&["one", "\u{1b}", "otwo"], "one\ntwo", 7),
        (&["one", "\u{1b}", "Otwo"], "two\none", 3),
        (&["one", "\u{1b}", "0rx"], "xne", 0),
        (&["one two", "\u{1b}", "0de"], " two", 0),
        (&["one", "\u{1b}", "yyp"], "one\none", 4),
        (&["one\ntwo", "\u{1b}", "dd"], "one", 0),
        (&["one\ntwo", "\u{1b}", "ggdd"], "two", 0),
        (&["one", "\u{1b}", "ddu"], "one", 2),
        (&["one", "\u{1b}", "A!"], "one!", 4),
        (&["one", "\u{1b}", "I!"], "!one", 1),
        (&["one\ntwo", "\u{1b}", "gg"], "one\ntwo", 0),
        (&["one\ntwo", "\u{1b}", "ggj"], "one\ntwo", 4),
    ] {
        assert_eq!(vi(keys), (text.to_owned(), cursor), "{keys:?}");
    }
}

#[test]
fn rows_and_cursor_are_where_the_screen_has_them() {
    let at = |text: &str, cursor, columns| {
        let Layout { rows, row, column } = layout(text, cursor, columns);
        (rows, row, column)
    };
    let rows = |rows: &[&str]| rows.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
    assert_eq!(at("", 0, 10), (rows(&[""]), 0, 0));
    assert_eq!(at("abc\nd", 5, 10), (rows(&["abc", "d"]), 1, 1));
    assert_eq!(at("abcdef", 6, 4), (rows(&["abcd", "ef"]), 1, 2));
    assert_eq!(at("abcd", 4, 4), (rows(&["abcd", ""]), 1, 0));
    assert_eq!(at("日本語", 9, 5), (rows(&["日本", "語"]), 1, 2));
    assert_eq!(at("日本語", 6, 5), (rows(&["日本", "語"]), 1, 0));
    assert_eq!(at("a\u{1b}b", 1, 20), (rows(&["a\\u{1b}b"]), 0, 1));
}
