//! The table of tool results: calls with large results, edits in difficult situations, and many tools of an MCP server.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use testkit::rehearse::{RecordedRequest, Reply, Script, when};

use super::cache;
use super::play::{CLAUDE, Stage, play_all};
use super::session::{command, name};

/// A row: its name, and what musher did in the release of 18 November 2026.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) before: &'static str,
}

/// A call with a large result.
struct Large {
    row: Row,
    tool: &'static str,
    input: Value,
}

fn large(folder: &Path) -> Vec<Large> {
    let case = |name, before, tool, input| Large { row: Row { name, before }, tool, input };
    let shell =
        "i=0; while [ $i -lt 8000 ]; do echo \"$i: some output of a long running command\"; i=$((i+1)); done";
    vec![
        case("Read of a binary, 90 kB", "63,407", "Read", json!({"file_path": folder.join("data.bin")})),
        case("Read of a PDF, 40 kB", "42,589", "Read", json!({"file_path": folder.join("manual.pdf")})),
        case("Read of 20,000 lines", "17,235", "Read", json!({"file_path": folder.join("long.txt")})),
        case(
            "Grep, 600 lines of 2.7 kB",
            "336,019",
            "Grep",
            json!({"pattern": "needle", "path": folder.join("wide.log"), "output_mode": "content"}),
        ),
        case("LS of 3000 files", "68,049", "LS", json!({"directory_path": folder.join("many")})),
        case(
            "Glob of 3000 files",
            "20,011",
            "Glob",
            json!({"patterns": ["**/*.txt"], "folder": folder.join("many")}),
        ),
        case("command, 400 kB of output", "241", "Execute", command(shell)),
    ]
}

/// What an agent gives the model in each case.
pub(super) async fn table(program: &Path) -> Result<Vec<(Row, String)>> {
    let mut rows = large_results(program).await.context("large results")?;
    rows.extend(edits(program).await.context("edits")?);
    rows.push(many_tools(program).await.context("many tools")?);
    Ok(rows)
}

fn prompt(case: usize) -> String {
    format!("Do {}, please.", name(case))
}

/// The request with the result of the last call of a prompt.
fn answered<'a>(requests: &'a [Arc<RecordedRequest>], prompt: &str) -> Option<&'a RecordedRequest> {
    let is_it = |request: &&Arc<RecordedRequest>| {
        let call = request.call.as_ref();
        call.is_some_and(|call| call.prompt == prompt && !call.tool_results.is_empty())
    };
    requests.iter().rev().find(is_it).map(AsRef::as_ref)
}

/// The blocks of the last message of a request.
fn last_blocks(request: &RecordedRequest) -> Value {
    let body = request.body.as_ref();
    let last = body.and_then(|body| body["messages"].as_array()?.last().cloned());
    last.map_or(Value::Null, |message| message["content"].clone())
}

async fn large_results(program: &Path) -> Result<Vec<(Row, String)>> {
    let script = |folder: &Path| {
        let script = large(folder).into_iter().enumerate().fold(Script::new(), |script, (at, case)| {
            let on = when().with_tools().prompt(name(at).as_str()).call(1);
            script.reply(Reply::tool(case.tool, case.input).when(on))
        });
        script.otherwise(Reply::text("Done."))
    };
    let rows: Vec<Row> = large(Path::new("")).iter().map(|case| case.row).collect();
    let prompts: Vec<String> = (0..rows.len()).map(prompt).collect();
    let requests = super::play(program, CLAUDE, script, &prompts).await?;
    let size = |at: usize| {
        let Some(request) = answered(&requests, &prompts[at]) else { return "none".to_owned() };
        let text = last_blocks(request).to_string();
        if text.contains("\"type\":\"document\"") {
            "document".to_owned()
        } else {
            (text.len() / 4).to_string()
        }
    };
    Ok(rows.iter().enumerate().map(|(at, row)| (*row, size(at))).collect())
}

/// The difficult edits, in the order of their prompts.
const EDITS: [Row; 4] = [
    Row { name: "Edit after a resume", before: "refused" },
    Row { name: "Edit after `cat`", before: "refused" },
    Row { name: "Edit, file changed outside", before: "works" },
    Row { name: "Edit with wrong white space", before: "not found" },
];

/// The text of the file of an edit.
const TEXT: &str = "fn main() {\n    let value = 1;\n    print(value);\n}\n";

async fn edits(program: &Path) -> Result<Vec<(Row, String)>> {
    let mut stage = Stage::new(program, edit_script)?;
    let file = |folder: &Path, at: usize| folder.join(format!("edit{at}.rs"));
    let folder = stage.folder();
    for at in 0..EDITS.len() {
        fs_err::write(file(&folder, at), TEXT)?;
    }
    let played = play_edits(&mut stage).await;
    let contents: Vec<String> =
        (0..EDITS.len()).map(|at| fs_err::read_to_string(file(&folder, at)).unwrap_or_default()).collect();
    let requests = stage.finish(played).await?;
    let result = |at: usize| {
        let Some(request) = answered(&requests, &format!("Edit for {}.", name(at))) else {
            return "none".to_owned();
        };
        let size = last_blocks(request).to_string().len() / 4;
        let outcome = if contents[at].contains("value = 2") { "works" } else { "refused" };
        format!("{outcome}, {size}")
    };
    Ok(EDITS.iter().enumerate().map(|(at, row)| (*row, result(at))).collect())
}

async fn play_edits(stage: &mut Stage) -> Result<()> {
    let folder = stage.folder();
    stage.open(CLAUDE).await?;
    for at in 0..EDITS.len() {
        stage.say(&format!("Look for {}.", name(at))).await?;
        match at {
            0 => stage.resume().await?,
            2 => {
                let path = folder.join(format!("edit{at}.rs"));
                fs_err::write(&path, format!("// by another user\n{TEXT}"))?;
                // the clock of the file system may be coarse
                let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
                fs_err::File::options().write(true).open(&path)?.set_modified(later)?;
            }
            _ => {}
        }
        stage.say(&format!("Edit for {}.", name(at))).await?;
    }
    Ok(())
}

fn edit_script(folder: &Path) -> Script {
    let mut script = Script::new();
    for at in 0..EDITS.len() {
        let path = folder.join(format!("edit{at}.rs"));
        let look = if at == 1 {
            Reply::tool("Execute", command(&format!("cat {}", path.display())))
        } else {
            Reply::tool("Read", json!({"file_path": path}))
        };
        let old = if at == 3 { "\tlet  value = 1;" } else { "    let value = 1;" };
        let new = "    let value = 2;";
        // the names of droid's arguments
        let edit = Reply::tool("Edit", json!({"file_path": path, "old_str": old, "new_str": new}));
        let on = |prompt: String| when().with_tools().prompt(prompt.as_str()).call(1);
        script = script.reply(look.when(on(format!("Look for {}.", name(at)))));
        script = script.reply(edit.when(on(format!("Edit for {}.", name(at)))));
    }
    script.otherwise(Reply::text("Done."))
}

/// How much longer 60 tools of an MCP server make a request.
async fn many_tools(program: &Path) -> Result<(Row, String)> {
    let mut sizes = Vec::new();
    for has_tools in [false, true] {
        let script = |_: &Path| Script::new().otherwise(Reply::text("Done."));
        let mut stage = Stage::new(program, script)?;
        if has_tools {
            stage.add_many_tools()?;
        }
        // the server is connected by the last turn
        let played = play_all(&mut stage, CLAUDE, &[prompt(0), prompt(1), prompt(2)]).await;
        let requests = stage.finish(played).await?;
        let mut bodies = requests.iter().filter_map(|request| request.body.as_ref());
        let last = bodies.rfind(|body| super::has_tools(body)).context("no model was asked")?;
        sizes.push(cache::size(last));
    }
    let more = sizes[1] - sizes[0];
    Ok((Row { name: "60 tools of an MCP server", before: "8,460" }, format!("{more:.0}")))
}
