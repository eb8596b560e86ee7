//! The frame of every page without scripts: its templates, its style, its headers.
//!
//! A template prints no text as it came. Every text is made plain as prose and escaped here, and letters that pass for
//! others are marked (`look_alikes`: the words that hold them). Exact values are made plain before, by the code that
//! reads them. The text that a person edits is the one exception: the template names the filter `exact`.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY};
use axum::response::{IntoResponse, Response};
use holdshort_protocol::{Code, LookAlikes, plain};
use holdshort_web::problem::Refused;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, HtmlEscape, State, UndefinedBehavior, Value, context, escape_formatter};

/// No script, nothing from elsewhere, in no frame; forms come back to us alone.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(environment);
static STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{}{}", holdshort_ui::STYLE, include_str!("page.css")));

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // Lines of tags leave no empty lines behind.
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

/// A sentence of ours in which names stand between backquotes, as HTML: each of them as code. Where it is not plain which
/// backquotes belong together, as around a command that has some of its own, they stay.
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

/// The class of a line, behind others, by how far it is indented: where it breaks, it goes on below its beginning. Without scripts no
/// style can be written at the line itself.
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

/// The text as HTML, with the foreign letters of those words marked.
fn marked(text: &str, words: &Value) -> String {
    let words: Vec<Value> = words.try_iter().into_iter().flatten().collect();
    let words = LookAlikes::new(words.iter().filter_map(Value::as_str));
    let mut out = String::new();
    for piece in words.pieces(text) {
        let text = HtmlEscape(piece.text);
        let _ = if piece.is_foreign {
            write!(out, "<mark title=\"A letter of another script than it seems\">{text}</mark>")
        } else {
            write!(out, "{text}")
        };
    }
    out
}

/// A page: a template in the frame. A page that can not be drawn is a mistake of ours.
pub(super) fn page(status: StatusCode, title: &str, template: &str, values: Value) -> Response {
    let drawn = draw(template, values).and_then(|body| {
        let body = Value::from_safe_string(body);
        draw("frame.html", context! { title => plain::line(title), body })
    });
    match drawn {
        Ok(html) => (status, headers(POLICY), html).into_response(),
        Err(error) => {
            tracing::error!(%error, template, "a page can not be drawn");
            Refused::of(Code::Internal).into_response()
        }
    }
}

/// A page for a file: it holds its style, links to nothing, and is printed as it is read.
pub(super) fn record(title: &str, card: Value, values: Value) -> Response {
    /// Nothing but the style in it.
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
            tracing::error!(%error, "a record can not be drawn");
            Refused::of(Code::Internal).into_response()
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
        // With none at all a browser would send its forms with the origin `null`.
        (REFERRER_POLICY, "same-origin"),
        (X_ROBOTS_TAG, "noindex"),
    ]
}

/// A refusal as a page, for those who sent a form.
pub(super) fn refused(refused: &Refused) -> Response {
    let problem = &refused.0;
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let values = context! { title => &problem.title, detail => &problem.detail, page => problem.code.page() };
    page(status, &problem.title, "refused.html", values)
}

/// The style that these pages share with the app, and what is their own.
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
