//! The named limits of the outbox, each with its reason. Holds numbers only.

use std::time::Duration;

/// Deliveries that one channel, but that of agents, is sent at a time: a slow receiver holds up no other channel, and is not
/// run over.
pub const SENT_AT_ONCE: usize = 4;
/// Resolutions that agents are told at a time, all their places together, with those that wait for their turn.
pub const CALLED_AT_ONCE: usize = 100;
/// Of these, how many one asker has: what is beyond them is put off, and keeps no place from the others.
pub const CALLED_OF_ASKER: usize = 20;
/// Of these, how many are for one host and port: those that are sent, and those that wait for their turn.
pub const HELD_AT_HOST: usize = 10;
/// Of these, how many are sent to one host and port: an agent that is slow keeps its own waiting, and no other's.
pub const CALLED_AT_HOST: usize = 2;
/// How long one is put off for which there is no room: a quarter of its age, so that many that wait for long are looked at
/// seldom, but never shorter or longer than this.
pub const PUT_OFF_LEAST: Duration = Duration::from_millis(250);
pub const PUT_OFF_MOST: Duration = Duration::from_mins(1);
/// Deliveries of a channel that are gathered at a time: what is beyond them is another message.
pub const GATHERED: usize = 500;
/// Messages that one more of the same interrupt changes: reminders have a limit far below.
pub const UPDATED: usize = 100;
/// Deliveries of one interrupt over one channel that are looked through for whom it asked: to all recipients, and reminders.
pub const ASKED_OVER: usize = 1_000;
/// People that one notice is told to over one channel, by a delivery each: all of them are rows of the append that asks.
pub const RECIPIENTS: usize = 200;
/// The longest wait between two attempts, before what is drawn at random.
pub const RETRY_WAIT: Duration = Duration::from_hours(6);
/// How long every attempt over a channel fails before nothing is sent to it any more. Pauses count in part
/// ([`holdshort_store::CHANNEL_PAUSE`]).
pub const CHANNEL_FAILS: Duration = Duration::from_hours(120);
/// How long a delivery that is due may wait: of a channel that is disabled, or not configured any more.
pub const DELIVERY_WAITS: Duration = Duration::from_hours(168);
/// How long the notice of a delivery, and what was answered, are kept (contract D1).
pub const DELIVERY_BODIES: Duration = Duration::from_hours(720);
/// How long deliveries and their attempts are kept at least (contract E19).
pub const DELIVERY_ATTEMPTS: Duration = Duration::from_hours(2160);
