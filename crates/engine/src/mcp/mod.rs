//! Clients of MCP servers: started, watched, asked and stopped.
