//! Facts of a session.

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
        /// Expiry. `None`: as long as the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    GrantRevoked {
        grant: GrantId,
    },
    /// A person refused a call. Such a call asks until the refusal is revoked, whatever grant or rule allows it. Its
    /// text is the call on one line.
    RefusalAdded {
        /// Interrupt that the person decided on. It identifies the refusal.
        interrupt: InterruptId,
        run: RunId,
        call: RefusedCall,
    },
    RefusalRevoked {
        interrupt: InterruptId,
    },
    /// The session was opened before any run. Always the first event; its content is `{name?, config?}`.
    SessionOpened {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_ms: Option<u64>,
    },
    /// A message started this run, which becomes the front run. The previous front run has ended.
    FrontTaken {
        run: RunId,
        /// Agent in front, if a person chose one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A message appeared in the conversation. Its text is in an event of the front run.
    Said {
        run: RunId,
        seq: u64,
        /// Author of the message. `None` for a person: the actor of this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Interrupt that the message asks or answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<InterruptId>,
    },
    /// A person undid the changes of a run. Its text lists the files.
    ChangesUndone {
        run: RunId,
        /// Run that undid the changes.
        by: RunId,
    },
    SessionSuspended,
    SessionResumed,
    SessionClosed {
        reason: End,
    },
}
