//! The setup of Claude Code in a sandbox: a key, the scripted model as its API, and its stream-json command line.

use crate::peers::Installed;
use crate::{Launch, Sandbox};

/// A key without any rights; the agent only checks that it has one.
pub const DUMMY_KEY: &str = "sk-ant-rehearsal";

/// Returns the launch of Claude Code over stream-json; `model_url` is the base URL of the scripted model server.
pub fn launch(sandbox: &Sandbox, claude: &Installed, model_url: &str) -> Launch {
    sandbox
        .launch(claude.entry())
        .args(["-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"])
        .args(["--permission-prompt-tool", "stdio"])
        .env("ANTHROPIC_API_KEY", DUMMY_KEY)
        .env("ANTHROPIC_BASE_URL", model_url)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
}
