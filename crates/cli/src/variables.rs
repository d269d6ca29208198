//! The environment variables that the program reads. The table in docs/guide/configuration.md is this list.

use std::ffi::OsString;

use crate::commands::daemon::TOKEN_VARIABLE;
use crate::daemon_client::URL_VARIABLE;
use crate::embedded::HOME_VARIABLE;
use crate::logging::{LOG_LEVEL_VARIABLE, LOG_VARIABLE};
use crate::resolve::{
    AGENT_VARIABLE, CLAUDE_VARIABLE, DROID_VARIABLE, ENGINE_VARIABLE, TRACE_PARENT_VARIABLE,
};
use crate::style::{CLICOLOR, CLICOLOR_FORCE, NO_COLOR};

/// Returns the value of a variable unless it is empty.
pub(crate) fn value(name: &str) -> Option<OsString> {
    crate::hide::variable(name).filter(|value| !value.is_empty())
}

/// A variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// Its meaning, for the documentation.
    pub(crate) meaning: &'static str,
    /// The default.
    pub(crate) otherwise: &'static str,
}

/// The variables of the program itself. `musher_model::vendors` lists the keys of vendors.
pub(crate) const VARIABLES: &[Variable] = &[
    Variable { name: HOME_VARIABLE, meaning: "directory of settings and sessions", otherwise: "`~/.musher`" },
    Variable {
        name: AGENT_VARIABLE,
        meaning: "agent to use: `engine`, `droid`, or the path of a program that speaks droid's protocol",
        otherwise: "`engine`",
    },
    Variable { name: DROID_VARIABLE, meaning: "path of droid", otherwise: "`droid` in `PATH`" },
    Variable { name: CLAUDE_VARIABLE, meaning: "path of Claude Code", otherwise: "`claude` in `PATH`" },
    Variable {
        name: ENGINE_VARIABLE,
        meaning: "path of `musher`, which `musher-bridge` starts for engine sessions",
        otherwise: "`musher` beside it, then in `PATH`",
    },
    Variable {
        name: URL_VARIABLE,
        meaning: "address of the daemon for clients: `unix:PATH`, `ws://HOST:PORT` or `wss://HOST`",
        otherwise: "its socket in the home directory",
    },
    Variable {
        name: TOKEN_VARIABLE,
        meaning: "token that clients of `musher daemon` send",
        otherwise: "`daemon.token` in the home",
    },
    Variable { name: LOG_VARIABLE, meaning: "log to this file, or to `stderr`", otherwise: "no log" },
    Variable {
        name: LOG_LEVEL_VARIABLE,
        meaning: "log level: `error`, `warn`, `info`, `debug`, `trace`, or a filter",
        otherwise: "`info`",
    },
    Variable {
        name: TRACE_PARENT_VARIABLE,
        meaning: "trace that `run` and `exec` belong to, as in W3C Trace Context; passed to the agent",
        otherwise: "no trace",
    },
    Variable {
        name: NO_COLOR,
        meaning: "disables colors, whatever its value",
        otherwise: "colors on a terminal",
    },
    Variable {
        name: CLICOLOR_FORCE,
        meaning: "enables colors in files and pipes, unless it is `0`",
        otherwise: "colors on a terminal",
    },
    Variable { name: CLICOLOR, meaning: "disables colors if it is `0`", otherwise: "colors on a terminal" },
    Variable {
        name: "VISUAL",
        meaning: "editor for long prompts in a chat",
        otherwise: "`EDITOR`, then `vi`",
    },
    Variable { name: "PAGER", meaning: "pager for long requests in a chat", otherwise: "`less -R`" },
    Variable {
        name: "HTTPS_PROXY",
        meaning: "proxy for `https` URLs: `http://[user:password@]host:port`; lower case works too",
        otherwise: "`ALL_PROXY`",
    },
    Variable {
        name: "HTTP_PROXY",
        meaning: "proxy for `http` URLs; lower case works too",
        otherwise: "`ALL_PROXY`",
    },
    Variable {
        name: "ALL_PROXY",
        meaning: "proxy for both; lower case works too",
        otherwise: "direct connections",
    },
    Variable {
        name: "NO_PROXY",
        meaning: "hosts to reach without a proxy: domains, addresses, networks or `*`; lower case works too",
        otherwise: "loopback only",
    },
    Variable {
        name: "SEARXNG_URL",
        meaning: "URL of a SearXNG instance with JSON output, for the tool `WebSearch`",
        otherwise: "no web search",
    },
    Variable {
        name: "BRAVE_API_KEY",
        meaning: "key of the Brave Search API, for the tool `WebSearch`",
        otherwise: "no web search",
    },
    Variable {
        name: "TAVILY_API_KEY",
        meaning: "key of Tavily, for the tool `WebSearch`",
        otherwise: "no web search",
    },
    Variable {
        name: "EXA_API_KEY",
        meaning: "key of Exa, for the tool `WebSearch`",
        otherwise: "no web search",
    },
];

impl Variable {
    /// Returns whether the variable is set. Proxies are also named in lower case.
    pub(crate) fn is_set(&self) -> bool {
        let lower = || self.name.ends_with("_PROXY") && value(&self.name.to_ascii_lowercase()).is_some();
        std::env::var_os(self.name).is_some() || lower()
    }
}

#[cfg(test)]
mod tests;
