//! Requests by their idempotency keys: a repeated call attaches to the request of the earlier call.
//!
//! The first key is the digest of the request. If this request is over, the next key also has the id of its interrupt,
//! and so on. The keys need no storage: the journal finds the same requests after a restart.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use holdshort_protocol::{Interrupt, InterruptStatus, Outcome};
use serde_json::json;

use super::api::{self, AgentApi, Failure};
use super::request::Request;
use crate::limits::{MCP_CACHED_KEYS, MCP_EARLIER_REQUESTS, MCP_REPEAT_MS};

const PREFIX: &str = "mcp-";
/// Maximum characters of a key that a client sends back.
const KEY_CHARS: usize = 100;

/// Latest key of each request, by the agent and the first key.
#[derive(Debug, Default)]
pub(super) struct LatestKeys(Mutex<HashMap<(String, String), String>>);

/// Interrupt of a call, and its idempotency key.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) interrupt: Interrupt,
    pub(super) key: String,
}

/// Relation of a call to an earlier identical request.
#[derive(Debug, PartialEq, Eq)]
enum Earlier {
    /// The call waits for the decision, or gets it.
    Attach,
    /// The call is a new request.
    Over,
}

impl LatestKeys {
    /// Opens the request of a call, or attaches to the earlier one. `agent`: credentials of the caller as a digest.
    pub(super) async fn open(
        &self,
        api: &dyn AgentApi,
        agent: &str,
        request: &Request,
        now: Timestamp,
    ) -> Result<Attached, Failure> {
        let first = format!("{PREFIX}{}", Digest::of_json(&json!([request.ask, request.name])));
        let entry = (agent.to_owned(), first.clone());
        let mut key = self.lock().get(&entry).cloned().unwrap_or(first);
        for _ in 0..MCP_EARLIER_REQUESTS {
            let interrupt = api::ask(api, &request.ask, &key).await?;
            if relation(&interrupt, now) == Earlier::Attach {
                self.remember(entry, &key);
                return Ok(Attached { interrupt, key });
            }
            key = format!("{PREFIX}{}", Digest::of_json(&json!([key, interrupt.id])));
        }
        key = random_key()?;
        let interrupt = api::ask(api, &request.ask, &key).await?;
        self.remember(entry, &key);
        Ok(Attached { interrupt, key })
    }

    /// Attaches to the request whose key a client has sent back. A key of another call is refused by the server.
    pub(super) async fn resume(
        &self,
        api: &dyn AgentApi,
        request: &Request,
        key: &str,
    ) -> Result<Attached, Failure> {
        let is_ours = key.len() <= KEY_CHARS
            && key
                .strip_prefix(PREFIX)
                .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if !is_ours {
            return Err(Failure::Arguments("`requestState` is not one that this server sent".to_owned()));
        }
        let interrupt = api::ask(api, &request.ask, key).await?;
        Ok(Attached { interrupt, key: key.to_owned() })
    }

    fn remember(&self, entry: (String, String), key: &str) {
        let mut latest = self.lock();
        if latest.len() >= MCP_CACHED_KEYS {
            latest.clear();
        }
        latest.insert(entry, key.to_owned());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a key that no other request has.
pub(super) fn random_key() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Foreign(error.to_string()))?;
    Ok(format!("{PREFIX}{}", Digest::of_bytes(&bytes)))
}

fn relation(interrupt: &Interrupt, now: Timestamp) -> Earlier {
    let Some(resolution) = &interrupt.resolution else {
        return match interrupt.status {
            InterruptStatus::Open => Earlier::Attach,
            InterruptStatus::Resolved => Earlier::Over,
        };
    };
    let is_over = match resolution.outcome {
        // An approval that can no longer be used must not hide the action from people.
        Outcome::Approved => interrupt.approval.as_ref().is_none_or(|approval| {
            let until = approval.usable_until.as_ref();
            approval.used.is_some()
                || until.is_some_and(|until| until.parse().is_ok_and(|until| now >= until))
        }),
        Outcome::Rejected | Outcome::Answered => {
            resolution.at.parse::<Timestamp>().map_or(true, |at| now.ms_since(at) >= MCP_REPEAT_MS)
        }
        Outcome::Expired | Outcome::Cancelled | Outcome::Superseded => true,
    };
    if is_over { Earlier::Over } else { Earlier::Attach }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn interrupt(resolution: &Value, approval: &Value) -> Interrupt {
        let mut value = json!({
            "id": "int_1", "run": "run_1", "session": "ses_1", "kind": "tool_approval", "origin": "external",
            "status": if resolution.is_null() { "open" } else { "resolved" }, "title": "t", "message": "",
            "payload": {}, "options": [], "risk": {"level": "medium", "reasons": []}, "on_expiry": "expired",
            "assignment": {"approvers": [], "quorum": {"required": 1}}, "version": 1, "created_at": "2026-01-01T00:00:00Z"
        });
        for (name, member) in [("resolution", resolution), ("approval", approval)] {
            if !member.is_null() {
                value[name] = member.clone();
            }
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_repeated_call_attaches_until_its_request_is_over() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let ended =
            |outcome: &str, at: &str| json!({"outcome": outcome, "by": [], "cause": "decision", "at": at});
        let (just, earlier) = ("2026-01-01T11:51:00Z", "2026-01-01T11:50:00Z");
        let unused = json!({"digest": "d"});
        let ends = json!({"digest": "d", "usable_until": "2026-01-01T12:00:00Z"});
        let used = json!({"digest": "d", "used": {"at": just, "by": "a"}});
        let null = Value::Null;
        for (resolution, approval, expected) in [
            (null.clone(), &null, Earlier::Attach),
            (ended("approved", earlier), &unused, Earlier::Attach),
            (ended("approved", just), &ends, Earlier::Over),
            (ended("approved", just), &used, Earlier::Over),
            (ended("approved", just), &null, Earlier::Over),
            (ended("rejected", just), &null, Earlier::Attach),
            (ended("rejected", earlier), &null, Earlier::Over),
            (ended("answered", just), &null, Earlier::Attach),
            (ended("answered", earlier), &null, Earlier::Over),
            (ended("expired", just), &null, Earlier::Over),
            (ended("cancelled", just), &null, Earlier::Over),
            (ended("superseded", just), &null, Earlier::Over),
        ] {
            assert_eq!(relation(&interrupt(&resolution, approval), now), expected, "{resolution} {approval}");
        }
    }
}
