//! What a program needs besides the crate: nothing, and a word about the engine if droid is not installed.

use musher::{Agent, Session, schemars, serde, serde_json};

/// A type for `extract`, with the libraries that the crate exports.
#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "musher::serde")]
#[schemars(crate = "musher::schemars")]
struct Count {
    files: u32,
}

#[test]
fn type_for_extraction_needs_no_other_dependency() {
    let schema = serde_json::to_value(schemars::schema_for!(Count)).unwrap();
    assert_eq!(schema["properties"]["files"]["type"], "integer");
    assert_eq!(serde_json::from_str::<Count>(r#"{"files": 2}"#).unwrap(), Count { files: 2 });
}

#[tokio::test]
async fn error_of_a_missing_droid_names_the_engine() {
    let open = |agent: &str| Session::builder().agent(Agent::program(agent)).cwd("/").open();
    let error = open("/nowhere/droid").await.unwrap_err().to_string();
    assert!(error.contains("`/nowhere/droid`") && error.contains("Agent::engine()"), "{error}");
    let error = open("/nowhere/other").await.unwrap_err().to_string();
    assert!(error.contains("`/nowhere/other`") && !error.contains("Agent::engine()"), "{error}");
}
