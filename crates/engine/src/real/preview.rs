//! Streamed text and live output: previews. No id, no replay, superseded by the event; a slow listener
//! loses some and nothing else.

use holdshort_core::id::RunId;
use tokio::sync::broadcast;

/// Previews that a listener may lag behind before it loses the oldest.
const BUFFER: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub run: RunId,
    pub step: String,
    /// Of tool output.
    pub call: Option<String>,
    pub kind: Kind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of a model while it arrives.
    Text,
    /// What a command prints while it runs.
    Output,
}

#[derive(Clone, Debug)]
pub struct Previews(broadcast::Sender<Preview>);

impl Default for Previews {
    fn default() -> Self {
        Self(broadcast::Sender::new(BUFFER))
    }
}

impl Previews {
    pub fn subscribe(&self) -> broadcast::Receiver<Preview> {
        self.0.subscribe()
    }

    pub(super) fn send(&self, preview: Preview) {
        // No listener is no error.
        let _ = self.0.send(preview);
    }
}
