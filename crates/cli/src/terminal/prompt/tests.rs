//! Tests of typed lines, letters and edits, and of the decisions that result from them.

use super::*;
use crate::terminal::test::interrupt;

fn decision(option: &str, text: Option<&str>) -> Decision {
    let (option, text) = (option.to_owned(), text.map(str::to_owned));
    Decision { option, text, version: Some(1), ..Decision::default() }
}

#[test]
fn lines_become_decisions() {
    let table: &[(Kind, &[&str], Option<Decision>)] = &[
        (Kind::ToolApproval, &["1"], Some(decision("approve", None))),
        (Kind::ToolApproval, &["approve_session"], Some(decision("approve_session", None))),
        (Kind::ToolApproval, &["  YES "], Some(decision("approve", None))),
        (Kind::ToolApproval, &["deny"], Some(decision("reject", None))),
        (Kind::ToolApproval, &["0"], None),
        (Kind::ToolApproval, &["6"], None),
        (Kind::ToolApproval, &["", ""], None),
        (Kind::ToolApproval, &["4", "it is 42"], Some(decision("respond", Some("it is 42")))),
        (Kind::ToolApproval, &["4", "", "1"], Some(decision("approve", None))),
        (Kind::ToolApproval, &["5 use integers"], None),
        (Kind::ToolApproval, &["5 use integers", ""], Some(decision("reject", Some("use integers")))),
        (Kind::ToolApproval, &["no need for it", ""], Some(decision("reject", Some("no need for it")))),
        (Kind::ToolApproval, &["use integers", "1"], Some(decision("approve", None))),
        // While a decision waits for confirmation, yes and no are about this decision and select no option.
        (Kind::ToolApproval, &["use integers", "y"], Some(decision("reject", Some("use integers")))),
        (Kind::ToolApproval, &["use integers", " YES"], Some(decision("reject", Some("use integers")))),
        (Kind::ToolApproval, &["use integers", "n"], None),
        (Kind::ToolApproval, &["use integers", "no", ""], None),
        (Kind::ToolApproval, &["use integers", "n", "y"], Some(decision("approve", None))),
        (Kind::ToolApproval, &["use integers", "allow"], None),
        (Kind::ToolApproval, &["use integers", "allow", ""], Some(decision("reject", Some("use integers")))),
        (Kind::ToolApproval, &["use integers", "?", "v", ""], Some(decision("reject", Some("use integers")))),
        (Kind::ToolApproval, &["use integers", "use floats"], None),
        (
            Kind::ToolApproval,
            &["use integers", "use floats", "ok"],
            Some(decision("reject", Some("use floats"))),
        ),
        (Kind::PlanApproval, &["tests first", "y"], Some(decision("revise", Some("tests first")))),
        (Kind::Review, &["3", "n"], None),
        (Kind::Question, &["left, I think", "y"], Some(decision("answer", Some("left, I think")))),
        (Kind::Question, &["left, I think", "n", ""], None),
        (Kind::Review, &["3", "yes"], Some(decision("reject", None))),
        (Kind::Error, &["leave it", ""], None),
        (Kind::Error, &["leave it", "y"], Some(decision("abort", Some("leave it")))),
        (Kind::Error, &["leave it", "r"], None),
        (Kind::PlanApproval, &["tests first", ""], Some(decision("revise", Some("tests first")))),
        (Kind::Question, &["1"], Some(decision("answer", Some("left")))),
        // A number that selects nothing is an answer. Skipping a question must be confirmed.
        (Kind::Question, &["7"], None),
        (Kind::Question, &["7", ""], Some(decision("answer", Some("7")))),
        (Kind::Question, &["7", "n", "1"], Some(decision("answer", Some("left")))),
        (Kind::Question, &["0", "y"], Some(decision("answer", Some("0")))),
        (Kind::Question, &["4"], None),
        (Kind::Question, &["4", ""], None),
        (Kind::Question, &["4", "n"], None),
        (Kind::Question, &["4", "y"], Some(decision("skip", None))),
        (Kind::Question, &["skip the last one", ""], Some(decision("answer", Some("skip the last one")))),
        (Kind::Question, &["no", ""], Some(decision("answer", Some("no")))),
        (Kind::Question, &["3", "up"], Some(decision("answer", Some("up")))),
        (Kind::Review, &["looks good", ""], None),
        (Kind::Review, &["1"], Some(decision("approve", None))),
        (Kind::Review, &["3"], None),
        (Kind::Review, &["3", ""], Some(decision("reject", None))),
        (Kind::Review, &["reject", "1"], Some(decision("approve", None))),
        (Kind::Error, &["r"], Some(decision("retry", None))),
        (Kind::Error, &["s", ""], None),
        (Kind::Error, &["s", "y"], Some(decision("skip", None))),
        (Kind::UnknownOutcome, &["1", "it printed 3"], Some(decision("happened", Some("it printed 3")))),
    ];
    for (kind, lines, expected) in table {
        let mut prompt = Prompt::new(interrupt(*kind), 0);
        let mut sent = None;
        for line in *lines {
            assert_eq!(sent, None, "{kind:?} {lines:?}");
            if let Reaction::Decide(decision) = prompt.line(line, Paint::plain()) {
                sent = Some(decision);
            }
        }
        assert_eq!(sent, *expected, "{kind:?} {lines:?}");
    }
}

/// A script cannot confirm a text. A text that releases no work is therefore sent at once, so that no later line of the
/// script replaces the text.
#[test]
fn in_a_script_words_that_release_nothing_are_sent_at_once() {
    let table = [
        (Kind::ToolApproval, "use integers", Some("reject")),
        (Kind::ToolApproval, "5 use integers", Some("reject")),
        (Kind::ToolApproval, "1 it is fine", None),
        (Kind::PlanApproval, "tests first", Some("revise")),
        (Kind::Question, "left, I think", Some("answer")),
        // This option ends the run.
        (Kind::Error, "leave it", None),
    ];
    for (kind, line, sent) in table {
        let said = |in_script: bool| match Prompt::new(interrupt(kind), 0).read_conversation_line(
            line,
            in_script,
            Paint::plain(),
        ) {
            Reaction::Decide(decision) => Some(decision.option),
            _ => None,
        };
        assert_eq!(said(true).as_deref(), sent, "{kind:?}: {line}");
        assert_eq!(said(false).as_deref(), sent.filter(|_| kind == Kind::Question), "{kind:?}: {line}");
    }
}

/// A card with cut lines shows the number of these lines below its options, and the person must confirm a release.
#[test]
fn lines_that_a_card_cut_are_counted_before_it_goes_on() {
    let paint = Paint::plain();
    let mut cut = Prompt::new(interrupt(Kind::ToolApproval), 9);
    assert_eq!(cut.keys(paint)[0], "  9 lines of this card are not shown; v shows them");
    let Reaction::Ask(shown) = cut.line("1", paint) else { panic!("sent unseen") };
    assert!(shown[0].ends_with("9 lines of this card are not shown; v shows them."), "{shown:?}");
    assert_eq!(cut.line("", paint), Reaction::Decide(decision("approve", None)));
    let mut refused = Prompt::new(interrupt(Kind::ToolApproval), 9);
    assert_eq!(refused.line("5", paint), Reaction::Decide(decision("reject", None)));
    let mut looked = Prompt::new(interrupt(Kind::ToolApproval), 9);
    assert_eq!(looked.line("v", paint), Reaction::Uncut);
    assert!(looked.mark_shown_whole());
    assert_eq!(looked.line("1", paint), Reaction::Decide(decision("approve", None)));
}

/// A typed number that selects no option is not sent as text before the person has confirmed it, even in a
/// conversation.
#[test]
fn a_number_beside_suggested_answers_is_shown_back_in_a_conversation() {
    let paint = Paint::plain();
    let mut prompt = Prompt::new(interrupt(Kind::Question), 0);
    assert!(matches!(prompt.read_conversation_line("7", false, paint), Reaction::Ask(_)));
    assert_eq!(
        prompt.read_conversation_line("", false, paint),
        Reaction::Decide(decision("answer", Some("7")))
    );
}

/// A confirmation names the hidden parts of a card before the person releases them. A refusal needs no confirmation.
#[test]
fn what_a_card_has_not_shown_is_said_before_it_is_released() {
    let paint = Paint::plain();
    let cut = || {
        let mut interrupt = interrupt(Kind::ToolApproval);
        interrupt.unseen = Some("Not shown here: 9 more added lines, 8 more removed lines.".to_owned());
        Prompt::new(interrupt, 0)
    };
    for option in ["1", "y", "approve", "2"] {
        let mut prompt = cut();
        let Reaction::Ask(shown) = prompt.line(option, paint) else { panic!("{option}: sent unseen") };
        let said = "Not shown here: 9 more added lines, 8 more removed lines.";
        assert!(shown[0].ends_with(said), "{option}: {shown:?}");
        let Reaction::Decide(_) = prompt.line("y", paint) else { panic!("{option}: not sent") };
    }
    assert_eq!(cut().line("5", paint), Reaction::Decide(decision("reject", None)));
    let mut prompt = cut();
    prompt.line("1", paint);
    assert_eq!(prompt.line("n", paint), Reaction::Ask(vec!["  Not sent.".to_owned()]));
}

/// Each option of a step's review has a letter. The person must confirm a text before it is sent (contract A31, with
/// E34).
#[test]
fn around_a_step_letters_and_words_mean_what_they_did() {
    let before = ["approve", "edit", "skip", "reject"];
    let after = ["continue", "redo", "abort"];
    let table: &[(&[&str], &[&str], Option<Decision>)] = &[
        (&before, &["y"], Some(decision("approve", None))),
        (&before, &["s"], None),
        (&before, &["s", "y"], Some(decision("skip", None))),
        (&before, &["n", ""], Some(decision("reject", None))),
        (&before, &["only the fast ones"], None),
        (&before, &["only the fast ones", ""], Some(decision("approve", Some("only the fast ones")))),
        (&after, &["c"], Some(decision("continue", None))),
        (&after, &["y"], Some(decision("continue", None))),
        (&after, &["r"], Some(decision("redo", None))),
        (&after, &["redo use ISO", ""], Some(decision("redo", Some("use ISO")))),
        (&after, &["a", ""], None),
        (&after, &["a", "y"], Some(decision("abort", None))),
        (&after, &["a", "c"], None),
        (&before, &["only the fast ones", "y"], Some(decision("approve", Some("only the fast ones")))),
        (&before, &["n", "y"], Some(decision("reject", None))),
        (&before, &["n", "n"], None),
        (&after, &["well done"], None),
        (&after, &["well done", ""], Some(decision("continue", Some("well done")))),
    ];
    for (offered, lines, expected) in table {
        let mut interrupt = interrupt(Kind::Checkpoint);
        interrupt.options.retain(|offer| offered.contains(&offer.id.as_str()));
        let mut prompt = Prompt::new(interrupt, 0);
        let sent = lines.iter().find_map(|line| match prompt.line(line, Paint::plain()) {
            Reaction::Decide(decision) => Some(decision),
            _ => None,
        });
        assert_eq!(sent, *expected, "{offered:?} {lines:?}");
    }
}

/// A few fixed words end a conversation. Any other text is sent to the agent as a message (contract A31).
#[test]
fn a_turn_is_ended_by_its_words() {
    let (all, few): (&[&str], &[&str]) = (&["submit", "continue", "done", "exit"], &["submit", "done"]);
    for (offered, line, option) in [
        (all, "done", "done"),
        (all, "Complete", "done"),
        (all, "finished", "done"),
        (all, "exit", "exit"),
        (all, "quit", "exit"),
        (all, "BYE", "exit"),
        (few, "bye", "done"),
        (all, "continue", "continue"),
    ] {
        let mut interrupt = interrupt(Kind::Turn);
        interrupt.options.retain(|offer| offered.contains(&offer.id.as_str()));
        let reaction = Prompt::new(interrupt, 0).line(line, Paint::plain());
        assert_eq!(reaction, Reaction::Decide(decision(option, None)), "{line}");
    }
    for words in ["bye for now", "yes", "the finished ones"] {
        let mut prompt = Prompt::new(interrupt(Kind::Turn), 0);
        prompt.line(words, Paint::plain());
        assert_eq!(prompt.line("", Paint::plain()), Reaction::Decide(decision("submit", Some(words))));
    }
}

#[test]
fn an_edit_is_shown_back_before_it_is_sent() {
    let mut prompt = Prompt::new(interrupt(Kind::ToolApproval), 0);
    let Reaction::Edit(editing) = prompt.line("e", Paint::plain()) else { panic!("nothing to edit") };
    assert_eq!((editing.form, &*editing.text), (Form::Json, "{\n  \"command\": \"ls\"\n}"));
    assert!(matches!(prompt.edited(&editing, &editing.text, Paint::plain()), Reaction::Ask(_)));
    assert!(matches!(prompt.edited(&editing, "{", Paint::plain()), Reaction::Ask(_)));
    let Reaction::Ask(shown) = prompt.edited(&editing, "{\n  \"command\": \"ls -l\"\n}\n", Paint::plain())
    else {
        panic!("sent at once")
    };
    assert_eq!(
        shown,
        [
            "  Edit and approve:",
            "      {",
            "    -   \"command\": \"ls\"",
            "    +   \"command\": \"ls -l\"",
            "      }"
        ]
    );
    let expected = Decision { edit: serde_json::json!({"command": "ls -l"}), ..decision("edit", None) };
    assert_eq!(prompt.line("", Paint::plain()), Reaction::Decide(expected));
}

/// The editor lists the changed paths of a trial, one path per line. The changes of the lines that the person leaves
/// are kept.
#[test]
fn changes_are_kept_by_file() {
    let mut tried = interrupt(Kind::ToolApproval);
    assert!(!matches!(Prompt::new(tried.clone(), 0).line("f", Paint::plain()), Reaction::Edit(_)));
    let parts = ["\\\\x", "new/b.rs", "a.rs", "two\nlines"];
    let made = parts
        .map(|path| serde_json::json!({ "path": path, "does": "created", "kind": "file", "not_text": true }));
    tried.payload["trial"] =
        serde_json::json!({ "changes": made, "not_shown": 7, "keep": { "parts": parts, "not_shown": 7 } });
    // The card does not show the complete trial, but it shows all changes that the person keeps.
    tried.unseen = Some("Not shown here: 7 more paths.".to_owned());
    let row = holdshort_core::interrupt::option(
        holdshort_core::interrupt::Kind::ToolApproval,
        holdshort_core::interrupt::KEEP_SOME,
    );
    let offer = serde_json::to_value(holdshort_core::interrupt::Offer::from_row(row.unwrap())).unwrap();
    tried.options.push(serde_json::from_value(offer).unwrap());
    let mut prompt = Prompt::new(tried, 0);
    let Reaction::Edit(editing) = prompt.line("f", Paint::plain()) else { panic!("nothing to choose") };
    assert_eq!((editing.form, &*editing.text), (Form::Paths, "\\\\x\nnew/b.rs\na.rs\ntwo\\nlines"));
    let Reaction::Ask(shown) = prompt.edited(&editing, "\\\\x\nnew/b.rs\ntwo\\nlines\n", Paint::plain())
    else {
        panic!("sent at once")
    };
    let expected = [
        "  Approve some of the changes:",
        "      \\\\x",
        "      new/b.rs",
        "    - a.rs",
        "      two\\nlines",
        "    7 more paths do not fit into the list and are dropped",
    ];
    assert_eq!(shown, expected);
    let expected =
        Decision { edit: serde_json::json!([parts[0], parts[1], parts[3]]), ..decision("keep_some", None) };
    assert_eq!(prompt.line("", Paint::plain()), Reaction::Decide(expected));
}

/// A form asks for a structured answer field by field, unless the person types JSON. A draft with blanks is not sent.
#[test]
fn an_answer_of_data_is_json() {
    let mut question = interrupt(Kind::Question);
    question.payload = serde_json::json!({});
    question.response_schema = Some(serde_json::json!({
        "$defs": {"Slot": {"type": "object", "required": ["day", "hours"], "properties":
            {"day": {"enum": ["mon", "tue"]}, "hours": {"type": "integer"}, "note": {"type": "string"}}}},
        "$ref": "#/$defs/Slot",
    }));
    let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
    (answer.needs_text, answer.needs_edit) = (false, true);
    let paint = Paint::plain();
    let mut prompt = Prompt::new(question, 0);
    let Reaction::Ask(told) = prompt.line("monday", paint) else { panic!("sent") };
    assert_eq!(told, ["  “monday” is not one of them.", "  1 of 3: day (1 mon, 2 tue)"]);
    let Reaction::Ask(told) = prompt.line("{monday", paint) else { panic!("sent") };
    assert!(told[0].starts_with("  The answer must be JSON, but this is not:"), "{told:?}");
    let typed = serde_json::json!({"day": "tue", "hours": 2});
    let Reaction::Ask(shown) = prompt.line(&typed.to_string(), paint) else { panic!("sent unseen") };
    assert!(shown.join("\n").contains("\"tue\""), "{shown:?}");
    let expected = Decision { edit: typed, ..decision("answer", None) };
    assert_eq!(prompt.line("", paint), Reaction::Decide(expected));
    // After the answer is discarded, its fields are asked again. `o` returns to the options.
    for (back, pick) in [("n", "e"), ("o", "answer")] {
        prompt.line(back, paint);
        let Reaction::Edit(editing) = prompt.line(pick, paint) else { panic!("{pick}") };
        let begun = "{\n  \"day\": null,\n  \"hours\": null\n}";
        assert_eq!((&*editing.text, editing.form), (begun, Form::Json), "{pick}");
        let Reaction::Ask(told) = prompt.edited(&editing, begun, paint) else { panic!("nobody wrote that") };
        assert_eq!(told, ["  Nothing changed, nothing sent."], "{pick}");
        let edit = serde_json::json!({"day": "mon", "hours": 0});
        let Reaction::Ask(_) = prompt.edited(&editing, &edit.to_string(), paint) else {
            panic!("sent unseen")
        };
        let expected = Decision { edit, ..decision("answer", None) };
        assert_eq!(prompt.line("", paint), Reaction::Decide(expected));
    }
}

/// If a number can be the answer to a question, no option of the question has a number.
#[test]
fn a_number_is_an_answer_where_the_schema_takes_one() {
    let mut question = interrupt(Kind::Question);
    question.payload = serde_json::json!({});
    question.response_schema = Some(serde_json::json!({"type": "integer"}));
    let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
    (answer.needs_text, answer.needs_edit) = (false, true);
    let paint = Paint::plain();
    let shown = card::options(&question, paint).join("\n");
    assert!(shown.contains("answer") && !shown.contains(" 1 "), "{shown}");
    let mut prompt = Prompt::new(question, 0);
    for number in [0, 2, 7] {
        let Reaction::Ask(told) = prompt.line(&number.to_string(), paint) else { panic!("sent unseen") };
        assert!(told.join("\n").contains(&number.to_string()), "{told:?}");
        let expected = Decision { edit: serde_json::json!(number), ..decision("answer", None) };
        assert_eq!(prompt.line("", paint), Reaction::Decide(expected));
    }
    assert!(matches!(prompt.line("answer", paint), Reaction::Edit(_)));
}

/// A question about a number of days has no suggested answers. `2` is then the answer and not the second option.
/// Options are selected by name.
#[test]
fn a_number_is_an_answer_in_words_where_none_are_suggested() {
    let mut question = interrupt(Kind::Question);
    question.payload = serde_json::json!({"question": "How many days?", "asker": "pair"});
    let shown = card::options(&question, Paint::plain()).join("\n");
    assert!(shown.contains("skip") && !shown.contains(" 2 "), "{shown}");
    for number in ["0", "2", "3", "17"] {
        let mut prompt = Prompt::new(question.clone(), 0);
        assert!(matches!(prompt.line(number, Paint::plain()), Reaction::Ask(_)), "{number} is sent unseen");
        assert_eq!(prompt.line("", Paint::plain()), Reaction::Decide(decision("answer", Some(number))));
        let said = Prompt::new(question.clone(), 0).read_conversation_line(number, false, Paint::plain());
        assert_eq!(said, Reaction::Decide(decision("answer", Some(number))));
    }
    let mut prompt = Prompt::new(question, 0);
    assert!(matches!(prompt.line("skip", Paint::plain()), Reaction::Ask(_)));
    assert_eq!(prompt.line("y", Paint::plain()), Reaction::Decide(decision("skip", None)));
}

/// The person must confirm an earlier answer. The decision contains the id of the earlier question. Without earlier
/// answers, `h` is plain text.
#[test]
fn an_earlier_answer_is_taken_with_h() {
    let earlier = |n: u8, answer: Value| holdshort_protocol::Suggestion {
        interrupt: format!("int_{n}"),
        run: "run_1".to_owned(),
        question: "Which?".to_owned(),
        answer,
        by: "operator".to_owned(),
        at: "2026-05-30T08:00:00.000Z".to_owned(),
    };
    let from =
        |n: u8, text: &str| Decision { from: Some(format!("int_{n}")), ..decision("answer", Some(text)) };
    let none = decision("answer", Some("h"));
    for (lines, expected, has_some) in [
        (&["h", ""][..], Some(from(1, "the left one")), true),
        (&["h1", "y"], Some(from(1, "the left one")), true),
        (&["h2", ""], Some(from(2, "{\"side\":\"right\"}")), true),
        (&["h3", ""], None, true),
        (&["h", "n", ""], None, true),
        (&["hello", ""], Some(decision("answer", Some("hello"))), true),
        (&["h", ""], Some(none), false),
    ] {
        let mut question = interrupt(Kind::Question);
        if has_some {
            let answers = [Value::from("the left one"), serde_json::json!({ "side": "right" })];
            question.suggestions_from_history =
                (1..).zip(answers).map(|(n, answer)| earlier(n, answer)).collect();
        }
        // In a conversation, typed text is sent without confirmation. An earlier answer must be confirmed.
        for in_conversation in [false, true] {
            let mut prompt = Prompt::new(question.clone(), 0);
            let mut sent = None;
            for line in lines {
                let reaction = if in_conversation {
                    prompt.read_conversation_line(line, false, Paint::plain())
                } else {
                    prompt.line(line, Paint::plain())
                };
                if let Reaction::Decide(decision) = reaction {
                    sent = Some(decision);
                    break;
                }
            }
            assert_eq!(sent, expected, "{lines:?}, in a conversation: {in_conversation}");
        }
    }
}

/// One key and a reason freeze all runs. A reason that is a number selects no option.
#[test]
fn everything_is_frozen_for_a_reason() {
    let paint = Paint::plain();
    for kind in [Kind::ToolApproval, Kind::Question, Kind::PlanApproval] {
        let mut prompt = Prompt::new(interrupt(kind), 0);
        assert!(matches!(prompt.line("!", paint), Reaction::Ask(_)), "{kind:?}");
        assert!(prompt.label().contains("freeze"));
        assert!(matches!(prompt.line("", paint), Reaction::Ask(_)), "no reason, no freeze");
        assert!(prompt.is_choosing());
        prompt.line("!", paint);
        assert_eq!(prompt.line(" 1 ", paint), Reaction::Freeze("1".to_owned()));
        assert!(prompt.is_choosing());
    }
}
