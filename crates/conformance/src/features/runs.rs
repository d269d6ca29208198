//! One-shot runs, and answers in a given form.

use anyhow::Result;
use musher::wire::AgentTurnCompletionReason as Reason;
use musher::{ErrorKind, FailureKind, TurnEnd, run};
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use crate::Target;
use crate::stage::on;

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Picked {
    number: i64,
}

pub(crate) async fn a_run_gives_one_result_and_leaves_nothing(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("Four.").when(on("2 + 2", 1)))
        .reply(Reply::text("{\"number\": 7}").when(on("Pick", 1)));
    let stage = target.stage(script)?;
    let result = run("What is 2 + 2?").session(|_| stage.session()).await?;
    assert_eq!((&result.end, result.text.as_str(), result.steps), (&TurnEnd::Completed, "Four.", 1));
    assert_eq!((result.subtype(), result.is_error()), ("success", false));
    assert!(result.usage.is_some_and(|usage| usage.output_tokens > 0));
    assert!(!result.duration.is_zero());
    assert!(stage.sandbox().processes().is_empty(), "the agent is gone when the result is there");

    let schema = schemars::schema_for!(Picked).to_value();
    let result = run("Pick a number.").session(|_| stage.session()).output_schema(schema).await?;
    assert_eq!(result.read_output::<Picked>()?, Picked { number: 7 });
    stage.finish().await
}

pub(crate) async fn answers_become_values_and_mismatches_are_kept_in_the_error(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(Reply::text("{\"number\": 7}").when(on("Pick well", 1)))
        // droid itself asks three times before it gives up; then it is our turn to ask again
        .reply(Reply::text("no json here").when(on("Pick late", 1)).times(3))
        .reply(Reply::text("{\"number\": 8}").when(when().with_tools().prompt("could not be used")))
        .reply(Reply::text("no json here").when(when().with_tools()));
    let stage = target.stage(script)?;
    let session = stage.session().open().await?;
    assert_eq!(session.extract::<Picked>("Pick well.").await?, Picked { number: 7 });

    let before = stage.asked().len();
    let result = session.send("Pick badly.").output_schema(json!({"type": "object"})).await?;
    let failed = FailureKind::StructuredOutput(Reason::StructuredOutputInvalid);
    assert_eq!((&result.end, result.subtype()), (&TurnEnd::Failed(failed), "error_structured_output"));
    assert_eq!(result.structured_output, None);
    assert_eq!(stage.asked().len() - before, 3, "the agent tried three times");
    let error = result.ok().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Output { raw: "no json here".to_owned() }, "{error}");

    let error = session.extract::<Picked>("Pick badly.").retries(0).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Output { raw: "no json here".to_owned() }, "{error}");
    session.close().await?;

    // a session of its own: the former failures must not be part of the conversation
    let session = stage.session().open().await?;
    assert_eq!(session.extract::<Picked>("Pick late.").retries(1).await?, Picked { number: 8 });
    session.close().await?;
    stage.finish().await
}

pub(crate) async fn a_bad_schema_is_refused_before_anything_is_sent(target: &dyn Target) -> Result<()> {
    let stage = target.stage(Script::new())?;
    let session = stage.session().open().await?;
    for schema in [json!("text"), json!({"type": "array"}), json!({"type": "strin"})] {
        let error = session.send("Pick.").output_schema(schema.clone()).await.unwrap_err();
        assert!(error.is_invalid_input(), "{schema}: {error}");
    }
    let schema = json!({"type": "object", "properties": {"number": {"type": "nonsense"}}});
    let error = session.send("Pick.").output_schema(schema).await.unwrap_err();
    assert!(error.with_causes().to_string().contains("`/properties/number/type`"), "{error}");
    // the agent finds the errors that the SDK does not, without a request to the model
    let schema = json!({"type": "object", "properties": {"number": {"type": "string", "pattern": "("}}});
    let result = session.send("Pick.").output_schema(schema).await?;
    let failed = FailureKind::StructuredOutput(Reason::StructuredOutputSchemaInvalid);
    assert_eq!(result.end, TurnEnd::Failed(failed));
    assert_eq!(stage.asked().len(), 0);
    session.close().await?;
    stage.finish().await
}
