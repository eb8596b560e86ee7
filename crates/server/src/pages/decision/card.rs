//! What the page shows of an interrupt: what the runtime knows, apart from what the agent says.

use std::borrow::Cow;

use holdshort_engine::real::REHEARSAL;
use holdshort_protocol::{
    AskedLine, Covered, Interrupt, Involved, JudgedCall, Kind, Level, Outcome, Resolution, Warning, plain,
    told_members, withheld_words,
};
use serde::Serialize;
use serde_json::Value;

use super::subject::{self, Part};

#[derive(Serialize)]
pub(super) struct Card<'a> {
    pub(super) kind: &'static str,
    title: Cow<'a, str>,
    facts: Vec<Fact>,
    warnings: Vec<String>,
    /// Name of the agent that says what is not a fact.
    speaker: Cow<'a, str>,
    said: &'a str,
    parts: Vec<Part<'a>>,
    end: Option<End<'a>>,
    /// What was carried out of it, where that is known.
    pub(super) became: Option<&'static str>,
}

/// Something that the runtime knows.
#[derive(Serialize)]
pub(super) struct Fact {
    label: &'static str,
    text: String,
    /// `notice` where it should not be missed.
    tone: &'static str,
}

/// How it ended.
#[derive(Serialize)]
struct End<'a> {
    outcome: &'static str,
    option: Option<Cow<'a, str>>,
    by: String,
    /// Sentence that counts the open calls that it released as well.
    also: Option<String>,
    /// For programs, and for people.
    at: &'a str,
    when: String,
    text: Option<&'a str>,
    /// An answer that is data, member by member.
    answer: Vec<Answered>,
    /// Of an agent of another framework: whether its approval was used. Only of what is used up, a call, or was used.
    approval: Option<String>,
}

/// One member of an answer; without a label the whole of it.
#[derive(Serialize)]
struct Answered {
    label: String,
    text: String,
}

impl Fact {
    pub(super) fn new(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), tone: "" }
    }

    pub(super) fn notice(label: &'static str, text: impl Into<String>) -> Self {
        Self { label, text: text.into(), tone: "notice" }
    }
}

impl<'a> Card<'a> {
    /// `model`: the run's. `judged`: the call of an agent that runs elsewhere, where it is about one.
    pub(super) fn of(interrupt: &'a Interrupt, judged: Option<&'a JudgedCall>, model: Option<&str>) -> Self {
        let said = interrupt.message.trim();
        let context = interrupt.payload.get("context").and_then(Value::as_str).unwrap_or_default();
        let (known, parts) = subject::of(interrupt, judged);
        Self {
            kind: kind(interrupt.kind),
            title: interrupt.plain_title(),
            facts: rehearsal(model)
                .into_iter()
                .chain(facts(interrupt))
                .chain(known)
                .chain(grant(interrupt))
                .collect(),
            warnings: interrupt.warnings.iter().map(Warning::words).collect(),
            speaker: plain::line(speaker(interrupt)),
            said: if said == context.trim() { "" } else { said },
            parts,
            end: interrupt.resolution.as_ref().map(|resolution| end(interrupt, resolution)),
            became: None,
        }
    }
}

impl Card<'_> {
    /// As plain text, part by part, with no part for how it ended; and whether something is cut.
    pub(super) fn text(&self) -> (Vec<String>, bool) {
        let mut parts = vec![format!("{}: {}", self.kind, self.title)];
        parts.extend(self.warnings.iter().map(|warning| format!("Look twice: {warning}")));
        let facts: Vec<String> =
            self.facts.iter().map(|fact| format!("{}: {}", fact.label, fact.text)).collect();
        parts.push(facts.join("\n"));
        if !self.said.is_empty() {
            parts.push(format!("In the words of {}:\n{}", self.speaker, self.said));
        }
        parts.extend(self.parts.iter().map(Part::text));
        (parts, self.parts.iter().any(Part::is_cut))
    }
}

fn rehearsal(model: Option<&str>) -> Option<Fact> {
    let text = "none: this is a rehearsal, and the agent's words are scripted";
    (model == Some(REHEARSAL)).then(|| Fact::notice("Model", text))
}

/// A time as people read it: `2026-01-31 09:30:00 UTC`.
pub(super) fn time(at: &str) -> String {
    let parts = at.split_once('T').and_then(|(day, time)| Some((day, time.strip_suffix('Z')?.get(..8)?)));
    parts.map_or_else(|| at.to_owned(), |(day, time)| format!("{day} {time} UTC"))
}

fn facts(interrupt: &Interrupt) -> Vec<Fact> {
    let who = interrupt.asker();
    let mut facts = Vec::new();
    // Of a single question of an agent elsewhere it is the title.
    if let Some(task) = interrupt.task.as_ref().filter(|task| **task != interrupt.title) {
        facts.push(Fact::new("Task", plain::line(task)));
    }
    if let Some(frozen) = &interrupt.frozen {
        facts.push(Fact::notice("Frozen", plain::line(&frozen.words(interrupt.origin))));
    }
    if let Some(erased) = &interrupt.erased {
        let words = format!("what its run said, {} ({})", time(&erased.at), plain::line(&erased.why()));
        facts.push(Fact::notice("Erased", words));
    }
    if let Some(words) = withheld_words(&interrupt.withheld) {
        facts.push(Fact::notice("Withheld", plain::line(&words)));
    }
    let folder = interrupt.workspace.as_deref();
    if let Some(folder) = folder.filter(|folder| interrupt.payload.get("cwd") != Some(&Value::from(*folder)))
    {
        facts.push(Fact::new("Workspace", plain::line(folder)));
    }
    facts.push(Fact::new("Asked by", who));
    for reason in &interrupt.risk.reasons {
        let text = plain::line(&reason.text);
        let source = plain::line(&reason.source);
        facts.push(Fact::new(
            "Because",
            match reason.rule {
                Some(rule) => format!("{text} ({source} rule {})", rule + 1),
                None => format!("{text} ({source})"),
            },
        ));
    }
    facts.push(match interrupt.risk.level {
        Level::Low => Fact::new("Risk", "low"),
        Level::Medium => Fact::new("Risk", "medium"),
        Level::High => Fact::notice("Risk", "high"),
        Level::Critical => Fact::notice("Risk", "critical"),
    });
    if let Some(at) = &interrupt.expires_at {
        let option = option_label(interrupt, &interrupt.on_expiry);
        facts.push(Fact::new("Expires", format!("{}, then: {}", time(at), plain::line(option))));
    }
    if let Some(earlier) = &interrupt.supersedes {
        facts.push(Fact::notice("Again", format!("what {earlier} was about has changed since")));
    }
    facts.push(Fact::new("Asked at", time(&interrupt.created_at)));
    facts.extend(involved(interrupt));
    facts
}

/// Who is asked, who has decided, who is missing, and whether whoever reads it may.
fn involved(interrupt: &Interrupt) -> Vec<Fact> {
    let lines = Involved::from(interrupt).lines(time).into_iter();
    lines
        .map(|(line, text)| match line {
            AskedLine::You => Fact::notice(line.label(), text),
            _ => Fact::new(line.label(), text),
        })
        .collect()
}

/// What allowing it for the session covers.
fn grant(interrupt: &Interrupt) -> Option<Fact> {
    let is_offered = interrupt.options.iter().any(|option| option.effect == "grant");
    let covered = interrupt.payload.get("grant").filter(|_| is_offered).and_then(Covered::of)?;
    let past =
        covered.past().map(|past| format!("; before, it would have covered {past}")).unwrap_or_default();
    let refused = covered.refused().map(|refused| format!("; not covered, refused before: {refused}"));
    let text = format!("{}{past}{}", covered.sentence(None), refused.unwrap_or_default());
    Some(Fact::new("For the session", text))
}

/// Of these kinds the runtime writes the message.
fn speaker(interrupt: &Interrupt) -> &str {
    match interrupt.kind {
        Kind::Error | Kind::UnknownOutcome | Kind::Continuation => "Holdshort",
        _ => interrupt.agent.as_deref().unwrap_or("The agent"),
    }
}

fn end<'a>(interrupt: &'a Interrupt, resolution: &'a Resolution) -> End<'a> {
    End {
        outcome: match resolution.outcome {
            Outcome::Approved => "Approved",
            Outcome::Rejected => "Rejected",
            Outcome::Answered => "Answered",
            Outcome::Expired => "Expired",
            Outcome::Cancelled => "Cancelled",
            Outcome::Superseded => "Superseded",
        },
        option: resolution.option.as_deref().map(|id| plain::line(option_label(interrupt, id))),
        by: resolution.who(),
        also: resolution.also_words(),
        at: &resolution.at,
        when: time(&resolution.at),
        text: resolution.text.as_deref().filter(|text| !text.is_empty()),
        answer: answer(interrupt, resolution),
        approval: interrupt.approval_words(),
    }
}

/// The data of an answer. What else was edited is shown with what became of it.
fn answer(interrupt: &Interrupt, resolution: &Resolution) -> Vec<Answered> {
    if interrupt.kind != Kind::Question || resolution.edit.is_null() {
        return Vec::new();
    }
    let members = told_members(interrupt.response_schema.as_ref(), &resolution.edit).into_iter();
    members.map(|(label, text)| Answered { label, text }).collect()
}

fn option_label<'a>(interrupt: &'a Interrupt, id: &'a str) -> &'a str {
    interrupt.options.iter().find(|option| option.id == id).map_or(id, |option| &option.label)
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolApproval => "A call to allow",
        Kind::PlanApproval => "A plan to approve",
        Kind::Checkpoint => "A checkpoint",
        Kind::Error => "Something failed",
        Kind::Question => "A question",
        Kind::Choice => "A choice",
        Kind::Turn => "Your turn",
        Kind::Escalation => "An escalation",
        Kind::Review => "A review before release",
        Kind::Continuation => "Stopped short",
        Kind::ClientCall => "A call for the client",
        Kind::UnknownOutcome => "Did it happen?",
    }
}
