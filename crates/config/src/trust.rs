//! Trust in the files of a repository: stored in our home, for a folder and the exact content that the user agreed to.
//!
//! Covers the files that can run programs or widen permissions on their own: settings, hooks and MCP servers, with the scripts that
//! these run. Skills, commands and
//! subagents take effect only when called, and programs of an untrusted folder never run as commands.

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::file::Json;
use super::{Layer, Places, Problem, edit_json, scripts};

/// Which repositories are trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrustRule {
    /// The folders stored in our home.
    #[default]
    Store,
    /// Every repository, as in droid.
    Everything,
    /// No repository.
    Nothing,
}

/// Whether the repository's own files apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// They apply.
    Trusted,
    /// Only their restrictions apply.
    Untrusted {
        /// The ignored fields, to be reported once.
        ignored: Vec<Ignored>,
    },
}

impl Trust {
    /// Returns the ignored fields.
    pub fn ignored(&self) -> &[Ignored] {
        match self {
            Self::Trusted => &[],
            Self::Untrusted { ignored } => ignored,
        }
    }

    /// Returns whether the repository's own files apply.
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted)
    }
}

impl Default for Trust {
    fn default() -> Self {
        Self::Untrusted { ignored: Vec::new() }
    }
}

/// An ignored field of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The file.
    pub file: PathBuf,
    /// The field.
    pub what: String,
    /// What the field would run, connect to or allow, one line each.
    pub effects: Vec<String>,
}

impl Ignored {
    /// Describes an ignored field of a file. A file with hooks may have them without a field.
    pub(super) fn new(json: &Json, what: &str) -> Self {
        let mut effects = Vec::new();
        match json.field(what) {
            Some(value) => add_effects(value, &mut effects),
            None => json.map().values().for_each(|value| add_effects(value, &mut effects)),
        }
        Self { file: json.path.clone(), what: what.to_owned(), effects }
    }
}

/// Adds command lines, addresses and plain values. Environment variables and headers, which may hold keys, are left out.
fn add_effects(value: &Value, effects: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let text = |key: &str| object.get(key).and_then(Value::as_str);
            if let Some(command) = text("command") {
                let args = object.get("args").and_then(Value::as_array).into_iter().flatten();
                let words = args.filter_map(Value::as_str).map(|word| format!(" {word}"));
                effects.push(format!("runs: {command}{}", words.collect::<String>()));
            } else if let Some(url) = text("url").or_else(|| text("baseUrl")) {
                effects.push(format!("connects to: {url}"));
            } else {
                object.values().for_each(|value| add_effects(value, effects));
            }
        }
        Value::Array(list) => list.iter().for_each(|value| add_effects(value, effects)),
        Value::String(text) => effects.push(text.clone()),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => effects.push(value.to_string()),
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.what)
    }
}

/// The subject of a trust decision: a folder, and the content of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustKey {
    /// The root of the repository, with links resolved.
    pub folder: PathBuf,
    /// The hash of the content of all covered files.
    pub hash: String,
}

/// The file in our home.
const STORE: &str = "trust.json";

pub(super) fn judge(
    places: &Places<'_>,
    root: &Path,
    layers: &[Layer],
    problems: &mut Vec<Problem>,
) -> (Trust, Option<TrustKey>) {
    let files = layers.iter().filter(|layer| layer.folder.level.is_repository()).flat_map(Layer::files);
    let files: Vec<&Json> = files.collect();
    let key = (!files.is_empty()).then(|| key(root, &files));
    let is_trusted = match places.trust {
        TrustRule::Everything => true,
        TrustRule::Nothing => false,
        TrustRule::Store => is_remembered(places, root, key.as_ref(), problems),
    };
    let trust = if is_trusted { Trust::Trusted } else { Trust::default() };
    (trust, key)
}

fn key(root: &Path, files: &[&Json]) -> TrustKey {
    let folder = fs_err::canonicalize(root).unwrap_or_else(|_gone| root.to_owned());
    let mut hasher = Sha256::new();
    for file in files {
        let name = file.path.strip_prefix(root).unwrap_or(&file.path);
        // hash the lengths, so that the boundary between two files cannot move
        let name = name.as_os_str().as_encoded_bytes();
        for part in [name, &file.bytes] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    let values = files.iter().map(|file| Value::Object(file.map().clone())).collect();
    for script in scripts::named_in(&Value::Array(values), &[root]) {
        // a script that cannot be read cannot run
        let bytes = fs_err::read(&script).unwrap_or_default();
        let name = script.strip_prefix(&folder).unwrap_or(&script).as_os_str().as_encoded_bytes();
        for part in [name, &bytes] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    let hash = hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        // writing to a string cannot fail
        write!(text, "{byte:02x}").ok();
        text
    });
    TrustKey { folder, hash }
}

fn is_remembered(
    places: &Places<'_>,
    root: &Path,
    key: Option<&TrustKey>,
    problems: &mut Vec<Problem>,
) -> bool {
    let Some(store) = Json::read_permissions(&places.home.join(STORE), problems) else { return false };
    let Some(folders) = store.map().get("folders").and_then(Value::as_object) else { return false };
    let folder = match key {
        Some(key) => key.folder.clone(),
        None => fs_err::canonicalize(root).unwrap_or_else(|_gone| root.to_owned()),
    };
    let Some(entry) = folder.to_str().and_then(|folder| folders.get(folder)) else { return false };
    // a folder without such files has nothing that could change
    key.is_none_or(|key| entry.get("hash").and_then(Value::as_str) == Some(&key.hash))
}

/// Stores that the user trusts a folder with its current files.
pub fn remember_trust(home: &Path, key: &TrustKey) -> io::Result<()> {
    let folder =
        key.folder.to_str().ok_or_else(|| io::Error::other("the path of the folder is not valid UTF-8"))?;
    edit_json(&home.join(STORE), |store| {
        let folders = store.entry("folders").or_insert_with(|| Value::Object(Map::new()));
        if !folders.is_object() {
            *folders = Value::Object(Map::new());
        }
        folders[folder] = json!({"hash": key.hash});
    })
}

/// Removes the trust in a folder.
pub fn forget_trust(home: &Path, folder: &Path) -> io::Result<()> {
    edit_json(&home.join(STORE), |store| {
        if let (Some(Value::Object(folders)), Some(folder)) = (store.get_mut("folders"), folder.to_str()) {
            folders.shift_remove(folder);
        }
    })
}
