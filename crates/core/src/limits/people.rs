//! Limits of people, approvers, grants and refusals.

/// Maximum number of people of one installation. A further person is refused with `invalid_request`.
pub const PEOPLE: usize = 10_000;

/// Maximum bytes of the id of a person or group, a name, a language or a time zone. A longer text is refused with
/// `invalid_request`.
pub const NAME_BYTES: usize = 128;

/// Maximum bytes of the reason of a freeze. A longer reason is refused with `invalid_request`.
pub const REASON_BYTES: usize = 2_000;

/// Maximum number of freezes of single runs, workflows and agents. A further freeze is refused with `invalid_request`:
/// lift a freeze, or freeze the complete installation.
pub const FREEZES: usize = 1_000;

/// Maximum number of groups of one person. If a person has more groups, a change is refused with `invalid_request`, and
/// a token is refused with `unauthenticated`.
pub const GROUPS_OF_PERSON: usize = 100;

/// Maximum number of addresses of one person, one per channel. If a person has more, the change is refused with
/// `invalid_request`.
pub const ADDRESSES: usize = 20;

/// Maximum bytes of one address of a person. A longer address is refused with `invalid_request`.
pub const ADDRESS_BYTES: usize = 512;

/// Maximum number of withholding rules in one workflow or request. A workflow or request with more is refused with
/// `invalid_request`.
pub const WITHHOLD_RULES: usize = 20;

/// Maximum number of fields of one withholding rule. A rule with more fields is refused with `invalid_request`.
pub const WITHHELD_FIELDS: usize = 100;

/// Maximum bytes of one field of a withholding rule. A longer field is refused with `invalid_request`.
pub const WITHHELD_BYTES: usize = 500;

/// Maximum number of stages of one assignment. An assignment with more stages is refused with `invalid_request`.
pub const STAGES: usize = 10;

/// Maximum number of people and groups in one stage of an assignment. An assignment with more is refused with
/// `invalid_request`.
pub const ASSIGNED: usize = 100;

/// Maximum number of stored sign-outs of identity providers. A further sign-out replaces the earliest sign-out.
pub const PROVIDER_SIGN_OUTS: usize = 100_000;

/// Retention of a stored sign-out of an identity provider. The retention equals the duration of the longest login, so
/// an older sign-out is no longer needed.
pub const PROVIDER_SIGN_OUTS_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum number of open interrupts that a grant releases, in addition to the interrupt on which the grant was
/// given. Further interrupts stay open.
pub const ALSO: usize = 100;

/// Maximum number of open interrupts of a tool that are compared with a grant. Further interrupts stay open.
pub const ALSO_COMPARED: usize = 200;

/// Maximum number of latest calls of a run that are compared with a grant for its card. The card does not list earlier
/// calls.
pub const PAST_COMPARED: usize = 500;

/// Maximum number of programs in the refusal of a command line. If a command line has more programs, its refusal covers
/// every command line.
pub const REFUSED_PROGRAMS: usize = 32;

/// Maximum number of paths of a program in a refusal. If a program has more paths, the refusal covers every path.
pub const REFUSED_PLACES: usize = 64;

/// Maximum number of delegations of one interrupt. A further delegation is refused with `invalid_request`.
pub const DELEGATIONS: usize = 100;

/// Maximum number of reminders per request to approvers. A higher setting is refused with `invalid_request`.
pub const REMINDERS: u32 = 100;

/// Maximum number of steps of one escalation. An escalation with more steps is refused with `invalid_request`.
pub const ESCALATION_STEPS: usize = 10;

/// Maximum delay of a reminder or an escalation step. A longer delay is refused with `invalid_request`.
pub const TIMING_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// Maximum number of days that are searched for working time: three years. If these days have too little working time,
/// the last day is the deadline.
pub const HOURS_AHEAD_DAYS: u64 = 3 * 366;

/// Maximum number of working periods per day in the working hours of a group. Hours with more periods are refused with
/// `invalid_request`.
pub const SPANS_OF_DAY: usize = 10;

/// Maximum number of holidays of one group. Hours with more holidays are refused with `invalid_request`.
pub const HOLIDAYS: usize = 1_000;

/// Maximum number of groups with working hours. A change that exceeds this number is refused with `invalid_request`.
pub const GROUPS: usize = 1_000;

/// Maximum time for which an interrupt may be snoozed. A longer time is refused with `invalid_request`.
pub const SNOOZE_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum number of people who have snoozed one interrupt. The snooze of a further person is refused with
/// `limit_reached`.
pub const SNOOZES: usize = 1_000;
