//! Named limits of notifications.

use std::time::Duration;

/// Maximum number of bytes that are read of a receiver's response to a notification. The limit is enough for an error
/// message. The rest is ignored.
pub const ANSWER_BYTES: usize = 1024;
/// Maximum number of bytes that a mail server may send in one connection, including its certificates. If the server
/// sends more, the delivery attempt fails.
pub const SMTP_BYTES: usize = 256 * 1024;
/// Maximum characters of a notification's title. A longer title is truncated.
pub const TITLE_CHARS: usize = 150;
/// Maximum characters of the summary of a review in a notification. A longer summary is truncated.
pub const SUMMARY_CHARS: usize = 300;
/// Maximum characters of the subject of a mail that a channel sends. A longer subject is truncated.
pub const SUBJECT_CHARS: usize = 200;
/// Maximum number of items in a message that lists several requests. Slack accepts at most 50 blocks in a message. The
/// message states how many items are not listed.
pub const LISTED: usize = 40;
/// Maximum size, in bytes, of a digest for ntfy. Its servers accept 4,096 bytes. The digest states how many items do
/// not fit.
pub const NTFY_BYTES: usize = 4_000;
/// Maximum number of people and groups whose names are in a notification. The notification states how many are not
/// named.
pub const NAMES_TOLD: usize = 20;
/// Maximum size, in bytes, of a file that contains a secret or a URL. With a larger file the server does not start.
pub const SECRET_FILE_BYTES: u64 = 8 * 1024;
/// Minimum length, in bytes, of a signing secret (Standard Webhooks). With a shorter secret in the configuration the
/// server does not start. A callback with a shorter secret is refused with `invalid_request`.
pub const SECRET_LEAST_BYTES: usize = 24;
/// Maximum length, in bytes, of a signing secret (Standard Webhooks). With a longer secret in the configuration the
/// server does not start. A callback with a longer secret is refused with `invalid_request`.
pub const SECRET_MOST_BYTES: usize = 64;
/// Maximum age of a request that Slack signed, as Slack recommends. An older request is refused with `unauthenticated`.
pub const SLACK_SKEW: Duration = Duration::from_mins(5);
/// Maximum number of bytes of a response from Slack that are read. The rest is ignored.
pub const SLACK_ANSWER_BYTES: usize = 256 * 1024;
/// Maximum characters of the title of a push notification. A longer title is truncated. The limit exists because the
/// whole notification must fit into 3,993 bytes (RFC 8291, 4).
pub const PUSH_TITLE_CHARS: usize = 160;
/// Maximum characters of the text of a push notification. A longer text is truncated.
pub const PUSH_BODY_CHARS: usize = 500;
/// Maximum time for which a push service stores a notification for a browser that is offline. If the interrupt expires
/// earlier, the notification is stored only until then. After this time, the browser no longer receives the
/// notification.
pub const PUSH_TTL: Duration = Duration::from_hours(24);
/// Minimum time for which a push service stores a notification for a browser that is offline.
pub const PUSH_TTL_LEAST: Duration = Duration::from_mins(1);
/// Time for which a token for push services is valid. RFC 8292 allows at most one day.
pub const VAPID: Duration = Duration::from_hours(12);
/// Exact length, in bytes, of the secret with which a browser authenticates push messages (RFC 8291, 3.2). A secret
/// with a different length is refused with `invalid_request`.
pub const PUSH_AUTH_BYTES: usize = 16;
/// Maximum delay that the receiver of a notification can request with the header `Retry-After`. If the receiver
/// requests a longer delay, this maximum is used.
pub const RETRY_AFTER: Duration = Duration::from_hours(24);
/// Maximum number of buttons in one Slack message, one per option. All options are on the page of the interrupt.
pub const BUTTONS: usize = 5;
