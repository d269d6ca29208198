//! Commands that need permission at every level: changing the user, and irreversible changes.

use crate::command::Word;
use crate::command::place::Place;
use crate::files::Finding;
use crate::glob;

/// Whether a command always needs permission. Deliberately broad: an argument that may have the dangerous meaning counts.
pub(super) fn judge(name: &str, arguments: &[Word], place: &Place<'_>) -> Finding {
    let reason = match name {
        "sudo" | "doas" | "su" | "pkexec" | "run0" | "runuser" | "sudoedit" | "gosu" => {
            "It runs with the rights of another user."
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" | "kexec" => "It stops the machine.",
        "fdisk" | "sfdisk" | "gdisk" | "parted" | "wipefs" | "blkdiscard" | "cryptsetup" | "hdparm"
        | "shred" => "It destroys data that cannot be brought back.",
        _ if name == "mkfs" || name.starts_with("mkfs.") || name == "mkswap" => {
            "It destroys data that cannot be brought back."
        }
        "dd" if has(arguments, |text| text.starts_with("of=/dev/") && text != "of=/dev/null") => {
            "It writes to a device."
        }
        "rm" | "find" | "chmod" | "chown" | "chgrp" | "mv" => return on_folders(name, arguments, place),
        _ => return written(name, arguments, place),
    };
    Finding::ask(reason)
}

fn has(arguments: &[Word], is_meant: impl Fn(&str) -> bool) -> bool {
    arguments.iter().filter_map(Word::literal).any(is_meant)
}

fn on_folders(name: &str, arguments: &[Word], place: &Place<'_>) -> Finding {
    let is_option = |text: &str, letters: [char; 2], long: &str| {
        text == long || text.starts_with('-') && !text.starts_with("--") && text.contains(letters)
    };
    let is_meant = match name {
        "rm" | "chmod" | "chown" | "chgrp" => {
            has(arguments, |text| is_option(text, ['r', 'R'], "--recursive"))
        }
        "find" => {
            has(arguments, |text| text == "-delete" || text.starts_with("-exec") || text.starts_with("-ok"))
        }
        _ => true,
    };
    let precious = |word: &Word| match word {
        Word::Literal(text) if text.starts_with('-') || text.is_empty() => false,
        // an owner or a mode also parses as a path, but not as a protected one
        Word::Literal(text) => match name {
            // moving something into a directory leaves the directory in place
            "mv" => place.is_precious(text) && arguments.last() != Some(word),
            "find" => is_start(arguments, word) && place.is_precious(text) && !is_root(text, place),
            "chmod" | "chown" | "chgrp" => place.is_precious(text) && !is_root(text, place),
            _ => place.is_precious(text),
        },
        // entries of a directory: all of them, or any of the home directory
        Word::Pattern { text, prefix } => {
            let start = text[..*prefix].rfind('/').map_or(0, |slash| slash + 1);
            let (folder, entry) = text.split_at(start);
            let entry = entry.split('/').next().unwrap_or_default();
            let folder = if folder.is_empty() { "." } else { folder };
            let is_all = !entry.is_empty() && glob::matches_without_letters(entry);
            name == "rm" && (place.is_precious(folder) && is_all || place.is_home(folder))
        }
        Word::Unknown => false,
    };
    if is_meant && arguments.iter().any(precious) {
        return Finding::ask("It would remove or change everything below a folder that holds all your work.");
    }
    written(name, arguments, place)
}

/// Returns whether `word` is a start directory of `find`.
fn is_start(arguments: &[Word], word: &Word) -> bool {
    let is_expression =
        |word: &Word| word.literal().is_some_and(|text| text.starts_with(['-', '(', '!']) && text.len() > 2);
    let start = arguments.iter().take_while(|word| !is_expression(word));
    start.into_iter().any(|start| std::ptr::eq(start, word))
}

fn is_root(text: &str, place: &Place<'_>) -> bool {
    let is_it = |path: &std::path::PathBuf| {
        let is_root = |real: &std::path::Path| place.workspace.roots().any(|root| root == real);
        place.workspace.resolve(path).is_ok_and(|resolved| is_root(&resolved.path))
    };
    place.paths(text).is_some_and(|paths| paths.iter().any(is_it))
}

/// Whether a program that writes gets a path that always needs permission.
fn written(name: &str, arguments: &[Word], place: &Place<'_>) -> Finding {
    const WRITERS: [&str; 21] = [
        "rm", "rmdir", "unlink", "mv", "cp", "ln", "install", "tee", "touch", "mkdir", "chmod", "chown",
        "chgrp", "truncate", "rsync", "dd", "sed", "patch", "ex", "sponge", "split",
    ];
    if !WRITERS.contains(&name)
        || name == "sed" && !has(arguments, |text| text.starts_with("-i") || text.starts_with("--in"))
    {
        return Finding::NOTHING;
    }
    let named = arguments.iter().filter_map(Word::literal).filter_map(|text| match text.split_once('=') {
        Some((_, value)) if text.starts_with("--") || name == "dd" => Some(value),
        _ => Some(text).filter(|text| !text.starts_with('-')),
    });
    let found = named.map(|path| place.write(path)).find(|finding| finding.always_ask.is_some());
    found.unwrap_or(Finding::NOTHING)
}
