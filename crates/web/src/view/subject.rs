//! Short description of a run for lists and cards: its task, workflow and workspace.

use holdshort_core::event;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::run::{Config, Fact, Run};
use holdshort_protocol::Code;
use serde_json::Value;

use crate::app::App;
use crate::limits::TASK_CHARS;
use crate::problem::{Answer, Refused};

pub(super) struct Subject {
    /// Task of the run. `None` if the input of the run has no member `task`, or if this input was erased.
    pub(super) task: Option<String>,
    pub(super) workspace: Option<String>,
    pub(super) workflow: String,
}

impl Subject {
    pub(super) fn new(workflow: &str, config: &Config, input: &Value) -> Self {
        let task = input.get("task").and_then(Value::as_str).map(cut);
        Self { task, workspace: config.workspace.clone(), workflow: workflow.to_owned() }
    }

    pub(super) fn from_run(run: &Run) -> Option<Self> {
        let started = run.started.as_ref()?;
        Some(Self::new(&run.definition.name, &started.config, &started.input))
    }
}

/// Returns the task and the workflow of a run that is not in memory. Reads the first event of the run.
pub(super) async fn for_run(app: &App, run: &RunId) -> Answer<Subject> {
    let stream = StreamId::Run(run.clone());
    let first = app.event(&stream, 1).await?;
    let event::Fact::Run(Fact::RunStarted { workflow, config, .. }) = &first.fact else {
        return Err(Refused::new(
            Code::JournalDamaged,
            format!("{stream} does not begin with `run_started`"),
        ));
    };
    Ok(Subject::new(workflow, config, &first.content.data))
}

fn cut(task: &str) -> String {
    match task.char_indices().nth(TASK_CHARS) {
        None => task.to_owned(),
        // The ellipsis takes the place of one character.
        Some(_) => task.chars().take(TASK_CHARS - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_cut_by_characters() {
        let (fits, long) = ("ä".repeat(TASK_CHARS), "ä".repeat(TASK_CHARS + 1));
        assert_eq!(cut(&fits), fits);
        assert_eq!(cut(&long), format!("{}…", "ä".repeat(TASK_CHARS - 1)));
    }
}
