//! The model that the command line and the environment select, and the messages for the case that they select none.

use holdshort_models::{Error, Missing, Settings, Source};

use crate::args::ModelArgs;

pub(crate) fn settings(model: &ModelArgs) -> Settings {
    Settings { model: model.model.clone(), base_url: model.base_url.clone(), ..Settings::default() }
}

pub(crate) fn source(model: &ModelArgs) -> Result<Source, Error> {
    holdshort_models::from_env(&settings(model), &|name| std::env::var(name).ok())
}

/// Returns an error message if a provider is configured without a model name, or `None`.
pub(crate) fn unnamed(model: &ModelArgs) -> Option<String> {
    match source(model) {
        Ok(Source::Missing(missing @ Missing::Name { .. })) => {
            Some(format!("{missing}; until then, agents play scripts (rehearsals)"))
        }
        Ok(_) | Err(_) => None,
    }
}

/// Returns the reason why the agents run a scripted rehearsal instead of calling a model. Returns `None` if a model is
/// configured.
pub(crate) fn rehearses(model: &ModelArgs) -> Option<String> {
    unnamed(model).or_else(|| match source(model) {
        Ok(Source::Provider(_)) => None,
        Ok(Source::Missing(missing)) => Some(format!("rehearsals only: {missing}")),
        Err(error) => Some(error.to_string()),
    })
}
