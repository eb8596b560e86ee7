//! The `id` of a frame: where it stands in the session, so that a client which comes back hears what follows it.
//! Opaque to clients; all that it says is in the journal.

use std::fmt;
use std::str::FromStr;

use holdshort_core::id::RunId;
use serde::{Serialize, Serializer};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before everything.
    Start,
    /// The nth frame of an event of a run, both counted from 1.
    Frame { run: RunId, seq: u64, part: u32 },
    /// All frames of an event.
    Event { run: RunId, seq: u64 },
}

const START: &str = "start";

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str(START),
            Self::Frame { run, seq, part } => write!(f, "{run}.{seq}.{part}"),
            Self::Event { run, seq } => write!(f, "{run}.{seq}"),
        }
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text == START {
            return Ok(Self::Start);
        }
        let (run, rest) = text.split_once('.').ok_or(())?;
        let run = run.parse().map_err(|_| ())?;
        match rest.split_once('.') {
            Some((seq, part)) => {
                let (seq, part) = seq.parse().ok().zip(part.parse().ok()).ok_or(())?;
                Ok(Self::Frame { run, seq, part })
            }
            None => Ok(Self::Event { run, seq: rest.parse().map_err(|_| ())? }),
        }
    }
}

impl Serialize for Place {
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
            Place::Start,
            Place::Frame { run: run.clone(), seq: 17, part: 2 },
            Place::Event { run: run.clone(), seq: 17 },
        ] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for wrong in
            ["", "17", "run_x.1", "run_01k6f0000000000000000000aa", "run_01k6f0000000000000000000aa.x.1"]
        {
            assert_eq!(wrong.parse::<Place>(), Err(()), "{wrong}");
        }
    }
}
