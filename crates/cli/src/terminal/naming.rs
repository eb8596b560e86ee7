//! Finds the option that a typed word means. Other modules decide whether to send it.

use holdshort_protocol::{Interrupt, Kind, Offer, Origin};

/// Parses the number of an option or a suggested answer of an interrupt. Returns `None` if a number may be the answer
/// itself.
pub(super) fn number(interrupt: &Interrupt, word: &str) -> Option<usize> {
    word.parse().ok().filter(|_| !interrupt.takes_a_number())
}

/// Returns the suggested answer with the typed text or number. The number has the form `#2` if a plain number may be
/// the answer.
pub(super) fn suggested<'i>(interrupt: &'i Interrupt, line: &str) -> Option<&'i str> {
    let all = interrupt.suggestions();
    let by_text = all.iter().find(|choice| choice.trim() == line && !line.is_empty());
    let by_number = || all.get(parse_suggestion_number(interrupt, line)?.checked_sub(1)?);
    by_text.or_else(by_number).copied()
}

/// Parses the number of a suggested answer in the form that the card of the interrupt shows.
pub(super) fn parse_suggestion_number(interrupt: &Interrupt, line: &str) -> Option<usize> {
    if interrupt.takes_a_number() { line.strip_prefix('#')?.parse().ok() } else { line.parse().ok() }
}

/// Returns the option of an interrupt with this number, id or label. Labels from external agents are not compared,
/// because the agent could imitate another option.
pub(super) fn listed<'i>(interrupt: &'i Interrupt, word: &str) -> Option<&'i Offer> {
    let options = &interrupt.options;
    if let Some(number) = number(interrupt, word) {
        let first = interrupt.suggestions().len() + 1;
        return number.checked_sub(first).and_then(|index| options.get(index));
    }
    let by_id = options.iter().find(|offer| offer.id.eq_ignore_ascii_case(word));
    let by_label = || options.iter().find(|offer| offer.label.eq_ignore_ascii_case(word));
    by_id.or_else(|| by_label().filter(|_| interrupt.origin == Origin::Native))
}

/// Returns the option of an interrupt with this number, id or label, or with this name in the console of an earlier
/// system.
pub(super) fn option<'i>(interrupt: &'i Interrupt, word: &str) -> Option<&'i Offer> {
    let by_id = |id: &str| interrupt.offer(id);
    let either = |ids: [&str; 2]| by_id(ids[0]).or_else(|| by_id(ids[1]));
    listed(interrupt, word).or_else(|| match (interrupt.kind, word.to_lowercase().as_str()) {
        // Names of options in the consoles of earlier systems (contract A31).
        (Kind::Turn, "complete" | "completed" | "finished") => by_id("done"),
        (Kind::Turn, "quit" | "bye") => either(["exit", "done"]),
        (Kind::Question | Kind::Choice | Kind::Turn, _) => None,
        (_, "y" | "yes" | "ok" | "accept" | "accepted" | "approved" | "allow") => {
            either(["approve", "continue"])
        }
        (_, "n" | "no" | "deny" | "denied" | "decline" | "refuse" | "rejected") => {
            either(["reject", "abort"])
        }
        (_, "modify" | "change") => by_id("edit"),
        (Kind::Checkpoint | Kind::Error, "s") => by_id("skip"),
        (Kind::Checkpoint, "r") => by_id("redo"),
        (Kind::Error, "r") => by_id("retry"),
        (Kind::Checkpoint | Kind::Continuation, "c") => by_id("continue"),
        (Kind::Checkpoint | Kind::Error, "a") => by_id("abort"),
        _ => None,
    })
}
