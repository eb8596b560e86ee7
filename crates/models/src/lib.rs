//! Models: one trait, the providers behind it, and the rehearsal that plays if no provider is configured.
//!
//! A model takes a request and returns a reply or a typed failure. It never retries, stores nothing, and does not
//! decide how the run reacts to a failure. A key is sent only to its provider. Start at [`Source`].

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

/// A model that answers requests. Dropping the future of a call closes its connection.
pub trait Model: Send + Sync + 'static {
    /// Makes one attempt. `on_text` gets the text while it arrives: a preview, which is void if the call fails.
    fn call<'a>(
        &'a self,
        request: &'a Request,
        on_text: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, Failure>>;

    /// Describes the model for people.
    fn describe(&self) -> Description;
}

/// Description of a model. It never contains a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Name of the model for requests that name none.
    pub name: String,
    /// `openai-compatible`, `openai`, `anthropic`, `gemini`, `ollama` or `rehearsal`.
    pub provider: &'static str,
    /// True for a rehearsal. Every surface must show this.
    pub rehearsal: bool,
    /// Address of the server, without query. `None` for a provider on the internet.
    pub base_url: Option<String>,
}
