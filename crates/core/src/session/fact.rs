//! Facts of a session.

use serde::{Deserialize, Serialize};

use super::state::End;
use crate::gate::{Matcher, RefusedCall};
use crate::id::{GrantId, InterruptId, RunId};
use crate::time::Timestamp;

/// Event of a session, without its erasable content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// A person allowed similar calls for the rest of the session.
    GrantAdded {
        grant: GrantId,
        matcher: Matcher,
        run: RunId,
        interrupt: InterruptId,
        /// Expiry of the grant. `None`: the grant ends with the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    GrantRevoked {
        grant: GrantId,
    },
    /// A person refused a call. Until the refusal is revoked, a person is asked about every similar call, even if a
    /// grant or a rule allows it. The event's text is the call on one line.
    RefusalAdded {
        /// Interrupt that the person decided. Its id also identifies the refusal.
        interrupt: InterruptId,
        run: RunId,
        call: RefusedCall,
    },
    RefusalRevoked {
        interrupt: InterruptId,
    },
    /// The session was opened before any run started. `session_opened` is always the first event of the session; its
    /// content is `{name?, config?}`.
    SessionOpened {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_ms: Option<u64>,
    },
    /// A message started this run, which became the front run of the session. The previous front run had ended.
    FrontTaken {
        run: RunId,
        /// Agent with which the run begins, if a person chose one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A message was added to the conversation. An event of the front run contains the text of the message.
    Said {
        run: RunId,
        seq: u64,
        /// Agent that wrote the message. `None`: a person wrote it, the actor of this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Interrupt that the message asks about or answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<InterruptId>,
    },
    /// A person undid the changes of a run. The event's text lists the files.
    ChangesUndone {
        run: RunId,
        /// Run in which the changes were undone.
        by: RunId,
    },
    /// A run started that undoes changes of `run`. Until it ends, no other undo of `run` starts in this session.
    UndoStarted {
        run: RunId,
        /// Run that undoes the changes.
        by: RunId,
    },
    /// The run `by` ended, whether or not it undid changes of `run`.
    UndoEnded {
        run: RunId,
        by: RunId,
    },
    SessionSuspended,
    SessionResumed,
    SessionClosed {
        reason: End,
    },
}
