//! Who is asked, who has decided, who is missing, and whether you may: lines of a card.

use holdshort_protocol::{AskedLine, Interrupt, Involved, Quorum, asked_people};

use super::time;

/// Label and text of each line. Nothing where one operator decides, as usual. A label is not said twice in a row.
pub(super) fn lines(interrupt: &Interrupt) -> Vec<(&'static str, String)> {
    let mut before = None;
    let said = Involved::from(interrupt).lines(time::at).into_iter();
    said.map(|(line, text)| (if before.replace(line) == Some(line) { "" } else { label(line) }, text))
        .collect()
}

const fn label(line: AskedLine) -> &'static str {
    match line {
        AskedLine::Asked => "for",
        AskedLine::Stage => "",
        AskedLine::StandsIn => "instead",
        AskedLine::Voted => "votes",
        AskedLine::Missing => "missing",
        AskedLine::You => "you",
    }
}

/// What comes while nobody decides.
pub(super) fn timed(interrupt: &Interrupt) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    if let Some(at) = &interrupt.remind_at {
        out.push(("reminder", time::at(at)));
    }
    if let Some(step) = &interrupt.escalates {
        let who = asked_people(&step.approvers, &step.groups, &Quorum::default());
        let how = if step.replace { "decide instead" } else { "are asked too" };
        out.push(("escalates", format!("{}, then: {who} {how}", time::at(&step.at))));
    }
    if let Some(until) = interrupt.you.as_ref().and_then(|you| you.snoozed_until.as_deref()) {
        out.push(("put off", format!("by you, until {}", time::at(until))));
    }
    out
}
