//! Reads the patches of the `ApplyPatch` tool: which files change, and what of them.
//!
//! Only for showing. A patch that is not understood gives no changes, and is then shown as the text it is.

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The path as it stands in the patch.
    pub(crate) path: String,
    /// The lines that go or stay; nothing if the file is new.
    pub(crate) old: Option<String>,
    /// The lines that come or stay.
    pub(crate) new: String,
}

/// Returns the files a patch changes, in order.
pub(crate) fn changes(patch: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in patch.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            changes.push(Change { path: path.trim().to_owned(), old: None, new: String::new() });
        } else if let Some(path) =
            line.strip_prefix("*** Update File: ").or_else(|| line.strip_prefix("*** Delete File: "))
        {
            let path = path.trim().to_owned();
            changes.push(Change { path, old: Some(String::new()), new: String::new() });
        } else if let Some(path) = line.strip_prefix("*** Move to: ") {
            if let Some(change) = changes.last_mut() {
                path.trim().clone_into(&mut change.path);
            }
        } else if !line.starts_with("***")
            && !line.starts_with("@@")
            && let Some(change) = changes.last_mut()
        {
            change.take(line);
        }
    }
    changes
}

impl Change {
    fn take(&mut self, line: &str) {
        let mut chars = line.chars();
        let (goes, comes) = match chars.next() {
            Some('-') => (true, false),
            Some('+') => (false, true),
            // an empty line is an unchanged empty line
            _ => (true, true),
        };
        let text = chars.as_str();
        if goes && let Some(old) = &mut self.old {
            old.push_str(text);
            old.push('\n');
        }
        if comes {
            self.new.push_str(text);
            self.new.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, old: Option<&str>, new: &str) -> Change {
        Change { path: path.to_owned(), old: old.map(str::to_owned), new: new.to_owned() }
    }

    #[test]
    fn every_kind_of_section_becomes_a_change() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Update File: b.txt\n*** Move to: c.txt\n@@ fn main\n stays\n-goes\n+comes\n*** Delete File: d.txt\n*** End Patch\n";
        let expected = [
            change("a.txt", None, "one\ntwo\n"),
            change("c.txt", Some("stays\ngoes\n"), "stays\ncomes\n"),
            change("d.txt", Some(""), ""),
        ];
        assert_eq!(changes(patch), expected);
    }

    #[test]
    fn text_that_is_not_a_patch_changes_nothing() {
        assert_eq!(changes("hello\n+world"), []);
    }
}
