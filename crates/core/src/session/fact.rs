//! Facts of the events in a session's stream.

use serde::{Deserialize, Serialize};

use super::state::End;
use crate::gate::{Matcher, RefusedCall};
use crate::id::{GrantId, InterruptId, RunId};
use crate::time::Timestamp;

/// Event of a session, without its erasable content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// A person gave a grant: similar calls are allowed for the rest of the session.
    GrantAdded {
        grant: GrantId,
        matcher: Matcher,
        run: RunId,
        interrupt: InterruptId,
        /// Time at which the grant expires. If `None`, the grant ends with the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    GrantRevoked {
        grant: GrantId,
    },
    /// A person refused a call. Until the refusal is revoked, a person is asked about every similar call, even if a
    /// grant or a rule allows the call. The event's text describes the refused call in one line.
    RefusalAdded {
        /// Interrupt on which the person decided. The id of the interrupt also identifies the refusal.
        interrupt: InterruptId,
        run: RunId,
        call: RefusedCall,
    },
    RefusalRevoked {
        interrupt: InterruptId,
    },
    /// A person opened the session, before any run of the session started. `session_opened` is always the first event.
    /// The content of the event is `{name?, config?}`.
    SessionOpened {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idle_ms: Option<u64>,
    },
    /// A message started this run. The run is now the front run of the session. The previous front run had ended.
    FrontTaken {
        run: RunId,
        /// Agent that begins the run, if a person chose one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A message was added to the conversation. The text of the message is stored in an event of the front run.
    Said {
        run: RunId,
        seq: u64,
        /// Agent that wrote the message. If `None`, the actor of this event wrote the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Interrupt to whose question or answer the message belongs. `None` for other messages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<InterruptId>,
    },
    /// A person undid the changes of a run. The event's text lists the files.
    ChangesUndone {
        run: RunId,
        /// Run that undid the changes.
        by: RunId,
    },
    /// An undo run for the changes of `run` started. Until the undo run ends, no other undo of `run` starts in this
    /// session.
    UndoStarted {
        run: RunId,
        /// Undo run that reverts the changes.
        by: RunId,
    },
    /// The undo run `by` ended, whether or not it reverted changes of `run`.
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
