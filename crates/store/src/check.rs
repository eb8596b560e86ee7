//! Checks of an append that do not depend on the content of the journal. All stores share these checks, so that all
//! stores reject the same appends. The checks do not look inside the events.

use std::collections::BTreeSet;

use holdshort_core::digest::Digest;

use crate::log::{Append, AppendError, CONTENT_INLINE_LIMIT, StreamAppend};

/// Returns an error if parts of the append contradict each other, for example if two parts write to the same stream.
pub(crate) fn append(append: &Append) -> Result<(), AppendError> {
    let mut streams = BTreeSet::new();
    for part in &append.streams {
        if !streams.insert(&part.stream) {
            return malformed(format!("{} appears twice in the append", part.stream));
        }
        contiguous(part)?;
    }
    for (stream, seq) in &append.erased {
        let is_before = |part: &StreamAppend| part.stream == *stream && (1..=part.expected).contains(seq);
        if !append.streams.iter().any(is_before) {
            return malformed(format!(
                "the append erases event {stream}/{seq}, but contains no later event of this stream"
            ));
        }
    }
    let mut deliveries = BTreeSet::new();
    if let Some(twice) = append.deliveries.iter().find(|each| !deliveries.insert(&each.delivery)) {
        return malformed(format!("{} appears twice in the append", twice.delivery));
    }
    let mut keys = BTreeSet::new();
    if let Some(key) = append.keys.iter().find(|key| !keys.insert((&key.scope, &key.key))) {
        return malformed(format!("the key {}/{} appears twice in the append", key.scope, key.key));
    }
    if let Some(blob) = append.blobs.iter().find(|blob| Digest::of_bytes(&blob.bytes) != blob.digest) {
        return malformed(format!("the content of blob {} does not match its digest", blob.digest));
    }
    Ok(())
}

/// Returns true if an event's content of this size is stored as a separate blob and not in the row of the event.
pub(crate) fn is_large(content: &[u8]) -> bool {
    content.len() > CONTENT_INLINE_LIMIT
}

fn contiguous(part: &StreamAppend) -> Result<(), AppendError> {
    let mut last = part.expected;
    for event in &part.events {
        if event.stream != part.stream {
            return malformed(format!("an event of {} is listed under {}", event.stream, part.stream));
        }
        if last.checked_add(1) != Some(event.seq) {
            return malformed(format!("event {}/{} does not follow {last}", event.stream, event.seq));
        }
        last = event.seq;
    }
    Ok(())
}

fn malformed(why: String) -> Result<(), AppendError> {
    Err(AppendError::Malformed(why))
}
