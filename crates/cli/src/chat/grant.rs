//! What the user allowed for the rest of a chat: commands that begin like one, and changes in one directory.
//!
//! The agent still asks; the chat answers for the user. A request that cannot be fully understood is never covered.

use std::path::{Component, Path, PathBuf};

use musher::PermissionRequest;
use musher::wire::PermissionDetails;

/// Commands whose first argument says what they do, so that it belongs to the prefix.
const WITH_SUBCOMMAND: [&str; 16] = [
    "cargo", "git", "npm", "pnpm", "yarn", "go", "make", "docker", "kubectl", "gh", "pip", "uv", "just",
    "bazel", "dotnet", "mvn",
];
/// Commands that run other commands: allowing them by prefix would allow anything.
const NEVER: [&str; 22] = [
    "sh", "bash", "zsh", "dash", "fish", "env", "sudo", "su", "doas", "xargs", "eval", "exec", "nohup",
    "time", "timeout", "nice", "python", "python3", "node", "perl", "ruby", "ssh",
];

/// A permission for later calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Grant {
    /// Simple commands that begin with these words.
    Prefix(Vec<String>),
    /// Changes to files in this directory.
    Directory(PathBuf),
}

impl Grant {
    /// The grants that a request suggests.
    pub(crate) fn suggested(request: &PermissionRequest) -> Vec<Self> {
        let mut out = Vec::new();
        if let Some(commands) = request.commands()
            && let [command] = commands.as_slice()
        {
            out.extend(prefix(command.program(), command.args()).map(Self::Prefix));
        }
        if let Some(folder) = changed_file(request).and_then(|path| real_folder(&path)) {
            out.push(Self::Directory(folder));
        }
        out
    }

    /// Whether the request is for nothing but what was allowed. Looks at the file system.
    pub(crate) fn covers(&self, request: &PermissionRequest) -> bool {
        match self {
            Self::Prefix(prefix) => {
                let words: Vec<&str> = prefix.iter().map(String::as_str).collect();
                request.commands().is_some_and(|commands| commands.iter().all(|it| it.starts_with(&words)))
            }
            Self::Directory(folder) => {
                let real = changed_file(request).and_then(|path| real_folder(&path));
                real.is_some_and(|real| real.starts_with(folder))
            }
        }
    }

    pub(crate) fn key(&self) -> char {
        match self {
            Self::Prefix(_) => 'p',
            Self::Directory(_) => 'f',
        }
    }

    pub(crate) fn label(&self) -> String {
        match self {
            Self::Prefix(words) => {
                format!("Yes, and in this chat for every command that begins with `{}`", words.join(" "))
            }
            Self::Directory(folder) => {
                format!("Yes, and in this chat for changes to files in {}", folder.display())
            }
        }
    }
}

fn prefix(program: &str, arguments: &[String]) -> Option<Vec<String>> {
    if NEVER.contains(&program) || program.contains('/') {
        return None;
    }
    let mut prefix = vec![program.to_owned()];
    if WITH_SUBCOMMAND.contains(&program) {
        let subcommand = arguments.first().filter(|word| !word.starts_with('-'))?;
        prefix.push(subcommand.clone());
    }
    Some(prefix)
}

/// The file that the request would change, if it is one.
fn changed_file(request: &PermissionRequest) -> Option<PathBuf> {
    let [one] = request.tool_uses.as_slice() else { return None };
    let path = match &one.details {
        PermissionDetails::Create(create) => &create.file_path,
        PermissionDetails::Edit(edit) => &edit.file_path,
        _ => return None,
    };
    let path = PathBuf::from(path);
    let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    is_plain.then_some(path)
}

/// The directory where a file really is; `None` if the file is a link, or its directory does not exist.
fn real_folder(path: &Path) -> Option<PathBuf> {
    if path.is_symlink() {
        return None;
    }
    fs_err::canonicalize(path.parent()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(details: &serde_json::Value) -> PermissionRequest {
        let params: musher::wire::RequestPermissionParams = serde_json::from_value(json!({
            "toolUses": [{
                "toolUse": {"type": "tool_use", "id": "t", "name": "Execute", "input": {}},
                "confirmationType": details["type"], "details": details,
            }],
            "options": [],
        }))
        .unwrap();
        PermissionRequest::new(params.tool_uses, params.options)
    }

    fn command(line: &str) -> PermissionRequest {
        request(&json!({"type": "exec", "fullCommand": line}))
    }

    #[test]
    fn prefix_has_the_subcommand_and_nothing_that_runs_anything() {
        let words = |line: &str| match Grant::suggested(&command(line)).pop() {
            Some(Grant::Prefix(words)) => words.join(" "),
            other => format!("{other:?}"),
        };
        assert_eq!(words("cargo test --all"), "cargo test");
        assert_eq!(words("ls -l"), "ls");
        for line in
            ["bash -c ls", "cargo --version", "./run", "a && b", "echo $(b)", "sudo ls", "python3 -c x"]
        {
            assert_eq!(words(line), "None", "{line}");
        }
    }

    #[test]
    fn only_plain_commands_that_begin_so_are_covered() {
        let grant = Grant::Prefix(vec!["cargo".to_owned(), "test".to_owned()]);
        for (line, expected) in [
            ("cargo test -p a", true),
            ("cargo test && cargo test --doc", true),
            ("cargo testx", false),
            ("cargo run", false),
            ("cargo test; rm -rf x", false),
            ("cargo test $(rm x)", false),
            ("cargo test > x", false),
        ] {
            assert_eq!(grant.covers(&command(line)), expected, "{line}");
        }
    }

    #[test]
    fn directory_covers_its_files_and_no_links_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        fs_err::create_dir_all(real.join("src/inner")).unwrap();
        fs_err::create_dir_all(real.join("other")).unwrap();
        std::os::unix::fs::symlink(real.join("other"), real.join("src/link")).unwrap();
        std::os::unix::fs::symlink(real.join("other/x"), real.join("src/file")).unwrap();
        let edit = |path: &str| request(&json!({"type": "edit", "filePath": real.join(path)}));
        let grant = Grant::suggested(&edit("src/a.rs")).pop().unwrap();
        assert_eq!(grant, Grant::Directory(real.join("src")));
        for (path, expected) in [
            ("src/b.rs", true),
            ("src/inner/c.rs", true),
            ("other/a.rs", false),
            ("src/../other/a.rs", false),
            ("src/link/a.rs", false),
            ("src/file", false),
        ] {
            assert_eq!(grant.covers(&edit(path)), expected, "{path}");
        }
    }
}
