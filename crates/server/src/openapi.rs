//! The `OpenAPI` document, which is generated from the handlers. Therefore it lists exactly the existing routes.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::actor::Role;
use holdshort_core::system::keys::KEY_ROLES;
use holdshort_protocol::{Code, Problem, header};
use holdshort_web::needs::Needs;
use holdshort_web::route_limit::RouteLimit;
use serde_json::{Map, Value, json};
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{
    Components, ContentBuilder, OpenApi as Document, PathItem, Ref, RefOr, Response, ResponseBuilder,
};
use utoipa::{IntoResponses, Modify, OpenApi};

use crate::routes;

/// Returns the `OpenAPI` 3.1 document of the native API.
pub fn openapi() -> Value {
    let mut document = serde_json::to_value(document()).unwrap_or_default();
    let paths = document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    let operations = paths.filter_map(Value::as_object_mut).flat_map(|item| item.values_mut());
    operations.filter_map(Value::as_object_mut).for_each(sort_extensions);
    document
}

/// Sorts the `x-` fields of an `OpenAPI` operation. These fields come from a hash map, whose order differs from process
/// to process.
fn sort_extensions(operation: &mut Map<String, Value>) {
    let names: BTreeSet<String> = operation.keys().filter(|name| name.starts_with("x-")).cloned().collect();
    let sorted: Vec<(String, Value)> =
        names.into_iter().filter_map(|name| operation.remove_entry(&name)).collect();
    operation.extend(sorted);
}

pub(crate) fn document() -> Document {
    routes::router(Base::openapi()).into_openapi()
}

/// Adds to an `OpenAPI` operation the permission that it needs, and the kinds of credentials that may have this
/// permission.
pub(crate) fn add_requirements(operation: &mut Operation, needs: Needs) {
    let scheme = |name: &str| SecurityRequirement::new(name, [""; 0]);
    let mut security = Vec::new();
    if [Role::Operator, Role::Admin].into_iter().any(|role| needs.extent(role).is_some()) {
        // The local operator is also an admin, and can authenticate with the operator token or with a browser login.
        security.extend([scheme("operator"), scheme(COOKIE).add(SECRET, [""; 0])]);
    }
    if needs.extent(Role::Agent).is_some() {
        security.push(scheme("agent"));
    }
    if KEY_ROLES.into_iter().any(|role| needs.extent(role).is_some()) {
        security.push(scheme("key"));
    }
    security.push(scheme("issued"));
    operation.security = Some(security);
    let told =
        json!({ "permission": needs.permission.name(), "of": if needs.of_all { "all" } else { "any" } });
    operation.extensions.get_or_insert_default().merge([("x-needs".to_owned(), told)].into_iter().collect());
    tell_limit(operation, needs.limit);
}

/// Adds to an `OpenAPI` operation the name of its rate limit.
pub(crate) fn tell_limit(operation: &mut Operation, limit: RouteLimit) {
    let told = ("x-rate-limit".to_owned(), json!(limit.name()));
    operation.extensions.get_or_insert_default().merge([told].into_iter().collect());
}

pub(crate) fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Holdshort",
        description = "People in the loop of AI agents: runs, interrupts, decisions, events.\n\n\
            An agent holds short of a risky step until a person clears it. Errors are RFC 9457 problems with a \
            stable `code`. Lists are paged with cursors. Times are RFC 3339 UTC. A body with an unknown field is \
            rejected; later versions may add fields to responses.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    servers((url = "http://127.0.0.1:7349", description = "Default address of `holdshort serve`")),
    components(schemas(Problem, holdshort_protocol::GrantStatus, holdshort_protocol::Preview)),
    tags(
        (name = "runs", description = "Start, watch and steer runs"),
        (name = "plans", description = "Read plans and their progress, and replace a plan"),
        (name = "interrupts", description = "Ask people, wait for their decision, and decide"),
        (name = "answers", description = "Stored answers of people, per subject"),
        (name = "channels", description = "Notification channels and their deliveries"),
        (name = "sessions", description = "Conversations and their grants"),
        (name = "keys", description = "Credentials of agents and services"),
        (name = "logins", description = "Sign-in of browsers"),
        (name = "system", description = "The installation"),
        (name = "health", description = "Health checks and error codes")
    ),
    modifiers(&Shared)
)]
pub(crate) struct Base;

/// Name of the `OpenAPI` security scheme for the cookie of a login. A login also needs the secret of the scheme
/// `login_secret`.
const COOKIE: &str = "login_cookie";
const SECRET: &str = "login_secret";

struct Shared;

impl Modify for Shared {
    fn modify(&self, document: &mut Document) {
        let bearer = |description: String| {
            SecurityScheme::Http(
                HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description)).build(),
            )
        };
        let scheme = |role: &str| bearer(format!("The {role} token of tokens.json in the data folder"));
        let components = document.components.get_or_insert_with(Components::new);
        components.add_security_scheme("operator", scheme("operator's"));
        components.add_security_scheme("agent", scheme("agents'"));
        let key = "The secret of a key, `hs_key_…`, if the role of the key permits the operation";
        components.add_security_scheme("key", bearer(key.to_owned()));
        let issued = "A token (JWT) of a configured issuer, if its role permits the operation";
        components.add_security_scheme("issued", bearer(issued.to_owned()));
        let cookie = "The cookie of a login: `holdshort_` and the server's port, prefixed with `__Host-` if \
            the public URL is https";
        let cookie = ApiKeyValue::with_description("holdshort_PORT", cookie);
        components.add_security_scheme(COOKIE, SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
        let secret = ApiKeyValue::with_description(header::SECRET, "The secret of the same login");
        components.add_security_scheme(SECRET, SecurityScheme::ApiKey(ApiKey::Header(secret)));
        for codes in SETS.iter().flat_map(|set| by_status(set).into_values()) {
            components.responses.insert(name(&codes), response(&codes).into());
        }
    }
}

/// Groups error codes by their HTTP status. Each status becomes one response of the `OpenAPI` document.
fn by_status(codes: &[&[Code]]) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes.iter().copied().flatten() {
        by_status.entry(code.status()).or_default().push(*code);
    }
    by_status
}

/// Returns the name of the `OpenAPI` response component for these error codes.
fn name(codes: &[Code]) -> String {
    codes.iter().map(|code| code.as_str()).collect::<Vec<_>>().join("-or-")
}

/// Returns the error responses of an `OpenAPI` operation, as references to the response components.
fn refusals(codes: &[&[Code]]) -> BTreeMap<String, RefOr<Response>> {
    by_status(codes)
        .into_iter()
        .map(|(status, codes)| (status.to_string(), Ref::from_response_name(name(&codes)).into()))
        .collect()
}

fn response(codes: &[Code]) -> Response {
    let lines: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.title())).collect();
    let example = |code: &Code| {
        let problem = Problem::new(*code, code.fix());
        (code.as_str().to_owned(), ExampleBuilder::new().value(Some(json!(problem))).build())
    };
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .examples_from_iter(codes.iter().map(example))
        .build();
    ResponseBuilder::new()
        .description(lines.join("\n\n"))
        .content("application/problem+json", content)
        .build()
}

macro_rules! refuses {
    ($($(#[$doc:meta])* $name:ident: $($codes:expr),+;)*) => {
        $(
            $(#[$doc])*
            pub(crate) struct $name;
            impl IntoResponses for $name {
                fn responses() -> BTreeMap<String, RefOr<Response>> {
                    refusals(&[$($codes),+])
                }
            }
        )*

        /// Sets of error codes of operations, one for each kind of operation. The `OpenAPI` document contains one
        /// response component per HTTP status of each set.
        const SETS: &[&[&[Code]]] = &[$(&[$($codes),+]),*];
    };
}

const ANY: &[Code] = &[
    Code::Unauthenticated,
    Code::CredentialExpired,
    Code::IdentityUnavailable,
    Code::ForbiddenRole,
    Code::TooManyConnections,
    Code::TooManyRequests,
    Code::WrongHost,
    Code::Internal,
    Code::StoreFailed,
    Code::Stopping,
];
const BODY: &[Code] = &[
    Code::MalformedJson,
    Code::RequestTimeout,
    Code::BodyTooLarge,
    Code::UnsupportedMediaType,
    Code::InvalidRequest,
];
const CHANGE: &[Code] = &[Code::WrongOrigin, Code::StoreReadOnly, Code::Busy, Code::DiskFull];
/// Error codes of operations in a session that is suspended or closed.
const SESSION: &[Code] = &[Code::SessionSuspended, Code::SessionClosed];
const OF_A_RUN: &[Code] = &[Code::NotFound, Code::JournalDamaged];

refuses! {
    /// Error codes of requests that read information about the installation.
    Reads: ANY;
    /// Error codes of requests for lists.
    Lists: ANY, &[Code::InvalidQuery, Code::JournalDamaged];
    /// Error codes of requests that need no authentication.
    Open: &[Code::WrongHost, Code::Internal];
    OpenReady: &[Code::WrongHost, Code::Internal, Code::StoreFailed, Code::Outdated, Code::Stopping];
    OpenPages: &[Code::WrongHost, Code::NotFound, Code::Internal];
    /// Error codes of a sign-in with a login code, which needs no authentication.
    Enters: BODY, CHANGE,
        &[Code::LoginCodeSpent, Code::WrongHost, Code::Internal, Code::StoreFailed];
    /// Error codes of a sign-in at an identity provider.
    EntersByProvider: BODY, CHANGE,
        &[Code::SignInFailed, Code::ForbiddenRole, Code::Unauthenticated, Code::NotFound, Code::IdentityUnavailable,
          Code::WrongHost, Code::Internal, Code::StoreFailed];
    /// Error codes of logout notices from an identity provider.
    NoticesLogout: BODY, CHANGE,
        &[Code::LogoutTokenRefused, Code::NotFound, Code::IdentityUnavailable, Code::WrongHost, Code::Internal,
          Code::StoreFailed];
    Links: ANY, BODY, CHANGE, OF_A_RUN, &[Code::AlreadyResolved];
    MakesKey: ANY, BODY, CHANGE, &[Code::NameTaken, Code::LimitReached];
    RotatesKey: ANY, BODY, CHANGE, &[Code::NotFound, Code::KeyEnded];
    RevokesKey: ANY, CHANGE, &[Code::NotFound];
    /// Error codes of a request to retry a delivery.
    RetriesDelivery: ANY, CHANGE, OF_A_RUN, &[Code::NotRetriable];
    Leaves: ANY, CHANGE, &[Code::NotFound];
    /// Error codes of requests that read one item, such as a run.
    ReadsOne: ANY, OF_A_RUN;
    /// Error codes of requests that read one item and have query parameters.
    ReadsPart: ANY, OF_A_RUN, &[Code::InvalidQuery, Code::InvalidHeader, Code::TooManyStreams, Code::AccessEnded];
    /// Error codes of requests that read all events.
    ReadsAll: ANY, &[Code::InvalidQuery, Code::InvalidHeader, Code::JournalDamaged, Code::TooManyStreams];
    /// Error codes of requests that open a WebSocket.
    Opens: ANY, &[Code::WrongOrigin, Code::InvalidHeader, Code::TooManyStreams];
    ReadsResult: ANY, OF_A_RUN, &[Code::RunNotEnded];
    Starts: ANY, BODY, CHANGE,
        &[Code::InvalidHeader, Code::UnknownWorkflow, Code::UnknownSession, Code::IdempotencyKeyReused],
        SESSION;
    Asks: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::InvalidHeader, Code::UnknownSession, Code::IdempotencyKeyReused, Code::NotExternal,
          Code::RunEnded, Code::LimitReached],
        SESSION;
    /// Error codes of policy checks.
    ChecksPolicy: ANY, BODY, &[Code::WrongOrigin, Code::UnknownSession, Code::JournalDamaged];
    /// Error codes of requests with which an agent uses an approval.
    UsesApproval: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::InvalidHeader, Code::IdempotencyKeyReused, Code::NotExternal, Code::NotApproved, Code::ApprovalUsed,
          Code::ApprovalExpired, Code::ApprovalDiffers, Code::ExecDenied, Code::TrialVoid, Code::Frozen];
    /// Error codes of requests for the content of changes that an approval has released.
    ReadsReleased: ANY, OF_A_RUN, &[Code::NotApproved];
    /// Error codes of reports about changes that an approval has released.
    ReportsExec: ANY, BODY, CHANGE, OF_A_RUN, &[Code::NotExternal, Code::NotApproved];
    /// Error codes of requests with which an agent withdraws its own question.
    Withdraws: ANY, BODY, CHANGE, OF_A_RUN, &[Code::NotExternal, Code::AlreadyResolved];
    /// Error codes of messages in a session. A message either answers a question, reaches a live run, or starts a run.
    Says: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::InvalidHeader, Code::UnknownWorkflow, Code::IdempotencyKeyReused, Code::NotAnApprover,
          Code::AlreadyResolved, Code::Expired, Code::LimitReached],
        SESSION;
    /// Error codes of actions that do not resolve the interrupt, such as claims and comments.
    Acts: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::NotAnApprover, Code::AlreadyResolved, Code::AlreadyClaimed, Code::LimitReached];
    /// Error codes of requests to reassign, delegate or snooze an interrupt, or to withdraw a vote.
    Assigns: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::NotAnApprover, Code::OwnWork, Code::AlreadyResolved, Code::NoVote];
    Decides: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::Withheld, Code::NotAnApprover, Code::OwnWork, Code::NotYourStage, Code::AlreadyResolved, Code::Stale, Code::Expired];
    Steers: ANY, BODY, CHANGE, OF_A_RUN, &[Code::RunEnded, Code::NotExternal], SESSION;
    Interrupts: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::InvalidHeader, Code::RunEnded, Code::NotInterruptible, Code::IdempotencyKeyReused];
    Stops: ANY, BODY, CHANGE, OF_A_RUN, &[Code::RunEnded, Code::NotStoppable];
    Undoes: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::InvalidHeader, Code::IdempotencyKeyReused, Code::RunAtWork, Code::NothingToUndo, Code::UndoOpen, Code::NoCommonApprover], SESSION;
    Tells: ANY, BODY, CHANGE, OF_A_RUN,
        &[Code::InvalidHeader, Code::RunEnded, Code::IdempotencyKeyReused];
    OpensSession: ANY, BODY, CHANGE,
        &[Code::InvalidHeader, Code::UnknownWorkflow, Code::IdempotencyKeyReused];
    SteersSession: ANY, BODY, CHANGE, OF_A_RUN, SESSION;
    Replans: ANY, BODY, CHANGE, OF_A_RUN, &[Code::RunEnded, Code::Stale];
    /// Error codes of requests that have a body but store nothing.
    LaysOut: ANY, BODY, &[Code::WrongOrigin];
    Revokes: ANY, CHANGE, OF_A_RUN;
    CorrectsAnswer: ANY, BODY, CHANGE, OF_A_RUN, &[Code::NoAnswer];
    ErasesAnswer: ANY, CHANGE, OF_A_RUN, &[Code::NoAnswer, Code::LegalHold];
    Holds: ANY, BODY, CHANGE, OF_A_RUN, &[Code::LegalHold];
    Unholds: ANY, CHANGE, OF_A_RUN;
    /// Error codes of requests to erase content.
    Erases: ANY, BODY, CHANGE, OF_A_RUN, &[Code::RunNotEnded, Code::LegalHold];
    Invites: ANY, BODY, CHANGE;
    SetsPerson: ANY, BODY, CHANGE, &[Code::NotFound, Code::OtherSource, Code::NameTaken];
    Changes: ANY, CHANGE;
}
