//! Named limits of the outbox. Holds numbers only.

use std::time::Duration;

/// Maximum concurrent deliveries of one channel per server, except callbacks. Further deliveries wait; a slow receiver
/// delays no other channel.
pub const SENT_AT_ONCE: usize = 4;
/// Maximum callbacks that a server sends or holds for their turn. Further callbacks wait.
pub const CALLED_AT_ONCE: usize = 100;
/// Maximum callbacks of one agent that a server sends or holds. Further callbacks are put off.
pub const CALLED_OF_ASKER: usize = 20;
/// Maximum callbacks to one host and port that a server sends or holds. Further callbacks are put off.
pub const HELD_AT_HOST: usize = 10;
/// Maximum concurrent callbacks to one host and port. Further callbacks wait; a slow agent delays only callbacks to its
/// own host.
pub const CALLED_AT_HOST: usize = 2;
/// Minimum delay of a callback that is put off. The delay is a quarter of the callback's age. Then the callback is
/// tried again.
pub const PUT_OFF_LEAST: Duration = Duration::from_millis(250);
/// Maximum delay of a callback that is put off. Then the callback is tried again; after 7 days it fails.
pub const PUT_OFF_MOST: Duration = Duration::from_mins(1);
/// Maximum deliveries in one digest. Further deliveries form another message.
pub const GATHERED: usize = 500;
/// Maximum messages of one interrupt that are changed after a decision. Older messages stay as they are.
pub const UPDATED: usize = 100;
/// Maximum deliveries of one interrupt and channel that are searched for recipients. Recipients of earlier deliveries
/// are not notified of the resolution.
pub const ASKED_OVER: usize = 1_000;
/// Maximum people notified of one interrupt over one channel. Further people are not notified, and the log has a
/// warning.
pub const RECIPIENTS: usize = 200;
/// Maximum delay between two attempts of a delivery, without the random part. Longer delays are shortened.
pub const RETRY_WAIT: Duration = Duration::from_hours(6);
/// Time of continuous failure of a channel. Then the channel is disabled. Pauses are counted up to `channel_pause`.
pub const CHANNEL_FAILS: Duration = Duration::from_hours(120);
/// Maximum time that a delivery waits for a disabled or removed channel. Then the delivery fails.
pub const DELIVERY_WAITS: Duration = Duration::from_hours(168);
/// Retention of notices and of receivers' responses (contract D1). Then they are deleted.
pub const DELIVERY_BODIES: Duration = Duration::from_hours(720);
/// Retention of deliveries and their attempts (contract E19), or longer with `keep_content`. Then they are deleted.
pub const DELIVERY_ATTEMPTS: Duration = Duration::from_hours(2160);
