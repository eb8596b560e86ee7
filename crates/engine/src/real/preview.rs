//! Previews: text that a model is still generating, and output of commands that are still running. A preview has no id
//! and is not stored. The event with the complete result replaces it. A slow listener may miss previews, but never a
//! result.

use holdshort_core::id::RunId;
use tokio::sync::broadcast;

/// Maximum number of previews that are buffered for a listener. A slower listener loses the oldest previews.
const BUFFER: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub run: RunId,
    pub step: String,
    /// Id of the call whose output this preview contains.
    pub call: Option<String>,
    pub kind: Kind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text of a model that is still being generated.
    Text,
    /// Output of a command that is still running.
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
        // Sending fails only if there is no listener. This is not an error.
        let _ = self.0.send(preview);
    }
}
