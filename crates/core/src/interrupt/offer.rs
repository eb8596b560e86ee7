//! Options that an interrupt offers, and the option that takes effect when the interrupt expires.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Carry, Effect, HeldWork, Kind, Outcome, Row, option};
use crate::schema;

/// Option of an interrupt, copied from the option table. The label of the option may differ from the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    pub id: String,
    pub label: String,
    pub effect: Effect,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_text: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_edit: bool,
    /// Exception to the effect of the option. True: the option ends the run, although its effect does not. False: the
    /// run continues, although the effect of the option ends runs. `None`: there is no exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_run: Option<bool>,
}

impl Offer {
    pub fn from_row(row: &Row) -> Self {
        Self {
            id: row.id.to_owned(),
            label: row.label.to_owned(),
            effect: row.effects[0],
            needs_text: row.text == Carry::Must,
            needs_edit: row.edit == Carry::Must,
            ends_run: None,
        }
    }

    /// Returns true if the option can be applied without a person when the interrupt expires. Such an option needs no
    /// text and no edit, and gives no grant.
    pub fn applies_alone(&self) -> bool {
        !self.needs_text && !self.needs_edit && self.effect != Effect::Grant
    }

    /// Returns a copy of the option that requires data instead of a text. A decision contains this data as its edit.
    pub fn of_data(self) -> Self {
        Self { needs_text: false, needs_edit: true, ..self }
    }

    /// Returns a copy of the option, adapted to a question with this schema. If the schema requires data, the option
    /// requires data instead of a text.
    pub fn answered_by(self, kind: Kind, schema: Option<&Value>) -> Self {
        let is_data = schema.is_some_and(|schema| !schema::is_of_text(schema));
        if kind == Kind::Question && self.effect == Effect::Respond && is_data {
            self.of_data()
        } else {
            self
        }
    }

    /// Returns the description that is shown after the name of the option. `is_own` is true if Holdshort itself
    /// executes the work. `is_tried` is true if a trial showed the changes of the command.
    pub fn does(&self, kind: Kind, is_own: bool, is_tried: bool) -> &'static str {
        match (self.ends_run, self.effect) {
            (Some(true), Effect::Replan) => {
                return "ends the run as failed, because the workflow allows no further plan";
            }
            (Some(true), Effect::Skip | Effect::Finish) => {
                return "ends the run as failed, because it leaves the run without a plan";
            }
            (Some(true), _) => return Effect::FailRun.does(),
            (Some(false), _) => return "ends this phase as failed; the agent that started it continues",
            (None, _) => {}
        }
        if is_tried && self.effect == Effect::Proceed {
            return "applies exactly the changes that are shown; the command does not run again";
        }
        // External agents execute their calls themselves, so the descriptions of the option table do not apply to those
        // calls.
        let is_ours = is_own || kind != Kind::ToolApproval;
        let row = option(kind, &self.id).filter(|row| is_ours && row.effects[0] == self.effect);
        row.and_then(|row| row.does).unwrap_or_else(|| self.effect.does())
    }

    /// Returns the consequence of the option for the work that waits for the decision.
    pub fn work(&self) -> HeldWork {
        match self.ends_run {
            Some(true) => HeldWork::Ended,
            Some(false) => HeldWork::Held,
            None => self.effect.work(),
        }
    }

    /// Returns true if the client must ask the person for a confirmation of this option.
    pub fn asks_again(&self, kind: Kind) -> bool {
        self.ends_run == Some(true) || option(kind, &self.id).is_some_and(|row| row.asks_again)
    }

    /// Returns true if waiting work continues with this option. Every kind also has at least one option with which
    /// waiting work does not continue.
    pub fn releases(&self) -> bool {
        self.effect.outcome() == Outcome::Approved
    }

    /// Returns true if the option stops work.
    pub fn stops(&self) -> bool {
        matches!(self.effect.outcome(), Outcome::Rejected | Outcome::Cancelled)
    }
}

/// Returns the options that a workflow lists, in the workflow's order. If all listed options approve, a person could
/// not refuse. In that case, returns all options of the kind.
pub fn offered(own: Vec<Offer>, wanted: &[String]) -> Vec<Offer> {
    let find = |id: &String| own.iter().find(|offer| offer.id == *id).cloned();
    let left: Vec<Offer> = wanted.iter().filter_map(find).collect();
    if left.iter().all(Offer::releases) { own } else { left }
}

/// Value of `on_expiry` if the interrupt expires without applying an option. No option has this id.
pub const EXPIRED: &str = "expired";

/// Returns the id of the option that takes effect when the interrupt expires. The option is the first usable one of:
/// the configured option, the default option of the kind, the last option that stops work. An option is usable if the
/// interrupt offers it and it needs no input. Returns [`EXPIRED`] if no option is usable.
pub fn on_expiry(kind: Kind, configured: Option<&str>, offered: &[Offer]) -> String {
    let find = |id: &str| offered.iter().find(|offer| offer.id == id && offer.applies_alone());
    configured
        .and_then(find)
        .or_else(|| kind.row().on_expiry.and_then(find))
        .or_else(|| offered.iter().rev().find(|offer| offer.stops() && offer.applies_alone()))
        .map_or_else(|| EXPIRED.to_owned(), |offer| offer.id.clone())
}
