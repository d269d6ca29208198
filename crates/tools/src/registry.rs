//! The built-in tools by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::builtin;
use crate::{AddressRule, Tool};

/// Tools that can be called, by the name the model uses.
///
/// ```
/// use musher_tools::Registry;
///
/// let registry = Registry::builtin();
/// assert!(registry.get("Read").is_some());
/// assert!(registry.get("rm").is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<&'static str, Arc<dyn Tool>>,
}

impl Registry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// All tools of this crate.
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        registry.add(builtin::Read);
        registry.add(builtin::Ls);
        registry.add(builtin::Glob);
        registry.add(builtin::Grep);
        registry.add(builtin::Execute);
        registry.add(builtin::Create);
        registry.add(builtin::Edit);
        registry.add(builtin::ApplyPatch);
        registry.add(builtin::TodoWrite);
        registry.add(builtin::FetchUrl::new(AddressRule::Public));
        registry
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, tool: impl Tool + 'static) {
        self.tools.insert(tool.info().name, Arc::new(tool));
    }

    /// A tool by the name the model uses.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }
}
