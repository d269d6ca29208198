//! The scripts of the page against the types of the protocol.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use testkit::Sandbox;
use testkit::peers::TYPESCRIPT;

/// Fields that the page reads or sends, of each part of the protocol.
const USED: [&str; 12] = [
    "availableFiles",
    "availableModels",
    "\"musher.costUsd\"",
    "newSessionId",
    "newState",
    "queuedMessages",
    "reasoningEffort",
    "resolvedPath",
    "selectedOption",
    "supportedReasoningEfforts",
    "textDelta",
    "toolUseId",
];

#[tokio::test]
async fn scripts_agree_with_the_types_of_the_protocol() -> Result<()> {
    let typescript = testkit::require_peer!(TYPESCRIPT).entry();
    let sandbox = Sandbox::new()?;
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src/console/web").canonicalize()?;
    let problems = check(&sandbox, &typescript, &web).await?;
    assert!(problems.is_empty(), "{problems:#?}");
    sandbox.finish().await
}

#[tokio::test]
async fn renamed_field_of_the_protocol_is_a_problem_of_the_scripts() -> Result<()> {
    let typescript = testkit::require_peer!(TYPESCRIPT).entry();
    let sandbox = Sandbox::new()?;
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src/console/web").canonicalize()?;
    let copy = sandbox.temp().join("web");
    let ended = sandbox
        .output(&sandbox.launch("cp").args(["-r", &web.to_string_lossy(), &copy.to_string_lossy()]))
        .await?;
    assert!(ended.status.success(), "{}", ended.stderr);
    let mut types = fs_err::read_to_string(copy.join("types.d.ts"))?;
    for field in USED {
        assert!(
            types.contains(&format!("  {field}?: ")) || types.contains(&format!("  {field}: ")),
            "{field}"
        );
        let renamed = format!("\"renamed.{}\"", field.trim_matches('"'));
        types = types.replace(&format!("  {field}?: "), &format!("  {renamed}?: "));
        types = types.replace(&format!("  {field}: "), &format!("  {renamed}: "));
    }
    fs_err::write(copy.join("types.d.ts"), types)?;
    let problems = check(&sandbox, &typescript, &copy).await?;
    for field in USED {
        let name = field.trim_matches('"');
        assert!(problems.iter().any(|line| line.contains(&format!("'{name}'"))), "{name}: {problems:#?}");
    }
    sandbox.finish().await
}

/// Returns what TypeScript's checker says about the scripts of the page.
async fn check(sandbox: &Sandbox, typescript: &Path, web: &Path) -> Result<Vec<String>> {
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
        .arg(typescript.join("node_modules/typescript/lib/tsc.js"))
        .args(["--pretty", "false", "-p"])
        .arg(project);
    let ended = sandbox.output(&launch).await?;
    // it has read something
    assert!(
        ended.stdout.iter().any(|line| line.contains("/vendor/")) || ended.status.success(),
        "{:?}",
        ended.stdout
    );
    let ours =
        ended.stdout.into_iter().filter(|line| line.contains("error TS") && !line.contains("/vendor/"));
    Ok(ours.collect())
}
