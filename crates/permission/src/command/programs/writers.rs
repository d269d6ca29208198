//! Programs that change files given by name. They are judged by the location of these files.

use crate::{FileKind, Risk};

use super::options::Options;
use crate::command::Word;
use crate::command::place::Place;
use crate::files::{Extent, Finding};
use crate::secrets::Recursion;

const TOUCH: Options = Options::new("acm", "no-create");
const MKDIR: Options = Options::new("pvm:", "parents verbose mode=");
const RMDIR: Options = Options::new("pv", "parents verbose ignore-fail-on-non-empty");
const RM: Options = Options::new("fidrRvI", "force recursive dir verbose interactive=? one-file-system");
const COPY: Options = Options::new("fnpuvrR", "force no-clobber update verbose recursive");
const MOVE: Options = Options::new("fnuv", "force no-clobber update verbose");
const TEE: Options = Options::new("a", "append");
const CHMOD: Options = Options::new("cfvR", "changes silent quiet verbose recursive");

/// Returns the programs whose options are listed, for the test that compares them with the real ones.
#[cfg(test)]
pub(super) fn listed() -> impl Iterator<Item = super::Listed> {
    let all = [
        ("touch", TOUCH),
        ("mkdir", MKDIR),
        ("rmdir", RMDIR),
        ("rm", RM),
        ("cp", COPY),
        ("mv", MOVE),
        ("tee", TEE),
        ("chmod", CHMOD),
    ];
    all.into_iter().map(|(name, options)| (vec![name], options.all()))
}

/// Judges a command that may be a writer. `None` if it is not one.
pub(super) fn judge(name: &str, words: &[Word], place: &mut Place<'_>) -> Option<Finding> {
    let options = match name {
        "touch" => TOUCH,
        "mkdir" => MKDIR,
        "rmdir" => RMDIR,
        "rm" | "unlink" => RM,
        "cp" => COPY,
        "mv" => MOVE,
        "tee" => TEE,
        "chmod" => CHMOD,
        _ => return None,
    };
    let Some(given) = options.read(words) else { return Some(Finding::of(Risk::High)) };
    let operands = given.operands.as_slice();
    let is_recursive = given.has(&["-r", "-R", "--recursive"]);
    let recursion = Recursion::all();
    let extent = if is_recursive { Extent::Below(&recursion) } else { Extent::File };
    let written = |words: &[&Word]| {
        words.iter().map(|word| place.write_word(word)).fold(Finding::of(Risk::Low), Finding::and)
    };
    let finding = match name {
        "cp" | "mv" => {
            let Some((target, sources)) = operands.split_last() else { return Some(Finding::of(Risk::Low)) };
            let mut finding = written(&[target]);
            for source in sources {
                let from =
                    if name == "mv" { place.remove_word(source) } else { place.read_word(source, extent) };
                finding = finding.and(from).and(inside(target, source, is_recursive, place));
            }
            finding
        }
        "chmod" => {
            let Some((mode, files)) = operands.split_first() else { return Some(Finding::of(Risk::Low)) };
            let is_plain = mode.literal().is_some_and(|mode| {
                mode.chars().all(|letter| "ugoa+-=rwxX,".contains(letter))
                    || mode.len() <= 4
                        && mode.trim_start_matches('0').len() <= 3
                        && mode.bytes().all(|byte| (b'0'..b'8').contains(&byte))
            });
            let least = if is_plain && !is_recursive { Risk::Low } else { Risk::Medium };
            written(files).at_least(least)
        }
        // removed files cannot be restored
        "rm" | "rmdir" | "unlink" => {
            let removed = operands.iter().map(|word| place.remove_word(word));
            removed.fold(Finding::of(Risk::Medium), Finding::and)
        }
        _ => written(operands),
    };
    // moved or copied files may be links
    if matches!(name, "cp" | "mv") {
        place.has_new_files = true;
        place.has_new_links |= operands.iter().any(|word| place.may_be_link(word));
    }
    Some(finding)
}

/// Returns the effect of putting a file into a directory, if the target is one.
fn inside(target: &Word, source: &Word, is_recursive: bool, place: &Place<'_>) -> Finding {
    let (Word::Literal(target), Word::Literal(source)) = (target, source) else {
        return Finding::of(Risk::High);
    };
    let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    match place.kind(target) {
        Some(FileKind::Missing | FileKind::File | FileKind::Special) => Finding::NOTHING,
        Some(FileKind::Folder) => {
            let into = format!("{target}/{name}");
            // existing entries may be links that lead out
            let is_new = place.kind(&into) == Some(FileKind::Missing);
            let finding = place.write(&into);
            if is_recursive && !is_new { finding.at_least(Risk::Medium) } else { finding }
        }
        _ => Finding::of(Risk::High),
    }
}
