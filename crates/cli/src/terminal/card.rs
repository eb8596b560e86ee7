//! The card: what stopped, why, and what can be decided.
//!
//! What the runtime knows is printed plain. What an agent says is printed behind a bar, escaped and capped.
//! Look-alike letters are printed as their code points.

use holdshort_protocol::{
    Before, CommandEffect, Covered, FetchCard, Interrupt, InterruptStatus, JudgedCall, Kind, Level,
    LookAlikes, Offer, Origin, Outcome, Script, TrialCard, plain, told_lines, withheld_words,
};
use serde_json::Value;

use super::assigned;
use super::diff;
use super::earlier;
use super::paint::Paint;
use super::prompt::also;
use super::quote::{Cap, quote};
use super::time;
use crate::called::holdshort;

/// Lines of one part of a card before it is cut; `v` shows the rest.
const PART: Cap = Cap::Lines(60);

#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub paint: Paint,
    pub uncut: bool,
    /// Nothing around it tells of its run.
    pub alone: bool,
    /// What the agent said just above: not said again.
    pub said: &'a str,
}

pub(crate) fn render(interrupt: &Interrupt, view: View<'_>) -> Vec<String> {
    let paint = view.paint;
    let interrupt = &LookAlikes::written(interrupt);
    let cap = if view.uncut { Cap::None } else { PART };
    let mut out = vec![paint.rule(&format!("{}: {}", holding(interrupt), kind(interrupt.kind)))];
    if view.alone {
        out.extend(of_run(interrupt, paint));
    }
    out.extend(facts(interrupt, paint));
    out.push(String::new());
    let said = interrupt.message.trim();
    let context = interrupt.payload.get("context").and_then(Value::as_str).unwrap_or_default();
    if !said.is_empty() && said != view.said.trim() && said != context.trim() {
        out.extend(quote(said, &speaker(interrupt), cap, paint));
        out.push(String::new());
    }
    for part in [subject(interrupt, view.said, cap, paint), session(interrupt, paint)] {
        if !part.is_empty() {
            out.extend(part);
            out.push(String::new());
        }
    }
    out.extend(warnings(interrupt, paint));
    out
}

/// Number of lines that a card cuts, and that `v` shows. Does not count `Interrupt::unseen`, which the server left out.
pub(crate) fn cut_lines(interrupt: &Interrupt, view: View<'_>) -> usize {
    let interrupt = &LookAlikes::written(interrupt);
    let paint = view.paint;
    let lines = |cap| {
        let said = quote(interrupt.message.trim(), &speaker(interrupt), cap, paint);
        [said, subject(interrupt, view.said, cap, paint)].concat()
    };
    let (cut, whole) = (lines(PART), lines(Cap::None));
    if cut == whole {
        return 0;
    }
    // The lines that say `… 9 more lines`.
    let marks = cut.iter().filter(|line| !whole.contains(line)).count();
    (whole.len() + marks).saturating_sub(cut.len()).max(1)
}

/// The options as the server lists them, apart from the choices of a question and numbered after them. Where a number may
/// be an answer options go by their names, and choices by `#1`.
pub(crate) fn options(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let interrupt = &LookAlikes::written(interrupt);
    let mut out = earlier::lines(interrupt, paint);
    let mut number = 0;
    for choice in interrupt.suggestions() {
        number += 1;
        let mark = if interrupt.takes_a_number() { format!("#{number}") } else { number.to_string() };
        out.extend(
            paint.fold(&format!("  {} {}", paint.bold(&format!("{mark:>2}")), plain::line(choice)), 5),
        );
    }
    let is_suggested = number > 0;
    if is_suggested {
        out.push(String::new());
    }
    for option in &interrupt.options {
        number += 1;
        // Below answers that can be chosen, `Answer` would read as one more.
        let label = if is_suggested && option.id == "answer" && interrupt.origin == Origin::Native {
            "Your own answer".into()
        } else {
            plain::line(&option.label)
        };
        let does = does(interrupt, option, paint);
        let mark = if interrupt.takes_a_number() {
            plain::line(&option.id).into_owned()
        } else {
            format!("{number:>2}")
        };
        out.extend(paint.fold(&format!("  {} {label}{does}", paint.bold(&mark)), 5));
    }
    out
}

/// What an option does, beside a label that an agent of another framework gave it.
pub(crate) fn does(interrupt: &Interrupt, option: &Offer, paint: Paint) -> String {
    match interrupt.origin {
        Origin::External => paint.dim(&format!(" ({})", plain::line(option.does()))),
        Origin::Native => String::new(),
    }
}

/// What allowing it for the session covers.
fn session(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let is_offered = interrupt.options.iter().any(|option| option.effect == "grant");
    let grant = interrupt.payload.get("grant").filter(|_| is_offered).and_then(Covered::of);
    let Some(grant) = grant else { return Vec::new() };
    let here = interrupt.payload.get("workspace").and_then(Value::as_str);
    let past = grant.past().map(|past| format!("; before, it would have covered {past}")).unwrap_or_default();
    let mut lines = paint.fold(&format!("  for the session: {}{past}", grant.sentence(here)), 4);
    if let Some(refused) = grant.refused() {
        lines.extend(paint.fold(&format!("  not covered, refused before: {refused}"), 4));
    }
    lines.extend(also::list(&interrupt.also_covers, paint));
    lines
}

/// The data of an answer, a line for each member.
pub(crate) fn answered(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let edit = interrupt.resolution.as_ref().map(|resolution| &resolution.edit);
    let Some(edit) = edit.filter(|edit| interrupt.kind == Kind::Question && !edit.is_null()) else {
        return Vec::new();
    };
    let lines = told_lines(interrupt.response_schema.as_ref(), edit);
    lines.iter().flat_map(|line| paint.fold(&format!("    {}", plain::line(line)), 6)).collect()
}

/// How it ended, for those that are resolved.
pub(crate) fn resolution(interrupt: &Interrupt, paint: Paint) -> Option<String> {
    let resolution = interrupt.resolution.as_ref()?;
    let option = resolution.option.as_deref().unwrap_or("-");
    let label = interrupt.offer(option).map_or(option, |each| &each.label);
    let mut text = format!("{}: {} ({})", outcome(resolution.outcome), plain::line(label), resolution.who());
    if let Some(words) = &resolution.text {
        text = format!("{text}: “{}”", plain::line(words));
    }
    Some(paint.green(&text))
}

pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Rejected => "rejected",
        Outcome::Answered => "answered",
        Outcome::Expired => "expired",
        Outcome::Cancelled => "cancelled",
        Outcome::Superseded => "superseded",
    }
}

/// How to take back what was allowed for the session, if it was.
pub(crate) fn way_back(interrupt: &Interrupt, words: &str) -> Option<String> {
    let effect = interrupt.resolution.as_ref()?.effect.as_deref()?;
    (effect == "grant")
        .then(|| format!("to take it back: {} grants {}{words}", holdshort(), interrupt.session))
}

fn holding(interrupt: &Interrupt) -> &'static str {
    match interrupt.status {
        InterruptStatus::Open => "Holding short",
        InterruptStatus::Resolved => "Held short",
    }
}

pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolApproval => "a call to allow",
        Kind::PlanApproval => "a plan to approve",
        Kind::Checkpoint => "a checkpoint",
        Kind::Error => "something failed",
        Kind::Question => "a question",
        Kind::Choice => "a choice",
        Kind::Turn => "your turn",
        Kind::Escalation => "an escalation",
        Kind::Review => "a review before release",
        Kind::Continuation => "stopped short",
        Kind::ClientCall => "a call for the client",
        Kind::UnknownOutcome => "did it happen?",
    }
}

/// What its run was asked to do, and where.
fn of_run(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    // Of a single question of an agent elsewhere it is the title.
    let task = interrupt.task.as_deref().filter(|task| *task != interrupt.title);
    let lines = [("task", task), ("workspace", interrupt.workspace.as_deref())];
    let line = |(label, text): (&str, Option<&str>)| text.map(|text| fact(label, &plain::line(text), paint));
    lines.into_iter().filter_map(line).flatten().collect()
}

/// What the runtime knows about who, where and why.
fn facts(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let who = interrupt.asker();
    let mut out = fact("asked by", &who, paint);
    for (i, reason) in interrupt.risk.reasons.iter().enumerate() {
        let text = plain::line(&reason.text).into_owned();
        let source = match reason.rule {
            Some(rule) => format!("{} rule {}", plain::line(&reason.source), rule + 1),
            None => plain::line(&reason.source).into_owned(),
        };
        let label = if i == 0 { "because" } else { "" };
        out.extend(fact(label, &format!("{text} {}", paint.dim(&format!("({source})"))), paint));
    }
    let level = match interrupt.risk.level {
        Level::Low => "low".to_owned(),
        Level::Medium => paint.yellow("medium"),
        Level::High => paint.red("high"),
        Level::Critical => paint.red("CRITICAL"),
    };
    out.extend(fact("risk", &level, paint));
    out.extend(assigned(interrupt, paint));
    if let Some(at) = &interrupt.expires_at {
        let text = format!("{}, then: {}", time::at(at), plain::line(&interrupt.on_expiry));
        out.extend(fact("expires", &text, paint));
    }
    for (label, text) in assigned::timed(interrupt) {
        out.extend(fact(label, &text, paint));
    }
    if let Some(frozen) = &interrupt.frozen {
        let words = plain::line(&frozen.words(interrupt.origin)).into_owned();
        out.extend(fact("frozen", &paint.yellow(&words), paint));
    }
    if let Some(erased) = &interrupt.erased {
        let words = format!("what its run said, {} ({})", time::ago(&erased.at), erased.why());
        out.extend(fact("erased", &paint.yellow(&plain::line(&words)), paint));
    }
    if let Some(words) = withheld_words(&interrupt.withheld) {
        out.extend(fact("withheld", &paint.yellow(&plain::line(&words)), paint));
    }
    if let Some(earlier) = &interrupt.supersedes {
        out.extend(fact(
            "again",
            &format!("what {} was about has changed since", plain::line(earlier)),
            paint,
        ));
    }
    out.extend(fact("id", &paint.dim(&plain::line(&interrupt.id)), paint));
    out
}

/// Who is asked, and how they have decided so far.
pub(crate) fn assigned(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let lines = assigned::lines(interrupt).into_iter();
    lines.flat_map(|(label, text)| fact(label, &text, paint)).collect()
}

fn fact(label: &str, text: &str, paint: Paint) -> Vec<String> {
    paint.fold(&format!("  {} {text}", paint.dim(&format!("{label:9}"))), 12)
}

fn speaker(interrupt: &Interrupt) -> String {
    let name = interrupt.agent.as_deref().unwrap_or("agent");
    // Of these kinds the runtime writes the message.
    match interrupt.kind {
        Kind::Error | Kind::UnknownOutcome | Kind::Continuation => " ".to_owned(),
        _ => format!("  {}", plain::line(name)),
    }
}

/// What it is about. `said`: what stands just above.
fn subject(interrupt: &Interrupt, said: &str, cap: Cap, paint: Paint) -> Vec<String> {
    let payload = &interrupt.payload;
    let string = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(judged) = JudgedCall::of(interrupt) {
        return judged_call(interrupt, judged, cap, paint);
    }
    if interrupt.origin == Origin::External {
        return external(interrupt, cap, paint);
    }
    match interrupt.kind {
        Kind::ToolApproval | Kind::UnknownOutcome => call(interrupt, cap, paint),
        Kind::PlanApproval => plan(payload, cap, paint),
        Kind::Question => {
            let lead = format!("  {}", plain::line(string("asker")));
            let mut out = quote(string("question"), &lead, cap, paint);
            if let Some(context) =
                payload.get("context").and_then(Value::as_str).filter(|text| !text.is_empty())
            {
                let indent = " ".repeat(console::measure_text_width(&lead));
                out.push(format!("{indent} {}", paint.dim("│")));
                out.extend(quote(context, &indent, cap, paint));
            }
            out
        }
        Kind::Review => {
            let mut out = vec![format!("  {}", paint.bold(&plain::line(string("title")))), String::new()];
            // What a tool holds back is released as it was shown, so all of it is.
            let content_cap = if payload.get("digest").is_some() { Cap::None } else { cap };
            out.extend(quote(string("content"), " ", content_cap, paint));
            if let Some(findings) = payload.get("findings").filter(|findings| !findings.is_null()) {
                out.push(String::new());
                out.extend(quote(&listed(findings), "  findings", cap, paint));
            }
            out
        }
        Kind::Checkpoint => {
            let mut out = vec![format!("  {}", paint.bold(&plain::line(&interrupt.title)))];
            for key in ["input", "output", "results"] {
                if let Some(value) = payload.get(key).filter(|value| !value.is_null()) {
                    out.push(String::new());
                    out.extend(quote(&exact(value), &format!("  {key}"), cap, paint));
                }
            }
            out
        }
        Kind::Choice if payload.get("proposals").is_some() => {
            let mut out = vec![format!("  {}", paint.bold(&plain::line(&interrupt.title)))];
            let proposals = payload.get("proposals").and_then(Value::as_array);
            proposals.into_iter().flatten().for_each(|each| out.extend(proposal(each, cap, paint)));
            out
        }
        Kind::Turn => {
            let mut out = vec![format!("  {}", paint.bold(&plain::line(&interrupt.title)))];
            if !string("output").is_empty() && string("output").trim() != said.trim() {
                out.push(String::new());
                out.extend(quote(string("output"), "  output", cap, paint));
            }
            out
        }
        Kind::Error | Kind::Continuation => {
            let mut out = vec![format!("  {}", paint.bold(&plain::line(&interrupt.title)))];
            if !string("output").is_empty() {
                out.push(String::new());
                out.extend(quote(string("output"), "  reply", cap, paint));
            }
            out
        }
        Kind::Choice | Kind::Escalation | Kind::ClientCall => external(interrupt, cap, paint),
    }
}

/// A call of ours: a command, a change of a file, or whatever its arguments are.
fn call(interrupt: &Interrupt, cap: Cap, paint: Paint) -> Vec<String> {
    let payload = &interrupt.payload;
    let tool = payload.get("tool").and_then(Value::as_str).unwrap_or_default();
    let mut out = fact("tool", &paint.bold(&plain::line(tool)), paint);
    if interrupt.kind == Kind::UnknownOutcome {
        out.insert(0, format!("  {}", plain::line(&interrupt.title)));
    }
    for before in Before::of(payload) {
        let state =
            if before.is_missing() { paint.yellow(before.state()) } else { before.state().to_owned() };
        out.extend(fact("after", &format!("{}, which {state}", plain::line(before.title)), paint));
    }
    let command =
        payload.get("command").or_else(|| payload.pointer("/arguments/command")).and_then(Value::as_str);
    if let Some(command) = command {
        out.extend(run_of(command, interrupt, cap, paint));
    } else if let Some(diff) = diff::of_card(interrupt, cap, paint) {
        out.push(String::new());
        out.extend(diff.into_iter().map(|line| format!("  {line}")));
    } else if let Some(fetch) = FetchCard::of(payload) {
        for (label, text) in fetch.parts() {
            let text = match label {
                "host" => paint.bold(&text),
                "by" if fetch.is_open() => paint.yellow(&text),
                _ => text,
            };
            out.extend(fact(label, &text, paint));
        }
    } else if let Some(trial) = TrialCard::of(payload) {
        out.push(String::new());
        out.extend(tried(trial, cap, paint));
        out.extend(note(interrupt, paint));
    } else {
        let arguments = payload.get("arguments").unwrap_or(&Value::Null);
        out.extend(quote(&exact(arguments), "  arguments", cap, paint));
    }
    out
}

fn run_of(command: &str, interrupt: &Interrupt, cap: Cap, paint: Paint) -> Vec<String> {
    let payload = &interrupt.payload;
    let string = |key: &str| payload.get(key).and_then(Value::as_str);
    let mut out = Vec::new();
    if let Some(cwd) = string("cwd") {
        out.extend(fact("in", &plain::line(cwd), paint));
    }
    if let Some(CommandEffect { text, is_unusual }) = &interrupt.command_effect {
        let text = plain::line(text);
        out.extend(fact("it may", &if *is_unusual { paint.yellow(&text) } else { text.into_owned() }, paint));
    }
    let sandbox = match string("sandbox") {
        Some("full") => "full: beside that it can only use a temporary folder of its own".to_owned(),
        Some("partial") => paint.yellow("partial: this machine can not confine it fully"),
        Some(_) => paint.red("none: it can do whatever you can do"),
        None => String::new(),
    };
    if !sandbox.is_empty() {
        out.extend(fact("sandbox", &sandbox, paint));
    }
    match payload.get("network").and_then(Value::as_bool) {
        Some(true) => out.extend(fact("network", &paint.yellow("yes"), paint)),
        Some(false) if string("sandbox") == Some("full") => out.extend(fact("network", "no", paint)),
        _ => {}
    }
    if let Some(seconds) = payload.get("timeout_s").and_then(Value::as_f64) {
        out.extend(fact("at most", &format!("{seconds} s"), paint));
    }
    out.push(String::new());
    let lines: Vec<&str> = command.trim_end_matches('\n').split('\n').collect();
    for (i, line) in lines.iter().enumerate() {
        let lead = if i == 0 { "  $ " } else { "    " };
        out.push(format!("{}{}", paint.cyan(lead), paint.bold(&plain::line(line))));
    }
    if let Cap::Lines(cap) = cap
        && lines.len() > cap
    {
        out.push(paint.yellow("    a long one: read it to its end"));
    }
    if let Some(trial) = TrialCard::of(payload) {
        out.push(String::new());
        out.extend(tried(trial, cap, paint));
    } else if let Some(why) = TrialCard::missing(payload) {
        out.push(String::new());
        let why = format!("  It could not be tried before you decide: {}", plain::line(why));
        out.extend(paint.fold(&paint.yellow(&why), 2));
    }
    for script in Script::all(payload) {
        out.push(String::new());
        let more = if script.truncated { ", its beginning" } else { "" };
        out.push(format!("  {}{more}", paint.bold(&plain::line(script.path))));
        out.extend(quote(script.text.unwrap_or("(no text)"), "  ", cap, paint));
    }
    out.extend(note(interrupt, paint));
    out
}

/// What a decision means here, after an empty line; nothing once there is one.
fn note(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let note = interrupt.payload.get("note").and_then(Value::as_str);
    let Some(note) = note.filter(|_| interrupt.resolution.is_none()) else { return Vec::new() };
    let lines =
        textwrap::wrap(note, paint.width - 4).into_iter().map(|line| format!("  {}", paint.dim(&line)));
    std::iter::once(String::new()).chain(lines).collect()
}

/// What the command did where it could harm nothing: each path, and what it printed.
fn tried(trial: TrialCard<'_>, cap: Cap, paint: Paint) -> Vec<String> {
    let head = trial.head().to_lowercase();
    let mut out = paint.fold(&format!("  {}", paint.bold(&format!("{head}: {}", trial.words()))), 4);
    out.extend(trial.git().map(|words| format!("  {}", plain::line(words))));
    for change in trial.changes() {
        let line = format!("  {}  {}", plain::line(change.path()), paint.dim(&plain::line(&change.words())));
        out.push(match (change.is_deletion(), change.is_outside()) {
            (true, _) => paint.red(&line),
            (false, true) => paint.yellow(&line),
            (false, false) => line,
        });
        if let Some(diff) = change.diff().filter(|diff| !diff.hunks.is_empty()) {
            out.extend(diff::hunks(&diff, cap, paint).into_iter().map(|line| format!("    {line}")));
        }
    }
    for line in trial.left() {
        out.extend(paint.fold(&paint.yellow(&format!("  {}", plain::line(&line))), 4));
    }
    out.extend(trial.unseen().map(|unseen| format!("  {}", paint.red(&unseen))));
    if !trial.output().trim().is_empty() {
        out.push(String::new());
        out.extend(quote(trial.output(), "  output", cap, paint));
    }
    out
}

fn plan(payload: &Value, cap: Cap, paint: Paint) -> Vec<String> {
    let subtasks = payload.pointer("/plan/subtasks").and_then(Value::as_array);
    let mut out = Vec::new();
    for subtask in subtasks.into_iter().flatten() {
        let string = |key: &str| subtask.get(key).and_then(Value::as_str).unwrap_or_default();
        let needs = subtask.get("depends_on").and_then(Value::as_array);
        let needs: Vec<_> = needs.into_iter().flatten().filter_map(Value::as_str).map(plain::line).collect();
        let after = if needs.is_empty() { String::new() } else { format!(", after {}", needs.join(", ")) };
        let by = if string("agent").is_empty() {
            String::new()
        } else {
            format!(" by {}", plain::line(string("agent")))
        };
        let head = format!("{}{by}{after}", plain::line(string("id")));
        out.extend(quote(string("description"), "   •", cap, paint));
        out.extend(quote(&head, "    ", cap, paint).into_iter().map(|line| paint.dim(&line)));
    }
    if out.is_empty() {
        out = quote(&exact(payload), "  plan", cap, paint);
    }
    out
}

/// A way to go, with what speaks for it and against it.
fn proposal(proposal: &Value, cap: Cap, paint: Paint) -> Vec<String> {
    let string = |key: &str| proposal.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut out = quote(string("title"), "   •", cap, paint);
    out.extend(quote(string("description"), "    ", cap, paint));
    for (key, mark) in [("pros", "+"), ("cons", "-")] {
        let texts =
            proposal.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        texts.for_each(|text| out.extend(quote(&format!("{mark} {text}"), "    ", cap, paint)));
    }
    out
}

/// A call that an agent makes where it runs: its title, the call as one of ours, what the agent says beside it.
fn judged_call(interrupt: &Interrupt, judged: JudgedCall, cap: Cap, paint: Paint) -> Vec<String> {
    let mut out = quote(&interrupt.plain_title(), &speaker(interrupt), cap, paint);
    out.push(String::new());
    let as_ours = Interrupt { payload: judged.call, ..interrupt.clone() };
    out.extend(call(&as_ours, cap, paint));
    out.extend(fact("runs", &paint.yellow(JudgedCall::RUNS), paint));
    for (label, part) in [("  with   ", &judged.more), ("  details", &judged.beside)] {
        if part.as_object().is_some_and(|part| !part.is_empty()) {
            out.extend(quote(&exact(part), label, cap, paint));
        }
    }
    out
}

/// What an agent of another framework asks about: all of it in its words.
fn external(interrupt: &Interrupt, cap: Cap, paint: Paint) -> Vec<String> {
    let mut out = quote(&interrupt.plain_title(), "  title  ", cap, paint);
    let payload = &interrupt.payload;
    if !payload.is_null() && payload.as_object().is_none_or(|object| !object.is_empty()) {
        out.extend(quote(&exact(payload), "  details", cap, paint));
    }
    // Of an edit the server says what does not fit; an answer has nothing to go by but this.
    if let Some(schema) = interrupt.response_schema.as_ref().filter(|_| interrupt.kind == Kind::Question) {
        out.extend(quote(&readable(schema), "  answer that fits", cap, paint));
    }
    out
}

/// A text as it is, other data as JSON.
pub(crate) fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Data as JSON, written exactly; a text is prose.
fn exact(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => plain::lines(&readable(other)).into_owned(),
    }
}

/// Texts as a line each, other data as JSON.
fn listed(value: &Value) -> String {
    let texts =
        value.as_array().and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    match texts {
        Some(texts) => texts.iter().map(|text| format!("- {text}")).collect::<Vec<_>>().join("\n"),
        None => exact(value),
    }
}

/// What the eye would miss.
fn warnings(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let told = interrupt.warnings.iter().map(|warning| format!("! {}", plain::line(&warning.words())));
    let mut out: Vec<String> =
        told.flat_map(|text| paint.fold(&format!("  {}", paint.red(&text)), 4)).collect();
    if !out.is_empty() {
        out.push(String::new());
    }
    out
}

#[cfg(test)]
mod tests;
