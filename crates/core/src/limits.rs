//! Named limits of the core. Reaching one is an event or a typed error, never a silent cut.

/// Maximum bytes of a text from a person or an agent: an answer, a note, a message.
pub const TEXT_BYTES: usize = 64 * 1024;

/// Maximum characters of a fetched URL. Browsers and servers support this length everywhere.
pub const URL_CHARS: usize = 2_048;

/// Maximum bytes of the title of an interrupt.
pub const TITLE_BYTES: usize = 500;

/// Maximum bytes of the payload of an interrupt that an agent of another framework opens.
pub const PAYLOAD_BYTES: usize = 256 * 1024;

/// Maximum bytes of a run's input.
pub const INPUT_BYTES: usize = 256 * 1024;

/// Maximum tool calls in one reply of a model. Further calls are answered with an error.
pub const CALLS_PER_REPLY: usize = 32;

/// Maximum questions in one reply, and maximum characters of the id of each.
pub const QUESTIONS_PER_REPLY: usize = 20;
pub const QUESTION_ID_CHARS: usize = 64;

/// Maximum options of one interrupt that an agent of another framework opens.
pub const OPTIONS: usize = 50;

/// Maximum bytes of the id of an option that an agent defines.
pub const OPTION_BYTES: usize = 100;

/// Maximum open interrupts of one run.
pub const OPEN_INTERRUPTS: usize = 1_000;

/// Maximum open interrupts that a grant releases in addition to its own.
pub const ALSO: usize = 100;

/// Latest calls of a run that are compared with a grant for its card.
pub const PAST_COMPARED: usize = 500;

/// Open interrupts that are compared with a grant for [`ALSO`].
pub const ALSO_COMPARED: usize = 200;

/// Maximum programs of a command line in a refusal. A refusal of a longer line covers every line.
pub const REFUSED_PROGRAMS: usize = 32;

/// Maximum paths of a program in a refusal. A refusal of a program with more paths covers every path.
pub const REFUSED_PLACES: usize = 64;

/// Maximum idle time of a session before it expires: a year.
pub const SESSION_IDLE_MS: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Maximum rules that one run may add.
pub const RUN_RULES: usize = 200;

/// Maximum keys of agents and services, without revoked ones.
pub const KEYS: usize = 1_000;
/// Maximum webhooks registered over the API.
pub const WEBHOOKS: usize = 50;
/// Maximum browsers with push notifications, per person and in total. A further browser of a person replaces their
/// oldest.
pub const PUSH_OF_PERSON: usize = 10;
pub const PUSH: usize = 5_000;

/// Maximum revoked keys in the list. The one revoked first leaves the list. The journal keeps all of them.
pub const KEYS_REVOKED: usize = 1_000;

/// Maximum bytes of the name of a key.
pub const KEY_NAME_BYTES: usize = 64;

/// Maximum stored sign-outs of an identity provider, and their retention: 30 days, the longest login.
pub const PROVIDER_SIGN_OUTS: usize = 100_000;
pub const PROVIDER_SIGN_OUTS_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum time for which the secret before a rotation stays valid: 30 days.
pub const KEY_OVERLAP_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum events of one run. At the next one the run fails as `limit_events`. The limit bounds the time of a resume,
/// which replays all events. Useful runs end long before.
pub const EVENTS: u64 = 100_000;

/// Consecutive crashes of the process during a run, without progress, before a person is asked.
pub const CRASHES: u32 = 10;

/// Consecutive trials of one call that ended in a crash of the process. Then the call asks without a trial.
pub const TRIALS_LOST: u32 = 3;

/// Trials of one call that failed because others changed the workspace during the trial. Then the call asks without a
/// trial.
pub const TRIALS: u32 = 20;

/// Maximum paths listed to an agent when a person drops some changes of its command, or undoes changes. Further paths
/// are counted.
pub const TOLD_PATHS: usize = 20;

/// Maximum parts of a command's changes that a card lists for a partial approval. Further parts are counted.
pub const CARD_PARTS: usize = 500;

/// Maximum patterns in the text of a task. With more, no changed file is marked as outside the task.
pub const NAMED_GLOBS: usize = 200;

/// Retention of the bytes of changed files since their last use: 30 days.
pub const BODIES_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of changed files in a journal. Above it, the files that were unused for the longest time are removed.
pub const BODIES_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Retention of a run's layer since the run's last event: 24 hours. Until then it can be merged.
pub const LAYER_MS: u64 = 24 * 60 * 60 * 1_000;

/// Delay before the first retry of a failed model call. It doubles with each retry.
pub const BACKOFF_FIRST_MS: u64 = 500;

/// Maximum delay before a retry, even if the provider requests more.
pub const BACKOFF_MAX_MS: u64 = 60_000;

/// Consecutive identical calls that open a `continuation`.
pub const IDENTICAL_CALLS: u32 = 8;

/// Consecutive replies with a failed call and without a successful one before a person is asked (`continuation`). A
/// command with an exit code other than 0 is a failed call. An agent without progress for so long needs help.
pub const FAILED_CALLS: u32 = 6;

/// Maximum bytes of all error texts of a reply's failed calls, when a person is asked about them.
pub const FAILURES_BYTES: usize = 64 * 1024;

/// Maximum bytes of the id of a subtask.
pub const SUBTASK_ID_BYTES: usize = 64;

/// Maximum bytes of the description of a subtask. Every request of its step contains it.
pub const DESCRIPTION_BYTES: usize = 16 * 1024;

/// Maximum problems of a plan in one report.
pub const PLAN_PROBLEMS: usize = 20;

/// Maximum characters of people's earlier messages in the requests of a step: the newest that fit, uncut (contract
/// A15).
pub const NOTES_CHARS: usize = 4_000;

/// Maximum bytes of a conversation that a judging model receives, newest part first, and of each message in it.
pub const JUDGED_BYTES: usize = 60_000;
pub const JUDGED_MESSAGE_BYTES: usize = 8_000;

/// Default context window of a model in tokens, if `models` of the workflow sets none.
pub const WINDOW_TOKENS: u64 = 128_000;

/// Minimum context window that a workflow may set.
pub const WINDOW_TOKENS_LEAST: u64 = 1_000;

/// Estimated bytes per token. In most languages a token is longer.
pub const BYTES_PER_TOKEN: u64 = 3;

/// Percentage of the window above which old turns are summarized. The rest is for the reply.
pub const WINDOW_SHARE: u64 = 75;

/// Percentage of the window for the newest turns, which stay unsummarized. The last turn stays whatever its size.
pub const RECENT_SHARE: u64 = 30;

/// Percentage of the window for one result in an oversized request, and for a summary.
pub const RESULT_SHARE: u64 = 15;

/// Percentage of the window that no request exceeds, because sizes are estimates. A person is asked instead.
pub const WINDOW_MOST: u64 = 90;

/// Maximum characters of the results of earlier subtasks in a request, and of each result before the last few.
pub const RESULTS_CHARS: usize = 60_000;
pub const OLD_RESULT_CHARS: usize = 300;
pub const WHOLE_RESULTS: usize = 3;

/// Maximum events of a run with content that one append erases.
pub const ERASED_AT_ONCE: u64 = 1_000;

/// Maximum comments on one interrupt.
pub const COMMENTS: usize = 200;

/// Maximum people whose first view of one interrupt is recorded.
pub const VIEWS: u32 = 200;
/// Maximum recorded time that a person viewed a card before the decision.
pub const VIEWED_MS: u64 = 24 * 3_600 * 1_000;
/// Maximum bytes of the name of the represented person, as the voter's client states it.
pub const ON_BEHALF_BYTES: usize = 200;

/// Maximum claims of one interrupt. A client that reconnects claims its calls each time.
pub const CLAIMS: u32 = 1_000;

/// Maximum front runs of one conversation.
pub const FRONT_RUNS: usize = 10_000;

/// Maximum earlier front runs in the history that the next run of a conversation receives.
pub const EARLIER_RUNS: usize = 50;

/// Maximum bytes of that history, and of the result of each run. A long result does not displace messages.
pub const EARLIER_BYTES: usize = 24 * 1024;
pub const EARLIER_RESULT_BYTES: usize = 4 * 1024;

/// Maximum phases that calls start in one run.
pub const CALLED_PHASES: usize = 50;

/// Maximum nesting of such phases.
pub const PHASE_DEPTH: usize = 3;

/// Maximum bytes of a copilot's earlier rounds in full, newest first. Older rounds keep people's messages and the last
/// reply.
pub const ROUNDS_BYTES: usize = 96 * 1024;

/// Maximum bytes of the name of a person, a group or a key, and of a person's language and time zone.
pub const NAME_BYTES: usize = 128;

/// Maximum bytes of the reason of a freeze.
pub const REASON_BYTES: usize = 2_000;

/// Maximum frozen parts of one installation.
pub const FREEZES: usize = 1_000;

/// Maximum people of one installation.
pub const PEOPLE: usize = 10_000;

/// Maximum groups of one person.
pub const GROUPS_OF_PERSON: usize = 100;

/// Maximum addresses of one person, one for each channel.
pub const ADDRESSES: usize = 20;

/// Maximum bytes of one address of a person.
pub const ADDRESS_BYTES: usize = 512;

/// Maximum stages of one assignment.
pub const STAGES: usize = 10;

/// Maximum people and groups in one stage of an assignment.
pub const ASSIGNED: usize = 100;

/// Maximum withhold rules of one workflow or one request, fields of one rule, and bytes of one field.
pub const WITHHOLD_RULES: usize = 20;
pub const WITHHELD_FIELDS: usize = 100;
pub const WITHHELD_BYTES: usize = 500;

/// Maximum texts of one interrupt that are searched for words of risk.
pub const RISK_TEXTS: usize = 1_000;

/// Maximum spans of one day in the hours of a group, and maximum holidays.
pub const SPANS_OF_DAY: usize = 10;
pub const HOLIDAYS: usize = 1_000;

/// Maximum groups with hours.
pub const GROUPS: usize = 1_000;

/// Maximum days ahead in a search for working time: three years.
pub const HOURS_AHEAD_DAYS: u64 = 3 * 366;

/// Maximum delay of a reminder or of an escalation step: a year.
pub const TIMING_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// Maximum reminders for each request to approvers.
pub const REMINDERS: u32 = 100;

/// Maximum steps of one escalation.
pub const ESCALATION_STEPS: usize = 10;

/// Maximum time for which an interrupt is snoozed: 30 days.
pub const SNOOZE_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum people who have snoozed one interrupt.
pub const SNOOZES: usize = 1_000;

/// Maximum delegations of one interrupt.
pub const DELEGATIONS: usize = 100;

/// Maximum characters of a text that is searched for words of risk. A longer text of our own agents is a document and
/// is not searched. For agents of other frameworks the beginning is searched.
pub const RISK_TEXT_CHARS: usize = 4_000;
