//! Text that tells the next run of a conversation about the earlier runs. The text contains all messages of people. The
//! text also contains the results of the runs, newest first, as far as they fit.
//!
//! The text is not stored. The text is computed from the earlier runs of the session, which
//! [`session::Front`](crate::session::Front) lists.

use std::sync::Arc;

use crate::interrupt::{About, Effect, Interrupt, Kind, Outcome};
use crate::limits::{EARLIER_BYTES, EARLIER_RESULT_BYTES};
use crate::projection::Status;
use crate::run::{Progress, Run, another_plan, said_about};
use crate::session::Session;

/// Number of bytes reserved for the label (`The person:` or `You:`) before each text in the history of a conversation.
const LABEL: usize = 20;

/// Messages and result of one earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Messages that people sent to the earlier run, in their order.
    pub said: Vec<String>,
    /// Result of the earlier run.
    pub came: String,
}

/// Renders the earlier turns of a conversation as the history that is placed before the task of the next run. The
/// oldest turn comes first in the text. `None` if there are no turns. The newest turn must come first in `turns`.
/// `is_all` is true if the session has no further turns.
///
/// Every line of a turn's text except the first is indented. An agent's text therefore cannot imitate a message of a
/// person.
pub fn render_history(turns: Vec<Turn>, is_all: bool) -> Option<Arc<str>> {
    let count = turns.len();
    let turns = fitted(turns, EARLIER_BYTES);
    if turns.is_empty() {
        return None;
    }
    let mut text = String::from("What was said before in this conversation:\n");
    if !is_all || turns.len() < count {
        text.push_str("\n(Earlier parts of the conversation are left out.)\n");
    }
    for turn in turns.iter().rev() {
        for said in &turn.said {
            text.extend(["\nThe person: ", &indented(said), "\n"]);
        }
        let came = if turn.came.is_empty() { "(left out)" } else { &turn.came };
        text.extend(["\nYou: ", &indented(came), "\n"]);
    }
    text.push_str("\nNow the person says:\n");
    Some(text.into())
}

fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n    ")
}

/// Shortens the turns of a conversation until they fit into `room` bytes. Cuts results of runs before messages of
/// people. Cuts the messages of the newest turn that does not fit, and drops all older turns.
fn fitted(turns: Vec<Turn>, room: usize) -> Vec<Turn> {
    let mut left = room;
    let mut kept = Vec::new();
    for mut turn in turns {
        let bytes = turn.bytes();
        if bytes <= left {
            left -= bytes;
            kept.push(turn);
            continue;
        }
        for said in turn.said.iter_mut().rev() {
            let share = left.saturating_sub(LABEL);
            *said = cut(said, share);
            left = left.saturating_sub(said.len() + LABEL);
        }
        turn.said.retain(|said| !said.is_empty());
        if !turn.said.is_empty() {
            kept.push(turn);
        }
        break;
    }
    for turn in &mut kept {
        turn.came = cut(&turn.came, EARLIER_RESULT_BYTES.min(left));
        left = left.saturating_sub(turn.came.len());
    }
    kept
}

/// Cuts a text to at most `bytes` bytes. Adds the original length to the cut text.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let note = format!("… (cut: {} bytes)", text.len());
    let Some(room) = bytes.checked_sub(note.len()) else { return String::new() };
    let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}{note}", &text[..end])
}

impl Turn {
    /// Renders one run as a turn for later runs of the same conversation. `session` must be the session of the run.
    pub fn from_run(run: &Run, session: &Session) -> Self {
        let decided = decided(run);
        let words = run.messages.iter().filter(|message| !run.is_of_an_undo(message));
        let mut messages: Vec<String> = words.map(ToString::to_string).collect();
        // If a decision caused a message, only the decision is shown. Other messages with the same text stay in the
        // list.
        for brought in decided.iter().filter_map(|each| each.brought.as_ref()) {
            if let Some(at) = messages.iter().position(|message| message == brought) {
                messages.remove(at);
            }
        }
        let said = std::iter::once(begun_with(run)).chain(messages);
        let decided = decided.iter().map(|each| format!("({}) {}", each.about, each.text));
        // Shows only the changes that a person undid while this run was the front run. Changes that were undone later
        // are shown with the run that was then the front run.
        let undone = session.undone.iter().filter(|undone| undone.front.as_ref() == Some(&run.id));
        let undone =
            undone.map(|undone| format!("(took back changes) {}", undone.text).trim_end().to_owned());
        Self { said: said.chain(decided).chain(undone).collect(), came: came(run) }
    }

    /// Returns the turn for a run whose events are unreadable.
    pub fn unreadable() -> Self {
        Self { said: Vec::new(), came: "(this part of the conversation cannot be read)".to_owned() }
    }

    /// Returns the number of bytes that the turn needs without the result of its run: the messages of people, and the
    /// labels.
    pub fn bytes(&self) -> usize {
        self.said.iter().map(|said| said.len() + LABEL).sum::<usize>() + LABEL
    }
}

/// Returns the message that started the run. Journals of earlier versions store this message separately, because there
/// the run's task also contains the history.
fn begun_with(run: &Run) -> String {
    let input = run.started.as_ref().map(|started| &started.input);
    let beside = input.and_then(|input| input.get("said")?.as_str()).filter(|_| !run.is_front());
    beside.map_or_else(|| run.task().into_owned(), str::to_owned)
}

/// Text that a person wrote with a decision, for example the answer to an agent's question.
struct Decided<'r> {
    about: String,
    text: &'r str,
    /// Message that the run got because of the decision. `None` if the decision sent no message to the run.
    brought: Option<String>,
}

fn decided(run: &Run) -> Vec<Decided<'_>> {
    let mut asked: Vec<_> = run.interrupts.values().collect();
    asked.sort_by_key(|interrupt| interrupt.opened_seq);
    asked.into_iter().filter_map(|interrupt| decision(run, interrupt)).collect()
}

fn decision<'r>(run: &Run, interrupt: &'r Interrupt) -> Option<Decided<'r>> {
    let made = interrupt.settled_by()?;
    let text = made.text.as_deref().filter(|text| !text.trim().is_empty())?;
    let title = interrupt.content_text("title");
    let about = match interrupt.opened.kind {
        Kind::Question => format!("asked: {title}"),
        Kind::PlanApproval | Kind::ToolApproval | Kind::Continuation | Kind::Turn | Kind::Choice => {
            format!("{title}: {}", made.option)
        }
        // A client's report about a call is not a message of a person. All other kinds of interrupts are about the
        // work, not about the conversation.
        Kind::ClientCall
        | Kind::Checkpoint
        | Kind::Error
        | Kind::Escalation
        | Kind::Review
        | Kind::UnknownOutcome => return None,
    };
    let brought = brought(run, interrupt, &made.option, text);
    Some(Decided { about, text, brought })
}

/// Returns the message that the run gets for the text of the decision. `run/decide/steps.rs` creates these messages, so
/// both must be changed together.
fn brought(run: &Run, interrupt: &Interrupt, option: &str, text: &str) -> Option<String> {
    let effect = interrupt.offers(option)?.effect;
    // The run ends with this text, unless it continues with its previous plan.
    let ends = effect == Effect::CancelRun || effect == Effect::FailRun && !run.replaces_a_plan(interrupt);
    match (&interrupt.opened.about, effect) {
        (About::Plan(_), Effect::Replan) => Some(another_plan(text).trim().to_owned()),
        (About::Limit(step), Effect::Proceed) => Some(said_about(step, text.trim())),
        (About::Plan(_) | About::Limit(_) | About::Interruption, _) if !ends => Some(text.trim().to_owned()),
        (About::Ending(_), other) if !ends && other != Effect::Proceed => Some(text.trim().to_owned()),
        (
            About::Plan(_)
            | About::Limit(_)
            | About::Ending(_)
            | About::Call(_)
            | About::BeforeStep(_)
            | About::AfterStep(_)
            | About::Phase(_)
            | About::Failure(_)
            | About::Printed(_)
            | About::Round(_)
            | About::Interruption
            | About::Hold
            | About::External,
            _,
        ) => None,
    }
}

fn came(run: &Run) -> String {
    let Some(ended) = &run.ended else { return String::from("(not finished)") };
    let planned = planned(run);
    let words = ended.text.as_deref().or_else(|| ended.result.get("text").and_then(|text| text.as_str()));
    // If the run has no text, the last output of an agent is used.
    let last = || run.steps.values().rev().find_map(|step| step.output.as_deref());
    let words = words.or_else(|| if planned.is_empty() { last() } else { None }).unwrap_or_default();
    let end = match (ended.status, ended.reason.as_str()) {
        (Status::Cancelled, _) => "(cancelled)",
        (Status::Failed, _) => "(failed)",
        (Status::Completed, "partial") => "(done in part)",
        (Status::Completed | Status::Queued | Status::Running | Status::Waiting | Status::Paused, _) => "",
    };
    let first = [end, words].join(" ");
    let first = Some(first.trim()).filter(|first| !first.is_empty()).map(str::to_owned);
    first.into_iter().chain(planned).collect::<Vec<_>>().join("\n")
}

/// Describes the plans of the run for later runs: each plan that was dropped, and each subtask of the plan that was
/// carried out. A subtask is described with its output or its error.
fn planned(run: &Run) -> Vec<String> {
    let mut asked: Vec<_> = run.interrupts.values().collect();
    asked.sort_by_key(|interrupt| interrupt.opened_seq);
    let dropped = asked.into_iter().filter_map(|interrupt| {
        // A plan that a person wrote to replace a running plan is not a plan of the agent.
        if run.replaces_a_plan(interrupt) {
            return None;
        }
        let count = interrupt.plan()?.subtask_count();
        match interrupt.resolution.as_ref()?.outcome {
            Outcome::Rejected => Some(format!("(your plan of {count} was rejected)")),
            Outcome::Expired => Some(format!("(nobody decided in time on your plan of {count})")),
            Outcome::Approved | Outcome::Answered | Outcome::Cancelled | Outcome::Superseded => None,
        }
    });
    let mut lines: Vec<String> = dropped.collect();
    for (phase, planned) in &run.plans {
        let Some(plan) = planned.settled() else { continue };
        // All subtasks are listed. The output of each subtask gets an equal share of the available bytes.
        let room = EARLIER_RESULT_BYTES / (2 * plan.subtasks.len().max(1));
        for subtask in &plan.subtasks {
            let step = run.step_of_subtask(phase, &subtask.id).map(|(_, step)| step);
            let brought = step.and_then(|step| step.output.as_deref()).unwrap_or_default();
            let status = match run.progress(phase, &subtask.id) {
                Progress::Completed => "completed",
                Progress::Failed => "failed",
                Progress::Skipped => "skipped",
                Progress::Running | Progress::Waiting | Progress::Cancelled => "not finished",
                Progress::Pending | Progress::NotRun => "not begun",
            };
            let line = format!("- {} ({status}): {}", subtask.id, cut(brought, room));
            lines.push(line.trim_end_matches(": ").to_owned());
        }
    }
    lines
}
