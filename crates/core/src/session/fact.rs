//! Facts of a session: what can happen in it.

use serde::{Deserialize, Serialize};

use super::state::End;
use crate::gate::{Matcher, RefusedCall};
use crate::id::{GrantId, InterruptId, RunId};
use crate::time::Timestamp;

/// Event of a session, without its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// A person allowed a kind of call for the rest of the session.
    GrantAdded {
        grant: GrantId,
        matcher: Matcher,
        run: RunId,
        interrupt: InterruptId,
        /// From then on it holds no longer; `None`: as long as the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    GrantRevoked {
        grant: GrantId,
    },
    /// A person refused a call. It asks again until the refusal is revoked, whatever grant or rule allows it. text: the
    /// call on one line.
    RefusalAdded {
        /// Interrupt that the person decided on. Names the refusal.
        interrupt: InterruptId,
        run: RunId,
        call: RefusedCall,
    },
    RefusalRevoked {
        interrupt: InterruptId,
    },
    /// Made by itself, before any run. Always the first event; its content is `{name?, config?}`.
    SessionOpened {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_ms: Option<u64>,
    },
    /// A message starts this run, which becomes the front run: the one before has ended.
    FrontTaken {
        run: RunId,
        /// Agent in front, if a person chose one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// Something was said in the conversation. The words are those of an event of the front run.
    Said {
        run: RunId,
        seq: u64,
        /// The agent that said it; `None`: a person, this event's actor.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Interrupt that it asks or answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<InterruptId>,
    },
    /// A person took back what a run had changed. text: which files.
    ChangesUndone {
        run: RunId,
        /// The run that did it.
        by: RunId,
    },
    SessionSuspended,
    SessionResumed,
    SessionClosed {
        reason: End,
    },
}
