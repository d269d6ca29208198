//! The environment of a test: a home and a folder of its own, and a scripted model over HTTP.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use musher_rehearse::{RecordedRequest, Reply, Script, Server, When, when};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::program::{self, Run, Running, ended};
use crate::pty::Terminal;

const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Stage {
    folder: TempDir,
    model: Server,
    runtime: Handle,
    /// The model is served until this is gone.
    _serving: oneshot::Sender<()>,
}

impl Stage {
    /// With this model. Side calls, such as for titles, do not fail.
    pub(crate) fn new(script: Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = Builder::new_current_thread().enable_all().build().unwrap();
        let runtime = served.handle().clone();
        let (serving, stopped) = oneshot::channel();
        // a thread of its own, since the tests wait for the program
        std::thread::spawn(move || served.block_on(stopped).ok());
        let model = {
            let _inside = runtime.enter();
            // for any host, because it is also a proxy
            let server = Server::builder(script.otherwise(Reply::text("A title"))).allow_remote();
            server.bind("127.0.0.1:0").unwrap()
        };
        let stage = Self { folder, model, runtime, _serving: serving };
        for folder in [stage.home(), stage.workspace()] {
            fs_err::create_dir_all(folder).unwrap();
        }
        let settings = json!({"customModels": [{
            "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{}/v1", stage.model.url()),
            "apiKey": "none", "provider": "generic-chat-completion-api", "maxOutputTokens": 8192,
        }]});
        fs_err::write(stage.home().join("settings.json"), settings.to_string()).unwrap();
        stage
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A file beside the workspace.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        fs_err::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.musher(&[&["run"], arguments].concat())
    }

    /// Another command of the program.
    pub(crate) fn musher(&self, arguments: &[&str]) -> Command {
        let mut command = program::command(arguments);
        command
            .env("HOME", self.folder.path())
            .env("MUSHER_HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("TERM", "xterm-256color")
            .current_dir(self.workspace());
        command
    }

    /// Runs it to its end, without a terminal; ids, times and paths are made the same for every run.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let run = ended(self.command(arguments));
        Run { stdout: self.same(&run.stdout), stderr: self.same(&run.stderr), ..run }
    }

    /// Runs another command in the same home and workspace to its end.
    pub(crate) fn run_musher(&self, arguments: &[&str]) -> Run {
        ended(self.musher(arguments))
    }

    /// Starts it without a terminal.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        Running::spawn(self.command(arguments))
    }

    /// Starts it in a terminal.
    pub(crate) fn terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::start(self.command(arguments))
    }

    /// Where the model is served.
    pub(crate) fn model_url(&self) -> String {
        self.model.url()
    }

    /// All requests, also those that are not for a model.
    pub(crate) fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.model.requests()
    }

    /// All model calls.
    pub(crate) fn calls(&self) -> Vec<Arc<RecordedRequest>> {
        self.model.calls()
    }

    /// Whether any request to the model contains this text.
    pub(crate) fn model_received(&self, text: &str) -> bool {
        self.calls().iter().filter_map(|call| call.body.as_ref()).any(|body| body.to_string().contains(text))
    }

    /// Waits for this number of model calls.
    pub(crate) fn until_asked(&self, times: usize) {
        self.runtime.block_on(self.model.wait_for_calls(times, DEADLINE)).unwrap();
    }

    /// Text with the parts that differ from run to run replaced.
    fn same(&self, text: &str) -> String {
        let text = text.replace(self.folder.path().to_str().unwrap(), "FOLDER");
        text.lines().map(|line| without_time(&without_ids(line)) + "\n").collect()
    }
}

/// A summary begins with the seconds it took.
fn without_time(line: &str) -> String {
    match line.split_once("s · ") {
        Some((seconds, rest)) if seconds.parse::<f64>().is_ok() => format!("TIME · {rest}"),
        _ => line.to_owned(),
    }
}

/// Ids are UUIDs.
fn without_ids(line: &str) -> String {
    let is_id = |text: &str| {
        text.len() == 36
            && text.char_indices().all(|(at, it)| match at {
                8 | 13 | 18 | 23 => it == '-',
                _ => it.is_ascii_hexdigit(),
            })
    };
    let mut line = line.to_owned();
    let mut at = 0;
    while at + 36 <= line.len() {
        if line.get(at..at + 36).is_some_and(is_id) {
            line.replace_range(at..at + 36, "ID");
        }
        at += 1;
    }
    line
}

/// The n-th call of the model in the turn, as opposed to side calls.
pub(crate) fn step(call: u32) -> When {
    when().with_tools().call(call)
}

/// The model wants to run a command.
pub(crate) fn execute(command: &str) -> Reply {
    Reply::tool(
        "Execute",
        json!({
            "command": command, "summary": "Do it", "timeout": 60,
            "riskLevel": "medium", "riskLevelReason": "for a test",
        }),
    )
}

/// The model creates a file and reports it.
pub(crate) fn makes_a_file() -> Script {
    Script::new().reply(execute("touch made.txt").when(step(1))).reply(Reply::text("Made.").when(step(2)))
}

/// The model has a question.
pub(crate) fn asks() -> Script {
    let questionnaire = "1. [question] Which colour?\n[topic] Colour\n[option] red\n[option] blue\n";
    Script::new()
        .reply(Reply::tool("AskUser", json!({"questionnaire": questionnaire})).when(step(1)))
        .reply(Reply::text("As you like.").when(step(2)))
}
