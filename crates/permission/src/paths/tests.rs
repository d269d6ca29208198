//! Links, `..`, pipes, and files that are replaced between resolving and opening.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use rustix::fs::{CWD, Mode, mkfifoat};
use tempfile::TempDir;

use super::*;

/// Returns a workspace `in` beside a directory `out`.
fn scene() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["in/sub", "out"] {
        fs_err::create_dir_all(folder.path().join(name)).unwrap();
    }
    fs_err::write(folder.path().join("in/a.txt"), "a").unwrap();
    fs_err::write(folder.path().join("out/secret"), "s").unwrap();
    let workspace = Workspace::open(folder.path().join("in")).unwrap();
    (folder, workspace)
}

fn found(workspace: &Workspace, path: &str) -> (bool, FileKind) {
    let resolved = workspace.resolve(path).unwrap();
    (resolved.is_inside, resolved.kind)
}

#[test]
fn plain_paths_and_dots_are_followed_by_component() {
    let (folder, workspace) = scene();
    assert_eq!(found(&workspace, "a.txt"), (true, FileKind::File));
    assert_eq!(found(&workspace, "./sub/../a.txt"), (true, FileKind::File));
    assert_eq!(found(&workspace, "."), (true, FileKind::Folder));
    assert_eq!(found(&workspace, "../out/secret"), (false, FileKind::File));
    assert_eq!(found(&workspace, "/etc"), (false, FileKind::Folder));
    assert_eq!(found(&workspace, "new/deep/file"), (true, FileKind::Missing));
    assert!(workspace.resolve("new/../a.txt").is_err(), "nothing is above what is not there");
    assert!(workspace.resolve("a.txt/b").is_err());
    // `in-between` starts with `in` but is not below it
    fs_err::create_dir(folder.path().join("in-between")).unwrap();
    assert_eq!(found(&workspace, "../in-between"), (false, FileKind::Folder));
}

#[test]
fn links_are_followed_anywhere_in_a_path() {
    let (folder, workspace) = scene();
    let link = |target: &str, name: &str| symlink(target, folder.path().join("in").join(name)).unwrap();
    link("a.txt", "good");
    link("../out", "door");
    link("../out/nothing-yet", "dangling");
    link("loop", "loop");
    link("sub/../../out/secret", "winding");
    link("door/secret", "chain");
    assert_eq!(found(&workspace, "good"), (true, FileKind::File));
    assert_eq!(found(&workspace, "door/secret"), (false, FileKind::File));
    assert_eq!(found(&workspace, "door/new"), (false, FileKind::Missing));
    assert_eq!(found(&workspace, "dangling"), (false, FileKind::Missing));
    assert_eq!(found(&workspace, "winding"), (false, FileKind::File));
    assert_eq!(found(&workspace, "chain"), (false, FileKind::File));
    assert_eq!(found(&workspace, "door/../a.txt"), (false, FileKind::Missing));
    assert!(workspace.resolve("loop").is_err());
    assert!(workspace.reach("door/secret", &Access::Workspace).is_err());
    assert!(workspace.reach("door/secret", &Access::Anywhere).is_ok());
    let agreed = Access::Only([workspace.resolve("door/secret").unwrap().path].into());
    assert!(workspace.reach("door/secret", &agreed).is_ok());
    assert!(workspace.reach("a.txt", &agreed).is_err(), "the call was not judged by this path");
    assert!(workspace.reach("door/other", &agreed).is_err());
    // redirecting the link after the permission was given does not lead elsewhere
    fs_err::create_dir(folder.path().join("elsewhere")).unwrap();
    fs_err::write(folder.path().join("elsewhere/secret"), "other").unwrap();
    fs_err::remove_file(folder.path().join("in/door")).unwrap();
    link("../elsewhere", "door");
    assert!(workspace.reach("door/secret", &agreed).is_err());
}

#[test]
fn magic_links_are_not_followed() {
    let (_folder, workspace) = scene();
    let resolved = workspace.resolve("/proc/self/root/etc").unwrap();
    assert_eq!((resolved.path, resolved.is_inside), (PathBuf::from("/etc"), false));
    assert!(!workspace.resolve("/proc/self/fd/0").unwrap().is_inside);
}

#[test]
fn workspace_behind_a_link_is_its_target() {
    let (folder, workspace) = scene();
    symlink(folder.path().join("in"), folder.path().join("alias")).unwrap();
    assert_eq!(Workspace::open(folder.path().join("alias")).unwrap().root(), workspace.root());
    assert!(Workspace::open(folder.path().join("in/a.txt")).is_err());
    assert!(Workspace::open(folder.path().join("nowhere")).is_err());
    assert!(Workspace::open("relative").is_err());
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let (folder, workspace) = scene();
    mkfifoat(CWD, folder.path().join("in/pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    for path in ["pipe", "/dev/zero"] {
        let resolved = workspace.resolve(path).unwrap();
        assert_eq!(resolved.kind, FileKind::Special);
        assert!(resolved.open().is_err() && resolved.write(b"x").is_err());
    }
    // the path may have become a pipe in the meantime
    let resolved = workspace.resolve("a.txt").unwrap();
    fs_err::remove_file(&resolved.path).unwrap();
    mkfifoat(CWD, &resolved.path, Mode::RUSR | Mode::WUSR).unwrap();
    assert!(resolved.open().is_err() && resolved.write(b"x").is_err());
}

#[test]
fn link_created_after_resolution_is_not_followed() {
    let (folder, workspace) = scene();
    fs_err::write(folder.path().join("in/sub/f"), "mine").unwrap();
    let resolved = workspace.resolve("sub/f").unwrap();
    fs_err::rename(folder.path().join("in/sub"), folder.path().join("in/moved")).unwrap();
    symlink("../out", folder.path().join("in/sub")).unwrap();
    fs_err::write(folder.path().join("out/f"), "theirs").unwrap();
    assert!(resolved.open().is_err());
    assert!(resolved.write(b"x").is_err());
    assert!(resolved.remove().is_err());
    assert_eq!(fs_err::read_to_string(folder.path().join("out/f")).unwrap(), "theirs");

    let resolved = workspace.resolve("a.txt").unwrap();
    fs_err::remove_file(&resolved.path).unwrap();
    symlink("../out/secret", &resolved.path).unwrap();
    assert!(resolved.open().is_err());
    assert!(resolved.write(b"x").is_err());
    assert_eq!(fs_err::read_to_string(folder.path().join("out/secret")).unwrap(), "s");
}

#[test]
fn write_keeps_the_mode_creates_directories_and_leaves_no_temporary_file() {
    let (folder, workspace) = scene();
    let script = folder.path().join("in/run.sh");
    fs_err::write(&script, "old").unwrap();
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o751)).unwrap();
    let before = fs_err::metadata(&script).unwrap().ino();
    workspace.resolve("run.sh").unwrap().write(b"new").unwrap();
    let after = fs_err::metadata(&script).unwrap();
    assert_eq!(after.permissions().mode() & 0o777, 0o751);
    assert_ne!(after.ino(), before, "a new file took its place");
    workspace.resolve("x/y/z.txt").unwrap().write(b"deep").unwrap();
    assert_eq!(fs_err::read(folder.path().join("in/x/y/z.txt")).unwrap(), b"deep");
    assert!(workspace.resolve("sub").unwrap().write(b"x").is_err());
    let names = fs_err::read_dir(folder.path().join("in")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("musher")));
}

#[test]
fn large_files_and_hard_links_are_noticed() {
    let (folder, workspace) = scene();
    let large = fs_err::File::create(folder.path().join("in/large")).unwrap();
    large.set_len(10 << 30).unwrap();
    let error = workspace.resolve("large").unwrap().read(1 << 20).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    fs_err::hard_link(folder.path().join("out/secret"), folder.path().join("in/twin")).unwrap();
    assert!(workspace.resolve("twin").unwrap().is_hard_linked);
    assert!(!workspace.resolve("a.txt").unwrap().is_hard_linked);
}

mod against_the_kernel {
    //! Random directories and links: a path resolves to what the kernel says.

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn resolved_path_equals_that_of_the_kernel(links in proptest::collection::vec(("[abc]", "(\\.\\./|[abc]/|/){0,3}[abc]"), 0..6),
                        path in "([abc]|\\.\\.)(/([abc]|\\.\\.)){0,4}") {
            let folder = tempfile::tempdir().unwrap();
            let root = fs_err::canonicalize(folder.path()).unwrap();
            fs_err::create_dir_all(root.join("a/b/c")).unwrap();
            fs_err::create_dir_all(root.join("w/a/b")).unwrap();
            for (name, target) in &links {
                // fails if the name is taken
                symlink(target, root.join("w").join(name)).ok();
            }
            let workspace = Workspace::open(root.join("w")).unwrap();
            let ours = workspace.resolve(&path);
            match fs_err::canonicalize(root.join("w").join(&path)) {
                Ok(real) => {
                    let ours = ours.unwrap();
                    prop_assert_eq!(&ours.path, &real);
                    prop_assert_eq!(ours.is_inside, real.starts_with(root.join("w")));
                }
                // a path that the kernel cannot resolve is an error or missing here too
                Err(_) => prop_assert!(ours.is_err() || ours.unwrap().kind == FileKind::Missing),
            }
        }
    }
}

#[test]
fn additional_directories_are_inside_under_their_given_names() {
    let folder = tempfile::tempdir().unwrap();
    let real = fs_err::canonicalize(folder.path()).unwrap();
    for name in ["work", "lib", "else"] {
        fs_err::create_dir(real.join(name)).unwrap();
    }
    fs_err::os::unix::fs::symlink("lib", real.join("door")).unwrap();
    let workspace = Workspace::open(real.join("work")).unwrap().with_folder(real.join("door")).unwrap();
    for (path, is_inside) in [("../lib/a", true), ("../door/a", true), ("a", true), ("../else/a", false)] {
        assert_eq!(workspace.resolve(path).unwrap().is_inside, is_inside, "{path}");
    }
    assert_eq!(workspace.as_given(&real.join("lib/a")), Some(real.join("door/a")));
    assert_eq!(workspace.as_given(&real.join("else/a")), None);
    assert!(workspace.clone().with_folder("lib").is_err() && workspace.with_folder(real.join("no")).is_err());
}
