//! The scripts of the page against the types of the protocol.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use testkit::peers::TYPESCRIPT;

#[tokio::test]
async fn scripts_agree_with_the_types_of_the_protocol() -> Result<()> {
    let modules = testkit::require_peer!(TYPESCRIPT).entry().clone();
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src/console/web").canonicalize()?;
    let sandbox = testkit::Sandbox::new()?;
    let options = json!({
        "compilerOptions": {
            "checkJs": true, "allowJs": true, "noEmit": true, "target": "es2023", "module": "es2022", "moduleResolution": "bundler",
            "lib": ["es2024", "dom", "dom.iterable"], "types": [], "skipLibCheck": true,
        },
        "files": [web.join("main.js")],
    });
    let project = sandbox.temp().join("tsconfig.json");
    fs_err::write(&project, options.to_string())?;
    let launch = sandbox
        .launch("node")
        .arg(modules.join("node_modules/typescript/lib/tsc.js"))
        .args(["--pretty", "false", "-p"])
        .arg(project);
    let ended = sandbox.output(&launch).await?;
    let ours: Vec<_> =
        ended.stdout.iter().filter(|line| line.contains("error TS") && !line.contains("/vendor/")).collect();
    assert!(ours.is_empty(), "{ours:#?}");
    // it has read something
    assert!(
        ended.stdout.iter().any(|line| line.contains("/vendor/")) || ended.status.success(),
        "{:?}",
        ended.stdout
    );
    sandbox.finish().await
}
