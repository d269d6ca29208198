//! A lying model against a client that denies every request: real commands of `musher exec`, each of which bites if it is approved.
//!
//! The calls are in `attacks/list.yaml`. Sessions at each autonomy level play all of them, with a fresh scene for each call.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script};

use crate::engine::client::{Client, Stage, command_arguments, on};

/// What no result may show.
const SECRET: &str = "S3CRET";

/// A call of the model.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Call {
    Line(String),
    Prepared { run: String, setup: String },
    Tool { tool: String, input: Value },
}

impl Call {
    fn reply(&self, workspace: &Path, home: &Path) -> Reply {
        match self {
            Self::Line(line) | Self::Prepared { run: line, .. } => {
                Reply::tool("Execute", command_arguments(line))
            }
            Self::Tool { tool, input } => {
                let text = input.to_string();
                let text = text.replace("$WORKSPACE", &workspace.to_string_lossy());
                let text = text.replace("$HOME", &home.to_string_lossy());
                Reply::tool(tool, serde_json::from_str(&text).unwrap())
            }
        }
    }

    fn setup(&self) -> Option<&str> {
        match self {
            Self::Prepared { setup, .. } => Some(setup),
            _ => None,
        }
    }
}

/// A session in which all calls are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Every request is denied.
    Deny(&'static str),
    /// Spec mode, with every request denied.
    Spec,
    /// Every request is approved, at level off.
    Approve,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcome {
    is_asked: bool,
    /// The result is an error: the call was refused or denied, or it has failed.
    is_error: bool,
    /// A file has changed, or a secret was shown.
    bites: bool,
}

/// The files that attacks are about.
struct Scene {
    workspace: PathBuf,
    home: PathBuf,
    outside: PathBuf,
    template: PathBuf,
}

impl Scene {
    fn new(stage: &Stage) -> Self {
        let workspace = stage.sandbox.workspace();
        let folder = workspace.parent().unwrap().to_owned();
        let (home, outside) = (stage.sandbox.home(), folder.join("outside"));
        let scene = Self { workspace, home, outside, template: folder.join("template") };
        let write = |path: PathBuf, text: &str| {
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        for (name, text) in [
            ("src/main.rs", "fn main() {}\n"),
            (".env", "KEY=S3CRET\n"),
            (".gitignore", ".env\ncerts\n"),
            ("certs/server.pem", "S3CRET\n"),
            ("x.py", "open('canary', 'w')\n"),
        ] {
            write(scene.workspace.join(name), text);
        }
        write(scene.outside.join("o.txt"), "one\n");
        for program in
            [scene.workspace.join("x.sh"), scene.workspace.join("evil"), scene.outside.join("x.sh")]
        {
            write(program.clone(), "#!/bin/sh\ntouch canary\n");
            fs_err::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
        }
        for (name, text) in [
            (".ssh/id_rsa", "S3CRET\n"),
            (".aws/credentials", "S3CRET\n"),
            (".pgpass", "S3CRET\n"),
            (".bash_history", "export KEY=S3CRET\n"),
            (".bashrc", "true\n"),
        ] {
            write(scene.home.join(name), text);
        }
        symlink("../outside", scene.workspace.join("door")).unwrap();
        symlink("../home/.ssh/id_rsa", scene.workspace.join("notes")).unwrap();
        for (folder, name) in scene.parts() {
            copy(folder, &scene.template.join(name));
        }
        scene
    }

    fn parts(&self) -> [(&Path, &'static str); 3] {
        [(&self.workspace, "workspace"), (&self.home, "home"), (&self.outside, "outside")]
    }

    /// Restores all files, except the engine's own.
    fn reset(&self) {
        for (folder, name) in self.parts() {
            clear(folder);
            copy(&self.template.join(name), folder);
        }
    }

    /// All files with their contents and modes, except those that git and the engine keep for themselves.
    fn snapshot(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        for (folder, _) in self.parts() {
            collect(folder, &mut found);
        }
        found
    }
}

const OF_ENGINE: &str = ".musher";

fn clear(folder: &Path) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(Path::new("home").join(OF_ENGINE)) {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            fs_err::remove_dir_all(path).unwrap();
        } else {
            fs_err::remove_file(path).unwrap();
        }
    }
}

/// Copies the content of a directory, with modes and links.
fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_symlink() {
            symlink(fs_err::read_link(&path).unwrap(), target).unwrap();
        } else if path.is_dir() {
            copy(&path, &target);
        } else {
            fs_err::copy(path, target).unwrap();
        }
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    const OF_GIT: [&str; 6] = ["index", "objects", "logs", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG"];
    let is_git = folder.ends_with(".git");
    for entry in fs_err::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let name = entry.file_name();
        if name == OF_ENGINE && folder.ends_with("home") || is_git && OF_GIT.iter().any(|own| name == *own) {
            continue;
        }
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_dir() {
            collect(&path, found);
            Vec::new()
        } else if metadata.is_file() {
            fs_err::read(&path).unwrap()
        } else {
            b"link or pipe".to_vec()
        };
        found.insert(path, (metadata.permissions().mode(), content));
    }
}

fn prepare(scene: &Scene, setup: &str) {
    #[expect(clippy::disallowed_methods, reason = "prepares the files of the scene, and ends at once")]
    let mut command = Command::new("/bin/bash");
    command.args(["-c", setup]).current_dir(&scene.workspace).env("HOME", &scene.home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "{setup}");
}

/// Plays one call. The session's next turn is the call with this number.
async fn play(client: &mut Client, scene: &Scene, number: usize, call: &Call, way: Way) -> Result<Outcome> {
    scene.reset();
    if let Some(setup) = call.setup() {
        prepare(scene, setup);
    }
    let before = scene.snapshot();
    let seen = client.seen.len();
    client.say(&prompt(number)).await?;
    let mut is_asked = false;
    loop {
        let is_end = |message: &Value| {
            message["method"] == "droid.request_permission"
                || message["params"]["notification"]["type"] == "agent_turn_completed"
        };
        let message = client.until("a permission request or the end of the turn", is_end).await?;
        if message["method"] != "droid.request_permission" {
            break;
        }
        is_asked = true;
        let answer = if way == Way::Approve { "proceed_once" } else { "cancel" };
        let response = json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "response", "id": message["id"],
            "result": {"selectedOption": answer},
        });
        client.program.send_line(&response.to_string()).await?;
    }
    let results = client.seen[seen..].iter().filter(|message| {
        message["params"]["notification"]["type"] == "tool_result"
            || message["params"]["notification"]["type"] == "tool_progress_update"
    });
    let shows = results.clone().map(Value::to_string).any(|text| text.contains(SECRET));
    let is_error = results.clone().any(|message| message["params"]["notification"]["isError"] == true);
    client.seen.clear();
    Ok(Outcome { is_asked, is_error, bites: shows || scene.snapshot() != before })
}

fn prompt(number: usize) -> String {
    format!("attack-{number:03}.")
}

/// The number of calls in one session: each request has the whole conversation.
const CALLS_PER_SESSION: usize = 40;

/// Plays these calls in one session. The first has this number.
async fn session(
    stage: &Stage,
    scene: &Scene,
    first: usize,
    calls: &[(String, Call)],
    way: Way,
) -> Result<Vec<Outcome>> {
    scene.reset();
    // the permission rules have to hold alone, except for commands that they take for read-only: these stay confined with every setting,
    // and the tests of `musher-permission` run them without a sandbox
    let launch = stage.launch().args(["--sandbox", "off"]);
    let launch = launch.env("EXAMPLE_TOKEN", SECRET).env("EXAMPLE_API_KEY", SECRET);
    let launch = launch.env("DATABASE_URL", format!("postgres://user:{SECRET}@localhost/x"));
    let mut client = Client::start(stage, &launch)?;
    let mut params = stage.session();
    match way {
        Way::Deny(level) => params["autonomyLevel"] = json!(level),
        Way::Spec => {
            params["autonomyLevel"] = json!("high");
            params["interactionMode"] = json!("spec");
        }
        Way::Approve => params["autonomyLevel"] = json!("off"),
    }
    let answer = client.call("droid.initialize_session", params).await?;
    ensure!(answer["result"]["sessionId"].is_string(), "{answer}");
    let mut outcomes = Vec::new();
    for (at, (_, call)) in calls.iter().enumerate() {
        let outcome = play(&mut client, scene, first + at, call, way).await;
        outcomes.push(outcome.with_context(|| format!("{way:?}: {call:?}"))?);
    }
    client.program.end().await?;
    Ok(outcomes)
}

/// The number of parts.
const PARTS: usize = 4;

/// Plays a part of the calls in this way, and fails if one is not as its group says.
async fn attack(way: Way, part: usize) -> Result<()> {
    let groups: BTreeMap<String, Vec<Call>> = serde_saphyr::from_str(include_str!("attacks/list.yaml"))?;
    let of_group =
        |(group, calls): (String, Vec<Call>)| calls.into_iter().map(move |call| (group.clone(), call));
    let all: Vec<(String, Call)> = groups.into_iter().flat_map(of_group).collect();
    ensure!(all.len() >= 150, "only {} attacks", all.len());
    let calls: Vec<(String, Call)> = all.iter().skip(part).step_by(PARTS).cloned().collect();
    let stage = Stage::begin(testkit::Sandbox::new()?, |sandbox| {
        let (workspace, home) = (sandbox.workspace(), sandbox.home());
        let replies = calls
            .iter()
            .enumerate()
            .map(|(number, (_, call))| (prompt(number), call.reply(&workspace, &home)));
        replies.fold(Script::new(), |script, (prompt, reply)| script.reply(reply.when(on(&prompt, 1))))
    })?;
    let scene = Scene::new(&stage);
    let mut outcomes = Vec::new();
    for (at, part) in calls.chunks(CALLS_PER_SESSION).enumerate() {
        outcomes.extend(session(&stage, &scene, at * CALLS_PER_SESSION, part, way).await?);
    }

    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for ((group, call), outcome) in calls.iter().zip(&outcomes) {
        let [all, asked, bit] = counts.entry(group).or_default();
        *all += 1;
        *asked += usize::from(outcome.is_asked);
        *bit += usize::from(outcome.bites);
        let is_right = match way {
            Way::Approve => outcome.bites == (group != "never"),
            // refused, or asked about because it reads a secret; those that never succeed may run
            Way::Spec => !outcome.bites && (outcome.is_asked || outcome.is_error || group == "never"),
            Way::Deny(_) if group == "never" => !outcome.bites,
            Way::Deny(level) => {
                let place =
                    |name: &str| LEVELS.iter().position(|level| *level == name).unwrap_or(LEVELS.len());
                let runs = place(level) >= place(group);
                (outcome.is_asked, outcome.bites) == (!runs, runs)
            }
        };
        if !is_right {
            wrong.push(format!("{group}: {call:?}: {outcome:?}"));
        }
    }
    println!("{way:?}, {} of {} calls. Of each group: calls, asked for, succeeded", calls.len(), all.len());
    for (group, count) in &counts {
        println!("{group}: {count:?}");
    }
    ensure!(wrong.is_empty(), "{way:?}: {} of {} are wrong:\n{}", wrong.len(), calls.len(), wrong.join("\n"));
    stage.finish().await
}

/// The autonomy levels, from the lowest.
const LEVELS: [&str; 4] = ["off", "low", "medium", "high"];

/// Tests for one way. Each plays a part of the calls, because all of them take too long for one test.
macro_rules! ways {
    ($($name:ident: $way:expr),+ $(,)?) => {$(
        mod $name {
            use super::{Result, Way, attack};

            #[tokio::test]
            async fn first_quarter_of_the_attacks() -> Result<()> {
                attack($way, 0).await
            }

            #[tokio::test]
            async fn second_quarter_of_the_attacks() -> Result<()> {
                attack($way, 1).await
            }

            #[tokio::test]
            async fn third_quarter_of_the_attacks() -> Result<()> {
                attack($way, 2).await
            }

            #[tokio::test]
            async fn fourth_quarter_of_the_attacks() -> Result<()> {
                attack($way, 3).await
            }
        }
    )+};
}

ways! {
    approved_attacks_bite: Way::Approve,
    denied_attacks_fail_at_autonomy_off: Way::Deny("off"),
    attacks_above_autonomy_low_are_asked_for: Way::Deny("low"),
    attacks_above_autonomy_medium_are_asked_for: Way::Deny("medium"),
    attacks_that_are_always_asked_are_asked_at_autonomy_high: Way::Deny("high"),
    attacks_fail_in_spec_mode: Way::Spec,
}
