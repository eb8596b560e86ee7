//! Decisions that a person must confirm before they are sent, and the typed lines that confirm them.

use holdshort_protocol::{Decision, plain};
use serde_json::Value;

use super::{Cap, Paint, Prompt, Reaction, Stage, filling, naming, quote};

impl Prompt {
    /// Returns true if only `yes`, and not Enter, sends the decision. Such a decision lets risky work start, or skips
    /// or cancels the interrupt.
    pub(super) fn needs_explicit_yes(&self, decision: &Decision) -> bool {
        let offer = self.interrupt.offer(&decision.option).filter(|_| !self.in_script);
        offer.is_some_and(|offer| offer.asks_again || self.interrupt.stakes(offer).is_some())
    }

    /// Returns a notice with the number of lines that the card of the interrupt omitted, or `None` if all lines were
    /// printed.
    pub(super) fn describe_cut(&self) -> Option<String> {
        match self.cut_lines {
            0 => None,
            1 => Some("1 line of this card is not shown; v shows it".to_owned()),
            n => Some(format!("{n} lines of this card are not shown; v shows them")),
        }
    }

    pub(super) fn releases_nothing(&self, decision: &Decision) -> bool {
        let offer = self.interrupt.offer(&decision.option);
        offer.is_some_and(|offer| {
            offer.effect == "new_task" || (!offer.releases() && offer.effect != "finish")
        })
    }

    /// Handles a line that a person typed while a decision waits for confirmation.
    pub(super) fn confirmed(&mut self, decision: Decision, line: &str, paint: Paint) -> Reaction {
        let word = line.to_lowercase();
        match word.as_str() {
            "" if self.needs_explicit_yes(&decision) => {
                self.stage = Stage::Confirm(decision);
                return Reaction::Ask(vec!["  Nothing is sent yet.".to_owned()]);
            }
            "" | "y" | "yes" | "ok" => return Reaction::Decide(decision),
            "n" | "no" => {
                let mut shown = vec!["  Not sent.".to_owned()];
                if let Some(filling) = filling(&self.interrupt) {
                    shown.push(filling.ask());
                    self.stage = Stage::Fill(filling);
                }
                self.filled = None;
                return Reaction::Ask(shown);
            }
            "?" | "help" | "v" => {
                self.stage = Stage::Confirm(decision);
                return if word == "v" { Reaction::Uncut } else { Reaction::Help };
            }
            _ => {}
        }
        if let Some(reaction) = self.beside_a_form(&decision, line, paint) {
            return reaction;
        }
        // A yes or a no could be about this decision or about the request on the card. Only the number or the name of
        // an option is unambiguous.
        if naming::listed(&self.interrupt, line).is_none() && naming::option(&self.interrupt, line).is_some()
        {
            let key = if self.needs_explicit_yes(&decision) { "y" } else { "Enter" };
            self.stage = Stage::Confirm(decision);
            let rule = "sends what is shown, n drops it; the number or name of an option replaces it.";
            return Reaction::Ask(vec![format!("  “{}”: {key} {rule}", plain::line(line))]);
        }
        self.filled = None;
        self.choose(line, paint)
    }

    /// Returns the reason why the person must confirm an option, or `None` if no confirmation is needed. An option
    /// needs confirmation if it is final, if it lets risky work start, or if it approves something that the card has
    /// not shown.
    pub(super) fn asks_again(&self, option: &str) -> Option<String> {
        self.asks_again_with(option, &Value::Null)
    }

    pub(super) fn asks_again_with(&self, option: &str, edit: &Value) -> Option<String> {
        let offer = self.interrupt.offer(option)?;
        if offer.ends_run() || (offer.asks_again && (self.takes_json() || !self.in_script)) {
            return Some(format!("this {}", plain::line(&offer.does)));
        }
        let stakes = self.interrupt.stakes(offer).filter(|_| !self.in_script);
        let unseen = self.interrupt.unseen_by(offer, edit);
        let unseen = unseen.map(|unseen| unseen.trim_end_matches('.').to_owned());
        let cut = self.describe_cut().filter(|_| offer.releases());
        let why: Vec<String> = stakes.into_iter().chain(unseen).chain(cut).collect();
        (!why.is_empty()).then(|| plain::line(&why.join("; ")).into_owned())
    }

    /// Prints the option and the text of a decision, so that the person can confirm the decision before it is sent.
    pub(super) fn confirm(&mut self, option: &str, words: &str, paint: Paint) -> Reaction {
        let mut shown = vec![format!("  {}", self.sentence(option))];
        shown.extend(quote(words, "   ", Cap::None, paint));
        self.stage = Stage::Confirm(self.decision(option, Some(words.to_owned())));
        Reaction::Ask(shown)
    }

    pub(super) fn sentence(&self, option: &str) -> String {
        self.sentence_with(option, &Value::Null)
    }

    pub(super) fn sentence_with(&self, option: &str, edit: &Value) -> String {
        let offer = self.interrupt.offer(option);
        let label = plain::line(offer.map_or(option, |offer| &offer.label));
        match self.asks_again_with(option, edit) {
            Some(why) => format!("{label} ({why}):"),
            None => format!("{label}:"),
        }
    }
}
