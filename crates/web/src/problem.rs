//! Refusals as problem+json. Maps errors of the engine to error codes, and builds the response to every rejected
//! request.

use std::io::ErrorKind;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdshort_core::digest::Digest;
use holdshort_core::interrupt::{Refusal as DecisionRefusal, Unusable};
use holdshort_core::run::Rejection;
use holdshort_core::run::undo::NotUndone;
use holdshort_core::system::keys;
use holdshort_core::{schema, session, system};
use holdshort_engine::Error;
use holdshort_protocol::{Approval, ApprovalUse, Code, FieldError, Problem};
use serde_json::Value;

use crate::{request_id, secrets};

/// Rejection of a request, with the error code and the reason.
#[derive(Debug)]
pub struct Refused(pub Box<Problem>);

pub type Answer<T> = Result<T, Refused>;

impl Refused {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(code, detail)))
    }

    /// Returns an error with this code. The detail of the error is the standard advice for the code.
    pub fn from_code(code: Code) -> Self {
        Self::new(code, code.fix())
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("there is no such {what}"))
    }

    /// Returns an error that lists the invalid fields of a request body.
    pub fn invalid(problems: Vec<schema::Problem>) -> Self {
        Self::at_places(Code::InvalidRequest, problems)
    }

    fn at_places(code: Code, problems: Vec<schema::Problem>) -> Self {
        let errors: Vec<FieldError> = problems
            .into_iter()
            .map(|problem| FieldError { pointer: problem.pointer, message: problem.message })
            .collect();
        let several = format!("{} fields are invalid", errors.len());
        let mut refused = Self::new(code, one(&errors).unwrap_or(several));
        refused.0.errors = errors;
        refused
    }

    /// Applies `name` to each field error, so that an edge can use its own field names and messages. Also rewrites the
    /// detail of the error, because some clients of other systems show only the detail.
    #[must_use]
    pub fn map_field_errors(mut self, name: impl FnMut(&mut FieldError)) -> Self {
        self.0.errors.iter_mut().for_each(name);
        if !self.0.errors.is_empty() {
            let places: Vec<String> = self.0.errors.iter().map(describe_field_error).collect();
            self.0.detail = places.join("; ");
        }
        self
    }

    /// Returns an error that names one invalid field of a request body.
    pub fn invalid_at(pointer: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![schema::Problem::new(pointer, message)])
    }

    fn of_approval(code: Code, detail: String, approval: Approval) -> Self {
        let mut refused = Self::new(code, detail);
        refused.0.approval = Some(approval);
        refused
    }

    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns true if the rejected request certainly wrote nothing to the journal. Returns false after an error of the
    /// store, because it is then unknown if the event was written.
    pub fn wrote_nothing(&self) -> bool {
        self.code().status() < 500
    }
}

/// Returns the text of the only field error of a request, or `None` if there are none or several.
fn one(errors: &[FieldError]) -> Option<String> {
    if let [only] = errors { Some(describe_field_error(only)) } else { None }
}

fn describe_field_error(error: &FieldError) -> String {
    if error.pointer.is_empty() {
        error.message.clone()
    } else {
        format!("{} {}", error.pointer, error.message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self(mut problem) = self;
        if problem.status >= 500 {
            problem.request_id = request_id::current().map(|id| id.to_string());
        }
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.extensions_mut().insert(problem.code);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match problem.code {
            Code::Unauthenticated | Code::CredentialExpired | Code::AccessEnded => {
                let value = HeaderValue::from_static("Bearer realm=\"holdshort\"");
                headers.insert(header::WWW_AUTHENTICATE, value);
            }
            Code::TooManyStreams
            | Code::TooManyConnections
            | Code::TooManyRequests
            | Code::Busy
            | Code::Stopping => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound => Self::new(Code::NotFound, "the requested object does not exist"),
            Error::Rejected(rejection) => rejection.into(),
            Error::Session(session::Rejection::Role) | Error::System(system::Rejection::Role) => {
                Self::from_code(Code::ForbiddenRole)
            }
            Error::System(rejection @ system::Rejection::NameTaken { .. }) => {
                Self::new(Code::NameTaken, rejection.to_string())
            }
            Error::System(system::Rejection::UnknownPerson) => Self::not_found("person"),
            Error::System(system::Rejection::UnknownGroup) => Self::not_found("group"),
            Error::System(system::Rejection::UnknownWebhook) => Self::not_found("webhook"),
            Error::System(system::Rejection::UnknownPush) => Self::not_found("browser of yours"),
            Error::System(system::Rejection::OtherSource(why)) => Self::new(Code::OtherSource, why),
            Error::System(rejection @ system::Rejection::Removed(_)) => {
                Self::new(Code::Unauthenticated, rejection.to_string())
            }
            Error::System(rejection @ system::Rejection::Frozen(_)) => {
                Self::new(Code::Frozen, rejection.to_string())
            }
            Error::System(system::Rejection::Key(refusal)) => refusal.into(),
            Error::Session(session::Rejection::UnknownGrant) => Self::not_found("grant"),
            Error::Session(session::Rejection::UnknownRefusal) => Self::not_found("refusal"),
            Error::Session(rejection @ session::Rejection::Closed(_)) => {
                Self::new(Code::SessionClosed, rejection.to_string())
            }
            Error::Session(rejection @ session::Rejection::Limit { .. }) => {
                Self::new(Code::LimitReached, rejection.to_string())
            }
            // These two rejections are faults of the server: each request to open a session uses a new id, and only
            // the engine expires sessions.
            Error::Session(session::Rejection::AlreadyThere | session::Rejection::NotIdle) => {
                tracing::error!(%error, "the engine returned a rejection that cannot occur here");
                Self::from_code(Code::Internal)
            }
            Error::Start(problems)
            | Error::Session(session::Rejection::Invalid(problems))
            | Error::System(system::Rejection::Invalid(problems)) => Self::invalid(problems),
            Error::KeyReused => Self::from_code(Code::IdempotencyKeyReused),
            // Errors of runs that are unreadable.
            Error::Damaged { .. } | Error::NoDefinition { .. } | Error::NewDefinition { .. } => {
                tracing::error!(%error, "a run cannot be read");
                Self::new(Code::JournalDamaged, error.to_string())
            }
            Error::Undo(why @ NotUndone::UnknownEvent) => Self::invalid_at("/to", why.to_string()),
            Error::Undo(why @ NotUndone::AtWork) => Self::new(Code::RunAtWork, why.to_string()),
            Error::Undo(why @ NotUndone::NoCommonApprover) => {
                Self::new(Code::NoCommonApprover, why.to_string())
            }
            Error::Undo(
                why @ (NotUndone::Nothing
                | NotUndone::Erased
                | NotUndone::TakenBack
                | NotUndone::NoWorkspace(_)),
            ) => Self::new(Code::NothingToUndo, why.to_string()),
            Error::Store(error) => error.into(),
            Error::ReuseHeld(_) => Self::new(Code::LegalHold, error.to_string()),
            Error::NothingBegins => {
                Self::invalid_at("", "no run can start, because the session was opened without a `workflow`")
            }
            // In every attempt, another writer changed the same data first.
            Error::Busy | Error::KeyTaken | Error::FrontTaken => Self::from_code(Code::Busy),
            Error::Internal(_) => {
                tracing::error!(%error, "the engine returned a rejection that cannot occur here");
                Self::from_code(Code::Internal)
            }
        }
    }
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        let said = rejection.to_string();
        match rejection {
            Rejection::Ended(_) => Self::new(Code::RunEnded, said),
            Rejection::UnknownInterrupt => Self::not_found("interrupt"),
            Rejection::NotEnded => Self::new(Code::RunNotEnded, said),
            Rejection::Held | Rejection::HeldAlready(_) => Self::new(Code::LegalHold, said),
            Rejection::UnknownCall => Self::not_found("call"),
            Rejection::NoAnswer(_) => Self::new(Code::NoAnswer, said),
            Rejection::NotStoppable(_) => Self::new(Code::NotStoppable, said),
            Rejection::NotInterruptible(_) => Self::new(Code::NotInterruptible, said),
            Rejection::Refused(refusal) => refusal.into(),
            Rejection::Unusable(why) => why.into(),
            Rejection::Role => Self::from_code(Code::ForbiddenRole),
            Rejection::Invalid(problems) => Self::invalid(problems),
            Rejection::NotExternal => Self::new(Code::NotExternal, said),
            Rejection::Limit { .. } => Self::new(Code::LimitReached, said),
            Rejection::AlreadyStarted | Rejection::Outdated => Self::new(Code::NotAwaited, said),
            Rejection::Frozen => Self::new(Code::Frozen, said),
            Rejection::SessionSuspended => Self::new(Code::SessionSuspended, said),
            Rejection::SessionClosed(_) => Self::new(Code::SessionClosed, said),
            Rejection::UndoOpen { .. } => Self::new(Code::UndoOpen, said),
            Rejection::NoPlan => Self::not_found("plan"),
            Rejection::PlanHeld { .. } => Self::new(Code::Stale, said),
            Rejection::StalePlan { found } => {
                let mut refused = Self::new(Code::Stale, said);
                refused.0.version = Some(found as u64);
                refused
            }
        }
    }
}

impl From<Unusable> for Refused {
    fn from(why: Unusable) -> Self {
        let said = why.to_string();
        match why {
            Unusable::NotApproved(_) => Self::new(Code::NotApproved, said),
            Unusable::Used { by, at, digest } => {
                let used = Some(ApprovalUse { at: at.to_string(), by });
                Self::of_approval(Code::ApprovalUsed, said, Approval { used, ..approval(digest) })
            }
            Unusable::Expired { at, digest } => {
                let usable_until = Some(at.to_string());
                Self::of_approval(Code::ApprovalExpired, said, Approval { usable_until, ..approval(digest) })
            }
            Unusable::Differs { digest, approved } => {
                let approved = *approved;
                Self::of_approval(Code::ApprovalDiffers, said, Approval { approved, ..approval(digest) })
            }
        }
    }
}

fn approval(digest: Digest) -> Approval {
    Approval { digest: digest.to_string(), approved: Value::Null, usable_until: None, used: None, exec: None }
}

impl From<keys::Refusal> for Refused {
    fn from(refusal: keys::Refusal) -> Self {
        let said = refusal.to_string();
        match refusal {
            keys::Refusal::Name => Self::invalid_at("/name", said),
            keys::Refusal::Role => Self::invalid_at("/role", said),
            keys::Refusal::Expiry => Self::invalid_at("/expires_in_ms", said),
            keys::Refusal::Folder | keys::Refusal::FolderRole => Self::invalid_at("/folder", said),
            keys::Refusal::Overlap => Self::invalid_at("/overlap_ms", said),
            keys::Refusal::Limit => Self::new(Code::LimitReached, said),
            keys::Refusal::Unknown => Self::not_found("key"),
            keys::Refusal::Revoked | keys::Refusal::Expired => Self::new(Code::KeyEnded, said),
            // A duplicate is a fault of the server, because the server generates ids and secrets.
            keys::Refusal::Twice => {
                tracing::error!("a newly generated key id or key secret already exists");
                Self::from_code(Code::Internal)
            }
        }
    }
}

impl From<DecisionRefusal> for Refused {
    fn from(refusal: DecisionRefusal) -> Self {
        let said = refusal.to_string();
        match refusal {
            DecisionRefusal::Role | DecisionRefusal::OfAnother => Self::new(Code::ForbiddenRole, said),
            DecisionRefusal::NotAnApprover => Self::new(Code::NotAnApprover, said),
            DecisionRefusal::OwnWork | DecisionRefusal::OwnHandOver => Self::new(Code::OwnWork, said),
            DecisionRefusal::NotYourStage { .. } | DecisionRefusal::NeededElsewhere => {
                Self::new(Code::NotYourStage, said)
            }
            DecisionRefusal::NoVote => Self::new(Code::NoVote, said),
            DecisionRefusal::Expired => Self::new(Code::Expired, said),
            DecisionRefusal::AlreadyResolved => Self::new(Code::AlreadyResolved, said),
            DecisionRefusal::Claimed { .. } => Self::new(Code::AlreadyClaimed, said),
            DecisionRefusal::Limit { .. } => Self::new(Code::LimitReached, said),
            DecisionRefusal::Stale { current } => {
                let mut refused = Self::new(Code::Stale, said);
                refused.0.version = Some(current);
                refused
            }
            DecisionRefusal::Invalid(problems) => Self::invalid(problems),
            DecisionRefusal::Withheld(problems) => Self::at_places(Code::Withheld, problems),
        }
    }
}

impl From<secrets::Error> for Refused {
    fn from(error: secrets::Error) -> Self {
        tracing::error!(%error, "a secret cannot be generated or stored");
        match error {
            secrets::Error::Io { source, .. } => match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::from_code(Code::DiskFull),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    Self::from_code(Code::StoreReadOnly)
                }
                _ => Self::from_code(Code::StoreFailed),
            },
            secrets::Error::NoRandomness(_)
            | secrets::Error::Exposed { .. }
            | secrets::Error::Malformed { .. }
            | secrets::Error::Disagreed { .. } => Self::from_code(Code::Internal),
        }
    }
}

impl From<holdshort_store::Error> for Refused {
    fn from(error: holdshort_store::Error) -> Self {
        use holdshort_store::Error as Store;
        if !matches!(error, Store::BadCursor | Store::Closed) {
            tracing::error!(%error, "the store failed");
        }
        match error {
            Store::Full => Self::from_code(Code::DiskFull),
            Store::ReadOnly => Self::from_code(Code::StoreReadOnly),
            Store::BadCursor => Self::new(Code::InvalidQuery, format!("cursor: {error}")),
            Store::Closed => Self::from_code(Code::Stopping),
            Store::Corrupt(_) => Self::from_code(Code::JournalDamaged),
            Store::FilesReplaced(_) => Self::new(Code::StoreFailed, error.to_string()),
            Store::InUse
            | Store::Nodes(_)
            | Store::FromTheFuture { .. }
            | Store::Outdated { .. }
            | Store::OlderNodes { .. }
            | Store::Io(_) => Self::from_code(Code::StoreFailed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_other_words_each_place_is_in_the_detail() {
        let problems = [("/text", "is missing"), ("", "is too long")];
        let problems = problems.map(|(pointer, message)| schema::Problem::new(pointer, message));
        let refused = Refused::invalid(problems.into()).map_field_errors(|error| {
            if error.pointer == "/text" {
                "/comments".clone_into(&mut error.pointer);
            }
        });
        assert_eq!(refused.0.detail, "/comments is missing; is too long");
    }

    #[test]
    fn what_a_failing_store_wrote_is_not_known() {
        for (code, wrote_nothing) in [
            (Code::StoreFailed, false),
            (Code::Internal, false),
            (Code::ForbiddenRole, true),
            (Code::IdempotencyKeyReused, true),
        ] {
            assert_eq!(Refused::from_code(code).wrote_nothing(), wrote_nothing, "{code:?}");
        }
    }
}
