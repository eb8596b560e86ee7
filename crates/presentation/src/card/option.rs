//! Options of a card, and the effect that a person must know before choosing one.

use std::borrow::Cow;

use holdshort_protocol::{Interrupt, Offer, Origin, plain};

/// Returns the effect that every surface shows beside the label of an option. `None` if the label is enough.
///
/// An option that ends the run is warned of. An agent outside Holdshort chose its labels, so the effect of each of its
/// options is shown.
pub fn effect_beside<'a>(interrupt: &Interrupt, option: &'a Offer) -> Option<Cow<'a, str>> {
    let is_shown = option.ends_run() || interrupt.origin == Origin::External;
    is_shown.then(|| plain::line(&option.does))
}
