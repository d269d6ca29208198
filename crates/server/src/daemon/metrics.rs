//! Counters for `GET /metrics`, in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::hub::Hub;

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The upper bounds of the buckets of durations, in milliseconds.
const BUCKETS: [u64; 14] = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000];

/// How often a duration was in which range.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [Counter; BUCKETS.len()],
    count: Counter,
    micros: Counter,
}

impl Histogram {
    pub(crate) fn observe(&self, took: Duration) {
        let millis = took.as_millis();
        if let Some(at) = BUCKETS.iter().position(|bound| millis <= u128::from(*bound)) {
            self.buckets[at].add(1);
        }
        self.count.add(1);
        self.micros.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    fn print(&self, text: &mut String, name: &str, help: &str) {
        let name = format!("musher_{name}_seconds");
        // writing to a string cannot fail
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut below = 0;
        for (bound, bucket) in BUCKETS.iter().zip(&self.buckets) {
            below += bucket.get();
            let seconds = Duration::from_millis(*bound).as_secs_f64();
            let _ = writeln!(text, "{name}_bucket{{le=\"{seconds}\"}} {below}");
        }
        let (count, sum) = (self.count.get(), Duration::from_micros(self.micros.get()).as_secs_f64());
        let _ =
            writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}");
    }
}

/// The counters of a daemon.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) connections: Counter,
    pub(crate) disconnections: Counter,
    pub(crate) refused_upgrades: Counter,
    pub(crate) failed_logins: Counter,
    pub(crate) requests: Counter,
    pub(crate) errors: Counter,
    pub(crate) events: Counter,
    pub(crate) event_bytes: Counter,
    pub(crate) prompts: Counter,
    pub(crate) duplicate_prompts: Counter,
    pub(crate) turns_started: Counter,
    pub(crate) turns_ended: Counter,
    pub(crate) turn_ms: Counter,
    /// From the start of a turn to its end.
    pub(crate) turns: Histogram,
    /// From the delivery of a prompt to the first text of the model.
    pub(crate) first_text: Histogram,
    /// From the arrival of a call to the response of the agent.
    pub(crate) calls: Histogram,
    pub(crate) input_tokens: Counter,
    pub(crate) output_tokens: Counter,
    pub(crate) agents_lost: Counter,
    pub(crate) session_panics: Counter,
}

impl Metrics {
    pub(crate) fn turn_ended(&self, took: Duration) {
        self.turns_ended.add(1);
        self.turns.observe(took);
        self.turn_ms.add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    }
}

/// Prints everything that is measured.
pub(crate) fn print(hub: &Hub) -> String {
    let metrics = &hub.metrics;
    let opened = hub.registry.opened();
    let working = opened.iter().filter(|(_, info)| info.is_working()).count() as u64;
    let connected = metrics.connections.get().saturating_sub(metrics.disconnections.get());
    let mut text = String::new();
    let mut number = |kind: &str, name: &str, help: &str, value: u64| {
        // writing to a string cannot fail
        let _ =
            write!(text, "# HELP musher_{name} {help}\n# TYPE musher_{name} {kind}\nmusher_{name} {value}\n");
    };
    number("gauge", "connections", "Connected clients.", connected);
    number("gauge", "sessions", "Sessions with an agent.", opened.len() as u64);
    number("gauge", "sessions_working", "Sessions whose agent works.", working);
    number("gauge", "inbox_items", "Requests that wait for a person.", hub.questions.count() as u64);
    let (prompts, turns) = hub.registry.waiting();
    number("gauge", "prompts_waiting", "Accepted prompts whose turn has not begun.", prompts);
    number("gauge", "turns_waiting", "Sessions that wait for the right to run a turn.", turns);
    let queued = hub.queued_bytes() as u64;
    number("gauge", "send_queue_bytes", "Bytes that wait to be sent to clients.", queued);
    let free = hub.turns.available_permits() as u64;
    number("gauge", "turns_free", "Turns that can start at once.", free);
    let counters = [
        ("connections_total", "Accepted connections.", &metrics.connections),
        ("upgrades_refused_total", "Connections refused before the upgrade.", &metrics.refused_upgrades),
        ("logins_failed_total", "Attempts with a wrong credential.", &metrics.failed_logins),
        ("requests_total", "Requests of clients.", &metrics.requests),
        ("errors_total", "Requests answered with an error.", &metrics.errors),
        ("events_total", "Events written to journals.", &metrics.events),
        ("event_bytes_total", "Bytes of events written to journals.", &metrics.event_bytes),
        ("prompts_total", "Accepted prompts.", &metrics.prompts),
        ("prompts_duplicate_total", "Prompts that were sent again.", &metrics.duplicate_prompts),
        ("turns_started_total", "Started turns.", &metrics.turns_started),
        ("turns_total", "Ended turns.", &metrics.turns_ended),
        ("turn_milliseconds_total", "Time of all ended turns.", &metrics.turn_ms),
        ("input_tokens_total", "Input tokens of all ended turns.", &metrics.input_tokens),
        ("output_tokens_total", "Output tokens of all ended turns.", &metrics.output_tokens),
        ("agents_lost_total", "Agents that ended unexpectedly.", &metrics.agents_lost),
        ("session_panics_total", "Sessions that failed inside the daemon.", &metrics.session_panics),
    ];
    for (name, help, counter) in counters {
        number("counter", name, help, counter.get());
    }
    metrics.turns.print(&mut text, "turn_duration", "Time of turns.");
    let help = "Time from the delivery of a prompt to the first text of the model.";
    metrics.first_text.print(&mut text, "first_text", help);
    metrics.calls.print(&mut text, "call", "Time from a call of a client to the response of its agent.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_in_its_bucket_and_all_larger_ones() {
        let histogram = Histogram::default();
        for millis in [5, 6, 1_000_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let mut text = String::new();
        histogram.print(&mut text, "x", "Help.");
        for line in [
            "# TYPE musher_x_seconds histogram",
            "musher_x_seconds_bucket{le=\"0.005\"} 1",
            "musher_x_seconds_bucket{le=\"0.01\"} 2",
            "musher_x_seconds_bucket{le=\"300\"} 2",
            "musher_x_seconds_bucket{le=\"+Inf\"} 3",
            "musher_x_seconds_sum 1000.011",
            "musher_x_seconds_count 3",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}:\n{text}");
        }
    }
}
