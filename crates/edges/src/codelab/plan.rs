//! Plans in the form that clients receive: conversion of subtasks between Holdshort's form and the client's form, and
//! the progress of a plan in its run.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::{About, Interrupt, Kind, Outcome};
use holdshort_core::plan::{self, Plan};
use holdshort_core::run::{Progress, Run, StepEnd};
use holdshort_web::problem::{Answer, Refused};
use serde_json::{Map, Value, json};

use super::frame::{PlanMetadata, PlanSummary, Subtask};
use super::{ids, names};

/// Returns the planning phase whose plan an interrupt asks about.
pub(super) fn phase(interrupt: &Interrupt) -> Option<&str> {
    match &interrupt.opened.about {
        About::Plan(phase) => Some(phase),
        _ => None,
    }
}

/// Returns the id, in the form that clients receive, of the plan that a planning phase produced. The id is derived from
/// the last interrupt in which a plan of the phase was approved. If no plan was approved, the id is derived from the
/// last interrupt about a plan of the phase. If there was no interrupt, the id is derived from the run.
pub(super) fn id(run: &Run, planning: &str) -> String {
    let approved = |each: &Interrupt| {
        each.resolution.as_ref().is_some_and(|resolution| resolution.outcome == Outcome::Approved)
    };
    let last = run
        .interrupts
        .values()
        .filter(|each| phase(each) == Some(planning) && each.opened.kind == Kind::PlanApproval)
        .max_by_key(|each| (approved(each), each.opened_seq));
    match last {
        Some(interrupt) => ids::plan(&interrupt.opened.interrupt),
        None => ids::unasked_plan(&run.id, planning),
    }
}

pub(super) fn subtasks(run: &Run, planning: Option<&str>, plan: &Plan) -> Vec<Subtask> {
    // Agent of subtasks that do not name an agent.
    let mut controls = run.definition.phases.iter().filter_map(|phase| phase.kind.control());
    let usual = controls.find(|control| planning.is_none_or(|planning| control.plan == planning));
    let usual = usual.map_or("", |control| &control.agent);
    let subtask = |subtask: &plan::Subtask| Subtask {
        id: subtask.id.clone(),
        description: subtask.description.clone(),
        agent: names::agent(subtask.agent.as_deref().unwrap_or(usual)).to_owned(),
        dependencies: subtask.depends_on.clone(),
        status: planning.map_or("pending", |planning| status(run.progress(planning, &subtask.id))),
        estimated_time: estimate(subtask.estimated_time.as_deref()).map(str::to_owned),
    };
    plan.subtasks.iter().map(subtask).collect()
}

/// Texts that agents and clients write if they have no estimate of a subtask's duration. Without this list, the IDE
/// would show a text such as "unknown" as an estimate (contract B16).
const NO_ESTIMATE: [&str; 4] = ["", "unknown", "n/a", "-"];

/// Returns the estimated duration of a subtask, or `None` if the text contains no estimate.
pub(super) fn estimate(time: Option<&str>) -> Option<&str> {
    time.map(str::trim).filter(|time| !NO_ESTIMATE.iter().any(|none| time.eq_ignore_ascii_case(none)))
}

/// Returns the sum of the subtasks' estimated durations, such as `7 min`. Returns `None` if a subtask has no estimate,
/// or an estimate that is not in minutes or hours. A sum over the other subtasks would be too short.
fn total_time(subtasks: &[Subtask]) -> Option<String> {
    let times = subtasks.iter().map(|each| minutes(each.estimated_time.as_deref()?));
    let total = times.collect::<Option<Vec<u64>>>()?.into_iter().try_fold(0_u64, u64::checked_add)?;
    (total > 0).then(|| format!("{total} min"))
}

fn minutes(time: &str) -> Option<u64> {
    let time = time.trim().to_ascii_lowercase();
    let digits = time.len() - time.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = time[..digits].parse().ok()?;
    match time[digits..].trim().trim_end_matches('.') {
        "m" | "min" | "mins" | "minute" | "minutes" => Some(number),
        "h" | "hr" | "hrs" | "hour" | "hours" => number.checked_mul(60),
        _ => None,
    }
}

/// Returns two descriptions of a plan that waits for a decision: a summary, and metadata with subtasks. Some clients
/// read the summary, other clients read the metadata.
pub(super) fn waiting(run: &Run, interrupt: &Interrupt, found: &Plan) -> (PlanSummary, PlanMetadata) {
    let opened = &interrupt.opened;
    let subtasks = subtasks(run, phase(interrupt), found);
    let summary = PlanSummary {
        goal: run.task().into_owned(),
        subtasks_count: subtasks.len(),
        total_estimated_time: total_time(&subtasks),
        subtasks: subtasks.clone(),
    };
    let metadata = PlanMetadata {
        plan_id: ids::plan(&opened.interrupt),
        approval_request_id: opened.interrupt.to_string(),
        original_task: run.task().into_owned(),
        subtask_count: subtasks.len(),
        subtasks,
        requires_approval: true,
        expires_at: opened.expires_at.map(|at| at.to_string()),
        assignment: None,
    };
    (summary, metadata)
}

/// Returns the subtasks of a plan as text, one line for each subtask.
pub(super) fn lines(subtasks: &[Subtask]) -> String {
    let line = |each: &Subtask| {
        let needs = match each.dependencies.as_slice() {
            [] => String::new(),
            needs => format!(" (after {})", needs.join(", ")),
        };
        format!("- {}: [{}] {}{needs}", each.id, each.agent, each.description)
    };
    subtasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the status of a subtask in the form that clients receive. If the run has ended, an unfinished subtask is
/// `failed` if it had started, and `skipped` otherwise.
pub(super) fn status(progress: Progress) -> &'static str {
    match progress {
        Progress::Pending => "pending",
        Progress::Running | Progress::Waiting => "in_progress",
        Progress::Completed => ended(StepEnd::Completed),
        Progress::Skipped | Progress::NotRun => ended(StepEnd::Skipped),
        Progress::Failed | Progress::Cancelled => ended(StepEnd::Failed),
    }
}

pub(super) fn ended(end: StepEnd) -> &'static str {
    match end {
        StepEnd::Completed => "completed",
        StepEnd::Skipped => "skipped",
        StepEnd::Failed => "failed",
    }
}

/// Name, in client messages, of the member that lists the ids of the subtasks on which a subtask depends. [`OURS`] is
/// Holdshort's name of this member. Messages may use either name.
const THEIRS: &str = "dependencies";
const OURS: &str = "depends_on";
/// Name of the member with a subtask's estimated duration, in client messages and in Holdshort.
const ESTIMATE: &str = "estimated_time";

/// Converts `modified_subtasks` to an edit of a plan in the form of Holdshort's native API. Ignores members that a
/// client receives but cannot change, such as status or result.
pub(super) fn edit(definition: &Definition, subtasks: &Value) -> Answer<Value> {
    let Some(items) = subtasks.as_array() else {
        return Err(Refused::invalid_at("/modified_subtasks", "is not a list"));
    };
    let mut native = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let at = |field: &str| format!("/modified_subtasks/{i}{field}");
        let Some(fields) = item.as_object() else {
            return Err(Refused::invalid_at(&at(""), "is not an object"));
        };
        let mut subtask = Map::new();
        for (theirs, ours) in [("id", "id"), ("description", "description"), ("agent", "agent")] {
            match fields.get(theirs) {
                Some(Value::String(text)) if ours == "agent" => {
                    subtask.insert(ours.to_owned(), json!(names::agent_of(definition, text)))
                }
                Some(Value::String(text)) => subtask.insert(ours.to_owned(), json!(text)),
                Some(_) => return Err(Refused::invalid_at(&at(&format!("/{theirs}")), "is not a text")),
                None => {
                    return Err(Refused::invalid_at(
                        &at(&format!("/{theirs}")),
                        format!("missing field `{theirs}`"),
                    ));
                }
            };
        }
        match fields.get(ESTIMATE) {
            None | Some(Value::Null) => {}
            Some(Value::String(time)) => {
                subtask.extend(estimate(Some(time)).map(|time| (ESTIMATE.to_owned(), json!(time))));
            }
            Some(_) => return Err(Refused::invalid_at(&at(&format!("/{ESTIMATE}")), "is not a text")),
        }
        let given = |name: &str| fields.get(name).filter(|ids| !ids.is_null());
        match given(THEIRS).map(|ids| (THEIRS, ids)).or(given(OURS).map(|ids| (OURS, ids))) {
            None => {}
            Some(_) if given(THEIRS).zip(given(OURS)).is_some_and(|(theirs, ours)| theirs != ours) => {
                return Err(Refused::invalid_at(&at("/depends_on"), "differs from `dependencies`"));
            }
            Some((_, Value::Array(ids))) if ids.iter().all(Value::is_string) => {
                subtask.insert(OURS.to_owned(), json!(ids));
            }
            Some((name, _)) => {
                return Err(Refused::invalid_at(&at(&format!("/{name}")), "is not a list of ids"));
            }
        }
        native.push(Value::Object(subtask));
    }
    Ok(json!({ "subtasks": native }))
}

/// Converts Holdshort's names of fields in an error about a plan to the client's names of these fields. `whole` is the
/// path of the edited plan in the client's message.
pub(super) fn translate_error(refused: Refused, whole: &str, edited: Option<&Value>) -> Refused {
    let theirs = |rest: &str| {
        let (subtask, _) = rest.split_once("/depends_on")?;
        let said = edited?.pointer(subtask)?.get(THEIRS).is_some_and(|ids| !ids.is_null());
        said.then(|| rest.replacen(OURS, THEIRS, 1))
    };
    refused.map_field_errors(|error| {
        error.pointer = match error.pointer.as_str() {
            "/option" => "/decision".to_owned(),
            "/text" => "/feedback".to_owned(),
            other => match (other.strip_prefix("/edit/subtasks"), other.strip_prefix("/edit")) {
                (Some(rest), _) => format!("{whole}{}", theirs(rest).unwrap_or_else(|| rest.to_owned())),
                (None, Some(rest)) => format!("{whole}{rest}"),
                (None, None) => other.to_owned(),
            },
        };
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_summed_only_if_each_is_a_duration() {
        let table: [(&[Option<&str>], Option<&str>); 9] = [
            (&[Some("2 min"), Some("5 min")], Some("7 min")),
            (&[Some("1 hour"), Some("30m"), Some(" 5 Minutes. ")], Some("95 min")),
            (&[Some("2 min"), None], None),
            (&[Some("2 min"), Some("a while")], None),
            (&[Some("2-3 min")], None),
            (&[Some("5")], None),
            (&[Some("0 min")], None),
            (&[Some("18446744073709551615 min"), Some("1 min")], None),
            (&[Some("18446744073709551616 min")], None),
        ];
        for (times, total) in table {
            let subtask = |time: Option<&str>| Subtask {
                id: "s".to_owned(),
                description: "d".to_owned(),
                agent: "code".to_owned(),
                dependencies: Vec::new(),
                status: "pending",
                estimated_time: time.map(str::to_owned),
            };
            let subtasks: Vec<Subtask> = times.iter().copied().map(subtask).collect();
            assert_eq!(total_time(&subtasks).as_deref(), total, "{times:?}");
        }
        for none in ["", "  ", "unknown", " Unknown", "N/A", "-"] {
            assert_eq!(estimate(Some(none)), None, "{none}");
        }
    }
}
