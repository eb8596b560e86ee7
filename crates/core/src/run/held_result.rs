//! Results of tools that wait for a review by a person. The agent gets such a result exactly as the person saw it, or
//! not at all.
//!
//! Only the tool decides if its result must be reviewed. A model has no influence on the review. Three facts contain
//! the digest of the text: the fact that the result waits, the interrupt, and the approval.

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::state::HeldResult;
use super::{Call, CallEnd, Fact};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::interrupt::{About, Kind};
use crate::tool::HeldOutput;

impl Draft<'_> {
    pub(super) fn hold_result(&mut self, id: &str, call: &Call, held: HeldOutput) {
        let HeldOutput { title, content, findings, implications, level, details, data } = held;
        let digest = Digest::of_bytes(content.as_bytes());
        let mut payload = json!({
            "title": title,
            "content": content,
            "findings": findings,
            "risk_level": level,
            "details": details,
            "digest": digest,
            "call_id": id,
        });
        if !implications.is_empty() {
            payload["regulatory_implications"] = json!(implications);
        }
        let told = json!({ "title": title, "findings": findings, "details": details, "data": data });
        let mut opening = Opening::new(Kind::Review, About::Call(id.to_owned()), format!("Release: {title}"));
        self.emit(
            Fact::ResultHeld { call: id.to_owned(), digest, level },
            Content { text: Some(content), data: told },
        );
        opening.step = Some(call.step.clone());
        opening.risk = level;
        opening.action_digest = Some(digest);
        opening.payload = payload;
        opening.response_schema = Some(json!({ "type": "string", "minLength": 1 }));
        let interrupt = self.open(opening);
        if self.run.is_unreviewed() {
            self.let_through(&interrupt);
            let held = self.run.calls.get(id).and_then(|call| call.held.clone());
            if let Some(held) = held {
                self.release_held(id, &held, None);
            }
        }
    }

    /// Gives the agent exactly the result text that the reviewer saw, or the reviewer's edit of this text. If the
    /// reviewer edited the text, the tool's data is dropped, because the data may contain text that the reviewer
    /// removed.
    pub(super) fn release_held(&mut self, id: &str, held: &HeldResult, edit: Option<&str>) {
        let content = edit.unwrap_or(&held.content).to_owned();
        let digest = Digest::of_bytes(content.as_bytes());
        if edit.is_none() && digest != held.digest {
            self.fail_run("internal", "the content that was shown for release no longer exists");
            return;
        }
        let data = if *content == *held.content { held.data.clone() } else { Value::Null };
        let fact = Fact::OutputReleased { call: id.to_owned(), edited: edit.is_some(), digest: Some(digest) };
        self.emit(fact, Content::data(json!({ "title": held.title, "content": content })));
        let fact =
            Fact::ToolFinished { call: id.to_owned(), end: CallEnd::Done, code: Some("released".to_owned()) };
        self.emit(fact, Content { text: Some(content), data });
    }
}
