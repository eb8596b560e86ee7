//! A collector of traces: a real HTTP server on this machine that decodes OTLP requests and keeps their content. A test
//! can make the collector refuse requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A running collector of traces. It stops when it is dropped.
#[derive(Debug)]
pub struct Collector {
    base: String,
    kept: Arc<Mutex<CollectorState>>,
    serving: JoinHandle<()>,
}

/// Export request that the collector received.
#[derive(Clone, Debug)]
pub struct Export {
    pub headers: HeaderMap,
    pub body: Bytes,
    pub request: ExportTraceServiceRequest,
    /// HTTP status of the collector's response to the export.
    pub status: u16,
}

#[derive(Debug, Default)]
struct CollectorState {
    exports: Vec<Export>,
    /// HTTP status with which the collector answers every request. `None` accepts all requests.
    refuses: Option<u16>,
}

impl Collector {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("its address"));
        let kept = Arc::new(Mutex::new(CollectorState::default()));
        let router = Router::new().route("/v1/traces", post(take)).with_state(kept.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Self { base, kept, serving }
    }

    /// Returns the base URL of the collector, a value for `--otlp-endpoint`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Makes the collector answer all later requests with this HTTP status. `None` accepts requests again.
    pub fn refuse(&self, status: Option<u16>) {
        lock(&self.kept).refuses = status;
    }

    /// Returns all export requests that the collector received, even those that it refused.
    pub fn exports(&self) -> Vec<Export> {
        lock(&self.kept).exports.clone()
    }

    /// Returns the spans of all export requests that the collector accepted.
    pub fn spans(&self) -> Vec<Span> {
        let taken = self.exports().into_iter().filter(|export| export.status == 200);
        let resources = taken.flat_map(|export| export.request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// Returns the spans of a run's trace. Returns no spans as long as the collector has received no span that names
    /// the run.
    pub fn spans_for_run(&self, run: &str) -> Vec<Span> {
        let spans = self.spans();
        let root =
            spans.iter().find(|span| attributes(span).get("holdshort.run.id").is_some_and(|id| id == run));
        let Some(trace) = root.map(|root| root.trace_id.clone()) else { return Vec::new() };
        spans.into_iter().filter(|span| span.trace_id == trace).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

pub fn attributes(span: &Span) -> BTreeMap<String, String> {
    span.attributes.iter().map(text).collect()
}

/// Returns the name and the value of a span's attribute, both as text.
pub fn text(attribute: &KeyValue) -> (String, String) {
    let value = match &attribute.value {
        Some(AnyValue { value: Some(Value::StringValue(text)) }) => text.clone(),
        Some(AnyValue { value: Some(Value::IntValue(number)) }) => number.to_string(),
        other => format!("{other:?}"),
    };
    (attribute.key.clone(), value)
}

async fn take(
    State(kept): State<Arc<Mutex<CollectorState>>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, Vec<u8>) {
    let request = ExportTraceServiceRequest::decode(body.clone()).expect("it is OTLP");
    let mut kept = lock(&kept);
    let status = kept.refuses.unwrap_or(200);
    kept.exports.push(Export { headers, body, request, status });
    (StatusCode::from_u16(status).expect("a status"), ExportTraceServiceResponse::default().encode_to_vec())
}

fn lock(kept: &Mutex<CollectorState>) -> MutexGuard<'_, CollectorState> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
