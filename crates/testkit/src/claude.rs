//! What Claude Code needs in a sandbox: a key, the scripted model as its API, and the words to start it over stream-json.

use crate::peers::Installed;
use crate::{Launch, Sandbox};

/// A key that opens nothing; the agent only checks that there is one.
pub const DUMMY_KEY: &str = "sk-ant-rehearsal";

/// How to start Claude Code as a line-speaking agent; `model_url` is the base of the scripted model server.
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
