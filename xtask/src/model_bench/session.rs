//! The session that both agents play: ten turns with tools, 26 answers of the model, and single calls with large results.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script, when};

/// The number of turns of the session.
pub(super) const TURNS: usize = 10;

/// A case of the table of tool results: its name, and the call.
pub(super) struct Case {
    pub(super) name: &'static str,
    tool: &'static str,
    input: Value,
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
fn name(number: usize) -> String {
    format!("step-{}", char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()))
}

/// The prompt of a case.
pub(super) fn case_prompt(case: usize) -> String {
    format!("Do {}, please.", name(case))
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
    let pdf = [b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".as_slice(), &noise[..40_000], b"\n%%EOF\n"].concat();
    fs_err::write(folder.join("manual.pdf"), pdf)?;
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

/// Returns the calls with large results.
pub(super) fn cases(folder: &Path) -> Vec<Case> {
    let case = |name, tool, input| Case { name, tool, input };
    let shell =
        "i=0; while [ $i -lt 8000 ]; do echo \"$i: some output of a long running command\"; i=$((i+1)); done";
    vec![
        case("Read of a binary, 90 kB", "Read", json!({"file_path": folder.join("data.bin")})),
        case("Read of a PDF, 40 kB", "Read", json!({"file_path": folder.join("manual.pdf")})),
        case("Read of 20,000 lines", "Read", json!({"file_path": folder.join("long.txt")})),
        case(
            "Grep, 600 lines of 2.7 kB",
            "Grep",
            json!({"pattern": "needle", "path": folder.join("wide.log"), "output_mode": "content"}),
        ),
        case("LS of 3000 files", "LS", json!({"directory_path": folder.join("many")})),
        case("Glob of 3000 files", "Glob", json!({"patterns": ["**/*.txt"], "folder": folder.join("many")})),
        case("command, 400 kB of output", "Execute", command(shell)),
    ]
}

fn command(line: &str) -> Value {
    json!({
        "command": line, "summary": "Run a command", "riskLevel": "low", "riskLevelReason": "reads only",
        "timeout": 60,
    })
}

/// The script for both: each turn makes one or two calls, and ends with a text.
pub(super) fn script(folder: &Path) -> Script {
    let mut script = Script::new();
    let text = "I have looked at the module and made the change. All functions still add their number to the value. ";
    for turn in 0..TURNS {
        let on = |call: u32| when().with_tools().prompt(name(turn).as_str()).call(call);
        let read = Reply::text("I read the module first.")
            .and_tool("Read", json!({"file_path": folder.join(format!("module{turn}.rs"))}));
        script = script.reply(read.when(on(1)));
        let end = if turn % 5 < 3 {
            let second = if turn % 2 == 0 {
                let content = format!("// made in turn {turn}\n").repeat(20);
                Reply::tool(
                    "Create",
                    json!({"file_path": folder.join(format!("new{turn}.rs")), "content": content}),
                )
            } else {
                Reply::tool("Execute", command(&format!("head -n 30 module{turn}.rs")))
            };
            script = script.reply(second.when(on(2)));
            3
        } else {
            2
        };
        script = script.reply(Reply::text(text.repeat(3)).when(on(end)));
    }
    script.otherwise(Reply::text("Done."))
}

/// The script of the cases.
pub(super) fn case_script(cases: &[Case]) -> Script {
    let script = cases.iter().enumerate().fold(Script::new(), |script, (at, case)| {
        let on = when().with_tools().prompt(name(at).as_str()).call(1);
        script.reply(Reply::tool(case.tool, case.input.clone()).when(on))
    });
    script.otherwise(Reply::text("Done."))
}
