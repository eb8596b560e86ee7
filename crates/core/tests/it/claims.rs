//! Actions on an interrupt that do not resolve it, such as claims and comments, and the client that runs a call.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::interrupt::{Assignment, ClaimHolder, Decision, Kind, Refusal};
use holdshort_core::limits;
use holdshort_core::run::{ClientOutcome, Fact, Input, Rejection};
use serde_json::json;

use crate::world::{World, calls, choose, command, definition, edit, says, with_client};

fn person(id: &str) -> Actor {
    Actor { id: id.to_owned(), ..Actor::operator("rest") }
}

fn held() -> World {
    let mut world = World::started(definition(), vec![calls(&[command("make x")]), says("Not made.")]);
    world.work();
    world
}

fn claim(world: &World) -> Input {
    Input::Claim { interrupt: world.open(Kind::ToolApproval), holder: None, over: None }
}

fn release(world: &World) -> Input {
    Input::Release { interrupt: world.open(Kind::ToolApproval), holder: None }
}

fn send_and_describe(world: &mut World, actor: &Actor, input: Input) -> String {
    match world.try_send(actor, input) {
        Ok(events) if events.is_empty() => "–".to_owned(),
        Ok(events) => {
            events.iter().filter_map(|event| event.split(' ').next()).collect::<Vec<_>>().join(", ")
        }
        Err(Rejection::Refused(refusal)) => format!("✗ {refusal:?}"),
        Err(other) => format!("✗ {other:?}"),
    }
}

#[test]
fn a_claim_is_one_persons_and_resolves_nothing() {
    let mut world = held();
    let (ann, bob) = (person("ann"), person("bob"));
    let admin = Actor { id: "ada".to_owned(), role: Role::Admin, via: None, let_in_by: None };
    let (claim, release) = (claim(&world), release(&world));
    let table = [
        (&bob, &release, "–"),
        (&ann, &claim, "interrupt_claimed"),
        (&ann, &claim, "–"),
        (&bob, &claim, "✗ Claimed { by: \"ann\" }"),
        (&bob, &release, "✗ Claimed { by: \"ann\" }"),
        (&ann, &release, "interrupt_released"),
        (&bob, &claim, "interrupt_claimed"),
        (&admin, &release, "interrupt_released"),
        (&ann, &claim, "interrupt_claimed"),
        (&Actor::agent("a", "rest"), &claim, "✗ Role"),
    ];
    for (n, (actor, input, expected)) in table.into_iter().enumerate() {
        assert_eq!(send_and_describe(&mut world, actor, input.clone()), expected, "row {n}");
    }
    let id = world.open(Kind::ToolApproval);
    let rows = world.run.interrupt_rows([&id]);
    assert!(rows[0].open, "{rows:?}");
    // A claim does not keep other people from deciding. The decision ends the claim.
    let decide = Input::Decide { interrupt: id.clone(), decision: choose("approve"), holder: None };
    world.try_send(&bob, decide).expect("it is taken");
    let again = Input::Claim { interrupt: id, holder: None, over: None };
    assert_eq!(send_and_describe(&mut world, &bob, again), "✗ AlreadyResolved");
}

#[test]
fn an_interrupt_is_claimed_so_often_and_no_more() {
    let mut world = held();
    let id = world.open(Kind::ToolApproval);
    world.run.interrupts.change(&id, |interrupt| interrupt.claims = limits::CLAIMS - 1);
    let (ann, bob) = (person("ann"), person("bob"));
    let (claim, release) = (claim(&world), release(&world));
    let limit = format!("✗ Limit {{ name: \"claims\", limit: {} }}", limits::CLAIMS);
    let table = [
        (&ann, &claim, "interrupt_claimed"),
        // Claiming a second time adds no event. Other people get a rejection with the name of the claim holder.
        (&ann, &claim, "–"),
        (&bob, &claim, "✗ Claimed { by: \"ann\" }"),
        (&ann, &release, "interrupt_released"),
        (&ann, &claim, limit.as_str()),
        (&bob, &claim, limit.as_str()),
    ];
    for (n, (actor, input, expected)) in table.into_iter().enumerate() {
        assert_eq!(send_and_describe(&mut world, actor, input.clone()), expected, "row {n}");
    }
    // A claim does not keep other people from deciding.
    let decide = Input::Decide { interrupt: id, decision: choose("reject"), holder: None };
    world.try_send(&bob, decide).expect("it is taken");
}

#[test]
fn whoever_may_not_decide_may_not_claim_or_comment() {
    let mut world = held();
    let id = world.open(Kind::ToolApproval);
    let ann = Assignment::from_approvers(vec!["ann".to_owned()]);
    world.run.interrupts.change(&id, |interrupt| interrupt.assignment = ann);
    let comment = Input::Comment { interrupt: id.clone(), text: "why?".to_owned() };
    let claim = claim(&world);
    for input in [&comment, &claim] {
        assert_eq!(send_and_describe(&mut world, &person("bob"), input.clone()), "✗ NotAnApprover");
        assert_eq!(send_and_describe(&mut world, &Actor::agent("a", "rest"), input.clone()), "✗ Role");
    }
    assert_eq!(send_and_describe(&mut world, &person("ann"), comment), "comment_added");
    assert_eq!(send_and_describe(&mut world, &person("ann"), claim), "interrupt_claimed");
}

/// The first time that each person views an open interrupt is recorded. A view changes nothing else.
#[test]
fn the_first_look_of_each_person_is_recorded() {
    let mut world = held();
    let id = world.open(Kind::ToolApproval);
    let view = Input::View { interrupt: id.clone() };
    let (ann, bob) = (person("ann"), person("bob"));
    let version = world.run.interrupts[&id].version;
    for (actor, expected) in [
        (&ann, "interrupt_viewed"),
        (&ann, "–"),
        (&bob, "interrupt_viewed"),
        (&bob, "–"),
        (&Actor::agent("a", "rest"), "✗ Role"),
    ] {
        assert_eq!(send_and_describe(&mut world, actor, view.clone()), expected);
    }
    let interrupt = &world.run.interrupts[&id];
    assert_eq!((interrupt.views.len(), interrupt.version), (2, version));
    world.run.interrupts.change(&id, |interrupt| {
        let now = interrupt.views["ann"];
        let others = interrupt.views.len()..limits::VIEWS as usize;
        interrupt.views.extend(others.map(|n| (format!("p{n}"), now)));
    });
    let limit = format!("✗ Limit {{ name: \"views\", limit: {} }}", limits::VIEWS);
    assert_eq!(send_and_describe(&mut world, &person("cleo"), view.clone()), limit);
    world.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!(send_and_describe(&mut world, &person("dora"), view), "–", "it is over");
}

#[test]
fn a_comment_is_kept_beside_the_decisions_also_later() {
    let mut world = held();
    let id = world.open(Kind::ToolApproval);
    let comment = |text: &str| Input::Comment { interrupt: id.clone(), text: text.to_owned() };
    world.person(comment("who made that?"));
    let refused = world.try_send(&person("ann"), comment(" ")).expect_err("it is empty");
    assert!(matches!(refused, Rejection::Refused(Refusal::Invalid(_))), "{refused:?}");
    let long = "x".repeat(limits::TEXT_BYTES + 1);
    assert!(world.try_send(&person("ann"), comment(&long)).is_err());
    world.decide(Kind::ToolApproval, choose("reject"));
    world.work();
    assert!(world.run.ended.is_some());
    world.person(comment("it was me"));
    let interrupt = &world.run.interrupts[&id];
    let texts: Vec<_> = interrupt.comments.iter().filter_map(|each| each.text.as_deref()).collect();
    assert_eq!((texts, interrupt.votes.len()), (vec!["who made that?", "it was me"], 1));
    for n in interrupt.comments.len()..limits::COMMENTS {
        world.person(comment(&n.to_string()));
    }
    assert!(world.try_send(&person("ann"), comment("one more")).is_err(), "there is a limit");
}

fn window(number: u64) -> ClaimHolder {
    ClaimHolder { node: 1, number }
}

/// Returns a run with a client call that waits for approval.
fn with_call() -> World {
    let mut definition = with_client();
    definition.gates.rules.clear();
    let script = vec![calls(&[("client_write", json!({ "path": "a", "content": "x" }))]), says("Done.")];
    let mut world = World::started(definition, script);
    world.work();
    world
}

fn holder(world: &World) -> Option<ClaimHolder> {
    let handed_out = &world.run.interrupts[&world.open(Kind::ClientCall)];
    handed_out.claim.as_ref().and_then(|claim| claim.holder.clone())
}

#[test]
fn who_approves_a_call_with_a_client_has_it() {
    for decision in [choose("approve"), edit(json!({ "path": "b", "content": "x" }))] {
        let mut world = with_call();
        let interrupt = world.open(Kind::ToolApproval);
        world.person(Input::Decide { interrupt, decision: decision.clone(), holder: Some(window(7)) });
        world.work();
        assert_eq!(holder(&world), Some(window(7)), "{decision:?}");
    }
    // If the decision names no client, any client can claim the call.
    let mut world = with_call();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(holder(&world), None);
}

#[test]
fn a_call_is_one_clients_until_it_is_let_go_or_taken_over() {
    let mut world = with_call();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    let id = world.open(Kind::ClientCall);
    let claim = |number, over| Input::Claim { interrupt: id.clone(), holder: Some(window(number)), over };
    let let_go = |number| Input::Release { interrupt: id.clone(), holder: Some(window(number)) };
    let operator = Actor::operator("rest");
    assert_eq!(send_and_describe(&mut world, &operator, claim(1, None)), "interrupt_claimed");
    // Two browser windows of one person are two claim holders.
    assert_eq!(send_and_describe(&mut world, &operator, claim(2, None)), "✗ Claimed { by: \"operator\" }");
    assert_eq!(send_and_describe(&mut world, &operator, let_go(2)), "✗ Claimed { by: \"operator\" }");
    // To take over a claim, a client must send the sequence of that claim. If a later claim exists, the takeover is
    // rejected.
    let seen = world.run.interrupts[&id].claim.as_ref().map(|claim| claim.seq);
    assert_eq!(
        send_and_describe(&mut world, &operator, claim(2, seen.map(|seq| seq - 1))),
        "✗ Claimed { by: \"operator\" }"
    );
    assert_eq!(send_and_describe(&mut world, &operator, claim(2, seen)), "interrupt_claimed");
    assert_eq!(send_and_describe(&mut world, &operator, claim(3, seen)), "✗ Claimed { by: \"operator\" }");
    assert_eq!(send_and_describe(&mut world, &operator, let_go(2)), "interrupt_released");
    // A person cannot release a call that a client has claimed, because the client may be running the call.
    assert_eq!(send_and_describe(&mut world, &operator, claim(3, None)), "interrupt_claimed");
    let admin = Actor { id: "ada".to_owned(), role: Role::Admin, via: None, let_in_by: None };
    for actor in [&operator, &admin] {
        let release = Input::Release { interrupt: id.clone(), holder: None };
        assert_eq!(send_and_describe(&mut world, actor, release), "✗ Claimed { by: \"operator\" }");
    }
    // Every client may send the result, even without a claim.
    let outcome = ClientOutcome::Done { text: "written".to_owned() };
    world.person(Input::ClientResult { call: "call_1".to_owned(), outcome });
    assert_eq!(send_and_describe(&mut world, &operator, claim(4, None)), "✗ AlreadyResolved");
}

/// A reported viewing time is recorded with the vote, limited to one day. A repeated decision may have another viewing
/// time.
#[test]
fn how_long_somebody_looked_is_recorded_with_their_vote() {
    let table = [
        (None, None),
        (Some(0), Some(0)),
        (Some(4_200), Some(4_200)),
        (Some(limits::VIEWED_MS), Some(limits::VIEWED_MS)),
        (Some(u64::MAX), Some(limits::VIEWED_MS)),
    ];
    let ann = person("ann");
    for (said, recorded) in table {
        let mut world = held();
        let id = world.open(Kind::ToolApproval);
        let decide = |viewed_ms| Input::Decide {
            interrupt: id.clone(),
            decision: Decision { viewed_ms, ..choose("reject") },
            holder: None,
        };
        world.try_send(&ann, decide(said)).expect("it is taken");
        let vote = world.run.interrupts[&id].votes.last().expect("a vote");
        assert_eq!((vote.by.as_str(), vote.viewed_ms), ("ann", recorded), "{said:?}");
        assert_eq!(send_and_describe(&mut world, &ann, decide(Some(1))), "–", "{said:?}");
    }
}

/// Loading the page of an interrupt records no view. The decision that the page sends also records a view.
#[test]
fn a_decision_from_a_page_notes_a_look_before_it() {
    let ann = person("ann");
    for (looked, from_page, expected) in [
        (false, true, "interrupt_viewed, decision_made"),
        (true, true, "decision_made"),
        (false, false, "decision_made"),
    ] {
        let mut world = held();
        let id = world.open(Kind::ToolApproval);
        if looked {
            assert_eq!(
                send_and_describe(&mut world, &ann, Input::View { interrupt: id.clone() }),
                "interrupt_viewed"
            );
        }
        let decision = Decision { from_page, ..choose("reject") };
        let told =
            send_and_describe(&mut world, &ann, Input::Decide { interrupt: id, decision, holder: None });
        assert!(told.starts_with(expected), "{looked} {from_page}: {told}");
    }
    // A decision on an outdated version of the interrupt records no view.
    let mut world = held();
    let id = world.open(Kind::ToolApproval);
    let decision = Decision { from_page: true, version: Some(999), ..choose("reject") };
    let told = send_and_describe(&mut world, &ann, Input::Decide { interrupt: id, decision, holder: None });
    assert_eq!((told.starts_with('✗'), world.count("interrupt_viewed")), (true, 0), "{told}");
}

/// The event of a decision and the resolution record `on_behalf_of`. The decision is still that of the person who is
/// signed in.
#[test]
fn for_whom_somebody_decided_is_recorded_with_their_vote() {
    let longest = "x".repeat(limits::ON_BEHALF_BYTES);
    let ann = person("ann");
    for said in [None, Some("bob"), Some(&*longest)] {
        let mut world = held();
        let id = world.open(Kind::ToolApproval);
        let decide = |name: Option<&str>| Input::Decide {
            interrupt: id.clone(),
            decision: Decision { on_behalf_of: name.map(str::to_owned), ..choose("reject") },
            holder: None,
        };
        let too_long = decide(Some(&*format!("{longest}x")));
        let refused = world.try_send(&ann, too_long).expect_err("a name is not that long");
        assert!(matches!(refused, Rejection::Refused(Refusal::Invalid(_))), "{refused:?}");
        world.try_send(&ann, decide(said)).expect("it is taken");
        let interrupt = &world.run.interrupts[&id];
        let settled: Vec<(String, String)> = interrupt.on_behalf_of().into_iter().collect();
        let expected: Vec<(String, String)> =
            said.iter().map(|name| ("ann".to_owned(), (*name).to_owned())).collect();
        assert_eq!(settled, expected, "{said:?}");
        assert_eq!(interrupt.decided_by(), ["ann"], "who decided is who is signed in");
        assert_eq!(send_and_describe(&mut world, &ann, decide(said)), "–", "{said:?}");
        assert_eq!(send_and_describe(&mut world, &ann, decide(None)), "–", "{said:?}");
        // A decision on behalf of a different person is a new decision, which comes too late.
        assert_eq!(
            send_and_describe(&mut world, &ann, decide(Some("carl"))),
            "✗ AlreadyResolved",
            "{said:?}"
        );
    }
}

/// The event of a decision without a viewing time and `on_behalf_of` is byte for byte as in older versions.
#[test]
fn a_decision_without_what_clients_say_is_written_as_it_was_before() {
    let decided = |viewed_ms, on_behalf_of| Fact::DecisionMade {
        interrupt: "int_01k6f0000000000000000000cc".parse().expect("an id"),
        option: "approve".to_owned(),
        implied: false,
        edit_of: None,
        from: None,
        seat: None,
        viewed_ms,
        on_behalf_of,
        also: Vec::new(),
        also_shown: Vec::new(),
    };
    let facts = json!({ "interrupt": "int_01k6f0000000000000000000cc", "option": "approve" });
    let before = json!({ "type": "decision_made", "facts": facts });
    assert_eq!(serde_json::to_value(decided(None, None)).expect("it is written"), before);
    assert_eq!(serde_json::from_value::<Fact>(before).expect("it is read"), decided(None, None));
    let with_it = serde_json::to_value(decided(Some(7), Some("bob".to_owned()))).expect("it is written");
    assert_eq!(with_it["facts"]["viewed_ms"], 7);
    assert_eq!(with_it["facts"]["on_behalf_of"], "bob");
}
