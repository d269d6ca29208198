//! `musher completions` and `musher man`.

use crate::program::{Run, musher};

#[test]
fn every_shell_gets_completions_of_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = musher(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["sessions", "doctor", "rehearse", "unarchive"] {
            assert!(run.stdout.contains(word), "{word} for {shell}");
        }
    }
    assert_eq!(musher(&["completions", "tcsh"]).code, Some(2));
}

/// The shell itself checks the script.
#[test]
fn completions_for_bash_can_be_read_by_it() {
    let script = musher(&["completions", "bash"]).stdout;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("musher");
    fs_err::write(&file, script).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the shell is the judge")]
    let output = std::process::Command::new("bash").arg("-n").arg(&file).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn manual_is_printed_or_written_page_by_page() {
    let run = musher(&["man"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains(".TH musher 1"), "{}", run.stdout);
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1").display().to_string();
    let stderr = format!("wrote the pages to {pages}\n");
    assert_eq!(musher(&["man", "--output", &pages]), Run { code: Some(0), stdout: String::new(), stderr });
    for page in ["musher.1", "musher-sessions.1", "musher-sessions-show.1", "musher-doctor.1"] {
        let text = fs_err::read_to_string(folder.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".TH "), "{page}");
    }
}
