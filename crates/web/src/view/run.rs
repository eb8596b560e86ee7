//! Runs, in the form that clients receive. A view is built either from a run in memory, or from a database row and the
//! two events to which the row refers.

use holdshort_core::definition::{Judge, Smart};
use holdshort_core::event::{self, Event};
use holdshort_core::id::StreamId;
use holdshort_core::limits::OPEN_INTERRUPTS;
use holdshort_core::projection::{RunRow, Status};
use holdshort_core::run::{Config, Fact, Run};
use holdshort_protocol as wire;
use holdshort_protocol::Code;
use holdshort_store::{InterruptFilter, Tables};
use serde_json::Value;

use super::subject::Subject;
use super::{erased, policy, usage};
use crate::app::App;
use crate::problem::{Answer, Refused};

pub async fn from_row(app: &App, row: &RunRow) -> Answer<wire::Run> {
    let stream = StreamId::Run(row.run.clone());
    let first = app.event(&stream, 1).await?;
    let event::Fact::Run(Fact::RunStarted { config, .. }) = &first.fact else {
        return Err(Refused::new(
            Code::JournalDamaged,
            format!("{stream} does not begin with `run_started`"),
        ));
    };
    let ended = match row.ended_seq {
        Some(seq) => Some(app.event(&stream, seq).await?),
        None => None,
    };
    let open_interrupts = if row.status.is_terminal() { Vec::new() } else { open(app, row).await? };
    let (end_message, result) = ended.map(end).unwrap_or_default();
    let shown = show(row, config, &first.content.data, open_interrupts, end_message, result);
    // Every run begins with an input. Missing content of the first event therefore shows that the content was erased.
    let erased = if first.content.is_empty() { Box::pin(erased::for_row(app, row)).await? } else { None };
    Ok(wire::Run { erased, ..shown })
}

pub fn from_run(run: &Run) -> Answer<wire::Run> {
    let (Some(row), Some(started)) = (run.row(), &run.started) else { return Err(Refused::not_found("run")) };
    let open = run.open_interrupts().map(|(id, _)| id.to_string()).collect();
    let (end_message, result) =
        run.ended.as_ref().map(|ended| (ended.text.clone(), ended.result.clone())).unwrap_or_default();
    let shown = show(&row, &started.config, &started.input, open, end_message, result);
    Ok(wire::Run { erased: run.erased.as_ref().map(erased::from_erasure), ..shown })
}

/// Returns the result of an ended run. Returns an error if the run has not ended.
pub async fn result(app: &App, row: &RunRow) -> Answer<wire::RunResult> {
    let Some(seq) = row.ended_seq else {
        return Err(Refused::new(
            Code::RunNotEnded,
            format!("the run has ended with the status `{}`", row.status.as_str()),
        ));
    };
    let (end_message, mut result) = end(app.event(&StreamId::Run(row.run.clone()), seq).await?);
    if result.is_null() {
        // If the run has no result, its questions and assumptions are returned instead.
        result = app.driver.load(&row.run).await?.asked_and_assumed();
    }
    Ok(wire::RunResult {
        run: row.run.to_string(),
        status: status(row.status),
        end_reason: row.end_reason.clone().unwrap_or_default(),
        end_message,
        result,
    })
}

fn end(event: Event) -> (Option<String>, Value) {
    (event.content.text, event.content.data)
}

async fn open(app: &App, row: &RunRow) -> Answer<Vec<String>> {
    let filter =
        InterruptFilter { open: Some(true), run: Some(row.run.clone()), ..InterruptFilter::default() };
    let page = app.journal().interrupts(&filter, None, OPEN_INTERRUPTS).await?;
    Ok(page.items.into_iter().map(|row| row.interrupt.to_string()).collect())
}

fn show(
    row: &RunRow,
    config: &Config,
    input: &Value,
    mut open_interrupts: Vec<String>,
    end_message: Option<String>,
    result: Value,
) -> wire::Run {
    open_interrupts.sort();
    let Subject { task, workspace, .. } = Subject::new(&row.workflow, config, input);
    wire::Run {
        id: row.run.to_string(),
        workflow: row.workflow.clone(),
        session: row.session.to_string(),
        status: status(row.status),
        end_reason: row.end_reason.clone(),
        end_message,
        task,
        workspace,
        input: input.clone(),
        config: self::config(config),
        result,
        seq: row.seq,
        open_interrupts,
        usage: usage::from_row(row),
        cost: usage::cost_of_row(row),
        erased: None,
        duration_ms: row.updated_at.ms_since(row.created_at),
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
    }
}

pub fn status(status: Status) -> wire::Status {
    match status {
        Status::Queued => wire::Status::Queued,
        Status::Running => wire::Status::Running,
        Status::Waiting => wire::Status::Waiting,
        Status::Paused => wire::Status::Paused,
        Status::Completed => wire::Status::Completed,
        Status::Failed => wire::Status::Failed,
        Status::Cancelled => wire::Status::Cancelled,
    }
}

fn config(config: &Config) -> wire::RunConfig {
    let gate = |closed: bool| closed.then_some(wire::Gate::Ask);
    let gates = wire::GateConfig {
        rules: config.gates.rules.iter().map(policy::rule).collect(),
        mandatory: config.gates.mandatory.iter().map(|at| policy::checkpoint(*at)).collect(),
        smart: config.gates.smart.as_ref().map(smart),
        plan: gate(config.gates.plan),
        before_step: gate(config.gates.before_step),
        after_step: gate(config.gates.after_step),
        on_error: gate(config.gates.on_error),
    };
    wire::RunConfig {
        workspace: config.workspace.clone(),
        model: config.model.clone(),
        unattended: config.unattended,
        gates: (gates != wire::GateConfig::default()).then_some(gates),
        asking: config.asks_nobody.then_some(wire::AskingConfig { enabled: false }),
        without_tools: config.without_tools.iter().cloned().collect(),
    }
}

fn smart(smart: &Smart) -> wire::SmartConfig {
    let judge = match &smart.judge {
        Judge::Off => "off",
        Judge::Run => "run",
        Judge::Model(name) => name,
    };
    wire::SmartConfig { keywords: Some(smart.keywords.clone()), judge: Some(judge.to_owned()) }
}
