//! Named limits of the core. Each is an event or a typed error when it is hit, never a silent cut.

/// A text that a person or an agent gives: an answer, a note, a message.
pub const TEXT_BYTES: usize = 64 * 1024;

/// Characters of a URL that is fetched: what browsers and servers take everywhere.
pub const URL_CHARS: usize = 2_048;

/// Title of an interrupt.
pub const TITLE_BYTES: usize = 500;

/// The payload of an interrupt that an agent of another framework opens.
pub const PAYLOAD_BYTES: usize = 256 * 1024;

/// A run's input.
pub const INPUT_BYTES: usize = 256 * 1024;

/// Tool calls in one reply of a model; those beyond are answered with an error.
pub const CALLS_PER_REPLY: usize = 32;

/// Questions that one reply returns, and characters of the id of each.
pub const QUESTIONS_PER_REPLY: usize = 20;
pub const QUESTION_ID_CHARS: usize = 64;

/// Options of one interrupt that an agent of another framework opens.
pub const OPTIONS: usize = 50;

/// The id of an option that an agent thought of itself.
pub const OPTION_BYTES: usize = 100;

/// Open interrupts of one run.
pub const OPEN_INTERRUPTS: usize = 1_000;

/// Open interrupts that a grant releases with its own one.
pub const ALSO: usize = 100;

/// Number of the latest calls of a run that are compared with a grant for its card.
pub const PAST_COMPARED: usize = 500;

/// Open interrupts that are compared with a grant for [`ALSO`].
pub const ALSO_COMPARED: usize = 200;

/// Programs of a command line that a refusal of it remembers. A refusal of a longer line covers every line.
pub const REFUSED_PROGRAMS: usize = 32;

/// Paths of a program that a refusal of it remembers. A refusal of a program with more covers every path.
pub const REFUSED_PLACES: usize = 64;

/// The longest that a session waits for something to happen before it expires: a year.
pub const SESSION_IDLE_MS: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Rules that one run may add.
pub const RUN_RULES: usize = 200;

/// Keys of agents and services that are not revoked.
pub const KEYS: usize = 1_000;
/// Webhooks that are registered over the API at once.
pub const WEBHOOKS: usize = 50;
/// Browsers that tell their people, of one person and of all. One more of a person takes the place of their oldest.
pub const PUSH_OF_PERSON: usize = 10;
pub const PUSH: usize = 5_000;

/// Revoked keys that are still listed; of more the earliest goes from the list. The journal keeps all of them.
pub const KEYS_REVOKED: usize = 1_000;

/// The name of a key.
pub const KEY_NAME_BYTES: usize = 64;

/// What a provider says has ended that is remembered, and for how long: no login lasts longer than 30 days.
pub const PROVIDER_SIGN_OUTS: usize = 100_000;
pub const PROVIDER_SIGN_OUTS_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// How long the secret before a rotation may go on counting: 30 days.
pub const KEY_OVERLAP_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Events of one run: at the next one it fails as `limit_events`. It bounds how long a resume takes, which replays
/// them all; a run that does something useful is over long before.
pub const EVENTS: u64 = 100_000;

/// Runs of the process that ended without progress before a person is asked.
pub const CRASHES: u32 = 10;

/// Trials of one call that the process which ran them did not survive, in a row: then it is not tried any more, and asks.
pub const TRIALS_LOST: u32 = 3;

/// Trials of one call that came to nothing because others changed the workspace meanwhile: then it asks as it is.
pub const TRIALS: u32 = 20;

/// Paths that an agent is told by name where a person drops some of the changes of its command, or takes changes back; the
/// others are counted.
pub const TOLD_PATHS: usize = 20;

/// Parts of a command's changes that a card lists for a person who keeps some of them; the others are counted.
pub const CARD_PARTS: usize = 500;

/// Patterns that the words of a task name; where there are more, no changed file is marked as outside of what it names.
pub const NAMED_GLOBS: usize = 200;

/// How long the bytes of files that changes name are kept after somebody last needed them: 30 days.
pub const BODIES_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Bytes of such files that a journal keeps; above that the ones go that nobody needed for the longest time.
pub const BODIES_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Time for which the layer of a run is kept after the run's last event: 24 hours. Until then it can be merged.
pub const LAYER_MS: u64 = 24 * 60 * 60 * 1_000;

/// The first wait before a failed model call is tried again; it doubles.
pub const BACKOFF_FIRST_MS: u64 = 500;

/// The longest such wait, also when the provider asks for more.
pub const BACKOFF_MAX_MS: u64 = 60_000;

/// An identical call repeated so often in a row opens a `continuation`.
pub const IDENTICAL_CALLS: u32 = 8;

/// After this many replies in a row in which calls failed (a command that ends with another code than 0 among them) and
/// none succeeded, a person is asked (`continuation`). An agent that gets nothing done for so long needs help.
pub const FAILED_CALLS: u32 = 6;

/// What the failed calls of a reply said, in all, where a person is asked about them.
pub const FAILURES_BYTES: usize = 64 * 1024;

/// Id of a subtask.
pub const SUBTASK_ID_BYTES: usize = 64;

/// Description of a subtask: every request of its step carries it.
pub const DESCRIPTION_BYTES: usize = 16 * 1024;

/// What is wrong with a plan is told up to this many times at once.
pub const PLAN_PROBLEMS: usize = 20;

/// What people said before a step started, in its requests: the newest that fit, whole (contract A15).
pub const NOTES_CHARS: usize = 4_000;

/// What a model that judges is shown of a conversation, the newest of it, and of each message.
pub const JUDGED_BYTES: usize = 60_000;
pub const JUDGED_MESSAGE_BYTES: usize = 8_000;

/// Tokens that a model takes in one request where `models` of the workflow says nothing else.
pub const WINDOW_TOKENS: u64 = 128_000;

/// The smallest window that a workflow may name.
pub const WINDOW_TOKENS_LEAST: u64 = 1_000;

/// Bytes that count as one token. Tokens are estimated: in most languages one is longer than that.
pub const BYTES_PER_TOKEN: u64 = 3;

/// Of the window, what a request may take before old turns are summed up, in percent: the rest is for the reply.
pub const WINDOW_SHARE: u64 = 75;

/// Of the window, what the newest turns may take that stay whole then; the last one stays whatever it takes.
pub const RECENT_SHARE: u64 = 30;

/// Of the window, what one result may take in a request that is too long, and what a summary may.
pub const RESULT_SHARE: u64 = 15;

/// Of the window, what no request goes beyond, for an estimate may be wrong: a person is asked instead.
pub const WINDOW_MOST: u64 = 90;

/// Results of earlier subtasks in a request, in all, and of each that is older than the last few.
pub const RESULTS_CHARS: usize = 60_000;
pub const OLD_RESULT_CHARS: usize = 300;
pub const WHOLE_RESULTS: usize = 3;

/// Events of a run whose content one append erases.
pub const ERASED_AT_ONCE: u64 = 1_000;

/// Comments on one interrupt.
pub const COMMENTS: usize = 200;

/// People whose first look at one interrupt is recorded.
pub const VIEWS: u32 = 200;
/// How long somebody looked at a card before they decided, as it is recorded.
pub const VIEWED_MS: u64 = 24 * 3_600 * 1_000;
/// The name of whom somebody decides for, as their client says.
pub const ON_BEHALF_BYTES: usize = 200;

/// How often one interrupt may be claimed: a client that comes and goes claims its calls each time.
pub const CLAIMS: u32 = 1_000;

/// Front runs of one conversation.
pub const FRONT_RUNS: usize = 10_000;

/// Earlier front runs that the next run of a conversation is told of.
pub const EARLIER_RUNS: usize = 50;

/// What they said and brought, in all, and what came of each: a long answer does not push out what was said.
pub const EARLIER_BYTES: usize = 24 * 1024;
pub const EARLIER_RESULT_BYTES: usize = 4 * 1024;

/// Phases that calls begin in one run.
pub const CALLED_PHASES: usize = 50;

/// How deep such phases begin in one another.
pub const PHASE_DEPTH: usize = 3;

/// What is told whole of a copilot's earlier rounds, the newest first; of older ones people's words and the last word.
pub const ROUNDS_BYTES: usize = 96 * 1024;

/// The name of a person, a group or a key; a person's language and time zone.
pub const NAME_BYTES: usize = 128;

/// Why something is frozen.
pub const REASON_BYTES: usize = 2_000;

/// Parts of one installation that are frozen.
pub const FREEZES: usize = 1_000;

/// People of one installation.
pub const PEOPLE: usize = 10_000;

/// Groups that one person is in.
pub const GROUPS_OF_PERSON: usize = 100;

/// Addresses of one person, one for each channel.
pub const ADDRESSES: usize = 20;

/// One address of a person.
pub const ADDRESS_BYTES: usize = 512;

/// Stages of one assignment.
pub const STAGES: usize = 10;

/// People and groups that one stage of an assignment names.
pub const ASSIGNED: usize = 100;

/// Rules of one workflow, or of one ask, that withhold something; the places that one of them names, and one of those.
pub const WITHHOLD_RULES: usize = 20;
pub const WITHHELD_FIELDS: usize = 100;
pub const WITHHELD_BYTES: usize = 500;

/// Texts of one interrupt whose words raise its risk.
pub const RISK_TEXTS: usize = 1_000;

/// Parts of one day in the hours of a group, and its holidays.
pub const SPANS_OF_DAY: usize = 10;
pub const HOLIDAYS: usize = 1_000;

/// Groups that have hours.
pub const GROUPS: usize = 1_000;

/// How far ahead working time is looked for: three years.
pub const HOURS_AHEAD_DAYS: u64 = 3 * 366;

/// The longest that a reminder or a step of an escalation waits: a year.
pub const TIMING_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// Reminders for each time that somebody is asked.
pub const REMINDERS: u32 = 100;

/// Steps of one escalation.
pub const ESCALATION_STEPS: usize = 10;

/// The longest that an interrupt is put off: 30 days.
pub const SNOOZE_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// People who have put one interrupt off.
pub const SNOOZES: usize = 1_000;

/// People in whose place others were asked to decide on one interrupt.
pub const DELEGATIONS: usize = 100;

/// Characters of a text whose words count for the risk of what is asked. Longer ones of our own agents are documents; of
/// those of others the beginning is read.
pub const RISK_TEXT_CHARS: usize = 4_000;
