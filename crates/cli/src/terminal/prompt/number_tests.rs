//! Tests that a number selects no option if a number can be an answer.

use super::*;
use crate::terminal::test::interrupt;

fn offering(choices: &[&str]) -> Interrupt {
    let mut question = interrupt(Kind::Question);
    question.payload = serde_json::json!({"question": "Weekly sessions planned?", "choices": choices});
    question
}

/// Returns the decision that these lines send, if any, and the number of lines that were needed.
fn sent(question: &Interrupt, lines: &[&str], in_conversation: bool) -> Option<(String, Value, usize)> {
    let mut prompt = Prompt::new(question.clone(), 0);
    for (count, line) in (1..).zip(lines) {
        let reaction = if in_conversation {
            prompt.read_conversation_line(line, false, Paint::plain())
        } else {
            prompt.line(line, Paint::plain())
        };
        if let Reaction::Decide(decision) = reaction {
            let answer = decision.text.map_or(decision.edit, Value::String);
            return Some((decision.option, answer, count));
        }
    }
    None
}

#[test]
fn a_choice_that_is_a_number_is_chosen_by_its_text() {
    let cases: [(&[&str], &[&str], &str, usize); 9] = [
        (&["3", "4", "5"], &["3"], "3", 1),
        (&["2", "3", "4", "5"], &["3"], "3", 1),
        (&["10", "20", "1"], &["1"], "1", 1),
        (&["10", "20", "1"], &["20"], "20", 1),
        (&["3", "4", "5"], &["#1"], "3", 1),
        // The number may be an answer in the person's words, or a position in the list, so it must be confirmed.
        (&["3", "4", "5"], &["1", ""], "1", 2),
        (&["3", "4", "5"], &["7", ""], "7", 2),
        (&["up to 3", "up to 4"], &["2", ""], "2", 2),
        (&["left", "right"], &["2"], "right", 1),
    ];
    for (choices, lines, answer, count) in cases {
        let question = offering(choices);
        for in_conversation in [false, true] {
            let expected = Some(("answer".to_owned(), Value::from(answer), count));
            assert_eq!(sent(&question, lines, in_conversation), expected, "{choices:?} {lines:?}");
        }
    }
    let question = offering(&["3", "4", "5"]);
    let shown = card::options(&question, Paint::plain()).join("\n");
    assert!(shown.contains("#1 3") && shown.contains("skip") && !shown.contains(" 1 "), "{shown}");
    assert_eq!(sent(&question, &["#4", "#0"], true), None);
    assert_eq!(sent(&question, &["skip", "y"], true), Some(("skip".to_owned(), Value::Null, 2)));
    assert_eq!(Prompt::new(question, 0).digits(), 0);
}

/// No form is shown for an answer that is a list of objects. The person types the answer as JSON, a number is an
/// answer, and a final option must be confirmed.
#[test]
fn an_answer_of_json_has_no_numbered_options() {
    let mut question = offering(&[]);
    question.response_schema = Some(
        serde_json::json!({"type": "object", "required": ["rpe"], "properties": {
        "rpe": {"type": "integer"},
        "sessions": {"type": "array", "items": {"type": "object", "properties": {"d": {"type": "string"}}}}}}),
    );
    let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
    (answer.needs_text, answer.needs_edit) = (false, true);
    assert!(Prompt::new(question.clone(), 0).takes_json());
    let cases: [(&[&str], &str, Value); 3] = [
        (&["2", ""], "answer", Value::from(2)),
        (&["skip", "y"], "skip", Value::Null),
        (&["skip", "n", "{\"rpe\": 2}", ""], "answer", serde_json::json!({"rpe": 2})),
    ];
    for (lines, option, answer) in cases {
        for in_conversation in [false, true] {
            let expected = Some((option.to_owned(), answer.clone(), lines.len()));
            assert_eq!(sent(&question, lines, in_conversation), expected, "{lines:?}");
        }
    }
    let mut prompt = Prompt::new(question, 0);
    assert!(!prompt.keys(Paint::plain()).join("\n").contains("a number"));
    // After a refusal the keys are printed again.
    prompt.line("2", Paint::plain());
    prompt.line("", Paint::plain());
    let told = prompt.refused(&[], Paint::plain()).join("\n");
    assert!(told.contains("The answer is {") && told.contains("? explain"), "{told}");
}

/// A choice of an external agent may have numbers as labels. The person then selects its options by name.
#[test]
fn options_with_numbers_for_labels_go_by_their_names() {
    let mut choice = interrupt(Kind::Choice);
    let offer = choice.options[0].clone();
    let option =
        |id: &str, label: &str| Offer { id: id.to_owned(), label: label.to_owned(), ..offer.clone() };
    choice.options = vec![option("two", "2"), option("one", "1")];
    let shown = card::options(&choice, Paint::plain()).join("\n");
    assert!(shown.contains("two 2") && shown.contains("one 1"), "{shown}");
    let by_number = Prompt::new(choice.clone(), 0).line("2", Paint::plain());
    let chosen =
        |reaction: &Reaction| matches!(reaction, Reaction::Decide(decision) if decision.option == "one");
    assert!(!chosen(&by_number), "{by_number:?}");
}
