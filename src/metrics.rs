//! What the hub counts about itself, in the text format of Prometheus.

use prometheus::{
    Encoder, Gauge, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder,
};

/// One registry for each hub, so that two hubs in one process do not count for each other.
pub struct Metrics {
    registry: Registry,
    pub requests: IntCounterVec,
    pub request_seconds: HistogramVec,
    pub errors_total: IntCounter,
    pub internal_errors: IntCounter,
    pub busy_refusals: IntCounter,
    pub messages: IntCounterVec,
    pub read_seconds: Histogram,
    pub commit_commands: Histogram,
    pub commit_seconds: Histogram,
    pub bcrypt_verifications: IntCounter,
    pub identity_lookups: IntCounterVec,
    pub write_queue_length: IntGauge,
    pub body_memory: IntGauge,
    pub answer_memory: IntGauge,
    pub active_agents: IntGauge,
    pub traces_total: IntCounter,
    pub traces_by_action: IntCounterVec,
    pub traces_dropped: IntCounter,
    pub trace_batch_size: Histogram,
    pub streams: IntGauge,
    pub stream_chunks: IntCounter,
    pub streams_lagged: IntCounter,
    pub events_skipped: IntCounter,
    pub event_lag_seconds: Gauge,
    pub registry_reloads: IntCounterVec,
    pub registry_faulty: IntGauge,
    pub machine_requests: IntCounterVec,
    pub machine_events: IntCounterVec,
    pub machine_components: IntGaugeVec,
    pub webhook_attempts: IntCounterVec,
    pub webhook_deliveries: IntGaugeVec,
    pub search_texts: IntCounter,
    pub runs: IntCounterVec,
    pub runs_begun: IntCounter,
    pub runs_active: IntGaugeVec,
}

impl Metrics {
    pub fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        macro_rules! registered {
            ($metric:expr) => {{
                let metric = $metric?;
                registry.register(Box::new(metric.clone()))?;
                metric
            }};
        }
        Ok(Self {
            requests: registered!(IntCounterVec::new(
                Opts::new("stoa_requests_total", "Requests by method and status"),
                &["method", "status"]
            )),
            request_seconds: registered!(HistogramVec::new(
                HistogramOpts::new("stoa_request_seconds", "Time to answer a request")
                    .buckets(prometheus::exponential_buckets(0.000_25, 2.0, 16)?),
                &["method"]
            )),
            errors_total: registered!(IntCounter::new("errors_total", "Calls that were refused or failed")),
            internal_errors: registered!(IntCounter::new(
                "stoa_internal_errors_total",
                "Requests that failed inside the hub"
            )),
            busy_refusals: registered!(IntCounter::new(
                "stoa_busy_refusals_total",
                "Requests that were refused because the caller, or all callers together, had too much in memory"
            )),
            messages: registered!(IntCounterVec::new(
                Opts::new("stoa_messages_total", "Messages sent through this hub, by where they went"),
                &["kind"]
            )),
            read_seconds: registered!(Histogram::with_opts(
                HistogramOpts::new("stoa_read_seconds", "Time of one read of the database, with its wait")
                    .buckets(prometheus::exponential_buckets(0.000_05, 2.0, 16)?)
            )),
            commit_commands: registered!(Histogram::with_opts(
                HistogramOpts::new("stoa_commit_commands", "Commands in one commit")
                    .buckets(prometheus::exponential_buckets(1.0, 2.0, 9)?)
            )),
            commit_seconds: registered!(Histogram::with_opts(
                HistogramOpts::new("stoa_commit_seconds", "Time of one commit, from its first statement to its sync")
                    .buckets(prometheus::exponential_buckets(0.000_1, 2.0, 16)?)
            )),
            bcrypt_verifications: registered!(IntCounter::new("stoa_bcrypt_verifications_total", "Passwords compared")),
            identity_lookups: registered!(IntCounterVec::new(
                Opts::new("stoa_identity_lookups_total", "Credentials checked, by where the answer came from"),
                &["source"]
            )),
            write_queue_length: registered!(IntGauge::new(
                "stoa_write_queue_length",
                "Commands waiting for the database's writer"
            )),
            body_memory: registered!(IntGauge::new(
                "stoa_body_memory_bytes",
                "Bytes of request bodies in memory that count for the limit"
            )),
            answer_memory: registered!(IntGauge::new(
                "stoa_answer_memory_bytes",
                "Bytes of answers in memory that clients have not read yet"
            )),
            active_agents: registered!(IntGauge::new("active_agents", "Agents seen in the last 5 minutes")),
            traces_total: registered!(IntCounter::new("traces_total", "Traces, with those that were lost")),
            traces_by_action: registered!(IntCounterVec::new(
                Opts::new("traces_by_action", "Traces by what was done"),
                &["action"]
            )),
            traces_dropped: registered!(IntCounter::new(
                "stoa_traces_dropped_total",
                "Traces that were lost: too many at once, or the database was away"
            )),
            trace_batch_size: registered!(Histogram::with_opts(
                HistogramOpts::new("stoa_trace_batch_size", "Traces written together")
                    .buckets(prometheus::exponential_buckets(1.0, 2.0, 7)?)
            )),
            streams: registered!(IntGauge::new("stoa_streams", "Event streams that are open")),
            stream_chunks: registered!(IntCounter::new(
                "stoa_stream_deliveries_total",
                "Events put into the queues of streams, each stream counted"
            )),
            streams_lagged: registered!(IntCounter::new(
                "stoa_streams_lagged_total",
                "Streams that were closed because their client read too slowly"
            )),
            events_skipped: registered!(IntCounter::new(
                "stoa_events_skipped_total",
                "Events that this hub could not read for those who stream or wait here, because a newer version wrote them or they are damaged"
            )),
            event_lag_seconds: registered!(Gauge::new(
                "stoa_event_lag_seconds",
                "For how long this hub has not seen all events: its streams are that late"
            )),
            registry_reloads: registered!(IntCounterVec::new(
                Opts::new("stoa_registry_reloads_total", "Times that a changed registry was loaded or refused"),
                &["outcome"]
            )),
            registry_faulty: registered!(IntGauge::new(
                "stoa_registry_faulty",
                "1 while the files of the registry are invalid and the previous registry stays active"
            )),
            machine_requests: registered!(IntCounterVec::new(
                Opts::new("stoa_machine_requests_total", "Signed requests: accepted, or why they were refused"),
                &["outcome"]
            )),
            machine_events: registered!(IntCounterVec::new(
                Opts::new("stoa_machine_events_total", "Events of machine principals, by what was done with them"),
                &["status"]
            )),
            machine_components: registered!(IntGaugeVec::new(
                Opts::new(
                    "stoa_machine_components",
                    "Components of machine principals by what they said last, or stale after 90 seconds"
                ),
                &["status"]
            )),
            webhook_attempts: registered!(IntCounterVec::new(
                Opts::new(
                    "stoa_webhook_attempts_total",
                    "Requests to webhooks: delivered, refused, or failed without an answer"
                ),
                &["outcome"]
            )),
            webhook_deliveries: registered!(IntGaugeVec::new(
                Opts::new("stoa_webhook_deliveries", "Deliveries to webhooks that are stored, by their status"),
                &["status"]
            )),
            search_texts: registered!(IntCounter::new(
                "stoa_search_texts_total",
                "Texts of messages that this hub has split into words for the search index"
            )),
            runs: registered!(IntCounterVec::new(
                Opts::new("stoa_runs_total", "Runs of agents that this hub has ended, by their status"),
                &["status"]
            )),
            runs_begun: registered!(IntCounter::new("stoa_runs_begun_total", "Runs of agents that this hub has begun")),
            runs_active: registered!(IntGaugeVec::new(
                Opts::new("stoa_runs_active", "Runs of agents that are queued or running, on all hubs"),
                &["status"]
            )),
            registry,
        })
    }

    pub fn render(&self) -> Result<String, prometheus::Error> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        String::from_utf8(text).map_err(|error| prometheus::Error::Msg(error.to_string()))
    }
}
