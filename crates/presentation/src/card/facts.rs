//! Facts about an interrupt of any kind: the agent that asks, the run and step, the reasons and the deadlines.

use holdshort_protocol::{
    GrantScope, Interrupt, InvolvedPeople, Level, Offer, PeopleLine, Quorum, describe_people, plain,
    withheld_words,
};

use super::fact::{Fact, FactName};
use super::{FormatTime, Setting, effect_beside};

/// Returns the facts about an interrupt. `call` contains the facts about its call: a directory in it is not repeated.
pub(super) fn for_interrupt(interrupt: &Interrupt, setting: Setting<'_>, call: &[Fact]) -> Vec<Fact> {
    let time = setting.time;
    let mut facts = Vec::new();
    if setting.is_rehearsal {
        let text = "none: this is a rehearsal, and the agent's replies are scripted";
        facts.push(Fact::notice(FactName::Model, text));
    }
    // If an agent outside Holdshort asks a single question, the title of the interrupt is already the task.
    if let Some(task) = interrupt.task.as_ref().filter(|task| **task != interrupt.title) {
        facts.push(Fact::new(FactName::Task, plain::line(task)));
    }
    let is_directory =
        |folder: &str| call.iter().any(|fact| fact.name == FactName::Directory && fact.text == folder);
    let folder = interrupt.workspace.as_deref().map(plain::line).filter(|folder| !is_directory(folder));
    facts.extend(folder.map(|folder| Fact::new(FactName::Workspace, folder)));
    facts.push(Fact::new(FactName::AskedBy, interrupt.asker()));
    facts.extend(interrupt.risk.reasons.iter().map(|reason| {
        let (text, source) = (plain::line(&reason.text), plain::line(&reason.source));
        let rule = reason.rule.map(|rule| format!(" rule {}", rule + 1)).unwrap_or_default();
        Fact::new(FactName::Because, format!("{text} ({source}{rule})"))
    }));
    facts.push(match interrupt.risk.level {
        Level::Low => Fact::new(FactName::Risk, "low"),
        Level::Medium => Fact::new(FactName::Risk, "medium"),
        Level::High => Fact::alarm(FactName::Risk, "high"),
        Level::Critical => Fact::alarm(FactName::Risk, "critical"),
    });
    facts.extend(people(interrupt, time));
    facts.extend(deadlines(interrupt, time));
    if let Some(frozen) = &interrupt.frozen {
        facts.push(Fact::notice(FactName::Frozen, plain::line(&frozen.describe(interrupt.origin))));
    }
    if let Some(erased) = &interrupt.erased {
        let text = format!("the content of the run, {} ({})", time(&erased.at), plain::line(&erased.why()));
        facts.push(Fact::notice(FactName::Erased, text));
    }
    if let Some(words) = withheld_words(&interrupt.withheld) {
        facts.push(Fact::notice(FactName::Withheld, plain::line(&words)));
    }
    if let Some(earlier) = &interrupt.supersedes {
        let text = format!("the subject of {} has changed since then", plain::line(earlier));
        let fact = Fact::notice(FactName::Again, text);
        facts.push(Fact { interrupt: Some(earlier.clone()), ..fact });
    }
    facts.push(Fact::new(FactName::AskedAt, time(&interrupt.created_at)));
    facts.push(Fact::new(FactName::Id, plain::line(&interrupt.id)));
    facts
}

/// Returns facts about the approvers, the votes so far, the missing votes, and the reader's permission to decide.
pub fn people(interrupt: &Interrupt, time: FormatTime<'_>) -> Vec<Fact> {
    let lines = InvolvedPeople::from(interrupt).lines(time).into_iter();
    lines
        .map(|(line, text)| match line {
            PeopleLine::Asked => Fact::new(FactName::AskedOf, text),
            PeopleLine::Stage => Fact::new(FactName::Stage, text),
            PeopleLine::StandsIn => Fact::new(FactName::StandsIn, text),
            PeopleLine::Voted => Fact::new(FactName::Vote, text),
            PeopleLine::Missing => Fact::new(FactName::Missing, text),
            PeopleLine::You => Fact::notice(FactName::You, text),
        })
        .collect()
}

/// Returns the deadlines of an open interrupt, and what happens at each of them.
fn deadlines(interrupt: &Interrupt, time: FormatTime<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(at) = &interrupt.expires_at {
        let label = plain::line(option_label(interrupt, &interrupt.on_expiry));
        let effect = interrupt.offer(&interrupt.on_expiry).and_then(|offer| effect_beside(interrupt, offer));
        let does = effect.map(|effect| format!(" ({effect})")).unwrap_or_default();
        facts.push(Fact::new(FactName::Expires, format!("{}, then: {label}{does}", time(at))));
    }
    if let Some(at) = &interrupt.remind_at {
        facts.push(Fact::new(FactName::Reminder, time(at)));
    }
    if let Some(step) = &interrupt.escalates {
        let who = describe_people(&step.approvers, &step.groups, &Quorum::default());
        let how = if step.replace { "decide instead" } else { "are asked too" };
        facts.push(Fact::new(FactName::Escalates, format!("{}, then: {who} {how}", time(&step.at))));
    }
    if let Some(until) = interrupt.you.as_ref().and_then(|you| you.snoozed_until.as_deref()) {
        facts.push(Fact::new(FactName::Snoozed, format!("by you, until {}", time(until))));
    }
    facts
}

/// Returns facts about the calls that a grant for the session would allow. Returns none if no option gives a grant.
pub(super) fn grant(interrupt: &Interrupt) -> Vec<Fact> {
    let is_offered = interrupt.options.iter().any(Offer::gives_grant);
    let grant = interrupt.payload.get("grant").filter(|_| is_offered).and_then(GrantScope::from_value);
    let Some(covered) = grant else { return Vec::new() };
    let past = covered
        .past()
        .map(|past| format!("; it would have covered earlier calls: {past}"))
        .unwrap_or_default();
    let text = format!("{}{past}", covered.sentence(None));
    let refused = covered.refused().map(|refused| format!("refused before: {refused}"));
    std::iter::once(Fact::new(FactName::Grant, text))
        .chain(refused.map(|refused| Fact::new(FactName::NotCovered, refused)))
        .collect()
}

/// Returns the label of the option `id`, or the id if the interrupt has no such option.
pub(super) fn option_label<'a>(interrupt: &'a Interrupt, id: &'a str) -> &'a str {
    interrupt.offer(id).map_or(id, |option| &option.label)
}
