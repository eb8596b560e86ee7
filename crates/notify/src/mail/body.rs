//! Bodies of mails. Each body is rendered as plain text and as HTML.

use std::fmt::Write;

use holdshort_core::notice::CheckpointNotice;

use crate::message::{LinkAccess, Message, Several};
use crate::phrases::{Phrases, filled};

pub(super) struct Body {
    pub(super) plain: String,
    pub(super) html: String,
}

pub(super) fn render_message(message: &Message) -> Body {
    let words = message.phrases();
    let title = message.quoted();
    let how = match message.way {
        LinkAccess::Link(until) => filled(words.yours, &[&message.time(until)]),
        LinkAccess::SignIn => words.sign_in.to_owned(),
    };
    let headline = message.headline();
    let mut plain = format!("{headline}\n\n");
    if let Some(title) = &title {
        let _ = write!(plain, "{title}\n\n");
    }
    for (label, value) in message.facts() {
        let _ = writeln!(plain, "{label}: {value}");
    }
    let _ =
        write!(plain, "\n{}:\n{}\n\n{how}\n\n-- \n{}\n", message.action(), message.page(), words.no_reply);

    let mut inner = format!("<h1 style=\"font-size:1.2em\">{}</h1>\n", escaped(&headline));
    if let Some(title) = &title {
        let _ = writeln!(inner, "<p><b>{}</b></p>", escaped(title));
    }
    inner.push_str("<table>\n");
    for (label, value) in message.facts() {
        let _ = writeln!(inner, "<tr><td>{}</td><td>{}</td></tr>", escaped(label), escaped(&value));
    }
    inner.push_str("</table>\n");
    let _ = writeln!(
        inner,
        "<p><a href=\"{}\">{}</a></p>\n<p>{}</p>\n<hr>\n<p><small>{}</small></p>",
        escaped(message.page()),
        escaped(message.action()),
        escaped(&how),
        escaped(words.no_reply),
    );
    Body { plain, html: page(words.tag, &headline, &inner) }
}

/// Returns the body of a mail with a checkpoint of the journal. The plain-text part contains the signed text unchanged,
/// so that a person can save it as a file for `audit verify --against`.
pub(super) fn render_checkpoint(notice: &CheckpointNotice) -> Body {
    let events = super::events(notice.covered.size);
    let headline = format!(
        "This mail contains a signed checkpoint of the journal, which covers {events}. Keep this mail."
    );
    let (note, key) = (&notice.note, format!("Its key: {}", notice.key));
    let words = Phrases::for_language(None);
    let plain = format!("{headline}\n\n{note}\n{key}\n\n-- \n{}\n", words.no_reply);
    let inner = format!(
        "<h1 style=\"font-size:1.2em\">{}</h1>\n<pre>{}</pre>\n<p>{}</p>\n<hr>\n<p><small>{}</small></p>\n",
        escaped(&headline),
        escaped(note),
        escaped(&key),
        escaped(words.no_reply),
    );
    Body { plain, html: page(words.tag, &headline, &inner) }
}

pub(super) fn render_several(several: Several<'_>) -> Body {
    let words = several.phrases();
    let headline = several.headline();
    let mut plain = format!("{headline}\n");
    let mut inner = format!("<h1 style=\"font-size:1.2em\">{}</h1>\n<ul>\n", escaped(&headline));
    // Earliest expiry of the links. All links are valid until then.
    let mut until = None;
    for message in several.listed() {
        let entry = message.entry();
        let _ = write!(plain, "\n- {entry}\n  {}\n", message.page());
        let link = escaped(message.page());
        let _ = writeln!(inner, "<li><a href=\"{link}\">{}</a></li>", escaped(&entry));
        if let LinkAccess::Link(at) = message.way {
            until = until.filter(|(earliest, _)| *earliest <= at).or(Some((at, message)));
        }
    }
    if let Some(more) = several.not_listed() {
        let _ = write!(plain, "\n{more}\n");
        let _ = writeln!(inner, "<li>{}</li>", escaped(&more));
    }
    let how = match until {
        Some((at, message)) => filled(words.yours, &[&message.time(at)]),
        None => words.sign_in.to_owned(),
    };
    let (inbox, no_reply) = (words.inbox, words.no_reply);
    let _ = write!(plain, "\n{inbox}:\n{}\n\n{how}\n\n-- \n{no_reply}\n", several.inbox);
    let _ = writeln!(
        inner,
        "</ul>\n<p><a href=\"{}\">{}</a></p>\n<p>{}</p>\n<hr>\n<p><small>{}</small></p>",
        escaped(several.inbox),
        escaped(inbox),
        escaped(&how),
        escaped(no_reply),
    );
    Body { plain, html: page(words.tag, &headline, &inner) }
}

/// Builds the HTML document of a mail. `inner` must be escaped HTML.
fn page(language: &str, title: &str, inner: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
         <body style=\"font-family:sans-serif\">\n{inner}</body>\n</html>\n",
        escaped(title)
    )
}

/// Escapes a text so that a mail can contain it in HTML text and quoted attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}
