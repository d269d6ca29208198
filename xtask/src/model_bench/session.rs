//! The session that both agents play: ten turns with tools, 26 answers of the model.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

/// The number of turns of the session.
pub(super) const TURNS: usize = 10;

/// How the model works.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Whether each of its answers begins with reasoning.
    pub(super) thinks: bool,
    /// Whether it creates files with a tool of their own; else with a command.
    pub(super) creates: bool,
}

impl Work {
    pub(super) const PLAIN: Self = Self { thinks: false, creates: true };
}

/// The prompt of a turn, counted from 0.
pub(super) fn prompt(turn: usize) -> String {
    format!(
        "This is step {} of the task: {}",
        name(turn),
        "look at the code and change what is needed. ".repeat(5)
    )
}

/// Letters, so that no name is the beginning of another.
pub(super) fn name(number: usize) -> String {
    format!("step-{}", char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()))
}

/// Writes the files the calls read.
pub(super) fn write_files(folder: &Path) -> Result<()> {
    let code = |file: usize| {
        let line =
            |line: usize| format!("pub fn function_{file}_{line}(value: u32) -> u32 {{ value + {line} }}\n");
        (0..60).map(line).collect::<String>()
    };
    for file in 0..TURNS {
        fs_err::write(folder.join(format!("module{file}.rs")), code(file))?;
    }
    let noise: Vec<u8> = (0..90_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    fs_err::write(folder.join("data.bin"), &noise)?;
    fs_err::write(folder.join("manual.pdf"), testkit::pdf("Press the button for three seconds.", 40_000))?;
    let lines: Vec<String> = (0..20_000).map(|line| format!("line {line} of a long file\n")).collect();
    fs_err::write(folder.join("long.txt"), lines.concat())?;
    let wide = format!("needle {}\n", "wide ".repeat(540));
    fs_err::write(folder.join("wide.log"), wide.repeat(600))?;
    let many = folder.join("many");
    fs_err::create_dir_all(&many)?;
    for file in 0..3000 {
        fs_err::write(many.join(format!("some-file-with-a-name-{file:04}.txt")), "")?;
    }
    Ok(())
}

pub(super) fn command(line: &str) -> Value {
    json!({
        "command": line, "summary": "Run a command", "riskLevel": "low", "riskLevelReason": "reads only",
        "timeout": 60,
    })
}

/// The script for both: each turn makes one or two calls, and ends with a text.
pub(super) fn script(folder: &Path, work: Work) -> Script {
    let mut script = Script::new();
    let text = "I have looked at the module and made the change. All functions still add their number to the value. ";
    let thought = "The user wants the module to be looked at. I read it, check what each function adds, and then decide. ";
    let begin = || if work.thinks { Reply::thinking(thought.repeat(4)) } else { Reply::empty() };
    for turn in 0..TURNS {
        let on = |call: u32| when().with_tools().prompt(name(turn).as_str()).call(call);
        let read = begin()
            .and_text("I read the module first.")
            .and_tool("Read", json!({"file_path": folder.join(format!("module{turn}.rs"))}));
        script = script.reply(read.when(on(1)));
        let end = if turn % 5 < 3 {
            let path = folder.join(format!("new{turn}.rs"));
            let line = format!("// made in turn {turn}\n");
            let second = if turn % 2 != 0 {
                begin().and_tool("Execute", command(&format!("head -n 30 module{turn}.rs")))
            } else if work.creates {
                begin().and_tool("Create", json!({"file_path": path, "content": line.repeat(20)}))
            } else {
                let path = path.display();
                begin().and_tool("Execute", command(&format!("cat > {path} <<'END'\n{}END", line.repeat(20))))
            };
            script = script.reply(second.when(on(2)));
            3
        } else {
            2
        };
        script = script.reply(begin().and_text(text.repeat(3)).when(on(end)));
    }
    script.otherwise(Reply::text("Done."))
}
