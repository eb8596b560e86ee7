//! Id of a frame: the frame's position in the session. A client that reconnects with an id receives the frames after
//! this position. To clients an id is an opaque string. All parts of an id are read from the journal.

use std::fmt;
use std::str::FromStr;

use holdshort_core::id::RunId;
use serde::{Serialize, Serializer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FrameId {
    /// Position before the first frame of a session.
    Start,
    /// Position after the frame number `part` of the event `seq` of a run. Both numbers start at 1.
    Frame { run: RunId, seq: u64, part: u32 },
    /// Position after all frames of an event of a run.
    Event { run: RunId, seq: u64 },
}

const START: &str = "start";

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str(START),
            Self::Frame { run, seq, part } => write!(f, "{run}.{seq}.{part}"),
            Self::Event { run, seq } => write!(f, "{run}.{seq}"),
        }
    }
}

impl FromStr for FrameId {
    type Err = ();

    /// Accepts only the spelling of a frame id that `Display` writes.
    fn from_str(text: &str) -> Result<Self, ()> {
        let place = parse(text).ok_or(())?;
        if place.to_string() == text { Ok(place) } else { Err(()) }
    }
}

fn parse(text: &str) -> Option<FrameId> {
    if text == START {
        return Some(FrameId::Start);
    }
    let (run, rest) = text.split_once('.')?;
    let run = run.parse().ok()?;
    match rest.split_once('.') {
        Some((seq, part)) => Some(FrameId::Frame { run, seq: counted(seq)?, part: counted(part)? }),
        None => Some(FrameId::Event { run, seq: counted(rest)? }),
    }
}

/// Parses a number of a frame id, and rejects 0.
fn counted<T: FromStr + Default + PartialEq>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number| *number != T::default())
}

impl Serialize for FrameId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_given_out() {
        let run: RunId = "run_01k6f0000000000000000000aa".parse().unwrap();
        for place in [
            FrameId::Start,
            FrameId::Frame { run: run.clone(), seq: 17, part: 2 },
            FrameId::Event { run: run.clone(), seq: 17 },
        ] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for wrong in ["", "17", "run_x.1"] {
            assert_eq!(wrong.parse::<FrameId>(), Err(()), "{wrong}");
        }
        for wrong in ["", ".x.1", ".0", ".0.1", ".1.0", ".01", ".+1", ".1.1.1", ".1.99999999999"] {
            let wrong = format!("{run}{wrong}");
            assert_eq!(wrong.parse::<FrameId>(), Err(()), "{wrong}");
        }
    }
}
