//! The options on a card, and those of their effects that a person must know before choosing one.

use std::borrow::Cow;

use holdshort_protocol::{Interrupt, Offer, Origin, plain};

/// Returns the effect that every user interface shows next to the label of an option. Returns `None` if the label says
/// enough.
///
/// If an option ends the run, the person is warned. An agent outside Holdshort chooses the labels of its options.
/// Therefore the effect of each of them is shown.
pub fn effect_beside<'a>(interrupt: &Interrupt, option: &'a Offer) -> Option<Cow<'a, str>> {
    let is_shown = option.ends_run() || interrupt.origin == Origin::External;
    is_shown.then(|| plain::line(&option.does))
}
