//! Limits of runs and their steps, models and interrupts.

/// Number of consecutive identical calls in a step after which a `continuation` interrupt asks a person.
pub const IDENTICAL_CALLS: u32 = 8;

/// Number of consecutive replies with only failed calls after which a `continuation` interrupt asks a person. A command
/// with an exit code other than 0 is a failed call.
pub const FAILED_CALLS: u32 = 6;

/// Maximum number of trials of one call that fail because the workspace changed during the trial. After the last of
/// them, a person decides on the call without a trial.
pub const TRIALS: u32 = 20;

/// Maximum number of consecutive trials of one call that end with a crash of the server process. After the last of
/// them, a person decides on the call without a trial.
pub const TRIALS_LOST: u32 = 3;

/// Maximum number of changes of a command that a card lists for a partial approval. The card shows only the number of
/// further changes, and a partial approval drops them.
pub const CARD_PARTS: usize = 500;

/// Maximum number of paths that are listed to an agent after a partial approval or an undo. Further paths appear only
/// as a number.
pub const TOLD_PATHS: usize = 20;

/// Maximum number of file patterns in a task. If a task has more patterns, no changed file is marked as outside the
/// task.
pub const NAMED_GLOBS: usize = 200;

/// Retention of the content of changed files after its last use. After this time, a trial is repeated before its
/// commit, and an undo skips the file (`not_kept`).
pub const BODIES_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of changed files in a journal. Beyond the limit, the least recently used content is deleted.
pub const BODIES_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Retention of the layer of an ended run. After this time, the layer and the ignored files in it are deleted.
pub const LAYER_MS: u64 = 24 * 60 * 60 * 1_000;

/// Maximum number of phases that calls start in one run. A further call fails with `limit_called_phases`.
pub const CALLED_PHASES: usize = 50;

/// Maximum nesting of phases that calls start. A call at a deeper level fails with `limit_phase_depth`.
pub const PHASE_DEPTH: usize = 3;

/// Maximum number of consecutive crashes of the server process in one step without progress. After the last crash, the
/// step fails with `crashes` or, with `on_error: ask`, opens an `error` interrupt.
pub const CRASHES: u32 = 10;

/// Maximum number of events of one run. At the next event the run fails with `limit_events`. A resume replays all
/// events of the run, so the limit bounds the duration of a resume.
pub const EVENTS: u64 = 100_000;

/// Maximum number of tool calls in one reply of a model. Further calls of the reply fail.
pub const CALLS_PER_REPLY: usize = 32;

/// Maximum number of questions in one reply of a model. If a reply has more, no question is asked and the agent
/// receives an error.
pub const QUESTIONS_PER_REPLY: usize = 20;

/// Maximum characters of the id of a question. If an id is longer, no question is asked and the agent receives an
/// error.
pub const QUESTION_ID_CHARS: usize = 64;

/// Maximum number of open interrupts of one run. A further interrupt is refused with `limit_reached`.
pub const OPEN_INTERRUPTS: usize = 1_000;

/// Maximum number of people whose first view of an interrupt is recorded. The view of a further person is refused with
/// `limit_reached`; the person can still read and decide the interrupt.
pub const VIEWS: u32 = 200;

/// Maximum recorded time for which a person viewed a card before the decision. A longer time is recorded as the
/// maximum.
pub const VIEWED_MS: u64 = 24 * 3_600 * 1_000;

/// Maximum bytes of the name of the represented person (crew: `reviewer`). A longer name is refused with
/// `invalid_request`.
pub const ON_BEHALF_BYTES: usize = 200;

/// Maximum number of claims of one interrupt. A client that reconnects claims its calls again. A further claim is
/// refused with `limit_reached`; people can still decide the interrupt.
pub const CLAIMS: u32 = 1_000;

/// Maximum number of runs that messages start in one session. A further run is refused with `limit_reached`: open
/// another session.
pub const FRONT_RUNS: usize = 10_000;

/// Delay before the first retry of a failed model request. Each further retry doubles the delay.
pub const BACKOFF_FIRST_MS: u64 = 500;

/// Maximum delay before a retry of a model request. If the provider requests a longer delay, the maximum is used.
pub const BACKOFF_MAX_MS: u64 = 60_000;

/// Maximum total bytes of the errors on a card about failed calls. Each error is cut to an equal share.
pub const FAILURES_BYTES: usize = 64 * 1024;

/// Maximum characters of people's earlier messages in a request of a step. Older messages are omitted; the newest
/// message is always complete.
pub const NOTES_CHARS: usize = 4_000;

/// Context window of a model in tokens, if `models` sets none. Old turns are summarised to fit the context window.
pub const WINDOW_TOKENS: u64 = 128_000;

/// Minimum context window in tokens that `models` may set. A workflow with a smaller context window is not loaded.
pub const WINDOW_TOKENS_LEAST: u64 = 1_000;

/// Number of bytes per token by which the tokens of each request are estimated. In most languages a token has more
/// bytes.
pub const BYTES_PER_TOKEN: u64 = 3;

/// Percentage of the context window that a request may use. If a request is larger, old turns are summarised; if it is
/// still larger, results are shortened or omitted.
pub const WINDOW_SHARE: u64 = 75;

/// Percentage of the context window for the newest turns. Older turns are summarised. The last turn is kept, whatever
/// its size.
pub const RECENT_SHARE: u64 = 30;

/// Percentage of the context window for a summary, or for one result in a request that is too large. The middle of a
/// longer text is replaced by a note.
pub const RESULT_SHARE: u64 = 15;

/// Maximum percentage of the context window for a request. The percentage is below 100 because sizes are estimates. If
/// a request is still larger, the step fails with `window`.
pub const WINDOW_MOST: u64 = 90;

/// Maximum bytes of a copilot's earlier rounds that are kept completely, newest first. Of older rounds, only people's
/// messages and the last reply are kept.
pub const ROUNDS_BYTES: usize = 96 * 1024;

/// Maximum characters of the results of earlier subtasks in one request. Older results are cut.
pub const RESULTS_CHARS: usize = 60_000;

/// Maximum characters of the result of a subtask in a request. A longer result is cut, unless it is one of the newest
/// results.
pub const OLD_RESULT_CHARS: usize = 300;

/// Number of newest results of subtasks that a request contains completely. Older results are cut to
/// `old_result_chars`.
pub const WHOLE_RESULTS: usize = 3;

/// Maximum bytes of a conversation that a judging model receives. Older messages of the conversation are omitted.
pub const JUDGED_BYTES: usize = 60_000;

/// Maximum bytes of one message that a judging model receives. A longer message is cut.
pub const JUDGED_MESSAGE_BYTES: usize = 8_000;

/// Maximum number of texts in one interrupt that are searched for risk words. If an interrupt has more texts, its risk
/// is high, with this limit as the reason.
pub const RISK_TEXTS: usize = 1_000;

/// Maximum characters of a text that is searched for risk words. A longer text of an agent in Holdshort is skipped. The
/// beginning of a longer text of an external agent is searched, and the risk is high.
pub const RISK_TEXT_CHARS: usize = 4_000;

/// Maximum number of changed files that the card of a checkpoint lists. Further files are only counted.
pub const CHANGED_FILES: usize = 100;

/// Time after the approval of a tried call of an external agent in which the agent may use it, if the request sets no
/// `usable_ms`. After this time, the call is tried again, and a person is asked again.
pub const TRIAL_USABLE_MS: u64 = 24 * 60 * 60 * 1_000;
