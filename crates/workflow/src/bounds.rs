//! Named limits of workflows, rehearsals and configuration files, each with its reason. Holds only numbers.

/// Maximum bytes of a workflow. People write workflows, and the largest shipped one has a few kilobytes.
pub const WORKFLOW_BYTES: usize = 256 * 1024;
/// Maximum bytes of a rehearsal, which quotes whole files that it writes.
pub const REHEARSAL_BYTES: usize = 1024 * 1024;
/// Maximum bytes of the people file. A complete file of 10,000 people is smaller.
pub const PEOPLE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum scalars, lists and mappings of the people file.
pub const PEOPLE_NODES: usize = 1_000_000;
/// Maximum nesting of lists and mappings. JSON Schemas nest deepest.
pub const DEPTH: usize = 48;
/// Maximum scalars, lists and mappings of one file.
pub const NODES: usize = 50_000;
/// Maximum parser events that aliases (`*name`) may repeat.
pub const ALIAS_EVENTS: usize = 20_000;
/// Maximum problems that are reported. More would not help.
pub const PROBLEMS: usize = 100;

pub const AGENTS: usize = 50;
pub const PHASES: usize = 100;
pub const RULES: usize = 500;
/// Maximum bytes and nodes of the rules file.
pub const RULES_BYTES: usize = 1024 * 1024;
pub const RULES_NODES: usize = 100_000;
/// Maximum bytes of the channels file, and maximum channels. Each append with a notice checks every channel.
pub const CHANNELS_BYTES: usize = 256 * 1024;
pub const CHANNELS: usize = 50;
/// Maximum secrets of one channel: the current one, and previous ones that receivers may still use.
pub const CHANNEL_SECRETS: usize = 3;
pub const CHANNEL_HEADERS: usize = 20;
/// Maximum addresses of an e-mail channel. Each address receives its own mail.
pub const CHANNEL_ADDRESSES: usize = 20;
/// Maximum quiet periods of a channel in a week.
pub const CHANNEL_QUIET: usize = 7;
/// Maximum people with their own quiet hours or digest in one channel.
pub const CHANNEL_PERSONAL: usize = 1_000;
/// Minimum and maximum interval of a channel's digests.
pub const CHANNEL_DIGEST_LEAST_MS: u64 = 1_000;
pub const CHANNEL_DIGEST_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum attempts of one delivery.
pub const CHANNEL_ATTEMPTS: u64 = 12;
/// Maximum delay between the first and the second attempt.
pub const CHANNEL_RETRY_MS: u64 = 60 * 60 * 1000;
/// Maximum duration of one attempt.
pub const CHANNEL_TIMEOUT_MS: u64 = 30 * 1000;
/// Maximum entries of any other list: an agent's tools, a rule's patterns, approvers.
pub const LIST: usize = 200;
/// Maximum replies of one agent in a rehearsal.
pub const STEPS: usize = 1_000;

/// Maximum characters of a name or an id, which becomes part of paths, labels and metrics.
pub const NAME: usize = 64;
/// Maximum characters of a pattern, label, reason or other single line.
pub const LINE: usize = 1_000;
/// Maximum characters of instructions, messages and inputs. Every model request carries them.
pub const TEXT: usize = 64 * 1024;
/// Maximum characters of a rehearsed text or argument.
pub const SCRIPTED: usize = 256 * 1024;

/// Maximum of a count of rounds, calls or attempts. A higher number would limit nothing.
pub const COUNT: u64 = 1_000_000;
/// Maximum tokens of a budget.
pub const TOKENS: u64 = 1_000_000_000_000;
/// Maximum amount of money, in millionths.
pub const MONEY: u64 = 1_000_000 * 1_000_000;
/// Maximum duration: a year. After a longer wait the matter is forgotten.
pub const DURATION_MS: u64 = 366 * 24 * 60 * 60 * 1000;
/// Maximum pause of a rehearsed reply: ten minutes.
pub const PAUSE_MS: u64 = 10 * 60 * 1000;
