//! Converts types of the API to types of the core. Rejects invalid values that the types of the API allow.

mod ask;
pub(crate) mod assignment;
mod config;
mod hours;
mod person;

pub(crate) use ask::{ask, call};
pub(crate) use config::config;
pub(crate) use hours::hours;
pub(crate) use person::person;

use holdshort_core::actor::Role as CoreRole;
use holdshort_core::interrupt::Kind as CoreKind;
use holdshort_core::projection::Status as CoreStatus;
use holdshort_protocol::{Kind, Role, Status};

pub(crate) fn kind(kind: Kind) -> CoreKind {
    match kind {
        Kind::ToolApproval => CoreKind::ToolApproval,
        Kind::PlanApproval => CoreKind::PlanApproval,
        Kind::Checkpoint => CoreKind::Checkpoint,
        Kind::Error => CoreKind::Error,
        Kind::Question => CoreKind::Question,
        Kind::Choice => CoreKind::Choice,
        Kind::Turn => CoreKind::Turn,
        Kind::Escalation => CoreKind::Escalation,
        Kind::Review => CoreKind::Review,
        Kind::Continuation => CoreKind::Continuation,
        Kind::ClientCall => CoreKind::ClientCall,
        Kind::UnknownOutcome => CoreKind::UnknownOutcome,
    }
}

pub(crate) fn role(role: Role) -> CoreRole {
    match role {
        Role::Admin => CoreRole::Admin,
        Role::Operator => CoreRole::Operator,
        Role::Reviewer => CoreRole::Reviewer,
        Role::Agent => CoreRole::Agent,
        Role::Auditor => CoreRole::Auditor,
        Role::Engine => CoreRole::Engine,
    }
}

pub(crate) fn status(status: Status) -> CoreStatus {
    match status {
        Status::Queued => CoreStatus::Queued,
        Status::Running => CoreStatus::Running,
        Status::Waiting => CoreStatus::Waiting,
        Status::Paused => CoreStatus::Paused,
        Status::Completed => CoreStatus::Completed,
        Status::Failed => CoreStatus::Failed,
        Status::Cancelled => CoreStatus::Cancelled,
    }
}
