//! Every variable of the environment that the program looks at, once. The table in docs/guide/configuration.md is this list.

use std::ffi::OsString;

use crate::embedded::HOME_VARIABLE;
use crate::look::{CLICOLOR, CLICOLOR_FORCE, NO_COLOR};
use crate::resolve::{AGENT_VARIABLE, CLAUDE_VARIABLE, DROID_VARIABLE, ENGINE_VARIABLE};

/// What a variable says; nothing, if it is empty.
pub(crate) fn value(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// What it says.
    pub(crate) meaning: &'static str,
    /// What holds if it is not set.
    pub(crate) otherwise: &'static str,
}

/// Those of the program itself. The keys of vendors are told by `musher_model::vendors`.
pub(crate) const VARIABLES: &[Variable] = &[
    Variable {
        name: HOME_VARIABLE,
        meaning: "the folder of settings and sessions",
        otherwise: "`~/.musher`",
    },
    Variable {
        name: AGENT_VARIABLE,
        meaning: "who does the work: `engine`, `droid`, or the path of a program that speaks its protocol",
        otherwise: "`engine`",
    },
    Variable { name: DROID_VARIABLE, meaning: "where droid is", otherwise: "`droid` in `PATH`" },
    Variable { name: CLAUDE_VARIABLE, meaning: "where Claude Code is", otherwise: "`claude` in `PATH`" },
    Variable {
        name: ENGINE_VARIABLE,
        meaning: "where `musher` is, for `musher-bridge`, which has no engine in it",
        otherwise: "`musher` beside it, else in `PATH`",
    },
    Variable {
        name: NO_COLOR,
        meaning: "no colours, whatever it is set to",
        otherwise: "colours on a terminal",
    },
    Variable {
        name: CLICOLOR_FORCE,
        meaning: "colours also into files and pipes, unless it is `0`",
        otherwise: "colours on a terminal",
    },
    Variable { name: CLICOLOR, meaning: "no colours if it is `0`", otherwise: "colours on a terminal" },
    Variable {
        name: "HTTPS_PROXY",
        meaning: "the proxy for `https` addresses: `http://[user:password@]host:port`; also in lower case",
        otherwise: "`ALL_PROXY`",
    },
    Variable {
        name: "HTTP_PROXY",
        meaning: "the proxy for `http` addresses; also in lower case",
        otherwise: "`ALL_PROXY`",
    },
    Variable {
        name: "ALL_PROXY",
        meaning: "the proxy for both; also in lower case",
        otherwise: "direct connections",
    },
    Variable {
        name: "NO_PROXY",
        meaning: "what is connected to without a proxy: domains, addresses, networks or `*`; also in lower case",
        otherwise: "only loopback",
    },
];

impl Variable {
    /// Returns whether it is set. Proxies are also named in lower case.
    pub(crate) fn is_set(&self) -> bool {
        let lower = || self.name.ends_with("_PROXY") && value(&self.name.to_ascii_lowercase()).is_some();
        std::env::var_os(self.name).is_some() || lower()
    }
}

#[cfg(test)]
mod tests;
