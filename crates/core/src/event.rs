//! Events: what `handle` returns, `apply` takes, and the journal keeps.
//!
//! Stored as `head` (facts: everything that replay needs) plus erasable `content` (texts, arguments,
//! results), bound by `content_digest = SHA-256(salt ‖ content)` and chained per stream by
//! `hash = SHA-256(prev ‖ head)`. Bytes are RFC 8785 JSON, verified as stored, never re-encoded.
//! `apply` may keep content but never branches on it, so erasure keeps replay and chain.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::actor::Actor;
use crate::digest::Digest;
use crate::id::{Draw, StreamId};
use crate::time::Timestamp;
use crate::{json, run, session, system};

/// The version of the head format that this binary writes. Reading a later one is an error, not a guess.
pub const VERSION: u64 = 2;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub stream: StreamId,
    pub at: Timestamp,
    pub actor: Actor,
    pub fact: Fact,
    pub content: Content,
}

/// The facts of an event, by the kind of its stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Run(run::Fact),
    Session(session::Fact),
    System(system::Fact),
}

/// What may be erased later. Both fields may be absent, at once or after erasure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl Content {
    pub fn none() -> Self {
        Self::default()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), data: Value::Null }
    }

    pub fn maybe_text(text: Option<String>) -> Self {
        Self { text, data: Value::Null }
    }

    pub fn data(data: Value) -> Self {
        Self { text: None, data }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.data.is_null()
    }

    pub fn as_text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }
}

/// Where a stream ends: the position and hash that the next event builds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    pub seq: u64,
    pub hash: Digest,
}

impl Chain {
    pub const START: Self = Self { seq: 0, hash: Digest::ZERO };
}

/// An event as the journal stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub stream: StreamId,
    /// From 1, without a gap.
    pub seq: u64,
    pub head: Vec<u8>,
    /// Absent where the event has none, and after erasure.
    pub content: Option<SealedContent>,
    pub hash: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedContent {
    pub salt: [u8; 16],
    pub bytes: Vec<u8>,
}

/// As it is read; [`seal`] writes the same fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    /// Looked at before the rest is read.
    #[serde(rename = "v")]
    _version: u64,
    #[serde(rename = "type")]
    kind: String,
    stream: StreamId,
    seq: u64,
    at: Timestamp,
    actor: Actor,
    #[serde(default)]
    facts: Value,
    #[serde(default)]
    content_digest: Option<Digest>,
}

/// Why stored bytes are not an event of this stream.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "event {stream}/{seq} has format version {version}; this binary reads up to {VERSION}: update it"
    )]
    FromTheFuture { stream: StreamId, seq: u64, version: u64 },
    #[error("event {stream}/{seq} is not readable: {source}")]
    Unreadable { stream: StreamId, seq: u64, source: json::Error },
    #[error("event {stream}/{seq} stands where {expected} belongs")]
    OutOfOrder { stream: StreamId, seq: u64, expected: u64 },
    #[error("the hash chain breaks at {stream}/{seq}: the journal was changed after it was written")]
    BrokenChain { stream: StreamId, seq: u64 },
    #[error("{stream} had {told} events and has {found}: the journal was changed after it was written")]
    Missing { stream: StreamId, found: u64, told: u64 },
    #[error("the content of {stream}/{seq} is not what was written")]
    WrongContent { stream: StreamId, seq: u64 },
}

/// Encodes an event as the next of its stream and moves `chain` on.
pub fn seal(event: &Event, chain: &mut Chain, draw: &mut Draw) -> Sealed {
    let content = (!event.content.is_empty())
        .then(|| SealedContent { salt: draw.salt(), bytes: json::canonical(&event.content) });
    let seq = chain.seq + 1;
    let content_digest = content.as_ref().map(SealedContent::digest);
    let head = match &event.fact {
        Fact::Run(fact) => write_head(event, seq, fact, content_digest),
        Fact::Session(fact) => write_head(event, seq, fact, content_digest),
        Fact::System(fact) => write_head(event, seq, fact, content_digest),
    };
    let hash = Digest::of_parts(&[chain.hash.as_bytes(), &head]);
    *chain = Chain { seq, hash };
    Sealed { stream: event.stream.clone(), seq, head, content, hash }
}

/// A [`Head`] in RFC 8785 bytes. Facts bring their `type` along.
fn write_head<F: Serialize>(event: &Event, seq: u64, fact: &F, content_digest: Option<Digest>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Head<'a, F> {
        actor: &'a Actor,
        at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        content_digest: Option<Digest>,
        #[serde(flatten)]
        fact: &'a F,
        seq: u64,
        stream: &'a StreamId,
        v: u64,
    }
    let Event { stream, at, actor, .. } = event;
    json::canonical(&Head { actor, at: *at, content_digest, fact, seq, stream, v: VERSION })
}

/// Decodes the next event of a stream, verifying its place, its hash and its content, and moves `chain` on.
pub fn open(sealed: &Sealed, chain: &mut Chain) -> Result<Event, Error> {
    let (stream, seq) = (sealed.stream.clone(), sealed.seq);
    if seq != chain.seq + 1 {
        return Err(Error::OutOfOrder { stream, seq, expected: chain.seq + 1 });
    }
    let hash = Digest::of_parts(&[chain.hash.as_bytes(), &sealed.head]);
    if hash != sealed.hash {
        return Err(Error::BrokenChain { stream, seq });
    }
    let event = decode(sealed)?;
    *chain = Chain { seq, hash };
    Ok(event)
}

/// Decodes one event by itself: its content is verified, its place in the chain is not.
pub fn decode(sealed: &Sealed) -> Result<Event, Error> {
    let (stream, seq) = (&sealed.stream, sealed.seq);
    let unreadable = |source| Error::Unreadable { stream: stream.clone(), seq, source };
    let raw = json::parse(&sealed.head).map_err(unreadable)?;
    let version = raw.get("v").and_then(Value::as_u64).unwrap_or(0);
    if version > VERSION {
        return Err(Error::FromTheFuture { stream: stream.clone(), seq, version });
    }
    if version == 0 {
        let source: serde_json::Error = serde::de::Error::custom("there is no format version 0");
        return Err(unreadable(source.into()));
    }
    let head: Head = serde_json::from_value(raw).map_err(|error| unreadable(error.into()))?;
    if head.stream != *stream || head.seq != seq {
        return Err(Error::BrokenChain { stream: stream.clone(), seq });
    }
    let content = match (&sealed.content, head.content_digest) {
        (Some(content), Some(digest)) if content.digest() == digest => {
            json::from_slice(&content.bytes).map_err(unreadable)?
        }
        (None, _) => Content::none(),
        (Some(_), Some(_) | None) => return Err(Error::WrongContent { stream: stream.clone(), seq }),
    };
    let fact = Fact::decode(stream, head.kind, head.facts).map_err(|error| unreadable(error.into()))?;
    Ok(Event { stream: head.stream, at: head.at, actor: head.actor, fact, content })
}

/// Whether the event was written with content that is not there any more.
pub fn has_lost_content(sealed: &Sealed) -> Result<bool, Error> {
    if sealed.content.is_some() {
        return Ok(false);
    }
    let unreadable = |source| Error::Unreadable { stream: sealed.stream.clone(), seq: sealed.seq, source };
    Ok(json::parse(&sealed.head).map_err(unreadable)?.get("content_digest").is_some())
}

impl SealedContent {
    fn digest(&self) -> Digest {
        Digest::of_parts(&[&self.salt, &self.bytes])
    }
}

/// The types of all events: of runs, of sessions, of the installation. Serde names them to whoever asks for none of them.
pub fn types() -> [Vec<String>; 3] {
    fn of<T: DeserializeOwned>() -> Vec<String> {
        let refused = serde_json::from_value::<T>(json!({ "type": "" })).err();
        let said = refused.map(|refused| refused.to_string()).unwrap_or_default();
        // "unknown variant ``, expected one of `run_started`, `adopted`, …"
        said.split('`').skip(3).step_by(2).map(str::to_owned).collect()
    }
    [of::<run::Fact>(), of::<session::Fact>(), of::<system::Fact>()]
}

impl Fact {
    /// The event's type and facts, as they stand in the head and on the wire.
    pub fn encode(&self) -> (String, Value) {
        let encoded = match self {
            Self::Run(fact) => serde_json::to_value(fact),
            Self::Session(fact) => serde_json::to_value(fact),
            Self::System(fact) => serde_json::to_value(fact),
        };
        let Ok(Value::Object(mut map)) = encoded else {
            unreachable!("facts are tagged objects: {encoded:?}")
        };
        let Some(Value::String(kind)) = map.remove("type") else { unreachable!("facts carry their type") };
        (kind, map.remove("facts").unwrap_or(Value::Null))
    }

    fn decode(stream: &StreamId, kind: String, facts: Value) -> Result<Self, serde_json::Error> {
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
