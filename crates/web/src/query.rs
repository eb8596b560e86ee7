//! Query strings and ids in paths. An unknown parameter is refused: a misspelt filter must not list everything.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use holdshort_protocol::{Code, DeliveryState, GrantStatus, InterruptStatus, Kind, SessionState, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::limits::{PAGE, PAGE_DEFAULT, POLL_SECONDS};
use crate::problem::{Answer, Refused};

/// The query, as a type that refuses unknown parameters.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let query = Query::try_from_uri(&parts.uri)
            .map_err(|error| Refused::new(Code::InvalidQuery, error.body_text()))?;
        Ok(Self(query.0))
    }
}

/// The id in the path. One that is malformed names nothing: 404.
pub struct Id<T>(pub T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let text = Path::<String>::from_request_parts(parts, state).await.map(|path| path.0);
        let id = text.ok().and_then(|text| text.parse().ok());
        id.map(Self).ok_or_else(|| Refused::not_found("id"))
    }
}

/// The two ids in a path.
pub struct Ids<A, B>(pub A, pub B);

impl<A: FromStr, B: FromStr, S: Send + Sync> FromRequestParts<S> for Ids<A, B> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await.map(|path| path.0);
        let ids = texts.ok().and_then(|(a, b)| Some(Self(a.parse().ok()?, b.parse().ok()?)));
        ids.ok_or_else(|| Refused::not_found("id"))
    }
}

/// A number in a query.
pub fn number(name: &str, text: Option<&str>) -> Answer<Option<u64>> {
    id(name, text)
}

/// An id in a query.
pub fn id<T: FromStr<Err: std::fmt::Display>>(name: &str, text: Option<&str>) -> Answer<Option<T>> {
    text.map(str::parse)
        .transpose()
        .map_err(|error| Refused::new(Code::InvalidQuery, format!("{name}: {error}")))
}

/// How many items a page shall have.
pub fn limit(asked: Option<u16>) -> Answer<usize> {
    match asked {
        None => Ok(PAGE_DEFAULT.into()),
        Some(limit @ 1..=PAGE) => Ok(limit.into()),
        Some(other) => {
            Err(Refused::new(Code::InvalidQuery, format!("limit: {other} is not between 1 and {PAGE}")))
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Heads that were noted, and what checkpoints say (`1042:root:` and the 64 digits of the root), with commas between
    /// them, at most 100: whether the journal continues from each.
    #[param(example = "1042:3f2a91b0c4d5e6f708192a3b")]
    pub against: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ConsistencyQuery {
    /// Events of the earlier checkpoint.
    #[param(minimum = 1, example = 1042)]
    pub earlier: u64,
    /// Events of the later one.
    #[param(minimum = 1, example = 2077)]
    pub size: u64,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunsQuery {
    pub status: Option<Status>,
    pub workflow: Option<String>,
    pub session: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    pub state: Option<SessionState>,
    /// That the session was opened for, or that a run of it has.
    pub workflow: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InterruptsQuery {
    pub status: Option<InterruptStatus>,
    pub run: Option<String>,
    pub session: Option<String>,
    pub kind: Option<Kind>,
    /// Those that name this person, or somebody in whose place they decide; `me` is whoever asks.
    #[param(example = "me")]
    pub assignee: Option<String>,
    /// Those that name this group; `mine` are the groups of whoever asks.
    #[param(example = "mine")]
    pub group: Option<String>,
    /// `false`: without those that whoever asks has put off, as long as that lasts.
    pub snoozed: Option<bool>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GrantsQuery {
    pub status: Option<GrantStatus>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnswersQuery {
    pub subject: Option<String>,
    /// Words that the question or its answer has, all of them. A text without a word, as `*`, is refused.
    pub q: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeliveriesQuery {
    pub channel: Option<String>,
    pub state: Option<DeliveryState>,
    /// `int_…`
    pub interrupt: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// The last event that is known already: those after it are given. `next_cursor` of the page before.
    pub since: Option<u64>,
    /// 1 to 200; 50 without it. Of pages only.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AllEventsQuery {
    /// The last event that is known already: those after it are given. `next_cursor` of the page before.
    pub position: Option<String>,
    /// Of streams: whether they hold previews. `true` without it.
    pub previews: Option<bool>,
    /// 1 to 200; 50 without it. Of pages only.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

/// Which events of the journal, the newest first.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditEventsQuery {
    /// Of one stream: a run's id, a session's, or `sys`.
    pub stream: Option<String>,
    /// Of this type: `run_started`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// By this person, agent or `engine`.
    pub actor: Option<String>,
    /// Not before this moment.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// Before this moment.
    #[param(format = DateTime)]
    pub to: Option<String>,
    /// `next_cursor` of the page before, with the same filters.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DecisionsQuery {
    /// The last decision that is known already: those after it are given. `next_cursor` of the page before, or the
    /// `position` of an item.
    pub cursor: Option<String>,
    /// 1 to 200; 50 without it. Of pages only.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// Seconds to wait for the resolution: 0 to 60.
    #[param(minimum = 0, maximum = 60)]
    pub wait: Option<u16>,
}

impl WaitQuery {
    pub fn seconds(&self) -> Answer<u16> {
        match self.wait.unwrap_or(0) {
            wait @ 0..=POLL_SECONDS => Ok(wait),
            other => {
                let message = format!("wait: {other} is not between 0 and {POLL_SECONDS} seconds");
                Err(Refused::new(Code::InvalidQuery, message))
            }
        }
    }
}
