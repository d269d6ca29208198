//! Whether a tool call runs, is asked for, or is refused: a pure decision.

use serde::{Deserialize, Serialize};

/// What runs without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
#[serde(rename_all = "lowercase")]
pub enum Autonomy {
    #[default]
    Off,
    Low,
    Medium,
    High,
}

/// Planning or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Auto,
    Spec,
}

/// An answer that can be given to a permission question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Choice {
    ProceedOnce,
    ProceedAlways,
    Cancel,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRequest {}
