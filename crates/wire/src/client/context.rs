//! How full the model's context is.

use crate::object::object;
use crate::{ContextStatsAccuracy, Count, SkillLocation};

object! {
    /// Answer of `get_context_stats`.
    pub struct GetContextStatsResult {
        used: Count = "used",
        remaining: Count = "remaining",
        limit: Count = "limit",
    } optional {
        accuracy: ContextStatsAccuracy = "accuracy",
        updated_at: String = "updatedAt",
    }
}

object! {
    /// Answer of `get_context_breakdown`.
    pub struct GetContextBreakdownResult {
        context_budget: Count = "contextBudget",
        used_tokens: Count = "usedTokens",
        free_tokens: Count = "freeTokens",
    } optional {
        /// The bare name: `fake`, not `custom:fake`.
        model_id: String = "modelId",
        model_display_name: String = "modelDisplayName",
        last_call_compaction_tokens: Count = "lastCallCompactionTokens",
        categories: Vec<ContextCategory> = "categories",
        skills: Vec<ContextPart> = "skills",
        mcp_servers: Vec<ContextMcpServer> = "mcpServers",
        droids: Vec<ContextPart> = "droids",
    }
}

object! {
    /// One kind of content in the context.
    pub struct ContextCategory {
        name: String = "name",
        tokens: Count = "tokens",
    } optional {
        color_key: String = "colorKey",
    }
}

object! {
    /// One skill or subagent in the context.
    pub struct ContextPart {
        name: String = "name",
        tokens: Count = "tokens",
    } optional {
        location: SkillLocation = "location",
    }
}

object! {
    /// The tools of one MCP server in the context.
    pub struct ContextMcpServer {
        name: String = "name",
        tokens: Count = "tokens",
    } optional {
        tool_count: Count = "toolCount",
    }
}
