//! The named limits of what is sent, each with its reason. Holds numbers only.

use std::time::Duration;

/// Bytes of an answer that are read, and kept: enough for the words of an error.
pub const ANSWER_BYTES: usize = 1024;
/// Bytes that a mail server may say in one conversation, certificates included: far more than one about one mail takes.
pub const SMTP_BYTES: usize = 256 * 1024;
/// Characters of a title: one line on a card.
pub const TITLE_CHARS: usize = 150;
/// Characters of the subject of a mail: what lists of mails show, and more.
pub const SUBJECT_CHARS: usize = 200;
/// Things that one message lists; more are counted. Slack takes 50 blocks.
pub const LISTED: usize = 40;
/// Bytes of the lines that one message of ntfy lists: its servers refuse a message of more than 4,096, or make a file of it.
pub const NTFY_BYTES: usize = 4_000;
/// Names that a message lists; more are counted.
pub const NAMES_TOLD: usize = 20;
/// Bytes of a file with a secret or a URL.
pub const SECRET_FILE_BYTES: u64 = 8 * 1024;
/// Bytes of a signing secret, decoded: those of Standard Webhooks.
pub const SECRET_LEAST_BYTES: usize = 24;
pub const SECRET_MOST_BYTES: usize = 64;
/// How old, or how far ahead, what Slack has signed may be: its own rule.
pub const SLACK_SKEW: Duration = Duration::from_mins(5);
/// Bytes of an answer of Slack's API that are read: it repeats the message.
pub const SLACK_ANSWER_BYTES: usize = 256 * 1024;
/// Characters of what a browser shows, at most: with those of a URL they are within the 3,993 bytes that each push service
/// takes (RFC 8291, 4), also where each of them has four.
pub const PUSH_TITLE_CHARS: usize = 160;
pub const PUSH_BODY_CHARS: usize = 500;
/// How long a push service keeps what it can not bring yet: a day, or until it expires.
pub const PUSH_TTL: Duration = Duration::from_hours(24);
pub const PUSH_TTL_LEAST: Duration = Duration::from_mins(1);
/// How long what says to a push service who sends counts: RFC 8292 takes a day at most.
pub const VAPID: Duration = Duration::from_hours(12);
/// Bytes of the secret of a browser that says who may send to it (RFC 8291, 3.2).
pub const PUSH_AUTH_BYTES: usize = 16;
/// The longest wait that a receiver may ask for with `Retry-After`.
pub const RETRY_AFTER: Duration = Duration::from_hours(24);
/// Buttons of one message beside the one that opens the page.
pub const BUTTONS: usize = 5;
