//! Subagents: those defined in files, and the two built-in ones.

use std::path::{Path, PathBuf};

use super::front_matter::{Document, Mistake};
use crate::Level;
use musher_model::Effort;

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Droid {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its model; `None` means the model of the session.
    pub model: Option<String>,
    /// Its reasoning effort; `None` means that of the session.
    pub effort: Option<Effort>,
    /// The tools it may use.
    pub tools: DroidTools,
    /// The MCP servers it may use; `None` means all, if its tools allow any.
    pub mcp_servers: Option<Vec<String>>,
    /// Instructions that are appended to the system prompt.
    pub prompt: String,
    /// The level of its folder; `None` if it is built in.
    pub level: Option<Level>,
    /// Its file.
    pub path: Option<PathBuf>,
}

/// The tools a subagent may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DroidTools {
    /// All tools of the session.
    All,
    /// Only the listed tools.
    Only {
        /// Their names, as the model sees them.
        names: Vec<String>,
        /// Whether tools of MCP servers are included.
        has_mcp: bool,
    },
}

/// Groups of tools that a file can name instead of single tools.
const GROUPS: [(&str, &[&str]); 4] = [
    ("read-only", &["Read", "LS", "Grep", "Glob"]),
    ("edit", &["Create", "Edit", "ApplyPatch"]),
    ("execute", &["Execute", "TaskOutput", "TaskInput", "TaskStop"]),
    ("web", &["WebSearch", "FetchUrl"]),
];

const WORKER: &str = "Do the whole task yourself: read, change, and verify with what the project has for it.";
const EXPLORER: &str = "\
You cannot change anything. Search broadly first, then read what matters, and stop when the question is answered. Start with the answer; then \
give the evidence: paths, lines, and the few lines of code that show it. Say what you did not find.";

impl Droid {
    /// Returns the built-in subagents.
    pub fn builtin() -> [Self; 2] {
        let one = |name: &str, description: &str, prompt: &str, tools| Self {
            name: name.to_owned(),
            description: description.to_owned(),
            model: None,
            effort: None,
            tools,
            mcp_servers: None,
            prompt: prompt.to_owned(),
            level: None,
            path: None,
        };
        let explorer_tools = DroidTools::Only {
            names: group("read-only").chain(group("web")).map(str::to_owned).collect(),
            has_mcp: false,
        };
        [
            one("worker", "Does a separate task of several steps, with all tools", WORKER, DroidTools::All),
            one(
                "explorer",
                "Answers a question about the code by searching and reading; cannot change files",
                EXPLORER,
                explorer_tools,
            ),
        ]
    }

    /// Parses the file of a subagent; also returns the invalid fields. If one of them restricts its tools, it gets none.
    pub(super) fn parse(text: &str, path: PathBuf, level: Level) -> (Self, Vec<Mistake>) {
        let mut mistakes = Vec::new();
        let document = Document::read(text);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let effort = document.text("reasoningEffort");
        let no_tools = DroidTools::Only { names: Vec::new(), has_mcp: false };
        let mut tools = match document.words("tools") {
            Ok(words) => words.map_or(DroidTools::All, |words| typed(&words)),
            Err(message) => {
                mistakes.push(Mistake { field: "tools", message });
                no_tools.clone()
            }
        };
        let mcp_servers = document.words("mcpServers").unwrap_or_else(|message| {
            mistakes.push(Mistake { field: "mcpServers", message });
            tools = no_tools;
            Some(Vec::new())
        });
        let droid = Self {
            name: document.text("name").or(stem).unwrap_or_default(),
            description: document.text("description").unwrap_or_default(),
            model: document.text("model").filter(|model| model != "inherit"),
            effort: effort.and_then(|effort| serde_json::from_value(effort.into()).ok()),
            tools,
            mcp_servers,
            prompt: document.body.trim().to_owned(),
            level: Some(level),
            path: Some(path),
        };
        (droid, mistakes)
    }

    /// Returns its origin, as the protocol names it.
    pub fn location(&self) -> &'static str {
        self.level.map_or("builtin", super::skill::location)
    }

    /// Returns whether the subagent may use a tool, by the name that the model sees. `mcp_server` names the server of an MCP tool.
    pub fn may_use(&self, tool: &str, mcp_server: Option<&str>) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| name == tool);
        match (&self.tools, mcp_server) {
            (DroidTools::All, None) => true,
            (DroidTools::Only { names, .. }, None) => is_named(names),
            (tools, Some(server)) => {
                let is_open = match tools {
                    DroidTools::All => true,
                    DroidTools::Only { names, has_mcp } => {
                        *has_mcp || self.mcp_servers.is_some() || is_named(names)
                    }
                };
                is_open
                    && self.mcp_servers.as_ref().is_none_or(|servers| servers.iter().any(|it| it == server))
            }
        }
    }
}

fn typed(words: &[String]) -> DroidTools {
    if words.is_empty() || words.iter().any(|word| word == "all" || word == "*") {
        return DroidTools::All;
    }
    let mut names = Vec::new();
    for word in words {
        match GROUPS.iter().find(|(group, _)| group == word) {
            Some((_, tools)) => names.extend(tools.iter().map(|tool| (*tool).to_owned())),
            None if word == "mcp" => {}
            None => names.push(word.clone()),
        }
    }
    DroidTools::Only { names, has_mcp: words.iter().any(|word| word == "mcp") }
}

fn group(name: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    GROUPS.iter().filter(move |(group, _)| *group == name).flat_map(|(_, tools)| tools.iter().copied())
}

/// Returns whether a file can define a subagent.
pub(super) fn is_droid(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "md")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Droid {
        let (droid, mistakes) = Droid::parse(text, "/d/reviewer.md".into(), Level::User);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        droid
    }

    #[test]
    fn subagent_with_invalid_tools_gets_none() {
        for (text, fields) in [
            ("---\ntools: {Read: true}\n---\nx", &["tools"][..]),
            ("---\ntools: [Read, 5]\n---\nx", &["tools"]),
            ("---\nmcpServers: 7\n---\nx", &["mcpServers"]),
            ("---\ntools: read-only\nx", &["tools", "mcpServers"]),
        ] {
            let (droid, mistakes) = Droid::parse(text, "/d/reviewer.md".into(), Level::User);
            assert_eq!(mistakes.iter().map(|it| it.field).collect::<Vec<_>>(), fields, "{text}");
            for (tool, server) in [("Read", None), ("Execute", None), ("s___t", Some("s"))] {
                assert!(!droid.may_use(tool, server), "{text}: {tool}");
            }
        }
    }

    #[test]
    fn files_become_subagents() {
        let droid = read(
            "---\ndescription: Reviews\nmodel: inherit\nreasoningEffort: high\ntools: read-only\n---\nLook hard.\n",
        );
        assert_eq!(
            (droid.name.as_str(), droid.model.as_deref(), droid.effort),
            ("reviewer", None, Some(Effort::High))
        );
        assert!(
            droid.may_use("Grep", None) && !droid.may_use("Edit", None) && !droid.may_use("s___t", Some("s"))
        );
        assert_eq!((droid.prompt.as_str(), droid.location()), ("Look hard.", "personal"));
        let droid =
            read("---\nname: x\nmodel: custom:y\ntools: [Read, Execute, mcp]\nmcpServers: [a]\n---\n");
        assert_eq!((droid.name.as_str(), droid.model.as_deref()), ("x", Some("custom:y")));
        assert!(droid.may_use("a___t", Some("a")) && !droid.may_use("b___t", Some("b")));
        assert_eq!(read("No head at all").tools, DroidTools::All);
    }

    #[test]
    fn explorer_changes_nothing_and_the_worker_may_do_everything() {
        let [worker, explorer] = Droid::builtin();
        assert!(worker.may_use("Edit", None) && worker.may_use("s___t", Some("s")));
        for tool in ["Edit", "Create", "Execute", "ApplyPatch", "Task"] {
            assert!(!explorer.may_use(tool, None), "{tool}");
        }
        assert!(explorer.may_use("Read", None) && !explorer.may_use("s___t", Some("s")));
    }
}
