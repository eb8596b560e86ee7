//! The named limits of a workflow and a rehearsal file, each with its reason. Holds numbers only.

/// A workflow is written by people: the largest shipped one is a few kilobytes.
pub const WORKFLOW_BYTES: usize = 256 * 1024;
/// A rehearsal quotes whole files that it writes.
pub const REHEARSAL_BYTES: usize = 1024 * 1024;
/// A file of 10,000 people with everything that may be said of each is smaller.
pub const PEOPLE_BYTES: usize = 16 * 1024 * 1024;
/// Scalars, lists and mappings of it.
pub const PEOPLE_NODES: usize = 1_000_000;
/// Lists and mappings inside one another; JSON Schemas nest deepest.
pub const DEPTH: usize = 48;
/// Scalars, lists and mappings of one file.
pub const NODES: usize = 50_000;
/// What aliases (`*name`) may repeat, in parser events.
pub const ALIAS_EVENTS: usize = 20_000;
/// More problems than this help nobody.
pub const PROBLEMS: usize = 100;

pub const AGENTS: usize = 50;
pub const PHASES: usize = 100;
pub const RULES: usize = 500;
/// Bytes and values of the rules file.
pub const RULES_BYTES: usize = 1024 * 1024;
pub const RULES_NODES: usize = 100_000;
/// Bytes of the channels file, and the channels in it: each is looked at with every append that tells somebody.
pub const CHANNELS_BYTES: usize = 256 * 1024;
pub const CHANNELS: usize = 50;
/// Secrets of one channel: the current one, and those that receivers may still use.
pub const CHANNEL_SECRETS: usize = 3;
pub const CHANNEL_HEADERS: usize = 20;
/// Addresses that an e-mail channel names: each is sent a mail of its own.
pub const CHANNEL_ADDRESSES: usize = 20;
/// Parts of the week in which a channel is quiet.
pub const CHANNEL_QUIET: usize = 7;
/// People for whom one channel holds back other things than for the rest.
pub const CHANNEL_PERSONAL: usize = 1_000;
/// How often what a channel gathers is told: at least, and at most.
pub const CHANNEL_DIGEST_LEAST_MS: u64 = 1_000;
pub const CHANNEL_DIGEST_MS: u64 = 24 * 60 * 60 * 1000;
/// Attempts of one delivery.
pub const CHANNEL_ATTEMPTS: u64 = 12;
/// From the first attempt to the second.
pub const CHANNEL_RETRY_MS: u64 = 60 * 60 * 1000;
/// Of one attempt.
pub const CHANNEL_TIMEOUT_MS: u64 = 30 * 1000;
/// Entries of any other list: an agent's tools, a rule's patterns, approvers.
pub const LIST: usize = 200;
/// Replies of one agent in a rehearsal.
pub const STEPS: usize = 1_000;

/// Characters of a name or an id: it becomes part of paths, labels and metrics.
pub const NAME: usize = 64;
/// Characters of a pattern, label, reason or other single line.
pub const LINE: usize = 1_000;
/// Characters of instructions, messages and inputs: every model request carries them.
pub const TEXT: usize = 64 * 1024;
/// Characters of a rehearsed text or argument.
pub const SCRIPTED: usize = 256 * 1024;

/// Rounds, calls, attempts …: beyond this a limit is none.
pub const COUNT: u64 = 1_000_000;
/// Tokens of a budget.
pub const TOKENS: u64 = 1_000_000_000_000;
/// An amount of money, in millionths.
pub const MONEY: u64 = 1_000_000 * 1_000_000;
/// A year: what waits longer is forgotten, not waited for.
pub const DURATION_MS: u64 = 366 * 24 * 60 * 60 * 1000;
/// Ten minutes: a rehearsed reply that takes longer tests nobody's patience but ours.
pub const PAUSE_MS: u64 = 10 * 60 * 1000;
