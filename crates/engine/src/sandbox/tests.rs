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
        ("make", false, CommandAccess::Unasked),
        ("make", true, CommandAccess::Approved),
        ("make deploy", false, CommandAccess::Approved),
        ("make deploy && make", false, CommandAccess::Unasked),
        ("git add . && git commit -m x", false, CommandAccess::Git),
        ("git add . && make", false, CommandAccess::Unasked),
        ("echo $(git commit -m x)", false, CommandAccess::Unasked),
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
    for name in [".git", ".musher", ".vscode", "src/.git", ".config", ".ssh", ".cargo/bin", ".cargo/registry"]
    {
        fs_err::create_dir_all(home.join(name)).unwrap();
    }
    fs_err::write(home.join(".bashrc"), "").unwrap();
    let workspace = Workspace::open(&home).unwrap();
    let policy =
        Policy { home: home.clone(), settings_folders: vec![home.join(".musher")], ..Policy::default() };
    let settings = parse(json!({"writable": ["~/.config"]})).unwrap();
    let sandboxes = Sandboxes::new(settings, None, &workspace, &policy, &home);
    let protected: Vec<_> =
        [".git", ".musher", ".vscode", ".bashrc", ".ssh", ".cargo/bin"].map(|name| home.join(name)).into();
    for path in &protected {
        assert!(sandboxes.protected.contains(path), "{path:?} of {:?}", sandboxes.protected);
    }
    assert!(!sandboxes.protected.contains(&home.join(".config")), "the user has made it writable");
    assert!(!sandboxes.protected.contains(&home.join(".cargo/registry")));
    let beside = Workspace::open(home.join("src")).unwrap();
    let sandboxes = Sandboxes::new(SandboxSettings::default(), None, &beside, &policy, &home);
    assert_eq!(sandboxes.protected, [home.join("src/.git")], "the rest is not writable anyway");
}
