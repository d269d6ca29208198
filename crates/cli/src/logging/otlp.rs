//! Export of spans over OTLP (feature `otlp`): a turn, its tool calls and what the log says about them, to an OpenTelemetry collector.
//!
//! Configured by the standard `OTEL_` variables alone, and off unless one of them names an endpoint. The OpenTelemetry crates would add
//! 24 packages and a second HTTP client; what musher needs of them is one JSON document, sent by our own client.

mod config;
mod export;
mod layer;
mod payload;
mod span;

use musher_http::{Client, Timeouts};

pub(super) use config::Config;
pub(super) use export::Exporter;
pub(super) use layer::SpanLayer;

use super::secrets::Secrets;

/// Reads the variables and starts the exporter, unless no endpoint is set.
pub(super) fn start(secrets: Secrets) -> Result<Option<(SpanLayer, Exporter)>, String> {
    let Some(config) = Config::read(&|name| std::env::var(name).ok())? else { return Ok(None) };
    let client = Client::builder()
        .timeouts(Timeouts {
            headers: Some(config.timeout),
            silence: Some(config.timeout),
            ..Timeouts::default()
        })
        .build();
    let (sender, exporter) = export::start(config, client).map_err(|error| error.to_string())?;
    Ok(Some((SpanLayer::new(sender, secrets), exporter)))
}
