//! Named limits of messages. Holds numbers only.

use std::time::Duration;

/// Maximum bytes of a receiver's answer: enough for the text of an error. The rest is not read.
pub const ANSWER_BYTES: usize = 1024;
/// Maximum bytes that a mail server sends in one conversation, certificates included. Then the attempt fails.
pub const SMTP_BYTES: usize = 256 * 1024;
/// Maximum characters of the title of a message. A longer title is cut.
pub const TITLE_CHARS: usize = 150;
/// Maximum characters of the subject of a mail. A longer subject is cut.
pub const SUBJECT_CHARS: usize = 200;
/// Maximum items that one message lists; Slack accepts 50 blocks. Further items appear only as a number.
pub const LISTED: usize = 40;
/// Maximum bytes of an ntfy digest, whose servers accept 4,096 bytes. Further items appear only as a number.
pub const NTFY_BYTES: usize = 4_000;
/// Maximum people and groups that a message names. The others appear only as a number.
pub const NAMES_TOLD: usize = 20;
/// Maximum bytes of a file with a secret or a URL. With a larger file the server does not start.
pub const SECRET_FILE_BYTES: u64 = 8 * 1024;
/// Minimum bytes of a signing secret (Standard Webhooks). With a shorter one the server does not start; a callback is
/// refused with `invalid_request`.
pub const SECRET_LEAST_BYTES: usize = 24;
/// Maximum bytes of a signing secret (Standard Webhooks). With a longer one the server does not start; a callback is
/// refused with `invalid_request`.
pub const SECRET_MOST_BYTES: usize = 64;
/// Maximum age of a request that Slack signed, as Slack recommends. An older request is refused with `unauthenticated`.
pub const SLACK_SKEW: Duration = Duration::from_mins(5);
/// Maximum bytes of an answer of Slack. The rest is not read.
pub const SLACK_ANSWER_BYTES: usize = 256 * 1024;
/// Maximum characters of the title of a push notification, which has 3,993 bytes in all (RFC 8291, 4). A longer title
/// is cut.
pub const PUSH_TITLE_CHARS: usize = 160;
/// Maximum characters of the text of a push notification. A longer text is cut.
pub const PUSH_BODY_CHARS: usize = 500;
/// Maximum time for which a push service stores a notification, or until the interrupt expires. Then the notification
/// is not shown.
pub const PUSH_TTL: Duration = Duration::from_hours(24);
/// Minimum time for which a push service stores a notification. Then the notification is not shown.
pub const PUSH_TTL_LEAST: Duration = Duration::from_mins(1);
/// Validity of a token for push services, which RFC 8292 limits to one day. Then the token is renewed.
pub const VAPID: Duration = Duration::from_hours(12);
/// Exact bytes of the authentication secret of a browser (RFC 8291, 3.2). Another length is refused with
/// `invalid_request`.
pub const PUSH_AUTH_BYTES: usize = 16;
/// Maximum delay that a receiver may request with `Retry-After`. A longer delay is shortened.
pub const RETRY_AFTER: Duration = Duration::from_hours(24);
/// Maximum option buttons of one Slack message. Further options are on the page.
pub const BUTTONS: usize = 5;
