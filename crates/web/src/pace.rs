//! Time limits for clients: how long the server waits for a request and for a reader.

use std::time::Duration;

use crate::limits::{HEADERS_TIME, HEARTBEAT_TIME, HELLO_TIME, PATIENCE_TIME, PING_TIME, SILENCE_TIME};

/// Time limits for clients. Tests use shorter limits than users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time limit for the headers of a request, counted from the start of the connection or from the previous response.
    /// This limit also applies to idle connections.
    pub headers: Duration,
    /// Time between two pings on a silent stream.
    pub ping: Duration,
    /// Time between two heartbeat frames, for clients that expect such frames.
    pub heartbeat: Duration,
    /// Time limit for a silent WebSocket client. WebSocket clients respond to pings automatically.
    pub silence: Duration,
    /// Time limit for the client of a socket to authenticate.
    pub hello: Duration,
    /// Time limit for a stream whose reader takes no bytes. After this time, the stream ends, and the reader reconnects
    /// with its cursor.
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
