//! Sends one request to a collector, and interprets the response (OTLP 1.9, "OTLP/HTTP Response").

use std::time::{Duration, SystemTime};

use holdshort_http::answers::{innermost, retry_after};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};

use super::limits::EXPORT_ANSWER_BYTES;

/// Reason why a request to the collector of traces failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A retry of the request may succeed. `after` is the delay that the collector requested. `None` if the collector
    /// requested no delay.
    Later { why: String, after: Option<Duration> },
    /// The collector rejects this request permanently: a retry is useless.
    Never(String),
}

/// Sends a request to the collector of traces. Returns the number of spans that the collector rejected.
pub(crate) async fn send(http: &Client, endpoint: &Url, body: Vec<u8>) -> Result<u64, Failure> {
    let request = http.post(endpoint.clone()).header(CONTENT_TYPE, "application/x-protobuf").body(body);
    let later = |error: reqwest::Error| Failure::Later { why: innermost(&error), after: None };
    let response = request.send().await.map_err(later)?;
    let status = response.status();
    if status.is_success() {
        let body = answer(response).await.map_err(later)?;
        let said = ExportTraceServiceResponse::decode(&*body).ok().and_then(|said| said.partial_success);
        return Ok(said.map_or(0, |said| u64::try_from(said.rejected_spans).unwrap_or_default()));
    }
    let why = format!("the collector answers {status}");
    let is_passing = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    if !is_passing {
        return Err(Failure::Never(why));
    }
    let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let after = after.and_then(|after| retry_after(after, SystemTime::now()));
    Err(Failure::Later { why, after })
}

/// Reads the response of the collector up to a size limit.
async fn answer(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > EXPORT_ANSWER_BYTES {
            break;
        }
    }
    Ok(body)
}
