//! E-mail: builds a mail to one address. A mail has headers, and a body in plain text and in HTML.
//!
//! A mail loads no images or style sheets from other servers. Text that an agent or a person wrote is reduced to one
//! line, escaped in HTML, and encoded in headers. `smtp.rs` sends the mail, over a connection that `wire.rs` opens.

mod body;
mod smtp;
mod wire;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use holdshort_core::notice::{CheckpointNotice, Recipient};
use holdshort_core::time::Timestamp;
use lettre::address::{Address, Envelope};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, MultiPartKind, SinglePart};

use self::body::Body;
use crate::limits::SUBJECT_CHARS;
use crate::message::{Message, Reader, Several, line};
use crate::phrases::Phrases;

pub(crate) use self::smtp::send;

/// An encoded mail, with the sender and the recipient for SMTP.
#[derive(Debug)]
pub(crate) struct Mail {
    pub(crate) envelope: Envelope,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unaddressed {
    #[error("the mail has no recipient")]
    Nobody,
    #[error("the address is invalid: {0}")]
    Address(#[from] lettre::address::AddressError),
    #[error("the mail cannot be created: {0}")]
    Mail(#[from] lettre::error::Error),
}

pub(crate) fn compose_message(message: &Message, from: &Mailbox) -> Result<Mail, Unaddressed> {
    let domain = from.email.domain();
    let about = match &message.title {
        Some(title) => format!("{title} ({})", message.subject()),
        None => message.subject(),
    };
    // Some mail programs group mails by subject. Therefore later mails have the same subject with `Re:`.
    let again = if message.is_first() { "" } else { "Re: " };
    let head = Head {
        id: format!("<{}@{domain}>", message.id),
        thread: Some(format!("<{}@{domain}>", message.notice.interrupt)),
        // Encoded words (RFC 2047) in the text of an agent are broken up. Otherwise mail programs would decode them,
        // perhaps to characters that a title must not contain.
        subject: line(&format!("{again}[Holdshort] {about}"), SUBJECT_CHARS).replace("=?", "= ?"),
        language: message.phrases().tag,
        date: at(message.notice.at),
    };
    mail(from, message.reader.as_ref(), head, body::render_message(message))
}

/// Builds one mail for several messages of a channel. The mail begins a new thread in mail programs.
pub(crate) fn compose_several(several: Several<'_>, from: &Mailbox) -> Result<Mail, Unaddressed> {
    let first = several.messages.first().ok_or(Unaddressed::Nobody)?;
    let newest = several.messages.iter().map(|message| message.notice.at).max();
    let head = Head {
        id: format!("<{}@{}>", first.id, from.email.domain()),
        thread: None,
        subject: line(&format!("[Holdshort] {}", several.headline()), SUBJECT_CHARS),
        language: several.phrases().tag,
        date: at(newest.unwrap_or(first.notice.at)),
    };
    mail(from, first.reader.as_ref(), head, body::render_several(several))
}

/// Builds a mail with a checkpoint of the journal for the configured address `to`.
pub(crate) fn compose_checkpoint(
    id: &str,
    notice: &CheckpointNotice,
    from: &Mailbox,
) -> Result<Mail, Unaddressed> {
    let Some(Recipient::Address(address)) = &notice.to else { return Err(Unaddressed::Nobody) };
    let reader = Reader { address: address.clone(), ..Reader::default() };
    let head = Head {
        id: format!("<{id}@{}>", from.email.domain()),
        thread: None,
        subject: format!("[Holdshort] Checkpoint of {}", events(notice.covered.size)),
        language: Phrases::for_language(None).tag,
        date: at(notice.at),
    };
    mail(from, Some(&reader), head, body::render_checkpoint(notice))
}

fn events(number: u64) -> String {
    if number == 1 { "1 event".to_owned() } else { format!("{number} events") }
}

struct Head {
    id: String,
    /// Message id of the mail that began the thread in mail programs. `None` if this mail begins a thread.
    thread: Option<String>,
    subject: String,
    language: &'static str,
    date: SystemTime,
}

fn mail(from: &Mailbox, reader: Option<&Reader>, head: Head, body: Body) -> Result<Mail, Unaddressed> {
    let reader = reader.ok_or(Unaddressed::Nobody)?;
    let Head { id, thread, subject, language, date } = head;
    let address: Address = reader.address.trim().parse()?;
    let name = reader.name.as_deref().map(|name| line(name, SUBJECT_CHARS)).filter(|name| !name.is_empty());
    let boundary = format!("=_{}", id.trim_matches(['<', '>']).replace('@', "_"));
    let parts = MultiPart::builder()
        .kind(MultiPartKind::Alternative)
        .boundary(boundary)
        .singlepart(part(ContentType::TEXT_PLAIN, body.plain))
        .singlepart(part(ContentType::TEXT_HTML, body.html));
    let mut built = lettre::Message::builder()
        .from(from.clone())
        .to(Mailbox::new(name, address.clone()))
        .date(date)
        .message_id(Some(id))
        .subject(subject)
        // RFC 3834: mail programs must not reply automatically.
        .raw_header(raw("Auto-Submitted", "auto-generated"))
        .raw_header(raw("X-Auto-Response-Suppress", "All"))
        .raw_header(raw("Content-Language", language));
    if let Some(thread) = thread {
        built = built.in_reply_to(thread.clone()).references(thread);
    }
    let built = built.multipart(parts)?;
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
