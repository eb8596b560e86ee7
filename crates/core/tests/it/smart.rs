//! Smart approval: additional reasons to ask, and the model that judges calls (contracts A4, A5).

use holdshort_core::definition::{Definition, Judge, KindGate, Smart};
use holdshort_core::gate::Source;
use holdshort_core::gate::smart::{self, Act};
use holdshort_core::interrupt::{Effect, Kind};
use holdshort_core::message::{FailureKind, Message};
use holdshort_core::policy::RuleAction;
use holdshort_core::projection::Status;
use holdshort_core::run::{CallEnd, CallState, Config, Input, StepRole};
use holdshort_core::tool::InspectionOutcome;
use serde_json::{Value, json};

use crate::world::{
    Answer, World, allow, calls, choose, choose_with, command, definition, fails, read, rule, says, write,
};

fn found(said: &str, tool: &str, arguments: &Value, keywords: &[&str]) -> Vec<String> {
    let keywords: Vec<String> = keywords.iter().map(|word| (*word).to_owned()).collect();
    let act = Act { said, tool, arguments: Some(arguments), ..Act::default() };
    smart::reasons(&act, &keywords).into_iter().map(|reason| reason.text).collect()
}

/// A keyword matches only complete words, never a part of a word (lesson 37).
#[test]
fn keywords_are_words() {
    let table = [
        ("delete", "delete the old data", true),
        ("delete", "delete_old_files", true),
        ("delete", "deleteOldFiles", true),
        ("delete", "DELETE FROM users", true),
        ("delete", "I am deleting it", true),
        ("delete", "it was deleted", true),
        ("delete", "the deletion of it", true),
        ("delete", "path/to/delete.sh", true),
        ("delete", "--delete", true),
        ("delete", "undeleted", false),
        ("delete", "deleterious", false),
        ("delete", "read data", false),
        ("delete", "del", false),
        ("deploy", "the deployment", true),
        ("deploy", "deployed-to", true),
        ("deploy", "employ", false),
        ("deploy", "redeploy", false),
        ("drop", "dropped", true),
        ("drop", "droplet", false),
        ("rm", "rm -rf x", true),
        ("rm", "perform", false),
        ("rm", "the rms value", false),
        ("apt", "apt-get install", true),
        ("apt", "capture the adapter aptly", false),
        ("apply", "applies", true),
        ("critical", "critically", true),
        ("irreversible", "irreversibly", true),
        ("production", "reproduction", false),
        ("old data", "rm -r old_data/", true),
        ("old data", "old, stale data", false),
        ("drop table", "DROP  TABLE users;", true),
        ("l\u{f6}schen", "alles L\u{d6}SCHEN", true),
        ("\u{5220}\u{9664}", "\u{73b0}\u{5728}\u{5220}\u{9664}\u{6587}\u{4ef6}", true),
        ("...", "...", false),
    ];
    let wrong: Vec<_> = table
        .into_iter()
        .filter(|(keyword, text, expected)| {
            found("", "run_command", &json!({ "command": text }), &[keyword]).is_empty() == *expected
        })
        .collect();
    assert_eq!(wrong, []);
}

/// The reason contains the matched word and says where it was found.
#[test]
fn a_reason_names_what_and_where() {
    let nothing = json!({});
    let table = [
        (
            found("I delete it", "x", &nothing, &["delete"]),
            vec!["the keyword `delete` occurs in the agent's message"],
        ),
        (
            found("", "delete_user", &nothing, &["delete"]),
            vec!["the keyword `delete` occurs in the tool's name"],
        ),
        (
            found("I delete it", "x", &json!({ "a": [{ "b": "deletes" }] }), &["delete", "push"]),
            vec!["the keyword `delete` occurs in the agent's message and the arguments"],
        ),
        // The tool defines the names of arguments, so keywords are not searched in them.
        (found("", "x", &json!({ "delete": true }), &["delete"]), vec![]),
        (
            found("", "run_command", &json!({ "command": "kubectl --env=prod get" }), &[]),
            vec!["`prod` in the arguments refers to a production environment"],
        ),
        (
            found("", "x", &json!({ "host": "db2.prod1.example.com" }), &[]),
            vec!["`prod` in the arguments refers to a production environment"],
        ),
        (
            found("", "x", &json!({ "env": "ENV=production" }), &["production"]),
            vec!["the keyword `production` occurs in the arguments"],
        ),
        (found("The product, its products and producers", "x", &nothing, &[]), vec![]),
        (
            found("I'm not sure that this works.", "x", &nothing, &[]),
            vec!["the agent is uncertain: `not sure` in its message"],
        ),
        (
            found("I\u{2019}m guessing here", "x", &nothing, &[]),
            vec!["the agent is uncertain: `i'm guessing` in its message"],
        ),
        (found("I am sure that it ensures certainty", "x", &nothing, &[]), vec![]),
        // Words of uncertainty are searched only in the agent's own message, not in text that the agent writes to a
        // file.
        (found("", "x", &json!({ "content": "not sure" }), &[]), vec![]),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

/// Returns a workflow that allows everything, so that only smart approval asks a person.
fn watched(smart: Smart) -> Definition {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["*"])];
    definition.gates.smart = Some(smart);
    definition
}

fn keywords_only() -> Smart {
    Smart { judge: Judge::Off, ..Smart::default() }
}

fn calls_saying(text: &str, called: &[(&str, Value)]) -> Answer {
    calls(called).map(|reply| holdshort_core::message::Reply { text: text.to_owned(), ..reply })
}

fn worked(definition: Definition, script: Vec<Answer>) -> World {
    let mut world = World::started(definition, script);
    world.work();
    world
}

fn reasons(world: &World) -> Vec<String> {
    let asked = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    asked.opened.risk.reasons.iter().map(|reason| format!("{:?} {}", reason.source, reason.code)).collect()
}

fn ended(world: &World) -> Option<(Status, &str)> {
    world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()))
}

/// Cases 10 and 11: if a keyword matches, a person is asked even if a rule allows the call.
#[test]
fn a_keyword_asks_although_a_rule_allows() {
    let script = || vec![calls(&[command("rm -r old_data # delete old_data/")]), says("Done.")];
    let asked = worked(watched(keywords_only()), script());
    assert_eq!(reasons(&asked), ["Smart keyword", "Inspection deletes_folders"]);
    let opened = asked.run.interrupts[&asked.open(Kind::ToolApproval)].opened.clone();
    let options: Vec<_> = opened.options.iter().map(|each| (each.id.as_str(), each.effect)).collect();
    assert_eq!(
        options,
        [
            ("approve", Effect::Proceed),
            ("edit", Effect::ProceedWithEdit),
            ("respond", Effect::Respond),
            ("reject", Effect::FailRun),
        ],
    );

    let mut approved = asked.clone();
    approved.decide(Kind::ToolApproval, choose("approve"));
    approved.work();
    assert_eq!((ended(&approved), approved.effects.len()), (Some((Status::Completed, "done")), 1));

    let mut instructed = asked.clone();
    instructed.decide(Kind::ToolApproval, choose_with("respond", "archive instead"));
    let told = instructed.run.request("work").expect("the step goes on").messages;
    assert!(matches!(told.last(), Some(Message::Tool { text, .. }) if text == "archive instead"), "{told:?}");
    assert!(instructed.effects.is_empty());

    let mut rejected = asked;
    rejected.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!((ended(&rejected), rejected.effects.len()), (Some((Status::Failed, "rejected")), 0));

    let mut definition = watched(keywords_only());
    let gate = KindGate { reject: Some(Effect::Refuse), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::ToolApproval, gate);
    let mut refused = worked(definition, script());
    refused.decide(Kind::ToolApproval, choose("reject"));
    refused.work();
    assert_eq!(ended(&refused), Some((Status::Completed, "done")));
}

/// Calls that only read are not asked about, even if a keyword matches or the judge would escalate.
#[test]
fn what_only_reads_is_let_through() {
    let reads = [read("production/delete.txt"), command("cat delete_me"), command("ls -l prod")];
    let world = worked(
        watched(Smart::default()),
        vec![calls_saying("I am not sure, so I delete it after a look.", &reads), says("Done.")],
    );
    assert_eq!((ended(&world), world.count("step_started")), (Some((Status::Completed, "done")), 1));
}

#[test]
fn what_the_agent_says_counts_with_what_it_does() {
    let says_so = |text: &str| {
        worked(watched(keywords_only()), vec![calls_saying(text, &[command("make x")]), says("Done.")])
    };
    assert_eq!(reasons(&says_so("This can not be undone: it is irreversible.")), ["Smart keyword"]);
    assert_eq!(reasons(&says_so("I am not sure. It is prod.")), ["Smart production", "Smart uncertain"]);
    assert_eq!(ended(&says_so("It is a plain build.")), Some((Status::Completed, "done")));
}

/// In the vote, a forbidding rule overrides smart approval. Smart approval adds to other reasons to ask, and overrides
/// grants.
#[test]
fn where_it_stands_in_the_vote() {
    let delete = || command("git commit -m delete");
    let mut forbidding = watched(keywords_only());
    forbidding.gates.rules.insert(0, rule(RuleAction::Forbid, &["run_command"], &["git *"]));
    let world = worked(forbidding, vec![calls(&[delete()]), says("Done.")]);
    assert_eq!(world.run.calls["call_1"].state, CallState::Ended(CallEnd::Refused));

    let mut asking = watched(keywords_only());
    asking.gates.rules.insert(0, rule(RuleAction::Ask, &["run_command"], &["git *"]));
    let mut world = worked(
        asking,
        vec![
            calls(&[command("git commit -m x")]),
            calls(&[delete()]),
            calls(&[command("git commit -m y")]),
            says("Done."),
        ],
    );
    world.decide(Kind::ToolApproval, choose("approve_session"));
    world.work();
    assert_eq!(
        reasons(&world),
        ["Smart keyword", "Workflow rule"],
        "the grant covers it, and does not count"
    );
    let asked = &world.run.interrupts[&world.open(Kind::ToolApproval)];
    assert!(asked.opened.options.iter().all(|choice| choice.effect != Effect::Grant));
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")), "the grant still covers the others");
}

#[test]
fn three_failures_in_a_row_ask() {
    let failing = |lines: &[&str]| {
        let mut script: Vec<Answer> = lines.iter().map(|line| calls(&[command(line)])).collect();
        script.push(says("Done."));
        worked(watched(keywords_only()), script)
    };
    assert_eq!(
        ended(&failing(&["false", "false", "make", "false", "make"])),
        Some((Status::Completed, "done"))
    );
    let mut world = failing(&["false", "false", "false", "make"]);
    assert_eq!(reasons(&world), ["Smart failing"]);
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    // After the third failure, even an already released call of the same reply is asked about.
    let script =
        vec![calls(&[command("false"), command("false"), command("false"), command("make")]), says("Done.")];
    let world = worked(watched(keywords_only()), script);
    assert_eq!((reasons(&world), world.effects.len()), (vec!["Smart failing".to_owned()], 3));
}

const JUDGE: &str = "oversee:call_1";

fn judged(answers: Vec<Answer>) -> World {
    let script = vec![calls_saying("I tidy up.", &[command("make tidy")]), says("Done.")];
    let mut world = World::new(watched(Smart::default())).with("work", script).with(JUDGE, answers);
    world.start(Config { model: Some("small".to_owned()), ..Config::default() });
    world.work();
    world
}

fn verdict(escalate: bool, reasons: &[&str]) -> Answer {
    says(&json!({ "escalate": escalate, "reasons": reasons }).to_string())
}

#[test]
fn a_model_judges_what_nothing_else_holds_back() {
    let clear = judged(vec![verdict(false, &[])]);
    assert_eq!((ended(&clear), clear.effects.len()), (Some((Status::Completed, "done")), 1));
    assert_eq!(clear.run.steps[JUDGE].role, StepRole::Overseer);

    let asked = judged(vec![verdict(true, &["it guesses", "twice"])]);
    assert_eq!((reasons(&asked), asked.effects.len()), (vec!["Smart judge".to_owned()], 0));
    let card = &asked.run.interrupts[&asked.open(Kind::ToolApproval)].content;
    assert_eq!(card["payload"]["judgement"], json!({ "reasons": ["it guesses", "twice"] }));
    let mut approved = asked;
    approved.decide(Kind::ToolApproval, choose("approve"));
    approved.work();
    assert_eq!((ended(&approved), approved.count("call_judged")), (Some((Status::Completed, "done")), 1));
}

/// The request to the judge contains the conversation, the call, and the schema of the answer.
#[test]
fn what_the_judge_is_asked() {
    let world = judged(Vec::new());
    assert_eq!((world.run.status(), world.run.actions().len()), (Status::Running, 1));
    let request = world.run.request(JUDGE).expect("it is asked");
    assert_eq!(
        (request.agent.as_str(), request.model.as_deref(), request.tools.len()),
        ("overseer", Some("small"), 0)
    );
    assert_eq!(request.response_schema.expect("it has a form")["required"], json!(["escalate", "reasons"]));
    let [Message::System { text: rules }, Message::User { text: asked }] = request.messages.as_slice() else {
        panic!("{:?}", request.messages)
    };
    assert!(rules.starts_with("Agent: overseer\n"));
    for told in ["Do it", "I tidy up.", "make tidy", "`pair`"] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
    let mut definition = watched(Smart { judge: Judge::Model("large".to_owned()), ..Smart::default() });
    definition.agents.get_mut("pair").expect("it is there").model = Some("other".to_owned());
    let world = worked(definition, vec![calls(&[command("make")])]);
    assert_eq!(world.run.request(JUDGE).and_then(|request| request.model).as_deref(), Some("large"));
}

/// A call is not approved and a person is asked if the judge fails or gives no valid answer.
#[test]
fn a_judge_that_can_not_be_heard_asks_a_person() {
    let unread = || says("Looks fine to me.");
    let table: Vec<(Vec<Answer>, usize)> = vec![
        (vec![fails(FailureKind::Rejected), fails(FailureKind::Rejected)], 2),
        (vec![unread(), unread(), unread()], 3),
        (vec![says(r#"{"escalate": "no", "reasons": []}"#), says("{}"), unread()], 3),
        (vec![calls(&[command("make")]), calls(&[read("a")]), calls(&[write("b")])], 3),
    ];
    for (answers, asked) in table {
        let world = judged(answers);
        assert!(reasons(&world).contains(&"Smart judge_unheard".to_owned()), "{:?}", reasons(&world));
        assert_eq!((world.count("model_started"), world.effects.len()), (1 + asked, 0));
        assert_eq!(world.run.open_interrupts().count(), 1);
    }
    // If the provider rejects the schema, the judge is asked again without a schema.
    let mut world = judged(vec![fails(FailureKind::Rejected)]);
    assert_eq!(world.run.request(JUDGE).expect("it is asked again").response_schema, None);
    world.script.insert(JUDGE.to_owned(), [verdict(false, &[])].into());
    world.work();
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    // A valid answer after an invalid one is accepted.
    let fenced = says("Here:\n```json\n{\"escalate\": false, \"reasons\": []}\n```");
    assert_eq!(ended(&judged(vec![unread(), fenced])), Some((Status::Completed, "done")));
}

/// If the process ends during a judgement, the next process asks the judge again before the call can run.
#[test]
fn a_judgement_survives_a_crash() {
    let mut world = judged(Vec::new());
    world.begin_model(JUDGE);
    let told = world.crash();
    assert_eq!(told, ["adopted", "model_lost"]);
    world.script.insert(JUDGE.to_owned(), [verdict(false, &[])].into());
    world.work();
    assert_eq!((ended(&world), world.effects.len()), (Some((Status::Completed, "done")), 1));
}

/// The judge is not asked about a call that a person edited, or about which a person is asked anyway.
#[test]
fn a_person_is_not_judged() {
    let mut asking = watched(Smart::default());
    asking.gates.rules.insert(0, rule(RuleAction::Ask, &["run_command"], &["make *"]));
    let mut world = worked(asking, vec![calls(&[command("make x")]), says("Done.")]);
    assert_eq!(reasons(&world), ["Workflow rule"]);
    world.decide(Kind::ToolApproval, crate::world::edit(json!({ "command": "touch x" })));
    world.work();
    assert_eq!((ended(&world), world.count("call_judged")), (Some((Status::Completed, "done")), 0));
    assert_eq!(world.effects, ["run_command touch x"]);
}

/// If a step ends while one of its calls is being judged, the step of the judge ends too.
#[test]
fn a_judge_goes_with_its_call() {
    let mut definition = watched(Smart::default());
    definition.gates.rules.insert(0, rule(RuleAction::Ask, &["write_file"], &[]));
    let gate = KindGate { reject: Some(Effect::EndTurn), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::ToolApproval, gate);
    let mut world = worked(definition, vec![calls(&[command("make"), write("a")])]);
    world.begin_model(JUDGE);
    world.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    let late =
        Input::Replied { step: JUDGE.to_owned(), turn: 0, reply: verdict(false, &[]).expect("a reply") };
    assert!(world.try_send(&holdshort_core::actor::Actor::engine(), late).is_err());
    assert!(world.effects.is_empty());
}

/// The title of a card contains the number of affected files, if they were counted.
#[test]
fn the_title_says_how_many_files() {
    let title = |line: &str, impact: Value| {
        let mut world = World::started(definition(), vec![calls(&[command(line)])]);
        world.work_once();
        let InspectionOutcome::Ready(mut inspection) = world.inspect("call_1") else { unreachable!() };
        inspection.card = json!({ "impact": impact });
        let inspected = InspectionOutcome::Ready(inspection);
        world.send(Input::Inspected { call: "call_1".to_owned(), revision: 0, inspected });
        world.run.interrupts[&world.open(Kind::ToolApproval)].content_text("title").to_owned()
    };
    let line = "rm -rf old_data";
    assert_eq!(title(line, json!({ "files": 500 })), "run_command: rm -rf old_data (500 files)");
    assert_eq!(
        title(line, json!({ "files": 9, "at_most": true })),
        "run_command: rm -rf old_data (up to 9 files)"
    );
    assert_eq!(
        title(line, json!({ "files": 9, "at_least": true })),
        "run_command: rm -rf old_data (at least 9 files)",
    );
    let either = json!({ "files": 9, "at_most": true, "at_least": true });
    assert_eq!(title(line, either), "run_command: rm -rf old_data");
    assert_eq!(title(line, json!({ "files": 1 })), "run_command: rm -rf old_data");
    assert_eq!(title(line, Value::Null), "run_command: rm -rf old_data");
    assert!(title(&"rm a ".repeat(500), json!({ "files": 500 })).ends_with("… (500 files)"));
}

/// A run can add keywords and a judge to those of its workflow, but not remove any.
#[test]
fn a_run_adds_to_smart_approval() {
    let mut config = Config::default();
    config.gates.smart = Some(Smart { keywords: vec!["tidy".to_owned()], judge: Judge::Run });
    let asked = |line: &str, own: Option<Smart>| {
        let mut definition = watched(keywords_only());
        definition.gates.smart = own;
        let mut world = World::new(definition).with("work", vec![calls(&[command(line)])]);
        world.start(config.clone());
        world.work();
        let smart = |source: Source| source == Source::Smart;
        let by_words = world
            .run
            .open_interrupts()
            .any(|(_, each)| each.opened.risk.reasons.iter().any(|reason| smart(reason.source)));
        (by_words, world.run.steps.contains_key(JUDGE))
    };
    let own = || Some(keywords_only());
    assert_eq!(asked("make tidy", own()), (true, false));
    assert_eq!(asked("make delete", own()), (true, false));
    assert_eq!(asked("make x", own()), (false, true));
    assert_eq!(asked("make delete", None), (false, true), "the usual words are the workflow's choice");
}

/// A judge does not approve a call that it could not read completely. Messages of people during the judgement are not
/// part of the judge's input.
#[test]
fn a_judge_hears_material_alone_and_all_of_it() {
    let long = format!("make tidy {}", "x".repeat(31_000));
    let script = vec![calls_saying("I tidy up.", &[command(&long)])];
    let mut world = World::new(watched(Smart::default())).with("work", script);
    world.start(Config::default());
    world.work();
    assert!(reasons(&world).contains(&"Smart judge_unheard".to_owned()), "{:?}", reasons(&world));

    let mut world = judged(Vec::new());
    world.begin_model(JUDGE);
    world.message("go on, delete it");
    world.answer(JUDGE, 0, verdict(true, &["it guesses"]));
    assert_eq!(reasons(&world), ["Smart judge"]);
}

/// Three failures of one tool are a reason to ask, even with successful calls in between (contract A4).
#[test]
fn failures_count_although_others_did_well_in_between() {
    let fails = || calls_saying("Again.", &[command("false")]);
    let edits = || calls_saying("I mend it.", &[write("a.txt")]);
    let mut definition = watched(Smart { judge: Judge::Off, ..Smart::default() });
    definition.gates.rules = vec![allow(&["*"])];
    let script = vec![fails(), edits(), fails(), edits(), fails(), edits()];
    let mut world = World::new(definition).with("work", script);
    world.start(Config::default());
    world.work();
    assert_eq!(world.effects.len(), 5, "the third failure asks before the next edit");
    assert_eq!(world.open_kinds(), ["tool_approval"]);
}
