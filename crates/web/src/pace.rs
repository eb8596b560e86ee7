//! Time limits for clients: how long the server waits for a request and for a reader.

use std::time::Duration;

use crate::limits::{HEADERS_TIME, HEARTBEAT_TIME, HELLO_TIME, PATIENCE_TIME, PING_TIME, SILENCE_TIME};

/// Time limits of the server for slow and silent clients. Tests use shorter limits than production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time limit for the headers of a request, counted from the start of the connection or from the previous response.
    /// A connection without requests is also closed after this time.
    pub headers: Duration,
    /// Time between two pings that the server sends on a silent stream.
    pub ping: Duration,
    /// Time between two heartbeat frames, for clients of an edge that expect heartbeats.
    pub heartbeat: Duration,
    /// Time limit for a silent WebSocket client. A WebSocket client answers pings automatically, so a silent client has
    /// disconnected.
    pub silence: Duration,
    /// Time within which the client of a WebSocket must authenticate.
    pub hello: Duration,
    /// Maximum time for which the reader of an event stream takes no bytes. The stream then ends, and the reader
    /// reconnects with its cursor.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            headers: HEADERS_TIME,
            ping: PING_TIME,
            heartbeat: HEARTBEAT_TIME,
            silence: SILENCE_TIME,
            hello: HELLO_TIME,
            patience: PATIENCE_TIME,
        }
    }
}
