//! Usage of the model's context window.

use crate::object::object;
use crate::{ContextStatsAccuracy, Count, SkillLocation};

object! {
    /// Result of `get_context_stats`.
    pub struct GetContextStatsResult {
        /// Tokens in the context.
        used: Count = "used",
        /// Tokens left until the limit.
        remaining: Count = "remaining",
        /// Size of the context window in tokens.
        limit: Count = "limit",
    } optional {
        /// Whether the numbers are exact or estimated.
        accuracy: ContextStatsAccuracy = "accuracy",
        /// Time of the measurement (ISO 8601).
        updated_at: String = "updatedAt",
    }
}

object! {
    /// Result of `get_context_breakdown`.
    pub struct GetContextBreakdownResult {
        /// Size of the context window in tokens.
        context_budget: Count = "contextBudget",
        /// Tokens in the context.
        used_tokens: Count = "usedTokens",
        /// Tokens left until the budget.
        free_tokens: Count = "freeTokens",
    } optional {
        /// Id of the model without prefix: `fake`, not `custom:fake`.
        model_id: String = "modelId",
        /// Name of the model for display.
        model_display_name: String = "modelDisplayName",
        /// Meaning not documented; seen in captures next to the token counts of the latest model call.
        last_call_compaction_tokens: Count = "lastCallCompactionTokens",
        /// Tokens by kind of content.
        categories: Vec<ContextCategory> = "categories",
        /// Tokens by skill.
        skills: Vec<ContextPart> = "skills",
        /// Tokens by MCP server.
        mcp_servers: Vec<ContextMcpServer> = "mcpServers",
        /// Tokens by subagent definition.
        droids: Vec<ContextPart> = "droids",
    }
}

object! {
    /// Tokens of one kind of content in the context.
    pub struct ContextCategory {
        /// Name for display.
        name: String = "name",
        /// Number of tokens.
        tokens: Count = "tokens",
    } optional {
        /// Stable key of the category, such as `systemPrompt` or `messages`.
        color_key: String = "colorKey",
    }
}

object! {
    /// Tokens of one skill or subagent definition in the context.
    pub struct ContextPart {
        /// Name of the skill or subagent.
        name: String = "name",
        /// Number of tokens.
        tokens: Count = "tokens",
    } optional {
        /// Where the skill or subagent is defined.
        location: SkillLocation = "location",
    }
}

object! {
    /// Tokens of the tools of one MCP server in the context.
    pub struct ContextMcpServer {
        /// Name of the MCP server.
        name: String = "name",
        /// Number of tokens.
        tokens: Count = "tokens",
    } optional {
        /// Number of tools that the server provides.
        tool_count: Count = "toolCount",
    }
}
