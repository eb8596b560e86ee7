//! Ranges of seeds. Each range plays more features than the ranges before it. Seeds of older ranges play as they always
//! did.

/// First seed that plays planned workflows (odd seeds) or teams (even seeds). Earlier seeds are older than both and
/// still play as they did.
pub const PLANS_FROM: u64 = 1_000_000_000;

/// First seed in which people also open, suspend, resume and close sessions, and some sessions expire. Larger than all
/// seeds played before this feature.
pub const SESSIONS_FROM: u64 = 100_000_000_000_000;

/// First seed in which some agents end only with `finish`, replies are cut and filtered, and edits that no tool can
/// carry out are refused. Larger than all seeds played before this feature.
pub const ENDINGS_FROM: u64 = 200_000_000_000_000;

/// First seed in which people talk in sessions, claim and comment, and some interrupts require two people. Larger than
/// all seeds played before this feature.
pub const TALKS_FROM: u64 = 300_000_000_000_000;

/// First seed in which commands are tried and people undo the changes of runs. Larger than all seeds played before this
/// feature.
pub const TRIALS_FROM: u64 = 400_000_000_000_000;

/// First seed in which people also interrupt runs, and grants cover categories and expire. Larger than all seeds
/// before.
pub const INTERRUPTIONS_FROM: u64 = 500_000_000_000_000;

/// First seed in which copilots work in rounds and calls begin phases. Larger than all seeds before.
pub const COPILOTS_FROM: u64 = 600_000_000_000_000;

/// First seed in which agents ask by a tool or in their replies. Questions are gathered, timed, held and reused, and
/// answers are corrected and erased. Larger than all seeds before.
pub const QUESTIONS_FROM: u64 = 700_000_000_000_000;

/// First seed in which people also freeze runs, workflows and agents. Larger than all seeds before.
pub const FREEZES_FROM: u64 = 800_000_000_000_000;

/// First seed in which channels deliver notices to receivers that fail. Larger than all seeds before.
pub const OUTBOX_FROM: u64 = 900_000_000_000_000;
