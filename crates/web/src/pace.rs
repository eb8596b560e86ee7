//! Time-outs for clients: how long the server waits for a request and for a reader.

use std::time::Duration;

use crate::limits::{HEADERS_TIME, HELLO_TIME, PATIENCE_TIME, PING_TIME, SILENCE_TIME};

/// Tests are less patient than users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time in which the headers of a request come: of the first from the connection on, of each other from the
    /// answer before it. So it is also how long a connection may be idle.
    pub headers: Duration,
    /// Between two signs of life on a silent stream.
    pub ping: Duration,
    /// How long the client of a socket may give none. It answers pings by itself.
    pub silence: Duration,
    /// The time in which the client of a socket says who it is.
    pub hello: Duration,
    /// How long a stream's writer waits for its reader. Then the stream ends; the reader comes back with its cursor.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            headers: HEADERS_TIME,
            ping: PING_TIME,
            silence: SILENCE_TIME,
            hello: HELLO_TIME,
            patience: PATIENCE_TIME,
        }
    }
}
