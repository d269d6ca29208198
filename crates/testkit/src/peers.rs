//! The table of the real programs that tests run against, and how each is found in the cache.
//!
//! Never uses the network: `peers::fetch` does, which only `cargo xtask peers` calls. A test requests a peer with
//! [`require_peer!`](crate::require_peer) and gets it from the cache, or a message that says what to run.

mod cache;
mod fetch;
mod newest;
mod require;

use std::fmt;

pub use cache::{Installed, cache_dir, find};
pub use fetch::fetch;
pub use newest::{NEWEST_VARIABLE, current, look_up, remember};
pub use require::{MISSING_HINT, require};

/// The version of `droid` that the protocol reference describes.
pub const DROID: Peer = Peer {
    name: "droid",
    version: "0.225.2",
    source: Source::Npm {
        package: "@factory/cli-linux-x64",
        integrity: "sha512-1ctPmJwAqs0s/QNiaFp6vxr90AQa7j3VgFzLns9OaTffzOCd4csExNpL4w99tNlBLmQbbYqp0rUHlAhoD8R31A==",
        lock: Some(include_str!("peers/locks/droid-0.225.2.json")),
    },
    entry: Entry::Program("bin/droid"),
};

/// An old `droid` that speaks protocol 1.15.0: no `agent_turn_completed`, a turn ends on `idle`.
pub const DROID_OLD: Peer = Peer {
    version: "0.99.0",
    source: Source::Npm {
        package: "@factory/cli-linux-x64",
        integrity: "sha512-16fmqhBS2ijMVC2DNuVkmXLToRhAmZad7Lz8pQYb8ECW0uQthX5hM91grNoQ39MkZVDoYOmmrbTL7y6q3H3uJA==",
        lock: Some(include_str!("peers/locks/droid-0.99.0.json")),
    },
    ..DROID
};

/// The version of Claude Code that the driver is written for.
pub const CLAUDE: Peer = Peer {
    name: "claude",
    version: "2.1.326",
    source: Source::Npm {
        package: "@anthropic-ai/claude-code-linux-x64",
        integrity: "sha512-RvNuaeMGfPGUyUGttVvhHgVUZ3B2L+Pgf336ImZLsPP2UQHYblewi47CPFLObqz+K6D++PLP1eAsDBLYko3w+g==",
        lock: Some(include_str!("peers/locks/claude-2.1.326.json")),
    },
    entry: Entry::Program("claude"),
};

/// An older Claude Code, for differences between the two.
pub const CLAUDE_OLD: Peer = Peer {
    version: "2.1.197",
    source: Source::Npm {
        package: "@anthropic-ai/claude-code-linux-x64",
        integrity: "sha512-rIlKmrY0QMyHgPRX/MYWNj039vbypICvI9jVe3rs9Xy2RnNklySjyPxqh62QadznzoftEO23uYQ1tFePcQ//bg==",
        lock: Some(include_str!("peers/locks/claude-2.1.197.json")),
    },
    ..CLAUDE
};

/// The official Python SDK, as a client of `droid` and of musher, with what its in-process tools need.
pub const PYTHON_SDK: Peer = Peer {
    name: "droid-sdk-python-with-mcp",
    version: "0.5.0",
    source: Source::PyPi {
        package: "droid-sdk[mcp]",
        lock: Some(include_str!("peers/locks/droid-sdk-python-with-mcp-0.5.0.txt")),
    },
    entry: Entry::Python,
};

/// The TypeScript SDK of the Agent Client Protocol. Package 2.x is the library's own number: its main entry speaks ACP
/// protocol version 1, the one in use; version 2 of the protocol is behind `experimental/v2`.
pub const ACP_SDK: Peer = Peer {
    name: "acp-sdk-typescript",
    version: "2.4.0",
    source: Source::Npm {
        package: "@agentclientprotocol/sdk",
        integrity: "sha512-7qJ8nnyj7WesC5ve185ioTpB2/svQoeGV4HA4nLEhgDUrcmBe54/08VcXc/oL4p14tDbxxECZzdYmUYQ+4l+Wg==",
        lock: Some(include_str!("peers/locks/acp-sdk-typescript-2.4.0.json")),
    },
    entry: Entry::NodeModules,
};

/// The checker of TypeScript, for the scripts of the console against the types of the protocol.
pub const TYPESCRIPT: Peer = Peer {
    name: "typescript",
    version: "5.9.3",
    source: Source::Npm {
        package: "typescript",
        integrity: "sha512-jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==",
        lock: Some(include_str!("peers/locks/typescript-5.9.3.json")),
    },
    entry: Entry::NodeModules,
};

/// The checker of accessibility, for the page of the console.
pub const AXE: Peer = Peer {
    name: "axe-core",
    version: "4.14.1",
    source: Source::Npm {
        package: "axe-core",
        integrity: "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
        lock: Some(include_str!("peers/locks/axe-core-4.14.1.json")),
    },
    entry: Entry::NodeModules,
};

/// Every peer, in the order `cargo xtask peers` fetches them.
pub const ALL: [Peer; 8] = [DROID, DROID_OLD, CLAUDE, CLAUDE_OLD, PYTHON_SDK, ACP_SDK, TYPESCRIPT, AXE];

/// A real program or library at one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The short name, unique together with the version.
    pub name: &'static str,
    /// Exact version.
    pub version: &'static str,
    /// The registry it comes from.
    pub source: Source,
    /// What a test starts or imports.
    pub entry: Entry,
}

/// The registry a peer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The npm registry.
    Npm {
        /// Package name.
        package: &'static str,
        /// The integrity that the registry published for this version; any other is rejected.
        integrity: &'static str,
        /// The lock file, with the integrity of all packages that it needs. `None` for a version that is not pinned.
        lock: Option<&'static str>,
    },
    /// The Python package index.
    PyPi {
        /// Distribution name.
        package: &'static str,
        /// The requirements, with hashes of all packages. `None` for a version that is not pinned.
        lock: Option<&'static str>,
    },
}

/// How a peer is used once it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A program at this path inside its package; answers `--version`.
    Program(&'static str),
    /// A library for Node.js; the entry is the folder that holds `node_modules`.
    NodeModules,
    /// A library for Python; the entry is the interpreter of its virtual environment.
    Python,
}

impl Peer {
    /// Returns `name@version`, as the commands accept and print it.
    pub fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Returns the peer with this `name@version`, or the first one with this plain name.
    ///
    /// ```
    /// assert_eq!(testkit::peers::Peer::named("droid@0.99.0"), Some(testkit::peers::DROID_OLD));
    /// assert_eq!(testkit::peers::Peer::named("claude"), Some(testkit::peers::CLAUDE));
    /// ```
    pub fn named(id: &str) -> Option<Self> {
        ALL.into_iter().find(|peer| peer.id() == id || peer.name == id)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}
