//! Parses the text of a patch. Pure.

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, move_to: Option<String>, hunks: Vec<Hunk> },
}

/// One change within a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines that must be found first, one after the other.
    pub(super) anchors: Vec<String>,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
    /// Whether the hunk is at the end of the file.
    pub(super) at_end: bool,
}

impl Hunk {
    fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

/// Parses a patch; the error names the line that is invalid.
pub(super) fn parse(text: &str) -> Result<Vec<Change>, String> {
    let mut lines = text.trim().lines().enumerate().map(|(at, line)| (at + 1, line)).peekable();
    if lines.next().map(|(_, line)| line.trim()) != Some("*** Begin Patch") {
        return Err("the first line must be `*** Begin Patch`".to_owned());
    }
    let mut changes = Vec::new();
    let mut is_ended = false;
    while let Some((at, line)) = lines.next() {
        let header = line.trim_end();
        if let Some(path) = header.strip_prefix("*** Add File: ") {
            let mut content = String::new();
            while let Some((_, added)) = lines.next_if(|(_, line)| line.starts_with('+')) {
                content.push_str(&added[1..]);
                content.push('\n');
            }
            changes.push(Change::Add { path: path.trim().to_owned(), content });
        } else if let Some(path) = header.strip_prefix("*** Delete File: ") {
            changes.push(Change::Delete { path: path.trim().to_owned() });
        } else if let Some(path) = header.strip_prefix("*** Update File: ") {
            let moved = lines.next_if(|(_, line)| line.starts_with("*** Move to: "));
            let move_to =
                moved.and_then(|(_, line)| Some(line.strip_prefix("*** Move to: ")?.trim().to_owned()));
            let hunks = hunks(&mut lines)?;
            if hunks.is_empty() && move_to.is_none() {
                return Err(format!("line {at}: the update of `{}` changes nothing", path.trim()));
            }
            changes.push(Change::Update { path: path.trim().to_owned(), move_to, hunks });
        } else if header.trim() == "*** End Patch" {
            is_ended = true;
            break;
        } else if !header.trim().is_empty() {
            return Err(format!(
                "line {at}: expected `*** Add File: `, `*** Update File: ` or `*** Delete File: `, not `{header}`"
            ));
        }
    }
    if !is_ended {
        return Err("the last line must be `*** End Patch`".to_owned());
    }
    if changes.is_empty() {
        return Err("the patch is empty".to_owned());
    }
    Ok(changes)
}

type Lines<'a, I> = std::iter::Peekable<I>;

fn hunks<'a, I: Iterator<Item = (usize, &'a str)>>(lines: &mut Lines<'a, I>) -> Result<Vec<Hunk>, String> {
    let mut hunks = Vec::new();
    let mut hunk = Hunk::default();
    let is_inside = |line: &str| !line.starts_with("*** ") || line.trim_end() == "*** End of File";
    while let Some((at, line)) = lines.next_if(|(_, line)| is_inside(line)) {
        if line.trim_end() == "*** End of File" {
            hunk.at_end = true;
        } else if let Some(anchor) = line.strip_prefix("@@") {
            if !hunk.is_empty() {
                hunks.push(std::mem::take(&mut hunk));
            }
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor);
            if !anchor.trim().is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
        } else if let Some(added) = line.strip_prefix('+') {
            hunk.new.push(added.to_owned());
        } else if let Some(removed) = line.strip_prefix('-') {
            hunk.old.push(removed.to_owned());
        } else if let Some(kept) = line.strip_prefix(' ').or(line.is_empty().then_some("")) {
            hunk.old.push(kept.to_owned());
            hunk.new.push(kept.to_owned());
        } else {
            return Err(format!(
                "line {at}: a line of an update must start with a space, `+` or `-`, but is `{line}`"
            ));
        }
    }
    if !hunk.is_empty() {
        hunks.push(hunk);
    }
    Ok(hunks)
}
