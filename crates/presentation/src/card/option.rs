//! Options on a card, and the effects that a person must know before choosing an option.

use std::borrow::Cow;

use holdshort_protocol::{Interrupt, Kind, Offer, Origin, Outcome, plain};
use serde::Serialize;
use utoipa::ToSchema;

use super::call;

/// Option on a card: the option of the interrupt, and how a user interface displays it.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent, and has its name on the wire")]
pub struct CardOption<'a> {
    #[serde(flatten)]
    #[schema(value_type = Offer)]
    pub offer: &'a Offer,
    /// Effect that is displayed next to the label. Absent if the label says enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Cow<'a, str>>,
    pub tone: OptionTone,
    /// True for the option that is highlighted: the first one that lets the work continue.
    pub is_main: bool,
    /// Key that chooses the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<OptionKey>,
    /// True if the option lets the agent's work continue or answers the agent's question. The person should then have
    /// seen the whole card.
    pub goes_on: bool,
    /// True if a user interface asks for confirmation even though the person has seen the whole card.
    pub confirms: bool,
    /// Label of the button that sends an edit. Absent if the option needs no edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_label: Option<Cow<'a, str>>,
    /// True if the edit is the list of the paths whose changes are kept.
    pub keeps_some: bool,
    /// True if a freeze disables the option.
    pub is_frozen: bool,
    /// True if a text that the person typed without choosing an option is sent with this option.
    pub takes_text: bool,
}

/// Emphasis with which an option is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OptionTone {
    /// Option that lets the work continue, or that answers the question.
    Go,
    /// Option that stops the work.
    Stop,
    Plain,
}

/// Key of the keyboard that chooses an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OptionKey {
    /// Approve.
    A,
    /// Edit.
    E,
    /// Reject.
    R,
}

/// Returns the options among which the reader of the interrupt may choose. A person who started the work may only stop
/// it.
pub(super) fn for_interrupt<'a>(interrupt: &'a Interrupt) -> Vec<CardOption<'a>> {
    let is_own_work = interrupt.is_own_work();
    let offers: Vec<&'a Offer> =
        interrupt.options.iter().filter(|offer| !is_own_work || offer.stops_work()).collect();
    let first = |is_wanted: &dyn Fn(&Offer) -> bool| offers.iter().copied().find(|offer| is_wanted(offer));
    // The options of a choice are equal: none is highlighted or has a key.
    let is_free = interrupt.kind == Kind::Choice;
    let goes = |offer: &Offer| !is_free && tone(interrupt, offer) == OptionTone::Go;
    let main = first(&goes);
    let takes_text = asks_for_text(interrupt.kind)
        .then(|| free_text_option(interrupt).or_else(|| first(&|offer| offer.needs_text)))
        .flatten();
    let keys = [
        (OptionKey::A, first(&|offer| goes(offer) && !offer.needs_text && !offer.needs_edit)),
        (OptionKey::E, first(&|offer| offer.needs_edit && !offer.keeps_some())),
        (
            OptionKey::R,
            first(&|offer| offer.outcome == Outcome::Rejected && !offer.needs_text && !offer.needs_edit),
        ),
    ];
    let is = |offer: &Offer, other: Option<&Offer>| other.is_some_and(|other| std::ptr::eq(offer, other));
    let show = |offer: &'a Offer| {
        let goes_on = offer.releases() || answers(interrupt, offer);
        let replaces = offer.needs_edit && interrupt.kind != Kind::Question;
        let is_unsafe = interrupt.risk.level.is_risky() || interrupt.unseen.is_some();
        CardOption {
            offer,
            note: effect_beside(interrupt, offer),
            tone: tone(interrupt, offer),
            is_main: is(offer, main),
            key: keys.iter().find(|(_, other)| is(offer, *other)).map(|(key, _)| *key),
            goes_on,
            confirms: offer.asks_again || (goes_on && (is_unsafe || replaces)),
            edit_label: offer.needs_edit.then(|| edit_label(interrupt, offer)),
            keeps_some: offer.keeps_some(),
            is_frozen: interrupt.frozen.is_some()
                && interrupt.origin == Origin::External
                && !stops_agent(offer),
            takes_text: is(offer, takes_text),
        }
    };
    offers.iter().copied().map(show).collect()
}

/// Returns the effect that every user interface shows next to the label of an option, or `None` if the label says
/// enough.
///
/// The effect is shown if the option ends the run. It is also shown for every option of an external agent, because the
/// agent chooses the labels.
pub fn effect_beside<'a>(interrupt: &Interrupt, option: &'a Offer) -> Option<Cow<'a, str>> {
    let is_shown = option.ends_run() || interrupt.origin == Origin::External;
    (is_shown && !names_effect(option)).then(|| plain::line(&option.does))
}

/// Returns true if the label of an option already says its effect, such as *Cancel the run* and *cancels the run*, or
/// *Approve* and *continues*.
fn names_effect(option: &Offer) -> bool {
    let label = option.label.to_lowercase();
    let (verb, rest) = label.split_once(' ').map_or((&*label, ""), |(verb, rest)| (verb, rest));
    let sentence = format!("{verb}s {rest}");
    option.does == sentence.trim_end() || (label == "approve" && option.does == "continues")
}

/// Returns the option to which free text belongs (contract A31). Returns `None` for an interrupt without such an
/// option.
pub fn free_text_option(interrupt: &Interrupt) -> Option<&Offer> {
    let by_id = |id: &str| interrupt.offer(id);
    let id = match interrupt.kind {
        Kind::Question => "answer",
        Kind::Choice => "custom",
        Kind::Turn => "submit",
        Kind::Escalation => "instruct",
        Kind::PlanApproval => "revise",
        Kind::ToolApproval => "reject",
        // After a step, a free text is a note. Before a step, a free text is guidance.
        Kind::Checkpoint if by_id("continue").is_some() => "continue",
        Kind::Checkpoint => "approve",
        Kind::Error => "abort",
        Kind::ClientCall => "result",
        Kind::Review | Kind::Continuation | Kind::UnknownOutcome => return None,
    };
    by_id(id)
}

/// Returns true for a kind that asks a person for a response.
fn asks_for_text(kind: Kind) -> bool {
    matches!(kind, Kind::Question | Kind::Choice | Kind::Turn | Kind::ClientCall)
}

fn answers(interrupt: &Interrupt, option: &Offer) -> bool {
    option.effect == "respond" && asks_for_text(interrupt.kind)
}

/// Returns true if the option stops the agent, so that the option is accepted during a freeze.
fn stops_agent(option: &Offer) -> bool {
    matches!(option.outcome, Outcome::Rejected | Outcome::Cancelled)
}

fn tone(interrupt: &Interrupt, option: &Offer) -> OptionTone {
    if stops_agent(option) {
        OptionTone::Stop
    } else if !option.needs_edit && (option.outcome == Outcome::Approved || answers(interrupt, option)) {
        OptionTone::Go
    } else {
        OptionTone::Plain
    }
}

/// Returns the label of the button that sends an edit. The label names what was edited.
fn edit_label<'a>(interrupt: &Interrupt, option: &'a Offer) -> Cow<'a, str> {
    let payload = &interrupt.payload;
    match interrupt.kind {
        _ if option.keeps_some() => plain::line(&option.label),
        // An external agent runs its call itself, so the button only allows the call.
        Kind::ToolApproval if interrupt.origin == Origin::External => "Approve edited call".into(),
        Kind::ToolApproval if call::command(payload).is_some() => "Run edited command".into(),
        Kind::ToolApproval if payload.get("diff").is_some() => "Apply edited change".into(),
        Kind::ToolApproval => "Approve edited call".into(),
        Kind::PlanApproval => "Approve edited plan".into(),
        Kind::Review => "Release edited text".into(),
        Kind::Checkpoint => "Continue with edited input".into(),
        Kind::Error
        | Kind::Question
        | Kind::Choice
        | Kind::Turn
        | Kind::Escalation
        | Kind::Continuation
        | Kind::ClientCall
        | Kind::UnknownOutcome => plain::line(&option.label),
    }
}
