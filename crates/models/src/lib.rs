//! Models: one trait, the providers behind it, and the rehearsal that plays when there is no provider.
//!
//! Takes a request, gives a reply or a typed failure. Never retries, never stores anything, never decides what
//! follows a failure: the run does. No key ever leaves this crate except to its provider. Start at [`Source`].

mod arguments;
mod base_url;
mod failure;
mod frames;
mod limits;
mod mask;
mod outgoing;
mod probe;
mod provider;
pub mod rehearsal;
mod source;
mod stop;

use futures::future::BoxFuture;
use holdshort_core::message::{Failure, Reply, Request};

pub use probe::answers;
pub use rehearsal::Rehearsal;
pub use source::{Error, Missing, Settings, Source, from_env};

/// Something that answers requests. Dropping the future of a call closes its connection.
pub trait Model: Send + Sync + 'static {
    /// One call, one attempt. `on_text` gets the text while it arrives: a preview, void if the call fails.
    fn call<'a>(
        &'a self,
        request: &'a Request,
        on_text: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, Failure>>;

    /// What answers, for people.
    fn describe(&self) -> Description;
}

/// What answers requests. Safe to show: it never holds a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The model's name where a request names none.
    pub name: String,
    /// `openai-compatible`, `openai`, `anthropic`, `gemini`, `ollama` or `rehearsal`.
    pub provider: &'static str,
    /// Whether this is a rehearsal. Every surface must say so.
    pub rehearsal: bool,
    /// Where requests go, without query; `None` for the address of a provider on the internet.
    pub base_url: Option<String>,
}
