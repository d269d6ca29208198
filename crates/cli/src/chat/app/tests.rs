use serde_json::Value;

use super::super::keys::Parser;
use super::*;

struct Stage {
    app: App,
    now: Instant,
}

impl Stage {
    fn new() -> Self {
        let now = Instant::now();
        let (keymap, _) = Keymap::read(&Value::Null);
        Self { app: App::new(Transcript::new(None), History::default(), keymap, now, 60), now }
    }

    /// What a terminal sends, after some milliseconds.
    fn keys(&mut self, after: u64, bytes: &str) -> Vec<Action> {
        self.now += Duration::from_millis(after);
        self.app.at(self.now);
        let mut parser = Parser::default();
        let inputs: Vec<_> = parser.feed(bytes.as_bytes()).into_iter().chain(parser.flush()).collect();
        for input in inputs {
            self.app.input(input);
        }
        self.app.actions()
    }

    fn live(&mut self) -> Vec<String> {
        self.app.frame(60, 40).live.iter().map(Line::text).collect()
    }

    fn started(&mut self, bytes: &str) -> String {
        match self.keys(0, bytes).as_slice() {
            [Action::Start(text)] => text.clone(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn enter_sends_and_other_ways_make_a_new_line() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.started("one\u{1b}\rtwo\u{a}three\\\rfour\u{1b}[13;2ufive\r"),
        "one\ntwo\nthree\nfour\nfive"
    );
    assert_eq!(stage.app.draft(), "");
    assert!(stage.keys(0, "  \r").is_empty());
}

#[test]
fn prompts_wait_while_a_turn_runs_and_can_be_taken_back() {
    let mut stage = Stage::new();
    let first = stage.started("first\r");
    stage.app.begun(&first);
    assert!(stage.keys(0, "second\r").is_empty());
    assert!(stage.keys(0, "third\r").is_empty());
    let live = stage.live().join("\n");
    assert!(live.contains("waits: second") && live.contains("waits: third"), "{live}");
    // Up takes the last one back
    stage.keys(0, "\u{1b}[A");
    assert_eq!(stage.app.draft(), "third");
    stage.app.ended();
    assert!(matches!(stage.app.actions().as_slice(), [Action::Start(text)] if text == "second"));
}

#[test]
fn waiting_prompts_are_sent_at_once_if_wanted() {
    let mut stage = Stage::new();
    stage.app.begun("first");
    let actions = stage.keys(0, "second\u{1b}s");
    assert!(matches!(actions.as_slice(), [Action::Interrupt]), "{actions:?}");
    stage.app.ended();
    assert!(matches!(stage.app.actions().as_slice(), [Action::Start(text)] if text == "second"));
}

#[test]
fn ctrl_c_clears_then_interrupts_then_quits() {
    let mut stage = Stage::new();
    stage.app.begun("first");
    assert!(stage.keys(0, "typed\u{3}").is_empty());
    assert_eq!(stage.app.draft(), "");
    assert!(matches!(stage.keys(0, "\u{3}").as_slice(), [Action::Interrupt]));
    stage.app.ended();
    assert!(stage.keys(5000, "\u{3}").is_empty());
    assert!(stage.live().join("\n").contains("press Ctrl-C again to quit"));
    assert!(matches!(stage.keys(500, "\u{3}").as_slice(), [Action::Quit]));
    // what was cleared is in the history
    stage.keys(0, "\u{1b}[A");
    assert_eq!(stage.app.draft(), "typed");
}

#[test]
fn escape_interrupts_and_twice_it_edits_an_earlier_prompt() {
    let mut stage = Stage::new();
    stage.app.begun("first");
    assert!(matches!(stage.keys(0, "\u{1b}").as_slice(), [Action::Interrupt]));
    stage.app.ended();
    assert!(stage.keys(0, "\u{1b}").is_empty());
    assert!(stage.keys(5000, "\u{1b}").is_empty(), "too late for the second");
    assert!(matches!(stage.keys(100, "\u{1b}").as_slice(), [Action::Command("rewind", _)]));
}

#[test]
fn slash_completes_commands_and_unknown_ones_go_to_the_agent() {
    let mut stage = Stage::new();
    stage.keys(0, "/comp");
    let live = stage.live().join("\n");
    assert!(live.contains("/compact"), "{live}");
    assert!(matches!(stage.keys(0, "\r").as_slice(), [Action::Command("compact", _)]));
    assert!(
        matches!(stage.keys(0, "/rename A title\r").as_slice(), [Action::Command("rename", title)] if title == "A title")
    );
    assert_eq!(stage.started("/deploy now\r"), "/deploy now");
    assert_eq!(stage.started("/usr/bin is a path\r"), "/usr/bin is a path");
}

#[test]
fn at_completes_files() {
    let mut stage = Stage::new();
    assert!(matches!(stage.keys(0, "see @ma").as_slice(), [Action::ListFiles]));
    stage.app.set_files(vec!["README.md".to_owned(), "src/main.rs".to_owned()]);
    assert!(stage.live().iter().any(|line| line.contains("› @src/main.rs")), "{:?}", stage.live());
    stage.keys(0, "\t");
    assert_eq!(stage.app.draft(), "see @src/main.rs ");
    // an address is not a file
    stage.keys(0, "a@b");
    assert!(!stage.live().iter().any(|line| line.contains("› @")));
}

#[test]
fn exclamation_mark_runs_a_command() {
    let mut stage = Stage::new();
    assert!(
        matches!(stage.keys(0, "!ls -l\r").as_slice(), [Action::Run(command, true)] if command == "ls -l")
    );
    assert!(matches!(stage.keys(0, "!!ls\r").as_slice(), [Action::Run(command, false)] if command == "ls"));
    stage.app.tell_later("I ran `ls -l`.".to_owned());
    assert_eq!(stage.app.with_told("go on"), "go on\n\nI ran `ls -l`.");
    assert_eq!(stage.app.with_told("go on"), "go on");
}

#[test]
fn escape_and_ctrl_c_end_a_job_after_the_turn() {
    let mut stage = Stage::new();
    stage.app.set_working(Some("!sleep 1000"));
    let live = stage.live().join("\n");
    assert!(live.contains("!sleep 1000") && live.contains("Esc interrupts"), "{live}");
    assert!(matches!(stage.keys(0, "\u{1b}").as_slice(), [Action::CancelJob]));
    assert!(matches!(stage.keys(0, "\u{3}").as_slice(), [Action::CancelJob]));
    stage.app.begun("prompt");
    assert!(matches!(stage.keys(0, "\u{1b}").as_slice(), [Action::Interrupt]));
}

#[test]
fn every_key_of_the_table_does_what_it_says() {
    let mut stage = Stage::new();
    assert!(
        matches!(stage.keys(0, "x\u{7}").as_slice(), [Action::Edit(Edited::Prompt, text)] if text == "x")
    );
    stage.keys(0, "\u{15}");
    assert!(
        matches!(stage.keys(0, "\u{1b}[Z").as_slice(), [Action::Command("mode", next)] if next == "next")
    );
    assert!(matches!(stage.keys(0, "\u{c}").as_slice(), [Action::ClearScreen]));
    assert!(matches!(stage.keys(0, "\u{1a}").as_slice(), [Action::Suspend]));
    stage.keys(0, "\u{f}");
    assert!(stage.app.transcript.shows_thinking());
    stage.keys(0, "\u{1b}OP");
    assert!(stage.live().iter().any(|line| line.contains("clear the prompt, then interrupt")));
    stage.keys(0, "?");
    assert!(stage.live().iter().any(|line| line.contains("clear the prompt, then interrupt")));
    stage.started("earlier prompt\r");
    stage.keys(0, "\u{12}earl");
    assert!(stage.live().iter().any(|line| line.contains("› earlier prompt")), "{:?}", stage.live());
    stage.keys(0, "\r");
    assert_eq!(stage.app.draft(), "earlier prompt");
    stage.keys(0, "\u{15}");
    assert!(matches!(stage.keys(0, "\u{4}").as_slice(), [Action::Quit]));
}

#[test]
fn live_lines_fit_any_screen() {
    let mut stage = Stage::new();
    stage.app.status.model = "a-model-with-a-long-name".to_owned();
    stage.app.status.folder = "~/a/long/path/to/somewhere/deep".to_owned();
    stage.app.begun("prompt");
    stage.keys(0, &"日本語 text ".repeat(40));
    for columns in [10, 20, 40, 80, 250] {
        for rows in [4, 10, 24, 60] {
            let frame = stage.app.frame(columns, rows);
            assert!(frame.live.len() < rows, "{columns}x{rows}: {}", frame.live.len());
            assert!(frame.live.iter().all(|line| line.width() <= columns), "{columns}x{rows}");
            assert!(frame.cursor.0 < frame.live.len() && frame.cursor.1 < columns, "{columns}x{rows}");
        }
    }
}

#[test]
fn user_who_looks_elsewhere_is_notified_of_the_end() {
    let mut stage = Stage::new();
    stage.app.begun("prompt");
    stage.keys(0, "\u{1b}[O");
    stage.app.ended();
    assert!(matches!(stage.app.actions().as_slice(), [Action::Notify(_)]));
    stage.keys(0, "\u{1b}[I");
    stage.app.begun("prompt");
    stage.app.ended();
    assert!(stage.app.actions().is_empty());
}
