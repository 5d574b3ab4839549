//! Metrics in Prometheus text format. A dozen lines of text do not justify an exporter dependency.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::round::Counters;

/// The server's counters of requests and connections.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    responses: Mutex<BTreeMap<u16, u64>>,
    pub(super) failed_authentications: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) refused_connections: AtomicU64,
    pub(super) evicted_connections: AtomicU64,
    pub(super) stalled_connections: AtomicU64,
    pub(super) slow_requests: AtomicU64,
    pub(super) refused_listeners: AtomicU64,
}

impl Metrics {
    pub(super) fn response(&self, status: u16) {
        let mut responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        *responses.entry(status).or_default() += 1;
    }

    /// The metrics as text, with counters of the rounds and gauges from the caller.
    pub(super) fn text(&self, rounds: &Counters, gauges: &[(&str, &str, u64)]) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: &[(String, u64)]| {
            // Writing into a String does not fail.
            let _ =
                writeln!(text, "# HELP equipoise_{name} {help}\n# TYPE equipoise_{name} {kind}");
            for (labels, value) in lines {
                let _ = writeln!(text, "equipoise_{name}{labels} {value}");
            }
        };
        let responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        let by_status: Vec<_> =
            responses.iter().map(|(status, n)| (format!("{{status=\"{status}\"}}"), *n)).collect();
        family("responses_total", "counter", "Responses by status.", &by_status);
        for (name, help, counter) in [
            ("submissions_accepted_total", "Submissions accepted.", &rounds.accepted),
            ("files_rejected_total", "Files that the validator rejected.", &rounds.rejected_files),
            ("body_bytes_total", "Bytes received in request bodies.", &rounds.body_bytes),
            (
                "failed_authentications_total",
                "Requests with a wrong or missing signature or token.",
                &self.failed_authentications,
            ),
            ("connections_total", "Connections accepted.", &self.connections),
            (
                "connections_refused_total",
                "Connections closed at once, because all others run authenticated requests.",
                &self.refused_connections,
            ),
            (
                "connections_evicted_total",
                "Connections closed to make room for others.",
                &self.evicted_connections,
            ),
            (
                "connections_stalled_total",
                "Connections closed because the peer did not read, or too slowly.",
                &self.stalled_connections,
            ),
            (
                "connections_slow_total",
                "Connections closed because a TLS handshake or a request head took too long.",
                &self.slow_requests,
            ),
            (
                "event_listeners_refused_total",
                "Event streams refused because too many are open.",
                &self.refused_listeners,
            ),
        ] {
            family(name, "counter", help, &[(String::new(), counter.load(Ordering::Relaxed))]);
        }
        for (name, help, value) in gauges {
            family(name, "gauge", help, &[(String::new(), *value)]);
        }
        text
    }
}
