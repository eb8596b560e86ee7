//! Pages about error codes, for programs and browsers. The `type` of every problem is a link to the page of its code.

use axum::http::HeaderMap;
use axum::response::Response;
use holdshort_protocol::Code;
use holdshort_web::accept::prefers_html;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;

use crate::openapi::{Open, OpenPages};
use crate::pages::errors;

/// List the error codes.
#[utoipa::path(
    get, path = "/docs/errors", tag = "health", operation_id = "list_errors",
    responses(
        (status = 200, description = "All codes by status; HTML if the client prefers it", content((String = "text/markdown"), (String = "text/html"))),
        Open
    )
)]
pub(crate) async fn list(headers: HeaderMap) -> Response {
    let index = errors::index();
    if prefers_html(&headers) { errors::drawn("Error codes", &index, None) } else { errors::raw(index) }
}

/// Read what an error code means, and what to do about it.
#[utoipa::path(
    get, path = "/docs/errors/{code}", tag = "health", operation_id = "explain_error",
    params(("code" = String, Path, example = "stale")),
    responses(
        (status = 200, description = "The page of the code; HTML if the client prefers it", content((String = "text/markdown"), (String = "text/html"))),
        OpenPages
    )
)]
pub(crate) async fn explain(Id(name): Id<String>, headers: HeaderMap) -> Answer<Response> {
    // The pages link to each other by file name. Therefore the name of a code may end in `.md`.
    let code = Code::parse(name.trim_end_matches(".md")).ok_or_else(|| Refused::not_found("code"))?;
    let page = errors::page(code).ok_or_else(|| Refused::not_found("page"))?;
    Ok(if prefers_html(&headers) {
        errors::drawn(code.as_str(), &page, Some(code))
    } else {
        errors::raw(page)
    })
}
