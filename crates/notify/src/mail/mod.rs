//! E-mail: one message to one address, in plain text and in HTML, and its headers.
//!
//! Nothing remote is loaded, no picture, no style sheet. What is not ours is one line, escaped where HTML reads it, encoded where
//! a header holds it. `smtp.rs` hands it over.

mod body;
mod smtp;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdshort_core::time::Timestamp;
use lettre::address::{Address, Envelope};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, MultiPartKind, SinglePart};

use self::body::Body;
use crate::limits::SUBJECT_CHARS;
use crate::message::{Message, Reader, line};

pub(crate) use self::smtp::send;

/// A mail as it goes over the wire.
#[derive(Debug)]
pub(crate) struct Mail {
    pub(crate) envelope: Envelope,
    pub(crate) bytes: Vec<u8>,
}

/// Why none can be made: the address is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unaddressed {
    #[error("nobody's address is there")]
    Nobody,
    #[error("the address is none: {0}")]
    Address(#[from] lettre::address::AddressError),
    #[error("no mail can be made: {0}")]
    Mail(#[from] lettre::error::Error),
}

pub(crate) fn of(message: &Message, from: &Mailbox) -> Result<Mail, Unaddressed> {
    let reader = message.reader.as_ref().ok_or(Unaddressed::Nobody)?;
    let domain = from.email.domain();
    let thread = format!("<{}@{domain}>", message.notice.interrupt);
    let words = message.words();
    let about = match &message.title {
        Some(title) => format!("{title} ({})", message.subject()),
        None => message.subject(),
    };
    // Some programs put mails together by their subjects.
    let again = if message.is_first() { "" } else { "Re: " };
    let subject = line(&format!("{again}[Holdshort] {about}"), SUBJECT_CHARS);
    let id = format!("<{}@{domain}>", message.id);
    let Body { plain, html } = body::of(message);
    mail(from, reader, &id, &thread, &subject, words.tag, at(message.notice.at), plain, html)
}

#[expect(clippy::too_many_arguments, reason = "each is one header, or one part")]
fn mail(
    from: &Mailbox,
    reader: &Reader,
    id: &str,
    thread: &str,
    subject: &str,
    language: &str,
    date: SystemTime,
    plain: String,
    html: String,
) -> Result<Mail, Unaddressed> {
    let address: Address = reader.address.trim().parse()?;
    let name = reader.name.as_deref().map(|name| line(name, SUBJECT_CHARS)).filter(|name| !name.is_empty());
    let boundary = format!("=_{}", id.trim_matches(['<', '>']).replace('@', "_"));
    let parts = MultiPart::builder()
        .kind(MultiPartKind::Alternative)
        .boundary(boundary)
        .singlepart(part(ContentType::TEXT_PLAIN, plain))
        .singlepart(part(ContentType::TEXT_HTML, html));
    let built = lettre::Message::builder()
        .from(from.clone())
        .to(Mailbox::new(name, address.clone()))
        .date(date)
        .message_id(Some(id.to_owned()))
        .in_reply_to(thread.to_owned())
        .references(thread.to_owned())
        .subject(subject)
        // RFC 3834: no machine answers it.
        .raw_header(raw("Auto-Submitted", "auto-generated"))
        .raw_header(raw("X-Auto-Response-Suppress", "All"))
        .raw_header(raw("Content-Language", language))
        .multipart(parts)?;
    let envelope = Envelope::new(Some(from.email.clone()), vec![address])?;
    Ok(Mail { envelope, bytes: built.formatted() })
}

fn part(kind: ContentType, text: String) -> SinglePart {
    SinglePart::builder().header(kind).body(text)
}

fn raw(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

fn at(moment: Timestamp) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(moment.as_millis()).unwrap_or_default())
}
