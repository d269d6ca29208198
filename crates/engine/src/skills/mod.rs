//! Skills, slash commands and subagents that users keep as files.
