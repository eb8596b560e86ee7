//! Named limits of messages, each with its reason. Holds numbers only.

use std::time::Duration;

/// Bytes of a response that are read and stored: enough for the text of an error.
pub const ANSWER_BYTES: usize = 1024;
/// Bytes that a mail server may send in one conversation, certificates included. A conversation about one mail
/// needs far fewer.
pub const SMTP_BYTES: usize = 256 * 1024;
/// Characters of a title: one line on a card.
pub const TITLE_CHARS: usize = 150;
/// Characters of the subject of a mail: more than mail programs list.
pub const SUBJECT_CHARS: usize = 200;
/// Entries that one message lists; the others are counted. Slack accepts 50 blocks.
pub const LISTED: usize = 40;
/// Bytes of the lines in one ntfy message. Servers refuse a message of more than 4,096 bytes, or turn it into a
/// file.
pub const NTFY_BYTES: usize = 4_000;
/// Names that a message lists; the others are counted.
pub const NAMES_TOLD: usize = 20;
/// Bytes of a file with a secret or a URL.
pub const SECRET_FILE_BYTES: u64 = 8 * 1024;
/// Bytes of a decoded signing secret, as in Standard Webhooks.
pub const SECRET_LEAST_BYTES: usize = 24;
pub const SECRET_MOST_BYTES: usize = 64;
/// Greatest difference between the time of a request signed by Slack and the clock. Slack recommends this value.
pub const SLACK_SKEW: Duration = Duration::from_mins(5);
/// Bytes of a response of Slack's API that are read: it repeats the message.
pub const SLACK_ANSWER_BYTES: usize = 256 * 1024;
/// Characters that a browser shows. With the URL they fit into the 3,993 bytes that each push service accepts (RFC
/// 8291, 4), even if each character has four bytes.
pub const PUSH_TITLE_CHARS: usize = 160;
pub const PUSH_BODY_CHARS: usize = 500;
/// Time for which a push service keeps an undelivered message: a day, or until the interrupt expires.
pub const PUSH_TTL: Duration = Duration::from_hours(24);
pub const PUSH_TTL_LEAST: Duration = Duration::from_mins(1);
/// Lifetime of a token for a push service. RFC 8292 allows at most one day.
pub const VAPID: Duration = Duration::from_hours(12);
/// Bytes of a browser's authentication secret (RFC 8291, 3.2).
pub const PUSH_AUTH_BYTES: usize = 16;
/// Longest delay that a receiver may ask for with `Retry-After`.
pub const RETRY_AFTER: Duration = Duration::from_hours(24);
/// Most buttons of one message, in addition to the one that opens the page.
pub const BUTTONS: usize = 5;
