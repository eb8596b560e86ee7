//! Named limits of workflows, rehearsals and configuration files. Holds only numbers.

/// Maximum bytes of a workflow. A larger workflow is not loaded.
pub const WORKFLOW_BYTES: usize = 256 * 1024;
/// Maximum bytes of a rehearsal, which quotes whole files that it writes. A larger rehearsal is refused.
pub const REHEARSAL_BYTES: usize = 1024 * 1024;
/// Maximum bytes of the people file; a complete file of 10,000 people is smaller. With a larger one the server does not
/// start.
pub const PEOPLE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum values, lists and mappings of the people file. With more, the server does not start.
pub const PEOPLE_NODES: usize = 1_000_000;
/// Maximum nesting of lists and mappings; JSON Schemas nest deepest. A file with deeper nesting is refused.
pub const DEPTH: usize = 48;
/// Maximum values, lists and mappings of any other file. A file with more is refused.
pub const NODES: usize = 50_000;
/// Maximum parser steps that aliases (`*name`) repeat. A file with more is refused.
pub const ALIAS_EVENTS: usize = 20_000;
/// Maximum problems of a file in one report. Later problems are reported after these are corrected.
pub const PROBLEMS: usize = 100;

/// Maximum agents of a workflow. A workflow with more is not loaded.
pub const AGENTS: usize = 50;
/// Maximum phases of a workflow. A workflow with more is not loaded.
pub const PHASES: usize = 100;
/// Maximum gate rules of one file. A file with more is refused.
pub const RULES: usize = 500;
/// Maximum bytes of the rules file. With a larger one the server does not start.
pub const RULES_BYTES: usize = 1024 * 1024;
/// Maximum values, lists and mappings of the rules file. With more, the server does not start.
pub const RULES_NODES: usize = 100_000;
/// Maximum bytes of the channels file. With a larger one the server does not start.
pub const CHANNELS_BYTES: usize = 256 * 1024;
/// Maximum channels; each append with a notice checks them all. With more, the server does not start.
pub const CHANNELS: usize = 50;
/// Maximum `secret_files` of a channel: the current secret and earlier ones. With more, the server does not start.
pub const CHANNEL_SECRETS: usize = 3;
/// Maximum `headers` and `header_files` of a channel. With more, the server does not start.
pub const CHANNEL_HEADERS: usize = 20;
/// Maximum addresses in `to` of an e-mail channel; each receives its own mail. With more, the server does not start.
pub const CHANNEL_ADDRESSES: usize = 20;
/// Maximum `quiet` periods of a channel in a week. With more, the server does not start.
pub const CHANNEL_QUIET: usize = 7;
/// Maximum people in `personal` of a channel. With more, the server does not start.
pub const CHANNEL_PERSONAL: usize = 1_000;
/// Minimum `digest` interval of a channel. With a shorter one the server does not start.
pub const CHANNEL_DIGEST_LEAST_MS: u64 = 1_000;
/// Maximum `digest` interval of a channel. With a longer one the server does not start.
pub const CHANNEL_DIGEST_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum `attempts` of a delivery. With a higher number the server does not start.
pub const CHANNEL_ATTEMPTS: u64 = 12;
/// Maximum `retry_delay` between the first and the second attempt. With a longer one the server does not start.
pub const CHANNEL_RETRY_MS: u64 = 60 * 60 * 1000;
/// Maximum `timeout` of one attempt. With a longer one the server does not start.
pub const CHANNEL_TIMEOUT_MS: u64 = 30 * 1000;
/// Maximum entries of any other list, such as an agent's tools, a rule's patterns or approvers. A file with more is
/// refused.
pub const LIST: usize = 200;
/// Maximum replies of one agent in a rehearsal. A rehearsal with more is refused.
pub const STEPS: usize = 1_000;

/// Maximum characters of a name or an id, which becomes part of paths, labels and metrics. A file with a longer one is
/// refused.
pub const NAME: usize = 64;
/// Maximum characters of a pattern, a label, a reason or another single line. A file with a longer one is refused.
pub const LINE: usize = 1_000;
/// Maximum characters of instructions, messages and inputs, which every model request contains. A file with a longer
/// text is refused.
pub const TEXT: usize = 64 * 1024;
/// Maximum characters of a rehearsed text or argument. A rehearsal with a longer one is refused.
pub const SCRIPTED: usize = 256 * 1024;

/// Maximum of a count of rounds, calls or attempts. A file with a higher number is refused.
pub const COUNT: u64 = 1_000_000;
/// Maximum of `budget.tokens`. A file with a higher number is refused.
pub const TOKENS: u64 = 1_000_000_000_000;
/// Maximum of `budget.money`, in millionths. A file with a higher amount is refused.
pub const MONEY: u64 = 1_000_000 * 1_000_000;
/// Maximum duration in a file. A file with a longer one is refused.
pub const DURATION_MS: u64 = 366 * 24 * 60 * 60 * 1000;
/// Maximum pause of a rehearsed reply. A rehearsal with a longer one is refused.
pub const PAUSE_MS: u64 = 10 * 60 * 1000;
