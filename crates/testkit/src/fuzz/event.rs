//! Fuzz target for stored events and the JSON in them. The first line of the input is the head of an event. All other
//! lines are the content of the event.

use std::sync::{Arc, LazyLock};

use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{self, Chain, Sealed, SealedContent};
use holdshort_core::event::{self, Fact};
use holdshort_core::id::{Draw, RunId, Seed, StreamId};
use holdshort_core::json;
use holdshort_core::run::Run;
use holdshort_core::time::Timestamp;
use serde_json::Value;

pub(super) fn event(bytes: &[u8]) {
    value(bytes);
    let (head, content) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    };
    value(head);
    if let Ok(raw) = json::parse(head) {
        stored(&raw, content);
    }
}

/// Asserts that every JSON value in the input has exactly one canonical form, and that parsing this form gives the same
/// value.
fn value(bytes: &[u8]) {
    let Ok(value) = json::parse(bytes) else { return };
    let written = json::canonical(&value);
    let again = json::parse(&written).unwrap_or_else(|error| panic!("{error}: {value}"));
    assert_eq!(json::canonical(&again), written, "{value}");
    let safe = json::made_safe(value);
    let kept = json::canonical(&safe);
    let read = json::parse(&kept).unwrap_or_else(|error| panic!("{error}: {safe}"));
    assert_eq!(json::canonical(&read), kept);
}

/// Opens a stored event that has this head, and whose digest, hash and position are correct. Asserts that the event is
/// either valid or refused with a reason.
fn stored(raw: &Value, content: Option<&[u8]>) {
    let stream = raw["stream"].as_str().and_then(|text| text.parse().ok()).unwrap_or(StreamId::System);
    let seq = raw["seq"].as_u64().unwrap_or(1);
    let mut raw = raw.clone();
    let content = content.map(|bytes| SealedContent { salt: [9; 16], bytes: bytes.to_vec() });
    if let (Some(content), Some(fields)) = (&content, raw.as_object_mut()) {
        let digest = Digest::of_parts(&[&content.salt, &content.bytes]);
        fields.insert("content_digest".to_owned(), serde_json::to_value(digest).unwrap_or_default());
    }
    let head = json::canonical(&raw);
    let before = Chain { seq: seq.saturating_sub(1), hash: Digest::ZERO };
    let hash = Digest::of_parts(&[before.hash.as_bytes(), &head]);
    let sealed = Sealed { stream, seq, head, content, hash };
    let mut chain = before;
    let decoded = event::open(&sealed, &mut chain);
    let event = match decoded {
        Ok(event) => event,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(chain, before, "a refused event moved the chain");
            return;
        }
    };
    assert_eq!(chain, Chain { seq, hash });
    // Checks that this version reads back the same event that it writes.
    let mut chain = before;
    let mut draw = Draw::new(Seed([4; 16]), Timestamp::from_millis(0));
    let again = envelope::seal(&event, &mut chain, &mut draw);
    let mut chain = before;
    let read = event::open(&again, &mut chain).unwrap_or_else(|error| panic!("{error}: {event:?}"));
    assert_eq!(read, event);
    // An event may change the run, but must not cause a panic.
    if let Fact::Run(_) = &event.fact {
        let mut run = BLANK.clone();
        run.apply(&event);
        run.apply(&event);
        let _actions = run.actions();
        let _row = (run.row(), run.next_deadline());
    }
}

static BLANK: LazyLock<Run> = LazyLock::new(|| {
    let id: RunId = Draw::new(Seed([5; 16]), Timestamp::from_millis(0)).id();
    let definition: Arc<Definition> = Arc::new(holdshort_workflow::external());
    Run::new(id, definition)
});
