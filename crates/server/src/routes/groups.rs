//! Groups of people: list groups, and set their working hours.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use holdshort_core::system::Input;
use holdshort_protocol::{Group, Hours, List};
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{PageQuery, Params, limit};
use holdshort_web::view;

use super::people::change;
use crate::convert;
use crate::openapi::{Lists, SetsPerson};

/// List the groups that have members or working hours.
#[utoipa::path(
    get, path = "/v1/groups", tag = "people", operation_id = "list_groups",
    params(PageQuery),
    responses((status = 200, description = "A page of groups", body = List<Group>), Lists)
)]
pub(crate) async fn list(caller: Caller, Params(query): Params<PageQuery>) -> Answer<Json<List<Group>>> {
    let limit = limit(query.limit)?;
    let system = caller.app.driver.system().await?;
    Ok(Json(view::group::page(&system.people, query.cursor.as_deref(), limit)))
}

/// Set the working hours of a group.
///
/// If an interrupt is assigned to the group and its deadlines are in working time, only these hours count. Existing
/// deadlines do not change. If the hours come from the people file, change them in that file.
#[utoipa::path(
    put, path = "/v1/groups/{group}/hours", tag = "people", operation_id = "set_hours",
    params(("group" = String, Path, example = "legal")),
    request_body = Hours,
    responses((status = 200, description = "The group", body = Group), SetsPerson)
)]
pub(crate) async fn set(caller: Caller, Path(group): Path<String>, body: Body) -> Answer<Json<Group>> {
    let hours = convert::hours(body.json().await?)?;
    let system = change(caller, Input::SetHours { group: group.clone(), hours }).await?;
    view::group::one(&system.people, &group).map(Json).ok_or_else(|| Refused::not_found("group"))
}

/// Remove the working hours of a group. For deadlines in working time, every hour then counts.
#[utoipa::path(
    delete, path = "/v1/groups/{group}/hours", tag = "people", operation_id = "unset_hours",
    params(("group" = String, Path, example = "legal")),
    responses((status = 204, description = "The hours are removed"), SetsPerson)
)]
pub(crate) async fn unset(caller: Caller, Path(group): Path<String>) -> Answer<StatusCode> {
    change(caller, Input::UnsetHours { group }).await?;
    Ok(StatusCode::NO_CONTENT)
}
