//! Modes of a session and levels a user chooses: interaction, autonomy, reasoning.

use crate::object::open_enum;

open_enum! {
    /// How a session works: executing, planning, or running missions.
    pub enum InteractionMode {
        /// The agent executes prompts. The default.
        Auto = "auto",
        /// The agent plans and changes nothing until the plan is approved.
        Spec = "spec",
        /// The agent runs missions.
        Agi = "agi",
    }
}

open_enum! {
    /// Which tool calls run without a permission request. 0.57 sent [`AutonomyMode`] values here; they read as `Unrecognized`.
    pub enum AutonomyLevel {
        /// Read-only tools and commands run without a permission request.
        Off = "off",
        /// File edits and low-impact commands run as well.
        Low = "low",
        /// Medium-impact commands run as well.
        Medium = "medium",
        /// Everything except deny-listed commands runs.
        High = "high",
    }
}

open_enum! {
    /// Legacy form of interaction mode and autonomy level in one value.
    pub enum AutonomyMode {
        /// Executes prompts at autonomy level off.
        Normal = "normal",
        /// Plans.
        Spec = "spec",
        /// Executes prompts at autonomy level low.
        AutoLow = "auto-low",
        /// Executes prompts at autonomy level medium.
        AutoMedium = "auto-medium",
        /// Executes prompts at autonomy level high.
        AutoHigh = "auto-high",
    }
}

open_enum! {
    /// How much reasoning a model does.
    pub enum ReasoningEffort {
        /// No reasoning effort applies.
        None = "none",
        /// The model decides.
        Dynamic = "dynamic",
        /// No reasoning.
        Off = "off",
        /// The least reasoning that a model with this level does.
        Minimal = "minimal",
        /// Little reasoning.
        Low = "low",
        /// A moderate amount of reasoning.
        Medium = "medium",
        /// Much reasoning.
        High = "high",
        /// More than high. Only some models have this level.
        Xhigh = "xhigh",
        /// As much as the model can do. Only some models have this level.
        Max = "max",
    }
}
