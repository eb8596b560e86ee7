//! The pages of `docs/errors`, as Markdown or HTML. A page explains an error code and how to resolve the error.

use std::fmt::Write;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use holdshort_protocol::Code;
use minijinja::{Value, context};
use pulldown_cmark::{Options, Parser, html};
use rust_embed::RustEmbed;

use super::frame;

#[derive(RustEmbed)]
#[folder = "../../docs/errors/"]
struct Pages;

pub(crate) fn page(code: Code) -> Option<String> {
    let file = Pages::get(&format!("{}.md", code.as_str()))?;
    String::from_utf8(file.data.into_owned()).ok()
}

/// Returns a page that lists all error codes by HTTP status, as Markdown.
pub(crate) fn index() -> String {
    let mut text = "# Error codes\n".to_owned();
    let mut status = 0;
    for code in Code::ALL {
        if code.status() != status {
            status = code.status();
            let _ = write!(text, "\n## {status}\n\n");
        }
        let _ = writeln!(text, "- [`{0}`](/docs/errors/{0}): {1}", code.as_str(), code.title());
    }
    text
}

/// Returns a response with the Markdown of a page about error codes, for programs.
pub(crate) fn raw(markdown: String) -> Response {
    ([(CONTENT_TYPE, "text/markdown; charset=utf-8")], markdown).into_response()
}

/// Returns a response with the HTML of a page about error codes, for browsers. The page of a code links to the pages of
/// the previous and the next code.
pub(crate) fn drawn(title: &str, markdown: &str, code: Option<Code>) -> Response {
    let mut text = String::new();
    html::push_html(&mut text, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    let values = context! {
        // The text is part of the program, so it is safe to insert as HTML.
        text => Value::from_safe_string(text),
        around => code.map(around),
    };
    frame::page(StatusCode::OK, title, "prose.html", values)
}

fn around(code: Code) -> Vec<&'static str> {
    let all = Code::ALL;
    let place = all.iter().position(|each| *each == code);
    let places = place.into_iter().flat_map(|place| [place.checked_sub(1), place.checked_add(1)]);
    places.flatten().filter_map(|place| all.get(place)).map(|code| code.as_str()).collect()
}
