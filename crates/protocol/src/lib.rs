//! Wire types of the native API: requests and responses of `/v1`, and the table of error codes.
//!
//! PURE: no I/O and no logic of the engine. No type of this crate is stored in the journal: the journal has its own
//! types, and the crate `server` converts them. Clients in Rust can use these types too. Later versions may add fields
//! to every response object. A request body with an unknown field is rejected.

mod answer;
mod answer_text;
mod approval;
mod assignment;
mod code;
mod delivery;
mod diff;
mod earlier_calls;
mod effect;
mod event;
mod evidence;
mod fetch;
mod form;
pub mod frame;
mod grant_scope;
mod inspected_call;
mod interrupt;
mod involved_people;
mod keeping;
mod key;
mod list;
mod login;
mod look_alikes;
mod member;
mod person;
pub mod plain;
mod plan;
pub mod pointer;
mod policy;
mod problem;
mod push;
mod run;
mod session;
mod system;
mod timing;
mod trial;
mod usage;
mod warning;
mod withhold;
mod work;

pub use answer::{CorrectAnswer, KeptAnswer, Suggestion};
pub use answer_text::{labelled_lines, labelled_members};
pub use approval::{
    AgentDecision, Approval, ApprovalUse, ExecOutcome, ExecReport, ReleasedTrial, ReportExec, UseApproval,
    UsedApproval,
};
pub use assignment::{
    AskAssignment, Assignment, Delegate, Delegation, Quorum, Reassign, Represented, Stage, Vote, You,
};
pub use code::Code;
pub use delivery::{Attempt, Channel, Delivery, DeliveryState, Occasion};
pub use diff::{Diff, DiffLine, Hunk};
pub use earlier_calls::EarlierCall;
pub use effect::{CommandEffect, Script};
pub use event::{Actor, AuditRecord, Event, Preview, PreviewKind, Role};
pub use evidence::{Consistency, NotCovered, ProvedEvent, Receipt, RecordedDelivery, SignedCheckpoint};
pub use fetch::FetchCard;
pub use form::parts_of_lines;
pub use grant_scope::GrantScope;
pub use inspected_call::{InspectedCall, OF_CALLS};
pub use interrupt::{
    AlsoCovered, Ask, AskCallback, AskChoice, AskTrial, Comment, Decision, HeldWork, Interrupt,
    InterruptStatus, Kind, Level, Offer, Origin, Outcome, Policy, Reason, Resolution, Risk,
};
pub use involved_people::{InvolvedPeople, PeopleLine, describe_people};
pub use keeping::{Erase, ErasedContent, Erasure, Hold, Keeping, PlaceHold};
pub use key::{Key, KeyStatus, KeyWithSecret, MakeKey, RotateKey};
pub use list::List;
pub use login::{
    DeviceHandle, DeviceLogin, DeviceProgress, Identity, Link, LinkRequest, Login, LoginLinkRequest,
    LoginProvider, LogoutNotice, Redeem, TokenLogin,
};
pub use look_alikes::LookAlikes;
pub use member::{Input, Member, answer_of};
pub use person::{Away, LeftInterrupt, Person, PersonRole, PersonSource, RemovedPerson, SetPerson};
pub use plan::{
    DraftSubtask, ModelMessage, ModelRequest, ModelRole, NodePosition, Plan, PlanDraft, PlanLayout,
    PlanVersion, Replan, Subtask, SubtaskStatus,
};
pub use policy::{ForeignCall, PolicyCheck, PolicyVerdict, VerdictWord};
pub use problem::{FieldError, Problem};
pub use push::{PushSubscription, PushSubscriptions, SubscribePush};
pub use run::{
    AskingConfig, Category, ChangeScope, ChangeWord, Checkpoint, Finish, Gate, GateConfig, MergeChanges,
    Message, Note, Rule, RuleAction, Run, RunConfig, RunLayer, RunResult, SmartConfig, StartRun, Status,
    UndoChanges,
};
pub use session::{
    Delivered, Grant, GrantCommand, GrantStatus, OpenSession, Refusal, Session, SessionMessage, SessionState,
    Speaker, Utterance,
};
pub use system::{
    ComparedHead, Damage, Freeze, FreezeOf, Frozen, Health, Info, JournalHead, MAX_HEADS, Model, Node,
    System, Verification, Workflow,
};
pub use timing::{AskEscalation, AskReminders, Group, Hours, NextEscalation, Snooze};
pub use trial::{OUTSIDE, TrialCard, TrialChange, is_outside};
pub use usage::{Cost, ModelCall, ModelCallStatus, Usage};
pub use warning::{Warning, WarningKind, warnings};
pub use withhold::{Withhold, withheld_words};
pub use work::{Work, WorkState};

/// Names of the HTTP headers of the native API, some of which are specific to Holdshort.
pub mod header {
    /// Header with the idempotency key that the client chooses. Of several requests with the same key, only the first
    /// is carried out.
    pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
    /// Header with the value `true` if the server returned the stored response of an earlier request with the same
    /// idempotency key.
    pub const IDEMPOTENCY_REPLAYED: &str = "idempotency-replayed";
    /// Cursor in the response to an ask. With this cursor, `GET /v1/agent/decisions` returns the decision on the
    /// interrupt, also if it is decided before the request.
    pub const DECISIONS_CURSOR: &str = "decisions-cursor";
    /// Header with the type of client that is recorded with a decision: `cli` or `rest`.
    pub const VIA: &str = "x-holdshort-via";
    /// Header with the secret of a browser's login. The server accepts the secret only together with the session cookie
    /// of the login.
    pub const SECRET: &str = "x-holdshort-secret";
    /// Header with the position of the last event that the client received from a stream.
    pub const LAST_EVENT_ID: &str = "last-event-id";
}
