//! What options do, in words: the answer to `?`.

use holdshort_protocol::{Interrupt, Kind, Offer, TrialCard, plain};

use super::paint::Paint;
use super::{naming, time};
use crate::called::{holdshort, spelled};

/// Where the explanations stand.
const HANG: usize = 19;

/// Every option with its effect, then the keys.
pub(crate) fn options(interrupt: &Interrupt, words: &str, paint: Paint) -> Vec<String> {
    let mut out = vec![String::new()];
    let is_tried = TrialCard::of(&interrupt.payload).is_some();
    for offer in &interrupt.options {
        let id = format!("{:16}", plain::line(&offer.id));
        let effect = effect(interrupt.kind, is_tried, offer);
        out.extend(paint.fold(&format!("  {} {effect}", paint.bold(&id)), HANG));
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

/// Effect of one option in words. `is_tried`: the card shows the changes of a command that ran apart from the workspace.
fn effect(kind: Kind, is_tried: bool, offer: &Offer) -> String {
    let what = match (offer.effect.as_str(), kind) {
        ("proceed", Kind::ToolApproval) if is_tried => {
            "the changes that are shown happen, and no others; the command does not run again"
        }
        ("proceed", Kind::ToolApproval) => "it runs, exactly as shown, this once",
        ("proceed", Kind::PlanApproval) => "the agent goes on with this plan",
        ("proceed", Kind::Continuation) => "it goes on, with a fresh budget where a limit stopped it",
        ("proceed", _) => "it goes on",
        ("proceed_with_edit", Kind::ToolApproval) => {
            "your version of the arguments runs in its place; it is checked again first"
        }
        ("proceed_with_some", _) => {
            "what it did to the paths that you keep happens; the agent is told of the rest"
        }
        ("proceed_with_edit", _) => "your version takes its place",
        ("respond", Kind::ToolApproval) => "nothing runs; the agent takes your words for the tool's result",
        ("respond", Kind::Error) => "your words become the result of the step",
        ("respond", Kind::UnknownOutcome) => "your words become the result of the call; it is not run again",
        ("respond", _) => "the agent gets your words",
        ("grant", _) => "it runs, and calls like it go through in this session; `holdshort revoke` ends that",
        ("refuse", _) => "it does not run; the agent is told so, with your reason if you give one",
        ("retry", Kind::UnknownOutcome) => "it runs again: only if you are sure that it did not happen",
        ("retry", _) => "it is tried again",
        ("redo", _) => "it is done again, with your feedback",
        ("skip", Kind::Question) => "the agent goes on with an assumption of its own",
        ("skip", _) => "it is left out, and the run goes on",
        ("replan", _) => "the agent makes another plan, with your feedback",
        ("drop_plan", _) => "the plan is dropped, and the agent is told",
        ("release", _) if offer.needs_edit => "your version is released",
        ("release", _) => "it is released as it is",
        ("new_task", _) => "the agent starts on something new",
        ("end_turn", _) => "it does not run, and the agent's turn ends",
        ("finish", _) => "it ends here, with what there is",
        ("fail_run", _) => "the run ends as failed",
        ("cancel_run", _) => "the run is cancelled",
        (other, _) => return plain::line(other).into_owned(),
    };
    spelled(what)
}
