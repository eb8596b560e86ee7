//! `/metrics` in OpenMetrics 1.0: counters of this server, and gauges of the journal.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use holdshort_core::delivery::DeliveryState;
use holdshort_core::projection::Status;
use holdshort_engine::Clock;
use holdshort_engine::metrics::{WAITS, seconds};
use holdshort_store::{DeliveryFilter, InterruptFilter, Leases, Outbox, RunFilter, Tables};
use holdshort_web::auth::Caller;
use holdshort_web::limits::{METRICS_PAGE, METRICS_ROWS, POLLS, STREAMS};
use holdshort_web::problem::Answer;
use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::openapi::Reads;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Gauges<const N: usize> = Family<[(&'static str, String); N], Gauge>;

/// Read the metrics of the server.
///
/// Counters count the work of this server since its start. For totals of the whole installation, add the counters of
/// all nodes. Most gauges describe the current journal, and are the same on each node. The gauges of leases, streams,
/// long polls and waiting writes describe this server. Gauges count at most 10,000 open interrupts, live runs and
/// deliveries.
#[utoipa::path(
    get, path = "/metrics", tag = "system", operation_id = "measure",
    responses((status = 200, description = "OpenMetrics", body = String, content_type = "application/openmetrics-text"), Reads)
)]
pub(crate) async fn measure(caller: Caller) -> Answer<Response> {
    let app = &caller.app;
    let mut now = Registry::with_prefix("holdshort");
    let (open, by_age, runs) = (Gauges::<1>::default(), Gauges::<1>::default(), Gauges::<1>::default());
    let (nodes, leases) = (Gauge::<i64>::default(), Gauge::<i64>::default());
    let (streams, polls) = (Gauge::<i64>::default(), Gauge::<i64>::default());
    now.register("interrupts_open", "Open interrupts, by kind", open.clone());
    now.register(
        "interrupts_open_older_than",
        "Interrupts that have been open for longer than this number of seconds",
        by_age.clone(),
    );
    now.register("runs", "Runs that have not ended, by status", runs.clone());
    let deliveries = Gauge::<i64>::default();
    now.register("deliveries_waiting", "Deliveries to channels that wait to be sent", deliveries.clone());
    now.register("nodes", "Live nodes", nodes.clone());
    now.register("leases", "Runs that this node executes", leases.clone());
    now.register("streams", "Open streams and sockets of this node", streams.clone());
    now.register("long_polls", "Open long polls of this node", polls.clone());

    let (journal, at) = (app.journal(), app.driver.clock().now());
    // The queue is measured first, because the reads of this request change it.
    if let Some(waiting) = journal.writes_waiting() {
        let writes = Gauge::<i64>::default();
        writes.set(i64::try_from(waiting).unwrap_or(i64::MAX));
        now.register("writes_waiting", "Jobs in the queue of the journal's writer", writes);
    }
    for age in WAITS {
        drop(by_age.get_or_create(&[("seconds", age.to_string())]));
    }
    let filter = InterruptFilter { open: Some(true), ..InterruptFilter::default() };
    let (mut after, mut rows) = (None, 0);
    while rows < METRICS_ROWS {
        let page = journal.interrupts(&filter, after.as_ref(), METRICS_PAGE).await?;
        for row in &page.items {
            open.get_or_create(&[("kind", row.kind.as_str().to_owned())]).inc();
            let waited = seconds(at.as_millis().saturating_sub(row.created_at.as_millis()));
            for age in WAITS.into_iter().filter(|age| waited > *age) {
                by_age.get_or_create(&[("seconds", age.to_string())]).inc();
            }
        }
        rows += page.items.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    for status in Status::ALL.into_iter().filter(|status| !status.is_terminal()) {
        let gauge = runs.get_or_create(&[("status", status.as_str().to_owned())]).clone();
        let filter = RunFilter { status: Some(status), ..RunFilter::default() };
        let (mut after, mut rows) = (None, 0);
        while rows < METRICS_ROWS {
            let page = journal.runs(&filter, after.as_ref(), METRICS_PAGE).await?;
            rows += page.items.len();
            gauge.inc_by(i64::try_from(page.items.len()).unwrap_or(i64::MAX));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    let filter = DeliveryFilter { state: Some(DeliveryState::Waiting), ..DeliveryFilter::default() };
    let (mut after, mut rows) = (None, 0);
    while rows < METRICS_ROWS {
        let page = journal.deliveries(&filter, after.as_ref(), METRICS_PAGE).await?;
        rows += page.items.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    deliveries.set(i64::try_from(rows).unwrap_or(i64::MAX));
    for node in journal.nodes().await? {
        nodes.inc_by(i64::from(node.alive));
        if node.here {
            leases.set(i64::try_from(node.runs).unwrap_or(i64::MAX));
        }
    }
    let taken = |of: usize, free: usize| i64::try_from(of.saturating_sub(free)).unwrap_or(i64::MAX);
    streams.set(taken(STREAMS as usize, app.streams.available_permits()));
    polls.set(taken(POLLS, app.polls.available_permits()));

    let mut told = String::new();
    // Writing to a string cannot fail.
    let _ = text::encode_registry(&mut told, app.driver.metrics().registry());
    let _ = text::encode_registry(&mut told, &now);
    if let Some(traces) = &app.traces {
        let _ = text::encode_registry(&mut told, traces.registry());
    }
    let _ = text::encode_eof(&mut told);
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], told).into_response())
}
