//! One row of the table `appends` in SQLite or PostgreSQL. The row contains the events that one append wrote to one
//! stream. The events of a row are in order and packed into three columns. This module never interprets an event.
//!
//! | column | for each event |
//! |---|---|
//! | `hashes` | 32 bytes; the number of hashes is the number of events |
//! | `heads` | a length of four bytes (big-endian), followed by that number of bytes |
//! | `contents` | one byte with the kind of content, followed by the content |
//!
//! In the column `contents`, kind 0 means that an event has no content. Kind 1 means that the content follows: the salt
//! (16 bytes), a length (4 bytes) and that number of bytes. Kind 2 means that a blob contains the content: the salt and
//! the digest of the blob (32 bytes) follow. The column `contents` is NULL if none of the events has content.
//!
//! Further columns contain the stream of the events, and the position and sequence number of the last event. From the
//! last event back to the first, the position and the sequence number decrease by 1 per event.

#[cfg(test)]
mod tests;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Sealed, SealedContent};
use holdshort_core::id::StreamId;

use crate::check;
use crate::journal::Error;
use crate::log::{Append, Positioned};

/// Maximum number of events in one row of the table `appends`. The number is small, because reading one event means
/// unpacking the whole row. An append with more events is written as several rows.
const ROW_EVENTS: usize = 32;

const HASH: usize = 32;
const SALT: usize = 16;
const LENGTH: usize = 4;

const NOTHING: u8 = 0;
const INLINE: u8 = 1;
const BLOB: u8 = 2;

/// Splits the events of an append into chunks, each of which becomes one row of the table `appends`. No chunk is empty.
pub(crate) fn chunks(append: &Append) -> impl Iterator<Item = &[Sealed]> {
    append.streams.iter().flat_map(|part| part.events.chunks(ROW_EVENTS))
}

/// The packed columns of a row of the table `appends`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) hashes: Vec<u8>,
    pub(crate) heads: Vec<u8>,
    pub(crate) contents: Option<Vec<u8>>,
}

impl Columns {
    /// Packs the events of a row of the table `appends`. Calls `large` for each content that is too large for the row
    /// and must be stored as a blob.
    pub(crate) fn pack<'a>(events: &'a [Sealed], mut large: impl FnMut(Digest, &'a [u8])) -> Self {
        let mut columns = Self::default();
        let mut contents = Vec::new();
        for Sealed { stream: _, seq: _, head, content, hash } in events {
            columns.hashes.extend_from_slice(hash.as_bytes());
            put_bytes(&mut columns.heads, head);
            match content {
                None => contents.push(NOTHING),
                Some(SealedContent { salt, bytes }) if check::is_large(bytes) => {
                    let digest = Digest::of_bytes(bytes);
                    put_content(&mut contents, salt, Some(digest.as_bytes()), None);
                    large(digest, bytes);
                }
                Some(SealedContent { salt, bytes }) => put_content(&mut contents, salt, None, Some(bytes)),
            }
        }
        columns.contents = events.iter().any(|event| event.content.is_some()).then_some(contents);
        columns
    }

    /// Packs one event of the table `events`, in which earlier versions stored one event per row. Damaged columns are
    /// packed unchanged, because reading or auditing the event reports the damage later.
    pub(crate) fn of_event(
        hash: &[u8],
        head: &[u8],
        salt: Option<&[u8]>,
        blob: Option<&[u8]>,
        content: Option<&[u8]>,
    ) -> Self {
        let mut columns = Self { hashes: hash.to_vec(), ..Self::default() };
        put_bytes(&mut columns.heads, head);
        columns.contents = salt.map(|salt| {
            let mut contents = Vec::new();
            put_content(&mut contents, salt, blob, content);
            contents
        });
        columns
    }
}

fn put_content(to: &mut Vec<u8>, salt: &[u8], blob: Option<&[u8]>, content: Option<&[u8]>) {
    to.push(if blob.is_some() { BLOB } else { INLINE });
    to.extend_from_slice(salt);
    match (blob, content) {
        (Some(digest), _) => to.extend_from_slice(digest),
        (None, Some(bytes)) => put_bytes(to, bytes),
        (None, None) => {}
    }
}

/// Writes the length of the bytes, and then the bytes. The length always fits into four bytes, because databases reject
/// a value of 4 GiB.
fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    to.extend_from_slice(bytes);
}

/// Position, sequence number and hash of an event, without the event itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventLocation {
    pub(crate) position: u64,
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
}

/// Returns the location of each event in a row of the table `appends`. `position` and `seq` are those of the last event
/// of the row.
pub(crate) fn event_locations(position: u64, seq: u64, hashes: &[u8]) -> Result<Vec<EventLocation>, Error> {
    let (hashes, rest) = hashes.as_chunks::<HASH>();
    let count = hashes.len() as u64;
    if !rest.is_empty() || count == 0 {
        return Err(unreadable(position, "the length of its hashes is wrong"));
    }
    let (Some(before), Some(seq_before)) = (position.checked_sub(count), seq.checked_sub(count)) else {
        return Err(unreadable(
            position,
            "the row has more hashes than the journal can have events up to this position",
        ));
    };
    let place = |(n, hash): (u64, &[u8; HASH])| EventLocation {
        position: before + n,
        seq: seq_before + n,
        hash: Digest::from_bytes(*hash),
    };
    Ok((1..).zip(hashes).map(place).collect())
}

/// A row of the table `appends` as it was read from the database.
#[derive(Clone, Debug)]
pub(crate) struct PackedAppend<'a> {
    pub(crate) stream: StreamId,
    /// Sequence number of the last event in this row of the table `appends`.
    pub(crate) seq: u64,
    /// Position of the last event in this row of the table `appends`.
    pub(crate) position: u64,
    pub(crate) hashes: &'a [u8],
    pub(crate) heads: &'a [u8],
    pub(crate) contents: Option<&'a [u8]>,
}

/// An event of a [`PackedAppend`]. If the content is in a blob, `event` still lacks the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unpacked {
    pub(crate) event: Positioned,
    pub(crate) blob: Option<Digest>,
}

impl Unpacked {
    /// Returns the event with its content. `blob` is the content if it is stored as a blob.
    pub(crate) fn complete(mut self, blob: Option<Vec<u8>>) -> Result<Positioned, Error> {
        let Sealed { stream, seq, content, .. } = &mut self.event.event;
        if let (Some(digest), Some(content)) = (&self.blob, content) {
            content.bytes = blob.ok_or_else(|| {
                Error::Corrupt(format!("the content of {stream}/{seq} is missing: there is no blob {digest}"))
            })?;
        }
        Ok(self.event)
    }
}

impl PackedAppend<'_> {
    /// Unpacks all events of this row of the table `appends`. Returns an error that reports damage if the columns
    /// contradict each other.
    pub(crate) fn unpack(&self) -> Result<Vec<Unpacked>, Error> {
        let (mut heads, mut contents) = (Bytes(self.heads), self.contents.map(Bytes));
        let mut events = Vec::new();
        for EventLocation { position, seq, hash } in event_locations(self.position, self.seq, self.hashes)? {
            let head = heads.sized().ok_or_else(|| self.unreadable("its heads end too early"))?.to_vec();
            let (content, blob) = match &mut contents {
                None => (None, None),
                Some(contents) => {
                    contents.content().ok_or_else(|| self.unreadable("its contents are malformed"))?
                }
            };
            let event = Sealed { stream: self.stream.clone(), seq, head, content, hash };
            events.push(Unpacked { event: Positioned { position, event }, blob });
        }
        if !heads.0.is_empty() || contents.is_some_and(|contents| !contents.0.is_empty()) {
            return Err(self.unreadable("it contains data after its last event"));
        }
        Ok(events)
    }

    /// Returns the column `contents` of this row of the table `appends` without the contents of the events with the
    /// sequence numbers `seqs`. Also returns the digests of the blobs with removed contents.
    pub(crate) fn without(&self, seqs: &[u64]) -> Result<(Option<Vec<u8>>, Vec<Digest>), Error> {
        let Some(packed) = self.contents else { return Ok((None, Vec::new())) };
        let (mut left, mut kept, mut blobs) = (Bytes(packed), Vec::new(), Vec::new());
        let mut has_content = false;
        for place in event_locations(self.position, self.seq, self.hashes)? {
            let before = left.0;
            let found = left.content().ok_or_else(|| self.unreadable("its contents are malformed"))?;
            if seqs.contains(&place.seq) {
                blobs.extend(found.1);
                kept.push(NOTHING);
            } else {
                has_content |= found.0.is_some();
                kept.extend_from_slice(&before[..before.len() - left.0.len()]);
            }
        }
        Ok((has_content.then_some(kept), blobs))
    }

    fn unreadable(&self, why: &str) -> Error {
        unreadable(self.position, &format!("{why}; its last event is {}/{}", self.stream, self.seq))
    }
}

fn unreadable(position: u64, why: &str) -> Error {
    Error::Corrupt(format!("the append at position {position} cannot be read: {why}"))
}

/// Rest of a packed column of the table `appends` that has not been read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.array::<LENGTH>()?);
        self.take(usize::try_from(length).ok()?)
    }

    /// Reads the content of the next event from the column `contents`. The result is `(None, None)` for an event
    /// without content. It has a digest if a blob holds the content. Returns `None` if the column is malformed.
    fn content(&mut self) -> Option<(Option<SealedContent>, Option<Digest>)> {
        let [kind] = self.array()?;
        if kind == NOTHING {
            return Some((None, None));
        }
        let salt = self.array::<SALT>()?;
        match kind {
            INLINE => Some((Some(SealedContent { salt, bytes: self.sized()?.to_vec() }), None)),
            BLOB => {
                let digest = Digest::from_bytes(self.array()?);
                Some((Some(SealedContent { salt, bytes: Vec::new() }), Some(digest)))
            }
            _ => None,
        }
    }
}
