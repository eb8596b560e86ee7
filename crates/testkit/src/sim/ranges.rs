//! What seeds play: each range more than the ones before it. Seeds of older ranges play as they did.

/// Seeds from here on play planned workflows where they are odd, and teams where they are even. Earlier ones are older
/// than both: each still plays as it did.
pub const PLANS_FROM: u64 = 1_000_000_000;

/// In seeds from here on people also open, suspend, resume and close sessions, and some expire. Larger than all that
/// were played before.
pub const SESSIONS_FROM: u64 = 100_000_000_000_000;

/// In seeds from here on some agents end with `finish` alone, replies are cut and filtered, and edits that no tool can
/// carry out are refused. Larger than all that were played before.
pub const ENDINGS_FROM: u64 = 200_000_000_000_000;

/// In seeds from here on people talk in sessions, claim and comment, and some interrupts take two of them. Larger than
/// all that were played before.
pub const TALKS_FROM: u64 = 300_000_000_000_000;

/// In seeds from here on commands are tried, and people undo what runs did. Larger than all that were played before.
pub const TRIALS_FROM: u64 = 400_000_000_000_000;

/// In seeds from here on people also interrupt runs, and grants cover categories and expire. Larger than all before.
pub const INTERRUPTIONS_FROM: u64 = 500_000_000_000_000;

/// In seeds from here on copilots work round by round, and calls begin phases. Larger than all before.
pub const COPILOTS_FROM: u64 = 600_000_000_000_000;

/// In seeds from here on agents ask in every way, by a tool or in their replies: questions are gathered, timed, held and
/// reused, and answers corrected and erased. Larger than all before.
pub const QUESTIONS_FROM: u64 = 700_000_000_000_000;

/// In seeds from here on people also freeze runs, workflows and agents. Larger than all before.
pub const FREEZES_FROM: u64 = 800_000_000_000_000;

/// In seeds from here on channels are told, over receivers that fail. Larger than all before.
pub const OUTBOX_FROM: u64 = 900_000_000_000_000;
