//! Options on a card, and the effects that a person must know before choosing an option.

use std::borrow::Cow;

use holdshort_protocol::{Interrupt, Offer, Origin, plain};

/// Returns the effect that every user interface shows next to the label of an option, or `None` if the label says
/// enough.
///
/// The effect is shown if the option ends the run. It is also shown for every option of an external agent, because the
/// agent chooses the labels.
pub fn effect_beside<'a>(interrupt: &Interrupt, option: &'a Offer) -> Option<Cow<'a, str>> {
    let is_shown = option.ends_run() || interrupt.origin == Origin::External;
    is_shown.then(|| plain::line(&option.does))
}
