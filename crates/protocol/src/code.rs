//! Table of all error codes: status, title and fix. Codes are stable, because clients branch on them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $status:literal, $title:literal, $fix:literal;)*) => {
        /// Error code: the reason why a request was refused or failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl Code {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            /// Returns the meaning of the error code in one line. All errors with this code have the same title.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// Returns advice about the error code for the author of the client.
            pub const fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)* }
            }
        }
    };
}

codes! {
    MalformedJson = "malformed_json", 400, "The body is not valid, unambiguous JSON",
        "Send UTF-8 JSON without duplicate keys or integers beyond 2^53-1; write larger integers as text.";
    InvalidHeader = "invalid_header", 400, "A header has an invalid value",
        "Correct the header that the detail names.";
    InvalidQuery = "invalid_query", 400, "A query parameter is unknown or has an invalid value",
        "Correct the parameter that the detail names.";
    Unauthenticated = "unauthenticated", 401, "The request has no valid token or login",
        "Send `Authorization: Bearer TOKEN`; the tokens are in tokens.json in the data folder. For a \
         browser, run `holdshort login`.";
    CredentialExpired = "credential_expired", 401, "The key or token has expired",
        "Ask an admin for another key (`holdshort keys create NAME`), or get another token from its issuer.";
    AccessEnded = "access_ended", 401, "Access ended while the connection was open",
        "The key was revoked or rotated, the token or the login expired, or the browser signed out. Connect \
         again with valid credentials.";
    ForbiddenRole = "forbidden_role", 403, "The role of this token does not permit this request",
        "Ask a person whose role permits the request: an operator, or an admin for keys, people and erasure. \
         Agents never decide.";
    NotAnApprover = "not_an_approver", 403, "You are not an approver of this interrupt",
        "Ask one of the approvers: `assignment` and `holdshort show ID` list them.";
    OwnWork = "own_work", 403, "You may not release your own work",
        "Ask another approver to decide: `assignment` lists them.";
    NotYourStage = "not_your_stage", 403, "You may not decide at this stage",
        "Wait: `assignment.stage` is the current stage, and `assignment.stages` lists the approvers of each \
         stage.";
    NotRetriable = "not_retriable", 409, "The delivery cannot be retried",
        "Do nothing if the delivery succeeded or its content is no longer stored. If the delivery is being \
         sent, read it again in a moment.";
    NoVote = "no_vote", 409, "You have no vote to take back",
        "Do nothing: none of the current votes is yours.";
    OtherSource = "other_source", 409, "The person is managed by another source",
        "`source` says where to change the person: in the people file or at the identity provider.";
    AlreadyClaimed = "already_claimed", 409, "Another person has claimed the interrupt",
        "Ask the person who claimed the interrupt, or decide anyway: a claim does not block decisions. That \
         person or an admin can release the interrupt with `POST /v1/interrupts/{id}/release`.";
    NameTaken = "name_taken", 409, "The name is already taken",
        "Choose another name: events, cards and lists show the name.";
    KeyEnded = "key_ended", 409, "The key was revoked or has expired",
        "Create another key with `holdshort keys create NAME`; the name is available again.";
    LoginCodeSpent = "login_code_spent", 403, "The login link was already used or has expired",
        "Run `holdshort login` for a new link.";
    SignInFailed = "sign_in_failed", 403, "The sign-in at the identity provider failed",
        "Start the sign-in again, and stay in one browser; the detail gives the reason.";
    LogoutTokenRefused = "logout_token_refused", 400, "The logout token of the identity provider is invalid",
        "Register this server's `/v1/login/backchannel` at the provider; the detail says what is wrong with \
         the token.";
    WrongOrigin = "wrong_origin", 403, "The request comes from a page of another origin",
        "Call the API from a page of this server, or from a program that is not a browser.";
    NotFound = "not_found", 404, "There is nothing at this address",
        "Check the path and the id.";
    MethodNotAllowed = "method_not_allowed", 405, "This address does not support this method",
        "Use a method that the header Allow lists.";
    RequestTimeout = "request_timeout", 408, "The body did not arrive in time",
        "Send the complete request again.";
    AlreadyResolved = "already_resolved", 409, "The interrupt is already resolved",
        "Do nothing: `resolution` contains the decision and names the people who made it.";
    Stale = "stale", 409, "The interrupt or plan has changed since you read it",
        "Read the interrupt or plan again, review it, and decide on its current `version`.";
    RunEnded = "run_ended", 409, "The run has ended",
        "`holdshort show RUN` says how the run ended. Start another run to continue.";
    RunNotEnded = "run_not_ended", 409, "The run has not ended",
        "Follow the run's events until the run ends, and decide on its open interrupts.";
    RunAtWork = "run_at_work", 409, "The run is changing files right now",
        "Wait until the run's call has ended, or resume the run if it is paused. Then try again.";
    NoAnswer = "no_answer", 409, "The question has no stored answer",
        "List the stored answers with `holdshort answers`.";
    LegalHold = "legal_hold", 409, "The run is under a legal hold",
        "Ask the person who placed the hold: `holdshort hold RUN` shows this person and the reason.";
    NotStoppable = "not_stoppable", 409, "The call cannot be stopped",
        "Read the run again: only a command that is being tried or is running can be stopped.";
    NotInterruptible = "not_interruptible", 409, "The run cannot be interrupted",
        "Interrupt the agent in the program that runs it, or cancel the run.";
    NothingToUndo = "nothing_to_undo", 409, "The run has no changes that can be undone",
        "See what the run changed with `holdshort show RUN`, or name an earlier event in `to`.";
    UndoOpen = "undo_open", 409, "Another undo of this run has not ended",
        "Decide on the open undo, or cancel it: the detail names its run.";
    NoCommonApprover = "no_common_approver", 409, "No approver may release all of the changes",
        "Undo only one phase: in `to`, name the event after which the changes of this phase begin.";
    NotExternal = "not_external", 409, "The run is not an external run",
        "Ask in a run of the workflow `external`, or omit `run` to start one.";
    NotApproved = "not_approved", 409, "There is no approval to use",
        "Do not act: wait for the decision, or ask again.";
    ApprovalUsed = "approval_used", 409, "The approval was already used",
        "Do not act again: `approval.used` says when the approval was used. Ask for another approval.";
    ApprovalExpired = "approval_expired", 409, "The approval has expired",
        "Do not act: ask again.";
    ApprovalDiffers = "approval_differs", 409, "The digest does not match the approved action",
        "Carry out only the approved action: `approval.approved` contains it, and `approval.digest` is its \
         digest.";
    ExecDenied = "exec_denied", 403, "The secret does not belong to this call",
        "Run exactly the line that the hook wrote, once. To run the command again, send the original command.";
    TrialVoid = "trial_void", 409, "The trial is no longer valid",
        "Do not act: the files are no longer as in the trial. Repeat the command: the server tries it again, and a \
         person is asked again.";
    LimitReached = "limit_reached", 409, "A limit has been reached",
        "Wait until some open items end, or continue in another run, session or connection.";
    NotAwaited = "not_awaited", 409, "The run no longer waits for this result",
        "Read the run again: it has continued.";
    Frozen = "frozen", 409, "The installation, run, workflow or agent is frozen",
        "GET /v1/system shows what is frozen, who froze it and why. An operator lifts the freeze with POST \
         /v1/system/unfreeze or `holdshort unfreeze`.";
    SessionSuspended = "session_suspended", 409, "The session is suspended",
        "Resume the session first: `holdshort resume ses_…`, or POST /v1/sessions/{id}/resume.";
    SessionClosed = "session_closed", 409, "The session is closed",
        "Use another session, or omit `session` to create one; `end_reason` says why this session ended.";
    Expired = "expired", 410, "The interrupt expired before a decision",
        "Do nothing: the interrupt's `on_expiry` option was applied.";
    LinkExpired = "link_expired", 410, "The link has expired",
        "Create another link with `holdshort link INTERRUPT`.";
    BodyTooLarge = "body_too_large", 413, "The body is too large",
        "Send at most 1 MiB; put large content into files and send their names.";
    UnsupportedMediaType = "unsupported_media_type", 415, "The body has an unsupported media type",
        "Send `Content-Type: application/json`.";
    WrongHost = "wrong_host", 421, "The request is addressed to another host",
        "Use the address that the server printed: a loopback name with its port, or its public URL.";
    InvalidRequest = "invalid_request", 422, "The request is invalid",
        "Correct the fields that `errors` lists; each `pointer` names a field of the body.";
    Withheld = "withheld", 422, "The edit changes a value that is withheld from you",
        "Read the interrupt again, and send each `{\"withheld\": …}` back unchanged. Only a person who sees \
         the value may change it.";
    UnknownWorkflow = "unknown_workflow", 422, "There is no workflow with this name",
        "Choose a known workflow, or start the server with --workflows DIR.";
    UnknownSession = "unknown_session", 422, "There is no session with this id",
        "Omit `session` to create one.";
    IdempotencyKeyReused = "idempotency_key_reused", 422, "The idempotency key was used for another request",
        "Use a new key for each new request.";
    TooManyStreams = "too_many_streams", 429, "Too many streams and long polls are open",
        "Close some streams or long polls, or try again later.";
    TooManyConnections = "too_many_connections", 429, "Agents have too many connections open",
        "Close some connections, or use one connection for many requests; try again after the time in \
         `Retry-After`.";
    TooManyRequests = "too_many_requests", 429, "Too many requests",
        "Wait as long as `Retry-After` says. To wait for a resolution, use `?wait=25` or a stream.";
    Internal = "internal", 500, "The server has an internal error",
        "Report the error with the server's log; the journal is intact.";
    JournalDamaged = "journal_damaged", 500, "The stored events of this run are damaged",
        "Run `holdshort audit verify`; restore the data folder from a backup. Other runs are not affected.";
    StoreReadOnly = "store_read_only", 503, "The data folder cannot be written",
        "Make the data folder writable again; nothing was changed.";
    IdentityUnavailable = "identity_unavailable", 503, "The identity provider is unavailable",
        "Try again later; the server's log says why the provider does not answer.";
    StoreFailed = "store_failed", 503, "The store is unavailable",
        "Try again; if the error persists, see the server's log.";
    Outdated = "outdated", 503, "A newer server wrote data that this server cannot read",
        "Use a server of the newer version, and update this one.";
    Busy = "busy", 503, "Too many concurrent changes to this run",
        "Try again: nothing was changed.";
    Stopping = "stopping", 503, "The server is stopping",
        "Try again when the server has restarted: nothing was changed.";
    DiskFull = "disk_full", 507, "The disk is full",
        "Free some space and try again: nothing was changed.";
}

impl Code {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }

    /// Returns the relative URL of the error code's documentation page, which is also the `type` of a problem.
    pub fn page(self) -> String {
        format!("/docs/errors/{}", self.as_str())
    }
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("A stable code to branch on. Later versions may add codes."))
            .enum_values(Some(Self::ALL.iter().map(|code| code.as_str())))
            .into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Code")
    }
}
