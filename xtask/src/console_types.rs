//! `cargo xtask console-types`: writes the types of the protocol for the page of the console, from the declarations in `musher-wire`.
//!
//! The declarations are macros with one field per line, so their text is read. TypeScript's checker reads the result when the tests run:
//! a field that the page uses and that was renamed is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};

const SOURCE: &str = "crates/wire/src";
const TARGET: &str = "crates/server/src/console/web/types.d.ts";
/// The table of methods, and the scripts that call some of them.
const METHODS: &str = "crates/wire/src/method.rs";
const SCRIPTS: &str = "crates/server/src/console/web";

/// What the page reads and sends. Types that these use are written, too.
const ROOTS: [&str; 11] = [
    "AddUserMessageParams",
    "AskUserParams",
    "AskUserResult",
    "ExecuteRewindParams",
    "ForkSessionResult",
    "GetRewindInfoResult",
    "InitializeSessionResult",
    "LoadSessionResult",
    "RequestPermissionParams",
    "RequestPermissionResult",
    "SessionNotification",
];

/// A declared type.
#[derive(Debug, PartialEq, Eq)]
enum Declared {
    /// Fields: name, type, whether it is required, and what it is.
    Object(Vec<(String, String, bool, String)>),
    /// The strings of an open enum.
    Strings(Vec<String>),
    /// The name of the tag, and the variants: tag and type.
    Tagged(String, Vec<(String, String)>),
}

/// Writes the file.
pub(crate) fn write() -> Result<()> {
    fs_err::write(TARGET, generate()?)?;
    println!("{TARGET}");
    Ok(())
}

/// Fails if the file is not what would be written.
pub(crate) fn check() -> Result<()> {
    if fs_err::read_to_string(TARGET)? != generate()? {
        bail!("{TARGET} is not up to date: run `cargo xtask console-types`");
    }
    Ok(())
}

fn generate() -> Result<String> {
    let mut types = BTreeMap::new();
    read_folder(Path::new(SOURCE), &mut types)?;
    let mut text = String::from(
        "// Types of the protocol, written by `cargo xtask console-types` from crates/wire. Do not edit.\n",
    );
    let mut waiting: Vec<String> = ROOTS.iter().rev().map(|name| (*name).to_owned()).collect();
    let mut written = BTreeSet::new();
    let mut scripts = String::new();
    read_scripts(Path::new(SCRIPTS), &mut scripts)?;
    print_calls(&fs_err::read_to_string(METHODS)?, &scripts, &types, &mut text, &mut waiting)?;
    while let Some(name) = waiting.pop() {
        if !written.insert(name.clone()) {
            continue;
        }
        let Some(declared) = types.get(&name) else { bail!("{SOURCE} declares no type `{name}`") };
        print(&name, declared, &types, &mut text, &mut waiting)?;
    }
    Ok(text)
}

/// Reads the text of all scripts of the page.
fn read_scripts(folder: &Path, text: &mut String) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_scripts(&path, text)?;
        } else if path.extension().is_some_and(|ending| ending == "js") {
            text.push_str(&fs_err::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Writes the parameters and results of the methods in the table that the scripts name.
fn print_calls(
    table: &str,
    scripts: &str,
    types: &BTreeMap<String, Declared>,
    text: &mut String,
    waiting: &mut Vec<String>,
) -> Result<()> {
    text.push_str("\n/** The calls of the page. */\nexport interface Calls {\n");
    for line in table.lines().map(str::trim) {
        let Some((method, rest)) = line.strip_prefix('"').and_then(|line| line.split_once("\" (")) else {
            continue;
        };
        let Some((params, result)) = rest.trim_end_matches(';').split_once(") -> ") else { continue };
        if method.starts_with("daemon.") && scripts.contains(&format!("\"{method}\"")) {
            let [params, result] = [params, result].map(|kind| script_type(kind, types, waiting));
            writeln!(text, "  \"{method}\": {{ params: {params}; result: {result} }};")?;
        }
    }
    text.push_str("}\n");
    Ok(())
}

fn read_folder(folder: &Path, types: &mut BTreeMap<String, Declared>) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_folder(&path, types)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            types.extend(declarations(&fs_err::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The declarations in a source file.
fn declarations(text: &str) -> Vec<(String, Declared)> {
    let mut found = Vec::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if !matches!(line, "object! {" | "open_enum! {" | "tagged! {") {
            continue;
        }
        let head =
            lines.by_ref().find(|line| line.starts_with("pub struct ") || line.starts_with("pub enum "));
        let Some(head) = head else { break };
        let words = head.trim_start_matches("pub struct ").trim_start_matches("pub enum ");
        let name: String = words.chars().take_while(char::is_ascii_alphanumeric).collect();
        let tag = words.split_once(" by \"").and_then(|(_, rest)| rest.split('"').next()).map(str::to_owned);
        let mut is_required = !head.contains("} optional {");
        let (mut fields, mut strings, mut variants, mut note) =
            (Vec::new(), Vec::new(), Vec::new(), String::new());
        // the declaration ends at the second closing brace in a row, which is that of the macro
        let mut was_closed = head.ends_with("{}");
        for line in lines.by_ref() {
            if line == "}" {
                if was_closed {
                    break;
                }
                was_closed = true;
                continue;
            }
            was_closed = false;
            if line.ends_with("optional {") {
                is_required = false;
            } else if let Some(doc) = line.strip_prefix("/// ") {
                note = if note.is_empty() { doc.to_owned() } else { format!("{note} {doc}") };
            } else if let Some((left, wire)) = line.trim_end_matches(',').rsplit_once(" = \"") {
                let wire = wire.trim_end_matches('"').to_owned();
                if let Some((_, kind)) = left.split_once(": ") {
                    fields.push((wire, kind.to_owned(), is_required, std::mem::take(&mut note)));
                } else if let Some((_, kind)) = left.split_once('(') {
                    variants.push((wire, kind.trim_end_matches(')').to_owned()));
                } else {
                    strings.push(wire);
                }
                note.clear();
            }
        }
        found.push((
            name,
            match tag {
                Some(tag) => Declared::Tagged(tag, variants),
                None if head.starts_with("pub enum") => Declared::Strings(strings),
                None => Declared::Object(fields),
            },
        ));
    }
    found
}

fn print(
    name: &str,
    declared: &Declared,
    types: &BTreeMap<String, Declared>,
    text: &mut String,
    waiting: &mut Vec<String>,
) -> Result<()> {
    match declared {
        Declared::Object(fields) => {
            writeln!(text, "\nexport interface {name} {{")?;
            for (wire, kind, is_required, note) in fields {
                let mark = if *is_required { "" } else { "?" };
                let kind = script_type(kind, types, waiting);
                let is_plain = wire.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
                let wire = if is_plain { wire.clone() } else { format!("\"{wire}\"") };
                writeln!(text, "  /** {} */\n  {wire}{mark}: {kind};", note.replace("*/", "* /"))?;
            }
            text.push_str("}\n");
        }
        Declared::Strings(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            writeln!(text, "\nexport type {name} = {} | (string & {{}});", values.join(" | "))?;
        }
        Declared::Tagged(tag, variants) => {
            writeln!(text, "\nexport type {name} =")?;
            for (at, (wire, kind)) in variants.iter().enumerate() {
                let kind = script_type(kind, types, waiting);
                let end = if at + 1 == variants.len() { ";" } else { "" };
                writeln!(text, "  | ({{ {tag}: \"{wire}\" }} & {kind}){end}")?;
            }
        }
    }
    Ok(())
}

/// The type of a field in TypeScript. Types that are not declared by a macro are `any`.
fn script_type(kind: &str, types: &BTreeMap<String, Declared>, waiting: &mut Vec<String>) -> String {
    let inner = |prefix: &str| kind.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
    if let Some(item) = inner("Vec<") {
        return format!("{}[]", script_type(item, types, waiting));
    }
    if let Some(item) = inner("Box<").or_else(|| inner("Option<")) {
        return script_type(item, types, waiting);
    }
    match kind {
        "String" => "string".to_owned(),
        "bool" => "boolean".to_owned(),
        "Count" | "u64" | "i64" | "u32" | "f64" => "number".to_owned(),
        name if types.contains_key(name) => {
            waiting.push(name.to_owned());
            name.to_owned()
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_those_that_scripts_name() {
        let table = r#"
    "daemon.one" (OneParams) -> Done;
    "daemon.other" (OtherParams) -> Done;
    "droid.one" (OneParams) -> Done;
    "daemon.note" (Done);
"#;
        let types =
            ["OneParams", "OtherParams", "Done"].map(|name| (name.to_owned(), Declared::Object(Vec::new())));
        let (mut text, mut waiting) = (String::new(), Vec::new());
        let types = BTreeMap::from(types);
        print_calls(table, r#"call("daemon.one")"#, &types, &mut text, &mut waiting).unwrap();
        assert!(text.ends_with("{\n  \"daemon.one\": { params: OneParams; result: Done };\n}\n"), "{text}");
        assert_eq!(waiting, ["OneParams", "Done"]);
    }

    #[test]
    fn declarations_become_types() {
        let text = r#"
object! {
    /// A thing.
    pub struct Thing {
        /// Its name.
        name: String = "name",
    } optional {
        /// Parts,
        /// in order.
        parts: Vec<Box<Part>> = "theParts",
    }
}

open_enum! {
    /// A part.
    pub enum Part {
        /// One.
        One = "one",
    }
}

tagged! {
    /// Either.
    pub enum Either by "type" {
        /// A thing.
        Thing(Thing) = "thing",
    }
}
"#;
        let types: BTreeMap<_, _> = declarations(text).into_iter().collect();
        assert_eq!(types.len(), 3);
        let (mut printed, mut waiting) = (String::new(), Vec::new());
        for (name, declared) in &types {
            print(name, declared, &types, &mut printed, &mut waiting).unwrap();
        }
        assert!(printed.contains("  /** Parts, in order. */\n  theParts?: Part[];"), "{printed}");
        assert!(printed.contains("  name: string;"), "{printed}");
        assert!(printed.contains(r#"export type Part = "one" | (string & {});"#), "{printed}");
        assert!(printed.contains(r#"  | ({ type: "thing" } & Thing);"#), "{printed}");
        assert_eq!(waiting, ["Thing", "Part"]);
    }
}
