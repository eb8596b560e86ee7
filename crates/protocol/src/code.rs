//! Table of all error codes: status, title, fix. Codes are stable: clients branch on them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $status:literal, $title:literal, $fix:literal;)*) => {
        /// Reason why a request was not carried out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Returns the meaning in one line. It is equal for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Returns the advice to the client.
            pub const fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)* }
            }
        }
    };
}

codes! {
    MalformedJson = "malformed_json", 400, "The body is not JSON that every reader understands alike",
        "Send UTF-8 JSON without duplicate keys and without integers beyond 2^53-1; write larger ones as text.";
    InvalidHeader = "invalid_header", 400, "A header has a value that it cannot have",
        "Correct the header that the detail names.";
    InvalidQuery = "invalid_query", 400, "A query parameter is not known or has a value that it cannot have",
        "Correct the parameter that the detail names.";
    Unauthenticated = "unauthenticated", 401, "Neither a token nor a login that this server gave out",
        "Send `Authorization: Bearer TOKEN`; the tokens are in tokens.json in the data folder. A browser gets in \
         with `holdshort login`.";
    CredentialExpired = "credential_expired", 401, "What was shown to be let in has expired",
        "An admin makes another key with `holdshort keys create NAME`; a token comes from whoever gives out tokens.";
    AccessEnded = "access_ended", 401, "What let you in has ended while this was open",
        "The key was revoked or rotated, the token or the login has expired, or somebody signed out: come back with what \
         counts now.";
    ForbiddenRole = "forbidden_role", 403, "The role of this token may not do that",
        "Ask somebody whose role may: an operator, or an admin for keys, people and erasing. Agents never decide.";
    NotAnApprover = "not_an_approver", 403, "The interrupt is assigned to others",
        "`assignment` names those who may, and so does `holdshort show ID`: ask one of them.";
    OwnWork = "own_work", 403, "Whoever started the run or wrote the edit does not release it",
        "Ask somebody else who may decide: `assignment` names them.";
    NotYourStage = "not_your_stage", 403, "Others decide at this stage",
        "Wait: `assignment.stage` says where it is, and `assignment.stages` who decides in which.";
    NotRetriable = "not_retriable", 409, "The delivery cannot be sent again",
        "Do nothing where it was delivered or what it said is kept no longer; where it is being sent, read it again in a moment.";
    NoVote = "no_vote", 409, "There is no vote of yours to take back",
        "Nothing: none of the decisions that stand is yours.";
    OtherSource = "other_source", 409, "The person is changed where they were read from",
        "Change them in the people file or at the identity provider: `source` says where.";
    AlreadyClaimed = "already_claimed", 409, "Somebody else is at the interrupt",
        "Ask who claimed it, or decide all the same: a claim keeps nobody from deciding. Whoever claimed it lets it go \
         with `POST /v1/interrupts/{id}/release`, and an admin too.";
    NameTaken = "name_taken", 409, "Somebody else is called so",
        "Choose another name: it is what events, cards and lists show.";
    KeyEnded = "key_ended", 409, "The key was revoked or has expired",
        "Make another one with `holdshort keys create NAME`; the name is free.";
    LoginCodeSpent = "login_code_spent", 403, "The login link is used up or too old",
        "`holdshort login` prints a fresh link.";
    SignInFailed = "sign_in_failed", 403, "The sign-in at the provider did not come to its end",
        "Begin again, and stay in one browser; the detail says what was wrong.";
    LogoutTokenRefused = "logout_token_refused", 400, "The notice of the identity provider does not count",
        "Register this server's `/v1/login/backchannel` at the provider; the detail says what is wrong with its token.";
    WrongOrigin = "wrong_origin", 403, "The request comes from a page of another origin",
        "Call the API from no browser, or from a page that this server gave out.";
    NotFound = "not_found", 404, "There is nothing under this address",
        "Check the path and the id.";
    MethodNotAllowed = "method_not_allowed", 405, "This address does not take this method",
        "The header Allow names those that it takes.";
    RequestTimeout = "request_timeout", 408, "The body did not arrive in time",
        "Send the request again, all of it at once.";
    AlreadyResolved = "already_resolved", 409, "The interrupt is resolved already",
        "Nothing: `resolution` holds what was decided, and by whom.";
    Stale = "stale", 409, "It changed since it was read",
        "Read it again, look at it again, and decide on the `version` that it has now.";
    RunEnded = "run_ended", 409, "The run has ended",
        "It takes nothing more: `holdshort show RUN` says how it ended. Start another run to go on.";
    RunNotEnded = "run_not_ended", 409, "The run has not ended",
        "Follow its events until it has; decide on its open interrupts.";
    RunAtWork = "run_at_work", 409, "The run is changing files right now",
        "Wait until its call has ended, or resume the run where it is paused, then ask again.";
    NoAnswer = "no_answer", 409, "The question has no answer that is kept",
        "List the answers that are: `holdshort answers`.";
    LegalHold = "legal_hold", 409, "What the run said is held from being erased",
        "Ask whoever holds it: `holdshort hold RUN` says who and why.";
    NotStoppable = "not_stoppable", 409, "The call cannot be stopped",
        "Read the run again: a command is stopped while it is tried or runs.";
    NotInterruptible = "not_interruptible", 409, "The run cannot be interrupted",
        "Interrupt the agent where it runs, or cancel the run.";
    NothingToUndo = "nothing_to_undo", 409, "There is nothing that can be taken back",
        "Look at what the run changed: `holdshort show RUN`; an earlier event may have more.";
    NoCommonApprover = "no_common_approver", 409, "Nobody may release all of it",
        "Undo a part of it: `to` names the event after which the changes of one phase begin.";
    NotExternal = "not_external", 409, "The run is one that Holdshort runs itself",
        "Ask in a run of the workflow `external`, or leave `run` out to have one started.";
    NotApproved = "not_approved", 409, "Nothing is approved that could be used",
        "Do nothing: wait for the decision, or ask again.";
    ApprovalUsed = "approval_used", 409, "The approval was used already",
        "Do nothing: `approval.used` says when it was used. Ask for another one.";
    ApprovalExpired = "approval_expired", 409, "The approval cannot be used any more",
        "Do nothing: ask again.";
    ApprovalDiffers = "approval_differs", 409, "Something else was approved",
        "Do what was approved: `approval.approved` holds it, and `approval.digest` is its digest.";
    LimitReached = "limit_reached", 409, "A limit is reached",
        "Let some of what is open come to its end, or go on elsewhere: in another run, session or connection.";
    NotAwaited = "not_awaited", 409, "Nothing waits for this",
        "Read the run again: it has gone on.";
    Frozen = "frozen", 409, "It is frozen",
        "GET /v1/system says what is frozen, by whom and why. An operator lifts it: POST /v1/system/unfreeze, or `holdshort unfreeze`.";
    SessionSuspended = "session_suspended", 409, "The session is suspended",
        "Resume it first: `holdshort resume ses_…`, or POST /v1/sessions/{id}/resume.";
    SessionClosed = "session_closed", 409, "The session is closed",
        "Start in another session, or in one of its own; `end_reason` says why this one is over.";
    Expired = "expired", 410, "Nobody decided in time",
        "Nothing: what the interrupt's `on_expiry` says has been applied.";
    LinkExpired = "link_expired", 410, "The link has expired",
        "`holdshort link INTERRUPT` makes another one.";
    BodyTooLarge = "body_too_large", 413, "The body is too large",
        "Send at most 1 MiB; put large things into files and name them.";
    UnsupportedMediaType = "unsupported_media_type", 415, "The body is of another type than is taken here",
        "Send `Content-Type: application/json`.";
    WrongHost = "wrong_host", 421, "The request is addressed to another host",
        "Use the address that the server printed: a loopback name with its port, or its public URL.";
    InvalidRequest = "invalid_request", 422, "The request does not fit",
        "Correct what `errors` names; each `pointer` is a place in the body.";
    Withheld = "withheld", 422, "The edit changes what is withheld from you",
        "Send each `{\"withheld\": …}` back where it stands, and read the interrupt again; who sees all of it may change it.";
    UnknownWorkflow = "unknown_workflow", 422, "There is no workflow of this name",
        "Choose one of `known`, or start the server with --workflows DIR.";
    UnknownSession = "unknown_session", 422, "There is no session with this id",
        "Leave `session` out to have one made.";
    IdempotencyKeyReused = "idempotency_key_reused", 422, "The idempotency key belongs to another request",
        "Use a new key for each new request.";
    TooManyStreams = "too_many_streams", 429, "Too many streams and long polls are open",
        "Close some, or try again later.";
    TooManyConnections = "too_many_connections", 429, "Agents have too many connections open",
        "Close some, or use one for many requests; try again as `Retry-After` says.";
    TooManyRequests = "too_many_requests", 429, "Too many requests come",
        "Wait as long as `Retry-After` says. Agents wait for a resolution with `?wait=25` or a stream, not by asking again.";
    Internal = "internal", 500, "The server made a mistake",
        "Report it with the server's log; the journal is as it was.";
    JournalDamaged = "journal_damaged", 500, "The stored events of this run are damaged",
        "Run `holdshort audit verify`; restore the data folder from a backup. Other runs are not affected.";
    StoreReadOnly = "store_read_only", 503, "The data folder cannot be written",
        "Make it writable again; nothing was changed.";
    IdentityUnavailable = "identity_unavailable", 503, "The identity provider cannot be asked",
        "Try again in a while; the server's log says why it does not answer.";
    StoreFailed = "store_failed", 503, "The store cannot be reached",
        "Try again; if it persists, see the server's log.";
    Outdated = "outdated", 503, "A newer server has written what this one cannot read",
        "Ask a server of the newer version; bring this one up to date.";
    Busy = "busy", 503, "Too much happens at once on this run",
        "Try again: nothing was changed.";
    Stopping = "stopping", 503, "The server is stopping",
        "Try again when it is back: nothing was changed.";
    DiskFull = "disk_full", 507, "The disk is full",
        "Free some space and try again: nothing was changed.";
}

impl Code {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }

    /// Returns the relative address of the code's page: `type` of a problem.
    pub fn page(self) -> String {
        format!("/docs/errors/{}", self.as_str())
    }
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A stable code to branch on. New ones may come."))
            .enum_values(Some(Self::ALL.iter().map(|code| code.as_str())))
            .into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Code")
    }
}
