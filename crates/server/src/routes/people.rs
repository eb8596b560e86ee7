//! People: list, read, set and remove them, and set their absences.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use holdshort_core::rights::Permission;
use holdshort_core::schema::Problem;
use holdshort_core::system::{Input, System};
use holdshort_core::time::Timestamp;
use holdshort_protocol::{Away, List, Person, RemovedPerson, SetPerson};
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::needs::all;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{PageQuery, Params, limit};
use holdshort_web::view;

use super::steer::nothing;
use crate::convert;
use crate::openapi::{Lists, ReadsOne, SetsPerson};

/// List the people of the installation. The operator of this machine comes first, and the other people are sorted by
/// id.
#[utoipa::path(
    get, path = "/v1/people", tag = "people", operation_id = "list_people",
    params(PageQuery),
    responses((status = 200, description = "A page of people", body = List<Person>), Lists)
)]
pub(crate) async fn list(caller: Caller, Params(query): Params<PageQuery>) -> Answer<Json<List<Person>>> {
    let limit = limit(query.limit)?;
    let system = caller.app.driver.system().await?;
    Ok(Json(view::person::page(&system.people, query.cursor.as_deref(), limit)))
}

/// Read a person.
///
/// A caller without the right to read all people can read only their own entry. If such a caller asks for another
/// person, the response is 404.
#[utoipa::path(
    get, path = "/v1/people/{person}", tag = "people", operation_id = "read_person",
    params(("person" = String, Path, example = "anna")),
    responses((status = 200, description = "The person", body = Person), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Path(id): Path<String>) -> Answer<Json<Person>> {
    if !caller.reaches_all() && caller.actor.id != id {
        return Err(Refused::not_found("person"));
    }
    find_person(&*caller.app.driver.system().await?, &id)
}

/// Set a person: add a new person, or replace an existing person.
///
/// Send all fields of the person, because a missing field is cleared. If the person comes from the people file, change
/// the person in that file. If a token of an identity provider created the person, later tokens do not change the
/// person any more.
#[utoipa::path(
    put, path = "/v1/people/{person}", tag = "people", operation_id = "set_person",
    params(("person" = String, Path, example = "anna")),
    request_body = SetPerson,
    responses((status = 200, description = "The person", body = Person), SetsPerson)
)]
pub(crate) async fn set(caller: Caller, Path(id): Path<String>, body: Body) -> Answer<Json<Person>> {
    let person = convert::person(body.json().await?);
    let system = change(caller, Input::SetPerson { id: id.clone(), person }).await?;
    find_person(&system, &id)
}

/// Remove a person.
///
/// The person can no longer sign in or decide, even with a token of an identity provider. The person's votes on open
/// interrupts become invalid. If the remaining approvers of an interrupt cannot resolve it, the interrupt is escalated
/// to admins and operators. The response lists the open interrupts that were assigned to the person.
#[utoipa::path(
    delete, path = "/v1/people/{person}", tag = "people", operation_id = "remove_person",
    params(("person" = String, Path, example = "anna")),
    responses((status = 200, description = "Open work of the removed person", body = RemovedPerson), SetsPerson)
)]
pub(crate) async fn remove(caller: Caller, Path(id): Path<String>) -> Answer<Json<RemovedPerson>> {
    let reader = caller.reader().await?;
    // The interrupts are read before the removal. Otherwise a failed read after the removal would look like a failed
    // removal.
    let named = view::removed_person::find_open_assignments(&caller.app, &id, &reader).await;
    let system = change(caller, Input::RemovePerson { id }).await?;
    Ok(Json(named.into_removed_person(&system.people)))
}

/// Set a person's absence.
///
/// The person or an admin may send this request. The delegate decides for the absent person until the absence ends. The
/// absent person may still decide.
#[utoipa::path(
    put, path = "/v1/people/{person}/away", tag = "people", operation_id = "set_away",
    params(("person" = String, Path, example = "anna")),
    request_body = Away,
    responses((status = 200, description = "The person", body = Person), SetsPerson)
)]
pub(crate) async fn leave(caller: Caller, Path(id): Path<String>, body: Body) -> Answer<Json<Person>> {
    let Away { until, delegate } = body.json().await?;
    let until = until.map(|until| moment("/until", &until)).transpose()?;
    let away = Some(holdshort_core::people::Away { until, delegate });
    let system = change(as_admin_for_others(caller, &id), Input::SetAway { id: id.clone(), away }).await?;
    find_person(&system, &id)
}

/// End a person's absence.
#[utoipa::path(
    delete, path = "/v1/people/{person}/away", tag = "people", operation_id = "end_away",
    params(("person" = String, Path, example = "anna")),
    responses((status = 200, description = "The person", body = Person), SetsPerson)
)]
pub(crate) async fn come_back(caller: Caller, Path(id): Path<String>, body: Body) -> Answer<Json<Person>> {
    nothing(body).await?;
    let system =
        change(as_admin_for_others(caller, &id), Input::SetAway { id: id.clone(), away: None }).await?;
    find_person(&system, &id)
}

/// Returns the caller with the role for this request. A caller who is an admin acts as an admin if the request concerns
/// another person.
fn as_admin_for_others(caller: Caller, id: &str) -> Caller {
    if caller.actor.id == id {
        caller
    } else {
        caller.authorize(all(Permission::Administer)).unwrap_or(caller)
    }
}

pub(super) async fn change(caller: Caller, input: Input) -> Answer<Arc<System>> {
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    Ok(detached(async move { driver.change_system(input, actor).await }).await?)
}

fn find_person(system: &System, id: &str) -> Answer<Json<Person>> {
    view::person::one(&system.people, id).map(Json).ok_or_else(|| Refused::not_found("person"))
}

/// Parses a timestamp in a request body.
pub(super) fn moment(pointer: &str, text: &str) -> Answer<Timestamp> {
    text.parse().map_err(|_| {
        let rule =
            "is not a timestamp: use the form of RFC 3339, such as `2026-02-07T00:00:00Z`, at the latest \
            9999-12-30T22:00:00Z";
        Refused::invalid(vec![Problem::new(pointer, rule)])
    })
}
