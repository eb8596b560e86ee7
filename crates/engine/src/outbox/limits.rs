//! The named limits of the outbox, each with its reason. Holds numbers only.

use std::time::Duration;

/// Concurrent deliveries of one channel, except the callbacks of agents. A slow receiver delays no other channel, and
/// is not overloaded.
pub const SENT_AT_ONCE: usize = 4;
/// Concurrent callbacks to agents in total, including those that wait for their turn.
pub const CALLED_AT_ONCE: usize = 100;
/// Part of them for one asker. Further callbacks are put off, and take no place from others.
pub const CALLED_OF_ASKER: usize = 20;
/// Part of them for one host and port: those being sent, and those that wait for their turn.
pub const HELD_AT_HOST: usize = 10;
/// Part of them being sent to one host and port. A slow agent delays its own callbacks, and no other's.
pub const CALLED_AT_HOST: usize = 2;
/// Delay of a callback without room: a quarter of its age, within these two limits. Many long-waiting callbacks are
/// therefore checked rarely.
pub const PUT_OFF_LEAST: Duration = Duration::from_millis(250);
pub const PUT_OFF_MOST: Duration = Duration::from_mins(1);
/// Maximum number of deliveries gathered into one message; the rest form another message.
pub const GATHERED: usize = 500;
/// Maximum number of messages that a later notice of the same interrupt updates; the limit of reminders is far lower.
pub const UPDATED: usize = 100;
/// Maximum number of deliveries of one interrupt over one channel, including reminders, that are searched for its
/// recipients.
pub const ASKED_OVER: usize = 1_000;
/// Maximum number of people notified of one interrupt over one channel, by a delivery each. All of these rows are in
/// the append that opens the interrupt.
pub const RECIPIENTS: usize = 200;
/// Longest wait between two attempts, before the random part.
pub const RETRY_WAIT: Duration = Duration::from_hours(6);
/// Time of continuous failure after which a channel is disabled. Pauses count only in part
/// ([`holdshort_store::CHANNEL_PAUSE`]).
pub const CHANNEL_FAILS: Duration = Duration::from_hours(120);
/// Maximum time that a due delivery waits if its channel is disabled or not configured any more.
pub const DELIVERY_WAITS: Duration = Duration::from_hours(168);
/// Time for which the notice of a delivery and the responses are kept (contract D1).
pub const DELIVERY_BODIES: Duration = Duration::from_hours(720);
/// Minimum time for which deliveries and their attempts are kept (contract E19).
pub const DELIVERY_ATTEMPTS: Duration = Duration::from_hours(2160);
