//! The static description of a tool. Each tool has its own, in its own directory; lists and the tool selection are built from them.

use serde_json::{Value, json};

/// The static description of a tool.
///
/// ```
/// use musher_tools::{Category, Offer, ToolInfo, object_schema};
/// use serde_json::json;
///
/// const INFO: ToolInfo = ToolInfo::new("roll-dice", "RollDice", Category::Read, "Rolls a die and returns the number.", schema)
///     .display_name("Roll Dice")
///     .read_only()
///     .parallel()
///     .offer(Offer::At(200));
///
/// fn schema() -> serde_json::Value {
///     object_schema(&json!({"sides": {"type": "integer"}}), &["sides"])
/// }
/// assert_eq!(INFO.name, "RollDice");
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ToolInfo {
    /// The id that clients use.
    pub id: &'static str,
    /// The name that the model uses.
    pub name: &'static str,
    /// The name that users read.
    pub display_name: &'static str,
    /// The kind of the tool.
    pub category: Category,
    /// What it does and when to use it; read by the model.
    pub description: &'static str,
    /// The JSON schema of the arguments.
    pub schema: fn() -> Value,
    /// The autonomy level from which clients list the tool as allowed. The verdict on a call depends on its action alone.
    pub listed_from: ListedFrom,
    /// Whether clients list the tool as allowed in spec mode too. Tools that are listed from the lowest level always are.
    pub is_for_spec_mode: bool,
    /// Whether subagents never get the tool.
    pub is_main_session_only: bool,
    /// Whether the tool changes nothing. After a call that may change something, the following calls are judged again.
    pub is_read_only: bool,
    /// Whether calls may run concurrently with neighbouring calls.
    pub concurrency: Concurrency,
    /// When the tool is offered to the model.
    pub offer: Offer,
    /// Set if the tool is only for models that edit files in this way.
    pub edit_style: Option<EditStyle>,
    /// What the session can use the tool for, or tells the model about because of it.
    pub provides: Option<Feature>,
}

/// What a tool provides to the session: the session finds the tool by this mark, never by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feature {
    /// Loads skills: the model gets the list of them.
    Skills,
    /// Starts subagents: the model gets the list of them.
    Subagents,
    /// Finds tools: others can be left out of the requests until then.
    ToolSearch,
    /// Keeps the to-do list in its argument `todos`: the model is reminded of open steps.
    Todos,
    /// Reads the file in its argument `file_path`: the images of a subagent's task are read with it.
    Files,
}

/// How a model edits files best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditStyle {
    /// By replacing a text with another.
    Replace,
    /// With patches.
    Patch,
}

/// The kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Reads.
    Read,
    /// Changes files.
    Edit,
    /// Everything else.
    Execute,
}

impl Category {
    /// Returns the name that clients know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Execute => "execute",
        }
    }
}

/// From which autonomy level clients list a tool as allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedFrom {
    /// At every level.
    Off,
    /// From level low.
    Low,
    /// At level high only.
    High,
    /// At no level.
    Never,
}

/// Whether calls of a tool run concurrently with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// One call at a time, with no other call beside it.
    Alone,
    /// Together with other parallel calls.
    Parallel,
}

/// When a tool is offered to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// In every request, at this position: lower numbers come first. The order of the built-in tools is part of the cached prefix.
    At(u16),
    /// After the model has searched for it, or where a client enables it. A call without a search works too.
    OnSearch,
    /// Only where a client enables it.
    OnRequest,
}

impl ToolInfo {
    /// Describes a tool that runs alone, is listed as allowed as usual for its category, and is offered last. The other methods change
    /// these defaults.
    pub const fn new(
        id: &'static str,
        name: &'static str,
        category: Category,
        description: &'static str,
        schema: fn() -> Value,
    ) -> Self {
        Self {
            id,
            name,
            display_name: name,
            category,
            description,
            schema,
            listed_from: match category {
                Category::Edit => ListedFrom::Low,
                Category::Read | Category::Execute => ListedFrom::High,
            },
            is_for_spec_mode: false,
            is_main_session_only: false,
            is_read_only: false,
            concurrency: Concurrency::Alone,
            offer: Offer::At(u16::MAX),
            edit_style: None,
            provides: None,
        }
    }

    /// Sets the name that users read.
    #[must_use]
    pub const fn display_name(self, display_name: &'static str) -> Self {
        Self { display_name, ..self }
    }

    /// Sets the autonomy level from which clients list the tool as allowed.
    #[must_use]
    pub const fn listed_from(self, listed_from: ListedFrom) -> Self {
        Self { listed_from, ..self }
    }

    /// Lists the tool as allowed in spec mode.
    #[must_use]
    pub const fn for_spec_mode(self) -> Self {
        Self { is_for_spec_mode: true, ..self }
    }

    /// Withholds the tool from subagents.
    #[must_use]
    pub const fn main_session_only(self) -> Self {
        Self { is_main_session_only: true, ..self }
    }

    /// Declares that the tool changes nothing.
    #[must_use]
    pub const fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Lets calls run concurrently with neighbouring calls.
    #[must_use]
    pub const fn parallel(self) -> Self {
        Self { concurrency: Concurrency::Parallel, ..self }
    }

    /// Offers the tool only to models that edit files in this way. Other models can still call it.
    #[must_use]
    pub const fn for_edit_style(self, edit_style: EditStyle) -> Self {
        Self { edit_style: Some(edit_style), ..self }
    }

    /// Declares what the tool provides to the session.
    #[must_use]
    pub const fn provides(self, feature: Feature) -> Self {
        Self { provides: Some(feature), ..self }
    }

    /// Sets when the tool is offered to the model.
    #[must_use]
    pub const fn offer(self, offer: Offer) -> Self {
        Self { offer, ..self }
    }
}

/// Returns the schema of an object with these properties and no others.
pub fn object_schema(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
