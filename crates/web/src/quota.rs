//! Rate limits of sign-ins by address, and of decisions, as token buckets. Each response to a request that is counted
//! reports the state of the bucket (`RateLimit-Policy`, `RateLimit`: draft-ietf-httpapi-ratelimit-headers).
//!
//! The rate limits of agents are in `rate.rs`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use holdshort_protocol::Code;

use crate::limits::{DECISIONS, RATED, SIGN_IN_REQUESTS};
use crate::problem::{Answer, Refused};
use crate::rate::Rate;
use crate::route_limit::RouteLimit;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STANDING: HeaderName = HeaderName::from_static("ratelimit");
/// Period to which the rate limits of sign-ins and decisions apply.
const WINDOW: Duration = Duration::from_mins(1);

/// Rate limits of sign-ins and of decisions, as numbers per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerMinute {
    /// Maximum number of sign-in requests per minute from each address.
    pub sign_ins: u32,
    /// Maximum number of decisions per minute that each principal may make. Requests that are authenticated only by
    /// their path or body, such as decision links and callbacks, are also counted by address.
    pub decisions: u32,
}

impl Default for PerMinute {
    fn default() -> Self {
        Self { sign_ins: SIGN_IN_REQUESTS, decisions: DECISIONS }
    }
}

pub struct Allowances {
    sign_ins: Quota,
    decisions: Quota,
}

/// Rate limit of one kind of request, for each address or principal. An edge reports the rate limits of its own
/// protocol in its own wire format.
pub struct Quota {
    name: &'static str,
    per_minute: u32,
    each: Mutex<HashMap<String, Rate>>,
}

/// State of a rate limit's bucket after a request was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketState {
    name: &'static str,
    pub per_minute: u32,
    pub left: u32,
    /// Time until the rate limit's bucket has its maximum number of requests again.
    pub full: Duration,
    /// Time until a request is allowed again, or `None` if the request was allowed.
    pub refused: Option<Duration>,
}

/// State of the bucket against which the current request was counted. The state is set once, when the request is
/// counted, and reported in the response.
#[derive(Debug, Default)]
pub struct Meter(OnceLock<BucketState>);

impl Allowances {
    pub fn new(per_minute: PerMinute) -> Self {
        Self {
            sign_ins: Quota::new("sign-in", per_minute.sign_ins),
            decisions: Quota::new("decisions", per_minute.decisions),
        }
    }

    /// Counts a request that is limited by address, when the request arrives. [`Self::count_decision`] counts decisions
    /// by principal.
    pub(crate) fn arrives(&self, limit: RouteLimit, client: IpAddr, meter: &Meter) -> Answer<()> {
        match limit {
            RouteLimit::None | RouteLimit::Decisions => Ok(()),
            RouteLimit::SignIns => self.sign_ins.take(&address_key(client), meter),
            RouteLimit::DecisionsOfAddress => self.decisions.take(&address_key(client), meter),
        }
    }

    /// Counts a decision against the rate limit of a principal. Returns an error if this limit is exceeded.
    pub(crate) fn count_decision(&self, principal: &str, meter: Option<&Meter>) -> Answer<()> {
        // With the prefix, the name of a principal cannot equal an address.
        self.decisions.take(&format!("as {principal}"), meter.unwrap_or(&Meter::default()))
    }
}

/// Returns the key under which the rate limit counts the requests from an address. All IPv6 addresses of a /64 network
/// have one key, because such a network usually belongs to one client.
fn address_key(client: IpAddr) -> String {
    match client.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).to_string(),
    }
}

impl Quota {
    pub fn new(name: &'static str, per_minute: u32) -> Self {
        Self { name, per_minute, each: Mutex::default() }
    }

    fn take(&self, key: &str, meter: &Meter) -> Answer<()> {
        let standing = self.count(key, Instant::now());
        let _ = meter.0.set(standing);
        if standing.refused.is_none() { Ok(()) } else { Err(Refused::from_code(Code::TooManyRequests)) }
    }

    /// Counts a request against the bucket of a key. A request that is refused because the bucket is empty is not
    /// counted.
    pub fn count(&self, key: &str, now: Instant) -> BucketState {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        if each.len() >= RATED && !each.contains_key(key) {
            each.retain(|_, rate| rate.is_ahead(now));
            if each.len() >= RATED {
                // The first request of a new key is never refused. If there are too many buckets, the bucket that is
                // closest to full is deleted. A client that uses many new keys therefore gains nothing.
                let rested = each.iter().min_by_key(|(_, rate)| rate.full(now)).map(|(key, _)| key.clone());
                rested.and_then(|key| each.remove(&key));
            }
        }
        let interval = WINDOW / self.per_minute.max(1);
        let rate = each.entry(key.to_owned()).or_insert_with(|| Rate::every(interval, self.per_minute));
        let refused = (!rate.admits(now)).then(|| rate.wait(now));
        let Self { name, per_minute, .. } = *self;
        BucketState { name, per_minute, left: rate.left(now), full: rate.full(now), refused }
    }
}

impl Meter {
    /// Writes the state of the request's bucket into the rate limit headers of the response.
    pub(crate) fn add_headers(&self, headers: &mut HeaderMap) {
        let Some(BucketState { name, per_minute, left, full, refused }) = self.0.get() else { return };
        let mut put = |header, text: String| {
            if let Ok(value) = HeaderValue::from_str(&text) {
                headers.insert(header, value);
            }
        };
        put(POLICY, format!("\"{name}\";q={per_minute};w={}", WINDOW.as_secs()));
        put(STANDING, format!("\"{name}\";r={left};t={}", seconds(*full)));
        if let Some(wait) = refused {
            put(RETRY_AFTER, seconds(*wait).max(1).to_string());
        }
    }
}

fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_as_many_a_minute_and_is_told_what_is_left() {
        let quota = Quota { name: "decisions", per_minute: 3, each: Mutex::default() };
        let start = Instant::now();
        let count = |key: &str, after_s: u64| {
            let standing = quota.count(key, start + Duration::from_secs(after_s));
            (standing.left, seconds(standing.full), standing.refused.map(seconds))
        };
        assert_eq!(count("a", 0), (2, 20, None));
        assert_eq!(count("a", 0), (1, 40, None));
        assert_eq!(count("a", 0), (0, 60, None));
        assert_eq!(count("a", 5), (0, 55, Some(15)));
        assert_eq!(count("b", 5), (2, 20, None), "others have their own");
        assert_eq!(count("a", 20), (0, 60, None));
        assert_eq!(count("a", 200), (2, 20, None));
    }

    /// A client that has used up its rate limit gets no further requests when many other clients arrive.
    #[test]
    fn those_who_rest_longest_are_forgotten_first() {
        let quota = Quota { name: "sign-in", per_minute: 2, each: Mutex::default() };
        let now = Instant::now();
        let refused = |key: &str| quota.count(key, now).refused.is_some();
        assert_eq!([refused("greedy"), refused("greedy"), refused("greedy")], [false, false, true]);
        assert!((0..RATED + 10).all(|n| !refused(&n.to_string())), "no client is refused");
        assert!(refused("greedy"));
        assert_eq!(quota.each.lock().expect("it is whole").len(), RATED);
    }

    #[test]
    fn an_address_is_told_from_others_and_a_network_of_version_6_is_one() {
        let place = |text: &str| address_key(text.parse().expect("an address"));
        assert_eq!(place("2001:db8::1"), place("2001:db8:0:0:ffff::2"));
        assert_ne!(place("2001:db8::1"), place("2001:db8:0:1::1"));
        assert_ne!(place("192.0.2.1"), place("192.0.2.2"));
        assert_eq!(place("192.0.2.1"), place("::ffff:192.0.2.1"));
    }

    #[test]
    fn it_is_told_in_structured_fields() {
        let meter = Meter::default();
        let mut headers = HeaderMap::new();
        meter.add_headers(&mut headers);
        assert!(headers.is_empty());
        let _ = meter.0.set(BucketState {
            name: "sign-in",
            per_minute: 60,
            left: 0,
            full: Duration::from_millis(59_200),
            refused: Some(Duration::from_millis(200)),
        });
        meter.add_headers(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"sign-in\";q=60;w=60");
        assert_eq!(headers["ratelimit"], "\"sign-in\";r=0;t=60");
        assert_eq!(headers["retry-after"], "1");
    }
}
