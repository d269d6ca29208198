//! The fixed facts of a tool. Each tool states its own, in its own folder; lists and offers are built from them.

use serde_json::{Value, json};

/// The fixed facts of a tool.
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
    /// The name that clients use.
    pub id: &'static str,
    /// The name that the model uses.
    pub name: &'static str,
    /// The name that people read.
    pub display_name: &'static str,
    /// What it is for.
    pub category: Category,
    /// What it does and when to use it, for the model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: fn() -> Value,
    /// The autonomy level from which clients list it as allowed. The verdict on a call follows from its action alone.
    pub listed_from: ListedFrom,
    /// Whether clients list it as allowed in spec mode, too. Tools that are listed from the lowest level are in any case.
    pub is_for_spec_mode: bool,
    /// Whether subagents never have it.
    pub is_main_session_only: bool,
    /// Whether it changes nothing. After a call that may change something, the calls behind it are judged again.
    pub is_read_only: bool,
    /// Whether calls run at the same time as their neighbours.
    pub concurrency: Concurrency,
    /// When the model is offered it.
    pub offer: Offer,
}

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Looking at things.
    Read,
    /// Changing files.
    Edit,
    /// Everything else.
    Execute,
}

impl Category {
    /// The word that clients know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Execute => "execute",
        }
    }
}

/// From which autonomy level on clients list a tool as allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedFrom {
    /// At every level.
    Off,
    /// From low on.
    Low,
    /// At high only.
    High,
    /// At none.
    Never,
}

/// Whether calls of a tool run at the same time as others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// One call at a time, with no other beside it.
    Alone,
    /// Together with other calls that run in parallel.
    Parallel,
}

/// When the model is offered a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// In every request, at this place: lower numbers come first. The order of the built-in tools is part of the cached prefix.
    At(u16),
    /// After the model has searched for it, or where a client enables it. A call without a search works, too.
    OnSearch,
    /// Only where a client enables it.
    OnRequest,
}

impl ToolInfo {
    /// The facts of a tool that runs alone, is listed as allowed where its category usually is, and comes last in the offer. The methods
    /// change that.
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
        }
    }

    /// Sets the name that people read.
    #[must_use]
    pub const fn display_name(self, display_name: &'static str) -> Self {
        Self { display_name, ..self }
    }

    /// Sets the autonomy level from which clients list it as allowed.
    #[must_use]
    pub const fn listed_from(self, listed_from: ListedFrom) -> Self {
        Self { listed_from, ..self }
    }

    /// Lists it as allowed in spec mode.
    #[must_use]
    pub const fn for_spec_mode(self) -> Self {
        Self { is_for_spec_mode: true, ..self }
    }

    /// Keeps it from subagents.
    #[must_use]
    pub const fn main_session_only(self) -> Self {
        Self { is_main_session_only: true, ..self }
    }

    /// States that it changes nothing.
    #[must_use]
    pub const fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Lets calls run at the same time as their neighbours.
    #[must_use]
    pub const fn parallel(self) -> Self {
        Self { concurrency: Concurrency::Parallel, ..self }
    }

    /// Sets when the model is offered it.
    #[must_use]
    pub const fn offer(self, offer: Offer) -> Self {
        Self { offer, ..self }
    }
}

/// The schema of an object that has these properties and no others.
pub fn object_schema(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
