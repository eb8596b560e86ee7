//! Every combination of interrupt kind and option, with its effect, its outcome and the following events, and the
//! effect of an expiry.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use holdshort_core::definition::{Definition, KindGate};
use holdshort_core::interrupt::{self, Carry, Decision, Effect, Kind, Offer, Outcome};
use holdshort_core::message::FailureKind;
use holdshort_core::policy::RuleAction;
use holdshort_core::run::{Ask, Config, Input};
use serde_json::{Value, json};

use crate::handoffs::{TO_ADMIN, TO_WRITER};
use crate::snapshot;
use crate::world::{
    self, Answer, World, assigned, calls, choose, choose_with, command, definition, fails, first_approvers,
    read, says, write,
};

const PLAN: &str = r#"{"subtasks": [{"id": "1", "description": "do"}]}"#;

/// Situation that opens a single interrupt.
struct Case {
    name: &'static str,
    kind: Kind,
    /// Value that the option `edit` sends in place of the original value.
    edit: Value,
    open: fn(Definition) -> World,
}

fn cases() -> Vec<Case> {
    let plan = || json!({"subtasks": [{"id": "1", "description": "do it well"}]});
    let case = |name, kind, edit, open| Case { name, kind, edit, open };
    vec![
        case("a gated call", Kind::ToolApproval, write("b.txt").1, |definition| {
            worked(definition, vec![calls(&[write("a.txt")]), says("Done.")])
        }),
        case("a plan", Kind::PlanApproval, plan(), |definition| {
            let plan = serde_json::from_str(PLAN).expect("it is JSON");
            worked(definition, vec![calls(&[("create_plan", plan)]), says("Done.")])
        }),
        case("before a step", Kind::Checkpoint, json!("Do that"), |mut definition| {
            definition.phases[0].gates.before_step = true;
            worked(definition, vec![says("Done.")])
        }),
        case("after a step", Kind::Checkpoint, Value::Null, |mut definition| {
            definition.phases[0].gates.after_step = true;
            worked(definition, vec![says("Done."), says("Done again.")])
        }),
        case("a checkpoint phase", Kind::Checkpoint, Value::Null, |mut definition| {
            definition.phases.insert(0, world::checkpoint("look", &[]));
            definition.phases[1].needs = vec!["look".to_owned()];
            worked(definition, vec![says("Done.")])
        }),
        case("a failed step", Kind::Error, Value::Null, |mut definition| {
            definition.phases[0].gates.on_error = true;
            worked(definition, vec![fails(FailureKind::Rejected), says("Done.")])
        }),
        case("a question", Kind::Question, Value::Null, |definition| {
            worked(definition, vec![calls(&[("ask_human", json!({ "question": "Which?" }))]), says("Done.")])
        }),
        case("a printed question", Kind::Question, Value::Null, |definition| {
            worked(definition, vec![says("Which one?"), says("Which one?"), says("Done.")])
        }),
        case("a reply that is no end", Kind::Continuation, Value::Null, |definition| {
            let call = r#"{"tool": "run_command", "arguments": {"command": "ls"}}"#;
            worked(definition, vec![says(call), says(call), says("Done.")])
        }),
        case("a review", Kind::Review, json!("shorter"), |definition| {
            let review = ("request_review", json!({ "title": "t", "content": "long" }));
            worked(definition, vec![calls(&[review]), says("Done.")])
        }),
        case("a hand-off to a person", Kind::Escalation, Value::Null, |definition| {
            hands_over(definition, TO_ADMIN)
        }),
        case("a hand-off that is asked about", Kind::Escalation, Value::Null, |definition| {
            hands_over(definition, TO_WRITER)
        }),
        case("a limit", Kind::Continuation, Value::Null, |mut definition| {
            definition.phases[0].limits.rounds = 1;
            worked(definition, vec![calls(&[read("a.txt")]), says("Done.")])
        }),
        case("a call in doubt", Kind::UnknownOutcome, Value::Null, |mut definition| {
            definition.gates.rules = vec![world::allow(&["*"])];
            let mut world = worked(definition, vec![calls(&[command("make")])]);
            world.script.insert("work".to_owned(), [says("Done.")].into());
            world
        }),
        case("an external call", Kind::ToolApproval, json!({ "any": 1 }), |_| asks(Kind::ToolApproval, &[])),
        case("an external plan", Kind::PlanApproval, json!({ "any": 1 }), |_| asks(Kind::PlanApproval, &[])),
        case("an external checkpoint", Kind::Checkpoint, json!({ "any": 1 }), |_| {
            asks(Kind::Checkpoint, &[])
        }),
        case("an external question", Kind::Question, Value::Null, |_| asks(Kind::Question, &[])),
        case("an external choice", Kind::Choice, Value::Null, |_| {
            asks(Kind::Choice, &["yes", "no", "custom"])
        }),
        case("an external escalation", Kind::Escalation, Value::Null, |_| asks(Kind::Escalation, &[])),
        case("an external review", Kind::Review, json!({ "any": 1 }), |_| asks(Kind::Review, &[])),
    ]
}

fn worked(definition: Definition, script: Vec<Answer>) -> World {
    let doubts = definition.gates.rules == [world::allow(&["*"])];
    let mut world = World::started(definition, script);
    if doubts {
        world.work_once();
        world.work_once();
        world.begin_tool("call_1");
        world.crash();
    } else {
        world.work();
    }
    world
}

/// Returns a run with the expiry settings of `definition`, whose agents can hand over to each other.
fn hands_over(definition: Definition, tool: &'static str) -> World {
    let mut handing_over = world::handing_over();
    handing_over.gates.kinds = definition.gates.kinds;
    handing_over.gates.rules.push(world::rule(RuleAction::Ask, &[TO_WRITER], &[]));
    worked(handing_over, vec![calls(&[(tool, json!({}))]), says("Done.")])
}

fn asks(kind: Kind, options: &[&str]) -> World {
    let mut world = World::new(world::external());
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = holdshort_core::run::Origin::ExternalOnce;
    world.send(Input::Start(start));
    world.send(Input::Ask(Box::new(Ask {
        kind,
        options: options.iter().map(|id| ((*id).to_owned(), None)).collect(),
        expires_in_ms: Some(1_000),
        ..crate::pairs::ask()
    })));
    world
}

fn decision(offer: &Offer, edit: &Value) -> Decision {
    Decision {
        text: offer.needs_text.then(|| "so".to_owned()),
        edit: if offer.needs_edit { edit.clone() } else { Value::Null },
        ..choose(&offer.id)
    }
}

fn offered(world: &World, kind: Kind) -> Vec<Offer> {
    world.run.interrupts[&world.open(kind)].opened.options.clone()
}

/// The table of options is as in the snapshot.
#[test]
fn the_table_of_options() {
    let carry = |carry| match carry {
        Carry::Never => "–",
        Carry::May => "may",
        Carry::Must => "must",
    };
    let mut rows = vec![
        ["kind", "option", "effects", "outcome", "work", "text", "edit", "asks again"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for kind in Kind::ALL {
        for row in kind.row().options {
            let effects: Vec<String> = row.effects.iter().map(|effect| format!("{effect:?}")).collect();
            rows.push(vec![
                kind.as_str().to_owned(),
                row.id.to_owned(),
                effects.join(" | "),
                format!("{:?}", row.effects[0].outcome()),
                format!("{:?}", row.effects[0].work()),
                carry(row.text).to_owned(),
                carry(row.edit).to_owned(),
                if row.asks_again { "yes" } else { "" }.to_owned(),
            ]);
        }
        rows.push(vec![String::new(), format!("on expiry: {}", kind.row().on_expiry.unwrap_or("none"))]);
    }
    snapshot::check("options", &snapshot::table(&rows));
}

/// The description of each option for work of Holdshort's own agents is as in the snapshot. Descriptions for external
/// agents or after a trial are listed where they differ.
#[test]
fn what_options_do_in_words() {
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        for row in kind.row().options {
            for effect in row.effects {
                let offer = Offer { effect: *effect, ..Offer::from_row(row) };
                let own = offer.does(kind, true, false);
                let others = [offer.does(kind, false, false), offer.does(kind, true, true)];
                let name = [kind.as_str().to_owned(), row.id.to_owned(), format!("{effect:?}")];
                let words = std::iter::once(own).chain(others.into_iter().filter(|words| *words != own));
                rows.extend(words.map(|words| [name.to_vec(), vec![words.to_owned()]].concat()));
            }
        }
    }
    snapshot::check("option_words", &snapshot::table(&rows));
}

#[test]
fn what_follows_a_decision() {
    let mut text = String::new();
    for case in cases() {
        let world = (case.open)(definition());
        let _ = writeln!(text, "{}: {}", case.name, case.kind.as_str());
        for offer in offered(&world, case.kind) {
            let mut world = world.clone();
            let decided = world.decide(case.kind, decision(&offer, &case.edit));
            let then = world.work();
            let _ = writeln!(text, "  {} ({:?})\n    {}", offer.id, offer.effect, decided.join(", "));
            if !then.is_empty() {
                let _ = writeln!(text, "    then {}", then.join(", "));
            }
            let _ = writeln!(text, "    {}", world.run.status().as_str());
        }
    }
    snapshot::check("decisions", &text);
}

/// The effect of an expiry is as in the snapshot, for each case with each option as `on_expiry`, and without
/// `on_expiry`.
#[test]
fn what_follows_an_expiry() {
    let mut text = String::new();
    for case in cases() {
        let options = offered(&(case.open)(definition()), case.kind);
        let external = case.name.starts_with("an external");
        let configured: Vec<Option<String>> = std::iter::once(None)
            .chain(options.into_iter().filter(|_| !external).map(|offer| Some(offer.id)))
            .collect();
        let _ = writeln!(text, "{}: {}", case.name, case.kind.as_str());
        for on_expiry in configured {
            let mut definition = definition();
            let gate =
                KindGate { expires_in_ms: Some(1_000), on_expiry: on_expiry.clone(), ..KindGate::default() };
            definition.gates.kinds = BTreeMap::from([(case.kind, gate)]);
            let mut world = (case.open)(definition);
            let id = world.open(case.kind);
            world.pass_ms(1_000);
            let effects = world.effects.len();
            let expired = world.send(Input::Tick);
            let resolution = world.run.interrupts[&id].resolution.clone().expect("it has expired");
            assert_eq!(resolution.outcome, Outcome::Expired);
            let then = world.work();
            let _ = writeln!(
                text,
                "  {}\n    {}",
                on_expiry.as_deref().unwrap_or("nothing configured"),
                expired.join(", ")
            );
            if !then.is_empty() {
                let _ = writeln!(text, "    then {}", then.join(", "));
            }
            if let Some(said) = world.why() {
                let _ = writeln!(text, "    {said}");
            }
            assert!(
                on_expiry.is_some() || world.effects.len() == effects,
                "{}: work was released",
                case.name
            );
        }
    }
    snapshot::check("expiries", &text);
}

/// Without `on_expiry`, an expiry never approves, whatever options are offered.
#[test]
fn what_expires_by_itself_stops_work() {
    for kind in Kind::ALL {
        let rows: Vec<Offer> = kind.row().options.iter().map(Offer::from_row).collect();
        for only in 0..1_u32 << rows.len() {
            let offered: Vec<Offer> = rows
                .iter()
                .enumerate()
                .filter(|(i, _)| only >> i & 1 == 1)
                .map(|(_, row)| row.clone())
                .collect();
            let applied = interrupt::on_expiry(kind, None, &offered);
            let applied = offered.iter().find(|offer| offer.id == applied);
            let outcome = applied.map(|offer| offer.effect.outcome());
            assert_ne!(outcome, Some(Outcome::Approved), "{kind:?} {applied:?}");
        }
    }
}

/// The expiry of a choice never selects an option of the asking agent.
#[test]
fn an_external_choice_is_not_made_by_time() {
    let mut world = asks(Kind::Choice, &["no", "yes"]);
    let id = world.open(Kind::Choice);
    world.pass_ms(1_000);
    world.send(Input::Tick);
    assert_eq!(
        world.run.ended.as_ref().map(|ended| ended.result.clone()),
        Some(json!({ "outcome": "expired", "option": null, "text": null, "edit": null })),
    );
    assert_eq!(world.run.interrupts[&id].resolution.as_ref().and_then(|each| each.option.clone()), None);
}

/// An option that needs a text or an edit never takes effect on expiry, even if it is set as `on_expiry`.
#[test]
fn an_expiry_takes_no_option_that_needs_a_text_or_an_edit() {
    for kind in Kind::ALL {
        let rows: Vec<Offer> = kind.row().options.iter().map(Offer::from_row).collect();
        for named in rows.iter().map(|offer| Some(offer.id.as_str())).chain([None]) {
            for offered in (0..rows.len()).map(|from| &rows[from..]).chain(rows.chunks(1)) {
                let id = interrupt::on_expiry(kind, named, offered);
                let taken = offered.iter().find(|offer| offer.id == id);
                assert!(taken.is_some() != (id == interrupt::EXPIRED), "{kind:?} {named:?}: {id}");
                assert!(
                    taken.is_none_or(|offer| !offer.needs_text && !offer.needs_edit),
                    "{kind:?} {named:?}: {id}"
                );
            }
        }
    }
}

/// A workflow can choose for `reject` only the effects that the table allows, and so cannot turn a refusal into a
/// release.
#[test]
fn reject_does_what_the_table_allows() {
    let effect = |wanted| {
        let mut definition = definition();
        let gate = KindGate { reject: Some(wanted), ..KindGate::default() };
        definition.gates.kinds = BTreeMap::from([(Kind::ToolApproval, gate)]);
        let world = worked(definition, vec![calls(&[write("a.txt")])]);
        let options = offered(&world, Kind::ToolApproval);
        options.into_iter().find(|offer| offer.id == "reject").map(|offer| offer.effect)
    };
    let found =
        [Effect::Refuse, Effect::EndTurn, Effect::FailRun, Effect::Proceed, Effect::Grant].map(effect);
    assert_eq!(
        found,
        [Effect::Refuse, Effect::EndTurn, Effect::FailRun, Effect::Refuse, Effect::Refuse].map(Some),
    );
}

/// A workflow can make `respond` a refusal with the person's text as the reason, instead of the call's result. A
/// workflow can choose no other effect for `respond`.
#[test]
fn respond_does_what_the_table_allows() {
    let ask = |wanted| {
        let mut definition = definition();
        let gate = KindGate { respond: wanted, ..KindGate::default() };
        definition.gates.kinds = BTreeMap::from([(Kind::ToolApproval, gate)]);
        worked(definition, vec![calls(&[write("a.txt")])])
    };
    let effect = |wanted| {
        let options = offered(&ask(wanted), Kind::ToolApproval);
        options.into_iter().find(|offer| offer.id == "respond").map(|offer| (offer.effect, offer.needs_text))
    };
    let found = [None, Some(Effect::Refuse), Some(Effect::Proceed), Some(Effect::FailRun)].map(effect);
    let expected = [Effect::Respond, Effect::Refuse, Effect::Respond, Effect::Respond];
    assert_eq!(found, expected.map(|effect| Some((effect, true))));
    for (wanted, told) in [
        (None, "tool_finished call_1 answered responded"),
        (Some(Effect::Refuse), "tool_finished call_1 refused refused"),
    ] {
        let mut world = ask(wanted);
        let decided = world.decide(Kind::ToolApproval, choose_with("respond", "use printf"));
        assert!(decided.iter().any(|line| line == told), "{decided:?}");
    }
}

/// A decision after the deadline is too late, even if the expiry is not yet recorded, and even if the clock has gone
/// back.
#[test]
fn a_deadline_is_not_late_because_its_sweep_is() {
    let mut definition = definition();
    let gate = KindGate { expires_in_ms: Some(1_000), ..KindGate::default() };
    definition.gates.kinds = BTreeMap::from([(Kind::ToolApproval, gate)]);
    let mut world = worked(definition, vec![calls(&[write("a.txt")])]);
    let interrupt = world.open(Kind::ToolApproval);
    let before = world.now;
    world.pass_ms(1_000);
    world.message("still there?");
    world.now = before;
    let late = Input::Decide { interrupt, decision: choose("approve"), holder: None };
    let refused = world.try_send(&holdshort_core::actor::Actor::operator("rest"), late);
    assert_eq!(format!("{refused:?}"), "Err(Refused(Expired))");
    assert_eq!(
        world.send(Input::Tick),
        ["interrupt_resolved expired reject", "tool_finished call_1 refused expired"],
    );
}

/// A test case: options that the workflow sets, situation, kind of interrupt, and options that are then offered.
type Narrowed<'a> = (&'a [&'a str], fn(Definition) -> World, Kind, &'a str);

fn narrowed(options: &[&str], open: fn(Definition) -> World, kind: Kind) -> Vec<String> {
    let mut definition = definition();
    let options = options.iter().map(|id| (*id).to_owned()).collect();
    definition.gates.kinds = BTreeMap::from([(kind, KindGate { options, ..KindGate::default() })]);
    offered(&open(definition), kind).into_iter().map(|offer| offer.id).collect()
}

/// A workflow can remove and reorder options, but not add an option to those of the situation.
#[test]
fn a_workflow_drops_and_reorders_options() {
    let call = cases().swap_remove(0).open;
    let before = |mut definition: Definition| {
        definition.phases[0].gates.before_step = true;
        worked(definition, vec![says("Done.")])
    };
    let must = |mut definition: Definition| {
        definition.gates.mandatory.insert(holdshort_core::policy::Checkpoint::BeforeFileEdit);
        worked(definition, vec![calls(&[write("a.txt")]), says("Done.")])
    };
    let table: &[Narrowed] = &[
        (&[], call, Kind::ToolApproval, "approve approve_session edit respond reject"),
        (&["reject", "approve"], call, Kind::ToolApproval, "reject approve"),
        (&["respond", "approve_session"], call, Kind::ToolApproval, "respond approve_session"),
        // At a mandatory checkpoint, no grant is offered.
        (&["approve_session", "reject"], must, Kind::ToolApproval, "reject"),
        // The gate before a step does not offer `continue` and `redo`, so the workflow cannot add these options.
        (&["approve", "reject", "continue", "redo"], before, Kind::Checkpoint, "approve reject"),
        // If the workflow would leave no option, or only `approve`, its list is ignored.
        (&["continue", "abort"], before, Kind::Checkpoint, "approve edit skip reject"),
        (&["approve", "redo"], before, Kind::Checkpoint, "approve edit skip reject"),
    ];
    for (options, open, kind, expected) in table {
        assert_eq!(narrowed(options, *open, *kind).join(" "), *expected, "{options:?}");
    }
}

/// At least one option without a release always remains offered, for each kind of interrupt.
#[test]
fn what_does_not_release_work() {
    let table: Vec<String> = Kind::ALL
        .iter()
        .map(|kind| {
            let offers = kind.row().options.iter().map(Offer::from_row);
            let ids: Vec<String> = offers.filter(|offer| !offer.releases()).map(|offer| offer.id).collect();
            format!("{}: {}", kind.as_str(), ids.join(" "))
        })
        .collect();
    assert_eq!(
        table,
        [
            "tool_approval: respond reject",
            "plan_approval: revise reject",
            "checkpoint: redo skip reject abort",
            "error: retry skip hand_over abort",
            "question: answer skip cancel",
            "choice: custom",
            "turn: submit new_task done exit",
            "escalation: instruct abort",
            "review: reject",
            "continuation: finish cancel",
            "client_call: result error",
            "unknown_outcome: happened rerun skip abort",
        ],
    );
}

/// A workflow can set labels, approvers and the expiry of interrupts.
#[test]
fn a_workflow_relabels_and_assigns() {
    let mut definition = definition();
    let gate = KindGate {
        labels: BTreeMap::from([
            ("approve".to_owned(), "Go".to_owned()),
            ("nonsense".to_owned(), "?".to_owned()),
        ]),
        assignment: assigned(&["ann"]),
        expires_in_ms: Some(5_000),
        on_expiry: Some("approve_session".to_owned()),
        ..KindGate::default()
    };
    definition.gates.kinds = BTreeMap::from([(Kind::ToolApproval, gate)]);
    let world = worked(definition, vec![calls(&[write("a.txt")])]);
    let opened = &world.run.interrupts[&world.open(Kind::ToolApproval)].opened;
    let labels: Vec<&str> = opened.options.iter().map(|offer| offer.label.as_str()).collect();
    assert_eq!(
        (labels, first_approvers(opened).as_slice(), opened.expires_at, opened.on_expiry.as_str()),
        (
            vec!["Go", "Approve for this session", "Edit and approve", "Provide the result", "Reject"],
            ["ann".to_owned()].as_slice(),
            Some(world.now.plus_ms(5_000)),
            // A grant is never given on expiry, so the workflow's `on_expiry` is replaced.
            "reject",
        ),
    );
}

/// An edit that equals the original value is stored as an approval. Repeating the edit changes nothing.
#[test]
fn an_edit_that_changes_nothing_is_an_approval() {
    let cases: Vec<Case> = cases()
        .into_iter()
        .filter(|case| offered(&(case.open)(definition()), case.kind).iter().any(|each| each.id == "edit"))
        .collect();
    for case in cases {
        let world = (case.open)(definition());
        let id = world.open(case.kind);
        let payload = &world.run.interrupts[&id].content["payload"];
        let field = match case.kind {
            Kind::ToolApproval => "arguments",
            Kind::PlanApproval => "plan",
            Kind::Review => "content",
            _ => "input",
        };
        let shown = payload.get(field).unwrap_or(payload).clone();
        let unchanged = Decision { edit: shown, ..choose("edit") };
        let (mut approved, mut sent_back) = (world.clone(), world);
        let expected = approved.decide(case.kind, choose("approve"));
        assert_eq!(sent_back.decide(case.kind, unchanged.clone()), expected, "{}", case.name);
        assert_eq!(
            sent_back.person(Input::Decide { interrupt: id, decision: unchanged, holder: None }),
            [""; 0]
        );
    }
}

/// A subtask with an empty `depends_on` equals a subtask without `depends_on`.
#[test]
fn a_plan_in_another_form_is_the_same_plan() {
    let plan = serde_json::from_str(PLAN).expect("it is JSON");
    let mut world = worked(definition(), vec![calls(&[("create_plan", plan)]), says("Done.")]);
    let edit = json!({"subtasks": [{"id": "1", "description": "do", "depends_on": []}]});
    world.decide(Kind::PlanApproval, Decision { edit, ..choose("edit") });
    let made = world.run.interrupts.values().next().and_then(|each| each.settled_by().cloned());
    assert_eq!(made.map(|made| (made.option, made.edit)), Some(("approve".to_owned(), Value::Null)));
}
