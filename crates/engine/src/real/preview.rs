//! Streamed text and live output: previews. They have no id, no replay, and are superseded by the event. A slow
//! listener loses some previews, and nothing else.

use holdshort_core::id::RunId;
use tokio::sync::broadcast;

/// Number of previews that a listener may lag behind before it loses the oldest.
const BUFFER: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub run: RunId,
    pub step: String,
    /// Call whose tool output this is.
    pub call: Option<String>,
    pub kind: Kind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of a model while it arrives.
    Text,
    /// Output of a command while it runs.
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
        // A missing listener is not an error.
        let _ = self.0.send(preview);
    }
}
