//! A trace in OTLP: the messages of `opentelemetry-proto`, encoded as protobuf.

use holdshort_core::time::Timestamp;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;

use super::spans::{self, Trace, TraceId, Value};

/// Flag of a sampled trace (W3C Trace Context, 3.2.2.5). Every exported trace has this flag.
const SAMPLED: u32 = 1;

pub(crate) fn spans(traces: Vec<Trace>) -> Vec<Span> {
    let of = |trace: Trace| trace.spans.into_iter().map(move |each| span(trace.id, each));
    traces.into_iter().flat_map(of).collect()
}

/// Returns the body of an export request to the collector. `node` is the name that distinguishes this server from other
/// nodes.
pub(crate) fn request(spans: &[Span], node: Option<&str>) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let mut attributes = vec![text("service.name", "holdshort"), text("service.version", version)];
    attributes.extend(node.map(|node| text("service.instance.id", node)));
    let scope = InstrumentationScope {
        name: "holdshort".to_owned(),
        version: version.to_owned(),
        ..InstrumentationScope::default()
    };
    let of_scope = ScopeSpans { scope: Some(scope), spans: spans.to_vec(), schema_url: String::new() };
    let of_resource = ResourceSpans {
        resource: Some(Resource { attributes, ..Resource::default() }),
        scope_spans: vec![of_scope],
        schema_url: String::new(),
    };
    ExportTraceServiceRequest { resource_spans: vec![of_resource] }.encode_to_vec()
}

fn span(trace: TraceId, of: spans::Span) -> Span {
    let kind = if of.is_client { SpanKind::Client } else { SpanKind::Internal };
    let code = if of.failed { StatusCode::Error } else { StatusCode::Unset };
    Span {
        trace_id: trace.to_vec(),
        span_id: of.id.to_vec(),
        parent_span_id: of.parent.map(Vec::from).unwrap_or_default(),
        flags: SAMPLED,
        name: of.name,
        kind: kind.into(),
        start_time_unix_nano: nanos(of.start),
        end_time_unix_nano: nanos(of.end),
        attributes: of.attributes.into_iter().map(|(key, value)| attribute(key, value)).collect(),
        status: of.failed.then(|| Status { message: String::new(), code: code.into() }),
        ..Span::default()
    }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    let value = match value {
        Value::Text(text) => any_value::Value::StringValue(text),
        Value::Number(number) => any_value::Value::IntValue(number),
    };
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::from(value))
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default().saturating_mul(1_000_000)
}
