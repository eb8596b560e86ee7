//! The card of each kind of interrupt, as data.

use holdshort_presentation::card::{Card, FactName, Part, Setting, TitleBy, Tone};
use holdshort_protocol::{InspectedCall, Interrupt};
use serde_json::{Value, json};

const SETTING: Setting<'static> = Setting { judged: None, is_rehearsal: false, time: &str::to_owned };

fn interrupt(kind: &str, payload: &Value) -> Interrupt {
    let value = json!({
        "id": "int_1", "run": "run_1", "session": "ses_1", "agent": "pair", "kind": kind, "origin": "native",
        "status": "open", "title": "A title", "message": "I look around.", "payload": payload,
        "options": [{"id": "approve", "label": "Approve", "effect": "proceed"}],
        "risk": {"level": "high", "reasons": []}, "assignment": {"approvers": [], "quorum": {"required": 1}},
        "on_expiry": "reject", "version": 1, "created_at": "2026-01-31T09:30:00.000Z",
    });
    serde_json::from_value(value).expect("an interrupt")
}

/// Returns the kind of a part, and its label if it has one.
fn part_name(part: &Part<'_>) -> String {
    let part = serde_json::to_value(part).expect("JSON");
    let text = |key: &str| part[key].as_str().map(str::to_owned);
    text("label").or_else(|| text("part")).expect("the tag")
}

#[test]
fn each_kind_has_its_parts() {
    let plan = json!({"plan": {"subtasks": [{"id": "look", "description": "Look", "agent": "pair"}]}});
    let proposals =
        json!({"proposals": [{"title": "A", "description": "Do A", "pros": ["fast"], "cons": []}]});
    let review = json!({"title": "Done", "content": "All of it.", "findings": ["one"]});
    let checkpoint = json!({"input": {"a": 1}, "output": null, "results": [1]});
    let command = json!({"tool": "run_command", "command": "ls", "note": "It runs."});
    let cases: [(&str, Value, &[&str], TitleBy); 12] = [
        ("tool_approval", command.clone(), &["command", "note"], TitleBy::Repeated),
        ("unknown_outcome", command, &["command", "note"], TitleBy::Repeated),
        ("client_call", json!({"tool": "open", "arguments": {"a": 1}}), &["Arguments"], TitleBy::Repeated),
        ("plan_approval", plan, &["plan"], TitleBy::Repeated),
        (
            "question",
            json!({"question": "Which?", "context": "It matters."}),
            &["Question", "Context"],
            TitleBy::Repeated,
        ),
        ("question", json!({"question": "A title"}), &[], TitleBy::Speaker),
        ("review", review, &["Title", "Content", "Findings"], TitleBy::Repeated),
        ("checkpoint", checkpoint, &["Input", "Results"], TitleBy::Runtime),
        ("choice", proposals, &["proposals"], TitleBy::Runtime),
        ("turn", json!({"output": "Said."}), &["Output"], TitleBy::Runtime),
        ("error", json!({"error": "No disk."}), &["Error"], TitleBy::Runtime),
        ("escalation", json!({"why": "stuck"}), &["Details"], TitleBy::Speaker),
    ];
    for (kind, payload, parts, title_by) in cases {
        let interrupt = interrupt(kind, &payload);
        let card = Card::from_interrupt(&interrupt, SETTING);
        let found: Vec<String> = card.parts.iter().map(part_name).collect();
        assert_eq!(
            (found, card.title_by),
            (parts.iter().map(ToString::to_string).collect(), title_by),
            "{kind}"
        );
        let risk = card.facts.iter().find(|fact| fact.name == FactName::Risk).unwrap();
        assert_eq!((&*risk.text, risk.tone), ("high", Tone::Alarm));
    }
}

/// Everything that an agent outside Holdshort sends is shown. A text that is a separate part is not repeated as data.
#[test]
fn nothing_of_an_agent_elsewhere_is_left_out() {
    let payload =
        json!({"question": "Which?", "context": ["a", "b"], "content": "All of it.", "more": {"deep": true}});
    let mut asked = interrupt("question", &payload);
    asked.origin = holdshort_protocol::Origin::External;
    let card = Card::from_interrupt(&asked, SETTING);
    let found: Vec<String> = card.parts.iter().map(part_name).collect();
    assert_eq!(found, ["Question", "Content", "Details"]);
    let text = card.text().0.join("\n");
    for each in ["Which?", "All of it.", "\"context\"", "\"deep\": true"] {
        assert_eq!(text.matches(each).count(), 1, "{each}: {text}");
    }
}

/// The call that the gates inspected is shown as facts. Other data of the agent is not.
#[test]
fn the_judged_call_of_an_agent_elsewhere_stands_as_a_call() {
    let payload = json!({"tool": "run_command", "arguments": {"command": "rm -r build"}, "sandbox": "full", "cwd": "/srv"});
    let mut asked = interrupt("tool_approval", &payload);
    asked.origin = holdshort_protocol::Origin::External;
    asked.policy = Some(holdshort_protocol::Policy { rule: None, version: 1 });
    let judged = InspectedCall::from_interrupt(&asked).unwrap();
    let card = Card::from_interrupt(&asked, Setting { judged: Some(&judged), ..SETTING });
    let names: Vec<FactName> = card.call.iter().map(|fact| fact.name).collect();
    assert_eq!(names, [FactName::Tool, FactName::Directory, FactName::RunsAt]);
    assert_eq!(card.parts.iter().map(part_name).collect::<Vec<_>>(), ["command", "Details"]);
}

/// A tried call of an external agent shows the trial and its note as its own parts, and nothing of them in a quote.
#[test]
fn a_tried_call_of_an_external_agent_shows_its_trial() {
    let payload = json!({
        "tool": "run_command", "arguments": {"command": "rm a.txt"}, "note": "You approve the changes.",
        "trial": {"files": 0, "deleted": 1, "changes": [], "exit": 0}, "changeset": "9f86", "new_file": false,
    });
    let mut asked = interrupt("tool_approval", &payload);
    asked.origin = holdshort_protocol::Origin::External;
    asked.policy = Some(holdshort_protocol::Policy { rule: None, version: 1 });
    let judged = InspectedCall::from_interrupt(&asked).unwrap();
    let card = Card::from_interrupt(&asked, Setting { judged: Some(&judged), ..SETTING });
    let kind = |part: &Part<'_>| serde_json::to_value(part).unwrap()["part"].clone();
    assert_eq!(card.parts.iter().map(kind).collect::<Vec<_>>(), ["command", "note", "trial"]);
    let runs_at = card.call.iter().find(|fact| fact.name == FactName::RunsAt).unwrap();
    assert!(!runs_at.text.contains("does not check"), "{}", runs_at.text);
}

/// Under a sandbox that is not complete, a command can reach the network even if the call asks for none.
#[test]
fn the_network_is_reachable_without_a_full_sandbox() {
    for (sandbox, network, shown) in [
        ("full", false, Some("no")),
        ("full", true, Some("yes")),
        ("partial", false, Some("yes: this sandbox cannot prevent it")),
        ("none", false, Some("yes: this sandbox cannot prevent it")),
    ] {
        let call = json!({"tool": "run_command", "arguments": {"command": "ls"}, "sandbox": sandbox, "network": network});
        let asked = interrupt("tool_approval", &call);
        let card = Card::from_interrupt(&asked, SETTING);
        let fact = card.call.iter().find(|fact| fact.name == FactName::Network);
        assert_eq!(fact.map(|fact| &*fact.text), shown, "{sandbox} {network}");
    }
}

/// The message is left out if a part holds the same text.
#[test]
fn the_message_is_left_out_if_a_part_holds_it() {
    let mut question =
        interrupt("question", &json!({"question": "Which?", "context": "It decides the price.\n"}));
    question.message = "It decides the price.".to_owned();
    assert_eq!(Card::from_interrupt(&question, SETTING).said, "");
    question.message = "I ask.".to_owned();
    assert_eq!(Card::from_interrupt(&question, SETTING).said, "I ask.");
}

/// A title that an agent wrote cannot imitate lines of facts.
#[test]
fn proposals_of_an_agent_are_labelled_and_their_titles_are_one_line() {
    let title = "A\nRisk: low";
    let proposals =
        json!({"proposals": [{"title": title, "description": "Do A", "pros": ["fast"], "cons": []}]});
    let mut choice = interrupt("choice", &proposals);
    choice.title = title.to_owned();
    let card = Card::from_interrupt(&choice, SETTING);
    let text = card.text().0.join("\n");
    assert!(text.contains("Proposals:\n1. A") && !text.contains("\nRisk: low"), "{text}");
}

/// The end of an edit lists the members that a person changed, added or removed.
#[test]
fn the_end_lists_the_members_that_an_edit_changed() {
    let command = json!({"tool": "run_command", "arguments": {"command": "ls", "cwd": "/a", "timeout_s": 5}});
    let call = |edit: Value| {
        let mut call = serde_json::to_value(interrupt("tool_approval", &command)).expect("JSON");
        call["resolution"] = json!({
            "outcome": "approved", "option": "edit", "by": [], "cause": "person", "at": "2026-01-31T09:31:00.000Z", "edit": edit,
        });
        serde_json::from_value::<Interrupt>(call).expect("a resolved interrupt")
    };
    let cases = [
        (json!(null), vec![]),
        (json!({"command": "ls", "cwd": "/a", "timeout_s": 5}), vec![]),
        (
            json!({"command": "ls -l", "cwd": "/a", "timeout_s": 9}),
            vec![("command, edited", "ls -l"), ("timeout_s, edited", "9")],
        ),
        (
            json!({"command": "ls", "x": ["a"], "cwd": "/a"}),
            vec![("x, edited", "[\n  \"a\"\n]"), ("timeout_s", "removed")],
        ),
        (json!(["src/a.rs"]), vec![("edited", "[\n  \"src/a.rs\"\n]")]),
    ];
    for (edit, expected) in cases {
        let call = call(edit.clone());
        let end = Card::from_interrupt(&call, SETTING).end.expect("an end");
        let answer: Vec<_> = end.answer.iter().map(|each| (&*each.label, &*each.text)).collect();
        assert_eq!(answer, expected, "{edit}");
    }
}
