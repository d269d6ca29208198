//! The names of the API in the guide and the READMEs exist.
//!
//! The sources are read, not compiled: names in prose and tables are not code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The public names of the crate.
#[derive(Default)]
struct Names {
    /// The exports of `lib.rs`.
    exported: BTreeSet<String>,
    /// The members of each type: methods, fields and variants.
    members: BTreeMap<String, BTreeSet<String>>,
}

impl Names {
    fn read() -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut names = Self::default();
        let mut files = Vec::new();
        collect(&source, &mut files);
        for file in files {
            names.read_file(&fs_err::read_to_string(file).unwrap());
        }
        names.read_exports(&fs_err::read_to_string(source.join("lib.rs")).unwrap());
        names
    }

    fn read_exports(&mut self, text: &str) {
        for statement in text.split(';') {
            let Some((_, exported)) = statement.split_once("pub use ") else { continue };
            let list = exported.rsplit_once('{').map_or(exported, |(_, list)| list);
            for name in list.trim_end_matches('}').split(',') {
                let name = name.rsplit(" as ").next().unwrap_or(name);
                self.exported.insert(name.rsplit("::").next().unwrap_or(name).trim().to_owned());
            }
        }
        let modules = text.lines().filter_map(|line| line.strip_prefix("pub mod "));
        self.exported.extend(modules.map(|name| identifier(name).to_owned()));
    }

    /// Reads formatted code: what belongs to a type is indented by one step below its opening line.
    fn read_file(&mut self, text: &str) {
        let mut owners: Vec<String> = Vec::new();
        for line in text.lines() {
            if !line.starts_with([' ', '/', '}', '#']) && !line.is_empty() {
                owners = owners_of(line);
            }
            let Some(member) = member_of(line) else { continue };
            for owner in &owners {
                self.members.entry(owner.clone()).or_default().insert(member.to_owned());
            }
        }
    }

    fn has(&self, path: &str) -> bool {
        match path.strip_prefix("musher::").unwrap_or(path).split("::").collect::<Vec<_>>()[..] {
            // a method of any type that is written alone
            [name] if name.contains('_') && !path.contains("::") => {
                self.members.values().any(|members| members.contains(name)) || self.exported.contains(name)
            }
            [name] => self.exported.contains(name),
            [name, member] => {
                self.exported.contains(name) && self.members.get(name).is_some_and(|it| it.contains(member))
            }
            _ => false,
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The types that the block opened by this line belongs to.
fn owners_of(line: &str) -> Vec<String> {
    if line.starts_with("macro_rules! shared_options") {
        return vec!["SessionBuilder".to_owned(), "ResumeBuilder".to_owned()];
    }
    if line.starts_with("calls! {") || line.starts_with("plain_calls! {") {
        return vec!["Client".to_owned()];
    }
    let words: Vec<_> = line.split_whitespace().collect();
    let name = match words[..] {
        ["pub", "struct" | "enum" | "trait", name, ..] => name,
        // of a trait for a type: the methods are the trait's
        [first, ..] if first.starts_with("impl") && !line.contains(" for ") => words
            .iter()
            .skip(1)
            .find(|word| word.starts_with(char::is_uppercase))
            .copied()
            .unwrap_or_default(),
        _ => return Vec::new(),
    };
    vec![identifier(name).to_owned()]
}

fn member_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("fn ").map(|_| line));
    let name = match rest {
        Some(rest) => rest.trim_start_matches("async ").trim_start_matches("fn "),
        // a variant, or a method of the protocol
        None if line.starts_with(char::is_uppercase) || line.contains(" = ") => line,
        None => return None,
    };
    Some(identifier(name)).filter(|name| !name.is_empty())
}

fn identifier(text: &str) -> &str {
    let end = text.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names of the API in a page, outside of its blocks of code.
fn names_in(page: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            let spans = part.split('`').skip(1).step_by(2).map(str::trim);
            names.extend(spans.filter(|span| is_name(span)).map(str::to_owned));
        }
    }
    names
}

/// Returns whether this is a path, a type or a name with an underscore: other words are programs, files, features and variables.
fn is_name(span: &str) -> bool {
    if span.starts_with("MUSHER_") {
        return false;
    }
    let is_path = span.chars().all(|next| next.is_alphanumeric() || "_:".contains(next));
    let is_type = span.starts_with(char::is_uppercase) && span.contains(char::is_lowercase);
    is_path && (span.contains("::") || span.contains('_') || is_type)
}

#[test]
fn names_of_the_api_in_the_guide_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = Names::read();
    let mut count = 0;
    for page in ["docs/guide/sdk.md", "crates/sdk/README.md"] {
        let found = names_in(&fs_err::read_to_string(root.join(page)).unwrap());
        count += found.len();
        let missing: Vec<_> = found.iter().filter(|name| !names.has(name)).collect();
        assert!(missing.is_empty(), "{page} names what does not exist: {missing:?}");
    }
    assert!(count > 20, "{count}");
}

#[test]
fn names_that_do_not_exist_are_found() {
    let names = Names::read();
    for wrong in [
        "on_ask_user",
        "Recording",
        "musher::extract",
        "Session::on_permission",
        "Session::list_skills",
        "Serving",
        "musher::sync",
        "Event::Hooks",
        "SessionBuilder::ask_on_stream",
        "session::Session",
    ] {
        assert!(!names.has(wrong), "{wrong}");
    }
    for right in [
        "on_permission",
        "Session",
        "musher::run",
        "musher::blocking",
        "SessionBuilder::on_question",
        "Client::list_skills",
        "Event::Permission",
        "TurnResult::text",
        "Prompt::ask_on_stream",
        "PermissionHandler::decide",
        "Session::fork",
        "musher::wire",
    ] {
        assert!(names.has(right), "{right}");
    }
    assert_eq!(names_in("`a_b` and `x` ```\n`c_d`\n``` `E::f`, `droid exec`, `PATH`"), ["a_b", "E::f"]);
}
