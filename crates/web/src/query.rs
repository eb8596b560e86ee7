//! Query strings of URLs, and ids in paths. An unknown parameter is rejected, so that a list with a misspelt filter
//! does not return everything.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use holdshort_protocol::{Code, DeliveryState, GrantStatus, InterruptStatus, Kind, SessionState, Status};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use crate::limits::{PAGE, PAGE_DEFAULT, POLL_SECONDS};
use crate::problem::{Answer, Refused};

/// Query of a URL, parsed into a type that rejects unknown parameters.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let query = Query::try_from_uri(&parts.uri)
            .map_err(|error| Refused::new(Code::InvalidQuery, error.body_text()))?;
        Ok(Self(query.0))
    }
}

/// Id in the path of a URL. If the id is malformed, the response is 404.
pub struct Id<T>(pub T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let text = Path::<String>::from_request_parts(parts, state).await.map(|path| path.0);
        let id = text.ok().and_then(|text| text.parse().ok());
        id.map(Self).ok_or_else(|| Refused::not_found("id"))
    }
}

/// Two ids in the path of a URL. If one of them is malformed, the response is 404.
pub struct Ids<A, B>(pub A, pub B);

impl<A: FromStr, B: FromStr, S: Send + Sync> FromRequestParts<S> for Ids<A, B> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answer<Self> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await.map(|path| path.0);
        let ids = texts.ok().and_then(|(a, b)| Some(Self(a.parse().ok()?, b.parse().ok()?)));
        ids.ok_or_else(|| Refused::not_found("id"))
    }
}

/// Parses a query parameter as a number. `name` is the name of the parameter in the error.
pub fn number(name: &str, text: Option<&str>) -> Answer<Option<u64>> {
    id(name, text)
}

/// Parses a query parameter as an id. `name` is the name of the parameter in the error.
pub fn id<T: FromStr<Err: std::fmt::Display>>(name: &str, text: Option<&str>) -> Answer<Option<T>> {
    text.map(str::parse)
        .transpose()
        .map_err(|error| Refused::new(Code::InvalidQuery, format!("{name}: {error}")))
}

/// Returns the maximum number of items of a page that the client requested. Returns an error if the number is out of
/// range.
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
    /// Journal heads and checkpoint roots that you stored earlier (`1042:root:` and the 64 digits of the root),
    /// separated by commas, at most 100. For each head and root, the response contains `holds`: true if the journal
    /// still contains the covered events unchanged.
    #[param(example = "1042:3f2a91b0c4d5e6f708192a3b")]
    pub against: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ConsistencyQuery {
    /// Number of events that the earlier checkpoint covers.
    #[param(minimum = 1, example = 1042)]
    pub earlier: u64,
    /// Number of events that the later checkpoint covers.
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
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    pub state: Option<SessionState>,
    /// Only sessions that were opened for this workflow, or that contain a run of this workflow.
    pub workflow: Option<String>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
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
    /// Only interrupts of which this person, or a person whose delegate this person is, is an approver. `me` is the
    /// caller.
    #[param(example = "me")]
    pub assignee: Option<String>,
    /// Only interrupts of which this group is an approver. `mine` means all groups of the caller.
    #[param(example = "mine")]
    pub group: Option<String>,
    /// `false` leaves out interrupts that the caller has snoozed.
    pub snoozed: Option<bool>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct GrantsQuery {
    pub status: Option<GrantStatus>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnswersQuery {
    pub subject: Option<String>,
    /// Search words. Lists only answered questions that contain every word, in the question or in the answer. A text
    /// without words, such as `*`, is rejected.
    pub q: Option<String>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeliveriesQuery {
    pub channel: Option<String>,
    pub state: Option<DeliveryState>,
    /// Only deliveries about this interrupt. The id has the form `int_…`.
    pub interrupt: Option<String>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. A page may have fewer items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// `seq` of the last event that you have, such as the `next_cursor` of the previous page. The response has the
    /// events after this `seq`.
    pub since: Option<u64>,
    /// Maximum number of items on the page: 1 to 200, by default 50. Streams ignore this parameter.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AllEventsQuery {
    /// Position of the last event that you have, such as the `next_cursor` of the previous page. The response has the
    /// events after this position.
    pub position: Option<String>,
    /// True if a stream includes previews. The default is true. Pages ignore this parameter.
    pub previews: Option<bool>,
    /// Maximum number of items on the page: 1 to 200, by default 50. Streams ignore this parameter.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

/// Filter of journal events. The newest events are listed first.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditEventsQuery {
    /// Only events of this stream: the id of a run or a session, or `sys`.
    pub stream: Option<String>,
    /// Only events of this type, such as `run_started`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Only events of this actor: a person, an agent or `engine`.
    pub actor: Option<String>,
    /// Only events at or after this time.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// Only events before this time.
    #[param(format = DateTime)]
    pub to: Option<String>,
    /// `next_cursor` of the previous page, which had the same filters.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DecisionsQuery {
    /// Position of the last decision that you have: the `next_cursor` of the previous page, or the `position` of an
    /// item. The response has the decisions after this position. `start` is the position before the first decision.
    /// The response to `POST /v1/interrupts` has a position before its decision in the header `Decisions-Cursor`.
    /// A position is `p` and a number, and a later event has a larger number.
    pub cursor: Option<String>,
    /// Maximum number of items on the page: 1 to 200, by default 50. Streams ignore this parameter.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u16>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WaitQuery {
    /// Maximum time to wait for the resolution, in seconds: 0 to 60.
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
