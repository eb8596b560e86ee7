//! Converts an error of a model provider to a [`Failure`]: a kind that decides how the run reacts, and a message for
//! people.
//!
//! This module removes API keys from messages, and does not decide about retries.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use genai::webc::StreamTimeout;
use holdshort_core::message::{Failure, FailureKind};
use holdshort_http::answers;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::mask::Mask;

pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, retry_after_ms: None, message: message.into() }
}

/// Converts an error of a model request to a failure without secrets. `provider` is the provider's name for messages
/// about connection errors.
pub(crate) fn from_error(error: &genai::Error, provider: &str, mask: &Mask) -> Failure {
    let failure = classify(error, provider);
    Failure { message: mask.clean(&failure.message), ..failure }
}

fn classify(error: &genai::Error, provider: &str) -> Failure {
    use genai::{Error as E, webc::Error as W};
    match error {
        E::HttpError { status, body, headers, .. } => of_status(*status, headers, body),
        E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => match webc_error {
            W::ResponseFailedStatus { status, body, headers } => of_status(*status, headers, body),
            W::Reqwest(error) => of_transport(error, provider),
            other => new(FailureKind::Unusable, other.to_string()),
        },
        E::WebStream { error, .. } => of_stream(error.as_ref(), provider),
        E::ChatResponse { body, .. } => of_error_event(body),
        E::StreamParse { serde_error, .. } => {
            new(FailureKind::Unusable, format!("the provider sent an invalid reply: {serde_error}"))
        }
        E::SerdeJson(_)
        | E::JsonValueExt(_)
        | E::NoChatResponse { .. }
        | E::InvalidJsonResponseElement { .. } => {
            new(FailureKind::Unusable, format!("the provider sent an invalid reply: {error}"))
        }
        other => new(FailureKind::Rejected, other.to_string()),
    }
}

/// Converts an error that occurred while the model's reply was streamed, or an HTTP error status, which the library
/// reports in the same way.
fn of_stream(error: &(dyn StdError + Send + Sync + 'static), provider: &str) -> Failure {
    if let Some(error) = error.downcast_ref::<genai::Error>() {
        return classify(error, provider);
    }
    if let Some(error) = error.downcast_ref::<reqwest::Error>() {
        return of_transport(error, provider);
    }
    if let Some(timeout) = error.downcast_ref::<StreamTimeout>() {
        return new(
            FailureKind::TimedOut,
            match timeout {
                StreamTimeout::Headers => "the provider did not begin its reply in time",
                StreamTimeout::Read => "the provider stopped sending in the middle of its reply",
            },
        );
    }
    if error.is::<std::string::FromUtf8Error>() || error.is::<std::str::Utf8Error>() {
        return new(FailureKind::Unusable, "the provider sent bytes that are not text");
    }
    new(FailureKind::Cut, format!("the connection to the provider ended in the middle of its reply: {error}"))
}

fn of_transport(error: &reqwest::Error, provider: &str) -> Failure {
    let cause = answers::innermost(error);
    // Only the origin of the URL is shown, because the other components may contain a secret.
    let at = error.url().map(|url| format!(" at {}", url.origin().ascii_serialization())).unwrap_or_default();
    if error.is_timeout() {
        new(FailureKind::TimedOut, format!("the provider {provider} did not answer in time{at}: {cause}"))
    } else if error.is_body() || error.is_decode() {
        new(
            FailureKind::Cut,
            format!("the connection to the provider ended in the middle of its reply: {cause}"),
        )
    } else if error.is_builder() {
        new(FailureKind::Rejected, format!("the request cannot be sent: {cause}"))
    } else {
        new(FailureKind::Unavailable, format!("the provider {provider} cannot be reached{at}: {cause}"))
    }
}

fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> Failure {
    let kind = match status.as_u16() {
        429 => FailureKind::RateLimited,
        408 => FailureKind::TimedOut,
        500..=599 => FailureKind::Unavailable,
        413 => FailureKind::TooLong,
        400 | 422 if is_too_long(body) => FailureKind::TooLong,
        _ => FailureKind::Rejected,
    };
    let body = serde_json::from_str(body)
        .ok()
        .and_then(|body| error_message(&body))
        .unwrap_or_else(|| body.to_owned());
    let message = format!("the provider answered {status}: {body}");
    Failure { kind, retry_after_ms: retry_after(headers, SystemTime::now()), message }
}

/// Converts an error that the provider sent inside the stream of a successful response.
fn of_error_event(body: &Value) -> Failure {
    let text = body.to_string();
    let has = |word| text.contains(word);
    let kind = if has("rate_limit") || has("\"code\":429") || has("RESOURCE_EXHAUSTED") {
        FailureKind::RateLimited
    } else if is_too_long(&text) {
        FailureKind::TooLong
    } else if has("invalid_request") || has("authentication_error") || has("permission_error") {
        FailureKind::Rejected
    } else {
        FailureKind::Unavailable
    };
    new(kind, format!("the provider ended its reply with an error: {}", error_message(body).unwrap_or(text)))
}

/// Returns true if the provider rejected the request because it exceeds the context window of the model. Each provider
/// has its own text for this error.
fn is_too_long(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        // Messages of OpenAI and of compatible servers, such as vLLM and llama.cpp.
        "context_length_exceeded",
        "maximum context length",
        "exceed_context_size",
        "exceeds the available context size",
        // Messages of Anthropic.
        "prompt is too long",
        "exceed context limit",
        // Messages of Gemini.
        "exceeds the maximum number of tokens",
        // Messages of Ollama and other servers.
        "context window",
        "input is too long",
        "input length exceeds",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// Returns the error message in the body of a provider's response. The message can be in one of several fields,
/// depending on the provider.
fn error_message(body: &Value) -> Option<String> {
    ["/error/message", "/message", "/error", "/detail", "/0/error/message"]
        .into_iter()
        .find_map(|place| body.pointer(place)?.as_str())
        .map(str::to_owned)
}

/// Returns the delay that the provider requests, in milliseconds, either from the header `Retry-After` or from the more
/// precise header `retry-after-ms`, which some servers send.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse().ok()) {
        return Some(ms);
    }
    answers::retry_after(text("retry-after")?, now).map(millis)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn retry_after_is_read_in_every_form() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:00 GMT").unwrap();
        for (name, value, ms) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(37_000)),
            ("retry-after", "soon", None),
            ("retry-after-ms", "250", Some(250)),
            ("x-other", "1", None),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), ms, "{name}: {value}");
        }
    }

    #[test]
    fn statuses_have_kinds() {
        for (status, kind) in [
            (301, FailureKind::Rejected),
            (400, FailureKind::Rejected),
            (401, FailureKind::Rejected),
            (408, FailureKind::TimedOut),
            (429, FailureKind::RateLimited),
            (500, FailureKind::Unavailable),
            (529, FailureKind::Unavailable),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(of_status(status, &HeaderMap::new(), "x").kind, kind, "{status}");
        }
    }

    #[test]
    fn a_request_that_is_too_long_is_known_by_its_words() {
        for (status, body, kind) in [
            (413, "", FailureKind::TooLong),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens."}}"#,
                FailureKind::TooLong,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209000 tokens > 200000 maximum"}}"#,
                FailureKind::TooLong,
            ),
            (
                400,
                r#"{"error":{"status":"INVALID_ARGUMENT","message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
                FailureKind::TooLong,
            ),
            (400, r#"{"error":{"message":"max_tokens is too large"}}"#, FailureKind::Rejected),
            (401, r#"{"error":{"message":"context window"}}"#, FailureKind::Rejected),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(of_status(status, &HeaderMap::new(), body).kind, kind, "{body}");
        }
        let event = json!({"error": {"type": "invalid_request_error", "message": "prompt is too long"}});
        assert_eq!(of_error_event(&event).kind, FailureKind::TooLong);
    }

    #[test]
    fn an_error_in_the_stream_has_a_kind() {
        for (body, kind) in [
            (json!({"error": {"type": "rate_limit_error", "message": "slow"}}), FailureKind::RateLimited),
            (json!({"error": {"type": "overloaded_error", "message": "busy"}}), FailureKind::Unavailable),
            (json!({"type": "invalid_request_error", "message": "no"}), FailureKind::Rejected),
            (json!("what"), FailureKind::Unavailable),
        ] {
            assert_eq!(of_error_event(&body).kind, kind, "{body}");
        }
    }
}
