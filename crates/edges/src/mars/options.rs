//! Names of options in the MARS wire format: one table converts in both directions (contracts A5, A12 to A14, A22, A24,
//! A27, E7).

use holdshort_core::definition::PhaseKind;
use holdshort_core::gate::Source;
use holdshort_core::interrupt::{About, Effect, KEEP_SOME, Kind, Offer, Opened};
use holdshort_core::run::Run;

/// An option of an interrupt: Holdshort's id, the name in the MARS wire format, and the aliases that clients may send
/// instead. Among the aliases are the words that users type in the console of MARS (contract A31).
struct OptionName(&'static str, &'static str, &'static [&'static str]);

/// Word that the web UI sends in reply to every interrupt that accepts a text (contract E42). `submit` chooses the
/// option that takes the text. The other word, `exit`, chooses the option that stops the work.
const SUBMIT: &str = "submit";
const EXIT: &str = "exit";

/// Alias that stands for every text that is not one of the known words (contract A31). If a client sends a text that is
/// not a known word, the option with this alias is chosen and receives the text. An option that approves work never has
/// this alias, because the MARS wire format has no way to ask the person for a confirmation (contract E34). No client
/// can send this alias itself as a word.
const OWN_WORDS: &str = "(any other text)";
/// Alias of an option for an empty `resolution`, which the console of MARS sends when its input ends.
const NOTHING: &str = "";

const APPROVE: &[&str] =
    &["approved", "accept", "accepted", "allow", "continue", "continued", "proceed", "y", "yes"];
const REJECT: &[&str] =
    &["rejected", "deny", "denied", "abort", "aborted", "decline", "terminate", "n", "no", EXIT];
const MODIFY: &[&str] = &["modified", "edited"];
const APPROVE_WITH_WORDS: &[&str] =
    &["approved", "accept", "accepted", "allow", "continue", "continued", "proceed", "y", "yes", SUBMIT];
const ABORT: &[&str] = &["aborted", "reject", "rejected", "terminate", EXIT];

/// Options at a mandatory checkpoint in the conversation of an agent, with their names in the MARS wire format
/// (contract A5).
const AGENT: &[OptionName] = &[
    OptionName("approve", "continue", &["approved", "accept", "allow", "proceed", "continued"]),
    OptionName("edit", "edit", &["modify", "modified", "edited"]),
    OptionName("respond", "provide_instructions", &["instruct", "instructions", SUBMIT]),
    OptionName("reject", "abort", &["rejected", "deny", "denied", "aborted", "terminate", EXIT]),
];
const CALL: &[OptionName] = &[
    OptionName("approve", "allow", &["approved", "accept", "allowed", "continue", "proceed"]),
    OptionName("approve_session", "allow_session", &["allowed_session"]),
    OptionName("edit", "edit", &["modify", "modified", "edited"]),
    OptionName("respond", "provide_instructions", &["instruct", "instructions", SUBMIT]),
    OptionName("reject", "deny", &["rejected", "denied", "abort", "aborted"]),
];
const PLAN: &[OptionName] = &[
    OptionName("approve", "approve", APPROVE),
    OptionName("edit", "modify", MODIFY),
    OptionName("revise", "revise", &["revised", "revision", "replan", SUBMIT, OWN_WORDS]),
    OptionName("reject", "reject", REJECT),
];
const AFTER_STEP: &[OptionName] = &[
    OptionName(
        "continue",
        "continue",
        &["continued", "approve", "approved", "accept", "proceed", "c", SUBMIT],
    ),
    OptionName("redo", "redo", &["redone", "r"]),
    OptionName("abort", "abort", &["aborted", "reject", "rejected", "terminate", "a", EXIT]),
];
/// Options at a checkpoint before a step or between phases, and at a review, with their names in the MARS wire format.
const CHECKPOINT: &[OptionName] = &[
    OptionName("approve", "approve", APPROVE_WITH_WORDS),
    OptionName("edit", "modify", MODIFY),
    OptionName("skip", "skip", &["skipped", "s"]),
    OptionName("reject", "reject", REJECT),
];
const ERROR: &[OptionName] = &[
    OptionName("retry", "retry", &["retried", "r"]),
    OptionName("skip", "skip", &["skipped", "s"]),
    OptionName("hand_over", "hand_over", &[SUBMIT]),
    OptionName(
        "abort",
        "abort",
        &["aborted", "reject", "rejected", "terminate", "a", "n", "no", "quit", EXIT, OWN_WORDS],
    ),
];
const QUESTION: &[OptionName] = &[
    OptionName("answer", SUBMIT, &["respond", "answered", "submitted"]),
    OptionName("skip", "skip", &["skipped"]),
    OptionName("cancel", "cancel", &["cancelled", EXIT]),
];
const ESCALATION: &[OptionName] = &[
    OptionName("continue", "continue", &["continued", "approve", "approved", "accept", "proceed"]),
    OptionName("instruct", "provide_instructions", &["instructions", "respond", SUBMIT]),
    OptionName("abort", "abort", ABORT),
];
const CONTINUATION: &[OptionName] = &[
    OptionName("continue", "continue", &["continued", "approve", "approved", SUBMIT]),
    OptionName("finish", "finish", &["done", "finished"]),
    OptionName("cancel", "cancel", &["cancelled", "reject", "rejected", "abort", EXIT]),
];
const UNKNOWN_OUTCOME: &[OptionName] = &[
    OptionName("happened", "happened", &[SUBMIT]),
    OptionName("rerun", "rerun", &[]),
    OptionName("skip", "skip", &["skipped"]),
    OptionName("abort", "abort", ABORT),
];
const CHOICE: &[OptionName] = &[OptionName("custom", "custom", &[SUBMIT])];
const SATISFACTION: &[OptionName] = &[
    OptionName(
        "done",
        "satisfied",
        &[
            "done",
            "complete",
            "completed",
            "finish",
            "finished",
            "approve",
            "approved",
            "accept",
            "continue",
            "quit",
            "bye",
            EXIT,
        ],
    ),
    OptionName("submit", "needs_changes", &[SUBMIT, "revise", "changes", OWN_WORDS]),
    OptionName("new_task", "start_over", &["restart", "startover"]),
];
const TURN: &[OptionName] = &[
    OptionName("submit", SUBMIT, &["respond", "answer", "answered", OWN_WORDS]),
    OptionName("continue", "continue", &["continued", "approve", "approved", "accept", "proceed"]),
    OptionName("done", "done", &["complete", "completed", "finish", "finished"]),
    OptionName("exit", EXIT, &["quit", "bye", "end", "reject", "rejected", "abort", "cancel", NOTHING]),
    OptionName("new_task", "new_task", &[]),
];

const ALL: [&[OptionName]; 13] = [
    AGENT,
    CALL,
    PLAN,
    AFTER_STEP,
    CHECKPOINT,
    ERROR,
    QUESTION,
    ESCALATION,
    CONTINUATION,
    UNKNOWN_OUTCOME,
    CHOICE,
    SATISFACTION,
    TURN,
];

fn table_for(opened: &Opened) -> &'static [OptionName] {
    match opened.kind {
        Kind::ToolApproval if is_of_an_agent(opened) => AGENT,
        Kind::ToolApproval => CALL,
        Kind::PlanApproval => PLAN,
        Kind::Checkpoint if matches!(opened.about, About::AfterStep(_)) => AFTER_STEP,
        Kind::Checkpoint | Kind::Review => CHECKPOINT,
        Kind::Error => ERROR,
        Kind::Question => QUESTION,
        Kind::Escalation => ESCALATION,
        Kind::Continuation => CONTINUATION,
        Kind::UnknownOutcome => UNKNOWN_OUTCOME,
        Kind::Choice => CHOICE,
        Kind::Turn if asks_satisfaction(opened) => SATISFACTION,
        Kind::Turn => TURN,
        Kind::ClientCall => &[],
    }
}

/// Returns true if an interrupt asks the person about satisfaction with the result. Such an interrupt is a person's
/// turn that does not offer the option `exit`.
pub(super) fn asks_satisfaction(opened: &Opened) -> bool {
    opened.kind == Kind::Turn
        && opened.about != About::Interruption
        && opened.options.iter().all(|offer| offer.id != "exit")
}

/// Returns true if an interrupt comes from the second layer of gates: a mandatory checkpoint, or a checkpoint that the
/// judge added.
pub(super) fn is_of_an_agent(opened: &Opened) -> bool {
    let added = |source: Source| matches!(source, Source::Checkpoint | Source::Smart);
    opened.kind == Kind::ToolApproval && opened.risk.reasons.iter().any(|reason| added(reason.source))
}

/// Returns the name of an option in the MARS wire format. `id` is Holdshort's id of the option.
pub(super) fn name<'a>(opened: &Opened, id: &'a str) -> &'a str {
    table_for(opened).iter().find(|word| word.0 == id).map_or(id, |word| word.1)
}

/// Returns the names of the offered options in the MARS wire format, in the order in which clients show them.
pub(super) fn names(opened: &Opened) -> Vec<&str> {
    drawn(opened).map(|offer| name(opened, &offer.id)).collect()
}

/// Returns the names, in the MARS wire format, of the options that the client draws as buttons. `is_wordless` is true
/// if the client's buttons send no text, as in the copilot's view (contract A33). In this case, options that need a
/// text are omitted, unless the client shows a text field for the interrupt. If all options would be omitted, all are
/// returned.
pub(super) fn buttons(opened: &Opened, is_wordless: bool) -> Vec<&str> {
    let is_wordless = is_wordless && !takes_text(opened);
    let can_press = |offer: &&Offer| !is_wordless || !(offer.needs_text || offer.needs_edit);
    let pressed: Vec<&str> = drawn(opened).filter(can_press).map(|offer| name(opened, &offer.id)).collect();
    if pressed.is_empty() { names(opened) } else { pressed }
}

/// Returns true if the client shows a text field for the interrupt.
pub(super) fn takes_text(opened: &Opened) -> bool {
    matches!(opened.kind, Kind::Question | Kind::Turn)
}

/// Returns the options of an interrupt that clients show as buttons. The option `KEEP_SOME` is omitted, because it
/// needs a list of paths, and clients cannot send such a list.
pub(super) fn drawn(opened: &Opened) -> impl Iterator<Item = &Offer> {
    opened.options.iter().filter(|offer| offer.id != KEEP_SOME)
}

pub(super) struct ChosenOption<'o> {
    pub(super) offer: &'o Offer,
    /// True if a free text of the client chose the option, which then receives this text.
    pub(super) is_own_words: bool,
}

/// Returns the option that a client chose, if the interrupt offers this option. `said` is the option's name in the MARS
/// wire format, Holdshort's id of the option, an alias, or free text. A word that names an option of any interrupt is
/// never treated as free text.
pub(super) fn choose<'o>(opened: &'o Opened, said: &str) -> Option<ChosenOption<'o>> {
    let said = canonical(said);
    let offered = |id: &str| opened.options.iter().find(|offer| offer.id == id);
    let other = |said: &str| {
        table_for(opened).iter().find(|word| word.2.contains(&said)).and_then(|word| offered(word.0))
    };
    let by_name = table_for(opened).iter().find(|word| word.1 == said).and_then(|word| offered(word.0));
    let named = by_name.or_else(|| offered(&said)).or_else(|| other(&said));
    if let Some(offer) = named {
        return Some(ChosenOption { offer, is_own_words: false });
    }
    let is_known = |word: &OptionName| word.0 == said || word.1 == said || word.2.contains(&&*said);
    if said.is_empty() || ALL.into_iter().flatten().any(is_known) {
        return None;
    }
    other(OWN_WORDS).map(|offer| ChosenOption { offer, is_own_words: true })
}

/// Returns the option of an interrupt that rejects the call and gives the text of the person to the agent (contract
/// E43). An edit that contains only a text chooses this option.
pub(super) fn instruction(opened: &Opened) -> Option<&Offer> {
    let refusing = |id: &str| {
        let offered = opened.options.iter().find(|offer| offer.id == id);
        offered.filter(|offer| offer.effect == Effect::Refuse)
    };
    refusing("respond").or_else(|| refusing("reject")).filter(|_| opened.kind == Kind::ToolApproval)
}

/// Returns true if a client sent `submit`, with which the web UI sends a text that the person entered.
pub(super) fn is_submit(said: &str) -> bool {
    canonical(said) == SUBMIT
}

fn canonical(said: &str) -> String {
    said.trim().to_lowercase().replace(['-', ' '], "_")
}

/// Returns the value of `checkpoint_type`, which tells clients how to show the interrupt (contract A32).
pub(super) fn style<'r>(run: &'r Run, opened: &'r Opened) -> &'r str {
    match opened.kind {
        Kind::Escalation => "ag2_dynamic",
        Kind::ToolApproval if is_of_an_agent(opened) => "ag2_dynamic",
        Kind::Turn => "copilot_turn",
        _ => position(run, opened),
    }
}

/// Returns the name in the MARS wire format of the point of the run at which an interrupt opened (contract E3).
pub(super) fn position<'r>(run: &'r Run, opened: &'r Opened) -> &'r str {
    let of = |source: Source| opened.risk.reasons.iter().find(move |reason| reason.source == source);
    match (&opened.about, opened.kind) {
        (About::Plan(_), _) | (_, Kind::PlanApproval) => "after_planning",
        (About::BeforeStep(_), _) => "before_step",
        (About::AfterStep(_), _) => "after_step",
        (About::Failure(_), _) => "on_error",
        (About::Phase(phase), _) => of_a_phase(run, phase).unwrap_or("custom"),
        (About::Limit(_), _) => "max_rounds",
        (About::Ending(_), _) => "custom",
        (About::Round(_), Kind::Choice) => "proposal",
        (About::Round(_), Kind::Turn) if asks_satisfaction(opened) => "satisfaction",
        (About::Round(_), Kind::Turn) | (About::Interruption, _) => "copilot_turn",
        (About::Printed(_) | About::Round(_), _) | (_, Kind::Question) => "clarification",
        (About::Call(_), _) => match (of(Source::Checkpoint), of(Source::Smart)) {
            (Some(reason), _) => &reason.code,
            (None, Some(_)) => "smart_approval",
            (None, None) => opened.kind.as_str(),
        },
        (About::External | About::Hold, _) => opened.kind.as_str(),
    }
}

/// Returns the position of a checkpoint phase, with the name that the config gives this position.
fn of_a_phase<'r>(run: &'r Run, phase: &str) -> Option<&'r str> {
    let own = run.definition.phases.iter().find(|each| each.id == phase);
    match &own.or_else(|| run.called.get(phase).map(|called| &called.phase))?.kind {
        PhaseKind::Checkpoint(look) => look.position.as_deref(),
        PhaseKind::OneShot { .. }
        | PhaseKind::Planning(_)
        | PhaseKind::Control(_)
        | PhaseKind::IdeaGeneration(_)
        | PhaseKind::Copilot(_)
        | PhaseKind::Call { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use holdshort_core::interrupt::Outcome;

    use super::*;

    fn opened(kind: Kind, about: &About, sources: &[Source]) -> Opened {
        let reasons: Vec<_> = sources
            .iter()
            .map(|source| serde_json::json!({"source": source, "code": "c", "text": "t"}))
            .collect();
        serde_json::from_value(serde_json::json!({
            "interrupt": "int_01k6f0000000000000000000cc", "kind": kind, "about": about,
            "options": kind.row().options.iter().map(Offer::from_row).collect::<Vec<_>>(),
            "risk": {"level": "low", "reasons": reasons}, "on_expiry": "reject", "quorum": 1,
        }))
        .unwrap()
    }

    /// No word for an option has two meanings, and every option can be chosen by its name in the MARS wire format.
    #[test]
    fn each_word_has_one_meaning() {
        let about = || About::Call("call_1".to_owned());
        let mut all: Vec<Opened> = Kind::ALL.into_iter().map(|kind| opened(kind, &about(), &[])).collect();
        all.push(opened(Kind::Checkpoint, &About::AfterStep("s".to_owned()), &[]));
        all.push(opened(Kind::ToolApproval, &about(), &[Source::Checkpoint]));
        for opened in &all {
            let mut seen = std::collections::BTreeMap::new();
            for OptionName(id, wire, also) in table_for(opened) {
                for word in std::iter::once(wire).chain(*also) {
                    let other = seen.insert(word, id);
                    assert!(other.is_none(), "`{word}` in {:?}: {other:?} and {id}", opened.kind);
                }
                if let Some(meant) = choose(opened, wire) {
                    assert_eq!(
                        (meant.offer.id.as_str(), meant.is_own_words),
                        (*id, false),
                        "{:?}",
                        opened.kind
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_said_is_what_is_meant() {
        let call = || About::Call("call_1".to_owned());
        let plan = opened(Kind::PlanApproval, &About::Plan("planning".to_owned()), &[]);
        let before = opened(Kind::Checkpoint, &About::BeforeStep("s".to_owned()), &[]);
        let after = opened(Kind::Checkpoint, &About::AfterStep("s".to_owned()), &[]);
        let tool = opened(Kind::ToolApproval, &call(), &[Source::Default]);
        let must = opened(Kind::ToolApproval, &call(), &[Source::Workflow, Source::Checkpoint]);
        let error = opened(Kind::Error, &About::Failure("s".to_owned()), &[]);
        let question = opened(Kind::Question, &call(), &[]);
        let table = [
            (&plan, "Approved", Some("approve")),
            (&plan, "modify", Some("edit")),
            (&plan, "edit", Some("edit")),
            (&plan, "skip", None),
            (&before, "continue", Some("continue")),
            (&before, "rejected", Some("reject")),
            (&after, "approve", Some("approve")),
            (&after, "approved", Some("continue")),
            (&tool, "allow", Some("approve")),
            (&tool, "allow-session", Some("approve_session")),
            (&tool, "deny", Some("reject")),
            (&must, "continue", Some("approve")),
            (&must, "abort", Some("reject")),
            (&must, "provide_instructions", Some("respond")),
            (&error, "retry", Some("retry")),
            (&error, "approve", None),
            (&error, "", None),
            (&plan, "submit", Some("revise")),
            (&plan, "exit", Some("reject")),
            (&before, "submit", Some("approve")),
            (&before, "exit", Some("reject")),
            (&after, "submit", Some("continue")),
            (&tool, "submit", Some("respond")),
            // `exit` does not reject a call at an ordinary approval.
            (&tool, "exit", None),
            (&must, "exit", Some("reject")),
            (&error, "submit", Some("hand_over")),
            (&question, "submit", Some("answer")),
            (&question, "exit", Some("cancel")),
        ];
        for (opened, said, meant) in table {
            let found = choose(opened, said).map(|meant| meant.offer.id.as_str());
            assert_eq!(found, meant, "{said} at {:?}", opened.about);
        }
    }

    fn offering(kind: Kind, about: &About, ids: &[&str]) -> Opened {
        let mut opened = opened(kind, about, &[]);
        opened.options.retain(|offer| ids.contains(&offer.id.as_str()));
        opened
    }

    /// The words that contracts A31 and E34 list for the console of MARS choose their options, and similar texts do
    /// not. The flag in each row is true if the option receives the text.
    #[test]
    fn the_words_of_a_console_mean_what_they_did() {
        let step = || "s".to_owned();
        let plan = offering(
            Kind::PlanApproval,
            &About::Plan("planning".to_owned()),
            &["approve", "edit", "revise", "reject"],
        );
        let before =
            offering(Kind::Checkpoint, &About::BeforeStep(step()), &["approve", "edit", "skip", "reject"]);
        let after = offering(Kind::Checkpoint, &About::AfterStep(step()), &["continue", "redo", "abort"]);
        let error = offering(Kind::Error, &About::Failure(step()), &["retry", "skip", "hand_over", "abort"]);
        let spent = offering(Kind::Error, &About::Failure(step()), &["skip", "hand_over", "abort"]);
        let round = || About::Round("work".to_owned());
        let turn = offering(Kind::Turn, &round(), &["submit", "new_task", "continue", "done", "exit"]);
        let satisfied = offering(Kind::Turn, &round(), &["submit", "new_task", "done"]);
        let call = opened(Kind::ToolApproval, &About::Call("call_1".to_owned()), &[Source::Default]);
        let must = opened(Kind::ToolApproval, &About::Call("call_1".to_owned()), &[Source::Checkpoint]);
        let limit = offering(Kind::Continuation, &About::Limit(step()), &["continue", "finish", "cancel"]);
        let mut choice = opened(Kind::Choice, &round(), &[]);
        choice.options[0].id = "n".to_owned();

        let (name, text) = (|id| Some((id, false)), |id| Some((id, true)));
        let table = [
            (&plan, "y", name("approve")),
            (&plan, " Y ", name("approve")),
            (&plan, "YES", name("approve")),
            (&plan, "n", name("reject")),
            (&plan, "No", name("reject")),
            (&plan, "add tests", text("revise")),
            (&plan, "yes, but add tests", text("revise")),
            (&plan, "Approve it once there are tests", text("revise")),
            (&plan, "", None),
            (&plan, "  ", None),
            (&plan, "s", None),
            (&plan, "skip", None),
            (&plan, "retry", None),
            (&plan, OWN_WORDS, text("revise")),
            (&before, "y", name("approve")),
            (&before, "n", name("reject")),
            (&before, "S", name("skip")),
            // Accepting these texts would approve the work, because this wire format cannot ask for a confirmation.
            (&before, "only the fast ones", None),
            (&before, "maybe", None),
            (&before, "yy", None),
            (&before, "c", None),
            (&before, "", None),
            (&after, "c", name("continue")),
            (&after, "R", name("redo")),
            (&after, "a", name("abort")),
            (&after, "well done", None),
            (&after, "y", None),
            (&after, "n", None),
            (&after, "s", None),
            (&after, "", None),
            (&error, "r", name("retry")),
            (&error, "s", name("skip")),
            (&error, "A", name("abort")),
            (&error, "n", name("abort")),
            (&error, "leave it", text("abort")),
            (&error, "y", None),
            (&error, "approve", None),
            (&error, "revise", None),
            (&error, "", None),
            // A known word is not free text, even if the request does not offer the word's option.
            (&spent, "r", None),
            (&spent, "retry", None),
            (&turn, "done", name("done")),
            (&turn, "Complete", name("done")),
            (&turn, "finished", name("done")),
            (&turn, "exit", name("exit")),
            (&turn, "QUIT", name("exit")),
            (&turn, "bye", name("exit")),
            (&turn, "", name("exit")),
            (&turn, " ", name("exit")),
            (&turn, "bye for now", text("submit")),
            (&turn, "the finished ones", text("submit")),
            (&turn, "shorter", text("submit")),
            (&turn, "skip", None),
            (&satisfied, "complete", name("done")),
            (&satisfied, "bye", name("done")),
            (&satisfied, "in blue", text("submit")),
            (&satisfied, "", None),
            // The source system's consoles never show these requests.
            (&call, "y", None),
            (&call, "go ahead", None),
            (&call, "", None),
            (&must, "y", None),
            (&must, "c", None),
            (&limit, "y", None),
            (&limit, "go on", None),
            // The ids of the request's options have precedence over all words.
            (&choice, "n", name("n")),
            (&choice, "y", None),
            (&choice, "option_9", None),
        ];
        for (opened, said, expected) in table {
            let found = choose(opened, said).map(|meant| (meant.offer.id.as_str(), meant.is_own_words));
            assert_eq!(found, expected, "`{said}` at {:?} about {:?}", opened.kind, opened.about);
        }
    }

    /// An unknown text never approves an interrupt of any kind (contract E34).
    #[test]
    fn text_that_is_no_word_approves_nothing() {
        for word in ALL.into_iter().flatten().filter(|word| word.2.contains(&OWN_WORDS)) {
            let rows =
                Kind::ALL.into_iter().flat_map(|kind| kind.row().options).filter(|row| row.id == word.0);
            for effect in rows.flat_map(|row| row.effects) {
                assert_ne!(effect.outcome(), Outcome::Approved, "{}", word.0);
            }
        }
    }
}
