//! The tracing layer that records spans. Events outside of spans are for the log only.

use std::time::SystemTime;

use musher::wire::TraceParent;
use tokio::sync::mpsc;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use uuid::Uuid;

use super::span::{Fields, Span, SpanEvent, Value};
use crate::logging::secrets::Secrets;

/// Records spans, and passes them on when they end.
pub(crate) struct SpanLayer {
    ended: mpsc::Sender<Span>,
    secrets: Secrets,
}

impl SpanLayer {
    pub(super) fn new(ended: mpsc::Sender<Span>, secrets: Secrets) -> Self {
        Self { ended, secrets }
    }
}

impl<S> tracing_subscriber::Layer<S> for SpanLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(new) = context.span(id) else { return };
        let mut fields = Fields::new(&self.secrets);
        attributes.record(&mut fields);
        // the client's trace goes before our own: a turn belongs to the request that began it
        let remote = fields.trace_parent.as_deref().and_then(TraceParent::parse);
        let (trace_id, parent, is_sampled) = if let Some(remote) = &remote {
            (bytes(remote.trace_id()), Some(bytes(remote.parent_id())), remote.is_sampled())
        } else {
            let parent = new.parent();
            let parent = parent.as_ref().map(tracing_subscriber::registry::SpanRef::extensions);
            match parent.as_ref().and_then(|parent| parent.get::<Span>()) {
                Some(parent) => (parent.trace_id, Some(parent.id), parent.is_sampled),
                None => (*Uuid::new_v4().as_bytes(), None, true),
            }
        };
        let now = SystemTime::now();
        let span = Span {
            trace_id,
            id: span_id(),
            parent,
            name: new.name(),
            begin: now,
            end: now,
            attributes: fields.attributes,
            events: Vec::new(),
            dropped_events: 0,
            has_failed: false,
            is_sampled,
        };
        new.extensions_mut().insert(span);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(recorded) = context.span(id) else { return };
        if let Some(span) = recorded.extensions_mut().get_mut::<Span>() {
            let mut fields = Fields::new(&self.secrets);
            values.record(&mut fields);
            span.attributes.append(&mut fields.attributes);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(recorded) = context.event_span(event) else { return };
        if let Some(span) = recorded.extensions_mut().get_mut::<Span>() {
            let mut fields = Fields::new(&self.secrets);
            event.record(&mut fields);
            let level = Value::Text(event.metadata().level().to_string());
            fields.attributes.push(("level", level));
            let name = fields.message.unwrap_or_default();
            span.add(SpanEvent { at: SystemTime::now(), name, attributes: fields.attributes });
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(closed) = context.span(&id) else { return };
        let Some(mut span) = closed.extensions_mut().remove::<Span>() else { return };
        span.end = SystemTime::now();
        // a collector that is too slow loses spans, never time of the agent
        if span.is_sampled {
            self.ended.try_send(span).ok();
        }
    }
}

fn span_id() -> [u8; 8] {
    let mut id = [0; 8];
    id.copy_from_slice(&Uuid::new_v4().as_bytes()[8..]);
    id
}

/// Reads hexadecimal digits that were checked.
fn bytes<const N: usize>(digits: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = std::str::from_utf8(digits)
            .ok()
            .and_then(|it| u8::from_str_radix(it, 16).ok())
            .unwrap_or_default();
    }
    bytes
}
