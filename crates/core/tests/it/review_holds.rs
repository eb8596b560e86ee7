//! Review holds: a service stops a run until a person has reviewed it. Also tests the end of a hold, and runs without
//! reviews (contracts D2, D3, E20, E35).

use holdshort_core::actor::Actor;
use holdshort_core::definition::Definition;
use holdshort_core::interrupt::{Cause, Kind, Outcome};
use holdshort_core::level::Level;
use holdshort_core::limits;
use holdshort_core::projection::Status;
use holdshort_core::run::{Config, Hold, Input, Rejection, StepEnd};
use serde_json::json;

use crate::world::{self, World, calls, choose, choose_with, definition, one_shot, read, says};

fn hold() -> Input {
    Input::Hold(Box::new(Hold {
        title: "Sanctions".to_owned(),
        message: String::new(),
        payload: json!({ "findings": "a match" }),
        risk: Level::High,
        expires_in_ms: Some(1_000),
    }))
}

fn service() -> Actor {
    Actor::agent("watcher", "crew")
}

fn due(world: &World) -> usize {
    world.run.actions().len()
}

fn ended(world: &World) -> Option<(Status, &str)> {
    world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()))
}

fn two_phases() -> Definition {
    Definition { phases: vec![one_shot("first", &[]), one_shot("second", &["first"])], ..definition() }
}

/// Returns a run whose model is sending its first reply.
fn replying() -> World {
    let mut world = World::started(two_phases(), Vec::new());
    world.begin_model("first");
    world
}

#[test]
fn what_is_under_way_is_kept_and_nothing_else_begins_before_the_release() {
    let mut world = replying();
    assert_eq!(world.try_send(&service(), hold()).unwrap(), ["interrupt_opened review"]);
    let opened = world.run.interrupts[&world.open(Kind::Review)].opened.clone();
    let options: Vec<&str> = opened.options.iter().map(|offer| offer.id.as_str()).collect();
    assert_eq!((options, opened.agent.as_deref()), (vec!["approve", "reject"], Some("watcher")));
    assert_eq!(world.run.status(), Status::Running, "a reply is under way");
    // Holding the run a second time adds no event, even if a different service sends the second hold.
    assert!(world.try_send(&service(), hold()).unwrap().is_empty());
    let turn = world.run.steps["first"].turn;
    assert_eq!(world.answer("first", turn, says("done")), ["model_replied"], "kept, and nothing follows");
    assert_eq!((world.run.status(), due(&world)), (Status::Waiting, 0));
    let told = world.decide(Kind::Review, choose_with("approve", "a namesake"));
    let begins = [&told[0][..13], &told[1][..18]];
    assert_eq!(begins, ["decision_made", "interrupt_resolved"], "{told:?}");
    assert_eq!(world.run.steps["first"].end, Some(StepEnd::Completed));
    let request = format!("{:?}", world.run.request("second").unwrap());
    assert!(request.contains("a namesake"), "{request}");
}

#[test]
fn calls_of_a_reply_that_came_meanwhile_wait_for_the_release() {
    let mut world = replying();
    world.try_send(&service(), hold()).unwrap();
    let turn = world.run.steps["first"].turn;
    world.answer("first", turn, calls(&[read("a.txt")]));
    assert_eq!(due(&world), 0, "it is not even looked at");
    world.decide(Kind::Review, choose("approve"));
    assert_eq!(due(&world), 1);
}

#[test]
fn a_rejection_and_an_expiry_end_the_run_and_are_told_apart() {
    let mut world = replying();
    world.try_send(&service(), hold()).unwrap();
    world.decide(Kind::Review, choose_with("reject", "a match indeed"));
    assert_eq!(ended(&world), Some((Status::Failed, "rejected")));
    assert!(world.why().is_some_and(|why| why.contains("a match indeed")));

    let mut world = replying();
    world.try_send(&service(), hold()).unwrap();
    world.pass_ms(2_000);
    world.send(Input::Tick);
    assert_eq!(ended(&world), Some((Status::Failed, "expired")));
    let outcomes: Vec<_> = world
        .run
        .interrupts
        .values()
        .filter_map(|each| each.resolution.as_ref())
        .map(|it| it.outcome)
        .collect();
    assert_eq!(outcomes, [Outcome::Expired]);
}

/// The run continues after both the interruption and the review hold are resolved, in either order.
#[test]
fn an_interruption_and_a_hold_are_both_waited_for() {
    for review_first in [true, false] {
        let mut world = World::started(two_phases(), Vec::new());
        world.person(Input::Interrupt { text: None });
        world.try_send(&service(), hold()).unwrap();
        let settle = |world: &mut World, review: bool| {
            if review {
                world.decide(Kind::Review, choose("approve"));
            } else {
                world.decide(Kind::Turn, choose("continue"));
            }
        };
        settle(&mut world, review_first);
        assert_eq!(due(&world), 0, "{review_first}");
        settle(&mut world, !review_first);
        assert_eq!(due(&world), 1, "{review_first}");
    }
}

#[test]
fn whoever_may_ask_may_hold_and_nobody_else() {
    let mut world = replying();
    for actor in [Actor::admin("ann", "crew"), Actor::for_role(holdshort_core::actor::Role::Auditor, "crew")]
    {
        assert_eq!(world.try_send(&actor, hold()), Err(Rejection::Role));
    }
    let mut world = World::started(world::external(), Vec::new());
    assert!(matches!(
        world.try_send(&service(), hold()),
        Err(Rejection::NotInterruptible(_) | Rejection::Role)
    ));
}

fn reviewed(ends_step: bool) -> World {
    let mut definition = two_phases();
    definition.gates.release_ends_step = ends_step;
    let review = ("request_review", json!({ "title": "t", "content": "the report" }));
    let mut world =
        World::started(definition, Vec::new()).with("first", vec![calls(&[review]), says("more")]);
    world.work();
    world
}

#[test]
fn what_a_service_finds_beside_an_open_review_is_said_there_once() {
    let mut world = reviewed(true);
    let review = world.open(Kind::Review);
    assert_eq!(world.try_send(&service(), hold()).unwrap(), ["comment_added"]);
    assert!(world.try_send(&service(), hold()).unwrap().is_empty(), "the same again");
    assert_eq!(world.open(Kind::Review), review, "no other review");
    let comments = &world.run.interrupts[&review].comments;
    assert_eq!((comments.len(), comments[0].by.as_str()), (1, "watcher"));
    let text = comments[0].text.as_deref().unwrap();
    assert!(text.starts_with("Sanctions\n") && text.contains("a match"), "{text}");
}

fn found(findings: &str) -> Input {
    Input::Hold(Box::new(Hold {
        title: "Sanctions".to_owned(),
        message: String::new(),
        payload: json!({ "findings": findings }),
        risk: Level::Critical,
        expires_in_ms: Some(1_000),
    }))
}

/// A hold's finding may be longer than a comment. If a review is already open, the finding becomes a comment and is
/// cut.
#[test]
fn what_is_longer_than_a_comment_is_cut_beside_an_open_review_and_says_so() {
    // The text consists partly of characters with three bytes, so the cut falls into a character at one of these
    // lengths.
    let long = "a match …".repeat(10_000);
    for end in ["", "x", "xy"] {
        let mut world = reviewed(true);
        let review = world.open(Kind::Review);
        let findings = format!("{end}{long}");
        assert_eq!(world.try_send(&service(), found(&findings)).unwrap(), ["comment_added"]);
        assert!(world.try_send(&service(), found(&findings)).unwrap().is_empty(), "the same again");
        let text = world.run.interrupts[&review].comments[0].text.clone().unwrap();
        assert!(text.len() <= limits::TEXT_BYTES, "{}", text.len());
        let whole = format!("Sanctions\n\n{{\n  \"findings\": \"{findings}\"\n}}");
        let (begins, note) = text.rsplit_once("…\n\n").unwrap();
        assert!(whole.starts_with(begins), "its beginning");
        assert!(note.contains(&format!("beginning of {} bytes", whole.len())), "{note}");
        // A finding that differs only behind the cut is a new finding.
        assert_eq!(world.try_send(&service(), found(&(findings + "!"))).unwrap(), ["comment_added"]);
    }
}

#[test]
fn where_no_comment_has_room_a_finding_is_refused_as_a_limit() {
    let mut world = reviewed(true);
    for n in 0..limits::COMMENTS {
        assert_eq!(world.try_send(&service(), found(&n.to_string())).unwrap(), ["comment_added"]);
    }
    let limit = limits::COMMENTS as u64;
    let refused = Err(Rejection::Limit { name: "comments", limit });
    assert_eq!(world.try_send(&service(), found("one more")), refused);
    assert!(world.try_send(&service(), found("0")).unwrap().is_empty(), "what is said is said");
}

#[test]
fn a_release_may_end_the_step_of_its_agent() {
    let mut world = reviewed(true);
    world.decide(Kind::Review, choose_with("approve", "good"));
    let first = &world.run.steps["first"];
    assert_eq!((first.end, first.turn), (Some(StepEnd::Completed), 1), "it is not asked again");
    assert_eq!(first.output.as_deref(), Some("the report"));
    let request = format!("{:?}", world.run.request("second").unwrap());
    assert!(request.contains("the report") && request.contains("good"), "{request}");

    let mut world = reviewed(false);
    world.decide(Kind::Review, choose("approve"));
    assert_eq!(world.run.steps["first"].end, None, "otherwise it goes on");
}

#[test]
fn switched_off_a_review_is_let_through_and_says_so() {
    let review = ("request_review", json!({ "title": "t", "content": "the report" }));
    let mut world = World::new(two_phases()).with("first", vec![calls(&[review]), says("more")]);
    world.start(Config { unreviewed: true, ..Config::default() });
    world.work();
    let causes: Vec<_> = world
        .run
        .interrupts
        .values()
        .filter_map(|each| each.resolution.as_ref())
        .map(|it| (it.outcome, it.cause.clone(), it.by.as_str()))
        .collect();
    assert_eq!(causes, [(Outcome::Approved, Cause::Unasked, "engine")]);
    assert_eq!(world.run.released.len(), 1);

    let mut world = World::new(two_phases());
    world.start(Config { unreviewed: true, ..Config::default() });
    let told = world.try_send(&service(), hold()).unwrap();
    assert_eq!(told, ["interrupt_opened review", "interrupt_resolved approved approve"]);
    assert!(due(&world) > 0, "it goes on");
}
