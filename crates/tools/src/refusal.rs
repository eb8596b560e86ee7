//! Why a call can not or must not run: a stable code, and a message that tells the model what to do.

use holdshort_core::tool::{Inspected, Outcome};

/// One refusal. The message is lower case and says what to do next.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub code: &'static str,
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<Refusal> for Inspected {
    fn from(refusal: Refusal) -> Self {
        Self::Impossible { code: refusal.code, message: refusal.message }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        Self::Failed { text: format!("{}: {}", refusal.code, refusal.message) }
    }
}
