//! Permission requests, and what decisions grant.

use super::*;

fn values(request: &PermissionRequest) -> Vec<&'static str> {
    request.choices.iter().map(|choice| choice.name()).collect()
}

#[test]
fn command_is_shown_as_it_runs_with_the_usual_answers() {
    let scene = TestWorkspace::new();
    let request = asked(scene.run(&scene.policy, "cd src && npm run lint; for f in a; do ./go.sh $f; done"));
    assert_eq!(values(&request), ["proceed_once", "proceed_always", "cancel"]);
    assert_eq!((request.risk, request.impact()), (Risk::High, "high"));
    let Kind::Exec { full_command, command, extracted_commands, reason } = request.kind else { panic!() };
    assert_eq!(full_command, "cd src && npm run lint; for f in a; do ./go.sh $f; done");
    assert_eq!(command, "cd");
    assert_eq!(extracted_commands, ["cd", "npm run", "go.sh"]);
    assert_eq!(reason.as_deref(), Some("says the model"));
}

#[test]
fn what_is_always_asked_for_is_only_agreed_to_once_and_says_why() {
    let scene = TestWorkspace::new();
    let policy = Policy { deny: vec![Rule::parse("git push")], ..scene.at(Autonomy::High) };
    for (command, why) in
        [("git push origin", "deny-list entry \"git push\""), ("sudo ls", "rights of another user")]
    {
        let request = asked(scene.run(&policy, command));
        assert_eq!(values(&request), ["proceed_once", "cancel"]);
        assert_eq!(request.impact(), "high");
        assert!(
            matches!(&request.kind, Kind::Exec { reason: Some(reason), .. } if reason.contains(why)),
            "{request:?}"
        );
        let mut changed = policy.clone();
        assert_eq!(apply(&mut changed, &request, Choice::ProceedAlways), None, "it was not offered");
    }
}

#[test]
fn always_raises_the_autonomy_to_the_risk_that_was_shown_and_no_further() {
    let scene = TestWorkspace::new();
    let mut policy = scene.policy.clone();
    let request = asked(scene.run(&policy, "cargo build"));
    assert_eq!(apply(&mut policy, &request, Choice::ProceedOnce), Some(Grant::Call { raised: None }));
    assert_eq!(policy.autonomy, Autonomy::Off);
    let grant = apply(&mut policy, &request, Choice::ProceedAlways);
    assert_eq!(grant, Some(Grant::Call { raised: Some(Autonomy::Medium) }));
    assert!(matches!(scene.run(&policy, "npm install"), Verdict::Run(_)));
    assert!(matches!(scene.run(&policy, "git push"), Verdict::Ask(_)));
    // nothing is lowered by an answer that comes later
    policy.autonomy = Autonomy::High;
    assert_eq!(apply(&mut policy, &request, Choice::ProceedAlways), Some(Grant::Call { raised: None }));
    assert_eq!(policy.autonomy, Autonomy::High);
}

#[test]
fn answers_that_are_unknown_or_not_offered_are_a_no() {
    let scene = TestWorkspace::new();
    let request = asked(scene.run(&scene.policy, "cargo build"));
    assert_eq!(Choice::parse("proceed_forever"), None);
    assert_eq!(Choice::parse("Proceed_once"), None);
    let mut policy = scene.policy.clone();
    for choice in [
        Choice::ProceedAutoRunHigh,
        Choice::ProceedAlwaysServer,
        Choice::ProceedNewSession,
        Choice::ProceedEdit,
    ] {
        assert_eq!(Choice::parse(choice.name()), Some(choice));
        assert_eq!(apply(&mut policy, &request, choice), None);
        assert_eq!(policy.autonomy, Autonomy::Off);
    }
}

#[test]
fn tools_of_servers_are_remembered_up_to_the_risk_that_was_shown() {
    let scene = TestWorkspace::new();
    let call = |policy: &Policy, tool: &str, is_read_only| {
        scene.call(policy, tool, Action::Mcp { server: "files", tool, is_read_only })
    };
    let mut policy = scene.policy.clone();
    let request = asked(call(&policy, "look", true));
    assert_eq!(request.impact(), "low");
    let all = ["proceed_once", "proceed_always", "proceed_always_tools", "proceed_always_server", "cancel"];
    assert_eq!(values(&request), all);
    assert!(matches!(&request.kind, Kind::McpTool { tool_name, .. } if tool_name == "files___look"));
    assert_eq!(apply(&mut policy, &request, Choice::ProceedAlwaysTools), Some(Grant::Call { raised: None }));
    assert!(matches!(call(&policy, "look", true), Verdict::Run(_)));
    assert!(matches!(call(&policy, "look", false), Verdict::Ask(_)), "it has become riskier");
    assert!(matches!(call(&policy, "other", true), Verdict::Ask(_)));
    let request = asked(call(&policy, "other", false));
    apply(&mut policy, &request, Choice::ProceedAlwaysServer);
    assert!(matches!(call(&policy, "third", false), Verdict::Run(_)));
    assert!(matches!(call(&scene.at(Autonomy::Low), "look", true), Verdict::Run(_)));
    assert!(matches!(call(&scene.at(Autonomy::Medium), "look", false), Verdict::Ask(_)));
}

#[test]
fn plan_is_always_asked_for_and_its_answers_set_mode_and_level() {
    let scene = TestWorkspace::new();
    let plan = || Action::ProposePlan { plan: "# Plan", title: Some("Small"), option_names: Vec::new() };
    let spec = Policy { mode: Mode::Spec, skip_all: true, ..scene.at(Autonomy::Low) };
    let request = asked(scene.call(&spec, "ExitSpecMode", plan()));
    assert_eq!(request.choices.len(), 9);
    let left = |choice| {
        let mut policy = spec.clone();
        let grant = apply(&mut policy, &request, choice);
        (grant, policy.mode, policy.autonomy)
    };
    let leave =
        |autonomy, is_new_session, is_edited| Some(Grant::Plan { autonomy, is_new_session, is_edited });
    assert_eq!(left(Choice::ProceedOnce), (leave(Autonomy::Low, false, false), Mode::Auto, Autonomy::Low));
    assert_eq!(left(Choice::ProceedEdit), (leave(Autonomy::Low, false, true), Mode::Auto, Autonomy::Low));
    assert_eq!(
        left(Choice::ProceedAutoRunHigh),
        (leave(Autonomy::High, false, false), Mode::Auto, Autonomy::High)
    );
    assert_eq!(
        left(Choice::ProceedNewSession),
        (leave(Autonomy::Off, true, false), Mode::Spec, Autonomy::Low)
    );
    assert_eq!(left(Choice::ProceedNewSessionMedium).0, leave(Autonomy::Medium, true, false));
    assert_eq!(left(Choice::Cancel), (None, Mode::Spec, Autonomy::Low));
    assert_eq!(left(Choice::ProceedAlways), (None, Mode::Spec, Autonomy::Low));
    assert!(matches!(scene.call(&scene.policy, "ExitSpecMode", plan()), Verdict::Refuse(_)));
}

#[test]
fn spec_mode_changes_nothing_whatever_the_level() {
    let scene = TestWorkspace::new();
    let spec = Policy {
        mode: Mode::Spec,
        skip_all: true,
        allow: vec![Rule::parse("cargo")],
        ..scene.at(Autonomy::High)
    };
    let create = Action::Create { path: "x", content: "" };
    assert!(matches!(scene.call(&spec, "Create", create), Verdict::Refuse(_)));
    assert!(matches!(scene.run(&spec, "git log"), Verdict::Run(_)));
    for command in ["touch x", "cargo build", "echo $X", "sudo ls", "ls 'unclosed"] {
        assert!(matches!(scene.run(&spec, command), Verdict::Refuse(_)), "{command}");
    }
    for is_read_only in [false, true] {
        let mcp = Action::Mcp { server: "s", tool: "t", is_read_only };
        assert!(matches!(scene.call(&spec, "t", mcp), Verdict::Refuse(_)));
    }
    assert!(matches!(scene.call(&spec, "TodoWrite", Action::session()), Verdict::Run(_)));
    let other = Action::Other { risk: Risk::Low };
    assert!(matches!(scene.call(&spec, "Loop", other), Verdict::Refuse(_)));
}

#[test]
fn files_are_asked_for_by_where_they_really_are() {
    let scene = TestWorkspace::new();
    let create =
        |policy: &Policy, path: &str| scene.call(policy, "Create", Action::Create { path, content: "x" });
    let low = scene.at(Autonomy::Low);
    assert_eq!(create(&low, "new/x.rs"), Verdict::Run(Access::Only([scene.path("work/new/x.rs")].into())));
    let request = asked(create(&scene.policy, "new/x.rs"));
    let path = scene.path("work").join("new/x.rs");
    assert_eq!(request.kind, Kind::Create { path, file_name: "x.rs".to_owned(), content: "x".to_owned() });
    assert_eq!((request.impact(), values(&request).len()), ("low", 3));
    // a link that leads out is shown with its end, and the decision is for that end
    let request = asked(create(&scene.at(Autonomy::Medium), "door/x"));
    assert!(matches!(&request.kind, Kind::Create { path, .. } if *path == scene.path("out").join("x")));
    assert_eq!(request.access, Access::Only([scene.path("out").join("x")].into()));
    assert!(matches!(create(&scene.at(Autonomy::High), "door/x"), Verdict::Run(Access::Only(_))));
    for always in [".git/config", ".git/hooks/pre-commit", ".env", ".factory/settings.json", "notes"] {
        let request = asked(create(&scene.at(Autonomy::High), always));
        assert_eq!(values(&request), ["proceed_once", "cancel"], "{always}");
    }
    let skip = Policy { skip_all: true, ..scene.policy.clone() };
    assert_eq!(create(&skip, ".git/config"), Verdict::Run(Access::Anywhere));
    let patch = Action::Patch { patch: "+x", paths: vec!["a.new".into(), "../out/b".into()] };
    let request = asked(scene.call(&scene.at(Autonomy::Medium), "ApplyPatch", patch));
    assert!(matches!(&request.kind, Kind::ApplyPatch { files, .. } if files.len() == 2), "{request:?}");
}

#[test]
fn looking_is_free_except_at_secrets() {
    let scene = TestWorkspace::new();
    let look = |path: PathBuf, is_recursive| {
        let path = path.to_str().unwrap();
        scene.call(&scene.policy, "Read", Action::Read { path, is_recursive })
    };
    let read = |path: PathBuf| look(path, false);
    let inside = scene.path("work/a.txt");
    assert_eq!(read(inside.clone()), Verdict::Run(Access::Only([inside].into())));
    let outside = scene.path("out/o.txt");
    assert_eq!(read(outside.clone()), Verdict::Run(Access::Only([outside].into())));
    for secret in [
        scene.path("work/.env"),
        scene.path("work").join("notes"),
        scene.path("home/.ssh/id_rsa"),
        "/proc/self/environ".into(),
    ] {
        let request = asked(read(secret.clone()));
        assert_eq!(request.kind.name(), "sandbox_violation", "{}", secret.display());
        assert_eq!(values(&request), ["proceed_once", "cancel"]);
    }
    let grep = |path: PathBuf| look(path, true);
    assert!(matches!(grep(scene.path("work")), Verdict::Run(_)));
    assert!(
        matches!(grep(scene.path("home")), Verdict::Ask(_)) && matches!(grep("/".into()), Verdict::Ask(_))
    );
    assert!(matches!(scene.call(&scene.policy, "LS", Action::List { path: "." }), Verdict::Run(_)));
}

#[test]
fn rules_of_the_settings_allow_ask_and_refuse() {
    let scene = TestWorkspace::new();
    let rules = |texts: &[&str]| texts.iter().map(|text| Rule::parse(text)).collect::<Vec<_>>();
    let policy = Policy {
        allow: rules(&["npm publish", "git push"]),
        deny: rules(&["git push origin"]),
        block: rules(&["curl"]),
        ..scene.policy.clone()
    };
    for command in ["npm publish", "npm publish --dry-run | head -3", "cd src && git push", "git push fork"] {
        assert!(matches!(scene.run(&policy, command), Verdict::Run(_)), "{command}");
    }
    for command in [
        "npm publishx",
        "npm publish && touch x",
        "npm publish > log",
        "npm publish $X",
        "X=1 npm publish",
        "npm publish & ",
        "git push origin",
        "git push $X",
        "./npm publish",
        "npm publish; echo $(git push)",
    ] {
        assert!(matches!(scene.run(&policy, command), Verdict::Ask(_)), "{command}");
    }
    let skip = Policy { skip_all: true, ..policy.clone() };
    for command in [
        "curl x",
        "cu\"\"rl x",
        "/usr/bin/curl",
        "bash -c 'curl x'",
        "echo $(curl x)",
        "ls | xargs curl",
        "ls 'unclosed",
        "$X y",
        "env $X y",
        "bash -c \"ls '\"",
    ] {
        for policy in [&policy, &skip] {
            assert!(matches!(scene.run(policy, command), Verdict::Refuse(_)), "{command}");
        }
    }
}

#[test]
fn reason_of_the_model_is_shown() {
    let scene = TestWorkspace::new();
    let action = Action::Command { line: "git push", reason: Some("says the model") };
    let request = asked(scene.call(&scene.policy, "Execute", action));
    assert!(matches!(&request.kind, Kind::Exec { reason: Some(reason), .. } if reason == "says the model"));
}

#[test]
fn request_is_refused_if_no_user_can_be_asked() {
    let scene = TestWorkspace::new();
    let policy = Policy { auto_reject: true, ..scene.policy.clone() };
    assert!(matches!(scene.run(&policy, "ls"), Verdict::Run(_)));
    assert!(
        matches!(scene.run(&policy, "touch x"), Verdict::CannotAsk(refusal) if refusal.for_model.contains("autonomy level is off"))
    );
}

#[test]
fn what_deceives_the_eye_is_shown_and_the_rest_of_the_network_is_medium() {
    let scene = TestWorkspace::new();
    let request = asked(scene.run(&scene.at(Autonomy::High), "ls \u{202e}x"));
    assert!(matches!(&request.kind, Kind::Exec { full_command, .. } if full_command == "ls \\u{202e}x"));
    let fetch = || Action::Network { target: Some("https://example.com") };
    assert!(matches!(scene.call(&scene.at(Autonomy::Medium), "FetchUrl", fetch()), Verdict::Run(_)));
    let request = asked(scene.call(&scene.policy, "FetchUrl", fetch()));
    assert!(
        matches!(&request.kind, Kind::Beyond { operation: Operation::Network, target, .. } if target == "https://example.com")
    );
}

#[test]
fn programs_of_the_workspace_are_unknown_ones() {
    let scene = TestWorkspace::new();
    fs_err::write(scene.path("work").join("ls"), "#!/bin/sh\n").unwrap();
    let policy = |folder: PathBuf| Policy {
        search_path: vec![folder, "/usr/bin".into()],
        ..scene.at(Autonomy::Medium)
    };
    assert!(matches!(scene.run(&policy("/usr/bin".into()), "ls"), Verdict::Run(_)));
    assert!(matches!(scene.run(&policy(scene.path("work")), "ls"), Verdict::Ask(_)));
    assert!(matches!(scene.run(&policy(".".into()), "ls"), Verdict::Ask(_)));
    assert!(matches!(scene.run(&policy(scene.path("work")), "/bin/ls"), Verdict::Run(_)));
}

#[test]
fn no_answer_gives_more_than_may_be_given() {
    let scene = TestWorkspace::new();
    let policy = Policy { max_autonomy: Some(Autonomy::Low), ..scene.at(Autonomy::High) };
    assert!(matches!(scene.run(&policy, "touch x"), Verdict::Run(_)));
    let request = asked(scene.run(&policy, "cargo build"));
    assert_eq!(values(&request), ["proceed_once", "cancel"]);
    assert_eq!(apply(&mut policy.clone(), &request, Choice::ProceedAlways), None);
    let spec = Policy { mode: Mode::Spec, ..policy };
    let request = asked(scene.call(
        &spec,
        "ExitSpecMode",
        Action::ProposePlan { plan: "x", title: None, option_names: Vec::new() },
    ));
    let offered =
        ["proceed_once", "proceed_auto_run_low", "proceed_new_session", "proceed_new_session_low", "cancel"];
    assert_eq!(values(&request), offered);
}

#[test]
fn further_folders_of_the_workspace_are_inside_and_as_precious_as_the_first() {
    let mut scene = TestWorkspace::new();
    let out = scene.path("out");
    let new = out.join("new.txt");
    let create = || Action::Create { path: new.to_str().unwrap(), content: "x" };
    let low = scene.at(Autonomy::Low);
    assert!(matches!(scene.call(&low, "Create", create()), Verdict::Ask(_)));
    let outside = scene.level("touch ../out/x");
    scene.workspace = scene.workspace.clone().with_folder(&out).unwrap();
    assert_eq!(scene.call(&low, "Create", create()), Verdict::Run(Access::Only([new.clone()].into())));
    assert_eq!(scene.level("touch ../out/x"), scene.level("touch x"));
    assert_ne!(scene.level("touch ../out/x"), outside);
    assert_eq!(scene.level("rm -rf ../out"), None, "a whole folder of the workspace is always asked for");
}

#[test]
fn input_for_a_command_needs_high_autonomy_and_respects_the_lists() {
    let scene = TestWorkspace::new();
    let feed = |policy: &Policy, text: &str| scene.call(policy, "TaskInput", Action::CommandInput { text });
    for autonomy in [Autonomy::Off, Autonomy::Low, Autonomy::Medium] {
        let request = asked(feed(&scene.at(autonomy), "ls"));
        assert_eq!(
            request.risk,
            Risk::High,
            "a harmless command line may mean something else to another program"
        );
    }
    let high = scene.at(Autonomy::High);
    assert!(matches!(feed(&high, "yes\n"), Verdict::Run(_)));
    let blocked = Policy { block: vec![Rule::parse("curl")], ..high.clone() };
    assert!(matches!(feed(&blocked, "curl http://x"), Verdict::Refuse(_)));
    let denied = Policy { deny: vec![Rule::parse("git push")], ..high.clone() };
    assert_eq!(values(&asked(feed(&denied, "git push origin"))), ["proceed_once", "cancel"]);
    let planning = Policy { mode: Mode::Spec, ..high };
    assert!(matches!(feed(&planning, "ls"), Verdict::Refuse(_)));
}

#[test]
fn refusal_by_the_settings_says_not_to_work_around_it() {
    let scene = TestWorkspace::new();
    let policy = Policy { block: vec![Rule::parse("curl")], ..scene.at(Autonomy::High) };
    for line in ["curl http://x", "eval \"$X\"", "bash -c \"$X\"", "sh -ec \"$(cat x)\"", "$X http://x"] {
        let Verdict::Refuse(refusal) = scene.run(&policy, line) else { panic!("`{line}` is not refused") };
        let says = &refusal.for_model;
        assert!(says.contains("Do not work around it") && says.contains("tell the user"), "{says}");
        assert!(!refusal.for_client.contains("Do not"), "{}", refusal.for_client);
    }
}

#[test]
fn always_for_a_web_page_covers_its_host_and_nothing_else() {
    let scene = TestWorkspace::new();
    let mut policy = scene.policy.clone();
    let fetch =
        |policy: &Policy, url: &str| scene.call(policy, "FetchUrl", Action::Network { target: Some(url) });
    let request = asked(fetch(&policy, "https://example.com/a"));
    assert_eq!(
        request.label(Choice::ProceedAlways),
        "Yes, and don't ask again for example.com in this session"
    );
    assert_eq!(apply(&mut policy, &request, Choice::ProceedAlways), Some(Grant::Call { raised: None }));
    assert_eq!(policy.autonomy, Autonomy::Off);
    assert!(matches!(fetch(&policy, "https://example.com/b?c"), Verdict::Run(_)));
    for url in [
        "https://example.org/",
        "https://example.com:8080/",
        "https://example.com@evil.org/",
        "https://sub.example.com/",
    ] {
        assert!(matches!(fetch(&policy, url), Verdict::Ask(_)), "{url}");
    }
    assert!(matches!(scene.run(&policy, "cargo build"), Verdict::Ask(_)));
    let search = |policy: &Policy, query: &str| {
        scene.call(policy, "WebSearch", Action::Network { target: Some(query) })
    };
    let request = asked(search(&policy, "how to"));
    assert_eq!(
        request.label(Choice::ProceedAlways),
        "Yes, and don't ask again for WebSearch in this session"
    );
    apply(&mut policy, &request, Choice::ProceedAlways);
    assert!(matches!(search(&policy, "another question"), Verdict::Run(_)));
}

#[test]
fn scripts_of_hooks_are_asked_for_at_every_level() {
    let scene = TestWorkspace::new();
    let script = scene.path("work/a.txt");
    let policy = Policy { protected_files: vec![script], ..scene.at(Autonomy::High) };
    for command in ["touch a.txt", "cp src/main.rs a.txt", "rm a.txt"] {
        assert!(matches!(scene.run(&policy, command), Verdict::Ask(_)), "{command}");
    }
    let create = Action::Create { path: "a.txt", content: "x" };
    assert!(matches!(scene.call(&policy, "Create", create), Verdict::Ask(_)));
}
