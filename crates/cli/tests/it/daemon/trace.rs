//! The trace of a client: the turn of its prompt belongs to it, with every agent and also after a restart.

use serde_json::json;

use super::stage::{Stage, script};
use crate::run::otlp::{Collector, named};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[tokio::test]
async fn turn_belongs_to_the_trace_that_its_prompt_names() {
    let collector = Collector::start(&[]);
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let mut stage = Stage::with_variables(script(), &[], &variables);
    let mut client = stage.client().await;
    let session = client.open().await;
    client
        .send(json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": "traced",
            "method": "daemon.add_user_message", "params": {"sessionId": session, "text": "say hello"},
            "_meta": {"traceparent": format!("00-{TRACE}-{CALLER}-01")},
        }))
        .await;
    client.until_idle(&session).await;
    stage.stop();
    let spans = collector.spans();
    let turn = named(&spans, "turn");
    assert_eq!((&turn["traceId"], &turn["parentSpanId"]), (&json!(TRACE), &json!(CALLER)), "{turn:#}");
}
