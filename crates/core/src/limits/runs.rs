//! Limits of runs and their steps, models and interrupts.

/// Consecutive identical calls of a step. At this number the step asks with a `continuation`.
pub const IDENTICAL_CALLS: u32 = 8;

/// Consecutive replies with only failed calls. At this number the step asks with a `continuation`. A command with an
/// exit code other than 0 is a failed call.
pub const FAILED_CALLS: u32 = 6;

/// Trials of one call that failed because others changed the workspace. Then the call needs an approval without a
/// trial.
pub const TRIALS: u32 = 20;

/// Consecutive trials of one call that ended in a crash of the process. Then the call needs an approval without a
/// trial.
pub const TRIALS_LOST: u32 = 3;

/// Maximum changes of a command that a card lists for a partial approval. Further changes appear only as a number; a
/// partial approval drops them.
pub const CARD_PARTS: usize = 500;

/// Maximum paths listed to an agent after a partial approval or an undo. Further paths appear only as a number.
pub const TOLD_PATHS: usize = 20;

/// Maximum file patterns in a task. With more, no changed file is marked as outside the task.
pub const NAMED_GLOBS: usize = 200;

/// Retention of the content of changed files after its last use. Later a trial is repeated before its commit, and undo
/// skips the file (`not_kept`).
pub const BODIES_MS: u64 = 30 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of changed files in a journal. Beyond it, the content that was unused for the longest time is deleted.
pub const BODIES_BYTES: u64 = 8 * 1024 * 1024 * 1024;

/// Retention of the layer of an ended run. Then the layer, with the ignored files of its commands, is deleted.
pub const LAYER_MS: u64 = 24 * 60 * 60 * 1_000;

/// Maximum phases that calls start in one run. A further call fails with `limit_called_phases`.
pub const CALLED_PHASES: usize = 50;

/// Maximum nesting of phases that calls start. A deeper call fails with `limit_phase_depth`.
pub const PHASE_DEPTH: usize = 3;

/// Consecutive crashes of the process in one step, without progress. Then the step fails with `crashes`; with
/// `on_error: ask` an `error` interrupt opens.
pub const CRASHES: u32 = 10;

/// Maximum events of one run. At the next one the run fails with `limit_events`. A resume replays all events, so the
/// limit bounds its time.
pub const EVENTS: u64 = 100_000;

/// Maximum tool calls in one reply of a model. Further calls fail.
pub const CALLS_PER_REPLY: usize = 32;

/// Maximum questions in one reply of a model. With more, none is asked and the agent receives an error.
pub const QUESTIONS_PER_REPLY: usize = 20;

/// Maximum characters of the id of a question. With a longer one, no question is asked and the agent receives an error.
pub const QUESTION_ID_CHARS: usize = 64;

/// Maximum open interrupts of one run. A further one is refused with `limit_reached`.
pub const OPEN_INTERRUPTS: usize = 1_000;

/// Maximum people whose first view of one interrupt is recorded. A further view is refused with `limit_reached`;
/// reading and deciding still work.
pub const VIEWS: u32 = 200;

/// Maximum recorded time that a person viewed a card before the decision. A longer time is recorded as this value.
pub const VIEWED_MS: u64 = 24 * 3_600 * 1_000;

/// Maximum bytes of the name of the represented person (crew: `reviewer`). A longer name is refused with
/// `invalid_request`.
pub const ON_BEHALF_BYTES: usize = 200;

/// Maximum claims of one interrupt; a client that reconnects claims its calls again. A further claim is refused with
/// `limit_reached`; deciding still works.
pub const CLAIMS: u32 = 1_000;

/// Maximum runs that messages start in one session. A further one is refused with `limit_reached`: start another
/// session.
pub const FRONT_RUNS: usize = 10_000;

/// Delay before the first retry of a failed model request. Each further retry doubles the delay.
pub const BACKOFF_FIRST_MS: u64 = 500;

/// Maximum delay before a retry of a model request. A longer delay is shortened, even if the provider requests it.
pub const BACKOFF_MAX_MS: u64 = 60_000;

/// Maximum bytes of all errors on a card about failed calls. Each error is cut to an equal share.
pub const FAILURES_BYTES: usize = 64 * 1024;

/// Maximum characters of people's earlier messages in a request of a step. Older messages are omitted; the newest one
/// is always whole.
pub const NOTES_CHARS: usize = 4_000;

/// Default context window of a model in tokens, without an entry in `models`. Old turns are summarised to fit it.
pub const WINDOW_TOKENS: u64 = 128_000;

/// Minimum context window that `models` may set, in tokens. A workflow with a smaller one is not loaded.
pub const WINDOW_TOKENS_LEAST: u64 = 1_000;

/// Estimated bytes of a token. The size of each request is estimated with it. In most languages a token is longer.
pub const BYTES_PER_TOKEN: u64 = 3;

/// Percentage of the context window for a request. In a larger request old turns are summarised, then results are
/// shortened or omitted.
pub const WINDOW_SHARE: u64 = 75;

/// Percentage of the context window for the newest turns. Older turns are summarised; the last turn is kept at any
/// size.
pub const RECENT_SHARE: u64 = 30;

/// Percentage of the context window for a summary, or for one result in an oversized request. The middle of a longer
/// text is replaced by a note.
pub const RESULT_SHARE: u64 = 15;

/// Maximum percentage of the context window for a request, because sizes are estimates. With a larger request the step
/// fails with `window`.
pub const WINDOW_MOST: u64 = 90;

/// Maximum bytes of a copilot's earlier rounds in full, newest first. Older rounds keep only people's messages and the
/// last reply.
pub const ROUNDS_BYTES: usize = 96 * 1024;

/// Maximum characters of earlier subtasks' results in one request. Older results are cut.
pub const RESULTS_CHARS: usize = 60_000;

/// Maximum characters of a subtask's result in a request, except the newest results. A longer one is cut.
pub const OLD_RESULT_CHARS: usize = 300;

/// Newest results of subtasks that a request contains uncut. Older results are cut to `old_result_chars`.
pub const WHOLE_RESULTS: usize = 3;

/// Maximum bytes of a conversation that a judging model receives. Older messages are omitted.
pub const JUDGED_BYTES: usize = 60_000;

/// Maximum bytes of each message that a judging model receives. A longer message is cut.
pub const JUDGED_MESSAGE_BYTES: usize = 8_000;

/// Maximum texts of one interrupt that are searched for risk words. With more, its risk is high, with this reason.
pub const RISK_TEXTS: usize = 1_000;

/// Maximum characters of a text searched for risk words. A longer text of an own agent is skipped; of an external
/// agent, its beginning is searched and risk is high.
pub const RISK_TEXT_CHARS: usize = 4_000;
