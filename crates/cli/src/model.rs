//! Which model this command line and this environment choose, and what to say where they choose none.

use holdshort_models::{Error, Missing, Settings, Source};

use crate::args::ModelArgs;

pub(crate) fn settings(model: &ModelArgs) -> Settings {
    Settings { model: model.model.clone(), base_url: model.base_url.clone(), ..Settings::default() }
}

pub(crate) fn source(model: &ModelArgs) -> Result<Source, Error> {
    holdshort_models::from_env(&settings(model), &|name| std::env::var(name).ok())
}

/// That something is configured and a model's name is missing, where that is so.
pub(crate) fn unnamed(model: &ModelArgs) -> Option<String> {
    match source(model) {
        Ok(Source::Missing(missing @ Missing::Name { .. })) => {
            Some(format!("{missing}; until then agents play their rehearsal"))
        }
        Ok(_) | Err(_) => None,
    }
}

/// Why no model answers, if none does, and what answers instead.
pub(crate) fn rehearses(model: &ModelArgs) -> Option<String> {
    unnamed(model).or_else(|| match source(model) {
        Ok(Source::Provider(_)) => None,
        Ok(Source::Missing(missing)) => Some(format!("rehearsals only: {missing}")),
        Err(error) => Some(error.to_string()),
    })
}
