//! Limits of people, approvers, grants and refusals.

/// Maximum people of one installation. A further one is refused with `invalid_request`.
pub const PEOPLE: usize = 10_000;

/// Maximum bytes of the id of a person or group, a name, a language or a time zone. A longer one is refused with
/// `invalid_request`.
pub const NAME_BYTES: usize = 128;

/// Maximum bytes of the reason of a freeze. A longer reason is refused with `invalid_request`.
pub const REASON_BYTES: usize = 2_000;

/// Maximum frozen runs, workflows and agents. A further freeze is refused with `invalid_request`: lift one, or freeze
/// everything.
pub const FREEZES: usize = 1_000;

/// Maximum groups of one person. With more, a change is refused with `invalid_request`, and a token with
/// `unauthenticated`.
pub const GROUPS_OF_PERSON: usize = 100;

/// Maximum addresses of one person, one for each channel. With more, the change is refused with `invalid_request`.
pub const ADDRESSES: usize = 20;

/// Maximum bytes of one address of a person. A longer address is refused with `invalid_request`.
pub const ADDRESS_BYTES: usize = 512;

/// Maximum withholding rules of one workflow or one request. With more, it is refused with `invalid_request`.
pub const WITHHOLD_RULES: usize = 20;

/// Maximum fields of one withholding rule. With more, the rule is refused with `invalid_request`.
pub const WITHHELD_FIELDS: usize = 100;

/// Maximum bytes of one field of a withholding rule. A longer field is refused with `invalid_request`.
pub const WITHHELD_BYTES: usize = 500;

/// Maximum stages of one assignment. With more, the assignment is refused with `invalid_request`.
pub const STAGES: usize = 10;

/// Maximum people and groups in one stage of an assignment. With more, the assignment is refused with
/// `invalid_request`.
pub const ASSIGNED: usize = 100;

/// Maximum stored sign-outs of identity providers. A further one replaces the earliest.
pub const PROVIDER_SIGN_OUTS: usize = 100_000;

/// Retention of a stored sign-out of an identity provider: the longest login. Then the sign-out is forgotten.
pub const PROVIDER_SIGN_OUTS_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum open interrupts that a grant releases in addition to its own. Further interrupts stay open.
pub const ALSO: usize = 100;

/// Maximum open interrupts of a tool that are compared with a grant. Further interrupts stay open.
pub const ALSO_COMPARED: usize = 200;

/// Latest calls of a run that are compared with a grant for its card. Earlier calls are not listed.
pub const PAST_COMPARED: usize = 500;

/// Maximum programs of a command line in a refusal. The refusal of a line with more covers every command line.
pub const REFUSED_PROGRAMS: usize = 32;

/// Maximum paths of a program in a refusal. The refusal of a program with more covers every path.
pub const REFUSED_PLACES: usize = 64;

/// Maximum delegations of one interrupt. A further one is refused with `invalid_request`.
pub const DELEGATIONS: usize = 100;

/// Maximum reminders for one request to approvers. A higher number is refused with `invalid_request`.
pub const REMINDERS: u32 = 100;

/// Maximum steps of one escalation. With more, the escalation is refused with `invalid_request`.
pub const ESCALATION_STEPS: usize = 10;

/// Maximum delay of a reminder or an escalation step. A longer delay is refused with `invalid_request`.
pub const TIMING_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// Maximum days that are searched for working time: three years. Without enough working time, the last day is the
/// deadline.
pub const HOURS_AHEAD_DAYS: u64 = 3 * 366;

/// Maximum working periods of one day in the hours of a group. With more, the hours are refused with `invalid_request`.
pub const SPANS_OF_DAY: usize = 10;

/// Maximum holidays of one group. With more, the hours are refused with `invalid_request`.
pub const HOLIDAYS: usize = 1_000;

/// Maximum groups with working hours. With more, the change is refused with `invalid_request`.
pub const GROUPS: usize = 1_000;

/// Maximum time for which an interrupt is snoozed. A longer time is refused with `invalid_request`.
pub const SNOOZE_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum people who have snoozed one interrupt. A further snooze is refused with `limit_reached`.
pub const SNOOZES: usize = 1_000;
