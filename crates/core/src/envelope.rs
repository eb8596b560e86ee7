//! Envelope of an event: its head, its erasable content, and its position in the hash chain of its stream.
//!
//! An event is stored in two parts. The `head` contains the facts. The facts are all that is needed to replay the
//! stream. The `content` contains texts, arguments and results. The `content` can be erased. The head contains
//! `content_digest = SHA-256(salt ‖ content)`. The events of a stream form a chain, with `hash = SHA-256(prev ‖ head)`.
//! The bytes are RFC 8785 JSON. To verify a hash, the stored bytes are used. The stored bytes are never encoded again.
//! The types of facts are defined in [`crate::event`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::digest::Digest;
use crate::id::{Draw, StreamId};
use crate::json;
use crate::time::Timestamp;

/// Version of the event format that this program writes into heads. A head with a later version causes an error,
/// because this program does not know the later format.
pub const VERSION: u64 = 2;

/// One event. `F` is the type of its facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope<F> {
    pub stream: StreamId,
    pub at: Timestamp,
    pub actor: Actor,
    pub fact: F,
    pub content: Content,
}

/// Type and facts of an event, encoded as in the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedFact {
    pub kind: String,
    /// Facts of the event. Null if events of this type have no facts.
    pub facts: Value,
}

/// Erasable content of an event. `text` and `data` are absent if the event never had content or if the content was
/// erased.
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

/// End of a stream: the sequence number and the hash of its last event. The next event continues from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    pub seq: u64,
    pub hash: Digest,
}

impl Chain {
    pub const START: Self = Self { seq: 0, hash: Digest::ZERO };

    /// Verifies that an event continues the chain: its sequence number and its hash. Returns the end of the chain after
    /// the event.
    pub fn after(&self, sealed: &Sealed) -> Result<Self, Error> {
        let (stream, seq) = (sealed.stream.clone(), sealed.seq);
        if seq != self.seq + 1 {
            return Err(Error::OutOfOrder { stream, seq, expected: self.seq + 1 });
        }
        let hash = Digest::of_parts(&[self.hash.as_bytes(), &sealed.head]);
        if hash != sealed.hash {
            return Err(Error::BrokenChain { stream, seq });
        }
        Ok(Self { seq, hash })
    }
}

/// An event as the journal stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub stream: StreamId,
    /// Sequence number of the event in its stream, from 1, without gaps.
    pub seq: u64,
    pub head: Vec<u8>,
    /// Erasable content of the event. `None` if the event never had content, or if the content was erased.
    pub content: Option<SealedContent>,
    pub hash: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedContent {
    pub salt: [u8; 16],
    pub bytes: Vec<u8>,
}

/// Head of an event, as the journal's bytes are decoded. [`seal`] writes these fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    /// Format version of an event, which is checked before the other fields of the event's head are decoded.
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

/// Error returned when stored bytes are not a valid event of the stream.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "event {stream}/{seq} has format version {version}; this binary reads up to {VERSION}: update it"
    )]
    FromTheFuture { stream: StreamId, seq: u64, version: u64 },
    #[error("event {stream}/{seq} is not readable: {source}")]
    Unreadable { stream: StreamId, seq: u64, source: json::Error },
    #[error("event {stream}/{seq} is stored at the position of event {expected}")]
    OutOfOrder { stream: StreamId, seq: u64, expected: u64 },
    #[error("the hash chain breaks at {stream}/{seq}: the journal was changed after it was written")]
    BrokenChain { stream: StreamId, seq: u64 },
    #[error("{stream} had {told} events and has {found}: the journal was changed after it was written")]
    Missing { stream: StreamId, found: u64, told: u64 },
    #[error("the content of {stream}/{seq} was changed after it was written")]
    WrongContent { stream: StreamId, seq: u64 },
}

/// Encodes an event as the next event of its stream. Advances `chain` to the new end of the stream. The encoded facts
/// must include the field `type`.
pub fn seal<F: Serialize>(event: &Envelope<F>, chain: &mut Chain, draw: &mut Draw) -> Sealed {
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
    let content = (!event.content.is_empty())
        .then(|| SealedContent { salt: draw.salt(), bytes: json::canonical(&event.content) });
    let Envelope { stream, at, actor, fact, .. } = event;
    let (at, seq) = (*at, chain.seq + 1);
    let content_digest = content.as_ref().map(SealedContent::digest);
    let head = json::canonical(&Head { actor, at, content_digest, fact, seq, stream, v: VERSION });
    let hash = Digest::of_parts(&[chain.hash.as_bytes(), &head]);
    *chain = Chain { seq, hash };
    Sealed { stream: stream.clone(), seq, head, content, hash }
}

/// Decodes the envelope of a single event. Verifies the content of the event, but not its position in the chain.
pub fn read(sealed: &Sealed) -> Result<Envelope<EncodedFact>, Error> {
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
    let fact = EncodedFact { kind: head.kind, facts: head.facts };
    Ok(Envelope { stream: head.stream, at: head.at, actor: head.actor, fact, content })
}

/// Returns true if the content of the event was erased.
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
