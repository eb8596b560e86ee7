//! Models: the trait [`Model`], the providers that implement it, and the rehearsal model, which replays a script if no
//! provider is configured.
//!
//! A model receives a request, and returns a reply or a failure. It never retries, stores nothing, and does not decide
//! how the run reacts to a failure. An API key is sent only to the provider for which it is configured. Start reading
//! at [`Source`].

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

/// A model that replies to requests. If the future of a call is dropped, the connection to the provider is closed.
pub trait Model: Send + Sync + 'static {
    /// Makes one attempt to get a reply of the model. `on_text` receives the text piece by piece while it arrives, as a
    /// preview that must be discarded if the call fails.
    fn call<'a>(
        &'a self,
        request: &'a Request,
        on_text: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<Reply, Failure>>;

    /// Returns the model's name and provider, for people.
    fn describe(&self) -> Description;
}

/// Description of a model. The description never contains an API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Name of the default model, for requests that name none.
    pub name: String,
    /// Provider of the model: `openai-compatible`, `openai`, `anthropic`, `gemini`, `ollama` or `rehearsal`.
    pub provider: &'static str,
    /// True for a rehearsal, which replays a script instead of calling a model. Every user interface must show this.
    pub rehearsal: bool,
    /// URL of the model server, without the query. `None` for a provider whose address on the internet is always the
    /// same.
    pub base_url: Option<String>,
}
