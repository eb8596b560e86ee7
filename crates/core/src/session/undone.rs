//! Undone changes of a session: records them, and describes them to agents.

use std::sync::Arc;

use crate::digest;
use crate::id::{Draw, Id, RunId, Seed, SessionId};

/// Changes of a run that one undo reverted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Run that made the changes that were undone.
    pub of: RunId,
    /// Run that undid the changes.
    pub by: RunId,
    /// Front run of the session at the time of the undo.
    pub front: Option<RunId>,
    /// Text that lists the files whose changes were undone. Empty if the text was erased.
    pub text: Arc<str>,
}

/// Returns the id of the session that continues a closed session. Runs such as undos start in the new session. The id
/// depends only on the closed session, so all such runs have the same session and know about each other's undos.
pub fn continuation(closed: &SessionId) -> SessionId {
    let hash = digest::sha256_parts(&[b"holdshort.continuation.v1", closed.as_str().as_bytes()]);
    let mut seed = [0; 16];
    seed.copy_from_slice(&hash[..16]);
    Draw::new(Seed(seed), closed.drawn_at()).id()
}

impl Undone {
    /// Returns the text that tells an agent about the undone changes.
    pub fn describe(&self) -> String {
        let told = format!("A person has undone changes that you may rely on. {}", self.text);
        told.trim_end().to_owned()
    }
}
