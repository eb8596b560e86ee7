//! Plan as text: each layer of the graph is a block of lines, from top to bottom. The server computes the layers.

use holdshort_protocol::{Plan, Subtask, SubtaskStatus, plain};

use super::paint::Paint;
use super::quote::{Cap, quote};
use crate::plural::count;

/// Formats the whole graph of a plan as lines that fit the terminal.
pub(crate) fn render(plan: &Plan, paint: Paint) -> Vec<String> {
    let mut out = paint.fold(&paint.bold(&title(plan)), 2);
    let layers = plan.subtasks.iter().map(|subtask| subtask.layer).max().map_or(0, |last| last + 1);
    for layer in 0..layers {
        let mut members: Vec<&Subtask> = plan.subtasks.iter().filter(|each| each.layer == layer).collect();
        members.sort_by_key(|each| each.row);
        out.push(if layer == 0 { String::new() } else { paint.dim("  ↓") });
        for member in members {
            out.extend(paint.fold(&head(member, paint), 6));
            out.extend(quote(&member.description, "   ", Cap::Lines(4), paint));
        }
    }
    out
}

fn title(plan: &Plan) -> String {
    let of = count(plan.subtasks.len() as u64, "subtask");
    let versions = match plan.versions.len() {
        0 | 1 => String::new(),
        n => format!(", version {} of {n}", plan.version),
    };
    let stands = match (plan.settled, plan.held) {
        (true, true) => {
            format!("{}; version {} waits for a person", describe_counts(plan), plan.versions.len())
        }
        (true, false) => describe_counts(plan),
        (false, _) => "not approved yet".to_owned(),
    };
    format!("Plan `{}`{versions}: {of}, {stands}", plain::line(&plan.phase))
}

/// Describes how many subtasks of a plan have each status. Only a completed subtask is counted as done.
fn describe_counts(plan: &Plan) -> String {
    let counted = |status| plan.subtasks.iter().filter(|each| each.status == status).count();
    let others =
        [SubtaskStatus::Failed, SubtaskStatus::Skipped, SubtaskStatus::Cancelled, SubtaskStatus::NotRun];
    let mut text = format!("{} completed", counted(SubtaskStatus::Completed));
    for status in others.into_iter().filter(|status| counted(*status) > 0) {
        text = format!("{text}, {} {}", counted(status), status_label(status));
    }
    text
}

fn head(subtask: &Subtask, paint: Paint) -> String {
    let mut text = format!("  {} {}", mark(subtask.status, paint), paint.bold(&plain::line(&subtask.id)));
    text = format!("{text}  {}", status_label(subtask.status));
    if let Some(agent) = &subtask.agent {
        text = format!("{text}  by {}", plain::line(agent));
    }
    if !subtask.depends_on.is_empty() {
        text = format!("{text}  after {}", plain::line(&subtask.depends_on.join(", ")));
    }
    if let Some(time) = &subtask.estimated_time {
        text = format!("{text}  takes {}", plain::line(time));
    }
    text
}

/// Returns true if the graphs of two plans are equal except for the status of their subtasks.
pub(crate) fn is_drawn_alike(old: &Plan, now: &Plan) -> bool {
    let drawn = |plan: &Plan| {
        let places = plan.subtasks.iter().map(|each| (each.id.clone(), each.layer, each.row));
        (plan.version, plan.versions.len(), plan.settled, plan.held, places.collect::<Vec<_>>())
    };
    drawn(old) == drawn(now)
}

/// Returns one line for each subtask of a plan whose status has changed.
pub(crate) fn moves(old: &Plan, now: &Plan, paint: Paint) -> Vec<String> {
    let pairs = old.subtasks.iter().zip(&now.subtasks);
    let moved = pairs.filter(|(old, now)| old.status != now.status);
    moved.flat_map(|(_, now)| paint.fold(&head(now, paint), 6)).collect()
}

/// Returns the symbol for the status of a subtask. The browser shows the same symbol.
fn mark(status: SubtaskStatus, paint: Paint) -> String {
    match status {
        SubtaskStatus::Pending => paint.dim("○"),
        SubtaskStatus::Running => paint.cyan("▶"),
        SubtaskStatus::Waiting => paint.yellow("‖"),
        SubtaskStatus::Completed => paint.green("✓"),
        SubtaskStatus::Skipped => paint.dim("–"),
        SubtaskStatus::Failed => paint.red("✗"),
        SubtaskStatus::Cancelled => paint.dim("⊘"),
        SubtaskStatus::NotRun => paint.dim("·"),
    }
}

fn status_label(status: SubtaskStatus) -> &'static str {
    match status {
        SubtaskStatus::Pending => "pending",
        SubtaskStatus::Running => "running",
        SubtaskStatus::Waiting => "waits for a person",
        SubtaskStatus::Completed => "completed",
        SubtaskStatus::Skipped => "skipped",
        SubtaskStatus::Failed => "failed",
        SubtaskStatus::Cancelled => "cancelled",
        SubtaskStatus::NotRun => "not run",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(analyse: &str) -> Plan {
        let subtask = |id: &str, status: &str, needs: &[&str], layer: u64, row: u64| {
            json!({
                "id": id, "description": format!("Do {id}\u{1b}[2J"), "agent": "engineer", "depends_on": needs,
                "status": status, "layer": layer, "row": row,
            })
        };
        let subtasks = [
            subtask("look", "completed", &[], 0, 0),
            subtask("report", "pending", &["look", "analyse"], 1, 0),
            subtask("analyse", analyse, &[], 0, 1),
        ];
        let plan = json!({
            "run": "run_1", "phase": "plan", "version": 2, "settled": true, "held": false, "subtasks": subtasks,
            "versions": [{ "version": 1, "subtasks": [] }, { "version": 2, "subtasks": [] }],
        });
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn a_layer_follows_the_other_and_nothing_reaches_the_terminal_bare() {
        let expected = "\
Plan `plan`, version 2 of 2: 3 subtasks, 1 completed

  ✓ look  completed  by engineer
    │ Do look\\u{1b}[2J
  ▶ analyse  running  by engineer
    │ Do analyse\\u{1b}[2J
  ↓
  ○ report  pending  by engineer  after look, analyse
    │ Do report\\u{1b}[2J";
        assert_eq!(render(&plan("running"), Paint::plain()).join("\n"), expected);
        for line in render(&plan("running"), Paint::narrow(40)) {
            assert!(console::measure_text_width(&line) <= 40, "{line}");
        }
    }

    #[test]
    fn each_end_is_counted_apart() {
        let stands = |statuses: &[&str]| {
            let subtask = |(n, status): (usize, &&str)| json!({ "id": n.to_string(), "description": "Do it", "status": status, "layer": 0, "row": n });
            let subtasks: Vec<_> = statuses.iter().enumerate().map(subtask).collect();
            let plan = json!({
                "run": "run_1", "phase": "plan", "version": 1, "settled": true, "held": false,
                "subtasks": subtasks, "versions": [],
            });
            title(&serde_json::from_value(plan).unwrap()).split_once(": ").unwrap().1.to_owned()
        };
        assert_eq!(stands(&["running", "pending"]), "2 subtasks, 0 completed");
        assert_eq!(stands(&["failed", "skipped", "skipped"]), "3 subtasks, 0 completed, 1 failed, 2 skipped");
        assert_eq!(
            stands(&["completed", "cancelled", "not_run"]),
            "3 subtasks, 1 completed, 1 cancelled, 1 not run"
        );
    }

    #[test]
    fn of_what_moved_on_only_that_is_told() {
        let (old, now) = (plan("running"), plan("waiting"));
        assert!(is_drawn_alike(&old, &now));
        assert_eq!(moves(&old, &now, Paint::plain()), ["  ‖ analyse  waits for a person  by engineer"]);
    }
}
