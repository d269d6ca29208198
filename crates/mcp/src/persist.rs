//! Changes to `mcp.json` of our home. Writes entries as given, with `${NAME}` unexpanded.

use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use musher_config::{Transport, parse_json, try_edit_json};

const FILE: &str = "mcp.json";

/// Returns the entry for a server, as written to the file.
pub(super) fn entry(transport: &Transport, oauth: Option<&Value>) -> Value {
    let object = |pairs: &[(String, musher_model::Secret)]| -> Value {
        Value::Object(pairs.iter().map(|(name, value)| (name.clone(), value.expose().into())).collect())
    };
    let mut entry = match transport {
        Transport::Stdio { command, args, env } => {
            json!({"type": "stdio", "command": command, "args": args, "env": object(env)})
        }
        Transport::Http { url, headers } | Transport::Sse { url, headers } => {
            json!({"type": transport.name(), "url": url, "headers": object(headers)})
        }
    };
    if let Some(oauth) = oauth {
        entry["oauth"] = oauth.clone();
    }
    entry
}

/// Adds or replaces an entry.
pub(super) fn put(home: &Path, name: &str, entry: Value) -> io::Result<()> {
    try_edit_json(&home.join(FILE), |map| {
        with_servers(map, |servers| {
            servers.insert(name.to_owned(), entry);
        })
    })
}

/// Removes an entry. Returns whether it existed.
pub(super) fn remove(home: &Path, name: &str) -> io::Result<bool> {
    if entry_in(home, name).is_none() {
        return Ok(false);
    }
    try_edit_json(&home.join(FILE), |map| {
        with_servers(map, |servers| {
            servers.shift_remove(name);
        })
    })?;
    Ok(true)
}

/// Changes an entry of ours, or a copy of droid's. Returns whether one exists.
pub(super) fn change(
    home: &Path,
    factory_home: Option<&Path>,
    name: &str,
    change: impl FnOnce(&mut Map<String, Value>),
) -> io::Result<bool> {
    let ours = entry_in(home, name);
    let Some(Value::Object(mut entry)) = ours.or_else(|| entry_in(factory_home?, name)) else {
        return Ok(false);
    };
    change(&mut entry);
    put(home, name, Value::Object(entry))?;
    Ok(true)
}

/// Returns whether the file in a home has a server of this name.
pub(super) fn is_in(home: &Path, name: &str) -> bool {
    entry_in(home, name).is_some()
}

fn entry_in(home: &Path, name: &str) -> Option<Value> {
    // an unreadable file was reported when the configuration was loaded
    let text = fs_err::read(home.join(FILE)).ok()?;
    let mut file = parse_json(&text).ok()?;
    file.get_mut("mcpServers")?.get_mut(name).map(Value::take)
}

/// Changes the table of servers. Fails if the value is not a table: which servers it disables is unknown.
fn with_servers(
    map: &mut Map<String, Value>,
    change: impl FnOnce(&mut Map<String, Value>),
) -> io::Result<()> {
    let slot = map.entry("mcpServers").or_insert(Value::Null);
    if slot.is_null() {
        *slot = Value::Object(Map::new());
    }
    let Value::Object(servers) = slot else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("`mcpServers` of {FILE} is not an object"),
        ));
    };
    change(servers);
    Ok(())
}
