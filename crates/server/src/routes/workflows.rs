//! The workflows that can be started.

use axum::Json;
use holdshort_protocol::{List, Workflow};
use holdshort_web::auth::Caller;
use holdshort_web::view;

use crate::openapi::Reads;

/// List the workflows that can be started.
#[utoipa::path(
    get, path = "/v1/workflows", tag = "system", operation_id = "list_workflows",
    responses((status = 200, description = "All workflows", body = List<Workflow>), Reads)
)]
pub(crate) async fn list(caller: Caller) -> Json<List<Workflow>> {
    let library = &caller.app.library;
    let items = library
        .names()
        .filter_map(|name| library.get(name))
        .map(|definition| {
            view::workflow::from_definition(&definition, library.has_rehearsal(&definition.name))
        })
        .collect();
    Json(List { items, next_cursor: None })
}
