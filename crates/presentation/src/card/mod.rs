//! Card of an interrupt: everything that a person sees before a decision, as data.
//!
//! Each user interface (browser app, terminal, page without scripts, form in Slack) displays the card in its own way. A
//! user interface adds no text to the card. `GET /v1/interrupts/{id}` returns the card as JSON. Facts are single lines, in which invisible characters are already escaped with
//! [`plain`]. Parts may contain text that an agent wrote. Commands, paths, names and JSON in parts are already escaped
//! in this way. The user interface escapes prose, changed lines, scripts and output when it displays them.

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
use serde_json::Value;
use utoipa::ToSchema;

pub use self::end::{End, outcome, repeats};
pub use self::fact::{Fact, FactName, Tone};
pub use self::facts::people;
pub use self::option::{CardOption, OptionKey, OptionTone, effect_beside, free_text_option};
pub use self::part::{Part, Proposal, Subtask, TriedChange};
pub use self::parts::readable;

/// Everything that a person sees of an interrupt before a decision. Show the warnings next to the options, and the facts
/// separately from texts of agents.
#[derive(Debug, Serialize, ToSchema)]
pub struct Card<'a> {
    /// Name of the kind of interrupt.
    pub kind: &'static str,
    pub title: Cow<'a, str>,
    /// Author of the title: the runtime or an agent.
    pub title_by: TitleBy,
    /// Facts about the interrupt: its agent, its run and step, its reasons and its deadlines.
    pub facts: Vec<Fact>,
    /// Warnings about text that could deceive the reader, such as look-alike letters.
    pub warnings: Vec<String>,
    /// Name of the author of the message and the parts, such as the agent.
    pub speaker: Cow<'a, str>,
    /// Name of the agent that the parts quote.
    pub author: Cow<'a, str>,
    /// Message that the author `speaker` wrote. Empty if one of the parts contains the same text.
    pub said: &'a str,
    /// Author of the message: the runtime or an agent.
    pub said_by: TitleBy,
    /// Facts about the tool call of the interrupt, and about the conditions under which it would run.
    pub call: Vec<Fact>,
    pub parts: Vec<Part<'a>>,
    /// Facts about the calls that a grant for the session would allow.
    pub grant: Vec<Fact>,
    /// True if the risk is high or critical.
    pub is_risky: bool,
    /// Options among which the reader may choose.
    pub options: Vec<CardOption<'a>>,
    /// Use of the text that is sent with an option.
    pub text: TextUse,
    /// JSON pointer to the value that an edit replaces. Absent if an edit replaces nothing: it is an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    pub end: Option<End<'a>>,
}

/// Author of the title of a card, which decides how the title is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CardTitleBy)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    Runtime,
    /// The agent in the field `speaker` wrote the title.
    Speaker,
    /// The title repeats the call, the plan or the text of a part, and may contain words of an agent.
    Repeated,
}

/// Use of the text that a person types on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CardTextUse)]
#[serde(rename_all = "snake_case")]
pub enum TextUse {
    /// The text is the answer.
    Answer,
    /// The text is a comment on the decision.
    Comment,
}

/// Function that formats an RFC 3339 timestamp for the person who reads the card.
pub type FormatTime<'a> = &'a dyn Fn(&str) -> String;

/// Information that a card needs in addition to its interrupt.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Tool call of an external agent that the gates have checked. `None` if the interrupt is not about such a call.
    pub judged: Option<&'a InspectedCall>,
    /// True if the run is a rehearsal, in which prepared replies replace the model.
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
            author: plain::line(author(interrupt)),
            said_by: said_by(interrupt),
            is_risky: interrupt.risk.level.is_risky(),
            options: option::for_interrupt(interrupt),
            text: text_use(interrupt),
            replaces: replaced_pointer(interrupt),
            end: End::from_interrupt(interrupt, setting.time),
        }
    }

    /// Returns the card as sections of plain text, without the resolution. The flag is true if a section is not shown
    /// completely.
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

/// Returns the heading of a card for a kind of interrupt.
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

/// Returns the author of the message on the card: an agent or, for some kinds of interrupts, Holdshort itself.
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

/// Returns the name of the agent that wrote the quoted parts. A question may come from an agent that another one passes
/// on.
fn author(interrupt: &Interrupt) -> &str {
    let asker = interrupt.payload.get("asker").and_then(Value::as_str);
    let asker = asker.filter(|_| interrupt.kind == Kind::Question && interrupt.origin == Origin::Native);
    asker.or(interrupt.agent.as_deref()).unwrap_or("The agent")
}

fn said_by(interrupt: &Interrupt) -> TitleBy {
    let is_runtime = interrupt.origin == Origin::Native
        && match interrupt.kind {
            Kind::Error | Kind::UnknownOutcome | Kind::Continuation => true,
            // The agent printed the question as text instead of calling the tool. The message reports this.
            Kind::Question => interrupt.payload.get("call_id").is_none(),
            Kind::ToolApproval
            | Kind::PlanApproval
            | Kind::Checkpoint
            | Kind::Choice
            | Kind::Turn
            | Kind::Escalation
            | Kind::Review
            | Kind::ClientCall => false,
        };
    if is_runtime { TitleBy::Runtime } else { TitleBy::Speaker }
}

fn text_use(interrupt: &Interrupt) -> TextUse {
    let is_asked = matches!(interrupt.kind, Kind::Question | Kind::Turn | Kind::Choice);
    let is_data = interrupt.offer("answer").is_some_and(|answer| answer.needs_edit);
    if is_asked && !is_data { TextUse::Answer } else { TextUse::Comment }
}

/// Returns the JSON pointer to the value that an edit replaces: the payload or one of its members.
fn replaced_pointer(interrupt: &Interrupt) -> Option<String> {
    if interrupt.kind == Kind::Question {
        return None;
    }
    let replaced = interrupt.replaced();
    let mut members = interrupt.payload.as_object().into_iter().flatten();
    let member = members.find(|(_, member)| std::ptr::eq(*member, replaced));
    Some(member.map_or_else(|| "/payload".to_owned(), |(name, _)| format!("/payload/{name}")))
}
