//! The files of a directory for completion, with respect to ignore rules.

use std::path::Path;

/// Maximum number of files.
const MAX_FILES: usize = 50_000;

/// Returns the paths below a directory, relative to it. Blocks.
pub(crate) fn list(folder: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder).hidden(true).follow_links(false).require_git(false).build();
    let files =
        walk.filter_map(Result::ok).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let relative = files.filter_map(|entry| {
        let path = entry.path().strip_prefix(folder).ok()?;
        path.to_str().map(str::to_owned)
    });
    let mut out: Vec<_> = relative.take(MAX_FILES).collect();
    out.sort();
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn ignored_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["src/main.rs", "target/x.o", "README.md", ".hidden"] {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "").unwrap();
        }
        fs_err::write(folder.path().join(".gitignore"), "target\n").unwrap();
        assert_eq!(super::list(folder.path()), ["README.md", "src/main.rs"]);
    }
}
