//! The official Python SDK as a client of the real `droid`, both in one sandbox.

use std::env;

use musher_rehearse::{Reply, Script};
use testkit::peers::{DROID, PYTHON_SDK};
use testkit::{Backend, Sandbox, droid, require_peer};

const CLIENT: &str = r#"
import asyncio
from droid_sdk import run

async def main():
    result = await run("Say hello.", timeout=80)
    print(result.success, result.text)

asyncio.run(main())
"#;

#[tokio::test]
async fn python_sdk_runs_one_prompt_on_the_real_droid() -> anyhow::Result<()> {
    let droid = require_peer!(DROID);
    let python = require_peer!(PYTHON_SDK);
    let sandbox = Sandbox::new()?;
    let backend = Backend::start(&sandbox)?;
    let model = sandbox.model(Script::new().otherwise(Reply::text("Hello from the script.")))?;
    droid::configure(&sandbox, &model.url())?;

    // the SDK searches for `droid` on the path
    let program = droid.entry();
    let mut path = vec![program.parent().unwrap().to_owned()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let client = sandbox.launch(python.entry()).args(["-c", CLIENT]).env("PATH", env::join_paths(path)?);
    let ended = sandbox.output(&droid::with_account(client, &backend)).await?;

    assert_eq!(ended.stdout, ["True Hello from the script."], "{}", ended.stderr);
    drop(backend);
    model.shutdown().await;
    sandbox.finish().await
}
