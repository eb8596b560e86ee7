//! Asks the rules about paths which paths a search or a listing must omit. The rules are read when the tool runs,
//! because they may have changed after the call was allowed.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use holdshort_core::gate::WithheldPaths;

use crate::refusal::Refusal;

type Answer = Pin<Box<dyn Future<Output = Option<WithheldPaths>> + Send>>;

#[derive(Clone)]
pub struct Withhold(Arc<dyn Fn() -> Answer + Send + Sync>);

impl Withhold {
    /// Creates a `Withhold` that calls the function `asks`. If this function returns `None`, because the rules cannot
    /// be read, the call of the tool fails.
    pub fn new<F: Future<Output = Option<WithheldPaths>> + Send + 'static>(
        asks: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move || Box::pin(asks())))
    }

    /// Returns a `Withhold` that omits no path, for tools to which no rules apply.
    pub fn nothing() -> Self {
        Self::new(|| async { Some(WithheldPaths::default()) })
    }

    pub(crate) async fn paths(&self) -> Result<WithheldPaths, Refusal> {
        let unread = || {
            Refusal::new("internal", "the path rules could not be read, so nothing is returned; try again")
        };
        (self.0)().await.ok_or_else(unread)
    }
}

impl fmt::Debug for Withhold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Withhold")
    }
}
