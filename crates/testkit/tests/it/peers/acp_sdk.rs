//! The TypeScript SDK of the Agent Client Protocol loads in Node.js and speaks the protocol version that musher serves.

use testkit::peers::ACP_SDK;
use testkit::{Sandbox, require_peer};

#[tokio::test]
async fn acp_sdk_speaks_protocol_version_one() -> anyhow::Result<()> {
    let sdk = require_peer!(ACP_SDK);
    let sandbox = Sandbox::new()?;
    let print = "import * as acp from '@agentclientprotocol/sdk'; \
                 console.log(acp.PROTOCOL_VERSION, typeof acp.client, typeof acp.ndJsonStream)";
    let node = sandbox.launch("node").args(["--input-type=module", "--eval", print]).cwd(sdk.entry());
    let ended = sandbox.output(&node).await?;
    assert_eq!(ended.stdout, ["1 function function"], "{}", ended.stderr);
    sandbox.finish().await
}
