//! What the settings of a repository would make git run when it only reads: diff drivers, filters, pagers, monitors.
//!
//! The settings come with the repository, so they may be an attacker's. A setting that can run a program, include another file or move the
//! worktree makes every command of that repository unproven. Submodules have settings of their own, which `git status` uses.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Larger files are not read.
const MAX_SETTINGS: u64 = 256 * 1024;
const MAX_INDEX: u64 = 128 * 1024 * 1024;
/// The maximum number of submodules that are looked at, with all nested ones.
const MAX_REPOSITORIES: usize = 64;

/// Returns whether the settings of a repository run nothing. `worktree` is the directory that holds `.git`.
pub(super) fn run_nothing(worktree: &Path) -> bool {
    let mut left = MAX_REPOSITORIES;
    is_plain(worktree, false, &mut left)
}

fn is_plain(worktree: &Path, is_submodule: bool, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    let Some((own, common)) = folders(worktree) else { return false };
    let mut hash_length = 20;
    for file in [common.join("config"), own.join("config.worktree"), common.join("config.worktree")] {
        if file.symlink_metadata().is_err() {
            continue;
        }
        let Some(bytes) = read(&file, MAX_SETTINGS) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        if !sets_no_program(&text, is_submodule) {
            return false;
        }
        if text.to_ascii_lowercase().contains("sha256") {
            hash_length = 32;
        }
    }
    let Some(tracked) = tracked(&own.join("index"), hash_length) else { return false };
    tracked.iter().filter(|file| file.is_submodule).all(|Tracked { path, .. }| {
        let folder = worktree.join(path);
        // a submodule that is not checked out has no settings
        folder.join(".git").symlink_metadata().is_err() || is_plain(&folder, true, left)
    })
}

/// Returns the directory of a worktree's data, and that of the repository's.
fn folders(worktree: &Path) -> Option<(PathBuf, PathBuf)> {
    let git = worktree.join(".git");
    let own = if git.symlink_metadata().ok()?.is_file() {
        let text = read(&git, MAX_SETTINGS)?;
        worktree.join(std::str::from_utf8(&text).ok()?.strip_prefix("gitdir:")?.trim())
    } else {
        git
    };
    let common = match read(&own.join("commondir"), MAX_SETTINGS) {
        Some(text) => own.join(std::str::from_utf8(&text).ok()?.trim_end_matches(['\n', '\r'])),
        None => own.clone(),
    };
    Some((own, common))
}

/// Reads a regular file. `None` if it is missing or too large.
fn read(path: &Path, max: u64) -> Option<Vec<u8>> {
    let metadata = path.metadata().ok()?;
    (metadata.is_file() && metadata.len() <= max).then(|| fs_err::read(path).ok())?
}

/// Returns whether settings make git run no program when it reads, read no other settings, and use no other worktree. Programs for which
/// commands
/// get variables that take precedence, such as the pager, are left out here.
fn sets_no_program(text: &str, is_submodule: bool) -> bool {
    static RUNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let keys = "command|textconv|external|clean|smudge|process|alternaterefscommand|submodule|showsignature|uploadpack|vcs|\
                    packobjectshook|gitproxy|allow";
        Regex::new(&format!(r"(?im)(?:^|\])\s*(?:(?:{keys})[ \t]*(?:=|\r?$|[#;])|\[\s*include)")).ok()
    });
    static WORKTREE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?im)(?:^|\])\s*worktree[ \t]*=").ok());
    // the value is a switch, or a program
    static MONITOR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?im)(?:^|\])\s*fsmonitor[ \t]*=[ \t]*(\S*)[ \t]*\r?$").ok());
    // written by `git lfs install --local`
    const LARGE_FILES: [&str; 3] =
        ["clean = git-lfs clean -- %f", "smudge = git-lfs smudge -- %f", "process = git-lfs filter-process"];
    let kept: Vec<&str> = text.lines().filter(|line| !LARGE_FILES.contains(&line.trim())).collect();
    // a backslash at the end of a line continues it in the next one
    let text =
        if text.contains("\\\n") || text.contains("\\\r\n") { text.to_owned() } else { kept.join("\n") };
    let has =
        |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_none_or(|pattern| pattern.is_match(&text));
    // the settings of a submodule are apart from it, and name it
    let is_switch = |value: &str| ["true", "false", ""].contains(&&*value.to_ascii_lowercase());
    let monitors = text.to_ascii_lowercase().matches("fsmonitor").count();
    let switches = MONITOR.as_ref().map_or(0, |pattern| {
        pattern
            .captures_iter(&text)
            .filter(|found| found.get(1).is_some_and(|value| is_switch(value.as_str())))
            .count()
    });
    !has(&RUNS) && monitors == switches && (is_submodule || !has(&WORKTREE))
}

/// Returns whether a file for which this holds is tracked, or may be: then git shows its content.
pub(super) fn may_track(worktree: &Path, is_meant: impl Fn(&Path) -> bool) -> bool {
    let Some((own, _)) = folders(worktree) else { return true };
    match tracked(&own.join("index"), 20) {
        Some(tracked) => tracked.iter().any(|file| is_meant(&worktree.join(&file.path))),
        None => true,
    }
}

/// An entry of an index.
struct Tracked {
    path: PathBuf,
    is_submodule: bool,
}

/// Returns the entries of an index; `None` if it has a form that is not read here.
fn tracked(index: &Path, hash_length: usize) -> Option<Vec<Tracked>> {
    const SUBMODULE: u32 = 0o160_000;
    const KIND: u32 = 0o170_000;
    if index.symlink_metadata().is_err() {
        return Some(Vec::new());
    }
    let bytes = read(index, MAX_INDEX)?;
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut found = Vec::new();
    let mut name: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..number(8)? {
        let start = at;
        let mode = number(at + 24)?;
        at += 40 + hash_length;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += if version >= 3 && flags & 0x4000 != 0 { 4 } else { 2 };
        if version == 4 {
            let (removed, length) = varint(bytes.get(at..)?)?;
            at += length;
            name.truncate(name.len().checked_sub(removed)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&rest[..end]);
        at += end + 1;
        if version < 4 {
            // padded with zeros to a multiple of eight
            at = start + (at - start).div_ceil(8) * 8;
        }
        let path = PathBuf::from(OsStr::from_bytes(&name));
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        found.push(Tracked { path, is_submodule: mode & KIND == SUBMODULE });
    }
    // the rest of a split index is in another file
    while at + 8 + hash_length <= bytes.len() {
        if bytes.get(at..at + 4)? == b"link" {
            return None;
        }
        at += 8 + usize::try_from(number(at + 4)?).ok()?;
    }
    Some(found)
}

/// Reads a number as git writes it in an index of version 4. Returns it with its length.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        if at > 0 {
            value = value.checked_add(1)?;
        }
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_settings_run_nothing() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\thooksPath = .husky\n\tfsmonitor = true\n\
            [remote \"origin\"]\n\turl = https://example.com/command\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\trequired = true\n[user]\n\tname = external\n";
        assert!(sets_no_program(usual, false));
        assert!(sets_no_program("[core]\n\tworktree = ../../../sub\n", true));
    }

    #[test]
    fn settings_that_run_programs_are_found_in_every_spelling() {
        for text in [
            "[diff]\nexternal = ./x",
            "[diff \"x\"] COMMAND=./x",
            "[diff.x]textConv = ./x",
            "[filter \"x\"]\n  clean\t= ./x",
            "[filter \"x\"]\r\nprocess=./x\r\n",
            "[core]\nfsmonitor = ./x",
            "[core]\nfsmonitor=./x",
            "[core]\nFSMonitor = trick",
            "[include]\npath = x",
            "[ includeIf \"gitdir:/\"]\npath = x",
            "[core] [include] path = x",
            "[core]\nworktree = /home",
            "[log]\nshowSignature = true",
            "[remote \"x\"]\nuploadpack = ./x",
            "\u{feff}[diff]external=x",
            "[filter \"x\"]\na = b \\\nclean = git-lfs clean -- %f",
        ] {
            assert!(!sets_no_program(text, false), "{text:?}");
        }
    }
}
