//! Converts the events of a run into short lines for a person who follows the run. Pure. Remembers the names of calls
//! and steps that later events refer to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use holdshort_presentation::card;
use holdshort_protocol::{Event, Role, plain};
use serde_json::Value;

use super::paint::Paint;
use super::quote::{Cap, brief, quote};
use super::reply_flaws;
use crate::plural::count;
use crate::program_name::holdshort;

/// Maximum number of lines that are printed of an agent's message.
const SAID: Cap = Cap::Lines(24);
/// Maximum number of lines that are printed of a command's output. The last lines are printed.
const OUTPUT_LINES: usize = 6;

#[derive(Debug)]
pub(crate) struct Projector {
    paint: Paint,
    words: String,
    calls: BTreeMap<String, Call>,
    steps: BTreeMap<String, Step>,
    /// Id of the step that started last, for each phase that has not ended.
    last: BTreeMap<String, String>,
    /// Interrupts that were decided in this terminal. Their resolutions are not printed, because the person already
    /// knows them.
    own: BTreeSet<String>,
    asked: BTreeMap<String, OpenInterrupt>,
    said: String,
    activity: String,
}

#[derive(Debug)]
struct Step {
    agent: String,
    /// Name of a step in the output: `step work`, or `subtask build (2 of 3)`.
    name: String,
    /// True if the step assesses a call, routes a task or writes a summary. The text of such a step is for the run
    /// itself and is not shown to people.
    aside: bool,
    /// True if the step writes a plan. Its text is not printed, because the plan has its own card.
    plans: bool,
}

#[derive(Debug, Default)]
struct Call {
    tool: String,
    arguments: Value,
    /// True if a person edited the tool call before it ran.
    edited: bool,
}

#[derive(Debug, Default)]
struct OpenInterrupt {
    title: String,
    /// Labels of the interrupt's options, by option id.
    labels: BTreeMap<String, String>,
    /// Text that a person sent with the decision on the interrupt.
    words: String,
}

impl Projector {
    /// Creates a projector, which converts events of a run to lines. `words` are the command-line arguments with which
    /// another command selects the server.
    pub(crate) fn new(paint: Paint, words: &str) -> Self {
        Self {
            paint,
            words: words.to_owned(),
            calls: BTreeMap::new(),
            steps: BTreeMap::new(),
            last: BTreeMap::new(),
            own: BTreeSet::new(),
            asked: BTreeMap::new(),
            said: String::new(),
            activity: String::new(),
        }
    }

    /// Returns the last message that an agent of the run wrote for a person.
    pub(crate) fn last_message(&self) -> &str {
        &self.said
    }

    pub(crate) fn activity(&self) -> &str {
        &self.activity
    }

    /// Records that an interrupt was decided in this terminal. Its outcome is not printed, because the person already
    /// knows it.
    pub(crate) fn mark_decided_here(&mut self, interrupt: &str) {
        self.own.insert(interrupt.to_owned());
    }

    /// Returns the lines to print for an event of the run. An event that does not matter to a person has none.
    pub(crate) fn project(&mut self, event: &Event) -> Vec<String> {
        let paint = self.paint;
        let data = &event.data;
        let string = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let text = data.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        let title = data.pointer("/content/data/title").and_then(Value::as_str).unwrap_or_default();
        let title = || plain::line(title);
        let note = |text: String| vec![format!("  {}", paint.dim(&text))];
        match event.kind.as_str() {
            "step_started" => self.started(data),
            "phase_ended" => {
                self.last.remove(string("phase"));
                Vec::new()
            }
            "task_routed" => {
                let by = if string("by") == "router" { "the router" } else { "rules" };
                note(format!("the task is routed by {by}: {}", plain::line(string("route"))))
            }
            "history_summarised" => note("older turns were summarized".to_owned()),
            "changes_undone" => note("the agent was notified of the undone changes".to_owned()),
            "handed_over" => {
                if let Some(step) = self.steps.get_mut(string("step")) {
                    string("to").clone_into(&mut step.agent);
                }
                note(format!("{} continues: agent {}", self.step(string("step")), plain::line(string("to"))))
            }
            "step_redone" => note(format!("{} is redone", self.step(string("step")))),
            "model_started" => {
                self.activity = format!("{} is thinking", plain::line(&self.agent(string("step"))));
                Vec::new()
            }
            "model_replied" => self.replied(data, text),
            "call_made" => {
                let arguments = data.pointer("/content/data").cloned().unwrap_or_default();
                let call = Call { tool: string("tool").to_owned(), arguments, edited: false };
                self.calls.insert(string("call").to_owned(), call);
                Vec::new()
            }
            "model_failed" => {
                let what = match data.get("retry_at").and_then(Value::as_str) {
                    Some(_) => "the model did not answer; retry",
                    None => "the model did not answer",
                };
                let lead = format!("  {} {what}: ", paint.yellow("!"));
                let room = paint.width.saturating_sub(console::measure_text_width(&lead));
                vec![format!("{lead}{}", brief(text, room))]
            }
            "run_interrupted" => note(format!("{} interrupts", plain::line(&event.actor.id))),
            "model_stopped" => {
                let mut out = self.replied(data, text);
                if !out.is_empty() {
                    out.push(paint.dim("  … and was interrupted there"));
                }
                out
            }
            "end_refused" => {
                let agent = plain::line(&self.agent(string("step"))).into_owned();
                let flaw = reply_flaws::describe(string("flaw"));
                note(format!("{agent} has not finished and continues: {flaw}"))
            }
            "adopted" => note("the server was restarted; the run continues".to_owned()),
            "trial_started" | "tool_started" => {
                let call = string("call");
                self.activity = self.name(call);
                // A call with a changeset only writes the changeset, and cannot be stopped.
                if self.is_command(call) && data.get("changeset").is_none() {
                    let (run, call) = (plain::line(&event.stream), plain::line(call));
                    let how = format!("`{} stop {run} {call}{}`", holdshort(), self.words);
                    self.activity = format!("{} ({how} ends it)", self.activity);
                }
                Vec::new()
            }
            "tool_tried" | "trial_lost" | "trial_impossible" => {
                self.activity.clear();
                Vec::new()
            }
            // The person stopped the whole run, so this line would repeat the line about the run.
            "tool_stopped" if data.get("interrupted").and_then(Value::as_bool) == Some(true) => Vec::new(),
            "tool_stopped" => {
                let name = self.name(string("call"));
                note(format!("{} stops {name}", plain::line(&event.actor.id)))
            }
            "tool_finished" => {
                self.activity.clear();
                self.finished(data, text)
            }
            "tool_returned" => match string("why") {
                // Later checks and the execution use the version that the person edited.
                "edited" => {
                    if let Some(call) = self.calls.get_mut(string("call")) {
                        call.edited = true;
                        if let Some(arguments) = data.pointer("/content/data/arguments") {
                            call.arguments.clone_from(arguments);
                        }
                    }
                    Vec::new()
                }
                "changed" => {
                    let name = self.name(string("call"));
                    vec![format!(
                        "  {} {name}: not run, because a file changed after the call was checked",
                        paint.yellow("!")
                    )]
                }
                _ => Vec::new(),
            },
            "tool_doubted" => {
                let name = self.name(string("call"));
                vec![format!(
                    "  {} {name}: interrupted by a crash, so the outcome is unknown",
                    paint.yellow("!")
                )]
            }
            "result_held" => vec![format!("  {} result awaits review: {}", paint.yellow("!"), title())],
            "output_released" => vec![format!("  {} released: {}", paint.green("✓"), title())],
            "interrupt_opened" => {
                self.activity.clear();
                self.asked.insert(string("interrupt").to_owned(), OpenInterrupt::from_event_data(data));
                Vec::new()
            }
            "decision_made" => {
                if let Some(asked) = self.asked.get_mut(string("interrupt")) {
                    text.clone_into(&mut asked.words);
                }
                Vec::new()
            }
            "interrupt_resolved" => self.resolved(event),
            "message_added" => quote(text, &format!("{:>4}", plain::line(&event.actor.id)), SAID, paint),
            "step_ended" => match string("end") {
                "failed" => {
                    vec![format!("  {} {}: {}", paint.red("✗"), self.step(string("step")), plain::line(text))]
                }
                "skipped" => note(format!("{} was skipped", self.step(string("step")))),
                _ => Vec::new(),
            },
            "run_paused" => {
                let run = plain::line(&event.stream);
                self.activity = format!("paused: `{} resume {run}{}` continues it", holdshort(), self.words);
                note("paused".to_owned())
            }
            "run_suspended" => {
                "its session is suspended".clone_into(&mut self.activity);
                note("stopped: its session is suspended".to_owned())
            }
            "run_resumed" | "run_unsuspended" => {
                self.activity.clear();
                note("goes on".to_owned())
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if the text of a step is meant for the run itself and not for a person.
    pub(crate) fn is_aside(&self, step: &str) -> bool {
        self.steps.get(step).is_some_and(|step| step.aside)
    }

    /// Returns true if the text of a step is printed while it arrives. Returns `None` if the step is unknown.
    pub(crate) fn is_heard(&self, step: &str) -> Option<bool> {
        self.steps.get(step).map(|step| !step.aside && !step.plans)
    }

    /// Returns the part of a step's text that is meant for a person. A planner's text is returned without the plan,
    /// which has its own card.
    pub(crate) fn spoken<'t>(&self, step: &str, text: &'t str) -> Cow<'t, str> {
        if self.steps.get(step).is_some_and(|step| step.plans) {
            Cow::Owned(holdshort_core::plan::around(text))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Records the start of a step, and returns the line to print. No line is printed for a further step of the same
    /// agent in one phase.
    fn started(&mut self, data: &Value) -> Vec<String> {
        let string = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let (id, agent) = (string("step"), string("agent"));
        let aside = matches!(string("role"), "overseer" | "router" | "summariser");
        let is_part = data.get("subtask").is_some_and(|part| !part.is_null());
        let (plans, name) = (string("role") == "planner", name_of_step(data));
        self.steps.insert(id.to_owned(), Step { agent: agent.to_owned(), name, aside, plans });
        if aside {
            return Vec::new();
        }
        let before = self.last.insert(string("phase").to_owned(), id.to_owned());
        if before.is_some_and(|before| self.agent(&before) == agent) && !is_part {
            return Vec::new();
        }
        let told = format!("{} starts: agent {}", self.step(id), plain::line(agent));
        vec![format!("  {}", self.paint.dim(&told))]
    }

    fn agent(&self, step: &str) -> String {
        self.steps.get(step).map_or("agent", |step| &step.agent).to_owned()
    }

    fn step(&self, id: &str) -> String {
        self.steps.get(id).map_or_else(|| format!("step {}", plain::line(id)), |step| step.name.clone())
    }

    fn replied(&mut self, data: &Value, text: &str) -> Vec<String> {
        self.activity.clear();
        let calls = data.get("calls").and_then(Value::as_array).into_iter().flatten();
        for (i, listed) in calls.enumerate() {
            let Some(id) = listed.get("call").and_then(Value::as_str) else { continue };
            let tool = listed.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned();
            let arguments =
                data.pointer(&format!("/content/data/arguments/{i}")).cloned().unwrap_or_default();
            self.calls.insert(id.to_owned(), Call { tool, arguments, edited: false });
        }
        let step = data.get("step").and_then(Value::as_str).unwrap_or_default();
        if self.is_aside(step) {
            return Vec::new();
        }
        self.said = self.spoken(step, text).into_owned();
        if self.said.trim().is_empty() {
            return Vec::new();
        }
        let agent = self.agent(step);
        let mut out = vec![String::new()];
        out.extend(quote(&self.said, &self.paint.cyan(&plain::line(&agent)), SAID, self.paint));
        out
    }

    /// Describes a tool call in one line: the tool and the subject of the call.
    fn name(&self, call: &str) -> String {
        let Some(Call { tool, arguments, edited }) = self.calls.get(call) else {
            return plain::line(call).into_owned();
        };
        let string = |key: &str| arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let what = match (string("command"), string("pattern"), string("path")) {
            (Some(command), _, _) => format!("$ {command}"),
            (None, Some(pattern), Some(path)) => format!("“{pattern}” in {path}"),
            (None, Some(pattern), None) => format!("“{pattern}”"),
            (None, None, Some(path)) => path.to_owned(),
            (None, None, None) => {
                ["task", "metric", "series"].into_iter().find_map(string).unwrap_or_default().to_owned()
            }
        };
        let text = match tool.as_str() {
            "run_command" => what,
            _ => format!("{tool} {what}"),
        };
        let name = brief(&text, self.paint.width.saturating_sub(30));
        if *edited { format!("{name} (edited)") } else { name }
    }

    fn is_command(&self, call: &str) -> bool {
        self.calls.get(call).is_some_and(|call| call.tool == "run_command")
    }

    fn finished(&self, data: &Value, text: &str) -> Vec<String> {
        let paint = self.paint;
        let string = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let call = string("call");
        let name = self.name(call);
        let tool = self.calls.get(call).map(|call| call.tool.as_str()).unwrap_or_default();
        let first = brief(text, paint.width.saturating_sub(12));
        match (string("end"), tool) {
            // The card and the printed decision already contain this information.
            (
                "done" | "answered" | "skipped" | "refused",
                "ask_human" | "ask_user" | "communicate_with_human" | "create_plan" | "request_review",
            ) => Vec::new(),
            ("done", "run_command") => {
                let mut out = vec![format!("  {} {name}", paint.green("•"))];
                let lines: Vec<&str> =
                    text.trim_end().lines().filter(|line| !line.trim().is_empty()).collect();
                let hidden = lines.len().saturating_sub(OUTPUT_LINES);
                if hidden > 0 {
                    out.push(paint.dim(&format!("    │ … {} above", count(hidden, "line"))));
                }
                for line in &lines[hidden..] {
                    let line = console::truncate_str(&plain::line(line), paint.width - 8, "…").into_owned();
                    out.push(paint.dim(&format!("    │ {line}")));
                }
                out
            }
            // The arguments of `finish` contain the agent's last message, about finished and unfinished work.
            ("done", "finish") => self.said_at_the_end(call),
            ("done", "edit_file" | "write_file") => vec![format!("  {} {name}", paint.green("✓"))],
            ("done", _) => {
                let lines = match text.trim().lines().count() {
                    1 => "1 line".to_owned(),
                    count => format!("{count} lines"),
                };
                vec![format!("  {} {name} {}", paint.green("•"), paint.dim(&lines))]
            }
            ("refused" | "failed" | "skipped", _) if string("code") == "interrupted" => {
                vec![format!("  {} {name}: interrupted", paint.yellow("✗"))]
            }
            ("refused" | "failed", _) if string("code") == "stopped" => {
                vec![format!("  {} {name}: stopped", paint.yellow("✗"))]
            }
            ("failed", _) => {
                vec![format!("  {} {name}", paint.red("✗")), paint.dim(&format!("    │ {first}"))]
            }
            ("refused", _) if string("code") == "forbidden" => {
                let why = paint.dim(&format!("    │ {first}"));
                vec![format!("  {} {name}: forbidden by a rule", paint.red("✗")), why]
            }
            ("refused", _) => vec![format!("  {} {name}: refused", paint.yellow("✗"))],
            ("answered", _) => vec![format!("  {} {name}: a person provided the result", paint.yellow("✓"))],
            ("skipped", _) => vec![format!("  {} {name}: skipped", paint.yellow("–"))],
            (_, _) => vec![format!("  {} {name}: {}", paint.yellow("–"), plain::line(string("end")))],
        }
    }

    fn said_at_the_end(&self, call: &str) -> Vec<String> {
        let arguments = self.calls.get(call).map_or(&Value::Null, |call| &call.arguments);
        let mut text = arguments.get("summary").and_then(Value::as_str).unwrap_or_default().to_owned();
        let undone = arguments.get("undone").and_then(Value::as_array).into_iter().flatten();
        let undone: Vec<&str> =
            undone.filter_map(Value::as_str).filter(|item| !item.trim().is_empty()).collect();
        if !undone.is_empty() {
            text.push_str("\n\nLeft undone:");
            text.extend(undone.iter().map(|item| format!("\n- {item}")));
        }
        quote(&text, &self.paint.cyan("finish"), SAID, self.paint)
    }

    fn resolved(&mut self, event: &Event) -> Vec<String> {
        let paint = self.paint;
        let string = |key: &str| event.data.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = string("interrupt");
        let OpenInterrupt { title, labels, words } = self.asked.remove(id).unwrap_or_default();
        if self.own.contains(id) {
            return Vec::new();
        }
        let mut what = plain::line(string("outcome")).into_owned();
        if let Some(label) = labels.get(string("option")).filter(|label| !card::repeats(&what, label)) {
            what = format!("{what}: {}", plain::line(label));
        }
        if !words.is_empty() {
            what = format!("{what} “{}”", brief(&words, paint.width / 2));
        }
        let by = match (event.actor.role, event.actor.via.as_deref()) {
            (Role::Admin | Role::Operator | Role::Reviewer, Some(via)) => {
                format!("by {} ({via})", event.actor.id)
            }
            (Role::Admin | Role::Operator | Role::Reviewer | Role::Agent | Role::Auditor, _) => {
                format!("by {}", event.actor.id)
            }
            (Role::Engine, _) => match event.data.get("cause") {
                Some(Value::String(cause)) if cause == "expiry" => "nobody decided in time".to_owned(),
                Some(Value::String(cause)) if cause == "unasked" => "nobody was asked".to_owned(),
                Some(Value::Object(cause)) if cause.contains_key("grant") => "allowed by a grant".to_owned(),
                _ => String::new(),
            },
        };
        if !by.is_empty() {
            what = format!("{what}, {}", plain::line(&by));
        }
        let title = brief(&title, paint.width / 2);
        paint.fold(&format!("  {} {title} {}", paint.yellow("•"), paint.dim(&what)), 4)
    }
}

impl OpenInterrupt {
    fn from_event_data(opened: &Value) -> Self {
        let title = opened.pointer("/content/data/title").and_then(Value::as_str).unwrap_or_default();
        let options = opened.get("options").and_then(Value::as_array);
        let labels = options.into_iter().flatten().filter_map(|option| {
            let string = |key: &str| Some(option.get(key)?.as_str()?.to_owned());
            Some((string("id")?, string("label")?))
        });
        Self { title: title.to_owned(), labels: labels.collect(), words: String::new() }
    }
}

/// Returns the name of a step: the position in the plan if the step belongs to a plan, otherwise the id.
fn name_of_step(started: &Value) -> String {
    let string = |pointer: &str| started.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let number = |pointer: &str| started.pointer(pointer).and_then(Value::as_u64);
    match (number("/subtask/number"), number("/subtask/of")) {
        (Some(number), Some(of)) => {
            format!("subtask {} ({number} of {of})", plain::line(string("/subtask/id")))
        }
        _ => format!("step {}", plain::line(string("/step"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(kind: &str, data: &Value) -> Event {
        serde_json::from_value(json!({
            "run": "run_1", "stream": "run_1", "seq": 1, "type": kind, "at": "2026-01-31T09:30:00.000Z",
            "actor": {"id": "engine", "role": "engine"}, "data": data, "hash": "", "v": 1,
        }))
        .unwrap()
    }

    #[test]
    fn why_a_model_is_asked_again_fits_on_the_line() {
        let why = "the connection was closed before the whole answer had arrived, after 30 s";
        let data = json!({"retry_at": "2026-01-31T09:30:10.000Z", "content": {"text": why}});
        for width in [20, 64, 80, 110] {
            let lines = Projector::new(Paint::narrow(width), "").project(&event("model_failed", &data));
            let widest = lines.iter().map(|line| console::measure_text_width(line)).max();
            // Even a narrow line contains the kind of failure and the first letters of the reason.
            assert!(widest <= Some(width.max(60)), "{width}: {lines:?}");
        }
    }

    #[test]
    fn a_result_that_is_held_back_is_told_by_its_title() {
        let held = event("result_held", &json!({"content": {"text": "all", "data": {"title": "Report"}}}));
        assert_eq!(Projector::new(Paint::plain(), "").project(&held), ["  ! result awaits review: Report"]);
    }

    #[test]
    fn the_activity_of_a_command_names_how_to_stop_it() {
        let mut projector = Projector::new(Paint::plain(), " --data here");
        let calls = json!([{"call": "call_1", "tool": "run_command"}]);
        let arguments = json!({"arguments": [{"command": "make"}]});
        projector.project(&event("model_replied", &json!({"calls": calls, "content": {"data": arguments}})));
        projector.project(&event("tool_started", &json!({"call": "call_1"})));
        let how = format!("`{} stop run_1 call_1 --data here` ends it", holdshort());
        assert!(projector.activity().contains(&how), "{}", projector.activity());
        projector.project(&event("run_paused", &json!({})));
        let how = format!("`{} resume run_1 --data here` continues it", holdshort());
        assert!(projector.activity().contains(&how), "{}", projector.activity());
    }

    #[test]
    fn after_an_edit_the_edited_call_is_named() {
        let mut projector = Projector::new(Paint::plain(), "");
        let arguments = |command: &str| json!({"arguments": [{"command": command}]});
        let calls = json!([{"call": "call_1", "tool": "run_command"}]);
        projector.project(&event(
            "model_replied",
            &json!({"calls": calls, "content": {"data": arguments("rm -r /")}}),
        ));
        let edit = json!({"data": {"arguments": {"command": "rm -r build"}}});
        projector
            .project(&event("tool_returned", &json!({"call": "call_1", "why": "edited", "content": edit})));
        let done = event("tool_finished", &json!({"call": "call_1", "end": "done", "content": {"text": ""}}));
        assert_eq!(projector.project(&done), ["  • $ rm -r build (edited)"]);
    }

    #[test]
    fn a_step_of_a_plan_is_named_by_its_place_there() {
        let mut projector = Projector::new(Paint::plain(), "");
        let part = json!({"id": "build\u{1b}[2J", "number": 2, "of": 3});
        let started = json!({"step": "control/build", "agent": "engineer", "subtask": part});
        let name = "subtask build\\u{1b}[2J (2 of 3)";
        assert_eq!(
            projector.project(&event("step_started", &started)),
            [format!("  {name} starts: agent engineer")]
        );
        let redone = event("step_redone", &json!({"step": "control/build"}));
        assert_eq!(projector.project(&redone), [format!("  {name} is redone")]);
        // If a step started before this terminal attached, only the id of the step is known.
        let skipped = event("step_ended", &json!({"step": "work", "end": "skipped"}));
        assert_eq!(projector.project(&skipped), ["  step work was skipped"]);
    }

    #[test]
    fn the_next_round_of_the_same_agent_is_no_news_and_what_helps_a_step_says_nothing() {
        let mut projector = Projector::new(Paint::plain(), "");
        let mut started = |step: &str, agent: &str, role: &str| {
            let started = json!({"step": step, "phase": "work", "agent": agent, "role": role});
            projector.project(&event("step_started", &started))
        };
        assert_eq!(
            started("work/round_1", "copilot", "worker"),
            ["  step work/round_1 starts: agent copilot"]
        );
        assert!(started("work/route_2", "router", "router").is_empty());
        assert!(started("work/round_2", "copilot", "worker").is_empty());
        assert!(started("summarise:work/round_2:3", "summariser", "summariser").is_empty());
        assert_eq!(started("work/round_3", "coder", "worker"), ["  step work/round_3 starts: agent coder"]);
        // If an agent takes over a round from another agent, this agent is the last agent that worked in the phase.
        let handed = json!({"step": "work/round_3", "from": "coder", "to": "copilot"});
        projector.project(&event("handed_over", &handed));
        let mut started = |step: &str, agent: &str| {
            let started = json!({"step": step, "phase": "work", "agent": agent, "role": "worker"});
            projector.project(&event("step_started", &started))
        };
        assert!(started("work/round_4", "copilot").is_empty());
        assert!(!started("work/round_5", "coder").is_empty());
        let mut replied = |step: &str| {
            let replied = json!({"step": step, "content": {"text": "{\"route\": \"plan\"}"}});
            projector.project(&event("model_replied", &replied))
        };
        assert!(replied("work/route_2").is_empty());
        assert!(replied("summarise:work/round_2:3").is_empty());
        assert!(!replied("work/round_3").is_empty());
        assert_eq!(projector.last_message(), "{\"route\": \"plan\"}");
        let routed = event("task_routed", &json!({"phase": "work", "by": "rules", "route": "clarify"}));
        assert_eq!(projector.project(&routed), ["  the task is routed by rules: clarify"]);
    }

    #[test]
    fn what_others_decide_is_told_with_who_and_where() {
        let opened = json!({"interrupt": "int_1", "options": [{"id": "answer", "label": "Answer"}],
            "content": {"data": {"title": "Which way?"}}});
        let made = json!({"interrupt": "int_1", "option": "answer", "content": {"text": "left,\u{1b}[2J of course"}});
        let resolved =
            json!({"interrupt": "int_1", "outcome": "answered", "option": "answer", "cause": "decision"});
        let expired =
            json!({"interrupt": "int_1", "outcome": "expired", "option": "answer", "cause": "expiry"});
        let by_operator = json!({"id": "operator", "role": "operator", "via": "web"});
        let by_engine = json!({"id": "engine", "role": "engine"});
        for (resolved, actor, line) in [
            (&resolved, by_operator, "Which way? answered “left,\\u{1b}[2J of course”, by operator (web)"),
            (&expired, by_engine, "Which way? expired: Answer, nobody decided in time"),
        ] {
            let mut projector = Projector::new(Paint::narrow(100), "");
            projector.project(&event("interrupt_opened", &opened));
            if resolved["cause"] == "decision" {
                projector.project(&event("decision_made", &made));
            }
            let mut event = event("interrupt_resolved", resolved);
            event.actor = serde_json::from_value(actor).unwrap();
            assert_eq!(projector.project(&event), [format!("  • {line}")]);
        }
    }
}
