//! Ranges of seeds. A simulation with a seed from one of these ranges includes all features of the lower ranges, and
//! some more. Later versions never change the features that a seed includes.

/// First seed whose simulation includes planned workflows (odd seeds) or teams (even seeds). Smaller seeds were used
/// before these features existed, and their simulations have stayed the same.
pub const PLANS_FROM: u64 = 1_000_000_000;

/// First seed in whose simulation people also open, suspend, resume and close sessions, and some sessions expire. All
/// seeds that were in use before this feature are smaller.
pub const SESSIONS_FROM: u64 = 100_000_000_000_000;

/// First seed in whose simulation some agents can end their work only with `finish`, some replies are cut or filtered,
/// and edits that no tool can carry out are refused. All seeds that were in use before this feature are smaller.
pub const ENDINGS_FROM: u64 = 200_000_000_000_000;

/// First seed in whose simulation people send messages to sessions, claim interrupts and comment on them, and some
/// interrupts require two people. All seeds that were in use before this feature are smaller.
pub const TALKS_FROM: u64 = 300_000_000_000_000;

/// First seed in whose simulation commands are tried, and people undo the changes of runs. All seeds that were in use
/// before this feature are smaller.
pub const TRIALS_FROM: u64 = 400_000_000_000_000;

/// First seed in whose simulation people also interrupt runs, and grants can allow whole categories and can expire. All
/// seeds that were in use before this feature are smaller.
pub const INTERRUPTIONS_FROM: u64 = 500_000_000_000_000;

/// First seed in whose simulation copilots work in rounds, and tool calls begin phases. All seeds that were in use
/// before this feature are smaller.
pub const COPILOTS_FROM: u64 = 600_000_000_000_000;

/// First seed in whose simulation agents ask with a tool or in a reply. Questions are collected, have time limits,
/// wait, and are answered with earlier answers. People correct and erase answers. All seeds that were in use before
/// this feature are smaller.
pub const QUESTIONS_FROM: u64 = 700_000_000_000_000;

/// First seed in whose simulation people also freeze runs, workflows and agents. All seeds that were in use before this
/// feature are smaller.
pub const FREEZES_FROM: u64 = 800_000_000_000_000;

/// First seed in whose simulation channels send notices to receivers that can fail. All seeds that were in use before
/// this feature are smaller.
pub const OUTBOX_FROM: u64 = 900_000_000_000_000;
