//! What settings mean, and which sandbox follows.

use musher_tools::Workspace;
use serde_json::json;

use super::*;

fn parse(value: serde_json::Value) -> Result<SandboxSettings, String> {
    SandboxSettings::try_from(value)
}

#[test]
fn command_is_classified_by_its_text_and_by_who_allows_it() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let policy = Policy {
        autonomy: Autonomy::Medium,
        allow: vec![crate::permission::Rule::parse("make deploy")],
        search_path: vec!["/usr/bin".into(), "/bin".into()],
        home: "/home/user".into(),
        ..Policy::default()
    };
    for (line, is_approved, expected) in [
        ("ls", false, CommandAccess::ReadOnly),
        ("git log | head -3", false, CommandAccess::ReadOnly),
        ("cat .env", true, CommandAccess::Approved),
        ("make", false, CommandAccess::WithoutAsking),
        ("make", true, CommandAccess::Approved),
        ("make deploy", false, CommandAccess::Approved),
        ("make deploy && make", false, CommandAccess::WithoutAsking),
        ("git add . && git commit -m x", false, CommandAccess::Git),
        ("git add . && make", false, CommandAccess::WithoutAsking),
        ("echo $(git commit -m x)", false, CommandAccess::WithoutAsking),
    ] {
        assert_eq!(CommandAccess::of(line, &policy, &workspace, is_approved), expected, "{line}");
        let skips = Policy { skip_all: true, ..policy.clone() };
        assert_eq!(CommandAccess::of(line, &skips, &workspace, is_approved), expected, "{line}");
    }
}

#[test]
fn settings_and_homes_inside_a_writable_directory_are_protected() {
    let folder = tempfile::tempdir().unwrap();
    let home = fs_err::canonicalize(folder.path()).unwrap();
    for name in [
        ".git",
        ".musher",
        ".vscode",
        "src/.git",
        "a/b/c/.git",
        "node_modules/x/.git",
        ".husky",
        ".config",
        ".ssh",
        ".cargo/bin",
        ".cargo/registry",
    ] {
        fs_err::create_dir_all(home.join(name)).unwrap();
    }
    for name in [".bashrc", ".mcp.json"] {
        fs_err::write(home.join(name), "").unwrap();
    }
    let workspace = Workspace::open(&home).unwrap();
    let policy =
        Policy { home: home.clone(), settings_folders: vec![home.join(".musher")], ..Policy::default() };
    let settings = parse(json!({"writable": ["~/.config"]})).unwrap();
    let sandboxes = Sandboxes::new(settings, None, &workspace, &policy, &home);
    let protected: Vec<_> = [
        ".git",
        ".musher",
        ".vscode",
        "src/.git",
        "a/b/c/.git",
        ".husky",
        ".mcp.json",
        ".bashrc",
        ".ssh",
        ".cargo/bin",
    ]
    .map(|name| home.join(name))
    .into();
    for path in &protected {
        assert!(sandboxes.protected().contains(path), "{path:?} of {:?}", sandboxes.protected());
    }
    assert!(!sandboxes.protected().contains(&home.join(".config")), "the user has made it writable");
    assert!(!sandboxes.protected().contains(&home.join(".cargo/registry")));
    let beside = Workspace::open(home.join("src")).unwrap();
    let sandboxes = Sandboxes::new(SandboxSettings::default(), None, &beside, &policy, &home);
    assert_eq!(sandboxes.protected(), [home.join("src/.git")], "the rest is not writable anyway");
}

#[test]
fn repository_that_appears_during_a_session_is_protected() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    let workspace = Workspace::open(&root).unwrap();
    let policy = Policy { home: "/home/user".into(), ..Policy::default() };
    let sandboxes = Sandboxes::new(SandboxSettings::default(), None, &workspace, &policy, &root);
    assert_eq!(sandboxes.protected(), Vec::<PathBuf>::new());
    fs_err::create_dir(root.join(".git")).unwrap();
    assert_eq!(sandboxes.protected(), [root.join(".git")]);
}

#[test]
fn data_of_a_worktree_is_found_if_it_names_the_worktree() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(folder.path()).unwrap();
    let (own, shared) = (root.join("repository/.git/worktrees/tree"), root.join("repository/.git"));
    fs_err::create_dir_all(&own).unwrap();
    fs_err::create_dir_all(root.join("tree")).unwrap();
    let git = root.join("tree/.git");
    fs_err::write(&git, format!("gitdir: {}\n", own.display())).unwrap();
    fs_err::write(own.join("commondir"), "../..\n").unwrap();
    assert_eq!(repositories::data(&git), Vec::<PathBuf>::new(), "nothing names the file");
    fs_err::write(own.join("gitdir"), format!("{}\n", git.display())).unwrap();
    assert_eq!(repositories::data(&git), [own, shared]);
    // a repository that another file names
    fs_err::create_dir(root.join("other")).unwrap();
    fs_err::copy(&git, root.join("other/.git")).unwrap();
    assert_eq!(repositories::data(&root.join("other/.git")), Vec::<PathBuf>::new());
}

#[test]
fn shortfalls_are_those_of_the_level_and_the_settings() {
    let all = Layers { landlock: Some(7), seccomp: true, namespaces: true };
    let no_namespaces = Layers { namespaces: false, ..all };
    let old = Layers { landlock: Some(2), seccomp: false, namespaces: false };
    let plain = SandboxSettings::default();
    let off = parse(json!("off")).unwrap();
    let read_only = parse(json!("read-only")).unwrap();
    let found = |settings: &SandboxSettings, level, layers| {
        check(settings, level, Some(layers)).unwrap().map(|problem| problem.message).unwrap_or_default()
    };
    for level in [Autonomy::Off, Autonomy::Low, Autonomy::Medium, Autonomy::High] {
        assert_eq!(found(&plain, level, all), "");
        let nothing = found(&plain, level, Layers::default());
        assert!(nothing.contains("where commands write is not restricted"), "{level:?}: {nothing}");
        assert_eq!(found(&off, level, Layers::default()), "", "the user has turned it off");
        let protects = found(&plain, level, no_namespaces);
        assert_eq!(protects.contains("`.git`"), level != Autonomy::High, "{level:?}: {protects}");
        assert_eq!(found(&read_only, level, no_namespaces), "");
        let network = found(&plain, level, Layers { seccomp: false, ..all });
        assert_eq!(network.contains("network"), level <= Autonomy::Low, "{level:?}: {network}");
        assert!(found(&plain, level, old).contains("empty files"), "{level:?}");
    }
}
