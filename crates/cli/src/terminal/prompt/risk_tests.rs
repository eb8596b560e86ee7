//! Tests that a risky call is released only by a `yes` after the risk was shown, and never by a single key.

use holdshort_protocol::Level;

use super::*;
use crate::terminal::test::interrupt;

const STAKES: &str = "the risk is high: a rule asks";

fn risky(kind: Kind) -> Prompt {
    let mut interrupt = interrupt(kind);
    interrupt.risk.level = Level::High;
    Prompt::new(interrupt, 0)
}

#[test]
fn what_is_risky_takes_a_yes_to_what_is_at_stake() {
    let paint = Paint::plain();
    for (kind, typed) in [
        (Kind::ToolApproval, &["1"][..]),
        (Kind::ToolApproval, &["approve"]),
        (Kind::ToolApproval, &["y"]),
        (Kind::ToolApproval, &["2"]),
        (Kind::Review, &["1"]),
        (Kind::Review, &["1 it is right"]),
        (Kind::PlanApproval, &["1"]),
        (Kind::UnknownOutcome, &["2"]),
    ] {
        let mut prompt = risky(kind);
        let mut shown = String::new();
        for line in typed {
            let Reaction::Ask(told) = prompt.line(line, paint) else { panic!("{kind:?} {typed:?}: sent") };
            shown.push_str(&told.join("\n"));
        }
        assert!(shown.contains(STAKES), "{kind:?} {typed:?}: {shown}");
        assert_eq!(prompt.label(), "y sends it, n drops it, or type something else> ");
        // A second Enter is not a `yes`.
        let Reaction::Ask(_) = prompt.line("", paint) else { panic!("{kind:?} {typed:?}: sent by Enter") };
        assert!(matches!(prompt.line("y", paint), Reaction::Decide(_)), "{kind:?} {typed:?}: not sent");
    }
    let mut prompt = risky(Kind::ToolApproval);
    prompt.line("1", paint);
    assert_eq!(prompt.line("n", paint), Reaction::Ask(vec!["  Not sent.".to_owned()]));
    // A decision that releases nothing risky is sent at once.
    assert!(matches!(risky(Kind::ToolApproval).line("5", paint), Reaction::Decide(_)));
    assert!(matches!(Prompt::new(interrupt(Kind::ToolApproval), 0).line("1", paint), Reaction::Decide(_)));
}

/// The confirmation of a decision calls a critical risk critical, and says that parts of the card are hidden.
#[test]
fn what_is_at_stake_stands_beside_what_was_not_shown() {
    let mut interrupt = interrupt(Kind::ToolApproval);
    interrupt.risk.level = Level::Critical;
    interrupt.unseen = Some("Not shown here: 9 more lines.".to_owned());
    let Reaction::Ask(shown) = Prompt::new(interrupt, 0).line("1", Paint::plain()) else { panic!("sent") };
    assert!(
        shown[0].ends_with("the risk is CRITICAL: a rule asks; Not shown here: 9 more lines."),
        "{shown:?}"
    );
}

/// A script gets no second question about a risk, because its next line was written before the risk could be shown.
#[test]
fn a_script_is_asked_nothing_more() {
    let said =
        |in_script| risky(Kind::ToolApproval).read_conversation_line("approve", in_script, Paint::plain());
    assert!(matches!(said(true), Reaction::Decide(_)));
    assert!(matches!(said(false), Reaction::Ask(_)));
}
