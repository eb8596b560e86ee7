//! Ranges of seeds. Each range plays more features than all lower ranges. The meaning of a seed never changes.

/// First seed that plays planned workflows (odd seeds) or teams (even seeds). Smaller seeds were in use before these
/// features, and play as they did then.
pub const PLANS_FROM: u64 = 1_000_000_000;

/// First seed in which people also open, suspend, resume and close sessions, and some sessions expire. All seeds that
/// were in use before this feature are smaller.
pub const SESSIONS_FROM: u64 = 100_000_000_000_000;

/// First seed in which some agents end only with `finish`, replies are cut and filtered, and edits that no tool can
/// carry out are refused. All seeds that were in use before this feature are smaller.
pub const ENDINGS_FROM: u64 = 200_000_000_000_000;

/// First seed in which people talk in sessions, claim and comment, and some interrupts require two people. All seeds
/// that were in use before this feature are smaller.
pub const TALKS_FROM: u64 = 300_000_000_000_000;

/// First seed in which commands are tried and people undo the changes of runs. All seeds that were in use before this
/// feature are smaller.
pub const TRIALS_FROM: u64 = 400_000_000_000_000;

/// First seed in which people also interrupt runs, and grants cover categories and expire. All seeds that were in use
/// before this feature are smaller.
pub const INTERRUPTIONS_FROM: u64 = 500_000_000_000_000;

/// First seed in which copilots work in rounds and calls begin phases. All seeds that were in use before this feature
/// are smaller.
pub const COPILOTS_FROM: u64 = 600_000_000_000_000;

/// First seed in which agents ask with a tool or in a reply. Questions are gathered, timed, held and reused, and people
/// correct and erase answers. All seeds that were in use before this feature are smaller.
pub const QUESTIONS_FROM: u64 = 700_000_000_000_000;

/// First seed in which people also freeze runs, workflows and agents. All seeds that were in use before this feature
/// are smaller.
pub const FREEZES_FROM: u64 = 800_000_000_000_000;

/// First seed in which channels deliver notices to receivers that fail. All seeds that were in use before this feature
/// are smaller.
pub const OUTBOX_FROM: u64 = 900_000_000_000_000;
