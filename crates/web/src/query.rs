//! Query strings, and ids in paths. An unknown parameter is rejected, so that a misspelt filter does not list
//! everything.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use holdshort_protocol::{Code, DeliveryState, GrantStatus, InterruptStatus, Kind, SessionState, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::limits::{PAGE, PAGE_DEFAULT, POLL_SECONDS};
use crate::problem::{Answer, Refused};

/// Query, as a type that rejects unknown parameters.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let query = Query::try_from_uri(&parts.uri)
            .map_err(|error| Refused::new(Code::InvalidQuery, error.body_text()))?;
        Ok(Self(query.0))
    }
}

/// Id in the path. A malformed id is 404.
pub struct Id<T>(pub T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let text = Path::<String>::from_request_parts(parts, state).await.map(|path| path.0);
        let id = text.ok().and_then(|text| text.parse().ok());
        id.map(Self).ok_or_else(|| Refused::not_found("id"))
    }
}

/// Two ids in a path.
pub struct Ids<A, B>(pub A, pub B);

impl<A: FromStr, B: FromStr, S: Send + Sync> FromRequestParts<S> for Ids<A, B> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await.map(|path| path.0);
        let ids = texts.ok().and_then(|(a, b)| Some(Self(a.parse().ok()?, b.parse().ok()?)));
        ids.ok_or_else(|| Refused::not_found("id"))
    }
}

/// Parses a number in a query.
pub fn number(name: &str, text: Option<&str>) -> Answer<Option<u64>> {
    id(name, text)
}

/// Parses an id in a query.
pub fn id<T: FromStr<Err: std::fmt::Display>>(name: &str, text: Option<&str>) -> Answer<Option<T>> {
    text.map(str::parse)
        .transpose()
        .map_err(|error| Refused::new(Code::InvalidQuery, format!("{name}: {error}")))
}

/// Returns the number of items of a page. Rejects numbers out of range.
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
    /// Known heads and checkpoint roots (`1042:root:` and the 64 digits of the root), separated by commas, at most 100.
    /// The answer says for each of them whether the journal continues from it.
    #[param(example = "1042:3f2a91b0c4d5e6f708192a3b")]
    pub against: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ConsistencyQuery {
    /// Number of events of the earlier checkpoint.
    #[param(minimum = 1, example = 1042)]
    pub earlier: u64,
    /// Number of events of the later checkpoint.
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
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    pub state: Option<SessionState>,
    /// Workflow of the session, or of one of its runs.
    pub workflow: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
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
    /// Only interrupts that name this person, or a person whose delegate they are. `me` is the caller.
    #[param(example = "me")]
    pub assignee: Option<String>,
    /// Only interrupts that name this group. `mine` means the groups of the caller.
    #[param(example = "mine")]
    pub group: Option<String>,
    /// `false` leaves out interrupts that the caller has snoozed, until the snooze ends.
    pub snoozed: Option<bool>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
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
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnswersQuery {
    pub subject: Option<String>,
    /// Words that the question or its answer contains, all of them. A text without words, such as `*`, is rejected.
    pub q: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeliveriesQuery {
    pub channel: Option<String>,
    pub state: Option<DeliveryState>,
    /// Id of the interrupt: `int_…`.
    pub interrupt: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Number of items: 1 to 200, by default 50. A page may hold fewer.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Last known event, such as the `next_cursor` of the page before. The answer holds the events after it.
    pub since: Option<u64>,
    /// Number of items of a page: 1 to 200, by default 50. Streams ignore it.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AllEventsQuery {
    /// Last known event, such as the `next_cursor` of the page before. The answer holds the events after it.
    pub position: Option<String>,
    /// True if a stream includes previews, by default true. Pages ignore it.
    pub previews: Option<bool>,
    /// Number of items of a page: 1 to 200, by default 50. Streams ignore it.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

/// Filter of journal events, which are listed from the newest.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditEventsQuery {
    /// Stream of the events: the id of a run or of a session, or `sys`.
    pub stream: Option<String>,
    /// Type of the events, such as `run_started`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Actor of the events: a person, an agent or `engine`.
    pub actor: Option<String>,
    /// Earliest time of the events, inclusive.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// Latest time of the events, exclusive.
    #[param(format = DateTime)]
    pub to: Option<String>,
    /// `next_cursor` of the page before, with the same filters.
    pub cursor: Option<String>,
    /// Number of items: 1 to 200, by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DecisionsQuery {
    /// Last known decision: the `next_cursor` of the page before, or the `position` of an item. The answer holds the
    /// decisions after it.
    pub cursor: Option<String>,
    /// Number of items of a page: 1 to 200, by default 50. Streams ignore it.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// Time to wait for the resolution, in seconds: 0 to 60.
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
