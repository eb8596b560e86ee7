//! Named limits of the outbox. Holds numbers only.

use std::time::Duration;

/// Maximum concurrent deliveries of one channel per server, except callbacks. All other deliveries of this channel
/// wait. Deliveries of other channels are not delayed.
pub const SENT_AT_ONCE: usize = 4;
/// Maximum callbacks to agents that a server is sending or has claimed. Further callbacks wait unclaimed.
pub const CALLED_AT_ONCE: usize = 100;
/// Maximum callbacks to one agent that a server is sending or has claimed. Further callbacks are postponed.
pub const CALLED_OF_ASKER: usize = 20;
/// Maximum callbacks to one host and port that a server is sending or has claimed. Further callbacks are postponed.
pub const HELD_AT_HOST: usize = 10;
/// Maximum concurrent callbacks to one host and port. Further callbacks to this host wait. Callbacks to other hosts do
/// not.
pub const CALLED_AT_HOST: usize = 2;
/// Minimum delay before a postponed callback is tried again. The normal delay is a quarter of the callback's age.
pub const PUT_OFF_LEAST: Duration = Duration::from_millis(250);
/// Maximum delay before a postponed callback is tried again. A callback fails after it was postponed for 7 days.
pub const PUT_OFF_MOST: Duration = Duration::from_mins(1);
/// Maximum deliveries in one digest. All other deliveries go into another message.
pub const GATHERED: usize = 500;
/// Maximum messages about one interrupt that are changed after the decision, to show the result. Older messages stay
/// unchanged.
pub const UPDATED: usize = 100;
/// Maximum earlier deliveries of one interrupt through one channel that are searched for people to notify when the
/// interrupt is resolved. The recipients of older deliveries are not notified of the resolution.
pub const ASKED_OVER: usize = 1_000;
/// Maximum people who are notified of one interrupt through one channel. All other people are not notified, and a
/// warning is logged.
pub const RECIPIENTS: usize = 200;
/// Maximum delay between two attempts of a delivery, before a random part is added. A longer delay is shortened to this
/// maximum.
pub const RETRY_WAIT: Duration = Duration::from_hours(6);
/// Time for which all deliveries of a channel may fail. After this time, the channel is disabled. A pause between two
/// attempts counts only up to `channel_pause`.
pub const CHANNEL_FAILS: Duration = Duration::from_hours(120);
/// Maximum time that a delivery waits while its channel is disabled or removed. Then the delivery fails.
pub const DELIVERY_WAITS: Duration = Duration::from_hours(168);
/// Retention of the texts of notifications and of receivers' responses (contract D1). After this time, they are
/// deleted.
pub const DELIVERY_BODIES: Duration = Duration::from_hours(720);
/// Retention of deliveries and their attempts (contract E19). If `keep_content` is longer, it applies instead. After
/// this time, they are deleted.
pub const DELIVERY_ATTEMPTS: Duration = Duration::from_hours(2160);
