//! Builds the webhook request for a signed checkpoint of the journal (Standard Webhooks 1.0.0), in the same form as
//! `webhook.rs` builds the requests for notifications.

use holdshort_core::notice::CheckpointNotice;
use holdshort_core::system::checkpoint::CheckpointTree;
use holdshort_core::time::Timestamp;
use serde_json::{Value, json};

use super::webhook::{HeaderValues, signed};
use crate::sign::Secret;

const KIND: &str = "checkpoint.signed";

pub(super) fn body(notice: &CheckpointNotice) -> Value {
    let CheckpointNotice { at, covered: CheckpointTree { size, root }, note, key, to: _ } = notice;
    json!({
        "type": KIND,
        "timestamp": at.to_string(),
        "data": { "size": size, "root": root, "note": note, "key": key },
    })
}

pub(super) fn headers(
    secrets: &[Secret],
    id: &str,
    notice: &CheckpointNotice,
    body: &[u8],
    now: Timestamp,
) -> Vec<(String, String)> {
    let event = format!("checkpoint/{}", notice.covered.size);
    signed(secrets, &HeaderValues { id, kind: KIND, event: &event }, body, now)
}
