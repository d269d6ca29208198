//! The sources of each setting: every file that sets it, and whether that value applies.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::{Json, Reader};
use super::{Ignored, Problem};
use musher_permission::Autonomy;

/// One file that sets a setting.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Source {
    /// The field, such as `sessionDefaultSettings.autonomyLevel`.
    pub field: String,
    /// The file.
    pub file: PathBuf,
    /// The value.
    pub value: Value,
    /// Whether it applies.
    pub standing: Standing,
}

/// Whether the value of a file applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It applies, alone or merged with others.
    Counts,
    /// Another file takes precedence.
    Overridden,
    /// It would apply if the repository were trusted.
    Untrusted,
}

/// Lists and tables that are merged from all files.
const ADDED_UP: [&str; 5] = [
    "commandAllowlist",
    "commandDenylist",
    "commandBlocklist",
    "disabledSkills",
    "compactionTokenLimitPerModel",
];

/// The field whose strictest value applies, whichever file has it.
const STRICTEST: &str = "maxAutonomyLevel";

impl Source {
    pub(super) fn new(field: &str, file: &Path, value: Value) -> Self {
        Self { field: field.to_owned(), file: file.to_owned(), value, standing: Standing::Counts }
    }

    /// Returns the setting of a field: some settings have two names.
    pub fn setting(&self) -> &str {
        match self.field.as_str() {
            "model" => "sessionDefaultSettings.model",
            "reasoningEffort" => "sessionDefaultSettings.reasoningEffort",
            field => field,
        }
    }

    fn autonomy(&self) -> Option<Autonomy> {
        serde::Deserialize::deserialize(&self.value).ok()
    }
}

/// The notes taken while files are read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) problems: Vec<Problem>,
    pub(super) ignored: Vec<Ignored>,
    pub(super) sources: Vec<Source>,
}

impl Notes {
    pub(super) fn reader<'a>(&'a mut self, json: &'a Json, is_file_trusted: bool) -> Reader<'a> {
        Reader {
            json,
            is_file_trusted,
            problems: &mut self.problems,
            ignored: &mut self.ignored,
            sources: &mut self.sources,
        }
    }

    /// Returns the sources, each marked whether it applies. They were read from the lowest to the highest precedence.
    pub(super) fn settled(&mut self) -> Vec<Source> {
        let mut sources = std::mem::take(&mut self.sources);
        for at in 0..sources.len() {
            let source = &sources[at];
            let is_rival =
                |other: &Source| other.setting() == source.setting() && other.standing == Standing::Counts;
            let is_overridden = match source.setting() {
                setting if ADDED_UP.contains(&setting) => false,
                STRICTEST => sources.iter().enumerate().any(|(place, other)| {
                    is_rival(other)
                        && (other.autonomy() < source.autonomy()
                            || (other.autonomy() == source.autonomy() && place < at))
                }),
                _ => sources[at + 1..].iter().any(is_rival),
            };
            if is_overridden && source.standing == Standing::Counts {
                sources[at].standing = Standing::Overridden;
            }
        }
        sources
    }
}
