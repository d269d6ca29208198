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

    /// Returns the keys in what a terminal sends, after some milliseconds.
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
fn waiting_prompts_join_the_turn_if_wanted() {
    let mut stage = Stage::new();
    stage.app.begun("first");
    let actions = stage.keys(0, "second\r third\u{1b}s");
    assert!(
        matches!(actions.as_slice(), [Action::Join(second), Action::Join(third)] if second == "second" && third == " third"),
        "{actions:?}"
    );
    stage.app.joins("2".to_owned(), "second".to_owned());
    assert!(stage.live().join("\n").contains("sent: second"));
    // its message comes twice, and with more than was typed
    stage.app.prompted("2", "second\n\nI ran `ls`.");
    stage.app.prompted("2", "second\n\nI ran `ls`.");
    let frame = stage.app.frame(60, 40);
    let printed: Vec<_> = frame.finished.iter().map(Line::text).collect();
    assert_eq!(printed.iter().filter(|line| line.contains("second")).count(), 1, "{printed:?}");
    assert!(!printed.join("").contains("I ran"), "{printed:?}");
    // one that is refused waits again, and without a turn it is sent as usual
    stage.app.joins("3".to_owned(), "third".to_owned());
    stage.app.not_joined("3");
    assert!(stage.live().join("\n").contains("waits: third"));
    stage.app.ended();
    assert!(matches!(stage.app.actions().as_slice(), [Action::Start(text)] if text == "third"));
    assert!(matches!(stage.keys(0, "now\u{1b}s").as_slice(), [Action::Start(text)] if text == "now"));
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
    // a name that begins another one
    assert!(matches!(stage.keys(0, "/mode\r").as_slice(), []));
    assert!(stage.live().join("\n").contains("Mode:"));
    stage.keys(0, "\u{1b}");
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

/// Set to write the files of the screens instead of comparing them.
const WRITE: &str = "MUSHER_WRITE_SCREENS";

fn event(kind: &str, value: Value) -> Event {
    use musher::wire::{LlmRetry, SessionNotification, ToolExecutionPhaseChanged, ToolProgressUpdate};
    fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }
    match kind {
        "retry" => Event::Retry(read::<LlmRetry>(value).into()),
        "phase" => Event::ToolPhase(read::<ToolExecutionPhaseChanged>(value)),
        "progress" => Event::ToolProgress(Box::new(read::<ToolProgressUpdate>(value))),
        "error" => Event::Error(Box::new(read(value))),
        _ => Event::Other(Box::new(read::<SessionNotification>(value))),
    }
}

fn call(id: &str, name: &str, input: Value) -> Event {
    Event::ToolCall(Box::new(musher::ToolCall::new(id, name, input)))
}

/// Returns what each state shows on a screen of this size: the lines that became finished, and the live ones.
fn screens(columns: usize, rows: usize) -> String {
    use serde_json::json;

    let mut out = String::new();
    let mut shown = |name: &str, prepare: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::new();
        stage.app.resized(columns);
        stage.app.status = Status {
            model: "claude-sonnet-5".to_owned(),
            effort: "high".to_owned(),
            mode: "auto".to_owned(),
            autonomy: "low".to_owned(),
            context: Some(83),
            cost: 1.25,
            folder: "~/projects/musher".to_owned(),
            title: "Fix the leap year test".to_owned(),
        };
        prepare(&mut stage);
        stage.app.at(stage.now);
        let frame = stage.app.frame(columns, rows);
        assert!(frame.live.len() < rows && frame.live.iter().all(|line| line.width() <= columns), "{name}");
        out.push_str("== ");
        out.push_str(name);
        out.push('\n');
        for line in frame.finished.iter().chain(&frame.live) {
            out.push_str(line.text().trim_end());
            out.push('\n');
        }
    };
    let commands = [("cargo test --workspace", "a"), ("cargo clippy --all-targets", "b")];
    shown("idle, with the status line", &|_| {});
    shown("live calls", &|stage| {
        stage.app.begun("check it");
        for (command, id) in commands {
            stage.app.event(&call(id, "Execute", json!({"command": command})));
        }
        stage.app.event(&event("phase", json!({"toolUseId": "a", "phase": "executing"})));
        let output =
            "test one ... ok\ntest two ... ok\ntest three ... ok\ntest four ... ok\ntest five ... ok\n";
        let update = json!({"type": "status", "fullOutput": output});
        stage.app.event(&event("progress", json!({"toolUseId": "a", "update": update})));
        stage.now += Duration::from_secs(75);
    });
    shown("subagent", &|stage| {
        stage.app.begun("delegate it");
        let input = json!({"description": "Look for the fault", "subagent_type": "worker", "prompt": "look"});
        stage.app.event(&call("t", "Task", input));
        for file in ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"] {
            let update = json!({
                "type": "tool_call", "subagentSessionId": "s", "toolName": "Read", "parameters": {"file_path": file},
            });
            stage.app.event(&event("progress", json!({"toolUseId": "t", "update": update})));
        }
        stage.now += Duration::from_secs(3);
    });
    shown("retry", &|stage| {
        stage.app.begun("ask it");
        let retry = json!({"reason": "rate_limit", "attempt": 2, "delayMs": 9000, "message": "429 Too Many Requests: slow down"});
        stage.app.event(&event("retry", retry));
        stage.now += Duration::from_secs(4);
    });
    shown("compaction", &|stage| {
        let compacted = json!({"type": "session_compacted", "summaryId": "s", "removedCount": 35});
        stage.app.event(&event("other", compacted));
    });
    shown("error", &|stage| {
        stage.app.event(&event(
            "error",
            json!({"message": "401 Unauthorized: the key is not valid", "timestamp": ""}),
        ));
    });
    shown("picker", &|stage| {
        let items =
            (1..=30).map(|at| Item::new(at.to_string(), format!("model-{at}"), "a description of it"));
        stage.app.pick(Purpose::Model, "Model:", items.collect());
        stage.keys(0, "2\u{1b}[B");
    });
    shown("menu", &|stage| drop(stage.keys(0, "/re")));
    shown("queue", &|stage| {
        stage.app.begun("first");
        for prompt in
            ["second", "third", "fourth", "a fifth one that is much longer than a narrow screen has columns"]
        {
            stage.keys(0, &format!("{prompt}\r"));
        }
        stage.app.joins("id".to_owned(), "sent already".to_owned());
    });
    shown("keys", &|stage| drop(stage.keys(0, "?")));
    out
}

#[test]
fn screens_of_every_state_are_as_they_were_in_three_sizes() {
    for (columns, rows) in [(80, 24), (120, 40), (40, 20)] {
        let shown = screens(columns, rows);
        let name = format!("src/chat/app/screens/{columns}x{rows}.txt");
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        if std::env::var_os(WRITE).is_some() {
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(&file, &shown).unwrap();
        }
        let expected = fs_err::read_to_string(&file).unwrap_or_default();
        assert_eq!(shown, expected, "{} differs; {WRITE}=1 writes it again", file.display());
    }
}
