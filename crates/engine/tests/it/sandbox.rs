//! The second wall: what commands can change when the permission rules are wrong, and what happens when the sandbox is in the way.

mod everyday;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use musher_engine::{
    Attach, Autonomy, Choice, Environment, Event, Layers, Mode, NewSession, SandboxMode, SandboxNetwork,
    SandboxSettings, SettingsChange, UserRequest, UserResponse,
};
use musher_tools::{
    Action, Category, Context, Execute, Input, Offer, Registry, Run, Tool, ToolInfo, object_schema,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::scripted::{calls, text};
use crate::stage::{MODEL, Stage, is_idle, is_question, lines};

/// Runs `command`, and tells the permission rules about `judged`: a table row that is wrong about a program's options.
#[derive(Debug)]
struct Misjudged;

const INFO: ToolInfo =
    ToolInfo::new("misjudged", "Misjudged", Category::Execute, "Runs a command.", schema).offer(Offer::At(5));

fn schema() -> Value {
    object_schema(
        &json!({"judged": {"type": "string"}, "command": {"type": "string"}}),
        &["judged", "command"],
    )
}

impl Tool for Misjudged {
    fn info(&self) -> &ToolInfo {
        &INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::command(input["judged"].as_str().ok_or("`judged` is required")?))
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Execute.run(input, context, cancel)
    }
}

/// A command that the permission rules take for a read-only one.
fn misjudged(command: &str) -> (&'static str, Value) {
    judged_as("git log -1", command)
}

/// A command that the permission rules take for another.
fn judged_as(judged: &str, command: &str) -> (&'static str, Value) {
    let input =
        json!({"judged": judged, "command": command, "riskLevel": "low", "riskLevelReason": "a test"});
    ("Misjudged", input)
}

fn execute(command: &str) -> (&'static str, Value) {
    (
        "Execute",
        json!({"command": command, "riskLevel": "low", "riskLevelReason": "a test", "summary": "Run it"}),
    )
}

/// A workspace with a file and a repository, beside a directory that is not part of it.
struct Place {
    home: Arc<TempDir>,
    work: Arc<TempDir>,
    other: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = || tempfile::tempdir().unwrap();
        let (home, work, other) = (Arc::new(folder()), Arc::new(folder()), folder());
        fs_err::create_dir_all(work.path().join(".git")).unwrap();
        for path in [work.path().join("file"), work.path().join(".git/config"), other.path().join("file")] {
            fs_err::write(path, "before").unwrap();
        }
        Self { home, work, other }
    }

    fn other(&self, name: &str) -> PathBuf {
        self.other.path().join(name)
    }

    fn work(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    async fn stage(
        &self,
        calls_of_model: &[(&'static str, Value)],
        new: NewSession,
        setup: impl FnOnce(Environment) -> Environment,
    ) -> Stage {
        let model = crate::scripted::Scripted::new([calls("", calls_of_model), text("Done.")]);
        let provider = Arc::clone(&model) as Arc<dyn musher_model::Provider>;
        let mut tools = Registry::builtin();
        tools.add(Misjudged);
        let (home, work) = (Arc::clone(&self.home), Arc::clone(&self.work));
        let mut stage = Stage::with_setup(home, work, [(MODEL, provider)], tools, setup);
        stage.model = model;
        stage.create(new).await;
        stage
    }
}

fn at(autonomy: Autonomy) -> NewSession {
    let settings = SettingsChange { autonomy: Some(autonomy), ..SettingsChange::default() };
    NewSession { settings, ..NewSession::default() }
}

fn in_spec_mode() -> NewSession {
    let settings = SettingsChange { mode: Some(Mode::Spec), ..SettingsChange::default() };
    NewSession { settings, ..NewSession::default() }
}

fn unattended(autonomy: Autonomy) -> NewSession {
    NewSession { attach: Attach { auto_reject: true, ..Attach::default() }, ..at(autonomy) }
}

fn content(path: impl AsRef<Path>) -> String {
    fs_err::read_to_string(path.as_ref()).unwrap()
}

/// The texts of the results of calls that the model reads.
fn results(stage: &Stage) -> String {
    format!("{:?}", stage.model.requests().last().expect("a request"))
}

/// Why the user is asked.
fn reason(event: &Event) -> String {
    let Event::UserRequest(UserRequest::Permission { calls, choices, .. }) = event else {
        panic!("{event:?}")
    };
    assert_eq!(choices, &[Choice::ProceedOnce, Choice::Cancel]);
    let musher_engine::permission::Kind::Exec { reason, .. } = &calls[0].request.kind else {
        panic!("a command")
    };
    reason.clone().unwrap()
}

/// Runs calls until the agent is idle and allows what it asks for. Returns all reasons.
async fn allow_all(stage: &mut Stage) -> (Vec<String>, String) {
    let (mut reasons, mut seen) = (Vec::new(), Vec::new());
    loop {
        let events = stage.until(|event| is_idle(event) || is_question(event)).await;
        seen.extend(lines(&events));
        let last = events.last().unwrap();
        let Event::UserRequest(request) = last else { return (reasons, seen.join("\n")) };
        reasons.push(reason(last));
        stage
            .agent
            .respond(request.id().to_owned(), UserResponse::Decision(Choice::ProceedOnce.into()))
            .unwrap();
    }
}

fn landlock() -> Layers {
    Layers { namespaces: false, ..Layers::available() }
}

fn namespaces() -> Layers {
    Layers { landlock: None, ..Layers::available() }
}

#[tokio::test]
async fn wrong_table_row_costs_nothing_at_any_level_and_in_spec_mode() {
    let sessions: [fn() -> NewSession; 5] = [
        || at(Autonomy::Off),
        || at(Autonomy::Low),
        || at(Autonomy::Medium),
        || at(Autonomy::High),
        in_spec_mode,
    ];
    for layers in [Layers::available(), landlock(), namespaces()] {
        for session in sessions {
            let place = Place::new();
            let attacks = [
                format!("echo x > {}", place.other("file").display()),
                format!("echo x > {}", place.other("new").display()),
                "echo x > file; echo x >> .git/config; rm file; mv file moved; chmod 777 file; mkdir folder"
                    .to_owned(),
                format!("(setsid sh -c 'sleep 0.1; echo x > {}') & wait", place.other("later").display()),
            ];
            let attacks: Vec<_> = attacks.iter().map(|attack| misjudged(attack)).collect();
            let mut session = session();
            session.attach.auto_reject = true;
            let mut stage = place.stage(&attacks, session, |it| it.with_sandbox_layers(layers)).await;
            stage.say("Look.");
            let seen = stage.until_idle().await.join("\n");
            assert!(seen.contains("call_3 "), "{seen}");
            assert_eq!(
                [content(place.other("file")), content(place.work("file"))],
                ["before", "before"],
                "{layers}"
            );
            assert_eq!(content(place.work(".git/config")), "before", "{layers}");
            let names = |path: &Path| fs_err::read_dir(path).unwrap().count();
            assert_eq!((names(place.other.path()), names(place.work.path())), (1, 2), "{layers}");
        }
    }
}

/// The other side of the test above: each of these attacks works if nothing stops it.
#[tokio::test]
async fn wrong_table_row_costs_something_without_the_sandbox() {
    let place = Place::new();
    let attack = misjudged(&format!("echo x > {}", place.other("new").display()));
    let mut stage =
        place.stage(&[attack], at(Autonomy::Off), |it| it.with_sandbox_layers(Layers::default())).await;
    stage.say("Look.");
    stage.until_idle().await;
    assert_eq!(content(place.other("new")), "x\n");
}

#[tokio::test]
async fn read_only_command_works_and_has_a_private_temporary_directory() {
    let place = Place::new();
    let commands = [
        misjudged("cat file; echo kept > $TMPDIR/kept; stat -c %a $TMPDIR"),
        misjudged("cat $TMPDIR/kept; echo folder=$TMPDIR"),
    ];
    let mut stage = place.stage(&commands, at(Autonomy::Off), |it| it).await;
    stage.say("Look.");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("before700") && seen.contains("kept\nfolder="), "{seen}");
    let folder = seen.split("folder=").nth(1).unwrap().split(['\n', '"']).next().unwrap();
    assert!(Path::new(folder).is_dir(), "{folder} exists while the session is open");
    stage.agent.stop().unwrap();
    stage.until_end().await;
    assert!(!Path::new(folder).exists(), "{folder} is removed with the session");
}

#[tokio::test]
async fn command_that_runs_without_asking_changes_the_workspace_and_nothing_else() {
    for (layers, protects) in [(Layers::available(), true), (landlock(), false), (namespaces(), true)] {
        let place = Place::new();
        let make = format!(
            "all:\n\techo x > made\n\t-echo x > {}\n\t-echo x > .git/new\n\ttrue\n",
            place.other("new").display()
        );
        fs_err::write(place.work("Makefile"), make).unwrap();
        let mut stage = place
            .stage(&[execute("make")], unattended(Autonomy::Medium), |it| it.with_sandbox_layers(layers))
            .await;
        stage.say("Build it.");
        stage.until_idle().await;
        assert_eq!(content(place.work("made")), "x\n", "{layers}");
        assert!(!place.other("new").exists(), "{layers}");
        assert_eq!(place.work(".git/new").exists(), !protects, "{layers}");
    }
}

#[tokio::test]
async fn failure_because_of_the_sandbox_is_asked_about_and_never_repeated_silently() {
    for is_allowed in [true, false] {
        let place = Place::new();
        let target = place.other("new");
        fs_err::write(place.work("Makefile"), format!("all:\n\techo x >> {}\n", target.display())).unwrap();
        let mut stage = place.stage(&[execute("make")], at(Autonomy::Medium), |it| it).await;
        stage.say("Build it.");
        let events = stage.until(is_question).await;
        let why = reason(events.last().unwrap());
        assert!(
            why.starts_with("It failed in the sandbox: it writes where the sandbox only allows reading"),
            "{why}"
        );
        assert!(why.contains("Read-only file system"), "{why}");
        assert!(!target.exists());
        let Some(Event::UserRequest(request)) = events.last() else { panic!("no request") };
        let choice = if is_allowed { Choice::ProceedOnce } else { Choice::Cancel };
        stage.agent.respond(request.id().to_owned(), UserResponse::Decision(choice.into())).unwrap();
        let seen = stage.until_idle().await.join("\n");
        assert_eq!(target.exists(), is_allowed, "{seen}");
        if is_allowed {
            assert_eq!(content(&target), "x\n", "it ran once without the sandbox");
            assert!(seen.contains("call_0 done") && !seen.contains("call_0 failed"), "{seen}");
        } else {
            assert!(seen.contains("call_0 failed") && seen.contains("Read-only file system"), "{seen}");
        }
    }
}

#[tokio::test]
async fn failure_because_of_the_sandbox_is_explained_without_a_client() {
    let place = Place::new();
    let target = place.other("new");
    fs_err::write(place.work("Makefile"), format!("all:\n\techo x >> {}\n", target.display())).unwrap();
    let mut stage = place.stage(&[execute("make")], unattended(Autonomy::Medium), |it| it).await;
    stage.say("Build it.");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("turn Completed") && !target.exists(), "{seen}");
    assert!(
        results(&stage).contains("ran in a sandbox and most likely failed because of it"),
        "{}",
        results(&stage)
    );
}

#[tokio::test]
async fn command_of_spec_mode_cannot_be_allowed_to_leave_the_sandbox() {
    let place = Place::new();
    let attack = misjudged(&format!("echo x > {}", place.other("new").display()));
    let mut stage = place.stage(&[attack], in_spec_mode(), |it| it).await;
    stage.say("Plan.");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("call_0 failed") && !seen.contains("may call_0 run?"), "{seen}");
    assert!(!place.other("new").exists());
}

#[tokio::test]
async fn approved_command_runs_without_the_sandbox() {
    let place = Place::new();
    let target = place.other("new");
    let command = execute(&format!("sh -c 'echo x > {}'", target.display()));
    let mut stage = place.stage(&[command], at(Autonomy::Low), |it| it).await;
    stage.say("Do it.");
    let (_, request) = stage.until_question().await;
    stage.agent.respond(request, UserResponse::Decision(Choice::ProceedOnce.into())).unwrap();
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("call_0 done") && target.exists(), "{seen}");
}

fn git(place: &Place, script: &str) -> String {
    let setup = "export GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent; rm -rf .git";
    let script = format!("{setup}; {script}");
    #[expect(clippy::disallowed_methods, reason = "a test prepares a repository")]
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(place.work.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

const NEW_REPOSITORY: &str = "git init -q . && git config user.name a && git config user.email a@b";

#[tokio::test]
async fn git_commit_is_asked_about_once_and_then_works() {
    let place = Place::new();
    git(&place, NEW_REPOSITORY);
    let command = execute("git add file && git commit -q -m first");
    let mut stage = place.stage(&[command], at(Autonomy::Medium), |it| it).await;
    stage.say("Commit it.");
    let (reasons, seen) = allow_all(&mut stage).await;
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].starts_with("git writes to .git"), "{reasons:?}");
    assert!(seen.contains("call_0 done"), "{seen}");
    assert!(place.work(".git/refs/heads").read_dir().unwrap().count() == 1);
}

#[tokio::test]
async fn git_commit_works_without_a_client_but_cannot_leave_hooks() {
    let place = Place::new();
    git(
        &place,
        &format!(
            "{NEW_REPOSITORY} && echo 'echo x > .git/hooks/post-checkout; echo x >> .git/config; echo x > {}' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit",
            place.other("new").display()
        ),
    );
    let config = content(place.work(".git/config"));
    let command = execute("git add file && git commit -q -m first");
    let mut stage = place.stage(&[command], unattended(Autonomy::Medium), |it| it).await;
    stage.say("Commit it.");
    let seen = stage.until_idle().await.join("\n");
    assert!(place.work(".git/hooks/pre-commit").exists() && !place.work(".git/hooks/post-checkout").exists());
    assert!(!place.other("new").exists() && content(place.work(".git/config")) == config, "{seen}");
    fs_err::remove_file(place.work(".git/hooks/pre-commit")).unwrap();
    let command = execute("git add file && git commit -q -m first");
    let mut stage = place.stage(&[command], unattended(Autonomy::Medium), |it| it).await;
    stage.say("Commit it.");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("call_0 done"), "{seen}");
    assert!(place.work(".git/refs/heads").read_dir().unwrap().count() == 1);
}

#[tokio::test]
async fn nested_repository_is_as_protected_as_that_of_the_workspace() {
    let place = Place::new();
    fs_err::create_dir_all(place.work("sub/deeper/.git/hooks")).unwrap();
    fs_err::create_dir_all(place.work(".husky")).unwrap();
    let recipe =
        "echo x > sub/deeper/new; echo x > sub/deeper/.git/hooks/pre-commit; echo x > .husky/pre-commit";
    fs_err::write(place.work("Makefile"), format!("all:\n\t{recipe}\n")).unwrap();
    let mut stage = place.stage(&[execute("make")], unattended(Autonomy::Medium), |it| it).await;
    stage.say("Build it.");
    let seen = stage.until_idle().await.join("\n");
    assert!(place.work("sub/deeper/new").exists(), "{seen}");
    for name in ["sub/deeper/.git/hooks/pre-commit", ".husky/pre-commit"] {
        assert!(!place.work(name).exists(), "{name}: {seen}");
    }
}

#[tokio::test]
async fn git_commit_in_a_worktree_works_without_a_client_but_cannot_leave_hooks() {
    let place = Place::new();
    let repository = place.other("repository");
    let git = |arguments: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the real git is run")]
        let mut git = std::process::Command::new("git");
        git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.status().unwrap().success(), "{arguments:?}");
    };
    let at = repository.to_str().unwrap();
    git(&["init", "-q", at]);
    for (name, value) in [("user.name", "n"), ("user.email", "e@example.com")] {
        git(&["-C", at, "config", name, value]);
    }
    git(&["-C", at, "commit", "-q", "--allow-empty", "-m", "first"]);
    fs_err::remove_dir_all(place.work.path()).unwrap();
    git(&["-C", at, "worktree", "add", "-q", "-b", "tree", place.work.path().to_str().unwrap()]);
    fs_err::write(place.work("file"), "before").unwrap();
    fs_err::create_dir_all(repository.join(".git/hooks")).unwrap();
    let hook = repository.join(".git/hooks/pre-commit");
    fs_err::write(&hook, "#!/bin/sh\necho x > \"$(dirname \"$0\")/post-checkout\"; exit 0\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = execute("git add file && git commit -q -m second");
    let mut stage = place.stage(&[command], unattended(Autonomy::Medium), |it| it).await;
    stage.say("Commit it.");
    let seen = stage.until_idle().await.join("\n");
    assert!(seen.contains("call_0 done"), "{seen} {}", results(&stage));
    let log = fs_err::read_to_string(
        repository
            .join(".git/worktrees")
            .read_dir()
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
            .join("logs/HEAD"),
    )
    .unwrap();
    assert!(log.contains("second"), "{log}");
    assert!(!repository.join(".git/hooks/post-checkout").exists());
}

fn settings(mode: SandboxMode) -> SandboxSettings {
    SandboxSettings { mode: Some(mode), ..SandboxSettings::default() }
}

#[tokio::test]
async fn mode_and_network_of_the_settings_apply_at_every_level() {
    use SandboxMode::{Off, ReadOnly, WorkspaceWrite};
    use SandboxNetwork as Net;

    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let connect = format!("bash -c ': < /dev/tcp/127.0.0.1/{port}'");
    // level, mode, network; may write outside, in the workspace, may connect
    for (level, mode, network, expected) in [
        (Autonomy::High, None, None, [true, true, true]),
        (Autonomy::High, Some(WorkspaceWrite), None, [false, true, true]),
        (Autonomy::High, Some(WorkspaceWrite), Some(Net::Off), [false, true, false]),
        (Autonomy::High, Some(WorkspaceWrite), Some(Net::Local), [false, true, false]),
        (Autonomy::High, Some(ReadOnly), None, [false, false, true]),
        (Autonomy::High, Some(Off), Some(Net::Off), [true, true, true]),
    ] {
        let place = Place::new();
        let outside = format!("bash -c 'echo x > {}'", place.other("new").display());
        let commands = [execute(&outside), execute("bash -c 'echo x > made'"), execute(&connect)];
        let sandbox = SandboxSettings { mode, network, ..SandboxSettings::default() };
        let mut stage = place.stage(&commands, unattended(level), |it| it.with_sandbox(sandbox)).await;
        stage.say("Do it.");
        let seen = stage.until_idle().await.join("\n");
        let done = [0, 1, 2].map(|index| seen.contains(&format!("call_{index} done")));
        assert_eq!(done, expected, "{mode:?} {network:?}: {seen}");
        assert_eq!([place.other("new").exists(), place.work("made").exists()], expected[..2], "{mode:?}");
    }
}

#[tokio::test]
async fn background_command_runs_in_the_sandbox() {
    let place = Place::new();
    let (name, mut input) =
        execute(&format!("make x; bash -c 'echo x > made; echo x > {}'", place.other("new").display()));
    input["fireAndForget"] = json!(true);
    let sandbox = settings(SandboxMode::WorkspaceWrite);
    let wait = ("TaskOutput", json!({"task_id": "command_1", "block": true, "timeout": 20000}));
    let mut stage =
        place.stage(&[(name, input), wait], unattended(Autonomy::High), |it| it.with_sandbox(sandbox)).await;
    stage.say("Do it.");
    let seen = stage.until_idle().await.join("\n");
    assert!(place.work("made").exists() && !place.other("new").exists(), "{seen}");
    assert!(seen.contains("most likely failed because of it"), "{seen}");
}

#[tokio::test]
async fn required_sandbox_that_cannot_be_enforced_starts_no_session() {
    for (mode, layers, is_fine) in [
        (SandboxMode::WorkspaceWrite, Layers::available(), true),
        (SandboxMode::WorkspaceWrite, landlock(), false),
        (SandboxMode::ReadOnly, landlock(), true),
        (SandboxMode::ReadOnly, Layers::default(), false),
        (SandboxMode::Off, Layers::default(), true),
    ] {
        let place = Place::new();
        let sandbox = SandboxSettings { is_required: true, ..settings(mode) };
        let (home, work) = (Arc::clone(&place.home), Arc::clone(&place.work));
        let mut stage = Stage::with_setup(home, work, [], Registry::builtin(), |it| {
            it.with_sandbox(sandbox).with_sandbox_layers(layers)
        });
        let cwd = place.work.path().to_owned();
        let new = NewSession { cwd, ..NewSession::default() };
        let command_id = stage.submit(musher_engine::Command::Create(Box::new(new)));
        match stage.outcome(&command_id).await {
            Ok(_) => assert!(is_fine, "{mode:?} {layers}"),
            Err(error) => {
                assert!(!is_fine, "{mode:?} {layers}: {error}");
                assert!(error.to_string().starts_with("cannot enforce the required sandbox"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn session_says_at_its_start_what_cannot_be_enforced() {
    let git = "`.git`, settings and other protected files";
    let writes = "where commands write is not restricted";
    let set = Some(SandboxMode::WorkspaceWrite);
    for (mode, level, layers, expected) in [
        (set, Autonomy::Low, Layers::available(), None),
        (set, Autonomy::Low, landlock(), Some(git)),
        (set, Autonomy::Low, Layers::default(), Some(writes)),
        (None, Autonomy::Low, Layers::available(), None),
        (None, Autonomy::Medium, landlock(), Some(git)),
        (None, Autonomy::High, landlock(), None),
        (None, Autonomy::High, Layers::default(), Some(writes)),
        (Some(SandboxMode::Off), Autonomy::Low, Layers::default(), None),
    ] {
        let place = Place::new();
        let sandbox = SandboxSettings { mode, ..SandboxSettings::default() };
        let (home, work) = (Arc::clone(&place.home), Arc::clone(&place.work));
        let mut stage = Stage::with_setup(home, work, [], Registry::builtin(), |it| {
            it.with_sandbox(sandbox).with_sandbox_layers(layers)
        });
        let cwd = place.work.path().to_owned();
        stage.submit(musher_engine::Command::Create(Box::new(NewSession { cwd, ..at(level) })));
        let events = lines(&stage.until(|event| matches!(event, Event::Settings { .. })).await);
        let problems: Vec<_> =
            events.into_iter().filter(|line| line.starts_with("problem sandbox")).collect();
        match expected {
            None => assert!(problems.is_empty(), "{mode:?} {level:?} {layers}: {problems:?}"),
            Some(text) => {
                let is_one = problems.len() == 1 && problems[0].contains(text);
                assert!(is_one, "{mode:?} {level:?} {layers}: {problems:?}");
            }
        }
    }
}

/// Writes in the workspace and outside of it; a failure does not matter.
fn writes(place: &Place) -> String {
    format!("echo x > made; echo x > {}; true", place.other("new").display())
}

/// The same files as for commands: whether they were written in the workspace, and outside.
fn written(place: &Place) -> [bool; 2] {
    [place.work("made").exists(), place.other("new").exists()]
}

#[tokio::test]
async fn hooks_have_the_sandbox_that_the_settings_name_and_otherwise_none() {
    for (mode, expected) in [
        (None, [true, true]),
        (Some(SandboxMode::Off), [true, true]),
        (Some(SandboxMode::WorkspaceWrite), [true, false]),
        (Some(SandboxMode::ReadOnly), [false, false]),
    ] {
        let place = Place::new();
        let hook = json!([{"hooks": [{"type": "command", "command": writes(&place)}]}]);
        fs_err::write(place.home.path().join("hooks.json"), json!({"UserPromptSubmit": hook}).to_string())
            .unwrap();
        let sandbox = SandboxSettings { mode, ..SandboxSettings::default() };
        let mut stage = place.stage(&[], at(Autonomy::Low), |it| it.with_sandbox(sandbox)).await;
        stage.say("Hello.");
        stage.until_idle().await;
        assert_eq!(written(&place), expected, "{mode:?}");
    }
}

#[tokio::test]
async fn mcp_servers_have_the_sandbox_that_the_settings_name_and_otherwise_none() {
    for (mode, expected) in [
        (None, [true, true]),
        (Some(SandboxMode::WorkspaceWrite), [true, false]),
        (Some(SandboxMode::ReadOnly), [false, false]),
    ] {
        let place = Place::new();
        // it writes, and ends without being a server
        let servers = json!({"mcpServers": {"writer": {"command": "sh", "args": ["-c", writes(&place)]}}});
        fs_err::write(place.home.path().join("mcp.json"), servers.to_string()).unwrap();
        fs_err::write(place.home.path().join("settings.json"), r#"{"blockOnMcpLoad": true}"#).unwrap();
        let sandbox = SandboxSettings { mode, ..SandboxSettings::default() };
        let mut stage = place.stage(&[], at(Autonomy::Low), |it| it.with_sandbox(sandbox)).await;
        stage.say("Hello.");
        stage.until_idle().await;
        assert_eq!(written(&place), expected, "{mode:?}");
    }
}

#[tokio::test]
async fn subagent_has_the_sandbox_of_its_session() {
    let place = Place::new();
    let task = json!({"subagent_type": "worker", "description": "Write", "prompt": "Write it."});
    let sandbox = settings(SandboxMode::WorkspaceWrite);
    let mut stage =
        place.stage(&[("Task", task)], unattended(Autonomy::High), |it| it.with_sandbox(sandbox)).await;
    let command = execute(&format!("bash -c '{}'", writes(&place)));
    stage.model.tell_subagents(vec![calls("", &[command]), text("Written.")]);
    stage.say("Delegate it.");
    let seen = stage.until_idle().await.join("\n");
    assert_eq!(written(&place), [true, false], "{seen}");
}

#[tokio::test]
async fn settings_file_and_client_choose_the_sandbox_and_a_flag_wins() {
    for (file, client, flag, expected) in [
        (None, None, None, [true, true]),
        (Some("workspace-write"), None, None, [true, false]),
        (Some("workspace-write"), Some(SandboxMode::ReadOnly), None, [false, false]),
        (Some("read-only"), Some(SandboxMode::ReadOnly), Some(SandboxMode::WorkspaceWrite), [true, false]),
    ] {
        let place = Place::new();
        if let Some(file) = file {
            let text = json!({"sandbox": file}).to_string();
            fs_err::write(place.home.path().join("settings.json"), text).unwrap();
        }
        let mut new = unattended(Autonomy::High);
        new.attach.sandbox.mode = client;
        let flag = SandboxSettings { mode: flag, ..SandboxSettings::default() };
        let command = execute(&format!("bash -c '{}'", writes(&place)));
        let mut stage = place.stage(&[command], new, |it| it.with_sandbox(flag)).await;
        stage.say("Write it.");
        stage.until_idle().await;
        assert_eq!(written(&place), expected, "{file:?} {client:?}");
    }
}
