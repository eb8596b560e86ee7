//! How long the server waits for its clients.

use std::time::Duration;

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
            headers: Duration::from_secs(10),
            ping: Duration::from_secs(15),
            silence: Duration::from_mins(1),
            hello: Duration::from_secs(10),
            patience: Duration::from_secs(30),
        }
    }
}
