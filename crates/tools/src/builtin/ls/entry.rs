//! One line of a directory listing.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The columns of an entry.
pub(super) struct Entry {
    mode: String,
    links: String,
    owner: String,
    group: String,
    size: String,
    time: String,
    name: String,
    /// Blocks of 512 bytes.
    pub(super) blocks: u64,
}

impl Entry {
    pub(super) fn look_at(path: &Path, name: &str) -> io::Result<Self> {
        let metadata = fs_err::symlink_metadata(path)?;
        let name = match metadata.is_symlink().then(|| fs_err::read_link(path)) {
            Some(Ok(target)) => format!("{name} -> {}", target.display()),
            _ => name.to_owned(),
        };
        Ok(Self {
            mode: mode(&metadata),
            links: metadata.nlink().to_string(),
            owner: metadata.uid().to_string(),
            group: metadata.gid().to_string(),
            size: metadata.size().to_string(),
            time: time(metadata.mtime()),
            name: visible(&name),
            blocks: metadata.blocks(),
        })
    }
}

/// Replaces control characters: a file name may contain a newline, but an entry is one line.
fn visible(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Formats entries as lines, with aligned columns and the names of owners.
pub(super) fn table(entries: &[Entry]) -> String {
    let users = names_of("/etc/passwd");
    let groups = names_of("/etc/group");
    let rows: Vec<[&str; 7]> = entries
        .iter()
        .map(|entry| {
            let owner = users.get(&entry.owner).unwrap_or(&entry.owner);
            let group = groups.get(&entry.group).unwrap_or(&entry.group);
            [&entry.mode, &entry.links, owner, group, &entry.size, &entry.time, &entry.name]
                .map(|text: &String| text.as_str())
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let lines = rows.iter().map(|[mode, links, owner, group, size, time, name]| {
        format!(
            "{mode} {links:>w1$} {owner:<w2$} {group:<w3$} {size:>w4$} {time} {name}",
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
            w4 = widths[4]
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Reads names by numeric id from a system file whose third field is the id.
fn names_of(file: &str) -> HashMap<String, String> {
    let text = fs_err::read_to_string(file).unwrap_or_default();
    let entry = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        Some((fields.nth(1)?.to_owned(), name))
    };
    text.lines().filter_map(entry).collect()
}

fn mode(metadata: &Metadata) -> String {
    let kind = metadata.file_type();
    let mut text = String::from(if kind.is_dir() {
        'd'
    } else if kind.is_symlink() {
        'l'
    } else if kind.is_fifo() {
        'p'
    } else if kind.is_socket() {
        's'
    } else if kind.is_char_device() {
        'c'
    } else if kind.is_block_device() {
        'b'
    } else {
        '-'
    });
    let mode = metadata.mode();
    for (shift, special, sign) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (bits & 1 != 0, mode & special != 0) {
            (true, true) => sign,
            (false, true) => sign.to_ascii_uppercase(),
            (true, false) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// Formats `2026-11-15 20:36`, in UTC. The calendar is computed here, which spares a dependency.
fn time(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // days since 0000-03-01, in eras of 400 years
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", rest / 3600, rest % 3600 / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_a_date() {
        let cases = [
            (0, "1970-01-01 00:00"),
            (951_782_400, "2000-02-29 00:00"),
            (1_763_238_961, "2025-11-15 20:36"),
            (-1, "1969-12-31 23:59"),
            (4_107_542_399, "2100-02-28 23:59"),
        ];
        for (seconds, text) in cases {
            assert_eq!(time(seconds), text);
        }
    }
}
