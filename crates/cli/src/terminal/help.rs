//! Help on options and keys: the answer to `?`.

use holdshort_protocol::{Interrupt, Offer, plain};

use super::paint::Paint;
use super::{naming, time};
use crate::called::holdshort;

/// Column of the explanations.
const HANG: usize = 19;

/// Lists every option with its effect, then the keys.
pub(crate) fn options(interrupt: &Interrupt, words: &str, paint: Paint) -> Vec<String> {
    let mut out = vec![String::new()];
    for offer in &interrupt.options {
        let id = format!("{:16}", plain::line(&offer.id));
        out.extend(paint.fold(&format!("  {} {}", paint.bold(&id), plain::line(&offer.does)), HANG));
    }
    out.push(String::new());
    let expiry = match &interrupt.expires_at {
        Some(at) => {
            format!("If nobody decides until {}: {}.", time::at(at), plain::line(&interrupt.on_expiry))
        }
        None => "It waits for as long as it takes; nothing is lost while you think.".to_owned(),
    };
    out.extend(paint.fold(&format!("  {expiry}"), 2).iter().map(|line| paint.dim(line)));
    let edited = if interrupt.editable().is_some() {
        "opens $EDITOR on what is asked about"
    } else {
        "opens $EDITOR, for words of many lines"
    };
    let back = format!(
        "leaves; the run keeps its place, and `{} attach {}{words}` comes back to it",
        holdshort(),
        plain::line(&interrupt.run)
    );
    let natural = naming::natural(interrupt).map(|offer| plain::line(&offer.label).into_owned());
    let alone =
        natural.map(|label| format!("alone mean “{label}”; they are shown back before they are sent"));
    if let Some(alone) = &alone {
        out.extend(paint.fold(&format!("  {} {alone}", paint.bold("your own words  ")), HANG));
    }
    let by_path = interrupt.options.iter().any(Offer::keeps_some);
    if by_path {
        let what = "opens $EDITOR on the paths that it changes: delete the lines of those to drop";
        out.extend(paint.fold(&format!("  {} {what}", paint.bold(&format!("{:16}", "f"))), HANG));
    }
    let named = if interrupt.takes_a_number() { "its name" } else { "number or name" };
    for (key, what) in [
        (named, "chooses an option; words after it go along as your reason or note"),
        ("e", edited),
        ("v", "shows everything, uncut"),
        ("d", &back),
        ("!", "freezes everything, once you say why: no tool and no model call starts until it is lifted"),
    ] {
        out.extend(paint.fold(&format!("  {} {what}", paint.bold(&format!("{key:16}"))), HANG));
    }
    out.push(String::new());
    out
}
