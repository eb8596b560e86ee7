//! Access with tokens of issuers. A person who presents a valid token is recorded as a person of the installation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use holdshort_core::actor::Actor;
use holdshort_core::limits::PEOPLE;
use holdshort_core::people::{PeopleSource, Person};
use holdshort_core::system::{Input, Rejection, System};
use holdshort_core::time::Timestamp;
use holdshort_engine::Error;
use holdshort_protocol::Code;

use super::{Access, RolesAndGroups};
use crate::app::{App, detached};
use crate::identity::Principal;
use crate::identity::jwt::{Issuers, Refusal, Verified};
use crate::problem::{Answer, Refused};

/// For each person, the issue time of the newest token of an issuer that the person has presented to this node. Stored
/// only in memory, because the journal contains the issue time of the last token that changed the person.
#[derive(Default)]
pub struct Newest(Mutex<BTreeMap<String, Timestamp>>);

impl Newest {
    /// Returns true if the person has already presented a token that was issued later than `issued_at`.
    fn is_later(&self, id: &str, issued_at: Option<Timestamp>) -> bool {
        let newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        newest.get(id).is_some_and(|newest| issued_at < Some(*newest))
    }

    fn record(&self, id: &str, issued_at: Option<Timestamp>) {
        let Some(issued_at) = issued_at else { return };
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.len() >= PEOPLE && !newest.contains_key(id) {
            newest.clear();
        }
        let newest = newest.entry(id.to_owned()).or_insert(issued_at);
        *newest = issued_at.max(*newest);
    }
}

/// Returns the principal of an issuer's token, and the access that the token gives. Returns `None` if no configured
/// issuer has issued `token`.
pub(crate) async fn by_issuer(app: &App, token: &str) -> Answer<Option<(Principal, Access)>> {
    if app.issuers.is_empty() || !Issuers::could_be(token) {
        return Ok(None);
    }
    let now = app.now();
    let verified = match app.issuers.verify(token, now).await {
        Ok(verified) => verified,
        Err(refusal) => {
            tracing::debug!(%refusal, "a token is rejected");
            return match refusal {
                Refusal::Expired => Err(Refused::new(Code::CredentialExpired, "the token has expired")),
                Refusal::Unavailable => Err(Refused::from_code(Code::IdentityUnavailable)),
                // The token has a valid signature of the issuer, so the caller may learn why the token is rejected.
                Refusal::Audience
                | Refusal::NotYet
                | Refusal::Claim
                | Refusal::Subject
                | Refusal::Roles
                | Refusal::Unverified => {
                    Err(Refused::new(Code::Unauthenticated, format!("the token: {refusal}")))
                }
                Refusal::Malformed
                | Refusal::Algorithm
                | Refusal::NoKey
                | Refusal::Signature
                | Refusal::Type
                | Refusal::Critical => Ok(None),
            };
        }
    };
    admit(app, verified).await.map(Some)
}

/// Accepts the principal of a verified token as a caller. A person is also recorded in the journal.
pub(crate) async fn admit(app: &App, verified: Verified) -> Answer<(Principal, Access)> {
    let Verified { principal, until, issued_at } = verified;
    let now = app.now();
    // Rejects a token whose subject has the name of a different kind of principal, such as a key.
    let system = app.driver.system().await?;
    let is_known = system.people.get(&principal.id).is_some();
    let elsewhere =
        if is_known && !principal.is_agent() { None } else { system.describe_name_owner(&principal.id, now) };
    if let Some(who) = elsewhere {
        let why = format!("the subject of the token cannot be used here: `{}` {who}", principal.id);
        return Err(Refused::new(Code::ForbiddenRole, why));
    }
    if system.people.is_removed(&principal.id) {
        return Err(removed(&principal.id));
    }
    if !is_known && !principal.is_person() {
        let access = Access::Issued { id: principal.id.clone(), is: None, until, since: system.seq };
        return Ok((principal, access));
    }
    let system = record_person(app, system, &principal, issued_at).await?;
    let is = RolesAndGroups::for_person(&system.people, &principal.id);
    let access = Access::Issued { id: principal.id.clone(), is: Some(is.clone()), until, since: system.seq };
    let RolesAndGroups { roles, groups } = is;
    Ok((Principal { roles, groups, ..principal }, access))
}

fn removed(id: &str) -> Refused {
    Refused::new(Code::Unauthenticated, format!("the token: {}", Rejection::Removed(id.to_owned())))
}

/// Records a person in the journal with the roles and groups that the token states. Roles and groups that the people
/// file or an admin has set take precedence over the token. A token with a later issue time takes precedence over a
/// token with an earlier one.
async fn record_person(
    app: &App,
    system: Arc<System>,
    principal: &Principal,
    issued_at: Option<Timestamp>,
) -> Answer<Arc<System>> {
    let id = &principal.id;
    if app.newest.is_later(id, issued_at) {
        return Ok(system);
    }
    let person = Person {
        roles: principal.roles.clone(),
        groups: principal.groups.clone(),
        time_zone: None,
        language: None,
        source: PeopleSource::Provider,
        issued_at,
        name: principal.name.clone(),
        addresses: BTreeMap::new(),
        away: None,
    };
    let system = if system.people.get(id).is_some_and(|known| known.is_as(&person)) {
        system
    } else {
        let (driver, input) = (app.driver.clone(), Input::TakeUp { id: id.clone(), person });
        // The change is completed even if the client disconnects, because the server must act on a committed change of
        // the people.
        let taken = detached(async move { driver.change_system(input, Actor::engine()).await }).await;
        taken.map_err(|error| match error {
            Error::System(Rejection::Removed(id)) => removed(&id),
            Error::System(Rejection::Invalid(problems)) => {
                let why: Vec<String> =
                    problems.iter().map(|it| format!("{} {}", it.pointer, it.message)).collect();
                Refused::new(Code::Unauthenticated, format!("the token: {}", why.join("; ")))
            }
            Error::System(refusal @ Rejection::NameTaken { .. }) => Refused::new(
                Code::ForbiddenRole,
                format!("the subject of the token cannot be used here: {refusal}"),
            ),
            error => error.into(),
        })?
    };
    app.newest.record(id, issued_at);
    Ok(system)
}
