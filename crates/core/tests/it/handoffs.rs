//! Hand-offs of work to another agent, to a person, or to the terminator, which ends the work. They are gated and
//! limited, and every call in a request has its result.

use holdshort_core::definition::{Definition, Judge, Smart};
use holdshort_core::gate::Source;
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::message::{Message, Request};
use holdshort_core::policy::{Checkpoint, RuleAction};
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use serde_json::{Value, json};

use crate::turns::paired;
use crate::world::{
    Answer, World, allow, calls, choose, choose_with, command, fails, handing_over, read, rule, says, write,
};

pub(crate) const TO_WRITER: &str = "handoff_to_writer";
pub(crate) const TO_PAIR: &str = "handoff_to_pair";
pub(crate) const TO_ADMIN: &str = "handoff_to_admin";
pub(crate) const TO_TERMINATOR: &str = "handoff_to_terminator";

fn hands(tool: &'static str, message: &str) -> (&'static str, Value) {
    (tool, json!({ "message": message }))
}

/// Returns a run with all kinds of hand-offs, with and without a question to a person.
pub(crate) fn story() -> World {
    let mut definition = handing_over();
    definition.gates.rules.push(rule(RuleAction::Ask, &[TO_PAIR], &[]));
    definition.phases[0].gates.after_step = true;
    let script = vec![
        calls(&[write("a"), hands(TO_WRITER, "go on")]),
        calls(&[hands(TO_ADMIN, "like this?")]),
        calls(&[read("a"), hands(TO_PAIR, "yours again")]),
        calls(&[hands(TO_TERMINATOR, "Done.")]),
    ];
    let mut world = worked(definition, script);
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    world.decide(Kind::Escalation, choose_with("instruct", "like that"));
    world.work();
    world.decide(Kind::Escalation, choose("continue"));
    world.work();
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Done.")), "{:#?}", world.story());
    world
}

fn worked(definition: Definition, script: Vec<Answer>) -> World {
    let mut world = World::started(definition, script);
    world.work();
    world
}

fn request(world: &World) -> Request {
    let request = world.run.request("work").expect("the step is there");
    paired(&request);
    request
}

fn results(world: &World) -> Vec<String> {
    let told = request(world).messages.into_iter().filter_map(|message| match message {
        Message::Tool { text, .. } => Some(text),
        Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
    });
    told.collect()
}

fn ended(world: &World) -> Option<(Status, &str, &str)> {
    let ended = world.run.ended.as_ref()?;
    let text = world.why().or(ended.result["text"].as_str()).unwrap_or_default();
    Some((ended.status, ended.reason.as_str(), text))
}

fn handovers(world: &World) -> Vec<String> {
    world.story().into_iter().filter(|told| told.starts_with("handed_over")).collect()
}

#[test]
fn another_agent_goes_on_with_the_same_conversation() {
    let mut world = worked(
        handing_over(),
        vec![calls(&[(
            "handoff_to_writer",
            json!({ "message": "Write it down.", "reason": "I only look." }),
        )])],
    );
    assert_eq!(
        world.story()[5..],
        ["tool_finished call_1 done handed_over", "handed_over call_1 pair writer"],
        "in the append that the reply came with",
    );
    assert_eq!((world.run.steps["work"].agent.as_str(), world.commits.len()), ("writer", 3));
    let Request { agent, model, messages, tools, .. } = request(&world);
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((agent.as_str(), model.as_deref()), ("writer", Some("large")));
    assert_eq!(names, ["read_file", "write_file", TO_PAIR, TO_TERMINATOR, TO_ADMIN]);
    assert_eq!(messages.len(), 4, "what was said before stays");
    assert!(matches!(&messages[0], Message::System { text } if text == "Agent: writer\n\nWrite."));
    assert_eq!(
        results(&world),
        ["`writer` continues from here.\n`pair` says: Write it down.\n`pair` gives the reason: I only look."],
    );
    // Only the other agent has this tool.
    world = world.with("work", vec![calls(&[command("make")]), says("Done.")]);
    world.work();
    assert_eq!(
        results(&world)[1],
        "the tool `run_command` is not available; your tools: read_file, write_file, handoff_to_pair, \
         handoff_to_terminator, handoff_to_admin"
    );
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Done.")));
}

/// A hand-off waits for the other calls of its reply, on each of which the gates vote separately (lesson 17).
#[test]
fn the_other_calls_of_a_reply_come_first() {
    let mut world = worked(
        handing_over(),
        vec![calls(&[
            hands(TO_WRITER, "go on"),
            read("a"),
            write("b"),
            command("make"),
            hands(TO_ADMIN, "?"),
        ])],
    );
    assert_eq!(world.open_kinds(), ["tool_approval", "tool_approval"]);
    let open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    for (interrupt, option) in open.into_iter().zip(["approve", "reject"]) {
        assert_eq!(handovers(&world), Vec::<String>::new());
        world.person(Input::Decide { interrupt, decision: choose(option), holder: None });
        world.work();
    }
    assert_eq!(handovers(&world), ["handed_over call_1 pair writer"]);
    assert_eq!(
        results(&world),
        [
            "`writer` continues from here.\n`pair` says: go on",
            "there is no file `a`",
            "written",
            "a person refused this call",
            "not done: a reply may hand over only once, and only its first handover takes effect",
        ],
    );
}

/// A rule about one agent applies to the calls that this agent made, even after another agent has taken over.
#[test]
fn a_rule_sees_the_agent_that_made_the_call() {
    let mut definition = handing_over();
    let writers =
        holdshort_core::policy::Rule { agents: vec!["writer".to_owned()], ..allow(&["write_file"]) };
    definition.gates.rules.push(writers);
    let script = vec![
        calls(&[write("a"), hands(TO_WRITER, "go on")]),
        calls(&[write("b"), hands(TO_PAIR, "go on")]),
        calls(&[write("c")]),
    ];
    let mut world = worked(definition, script);
    let asker = |world: &World| world.run.interrupts[&world.open(Kind::ToolApproval)].opened.agent.clone();
    assert_eq!((asker(&world).as_deref(), world.effects.len()), (Some("pair"), 0));
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    let made: Vec<&str> = world.run.calls.values().map(|call| call.agent.as_str()).collect();
    assert_eq!(made, ["pair", "pair", "writer", "writer", "pair"]);
    assert_eq!(world.effects, ["write_file a", "write_file b"], "`writer` may, `pair` must ask");
    assert_eq!(asker(&world).as_deref(), Some("pair"));
}

#[test]
fn the_terminator_ends_the_step_with_its_message() {
    let finishes = |message: Value| calls(&[read("a"), (TO_TERMINATOR, message)]);
    let result = |message| {
        let world = worked(handing_over(), vec![finishes(message)]);
        world.run.ended.expect("nothing is left").result["text"].clone()
    };
    assert_eq!(result(json!({ "message": "It is 42." })), "It is 42.");
    assert_eq!(result(json!({})), "I will.", "what was said beside the call");

    // The result goes to the gate after the step, which may make the step start again.
    let mut definition = handing_over();
    definition.phases[0].gates.after_step = true;
    let mut world = worked(definition, vec![finishes(json!({ "message": "It is 42." }))]);
    let shown = &world.run.interrupts[&world.open(Kind::Checkpoint)].content["payload"];
    assert_eq!(shown["output"], "It is 42.");
    world.decide(Kind::Checkpoint, choose_with("redo", "in words"));
    world = world.with("work", vec![finishes(json!({ "message": "Forty-two." }))]);
    world.work();
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Forty-two.")));
}

/// A note that a person adds to another call of the reply reaches the agent before the step can end.
#[test]
fn a_note_is_heard_before_the_end() {
    let mut world =
        worked(handing_over(), vec![calls(&[write("a"), hands(TO_TERMINATOR, "Done.")]), says("Now it is.")]);
    world.decide(Kind::ToolApproval, choose_with("approve", "and check it"));
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Now it is.")));
}

/// After a hand-off to a person, this person can choose `continue`, `instruct` or `abort` (contract A5).
#[test]
fn a_person_lets_the_same_agent_go_on() {
    let asked = || {
        let world = worked(
            handing_over(),
            vec![calls(&[(TO_ADMIN, json!({ "message": "Is it safe?", "reason": "risk" }))])],
        );
        let open = &world.run.interrupts[&world.open(Kind::Escalation)];
        let options: Vec<&str> = open.opened.options.iter().map(|choice| choice.id.as_str()).collect();
        assert_eq!(
            (options, open.opened.on_expiry.as_str()),
            (vec!["continue", "instruct", "abort"], "abort")
        );
        assert_eq!(
            open.content,
            json!({
                "title": "`pair` wants a person to look",
                "message": "Is it safe?",
                "payload": {
                    "call_id": "call_1", "tool": TO_ADMIN, "from": "pair", "to": "admin",
                    "arguments": { "message": "Is it safe?", "reason": "risk" },
                },
            }),
        );
        world
    };
    let after = |decision: Decision| {
        let mut world = asked();
        world.decide(Kind::Escalation, decision);
        (world.run.steps["work"].agent.clone(), results(&world), world)
    };
    let (agent, told, _) = after(choose("continue"));
    assert_eq!((agent.as_str(), told), ("pair", vec![String::new()]));
    let (agent, told, mut world) = after(choose_with("instruct", "Only on Tuesdays."));
    assert_eq!((agent.as_str(), told), ("pair", vec!["Only on Tuesdays.".to_owned()]));
    world = world.with("work", vec![says("Done.")]);
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Done.")));
    let (_, _, world) = after(choose_with("abort", "no"));
    assert_eq!(ended(&world), Some((Status::Failed, "aborted", "`handoff_to_admin` was aborted: no")));
}

/// A hand-off needs approval only if a rule or a mandatory checkpoint covers the hand-off.
#[test]
fn a_hand_off_is_gated_where_somebody_says_so() {
    let reason = |definition: Definition| {
        let world = worked(definition, vec![calls(&[hands(TO_WRITER, "go on")])]);
        let open = world.run.open_interrupts().next().map(|(_, open)| {
            let codes = open.opened.risk.reasons.iter().map(|reason| reason.code.clone()).collect::<Vec<_>>();
            format!("{} {}", open.opened.kind.as_str(), codes.join(" "))
        });
        open.unwrap_or_else(|| world.run.steps["work"].agent.clone())
    };
    let ruled = |action| {
        let mut definition = handing_over();
        definition.gates.rules.push(rule(action, &[TO_WRITER], &[]));
        definition
    };
    let mut must = ruled(RuleAction::Allow);
    must.gates.mandatory.insert(Checkpoint::BeforeDeploy);
    must.gates.deploy = vec!["writer".to_owned()];
    assert_eq!(
        [handing_over(), ruled(RuleAction::Allow), ruled(RuleAction::Ask), must, ruled(RuleAction::Forbid)]
            .map(reason),
        ["writer", "writer", "escalation rule", "escalation before_deploy", "pair"],
    );

    let asked = || worked(ruled(RuleAction::Ask), vec![calls(&[hands(TO_WRITER, "go on")])]);
    let mut world = asked();
    world.decide(Kind::Escalation, choose_with("continue", "but slowly"));
    assert_eq!(handovers(&world), ["handed_over call_1 pair writer"]);
    let last = request(&world).messages.pop();
    assert_eq!(last, Some(Message::User { text: "but slowly".to_owned() }));

    let mut world = asked();
    world.decide(Kind::Escalation, choose_with("instruct", "do it yourself"));
    assert_eq!((handovers(&world).len(), results(&world)), (0, vec!["do it yourself".to_owned()]));

    // A person cannot release a hand-off that a rule has forbidden since the interrupt was opened.
    let mut world = asked();
    world.system.rules.push(rule(RuleAction::Forbid, &[TO_WRITER], &[]));
    world.decide(Kind::Escalation, choose("continue"));
    assert_eq!((handovers(&world).len(), world.run.status()), (0, Status::Running));
    assert_eq!(results(&world), ["refused by policy: forbidden by a rule"]);
}

/// The limits of a step count the calls of all its agents together, so that mutual hand-offs end.
#[test]
fn ping_pong_ends_with_a_question() {
    let to_and_fro =
        |n: usize| (0..n).map(|n| calls(&[hands([TO_WRITER, TO_PAIR][n % 2], "yours")])).collect();
    for (limit, set) in [
        ("rounds", (|d: &mut Definition| d.phases[0].limits.rounds = 6) as fn(&mut Definition)),
        ("tool_calls", |d: &mut Definition| d.phases[0].limits.tool_calls = 6),
    ] {
        let mut definition = handing_over();
        set(&mut definition);
        let world = worked(definition, to_and_fro(20));
        let asked = &world.run.interrupts[&world.open(Kind::Continuation)];
        assert_eq!((handovers(&world).len(), &asked.content["payload"]["limit"]), (6, &json!(limit)));
    }
    let mut definition = handing_over();
    definition.asking.enabled = false;
    definition.phases[0].limits.rounds = 6;
    let world = worked(definition, to_and_fro(20));
    assert_eq!(
        ended(&world).map(|(status, reason, _)| (status, reason)),
        Some((Status::Failed, "limit_rounds"))
    );
}

/// After a hand-off, a failure of the provider or a crash, the model call of the new agent is repeated.
#[test]
fn a_hand_off_outlives_failures_and_crashes() {
    let mut world = worked(
        handing_over(),
        vec![calls(&[hands(TO_WRITER, "go on")]), fails(holdshort_core::message::FailureKind::Unavailable)],
    );
    world.pass_ms(60_000);
    world.begin_model("work");
    world.crash();
    assert_eq!(request(&world).agent, "writer");
    world = world.with("work", vec![says("Done.")]);
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Done.")));
    crate::events::reread(&world);
}

#[test]
fn a_hand_off_that_can_not_be_read_is_none() {
    let bad = (TO_WRITER, json!({ "to": "writer" }));
    let world = worked(handing_over(), vec![calls(&[bad, hands(TO_TERMINATOR, "Done.")])]);
    assert_eq!(
        ended(&world),
        Some((Status::Completed, "done", "Done.")),
        "the first that can be read counts"
    );
}

/// An agent without tools declares every tool in the history, because some providers require it.
#[test]
fn an_agent_without_tools_goes_on_too() {
    let mut definition = handing_over();
    definition.agents.entry("writer".to_owned()).and_modify(|agent| agent.tools.clear());
    let mut world = worked(definition, vec![calls(&[read("a"), hands(TO_WRITER, "go on")])]);
    let declared = |world: &World| {
        let tools = request(world).tools.into_iter();
        tools.map(|tool| (tool.name, tool.description)).collect::<Vec<_>>()
    };
    let not = "Not available to you: another agent called it.".to_owned();
    assert_eq!(declared(&world), [(TO_WRITER.to_owned(), not.clone()), ("read_file".to_owned(), not)]);
    world = world.with("work", vec![calls(&[read("a")]), says("Done.")]);
    world.work();
    assert_eq!(results(&world)[2], "the tool `read_file` is not available; your tools: none");
    assert_eq!(ended(&world), Some((Status::Completed, "done", "Done.")));
}

/// Contract A4: smart approval also judges hand-offs.
#[test]
fn smart_approval_looks_at_hand_offs_too() {
    let smart = |judge| {
        let mut definition = handing_over();
        definition.gates.smart = Some(Smart { judge, ..Smart::default() });
        definition
    };
    let risky = worked(smart(Judge::Off), vec![calls(&[hands(TO_WRITER, "Now deploy it.")])]);
    assert_eq!(risky.open_kinds(), ["escalation"]);
    let open = risky.open(Kind::Escalation);
    let reasons = &risky.run.interrupts[&open].opened.risk.reasons;
    assert_eq!(reasons[0].source, Source::Smart, "{reasons:?}");
    let plain = worked(smart(Judge::Off), vec![calls(&[hands(TO_WRITER, "Write it down.")])]);
    assert_eq!(handovers(&plain), ["handed_over call_1 pair writer"]);

    let judged = |said: &str| {
        let hands_over = vec![calls(&[hands(TO_WRITER, "Write it down.")])];
        let mut world = World::started(smart(Judge::Run), hands_over)
            .with("oversee:call_1", vec![says(said)])
            .with("work", vec![calls(&[hands(TO_TERMINATOR, "Done.")])]);
        world.work();
        world
    };
    let clear = judged(r#"{"escalate": false, "reasons": []}"#);
    assert_eq!(ended(&clear), Some((Status::Completed, "done", "Done.")), "{:#?}", clear.story());
    let mut held = judged(r#"{"escalate": true, "reasons": ["It is a complex decision."]}"#);
    let open = held.open(Kind::Escalation);
    let card = &held.run.interrupts[&open].content["payload"]["judgement"];
    assert_eq!(card["reasons"][0], "It is a complex decision.");
    held.decide(Kind::Escalation, choose("continue"));
    assert_eq!(handovers(&held), ["handed_over call_1 pair writer"]);
}

/// A step does not end before the agent gets the result of a failed call in the same reply.
#[test]
fn nobody_is_finished_beside_a_call_that_went_wrong() {
    let both = calls(&[write("a"), hands(TO_TERMINATOR, "Fixed.")]);
    let mut world = worked(handing_over(), vec![both]);
    world.decide(Kind::ToolApproval, choose_with("reject", "not now"));
    assert_eq!(world.run.status(), Status::Running);
    assert!(results(&world)[1].contains("Not finished"), "{:?}", results(&world));
    world = world.with("work", vec![calls(&[hands(TO_TERMINATOR, "It was refused.")])]);
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done", "It was refused.")));
}
