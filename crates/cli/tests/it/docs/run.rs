//! The shell lines of the documents, run in a clean home with nothing but `musher` and a few usual programs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use testkit::shell_lines::{FROM_CHECKOUT, blocks};

use super::{name, pages, root};

/// Programs that the documents may use besides `musher`. No agent is among them: real ones run in a sandbox only.
const PROGRAMS: [&str; 9] = ["bash", "cat", "git", "head", "ls", "mkdir", "sed", "sh", "timeout"];
/// Generous: it only ends commands that would never end.
const SECONDS: &str = "120";

/// A folder with links to the programs.
fn programs(folder: &Path) -> PathBuf {
    let bin = folder.join("bin");
    fs_err::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_musher"), bin.join("musher")).unwrap();
    for program in PROGRAMS {
        let found = ["/usr/bin", "/bin"]
            .map(|folder| Path::new(folder).join(program))
            .into_iter()
            .find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), bin.join(program)).unwrap();
    }
    bin
}

/// Runs the blocks of a page one after the other in one directory. Returns how many there were.
fn run(page: &Path) -> usize {
    let text = fs_err::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bin = programs(folder.path());
    let work = folder.path().join("work");
    fs_err::create_dir(&work).unwrap();
    let mut count = 0;
    for block in blocks(&text) {
        let place = format!("{}:{}", name(page), block.line);
        if let Some(reason) = block.not_run {
            assert!(reason.len() > 8, "{place}: why is it not run?");
            continue;
        }
        count += 1;
        let script = block.script.replace(FROM_CHECKOUT, "musher");
        #[expect(clippy::disallowed_methods, reason = "the lines are for a shell")]
        let output = std::process::Command::new("timeout")
            .args(["--kill-after=5", SECONDS, "sh", "-euc", &script])
            .env_clear()
            .env("PATH", &bin)
            .env("HOME", folder.path())
            .current_dir(&work)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (told(&output.stdout), told(&output.stderr));
        assert!(output.status.success(), "{place}: {}\n{script}\n{stdout}\n{stderr}", output.status);
    }
    count
}

#[test]
fn lines_of_the_readme_work() {
    assert!(run(&root().join("README.md")) > 0);
}

#[test]
fn lines_of_the_guide_work() {
    let guide = pages().into_iter().filter(|page| name(page).starts_with("docs/"));
    let count: usize = guide.map(|page| run(&page)).sum();
    assert!(count > 5, "{count}");
}
