//! The frame of all pages without scripts: templates, style and HTTP headers.
//!
//! No template prints a text unchanged. Before a template prints a text, this module shows invisible and control
//! characters as `\u{…}`, escapes the text for HTML, and marks letters that look like other letters. `look_alikes`
//! lists the words with such letters. Exact values, such as commands, had invisible characters escaped by the code that
//! read them. There is one exception, the text that a person edits: the template prints it with the filter `exact`.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};
use holdshort_protocol::{Code, LookAlikes, plain};
use holdshort_web::problem::Refused;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, HtmlEscape, State, UndefinedBehavior, Value, context, escape_formatter};

/// Content security policy of the pages without scripts: no scripts, no external content and no frames. Forms can be
/// sent only to this server.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(environment);
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", holdshort_ui::STYLE, include_str!("page.css")));

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // Template lines that contain only tags produce no empty lines.
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    for (name, source) in [
        ("frame.html", include_str!("templates/frame.html")),
        ("nothing.html", include_str!("templates/nothing.html")),
        ("refused.html", include_str!("templates/refused.html")),
        ("sign_in.html", include_str!("templates/sign_in.html")),
        ("decision.html", include_str!("templates/decision.html")),
        ("record.html", include_str!("templates/record.html")),
        ("prose.html", include_str!("templates/prose.html")),
    ] {
        environment.add_template(name, source).expect("the templates are right: a test draws each");
    }
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("exact", |text: &str| Value::from_safe_string(HtmlEscape(text).to_string()));
    environment.add_filter("coded", coded);
    environment.add_filter("indent_class", indent_class);
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => {
            let text = plain::text(text);
            let words = if text.is_ascii() { None } else { state.lookup("look_alikes") };
            match words {
                Some(words) => escape_formatter(out, state, &Value::from_safe_string(marked(&text, &words))),
                None => escape_formatter(out, state, &Value::from(text)),
            }
        }
        None => escape_formatter(out, state, value),
    });
    environment
}

/// Converts a sentence to HTML, with the text between two backquotes as code. If the backquotes form no clear pairs,
/// for example because a command in the sentence contains some, they are printed as they are.
fn coded(state: &State, text: &str) -> Value {
    let text = plain::text(text);
    let words = if text.is_ascii() { None } else { state.lookup("look_alikes") };
    let shown = |piece: &str| match &words {
        Some(words) => marked(piece, words),
        None => HtmlEscape(piece).to_string(),
    };
    let pieces: Vec<&str> = text.split('`').collect();
    let is_name = |piece: &&str| !piece.is_empty() && piece.trim() == *piece;
    if pieces.len().is_multiple_of(2) || !pieces.iter().skip(1).step_by(2).all(is_name) {
        return Value::from_safe_string(shown(&text));
    }
    let shown = pieces.iter().enumerate().map(|(at, piece)| match at % 2 {
        0 => shown(piece),
        _ => format!("<code>{}</code>", shown(piece)),
    });
    Value::from_safe_string(shown.collect())
}

/// Returns a CSS class for the indentation of a line of code. The class indents wrapped text as deep as the first
/// character of the line. The content security policy forbids the attribute `style`.
fn indent_class(line: &str) -> String {
    const DEEPEST: usize = 16;
    let blanks = line.chars().map_while(|letter| match letter {
        ' ' => Some(1),
        '\t' => Some(8),
        _ => None,
    });
    match blanks.sum::<usize>().min(DEEPEST) / 2 {
        0 => String::new(),
        steps => format!(" i{steps}"),
    }
}

/// Returns a text as HTML. `words` contains the words in which letters that look like ASCII letters are marked.
fn marked(text: &str, words: &Value) -> String {
    let words: Vec<Value> = words.try_iter().into_iter().flatten().collect();
    let words = LookAlikes::new(words.iter().filter_map(Value::as_str));
    let mut out = String::new();
    for piece in words.pieces(text) {
        let text = HtmlEscape(piece.text);
        let _ = if piece.is_foreign {
            write!(
                out,
                "<mark title=\"A letter of another script that looks like an ASCII letter\">{text}</mark>"
            )
        } else {
            write!(out, "{text}")
        };
    }
    out
}

/// Renders a template inside the frame of the pages without scripts. A template error is a bug, and is reported as an
/// internal error.
pub(super) fn page(status: StatusCode, title: &str, template: &str, values: Value) -> Response {
    let drawn = draw(template, values).and_then(|body| {
        let body = Value::from_safe_string(body);
        draw("frame.html", context! { title => plain::line(title), body })
    });
    match drawn {
        Ok(html) => (status, headers(POLICY), html).into_response(),
        Err(error) => {
            tracing::error!(%error, template, "a page could not be rendered");
            Refused::from_code(Code::Internal).into_response()
        }
    }
}

/// Renders a page that a person can save as a file. The page contains its style, links to no other file, and looks the
/// same in print as on the screen.
pub(super) fn record(title: &str, card: Value, values: Value) -> Response {
    /// Content security policy of a page for saving: allows nothing but the style that is part of the page.
    const POLICY: &str =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
    let drawn = draw("decision.html", card).and_then(|body| {
        let body = Value::from_safe_string(body);
        let style = Value::from_safe_string(STYLE.clone());
        let title = plain::line(title);
        draw("record.html", context! { title, body, style, ..values })
    });
    match drawn {
        Ok(html) => (StatusCode::OK, headers(POLICY), html).into_response(),
        Err(error) => {
            tracing::error!(%error, "a record could not be rendered");
            Refused::from_code(Code::Internal).into_response()
        }
    }
}

fn draw(template: &str, values: Value) -> Result<String, minijinja::Error> {
    TEMPLATES.get_template(template)?.render(values)
}

fn headers(policy: &'static str) -> [(HeaderName, &'static str); 5] {
    [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, policy),
        // With `no-referrer`, a browser would send forms with the origin `null`.
        (REFERRER_POLICY, "same-origin"),
        (X_ROBOTS_TAG, "noindex"),
    ]
}

/// Renders the page for a submitted form that the server rejected.
pub(super) fn refused(refused: &Refused) -> Response {
    let problem = &refused.0;
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let values = context! { title => &problem.title, detail => &problem.detail, page => problem.code.page() };
    page(status, &problem.title, "refused.html", values)
}

/// Serves the style sheet of the pages without scripts. It begins with the style sheet of the app.
pub(super) async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_backquotes_are_code_and_those_of_a_command_stay() {
        for (text, expected) in [
            ("plain & simple", "plain &amp; simple"),
            ("`edit` (Edit) needs `a<b`", "<code>edit</code> (Edit) needs <code>a&lt;b</code>"),
            ("one ` alone", "one ` alone"),
            ("runs `echo `id``", "runs `echo `id``"),
            ("runs `a `b` c`", "runs `a `b` c`"),
        ] {
            let drawn = TEMPLATES.render_str("{{ text|coded }}", context! { text }).unwrap();
            assert_eq!(drawn, expected, "{text}");
        }
    }
}
