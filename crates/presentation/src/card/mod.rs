//! The card of an interrupt: everything that a person sees before a decision, as data.
//!
//! A surface (the terminal, the page without scripts, the form in Slack) renders the card in its own form and adds no
//! text to it. Facts are single lines that are already escaped with [`plain`]. Parts may contain text of an agent.
//! Commands, paths, names and JSON in parts are already escaped. Prose, lines of a change, scripts and output are
//! escaped when the surface prints them.

mod call;
mod end;
mod fact;
mod facts;
mod option;
mod part;
mod parts;

use std::borrow::Cow;

use holdshort_protocol::{InspectedCall, Interrupt, Kind, Origin, Warning, plain};
use serde::Serialize;

pub use self::end::{End, outcome, repeats};
pub use self::fact::{Fact, FactName, Tone};
pub use self::facts::people;
pub use self::option::effect_beside;
pub use self::part::{Part, Proposal, Subtask, TriedChange};
pub use self::parts::readable;

#[derive(Debug, Serialize)]
pub struct Card<'a> {
    pub kind: &'static str,
    pub title: Cow<'a, str>,
    /// Author of the title.
    pub title_by: TitleBy,
    /// Facts about the interrupt: its agent, its run and step, its reasons and its deadlines.
    pub facts: Vec<Fact>,
    /// Warnings about deceptive text, such as look-alike letters.
    pub warnings: Vec<String>,
    /// Name of the agent that wrote the message and the parts.
    pub speaker: Cow<'a, str>,
    /// Message of the speaker. Empty if a part contains the same text.
    pub said: &'a str,
    /// Facts about the call, and about the conditions under which it would run.
    pub call: Vec<Fact>,
    pub parts: Vec<Part<'a>>,
    /// Facts about the calls that an approval for the session would cover.
    pub grant: Vec<Fact>,
    pub end: Option<End<'a>>,
}

/// Author of a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    Runtime,
    /// The speaker of the card wrote the title.
    Speaker,
    /// The title repeats the call, the plan or the text of a part, and may contain the agent's words.
    Repeated,
}

/// Formats an RFC 3339 timestamp for the reader.
pub type FormatTime<'a> = &'a dyn Fn(&str) -> String;

/// Information for a card that is not part of the interrupt.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Call of an agent outside Holdshort, in the form that the gates inspected. `None` if the interrupt is not about
    /// such a call.
    pub judged: Option<&'a InspectedCall>,
    /// True if the run is a rehearsal with scripted replies.
    pub is_rehearsal: bool,
    pub time: FormatTime<'a>,
}

impl<'a> Card<'a> {
    pub fn from_interrupt(interrupt: &'a Interrupt, setting: Setting<'a>) -> Self {
        let (call, mut parts) = parts::for_interrupt(interrupt, setting.judged);
        let said = interrupt.message.trim();
        // The title of a question is the text of the question, cut to one line.
        let is_title = |part: &Part<'_>| matches!(part, Part::Quote { label: "Question", text, .. } if *text == interrupt.title);
        let title_by = title_by(interrupt, parts.iter().any(is_title));
        let title = match title_by {
            TitleBy::Runtime => plain::line(&interrupt.title),
            TitleBy::Speaker | TitleBy::Repeated => interrupt.plain_title(),
        };
        parts.retain(|part| !is_title(part));
        let repeats =
            parts.iter().any(|part| matches!(part, Part::Quote { text, .. } if text.trim() == said));
        Self {
            kind: kind(interrupt.kind),
            title,
            title_by,
            facts: facts::for_interrupt(interrupt, setting, &call),
            warnings: interrupt
                .warnings
                .iter()
                .map(|warning| plain::line(&Warning::describe(warning)).into_owned())
                .collect(),
            speaker: plain::line(speaker(interrupt)),
            said: if repeats { "" } else { said },
            call,
            parts,
            grant: facts::grant(interrupt),
            end: End::from_interrupt(interrupt, setting.time),
        }
    }

    /// Returns the parts of the card as plain text, without the end of the interrupt. The second value is true if a
    /// part is shown incompletely.
    pub fn text(&self) -> (Vec<String>, bool) {
        let mut parts = vec![format!("{}: {}", self.kind, self.title)];
        parts.extend(self.warnings.iter().map(|warning| format!("Look twice: {warning}")));
        let facts: Vec<String> = self
            .facts
            .iter()
            .chain(&self.call)
            .chain(&self.grant)
            .map(|fact| format!("{}: {}", fact.label, fact.text))
            .collect();
        parts.push(facts.join("\n"));
        if !self.said.is_empty() {
            parts.push(format!("In the words of {}:\n{}", self.speaker, self.said));
        }
        parts.extend(self.parts.iter().map(Part::text));
        (parts, self.parts.iter().any(Part::is_cut))
    }
}

/// Returns the heading for a kind of interrupt.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolApproval => "Tool call",
        Kind::PlanApproval => "Plan",
        Kind::Checkpoint => "Checkpoint",
        Kind::Error => "Error",
        Kind::Question => "Question",
        Kind::Choice => "Choice",
        Kind::Turn => "Your turn",
        Kind::Escalation => "Escalation",
        Kind::Review => "Review",
        Kind::Continuation => "Stopped early",
        Kind::ClientCall => "Client call",
        Kind::UnknownOutcome => "Unknown outcome",
    }
}

/// Returns the author of the message. For some kinds of interrupts this is the runtime.
fn speaker(interrupt: &Interrupt) -> &str {
    match interrupt.kind {
        Kind::Error | Kind::UnknownOutcome | Kind::Continuation => "Holdshort",
        _ => interrupt.agent.as_deref().unwrap_or("The agent"),
    }
}

fn title_by(interrupt: &Interrupt, is_question: bool) -> TitleBy {
    if is_question || interrupt.origin == Origin::External {
        return TitleBy::Speaker;
    }
    match interrupt.kind {
        Kind::ToolApproval
        | Kind::UnknownOutcome
        | Kind::ClientCall
        | Kind::PlanApproval
        | Kind::Question
        | Kind::Review => TitleBy::Repeated,
        Kind::Escalation => TitleBy::Speaker,
        Kind::Checkpoint | Kind::Error | Kind::Choice | Kind::Turn | Kind::Continuation => TitleBy::Runtime,
    }
}
