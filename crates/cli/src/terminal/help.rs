//! Help about the options and keys of a card. The help is printed when a person types `?`.

use holdshort_presentation::card::free_text_option;
use holdshort_protocol::{Interrupt, Offer, plain};

use super::paint::Paint;
use super::time;
use crate::program_name::holdshort;

/// Column at which the explanations of the help for a card begin.
const HANG: usize = 19;

/// Returns the help for a card: each option with its effect, and then the keys.
pub(crate) fn options(interrupt: &Interrupt, words: &str, paint: Paint) -> Vec<String> {
    let mut out = vec![String::new()];
    for offer in &interrupt.options {
        let id = format!("{:16}", plain::line(&offer.id));
        out.extend(paint.fold(&format!("  {} {}", paint.bold(&id), plain::line(&offer.does)), HANG));
    }
    out.push(String::new());
    let expiry = match &interrupt.expires_at {
        Some(at) => {
            format!("Without a decision until {}: {}.", time::at(at), plain::line(&interrupt.on_expiry))
        }
        None => "This request has no deadline, so it waits until you decide.".to_owned(),
    };
    out.extend(paint.fold(&format!("  {expiry}"), 2).iter().map(|line| paint.dim(line)));
    let edited = if interrupt.editable().is_some() {
        "opens $EDITOR on the content to decide on"
    } else {
        "opens $EDITOR, for a text of several lines"
    };
    let back = format!(
        "leaves; the run waits until you open it again with `{} attach {}{words}`",
        holdshort(),
        plain::line(&interrupt.run)
    );
    let natural = free_text_option(interrupt).map(|offer| plain::line(&offer.label).into_owned());
    let alone =
        natural.map(|label| format!("typed without an option select “{label}”, after you confirm the text"));
    if let Some(alone) = &alone {
        out.extend(paint.fold(&format!("  {} {alone}", paint.bold("your own words  ")), HANG));
    }
    let by_path = interrupt.options.iter().any(Offer::keeps_some);
    if by_path {
        let what = "opens $EDITOR on the changed paths: delete the line of each change to reject";
        out.extend(paint.fold(&format!("  {} {what}", paint.bold(&format!("{:16}", "f"))), HANG));
    }
    let named = if interrupt.takes_a_number() { "its name" } else { "number or name" };
    for (key, what) in [
        (named, "chooses an option; text after it is sent as your reason or note"),
        ("e", edited),
        ("v", "shows everything, uncut"),
        ("d", &back),
        ("!", "asks for a reason, then freezes everything: until you unfreeze, no tool or model call starts"),
    ] {
        out.extend(paint.fold(&format!("  {} {what}", paint.bold(&format!("{key:16}"))), HANG));
    }
    out.push(String::new());
    out
}
