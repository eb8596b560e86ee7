//! Card in the terminal: prints the data of `holdshort_presentation::card` and the list of options.
//!
//! Facts that Holdshort knows are printed as plain text. Text from an agent is escaped, truncated and printed behind a
//! vertical bar. Look-alike letters of other scripts are printed as their code points.

use holdshort_presentation::card::{
    self, Card, End, Fact, FactName, Part, Proposal, Setting, Subtask, TitleBy, Tone, effect_beside, readable,
};
use holdshort_protocol::{
    InspectedCall, Interrupt, InterruptStatus, Kind, LookAlikes, Offer, Origin, Outcome, plain,
};

use super::diff;
use super::earlier_answers;
use super::paint::Paint;
use super::prompt::also;
use super::quote::{Cap, quote};
use super::time;
use crate::program_name::holdshort;

/// Maximum number of lines that are printed of one part of a card. The key `v` prints the whole card.
const PART: Cap = Cap::Lines(60);
/// Width of the label column of a card, in characters. A longer label is printed with a colon and without the column.
const LABEL: usize = 9;

#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub paint: Paint,
    pub uncut: bool,
    /// True if the card is printed without the other output of a run. The task and the workspace are then printed on
    /// the card.
    pub alone: bool,
    /// Message of the agent that is already printed above the card. The card omits this message.
    pub said: &'a str,
}

pub(crate) fn render(interrupt: &Interrupt, view: View<'_>) -> Vec<String> {
    let paint = view.paint;
    let interrupt = &LookAlikes::written(interrupt);
    let judged = InspectedCall::from_interrupt(interrupt);
    let card = Card::from_interrupt(interrupt, setting(judged.as_ref()));
    let cap = if view.uncut { Cap::None } else { PART };
    let mut out = vec![paint.rule(&format!("{}: {}", holding(interrupt), lower(card.kind)))];
    // Omits facts that the screen already shows: the task and the workspace (around the card), and the time of the
    // request (in the list of events).
    let is_shown = |fact: &&Fact| match fact.name {
        FactName::Task | FactName::Workspace => view.alone,
        FactName::AskedAt => false,
        _ => true,
    };
    out.extend(facts(card.facts.iter().filter(is_shown), paint));
    out.push(String::new());
    let mut grant = facts(&card.grant, paint);
    if !grant.is_empty() {
        grant.extend(also::list(&interrupt.also_covers, paint));
    }
    let warnings = card
        .warnings
        .iter()
        .flat_map(|text| paint.fold(&format!("  {}", paint.red(&format!("! {text}"))), 4));
    let [said, subject, schema] = capped_sections(&card, interrupt, view, cap);
    for section in [said, subject, schema, grant, warnings.collect()] {
        if !section.is_empty() {
            out.extend(section);
            out.push(String::new());
        }
    }
    out
}

/// Returns the number of lines that the terminal omits from an interrupt's card, and that the key `v` shows. Parts that
/// the server has already omitted (`Interrupt::unseen`) are not counted.
pub(crate) fn cut_lines(interrupt: &Interrupt, view: View<'_>) -> usize {
    let interrupt = &LookAlikes::written(interrupt);
    let judged = InspectedCall::from_interrupt(interrupt);
    let card = Card::from_interrupt(interrupt, setting(judged.as_ref()));
    let lines = |cap| capped_sections(&card, interrupt, view, cap).concat();
    let (cut, whole) = (lines(PART), lines(Cap::None));
    if cut == whole {
        return 0;
    }
    // Counts marker lines such as `… 9 more lines`, which only the cut card contains.
    let marks = cut.iter().filter(|line| !whole.contains(line)).count();
    (whole.len() + marks).saturating_sub(cut.len()).max(1)
}

const fn setting(judged: Option<&InspectedCall>) -> Setting<'_> {
    Setting { judged, is_rehearsal: false, time: &time::at }
}

/// Lists the suggested answers and the options of an interrupt with their numbers. If a number can be the answer,
/// options have names instead of numbers, and suggested answers have numbers such as `#1`.
pub(crate) fn options(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let interrupt = &LookAlikes::written(interrupt);
    let mut out = earlier_answers::lines(interrupt, paint);
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
        // Below suggested answers, the label `Answer` would look like a further suggestion.
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

/// Returns the effect of an option, which is printed after the label of the option. The result is empty if the label
/// says enough.
pub(crate) fn does(interrupt: &Interrupt, option: &Offer, paint: Paint) -> String {
    effect_beside(interrupt, option).map(|effect| paint.dim(&format!(" ({effect})"))).unwrap_or_default()
}

/// Formats the answer to a resolved interrupt, with one line for each field of a structured answer.
pub(crate) fn answered(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    let end = End::from_interrupt(interrupt, &time::at);
    let line = |label: &str, text: &str| match label {
        "" => text.to_owned(),
        label => format!("{label}: {text}"),
    };
    let answer = end.into_iter().flat_map(|end| end.answer);
    let lines = answer.flat_map(|each| {
        let text = line(&each.label, &each.text);
        text.lines().map(|line| format!("    {}", plain::line(line))).collect::<Vec<_>>()
    });
    lines.flat_map(|line| paint.fold(&line, 6)).collect()
}

/// Describes the resolution of an interrupt in one line. Returns `None` while the interrupt is open.
pub(crate) fn resolution(interrupt: &Interrupt, paint: Paint) -> Option<String> {
    let End { outcome, option, by, text, .. } = End::from_interrupt(interrupt, &time::at)?;
    let option = option.map(|label| format!(": {label}")).unwrap_or_default();
    let mut line = format!("{}{option} ({by})", lower(outcome));
    if let Some(text) = text {
        line = format!("{line}: “{}”", plain::line(text));
    }
    Some(paint.green(&line))
}

pub(crate) fn outcome(outcome: Outcome) -> String {
    lower(card::outcome(outcome))
}

/// Returns the hint that says how to revoke the grant which the decision on an interrupt created. Returns `None` if the
/// decision created no grant.
pub(crate) fn revoke_command(interrupt: &Interrupt, words: &str) -> Option<String> {
    let effect = interrupt.resolution.as_ref()?.effect.as_deref()?;
    let name = holdshort();
    (effect == "grant").then(|| {
        format!(
            "to revoke the grant: {name} revoke ID{words}, with the ID from {name} grants {}{words}",
            interrupt.session
        )
    })
}

fn holding(interrupt: &Interrupt) -> &'static str {
    match interrupt.status {
        InterruptStatus::Open => "Holding short",
        InterruptStatus::Resolved => "Held short",
    }
}

pub(crate) fn kind(kind: Kind) -> String {
    lower(card::kind(kind))
}

/// Returns lines with the approvers of an interrupt and their votes so far.
pub(crate) fn assigned(interrupt: &Interrupt, paint: Paint) -> Vec<String> {
    facts(&card::people(interrupt, &time::at), paint)
}

/// Formats facts of a card as labelled lines. A label is not repeated on consecutive lines.
fn facts<'f>(listed: impl IntoIterator<Item = &'f Fact>, paint: Paint) -> Vec<String> {
    let mut before = None;
    let line = |fact: &'f Fact| {
        let is_repeated = before.replace(fact.name) == Some(fact.name);
        let label = if is_repeated { String::new() } else { lower(fact.label) };
        let text = match (fact.name, fact.tone) {
            (FactName::Id, _) => paint.dim(&fact.text),
            (FactName::Tool | FactName::Host, _) => paint.bold(&fact.text),
            (FactName::Risk, Tone::Alarm) if fact.text == "critical" => paint.red("CRITICAL"),
            (FactName::Risk, Tone::Plain) if fact.text == "medium" => paint.yellow(&fact.text),
            (_, Tone::Plain) => fact.text.clone(),
            (_, Tone::Notice) => paint.yellow(&fact.text),
            (_, Tone::Alarm) => paint.red(&fact.text),
        };
        if label.len() > LABEL {
            paint.fold(&format!("  {label}: {text}"), 4)
        } else {
            paint.fold(&format!("  {} {text}", paint.dim(&format!("{label:LABEL$}"))), 12)
        }
    };
    listed.into_iter().flat_map(line).collect()
}

/// Returns the sections of an interrupt's card that are truncated to `cap` lines: the message of the agent, the
/// subject, and the schema of an answer.
fn capped_sections(card: &Card<'_>, interrupt: &Interrupt, view: View<'_>, cap: Cap) -> [Vec<String>; 3] {
    let is_above = card.said == view.said.trim();
    let said = if is_above { Vec::new() } else { quote(card.said, &lead(card), cap, view.paint) };
    let is_external_question = interrupt.kind == Kind::Question && interrupt.origin == Origin::External;
    let schema = interrupt.response_schema.as_ref().filter(|_| is_external_question);
    // Only the question of an external agent prints the schema, because nothing else tells the person which answers
    // are valid.
    let schema = schema.map(|schema| quote(&readable(schema), "  answer schema", cap, view.paint));
    // The output of a turn is the last message of the agent.
    let above = if interrupt.kind == Kind::Turn { view.said.trim() } else { "" };
    [said, subject(card, above, cap, view.paint), schema.unwrap_or_default()]
}

fn lead(card: &Card<'_>) -> String {
    format!("  {}", card.speaker)
}

/// Returns the subject of a card: the title, the facts about the call, and the parts. Omits a part with the same text
/// as `above`, which is already printed above the card.
fn subject(card: &Card<'_>, above: &str, cap: Cap, paint: Paint) -> Vec<String> {
    let title = match card.title_by {
        TitleBy::Runtime => paint.fold(&format!("  {}", paint.bold(&card.title)), 2),
        TitleBy::Speaker => quote(&card.title, &lead(card), cap, paint),
        TitleBy::Repeated => Vec::new(),
    };
    let call = facts(&card.call, paint);
    let is_above = |part: &&Part<'_>| matches!(part, Part::Quote { text, .. } if !above.is_empty() && text.trim() == above);
    let parts = card.parts.iter().filter(|part| !is_above(part)).map(|each| part(each, cap, paint));
    let mut out = Vec::new();
    for section in [title, call].into_iter().chain(parts).filter(|section| !section.is_empty()) {
        if !out.is_empty() {
            out.push(String::new());
        }
        out.extend(section);
    }
    out
}

fn part(part: &Part<'_>, cap: Cap, paint: Paint) -> Vec<String> {
    match part {
        Part::Command { text } => command(text, cap, paint),
        Part::Trial { .. } => trial(part, cap, paint),
        Part::Script { path, text, truncated } => {
            let more = if *truncated { ", its beginning" } else { "" };
            let head = format!("  {}{more}", paint.bold(path));
            std::iter::once(head).chain(quote(text, "  ", cap, paint)).collect()
        }
        Part::Diff { path, is_new, is_outside, is_quoted, diff, unseen } => {
            let kind = if *is_new { "new file" } else { "changed" };
            let mut lines = vec![diff::head(path, kind, diff, *is_outside, paint)];
            lines.extend(diff::hunks(diff, cap, paint));
            lines.extend(unseen.as_deref().map(|unseen| paint.red(unseen)));
            let lead = if *is_quoted { format!("  {} ", paint.dim("│")) } else { "  ".to_owned() };
            lines.into_iter().map(|line| format!("{lead}{line}")).collect()
        }
        Part::Plan { subtasks } => subtasks.iter().flat_map(|each| subtask(each, cap, paint)).collect(),
        Part::Proposals { proposals } => {
            proposals.iter().flat_map(|each| proposal(each, cap, paint)).collect()
        }
        Part::Quote { label, text, is_exact } => {
            let cap = if *is_exact { Cap::None } else { cap };
            quote(text, &format!("  {}", lower(label)), cap, paint)
        }
        Part::Data { label, text, .. } => quote(text, &format!("  {}", lower(label)), cap, paint),
        Part::Note { text } => {
            let lines = textwrap::wrap(text, paint.width - 4);
            lines.into_iter().map(|line| format!("  {}", paint.dim(&line))).collect()
        }
    }
}

fn command(text: &str, cap: Cap, paint: Paint) -> Vec<String> {
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let leads = std::iter::once("  $ ").chain(std::iter::repeat("    "));
    let drawn = leads.zip(&lines).map(|(lead, line)| format!("{}{}", paint.cyan(lead), paint.bold(line)));
    let is_long = matches!(cap, Cap::Lines(cap) if lines.len() > cap);
    let long = is_long.then(|| paint.yellow("    long command: read it to the end"));
    drawn.chain(long).collect()
}

/// Formats the result of a command's trial: each path with its change, and the output.
fn trial(part: &Part<'_>, cap: Cap, paint: Paint) -> Vec<String> {
    let Part::Trial { head, words, git, changes, unseen, left, output } = part else { return Vec::new() };
    let mut out = paint.fold(&format!("  {}", paint.bold(&format!("{}: {words}", lower(head)))), 4);
    out.extend(git.iter().map(|line| format!("  {line}")));
    for change in changes {
        let line = format!("  {}  {}", change.path, paint.dim(&change.words));
        out.push(match (change.is_deletion, change.is_outside) {
            (true, _) => paint.red(&line),
            (false, true) => paint.yellow(&line),
            (false, false) => line,
        });
        if let Some(diff) = &change.diff {
            out.extend(diff::hunks(diff, cap, paint).into_iter().map(|line| format!("    {line}")));
        }
    }
    out.extend(left.iter().flat_map(|line| paint.fold(&paint.yellow(&format!("  {line}")), 4)));
    out.extend(unseen.as_deref().map(|unseen| format!("  {}", paint.red(unseen))));
    if !output.trim().is_empty() {
        out.push(String::new());
        out.extend(quote(output, "  output", cap, paint));
    }
    out
}

fn subtask(subtask: &Subtask<'_>, cap: Cap, paint: Paint) -> Vec<String> {
    let Subtask { id, description, agent, after, time } = subtask;
    let after = if after.is_empty() { String::new() } else { format!(", after {}", after.join(", ")) };
    let by = if agent.is_empty() { String::new() } else { format!(" by {agent}") };
    let time = if time.is_empty() { String::new() } else { format!(", takes {time}") };
    let mut out = quote(description, "   •", cap, paint);
    out.extend(
        quote(&format!("{id}{by}{after}{time}"), "    ", cap, paint).iter().map(|line| paint.dim(line)),
    );
    out
}

fn proposal(proposal: &Proposal<'_>, cap: Cap, paint: Paint) -> Vec<String> {
    let Proposal { title, description, pros, cons } = proposal;
    let mut out = quote(title, "   •", cap, paint);
    out.extend(quote(description, "    ", cap, paint));
    for (texts, mark) in [(pros, "+"), (cons, "-")] {
        out.extend(texts.iter().flat_map(|text| quote(&format!("{mark} {text}"), "    ", cap, paint)));
    }
    out
}

/// Returns a heading with its first letter in lower case, so that the heading fits into a sentence.
fn lower(heading: &str) -> String {
    let mut chars = heading.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
