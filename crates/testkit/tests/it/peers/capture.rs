//! The scenario that ships with `cargo xtask capture`, recorded from the real `droid`.

use std::path::Path;

use serde_json::json;
use testkit::capture::{Scenario, matches, record};
use testkit::peers::DROID;
use testkit::rehearse::Script;
use testkit::{droid, require_peer};

#[tokio::test]
async fn shipped_scenario_gives_a_capture_without_local_names() -> anyhow::Result<()> {
    let droid = require_peer!(DROID);
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/scenarios");
    let script = Script::read(&scenarios.join("tool_permission.script.yaml"))?;
    let scenario: Scenario = serde_json::from_slice(&fs_err::read(scenarios.join("tool_permission.json"))?)?;
    let records = record(&droid, script, &scenario).await?;

    let answered = json!({"type": "response", "result": {"selectedOption": "proceed_once"}});
    assert!(
        records.iter().any(|record| matches(&answered, &record.msg)),
        "a permission was asked for and given"
    );
    assert!(records.is_sorted_by(|a, b| a.t <= b.t), "times only grow");
    let text = serde_json::to_string(&records)?;
    assert!(text.contains(r#""cwd":"/workspace""#));
    for secret in ["musher-sandbox", droid::DUMMY_KEY, env!("CARGO_MANIFEST_DIR")] {
        assert!(!text.contains(secret), "{secret} stayed in the capture");
    }
    Ok(())
}
