//! Rate limits for starting and resuming crews (contracts D5, D6), reported in the headers of the source system.

use std::time::{Duration, Instant};

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use holdshort_protocol::Code;
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::quota::{BucketState, Quota};

use super::Settings;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// Counters of the requests of each principal to the crew edge. The counters are in memory, so a restart of the server
/// resets them.
pub(super) struct Limits {
    runs: Quota,
    resumes: Quota,
}

/// Kind of request of the crew edge that is counted against a rate limit.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    Run,
    Resume,
}

impl Limits {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { runs: Quota::new("runs", settings.runs), resumes: Quota::new("resumes", settings.resumes) }
    }

    /// Handles a request unless its principal has reached the rate limit. Every response reports the number of
    /// remaining requests.
    pub(super) async fn within<T: IntoResponse>(
        &self,
        counted: Counted,
        caller: &Caller,
        answer: impl Future<Output = Answer<T>>,
    ) -> Response {
        let who = format!("as {}", caller.principal.id);
        self.within_for_name(counted, &who, caller.app.now().as_millis(), answer).await
    }

    /// Applies the same rate limit as [`Self::within`] to a caller without a token. The requests are counted under the
    /// name `who`.
    pub(super) async fn within_for_name<T: IntoResponse>(
        &self,
        counted: Counted,
        who: &str,
        now_ms: i64,
        answer: impl Future<Output = Answer<T>>,
    ) -> Response {
        let (quota, what) = match counted {
            Counted::Run => (&self.runs, "starts of crews"),
            Counted::Resume => (&self.resumes, "resumes of tasks"),
        };
        let standing = quota.count(who, Instant::now());
        let answered = if standing.refused.is_none() {
            answer.await
        } else {
            let why = format!(
                "Rate limit exceeded: {what} are limited to {} per minute; retry later",
                standing.per_minute
            );
            Err(Refused::new(Code::TooManyRequests, why))
        };
        let mut response = answered.into_response();
        insert_rate_headers(response.headers_mut(), &standing, now_ms);
        response
    }
}

fn insert_rate_headers(headers: &mut HeaderMap, standing: &BucketState, now_ms: i64) {
    let seconds = |time: Duration| time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let at = u64::try_from(now_ms.div_euclid(1_000)).unwrap_or_default() + seconds(standing.full);
    for (name, number) in
        [(LIMIT, standing.per_minute.into()), (REMAINING, standing.left.into()), (RESET, at)]
    {
        headers.insert(name, HeaderValue::from(number));
    }
    if let Some(wait) = standing.refused {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds(wait).max(1)));
    }
}
