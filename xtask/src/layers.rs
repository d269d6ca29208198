//! `cargo xtask layers`: checks that the crate graph is the one in ARCHITECTURE.md.
//!
//! An edge that is not in the table is an error, and so is a row that is not used.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo::cargo;

/// Each crate, and the workspace crates it may use. Dev-dependencies are not checked.
const ALLOWED: &[(&str, &[&str])] = &[
    ("musher-wire", &[]),
    ("musher-process", &[]),
    ("musher-rpc", &["musher-process", "musher-wire"]),
    // `musher-http` has the TLS and the proxies of `wss://` addresses and REST; only with the features `daemon-tls` and `rest`
    ("musher", &["musher-http", "musher-rpc", "musher-store", "musher-wire"]),
    ("musher-http", &[]),
    ("musher-message", &[]),
    ("musher-model", &["musher-http", "musher-message"]),
    ("musher-permission", &[]),
    ("musher-store", &["musher-message"]),
    ("musher-tools", &["musher-http", "musher-message", "musher-permission", "musher-process"]),
    ("musher-config", &["musher-model", "musher-permission"]),
    ("musher-mcp", &["musher-config", "musher-http", "musher-model", "musher-tools"]),
    (
        "musher-engine",
        &[
            "musher-config",
            "musher-http",
            "musher-mcp",
            "musher-message",
            "musher-model",
            "musher-permission",
            "musher-store",
            "musher-tools",
        ],
    ),
    ("musher-rehearse", &[]),
    ("musher-server", &["musher-engine", "musher-process", "musher-rpc", "musher-wire"]),
    ("musher-claude", &["musher-rpc", "musher-wire"]),
    ("musher-acp", &["musher", "musher-rpc", "musher-store"]),
    ("musher-bridge", &["musher", "musher-claude", "musher-rpc"]),
    (
        "musher-cli",
        &[
            "musher",
            "musher-acp",
            "musher-bridge",
            // the embedded engine, and the scripted model as one of its models
            "musher-engine",
            // exports spans
            "musher-http",
            "musher-model",
            // the user's own commands in a chat
            "musher-process",
            "musher-rehearse",
            "musher-rpc",
            "musher-server",
        ],
    ),
    ("conformance", &["musher", "musher-rpc", "musher-wire", "testkit"]),
    ("testkit", &["musher-rehearse", "musher-rpc"]),
    ("xtask", &["musher-wire", "testkit"]),
];

/// External crates that only the listed workspace crates may use.
const RESERVED: &[(&str, &[&str])] = &[
    (
        "tokio",
        &[
            "musher",
            "musher-http",
            "musher-mcp",
            "musher-model",
            "musher-process",
            "musher-tools",
            "musher-engine",
            "musher-rpc",
            "musher-rehearse",
            "musher-server",
            "musher-claude",
            "musher-acp",
            "musher-bridge",
            "musher-cli",
            "conformance",
            "testkit",
            "xtask",
        ],
    ),
    ("agent-client-protocol", &["musher-acp"]),
    ("tokio-tungstenite", &["musher-rpc"]),
    ("rmcp", &["musher", "musher-mcp"]),
    ("rustls", &["musher-http"]),
    ("tokio-rustls", &["musher-http", "musher-server"]),
    ("serde-saphyr", &["conformance", "musher-config", "musher-rehearse"]),
    ("clap", &["musher-cli", "xtask"]),
    ("tree-sitter", &["musher-permission"]),
    ("anyhow", &["musher-cli", "conformance", "testkit", "xtask"]),
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// Compares the graph with the tables.
pub(crate) fn run() -> Result<()> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cannot parse the output of `cargo metadata`")?;
    let graph: BTreeMap<_, BTreeSet<_>> =
        metadata.packages.iter().map(|package| (package.name.as_str(), production(package))).collect();
    let wrong = differences(&graph);
    for line in &wrong {
        println!("{line}");
    }
    if !wrong.is_empty() {
        bail!("{} differences between the crate graph and xtask/src/layers.rs", wrong.len());
    }
    println!("{} crates, as in the table", graph.len());
    Ok(())
}

fn production(package: &Package) -> BTreeSet<&str> {
    let wanted = package.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
    wanted.map(|dependency| dependency.name.as_str()).collect()
}

fn differences(graph: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<String> {
    let mut wrong = Vec::new();
    let allowed: BTreeMap<_, BTreeSet<_>> =
        ALLOWED.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    for name in allowed.keys().filter(|name| !graph.contains_key(*name)) {
        wrong.push(format!("{name} is in the table, but not in the workspace"));
    }
    for (name, uses) in graph {
        let Some(allowed) = allowed.get(name) else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        let ours: BTreeSet<_> = uses.iter().copied().filter(|used| graph.contains_key(used)).collect();
        wrong.extend(ours.difference(allowed).map(|used| format!("{name} may not use {used}")));
        wrong.extend(allowed.difference(&ours).map(|used| format!("{name} does not use {used} any more")));
        for (outside, users) in RESERVED {
            if uses.contains(outside) && !users.contains(name) {
                wrong.push(format!("{name} may not use {outside}"));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        ALLOWED.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect()
    }

    #[test]
    fn dependency_graph_is_valid() {
        assert_eq!(differences(&drawn()), Vec::<String>::new());
    }

    #[test]
    fn upward_dependency_is_reported() {
        let mut graph = drawn();
        graph.get_mut("musher-wire").unwrap().insert("musher-rpc");
        assert_eq!(differences(&graph), ["musher-wire may not use musher-rpc"]);
    }

    #[test]
    fn reserved_external_crate_is_reported() {
        let mut graph = drawn();
        graph.get_mut("musher-wire").unwrap().insert("tokio");
        assert_eq!(differences(&graph), ["musher-wire may not use tokio"]);
    }

    #[test]
    fn unused_row_is_reported() {
        let mut graph = drawn();
        graph.get_mut("musher-rpc").unwrap().clear();
        let expected = ["musher-process", "musher-wire"];
        assert_eq!(
            differences(&graph),
            expected.map(|used| format!("musher-rpc does not use {used} any more"))
        );
    }
}
