//! Models: the trait [`Model`], the providers that implement it, and the rehearsal, which plays a script if no provider
//! is configured.
//!
//! A model receives a request and returns a reply or a typed failure. A model never retries, stores nothing, and does
//! not decide how the run reacts to a failure. A key is sent only to the provider that the key belongs to. Start
//! reading at [`Source`].

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
pub use source::{Error, Missing, Settings, Source, from_env, provider_of};

/// A model that replies to requests. Dropping the future of a call closes the connection to the provider.
pub trait Model: Send + Sync + 'static {
    /// Makes one attempt. `on_text` receives the text of the reply piece by piece while it arrives. This text is only a
    /// preview: it is invalid if the call fails.
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
    /// Name of the model that is used for requests that do not name a model.
    pub name: String,
    /// `openai-compatible`, `openai`, `anthropic`, `gemini`, `ollama` or `rehearsal`.
    pub provider: &'static str,
    /// True for a rehearsal. Every user interface must show that a run is a rehearsal.
    pub rehearsal: bool,
    /// URL of the server, without the query. `None` for a provider with a fixed address on the internet.
    pub base_url: Option<String>,
}
