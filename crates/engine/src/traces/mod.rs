//! Traces for OpenTelemetry, computed from the journal. A run that has ended becomes one trace.
//!
//! `spans` turns the events of a run into spans. Spans contain no texts, arguments or results, and equal events always
//! give equal spans. `otlp` encodes spans as OTLP messages. `queue` lists the runs whose traces are not exported yet,
//! and `waiting` stores this list across restarts. [`Traces`] sends traces, and retries failed requests. If the
//! collector is down, runs are not affected.

mod headers;
mod limits;
mod otlp;
mod queue;
mod send;
mod spans;
mod waiting;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use holdshort_core::envelope::Chain;
use holdshort_core::event;
use holdshort_core::id::{RunId, StreamId};
use holdshort_store::Journal;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

pub use headers::{Malformed, headers};
pub use queue::TraceQueue;

use crate::{Clock, Driver, Executor};
use limits::{EXPORT_LAST_TIME, EXPORT_PAUSE, EXPORT_PAUSE_MOST, EXPORT_SPANS, EXPORT_TIME, TRACES_AT_ONCE};
use queue::Dropped;
use send::{Failure, send};
use spans::{Builder, Trace};
use waiting::EndedRun;

/// Number of events of a run that are read at a time.
const PAGE: usize = 500;

/// Settings of the collector that receives the traces.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Base URL of the collector, such as `http://localhost:4318`.
    pub endpoint: Url,
    /// Credentials for the collector, marked as sensitive.
    pub headers: HeaderMap,
    /// Name that distinguishes this server from the other nodes in traces.
    pub node: Option<String>,
}

/// Reason why traces cannot be exported. The server does not start if there is such a reason.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the file of waiting traces cannot be opened in the data folder: {0}")]
    Waiting(#[from] io::Error),
    #[error("the HTTP client for the trace collector cannot be created: {0}")]
    Client(#[source] reqwest::Error),
}

pub struct Traces {
    http: Client,
    /// URL of the collector to which traces are posted.
    endpoint: Url,
    node: Option<String>,
    queue: Arc<TraceQueue>,
    /// True if the last request to the collector failed.
    is_down: AtomicBool,
    registry: Registry,
    told: Counter,
    failed: Counter,
    left: Gauge,
}

impl std::fmt::Debug for Traces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traces").field("waiting", &self.queue.len()).finish_non_exhaustive()
    }
}

impl Traces {
    pub fn new(settings: Settings) -> Result<Arc<Self>, Error> {
        let Settings { endpoint, headers, node } = settings;
        let http = holdshort_http::client()
            .default_headers(headers)
            .redirect(Policy::none())
            .timeout(EXPORT_TIME)
            .build()
            .map_err(Error::Client)?;
        let mut registry = Registry::with_prefix("holdshort");
        let (told, failed, left) = (Counter::default(), Counter::default(), Gauge::default());
        let dropped = Dropped::default();
        registry.register("traces_exported", "Traces accepted by a collector", told.clone());
        registry.register("trace_export_failures", "Failed requests to a collector", failed.clone());
        registry.register("traces_dropped", "Traces dropped without export, by reason", dropped.clone());
        registry.register("traces_waiting", "Traces waiting for a collector", left.clone());
        let queue = Arc::new(TraceQueue::new(dropped));
        let (endpoint, is_down) = (posted_to(endpoint), AtomicBool::new(false));
        Ok(Arc::new(Self { http, endpoint, node, queue, is_down, registry, told, failed, left }))
    }

    /// Returns the queue to which a driver adds the runs that have ended.
    pub fn queue(&self) -> &Arc<TraceQueue> {
        &self.queue
    }

    /// From this call on, stores the list of waiting traces in the data folder. Call it after this server has locked
    /// the folder.
    pub fn keep_in(&self, folder: &Path) -> Result<(), Error> {
        Ok(self.queue.keep_in(folder)?)
    }

    /// Returns the registry with the metrics about traces.
    pub fn registry(&self) -> &Registry {
        self.left.set(i64::try_from(self.queue.len()).unwrap_or(i64::MAX));
        &self.registry
    }

    /// Exports traces until the future is dropped.
    pub async fn keep_exporting<J: Journal, C: Clock, E: Executor>(
        self: Arc<Self>,
        driver: Arc<Driver<J, C, E>>,
    ) {
        let mut pause = EXPORT_PAUSE;
        loop {
            let ended = self.queue.first(TRACES_AT_ONCE);
            if ended.is_empty() {
                self.queue.changed().await;
                continue;
            }
            let told = Box::pin(self.export(&*driver, &ended)).await;
            self.is_down.store(told.is_err(), Ordering::Release);
            match told {
                Ok(told) => {
                    self.told.inc_by(told);
                    pause = EXPORT_PAUSE;
                    self.queue.settle(&ended);
                }
                Err(Failure::Never(why)) => {
                    tracing::warn!(why, runs = ended.len(), "traces are dropped");
                    self.failed.inc();
                    self.queue.drop_some("refused", ended.len());
                    self.queue.settle(&ended);
                }
                Err(Failure::Later { why, after }) => {
                    self.failed.inc();
                    // If a collector requests a longer delay, it is shortened. If the request then comes too early, the
                    // collector repeats the same response.
                    let wait = after.map_or(pause, |after| after.clamp(pause, EXPORT_PAUSE_MOST));
                    tracing::warn!(
                        why,
                        wait_s = wait.as_secs(),
                        "the export of traces failed and is retried"
                    );
                    driver.clock().sleep(jittered(wait)).await;
                    pause = (pause * 2).min(EXPORT_PAUSE_MOST);
                }
            }
        }
    }

    /// Waits until all traces are exported, but only for a short time. Returns at once if the collector is down. The
    /// remaining traces are exported after the next start of the server.
    pub async fn drained(&self) {
        const LOOK: Duration = Duration::from_millis(20);
        let drained = async {
            while self.queue.len() > 0 && !self.is_down.load(Ordering::Acquire) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(EXPORT_LAST_TIME, drained).await;
    }

    /// Exports traces. Returns the number of exported traces.
    async fn export<J: Journal, C: Clock, E: Executor>(
        &self,
        driver: &Driver<J, C, E>,
        ended: &[EndedRun],
    ) -> Result<u64, Failure> {
        let mut traces = Vec::new();
        for EndedRun { run, .. } in ended {
            match read(driver, run).await {
                Ok(trace) => traces.extend(trace),
                Err(crate::Error::Store(error)) => {
                    return Err(Failure::Later { why: error.to_string(), after: None });
                }
                Err(error) => {
                    tracing::warn!(%run, %error, "a run cannot be exported as a trace");
                    self.queue.drop_some("unreadable", 1);
                }
            }
        }
        let count = traces.len() as u64;
        for spans in otlp::spans(traces).chunks(EXPORT_SPANS) {
            let body = otlp::request(spans, self.node.as_deref());
            match send(&self.http, &self.endpoint, body).await? {
                0 => {}
                rejected => tracing::warn!(rejected, "the collector rejected some spans"),
            }
        }
        Ok(count)
    }
}

/// Returns the trace of a run. Returns `None` if the run has not ended.
async fn read<J: Journal, C: Clock, E: Executor>(
    driver: &Driver<J, C, E>,
    run: &RunId,
) -> Result<Option<Trace>, crate::Error> {
    let stream = StreamId::Run(run.clone());
    let (mut chain, mut builder) = (Chain::START, Builder::new(run));
    loop {
        let page = driver.journal().read(&stream, chain.seq, PAGE).await?;
        let is_last = page.len() < PAGE;
        for sealed in &page {
            let event = event::open(sealed, &mut chain)
                .map_err(|source| crate::Error::Damaged { run: run.to_string(), source })?;
            builder.apply(chain.seq, &event);
        }
        if is_last {
            return Ok(builder.trace());
        }
    }
}

/// Returns the URL for traces, which is derived from the base URL (OTLP exporter, "Endpoint URLs for OTLP/HTTP").
fn posted_to(mut endpoint: Url) -> Url {
    const PATH: &str = "/v1/traces";
    let base = endpoint.path().trim_end_matches('/').to_owned();
    if !base.ends_with(PATH) {
        endpoint.set_path(&format!("{base}{PATH}"));
    }
    endpoint
}

/// Shortens a delay by a random part of up to a quarter. Without this, all nodes would retry at the same moment after
/// the collector was down.
fn jittered(wait: Duration) -> Duration {
    let spread = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos() % 250);
    wait * (1_000 - spread) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_posted_below_the_base() {
        for (base, expected) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            ("https://otel.example/otlp/", "https://otel.example/otlp/v1/traces"),
            ("https://otel.example/otlp/v1/traces", "https://otel.example/otlp/v1/traces"),
        ] {
            assert_eq!(posted_to(Url::parse(base).unwrap()).as_str(), expected);
        }
    }
}
