//! What was said before in a session, for the run that goes on with it: what people said and what came of it, the
//! newest whole, as much as fits.

use holdshort_core::projection::Status;
use holdshort_core::run::Run;
use serde_json::Value;

use super::session::Session;
use crate::limits::SESSION_RUNS;
use crate::problem::Answer;

/// Of one run's input, in bytes.
const ROOM: usize = 24 * 1024;

/// One run of the session, in words.
pub(super) struct Turn {
    said: Vec<String>,
    came: String,
}

/// Oldest first.
pub(super) async fn of(session: &Session) -> Answer<Vec<Turn>> {
    let mut turns = Vec::new();
    let mut room = ROOM;
    for row in session.runs(SESSION_RUNS).await? {
        let turn = turn(&*session.load(&row.run).await?);
        let Some(left) = room.checked_sub(turn.bytes()) else { break };
        room = left;
        turns.push(turn);
    }
    turns.reverse();
    Ok(turns)
}

/// What the agents are told to do.
pub(super) fn task(earlier: &[Turn], said: &str) -> String {
    if earlier.is_empty() {
        return said.to_owned();
    }
    let mut text = String::from("What was said before in this conversation:\n");
    for turn in earlier {
        for said in &turn.said {
            text.extend(["\nThe person: ", said, "\n"]);
        }
        text.extend(["\nYou: ", &turn.came, "\n"]);
    }
    text.extend(["\nNow the person says:\n", said]);
    text
}

/// What the person said that a run was started with.
pub(super) fn said(run: &Run) -> &str {
    let input = run.started.as_ref().map_or(&Value::Null, |started| &started.input);
    let field = |name| input.get(name).and_then(Value::as_str);
    field("said").or_else(|| field("task")).unwrap_or_default()
}

fn turn(run: &Run) -> Turn {
    let messages = run.messages.iter().map(ToString::to_string);
    let said = std::iter::once(said(run).to_owned()).chain(messages).collect();
    Turn { said, came: came(run) }
}

fn came(run: &Run) -> String {
    let Some(ended) = &run.ended else { return String::from("(not finished)") };
    let words = ended.text.as_deref().or_else(|| ended.result.get("text").and_then(Value::as_str));
    // An agent's last word in a step, where the run itself brought none.
    let last = || run.steps.values().rev().find_map(|step| step.output.as_deref());
    let words = words.or_else(last).unwrap_or_default();
    match ended.status {
        Status::Cancelled => format!("(cancelled) {words}"),
        Status::Failed => format!("(failed) {words}"),
        Status::Completed | Status::Queued | Status::Running | Status::Waiting | Status::Paused => {
            words.to_owned()
        }
    }
}

impl Turn {
    fn bytes(&self) -> usize {
        self.said.iter().map(String::len).sum::<usize>() + self.came.len()
    }
}
