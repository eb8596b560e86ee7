//! Named limits of workflows, rehearsals and configuration files. Holds numbers only.

/// Maximum bytes of a workflow. A larger workflow is refused.
pub const WORKFLOW_BYTES: usize = 256 * 1024;
/// Maximum bytes of a rehearsal. A rehearsal contains the complete text of each file that it writes. A larger rehearsal
/// is refused.
pub const REHEARSAL_BYTES: usize = 1024 * 1024;
/// Maximum bytes of the people file. A complete people file with 10,000 people is smaller. With a larger people file,
/// the server does not start.
pub const PEOPLE_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of values, lists and mappings in the people file. With more, the server does not start.
pub const PEOPLE_NODES: usize = 1_000_000;
/// Maximum nesting of lists and mappings in a configuration file. JSON Schemas have the deepest nesting. A file with
/// deeper nesting is refused.
pub const DEPTH: usize = 48;
/// Maximum number of values, lists and mappings in a configuration file for which no other limit is defined. A file
/// with more is refused.
pub const NODES: usize = 50_000;
/// Maximum number of parser events that aliases (`*name`) in a file repeat. A file with more is refused.
pub const ALIAS_EVENTS: usize = 20_000;
/// Maximum number of problems in a configuration file that are reported at once. After these are corrected, further
/// problems are reported.
pub const PROBLEMS: usize = 100;

/// Maximum number of agents of a workflow. A workflow with more is refused.
pub const AGENTS: usize = 50;
/// Maximum number of phases of a workflow. A workflow with more is refused.
pub const PHASES: usize = 100;
/// Maximum number of gate rules in one file. A file with more is refused.
pub const RULES: usize = 500;
/// Maximum bytes of the rules file. With a larger rules file the server does not start.
pub const RULES_BYTES: usize = 1024 * 1024;
/// Maximum number of values, lists and mappings of the rules file. With more, the server does not start.
pub const RULES_NODES: usize = 100_000;
/// Maximum bytes of the channels file. With a larger channels file the server does not start.
pub const CHANNELS_BYTES: usize = 256 * 1024;
/// Maximum number of channels in the channels file. The number is limited because every notice is checked against all
/// channels. With more, the server does not start.
pub const CHANNELS: usize = 50;
/// Maximum number of `secret_files` of a channel: one for the current secret, and the others for previous secrets. With
/// more, the server does not start.
pub const CHANNEL_SECRETS: usize = 3;
/// Maximum number of `headers` and `header_files` of a channel. With more, the server does not start.
pub const CHANNEL_HEADERS: usize = 20;
/// Maximum number of addresses in `to` of an e-mail channel. Each address receives a separate mail. With more, the
/// server does not start.
pub const CHANNEL_ADDRESSES: usize = 20;
/// Maximum number of periods in one `quiet` list of a channel. With more, the server does not start.
pub const CHANNEL_QUIET: usize = 7;
/// Maximum number of people in `personal` of a channel. With more, the server does not start.
pub const CHANNEL_PERSONAL: usize = 1_000;
/// Minimum `digest` interval of a channel. With a shorter interval the server does not start.
pub const CHANNEL_DIGEST_LEAST_MS: u64 = 1_000;
/// Maximum `digest` interval of a channel. With a longer interval the server does not start.
pub const CHANNEL_DIGEST_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum value of `attempts`: the number of times that a delivery is tried. With a higher value the server does not
/// start.
pub const CHANNEL_ATTEMPTS: u64 = 12;
/// Maximum `retry_delay`: the time between the first and the second attempt of a delivery. With a longer delay the
/// server does not start.
pub const CHANNEL_RETRY_MS: u64 = 60 * 60 * 1000;
/// Maximum `timeout` of one delivery attempt. With a longer timeout the server does not start.
pub const CHANNEL_TIMEOUT_MS: u64 = 30 * 1000;
/// Maximum number of entries in a list of a configuration file, if no other limit is defined for the list. Examples are
/// the tools of an agent, and the patterns or approvers of a rule. A file with a longer list is refused.
pub const LIST: usize = 200;
/// Maximum number of replies of one agent in a rehearsal. A rehearsal with more is refused.
pub const STEPS: usize = 1_000;

/// Maximum characters of a name or an id in a configuration file. Names become part of paths, labels and metrics. A
/// file with a longer name is refused.
pub const NAME: usize = 64;
/// Maximum characters of a pattern, a label, a reason or another text of one line in a configuration file. A file with
/// a longer text is refused.
pub const LINE: usize = 1_000;
/// Maximum characters of instructions, messages and inputs in a workflow. They are part of every model request. A file
/// with a longer text is refused.
pub const TEXT: usize = 64 * 1024;
/// Maximum characters of a text or an argument in a rehearsal. A rehearsal with a longer text is refused.
pub const SCRIPTED: usize = 256 * 1024;

/// Maximum value of a limit on rounds, calls or attempts in a workflow. A workflow with a higher value is refused.
pub const COUNT: u64 = 1_000_000;
/// Maximum value of `budget.tokens`. A workflow with a higher value is refused.
pub const TOKENS: u64 = 1_000_000_000_000;
/// Maximum value of `budget.money`, in millionths of the currency unit. A workflow with a higher value is refused.
pub const MONEY: u64 = 1_000_000 * 1_000_000;
/// Maximum duration that a configuration file may state. A file with a longer duration is refused.
pub const DURATION_MS: u64 = 366 * 24 * 60 * 60 * 1000;
/// Maximum pause of a reply in a rehearsal. A rehearsal with a longer pause is refused.
pub const PAUSE_MS: u64 = 10 * 60 * 1000;
