//! How each kind of block looks on screens of three sizes: compared with files, so that a change is seen in review.

use std::path::{Path, PathBuf};

use musher_rehearse::{Reply, Script};
use serde_json::json;

use super::screen::{ARMED, Screen};
use crate::run::stage::{Stage, execute, step};

/// Set to write the files instead of comparing them.
const WRITE: &str = "MUSHER_WRITE_SCREENS";

const MARKDOWN: &str = "# A heading\n\nA paragraph with **strong**, *slanted* and `code` text that is long enough for a second line on \
    every screen that people have, and in 日本語 and with e\u{301} too.\n\n- one\n- two\n  - inner\n\n1. first\n2. second\n\n> quoted\n\n\
    ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n| name | count |\n|---|---:|\n| apples | 12 |\n| pears | 7 |\n\n\
    See [the guide](https://guide.example).\n";

fn script() -> Script {
    let todos =
        json!({"todos": "1. [completed] Look around\n2. [in_progress] Write it\n3. [pending] Test it"});
    let edit = json!({"file_path": "sum.py", "old_str": "total = price * count", "new_str": "total = price * amount"});
    Script::new()
        .reply(
            Reply::thinking("I look first.")
                .and_text("I look around.")
                .and_tool("TodoWrite", todos)
                .when(step(1)),
        )
        .reply(
            Reply::tool("Grep", json!({"pattern": "price"}))
                .and_tool("LS", json!({"directory_path": "."}))
                .when(step(2)),
        )
        .reply(Reply::tool("Edit", edit).when(step(3)))
        .reply(execute("printf '1\\n2\\n3\\n4\\n5\\n'; exit 3").when(step(4)))
        .reply(Reply::text(MARKDOWN).when(step(5)))
        // it is reminded of the open steps
        .reply(Reply::text("Done.").when(step(6)))
}

fn file(size: (u16, u16)) -> PathBuf {
    let name = format!("{}x{}.txt", size.0, size.1);
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/chat/screens").join(name)
}

/// Times, numbers of tokens and the folder differ from run to run.
fn same(row: &str, folder: &str) -> String {
    let row = row.replace(folder, "FOLDER");
    let mut words: Vec<String> = Vec::new();
    for word in row.split(' ') {
        let trimmed = word.trim_end_matches(',');
        let is_time = trimmed.strip_suffix('s').is_some_and(|it| it.parse::<f64>().is_ok());
        let is_count = trimmed.contains(',') && trimmed.chars().all(|it| it.is_ascii_digit() || it == ',');
        words.push(if is_time {
            "TIME".to_owned()
        } else if is_count {
            "COUNT".to_owned()
        } else {
            word.to_owned()
        });
    }
    words.join(" ")
}

fn shown(size: (u16, u16)) -> String {
    let stage = Stage::new(script());
    fs_err::write(stage.workspace().join("sum.py"), "price = 3\ntotal = price * count\nprint(total)\n")
        .unwrap();
    let mut screen = Screen::sized(&stage, &["do it"], size);
    for _ in 0..2 {
        screen.until(ARMED);
        screen.press("y");
        screen.until_gone(ARMED);
    }
    screen.until("guide.example");
    screen.until_idle();
    let rows = screen.all_rows();
    screen.quit();
    let workspace = stage.workspace();
    let folder = workspace.to_str().unwrap();
    // the summary, which wraps in other places for other numbers, and the last lines
    let end = rows.iter().rposition(|row| row.contains("tool calls")).unwrap();
    rows[..end].iter().map(|row| same(row, folder) + "\n").collect()
}

fn compare(size: (u16, u16)) {
    let (shown, file) = (shown(size), file(size));
    if std::env::var_os(WRITE).is_some() {
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(&file, &shown).unwrap();
    }
    let expected = fs_err::read_to_string(&file).unwrap_or_default();
    assert_eq!(shown, expected, "{} differs; {WRITE}=1 writes it again", file.display());
}

#[test]
fn blocks_fit_80_columns() {
    compare((80, 24));
}

#[test]
fn blocks_fit_120_columns() {
    compare((120, 40));
}

#[test]
fn blocks_fit_40_columns() {
    compare((40, 20));
}
