//! Query strings and ids in paths. An unknown parameter is refused: a misspelt filter must not list everything.

use std::str::FromStr;

use axum::extract::rawpathparams::RawPathParams;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use holdshort_protocol::{Code, Kind, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::limits::{PAGE, PAGE_DEFAULT, POLL_SECONDS};
use crate::problem::{Answer, Refused};

/// The query, as a type that refuses unknown parameters.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let query = Query::try_from_uri(&parts.uri)
            .map_err(|error| Refused::new(Code::InvalidQuery, error.body_text()))?;
        Ok(Self(query.0))
    }
}
