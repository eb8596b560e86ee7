//! Parsers of external input that work without a running server. For example, fuzzers use them. The server uses the
//! same functions to parse requests and frames. This module makes no decisions.

use holdshort_core::json;
use holdshort_protocol::frame::ClientFrame;
use holdshort_protocol::{Code, Decision, Problem};
use holdshort_web::body::read_strict;
use holdshort_web::feed::position;
use holdshort_web::problem::Refused;
use holdshort_web::query::EventsQuery;

use crate::socket;

/// Parses the request body of `POST /v1/interrupts/{id}/decisions`.
pub fn decision(body: &[u8]) -> Result<Decision, Box<Problem>> {
    let value = json::parse(body).map_err(|error| Refused::new(Code::MalformedJson, error.to_string()).0)?;
    read_strict(&value).map_err(|refused| refused.0)
}

/// Parses a text message of a WebSocket client.
pub fn frame(text: &[u8]) -> Result<ClientFrame, Box<Problem>> {
    let text = std::str::from_utf8(text);
    let text = text.map_err(|error| Refused::new(Code::MalformedJson, error.to_string()).0)?;
    socket::read(text).map_err(|refused| refused.0)
}

/// Parses the position of an event in the order of commits: `p` followed by a number. Returns `None` for any other
/// text.
pub fn position(text: &str) -> Option<u64> {
    position::number(text)
}

/// Parses the query of `GET /v1/runs/{id}/events`, and returns the parameter `since`.
pub fn since(query: &str) -> Result<Option<u64>, Box<Problem>> {
    let query: EventsQuery = serde_urlencoded::from_str(query)
        .map_err(|error| Refused::new(Code::InvalidQuery, error.to_string()).0)?;
    Ok(query.since)
}

/// Parses a message from a client of the `CodeLab` edge.
pub fn codelab(text: &[u8]) -> Result<(), Box<Problem>> {
    holdshort_edges::read_codelab(text).map_err(|refused| refused.0)
}

/// Parses a frame from a client of the MARS edge, and converts the configuration in it.
pub fn mars(text: &str) -> Result<(), Box<Problem>> {
    holdshort_edges::read_mars(text).map_err(|refused| refused.0)
}
