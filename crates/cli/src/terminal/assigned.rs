//! Who is asked, who has decided, who is missing, and whether you may: lines of a card.

use holdshort_protocol::{Assignment, Interrupt, InterruptStatus, Quorum, Represented, Stage, Vote, plain};

use super::time;

/// Label and text of each line. Nothing where one operator decides, as usual.
pub(super) fn lines(interrupt: &Interrupt) -> Vec<(&'static str, String)> {
    let assigned = &interrupt.assignment;
    let mut out = Vec::new();
    if let Some(who) = who(assigned) {
        out.push(("for", who));
    }
    for stage in assigned.stages.iter().enumerate() {
        out.push(("", numbered(stage, assigned.stage)));
    }
    for (i, delegation) in assigned.delegations.iter().enumerate() {
        let until = delegation.until.as_deref().map(|at| format!(", until {}", time::at(at)));
        let text = format!(
            "{} for {}{}",
            plain::line(&delegation.to),
            plain::line(&delegation.from),
            until.unwrap_or_default()
        );
        out.push((if i == 0 { "instead" } else { "" }, text));
    }
    for (i, vote) in interrupt.votes.iter().enumerate() {
        out.push((if i == 0 { "votes" } else { "" }, voted(interrupt, vote)));
    }
    if interrupt.status == InterruptStatus::Open {
        if let Some(needed) = assigned.needed.filter(|needed| *needed > 0) {
            let people = if needed == 1 { "one more person" } else { "more people" };
            let count = if needed == 1 { String::new() } else { format!("{needed} ") };
            out.push(("missing", format!("{count}{people}{}", named(&assigned.missing))));
        }
        if let Some(why) =
            interrupt.you.as_ref().filter(|you| !you.may_decide).and_then(|you| you.why.as_deref())
        {
            out.push(("you", format!("may not decide: {}", plain::line(why))));
        }
        if let Some(other) = interrupt.you.as_ref().and_then(|you| you.in_place_of.as_deref()) {
            out.push(("you", format!("decide in the place of {}", plain::line(other))));
        }
    }
    out
}

/// What comes while nobody decides.
pub(super) fn timed(interrupt: &Interrupt) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if let Some(at) = &interrupt.remind_at {
        out.push(("reminder", time::at(at)));
    }
    if let Some(step) = &interrupt.escalates {
        let who = people(&step.approvers, &step.groups, &Quorum::default());
        let how = if step.replace { "decide instead" } else { "are asked too" };
        out.push(("escalates", format!("{}, then: {who} {how}", time::at(&step.at))));
    }
    if let Some(until) = interrupt.you.as_ref().and_then(|you| you.snoozed_until.as_deref()) {
        out.push(("put off", format!("by you, until {}", time::at(until))));
    }
    out
}

fn who(assigned: &Assignment) -> Option<String> {
    let is_usual = assigned.approvers.is_empty()
        && assigned.groups.is_empty()
        && !assigned.operators
        && assigned.quorum == Quorum::default()
        && assigned.self_approval
        && assigned.stages.is_empty();
    if is_usual {
        return None;
    }
    let own = if assigned.self_approval { "" } else { ", and nobody who started or wrote it" };
    if !assigned.stages.is_empty() {
        return Some(format!("{} stages{own}", assigned.stages.len()));
    }
    let too = if assigned.operators { ", admins and operators too" } else { "" };
    Some(format!("{}{too}{own}", people(&assigned.approvers, &assigned.groups, &assigned.quorum)))
}

fn numbered((at, stage): (usize, &Stage), now: Option<usize>) -> String {
    let name = stage.name.as_deref().map(|name| format!("{}: ", plain::line(name))).unwrap_or_default();
    let mark = match now {
        Some(now) if at < now => "✓",
        Some(now) if at == now => "▸",
        _ => " ",
    };
    format!("{mark} {} {name}{}", at + 1, people(&stage.approvers, &stage.groups, &stage.quorum))
}

fn people(approvers: &[String], groups: &[String], quorum: &Quorum) -> String {
    let names = approvers.iter().map(|name| plain::line(name).into_owned());
    let groups = groups.iter().map(|group| format!("the group {}", plain::line(group)));
    let mut all: Vec<String> = names.chain(groups).collect();
    if all.is_empty() {
        all.push("admins and operators".to_owned());
    }
    let joined = all.join(", ");
    match (quorum.roles, quorum.required) {
        (Represented::All, _) => format!("each of {joined}"),
        (Represented::Any, 0 | 1) => joined,
        (Represented::Any, required) => format!("{required} of {joined}"),
    }
}

fn voted(interrupt: &Interrupt, vote: &Vote) -> String {
    let label = interrupt.options.iter().find(|option| option.id == vote.option);
    let label = label.map_or(vote.option.as_str(), |option| option.label.as_str());
    let other =
        vote.in_place_of.as_deref().map(|who| format!(" for {}", plain::line(who))).unwrap_or_default();
    let text = vote.text.as_deref().filter(|text| !text.is_empty());
    let text = text.map(|text| format!(": “{}”", plain::line(text))).unwrap_or_default();
    format!("{}{other}: {}{text}", plain::line(&vote.by), plain::line(label))
}

fn named(missing: &[String]) -> String {
    if missing.is_empty() { String::new() } else { format!(": {}", plain::line(&missing.join(", "))) }
}
