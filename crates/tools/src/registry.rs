//! The tools of an engine, by name. Lists and the tool selection are built from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::builtin;
use crate::{AddressRule, Feature, SearchProvider, Tool, ToolInfo};

/// The tools that can be called, by the name that the model uses. Cheap to clone.
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
    tools: Arc<BTreeMap<String, Arc<dyn Tool>>>,
}

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry with all tools of this crate.
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
        registry.add(builtin::AskUser);
        registry.add(builtin::ExitSpecMode);
        registry.add(builtin::Skill);
        registry.add(builtin::ToolSearch);
        registry.add(builtin::Task);
        registry.add(builtin::TaskOutput);
        registry.add(builtin::TaskInput);
        registry.add(builtin::TaskStop);
        registry
    }

    /// Returns the registry with `WebSearch`, which asks this service.
    #[must_use]
    pub fn with_web_search(mut self, provider: SearchProvider) -> Self {
        self.add(builtin::WebSearch::new(provider));
        self
    }

    /// Adds a tool. Replaces a tool of the same name.
    pub fn add(&mut self, tool: impl Tool + 'static) {
        let name = tool.info().name.to_owned();
        Arc::make_mut(&mut self.tools).insert(name, Arc::new(tool));
    }

    /// Returns a tool by the name that the model uses.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// Returns the description of a tool by the name that the model uses.
    pub fn info(&self, name: &str) -> Option<&ToolInfo> {
        self.get(name).map(|tool| tool.info())
    }

    /// Returns the first tool that provides this, sorted by name.
    pub fn providing(&self, feature: Feature) -> Option<&Arc<dyn Tool>> {
        self.iter().find(|tool| tool.info().provides == Some(feature))
    }

    /// Returns the descriptions of all tools, sorted by name.
    pub fn infos(&self) -> impl Iterator<Item = &ToolInfo> {
        self.iter().map(|tool| tool.info())
    }

    /// Returns all tools, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }
}
