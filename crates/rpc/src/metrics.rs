//! Counters and histograms in the Prometheus text format, kept in atomics.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestOutcome {
    /// The response contains a result.
    Ok,
    /// The response contains an error.
    Error,
}

/// The upper bounds of the latency buckets, in microseconds.
const BOUNDS: [u64; 12] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000,
];

/// Request counts and latencies of one method since the process started.
#[derive(Debug, Default)]
pub struct RouteMetrics {
    ok: AtomicU64,
    error: AtomicU64,
    /// Calls per bucket. A call slower than every bound is counted only in the total.
    buckets: [AtomicU64; BOUNDS.len()],
    micros: AtomicU64,
}

impl RouteMetrics {
    pub(crate) fn record(&self, outcome: RequestOutcome, elapsed: Duration) {
        let counter = match outcome {
            RequestOutcome::Ok => &self.ok,
            RequestOutcome::Error => &self.error,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        if let Some(bucket) = BOUNDS.iter().position(|bound| micros <= *bound) {
            self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn count(&self) -> u64 {
        self.ok.load(Ordering::Relaxed) + self.error.load(Ordering::Relaxed)
    }
}

/// Appends request counts and latencies by method to `page`. Methods without calls are omitted.
pub fn render_routes<'a>(
    page: &mut String,
    routes: impl Iterator<Item = (&'static str, &'a RouteMetrics)>,
) {
    let routes: Vec<_> = routes.filter(|(_, metrics)| metrics.count() > 0).collect();
    page.push_str("# HELP accord_requests_total Requests by method and outcome.\n# TYPE accord_requests_total counter\n");
    for (method, metrics) in &routes {
        for (outcome, counter) in [("ok", &metrics.ok), ("error", &metrics.error)] {
            let value = counter.load(Ordering::Relaxed);
            let _ = writeln!(
                page,
                r#"accord_requests_total{{method="{method}",outcome="{outcome}"}} {value}"#
            );
        }
    }
    page.push_str("# HELP accord_request_seconds Time from parsed request to answer.\n# TYPE accord_request_seconds histogram\n");
    for (method, metrics) in &routes {
        let mut total = 0;
        for (bound, bucket) in BOUNDS.iter().zip(&metrics.buckets) {
            total += bucket.load(Ordering::Relaxed);
            let bound = seconds(*bound);
            let _ = writeln!(
                page,
                r#"accord_request_seconds_bucket{{method="{method}",le="{bound}"}} {total}"#
            );
        }
        let count = metrics.count();
        let sum = seconds(metrics.micros.load(Ordering::Relaxed));
        let _ = writeln!(
            page,
            "accord_request_seconds_bucket{{method=\"{method}\",le=\"+Inf\"}} {count}\n\
             accord_request_seconds_sum{{method=\"{method}\"}} {sum}\n\
             accord_request_seconds_count{{method=\"{method}\"}} {count}"
        );
    }
}

/// Appends a gauge: a value that can go up and down.
pub fn render_gauge(page: &mut String, name: &str, help: &str, value: u64) {
    let _ = writeln!(
        page,
        "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}"
    );
}

/// Appends a counter: a value that only increases.
pub fn render_counter(page: &mut String, name: &str, help: &str, value: u64) {
    let _ = writeln!(
        page,
        "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}"
    );
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a metric needs no more than 52 bits"
)]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative_and_end_with_the_count() {
        let metrics = RouteMetrics::default();
        metrics.record(RequestOutcome::Ok, Duration::from_micros(60));
        metrics.record(RequestOutcome::Error, Duration::from_secs(100));
        let mut page = String::new();
        render_routes(&mut page, [("m", &metrics)].into_iter());
        assert!(page.contains(r#"accord_requests_total{method="m",outcome="ok"} 1"#));
        assert!(page.contains(r#"accord_request_seconds_bucket{method="m",le="0.00005"} 0"#));
        assert!(page.contains(r#"accord_request_seconds_bucket{method="m",le="10"} 1"#));
        assert!(page.contains(r#"accord_request_seconds_bucket{method="m",le="+Inf"} 2"#));
        assert!(page.contains(r#"accord_request_seconds_count{method="m"} 2"#));
    }
}
