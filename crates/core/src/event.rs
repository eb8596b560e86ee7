//! Events: `handle` returns them, `apply` applies them to the state, and the journal stores them. Runs, sessions and
//! the system have different facts.
//!
//! [`crate::envelope`] defines how events are stored. `apply` can copy erasable content into the state, but its
//! decisions never depend on this content. Therefore an erasure changes neither a replay nor the hash chain.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::envelope::{self, Chain, EncodedFact, Envelope, Error, Sealed};
use crate::id::StreamId;
use crate::{run, session, system};

/// One event of any stream.
pub type Event = Envelope<Fact>;

/// Facts of an event, for each kind of stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    Run(run::Fact),
    Session(session::Fact),
    System(system::Fact),
}

/// Decodes the next event of a stream. Verifies the sequence number, hash and content of the event, and advances
/// `chain`.
pub fn open(sealed: &Sealed, chain: &mut Chain) -> Result<Event, Error> {
    let next = chain.after(sealed)?;
    let event = decode(sealed)?;
    *chain = next;
    Ok(event)
}

/// Decodes a single event. Verifies the content of the event, but not its position in the chain.
pub fn decode(sealed: &Sealed) -> Result<Event, Error> {
    let Envelope { stream, at, actor, fact, content } = envelope::read(sealed)?;
    let unreadable = |error: serde_json::Error| {
        let (stream, seq) = (sealed.stream.clone(), sealed.seq);
        Error::Unreadable { stream, seq, source: error.into() }
    };
    let fact = Fact::decode(&stream, fact).map_err(unreadable)?;
    Ok(Event { stream, at, actor, fact, content })
}

/// Returns the types of all events: first of runs, then of sessions, then of the system. The list is taken from the
/// error message in which serde lists the known types.
pub fn types() -> [Vec<String>; 3] {
    fn variant_names<T: DeserializeOwned>() -> Vec<String> {
        let refused = serde_json::from_value::<T>(json!({ "type": "" })).err();
        let said = refused.map(|refused| refused.to_string()).unwrap_or_default();
        // The message has the form "unknown variant ``, expected one of `run_started`, `adopted`, …"
        said.split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }
    [variant_names::<run::Fact>(), variant_names::<session::Fact>(), variant_names::<system::Fact>()]
}

impl Fact {
    /// Returns the type and the facts of the event, encoded as in heads and in responses.
    pub fn encode(&self) -> (String, Value) {
        let Ok(Value::Object(mut map)) = serde_json::to_value(self) else {
            unreachable!("facts are tagged objects: {self:?}")
        };
        let Some(Value::String(kind)) = map.remove("type") else { unreachable!("facts carry their type") };
        (kind, map.remove("facts").unwrap_or(Value::Null))
    }

    fn decode(
        stream: &StreamId,
        EncodedFact { kind, facts }: EncodedFact,
    ) -> Result<Self, serde_json::Error> {
        let mut map = Map::from_iter([("type".to_owned(), Value::String(kind))]);
        if !facts.is_null() {
            map.insert("facts".to_owned(), facts);
        }
        let tagged = Value::Object(map);
        Ok(match stream {
            StreamId::Run(_) => Self::Run(serde_json::from_value(tagged)?),
            StreamId::Session(_) => Self::Session(serde_json::from_value(tagged)?),
            StreamId::System => Self::System(serde_json::from_value(tagged)?),
        })
    }
}
