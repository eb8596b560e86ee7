//! Tests of the card of each kind of interrupt.

use serde_json::{Value, json};

use super::*;
use crate::terminal::test::interrupt;

fn render_with_options(interrupt: &Interrupt, said: &str) -> String {
    let view = View { paint: Paint::plain(), uncut: false, alone: false, said };
    let mut lines = render(interrupt, view);
    lines.extend(options(interrupt, Paint::plain()));
    lines.join("\n")
}

#[test]
fn a_command_stands_with_its_directory_and_its_walls() {
    let expected = "\
── Holding short: tool call ────────────────────────────────────────────────────
  from      agent pair, step work
  reason    a rule asks (workflow rule 2)
  risk      medium
  id        int_1

  pair │ I look around.

  tool      run_command
  directory /work
  effect    only read: it writes and executes nothing of the workspace, and has
            no network
  sandbox   full: access only to what is listed here and a private temporary
            folder
  network   no
  timeout   120 s

  $ ls

  session grant: every `ls …` (reading only) in /work

   1 Approve
   2 Approve for this session
   3 Edit and approve
   4 Provide the result
   5 Reject";
    assert_eq!(render_with_options(&interrupt(Kind::ToolApproval), ""), expected);
    // The text is directly above the card, so the card does not repeat it.
    assert!(!render_with_options(&interrupt(Kind::ToolApproval), "I look around.\n").contains('│'));
}

/// The card prints the call of an external agent that the gates have checked like any other call. Further text from the
/// agent is quoted. A request without a call is quoted completely.
#[test]
fn a_judged_call_of_another_agent_is_a_call() {
    let mut asked = interrupt(Kind::ToolApproval);
    asked.origin = Origin::External;
    asked.title = "Clean up".to_owned();
    asked.payload = json!({
        "tool": "run_command", "category": "bash", "cwd": "/srv/app", "workspace": "/srv",
        "arguments": {"command": "rm -r build", "env": {"PATH": "/tmp"}},
        "sandbox": "full", "note": "harmless",
    });
    let lines = [
        "  $ rm -r build",
        "  directory /srv/app",
        "  runs      on the agent's machine, outside the sandbox of Holdshort",
    ];
    let quoted = "\"sandbox\": \"full\"";
    let shown_as = |asked: &Interrupt| {
        let text = render_with_options(asked, "");
        assert!(!text.contains("access only to what is listed"), "{text}");
        (text.contains(quoted), lines.map(|line| text.contains(line)))
    };
    assert_eq!(shown_as(&asked), (true, [false; 3]));
    asked.policy = Some(holdshort_protocol::Policy { rule: None, version: 1 });
    assert_eq!(shown_as(&asked), (true, [true; 3]));
    let text = render_with_options(&asked, "");
    assert!(text.contains("\"PATH\": \"/tmp\"") && text.contains("\"workspace\": \"/srv\""), "{text}");
    assert!(!text.contains("\"command\""), "it is drawn once: {text}");
}

/// The card of an external agent's call shows every argument, because the agent runs the call with all of them. A
/// change that the agent adds must not replace them.
#[test]
fn the_change_of_another_agent_hides_no_argument() {
    let mut asked = interrupt(Kind::ToolApproval);
    asked.origin = Origin::External;
    asked.policy = Some(holdshort_protocol::Policy { rule: None, version: 1 });
    let line = |op: &str, text: &str| json!({"op": op, "text": text});
    asked.payload = json!({
        "tool": "write_file", "arguments": {"path": "a.py", "content": "os.system('evil')", "mode": "0777"},
        "diff": {"added": 1, "removed": 1, "hunks": [{"old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1,
            "lines": [line("-", "TIMEOUT = 30"), line("+", "TIMEOUT = 60")]}]},
    });
    let text = render_with_options(&asked, "");
    for part in ["TIMEOUT = 60", "os.system('evil')", "0777", "that the agent reports"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn only_what_can_be_chosen_has_a_number() {
    let numbered = |kind: Kind| {
        let text = render_with_options(&interrupt(kind), "");
        let lines = text.lines().skip_while(|line| !line.starts_with("  id"));
        lines.skip(1).collect::<Vec<_>>().join("\n")
    };
    let question = "\n  pair │ I look around.\n\n  question │ Which way?\n\n   1 left\n   2 right\n\n   3 Your own answer\n   \
                        4 Skip\n   5 Cancel the run";
    assert_eq!(numbered(Kind::Question), question);
    let plan = numbered(Kind::PlanApproval);
    let listed = "   • │ Look\n     │ look by pair\n   • │ Do it\n     │ do, after look\n";
    assert!(plan.contains(listed), "{plan}");
    assert_eq!(plan.matches(" 1 ").count(), 1, "{plan}");
}

#[test]
fn the_context_of_a_question_stands_there_once() {
    let mut question = interrupt(Kind::Question);
    question.message = "It decides the price.".to_owned();
    question.payload["context"] = json!("It decides the price.\n");
    for origin in [Origin::Native, Origin::External] {
        question.origin = origin;
        let text = render_with_options(&question, "");
        assert_eq!(text.matches("It decides the price.").count(), 1, "{text}");
    }
}

#[test]
fn a_narrow_window_cuts_no_line_of_ours() {
    for kind in [Kind::ToolApproval, Kind::Question, Kind::Error, Kind::PlanApproval] {
        let view = View { paint: Paint::narrow(60), uncut: false, alone: false, said: "" };
        for line in render(&interrupt(kind), view) {
            assert!(console::measure_text_width(&line) <= 60, "{line}");
        }
    }
}

#[test]
fn nothing_of_an_agent_reaches_the_terminal_bare() {
    let evil = "\u{1b}[2J\u{202e}\u{200b}\r\n  risk      low";
    for kind in [
        Kind::ToolApproval,
        Kind::PlanApproval,
        Kind::Checkpoint,
        Kind::Error,
        Kind::Question,
        Kind::Choice,
        Kind::Turn,
        Kind::Escalation,
        Kind::Review,
        Kind::Continuation,
        Kind::ClientCall,
        Kind::UnknownOutcome,
    ] {
        let mut value = serde_json::to_value(interrupt(kind)).unwrap();
        taint(&mut value, evil);
        for origin in ["native", "external"] {
            value["origin"] = json!(origin);
            let mut tainted: Interrupt = serde_json::from_value(value.clone()).unwrap();
            tainted.warnings = holdshort_protocol::warnings(&tainted);
            let text = render_with_options(&tainted, "");
            let bare =
                text.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{200b}'));
            assert_eq!(bare, None, "{kind:?}: {text}");
            assert!(!text.contains("\n  risk      low"), "{kind:?}: {text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains("hidden or control characters"), "{kind:?}: {text}");
        }
    }
}

/// Appends a text to every string of an interrupt that an agent can choose.
fn taint(value: &mut Value, evil: &str) {
    match value {
        Value::String(text) => text.push_str(evil),
        Value::Array(items) => items.iter_mut().for_each(|item| taint(item, evil)),
        Value::Object(fields) => {
            for (name, field) in fields {
                if !matches!(name.as_str(), "kind" | "origin" | "status" | "level" | "outcome" | "work") {
                    taint(field, evil);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A question of the server, such as a question about a disabled channel, is not printed as a question of an external
/// agent.
#[test]
fn what_the_server_asks_is_no_agent_elsewhere() {
    let mut asked = interrupt(Kind::Question);
    asked.origin = Origin::External;
    for (agent, who) in [("engine", "the server"), ("bot", "bot, an agent that runs elsewhere")] {
        asked.agent = Some(agent.to_owned());
        let shown = render_with_options(&asked, "");
        assert!(shown.contains(&format!("from      {who}")), "{shown}");
    }
}

#[test]
fn cut_lines_are_counted() {
    let view = View { paint: Paint::plain(), uncut: false, alone: false, said: "" };
    let lines = |n: usize| (0..n).map(|i| format!("line {i}")).collect::<Vec<_>>().join("\n");
    for (message, arguments, expected) in [(1, 1, 0), (61, 61, 0), (62, 1, 2), (1, 200, 140), (70, 200, 150)]
    {
        let mut interrupt = interrupt(Kind::ToolApproval);
        interrupt.message = lines(message);
        interrupt.payload = json!({"tool": "send", "arguments": lines(arguments)});
        assert_eq!(cut_lines(&interrupt, view), expected, "{message}, {arguments}");
    }
}

/// A reply, a question or a review is printed completely on its card, even if the agent's last message has the same
/// text.
#[test]
fn what_is_decided_on_is_on_the_card() {
    let long = (0..100).map(|i| format!("line {i}")).collect::<Vec<_>>().join("\n");
    for (kind, payload) in [
        (Kind::Continuation, json!({"output": long})),
        (Kind::Question, json!({"question": long})),
        (Kind::Error, json!({"error": "No reply.", "output": long})),
        (Kind::Review, json!({"title": "Done", "content": long, "digest": "d"})),
    ] {
        let asked = Interrupt { payload, ..interrupt(kind) };
        let view = View { paint: Paint::plain(), uncut: false, alone: false, said: &long };
        assert!(render(&asked, view).iter().any(|line| line.contains("line 59")), "{kind:?}");
        assert_eq!(cut_lines(&asked, view) > 0, kind != Kind::Review, "{kind:?}");
    }
}

#[test]
fn a_cut_schema_is_counted() {
    let mut asked = interrupt(Kind::Question);
    asked.origin = Origin::External;
    let members = (0..100).map(|i| (format!("m{i}"), json!({}))).collect::<serde_json::Map<_, _>>();
    asked.response_schema = Some(json!({"properties": members}));
    let view = View { paint: Paint::plain(), uncut: false, alone: false, said: "" };
    assert!(cut_lines(&asked, view) > 40);
}

/// An external agent chooses the labels of its options and the text of its changes. The card prints the effect of each
/// option after its label, and marks the lines of such changes with a bar.
#[test]
fn labels_and_changes_of_an_agent_elsewhere_are_its_own() {
    let mut asked = interrupt(Kind::Review);
    asked.origin = Origin::External;
    asked.expires_at = Some("2026-01-31T10:30:00.000Z".to_owned());
    asked.on_expiry = asked.options[0].id.clone();
    asked.options[0].label = "Keep it".to_owned();
    let line = json!({"op": "", "text": " asked by  the workflow"});
    asked.payload = json!({"path": "risk      low", "diff": {"added": 0, "removed": 0, "hunks": [
        {"old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1, "lines": [line]},
    ]}});
    let text = render_with_options(&asked, "");
    assert!(text.contains("then: Keep it (releases it)"), "{text}");
    assert!(text.contains("│ risk      low") && !text.contains("\n  risk      low"), "{text}");
}
