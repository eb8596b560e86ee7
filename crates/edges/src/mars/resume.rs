//! Finds the run to which a new task of a session attaches, instead of starting a run (contract A32). A page of the web UI
//! that reloads has lost the id of its task. Only the session, which a person chooses in a list, then leads to the run.
//! `connections.rs` knows which runs a client shows.

use holdshort_core::definition::PhaseKind;
use holdshort_core::id::{RunId, SessionId};
use holdshort_core::projection::{RunRow, Status};
use holdshort_core::run::Run;
use holdshort_web::auth::Caller;
use holdshort_web::problem::Answer;
use serde_json::{Map, Value, json};

use super::config::{self, WORKFLOW};
use super::connections::TaskConnections;
use super::session_runs::runs_of;
use super::task_id::TaskId;

/// Mode whose messages are tasks.
const COPILOT: &str = "copilot";

/// Returns the newest run of the session to which a new task with this config attaches. Returns `None` if the task
/// starts a run.
pub(super) async fn find_run(
    caller: &Caller,
    (task, attached): (&TaskId, &TaskConnections),
    session: &SessionId,
    config: &Map<String, Value>,
) -> Answer<Option<RunId>> {
    let resumes = config::resumes_session(config);
    let is_message = config::mode_of(&json!(config)) == COPILOT;
    if !resumes && !is_message {
        return Ok(None);
    }
    let app = &caller.app;
    for row in runs_of(app, session, WORKFLOW).await? {
        if row.status.is_terminal() {
            continue;
        }
        let run = app.driver.load_at(&row.run, 1).await?;
        let is_resumed = if is_of_a_copilot(&run) {
            is_message && is_own(caller, &run) && is_left(&row, task, attached)
        } else {
            resumes
        };
        if is_resumed {
            return Ok(Some(row.run));
        }
    }
    Ok(None)
}

fn is_of_a_copilot(run: &Run) -> bool {
    matches!(run.definition.phases.first().map(|phase| &phase.kind), Some(PhaseKind::Copilot(_)))
}

/// Returns true if the caller started the run.
fn is_own(caller: &Caller, run: &Run) -> bool {
    run.started.as_ref().is_some_and(|started| caller.is(&started.by))
}

/// Returns true if the run waits for a person, or if no client of the person shows the run. A run that works and that a
/// client shows does not prevent a second task: two pages of a person may work in one session.
fn is_left(row: &RunRow, task: &TaskId, attached: &TaskConnections) -> bool {
    row.status == Status::Waiting || attached.is_unattended(&row.run, task)
}
