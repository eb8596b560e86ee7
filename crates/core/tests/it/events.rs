//! Stored events: head and content, hash chain, erasure, determinism, and replay.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::envelope::{self, Chain, Content, Error, Sealed};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{Draw, Seed, StreamId};
use holdshort_core::interrupt::{Decision, Kind, Vote};
use holdshort_core::json;
use holdshort_core::projection::Status;
use holdshort_core::run::{Action, ActionId, CallEnd, CallState, Input, Run};
use holdshort_core::session::Session;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::Outcome;
use serde_json::Value;

use crate::world::{
    World, adopt, calls, choose, choose_with, command, definition, describe_event, draw, edit, read, says,
    write,
};

/// Returns a run with many features: allowed and gated calls, a question, a plan, an edit, a grant and a message. It
/// also has a pause, a review, a question printed in a reply, and gates before and after the step.
pub(crate) fn story() -> World {
    use serde_json::json;
    let mut definition = definition();
    definition.phases[0].gates.before_step = true;
    definition.phases[0].gates.after_step = true;
    definition.phases.push(crate::world::checkpoint("look", &["work"]));
    let script = vec![
        calls(&[read("a.txt"), write("b.txt"), ("ask_human", json!({ "question": "Which?" }))]),
        calls(&[("create_plan", json!({ "subtasks": [{ "id": "1", "description": "do" }] }))]),
        calls(&[command("make x"), command("make x"), write("c.txt")]),
        calls(&[("request_review", json!({ "title": "t", "content": "c" })), ("nonsense", json!({}))]),
        says("Shall I go on?"),
        says("Shall I go on?"),
        says("Done."),
    ];
    let mut world = World::started(definition, script);
    world.files.insert("a.txt".to_owned(), "text of a".to_owned());
    world.pass_ms(10);
    world.decide(Kind::Checkpoint, choose_with("approve", "carefully"));
    world.work();
    world.message("use TypeScript");
    world.decide(Kind::Question, choose_with("answer", "the first"));
    world.decide(Kind::ToolApproval, edit(write("d.txt").1));
    world.pass_ms(10);
    world.work();
    world.decide(Kind::PlanApproval, choose("approve"));
    world.work();
    world.person(Input::Pause);
    world.person(Input::Resume);
    let make = world.run.calls["call_5"].interrupt.clone().expect("it asks");
    let again = world.run.calls["call_6"].interrupt.clone().expect("it asks");
    let decision = Decision { also: vec![again], ..choose("approve_session") };
    world.person(Input::Decide { interrupt: make, decision, holder: None });
    world.work();
    world.decide(Kind::ToolApproval, choose_with("reject", "not that"));
    world.work();
    world.decide(Kind::Review, choose("approve"));
    world.work();
    world.decide(Kind::Question, choose_with("answer", "yes"));
    world.work();
    world.decide(Kind::Checkpoint, choose("continue"));
    world.decide(Kind::Checkpoint, choose("approve"));
    assert_eq!(world.run.status(), Status::Completed, "{:#?}", world.story());
    world
}

/// Seals the events of a log, with one chain per stream.
pub(crate) fn seal(log: &[Event]) -> Vec<Sealed> {
    let mut chains: BTreeMap<StreamId, Chain> = BTreeMap::new();
    let mut draw = draw(8);
    log.iter()
        .map(|event| {
            envelope::seal(event, chains.entry(event.stream.clone()).or_insert(Chain::START), &mut draw)
        })
        .collect()
}

pub(crate) fn open(sealed: &[Sealed]) -> Result<Vec<Event>, Error> {
    let mut chains: BTreeMap<StreamId, Chain> = BTreeMap::new();
    sealed
        .iter()
        .map(|sealed| event::open(sealed, chains.entry(sealed.stream.clone()).or_insert(Chain::START)))
        .collect()
}

/// Returns the state after the events of the log.
pub(crate) fn replay(world: &World, log: &[Event]) -> (Run, Session) {
    let mut run = Run::new(world.run.id.clone(), world.run.definition.clone());
    let mut session = Session::new(world.session.id.clone());
    for event in log {
        match &event.fact {
            event::Fact::Run(_) => run.apply(event),
            event::Fact::Session(_) => session.apply(event),
            event::Fact::System(_) => {}
        }
    }
    (run, session)
}

/// Asserts that all events can be read back, and that their replay yields the same state.
#[track_caller]
pub(crate) fn reread(world: &World) {
    let log = open(&seal(&world.log)).expect("what was sealed can be opened");
    let (run, session) = replay(world, &log);
    assert_eq!(log, world.log);
    assert!(run == world.run, "replay leads elsewhere");
    assert_eq!(session, world.session);
}

#[test]
fn replay_of_what_was_sealed_is_the_live_state() {
    reread(&story());
    reread(&crate::handoffs::story());
    reread(&crate::copilot::story());
}

#[test]
fn the_same_inputs_and_seeds_give_the_same_bytes() {
    assert_eq!(seal(&story().log), seal(&story().log));
}

#[test]
fn head_and_content_are_canonical_json_with_the_facts_apart() {
    for sealed in seal(&story().log) {
        let head = json::parse(&sealed.head).expect("the head is JSON");
        assert_eq!(json::canonical(&head), sealed.head);
        assert_eq!(head["content_digest"].is_string(), sealed.content.is_some());
        if let Some(content) = &sealed.content {
            let value = json::parse(&content.bytes).expect("the content is JSON");
            assert_eq!(json::canonical(&value), content.bytes);
        }
        // Texts of people, models and tools are content, so the head must not contain them.
        let head = String::from_utf8(sealed.head).expect("the head is text");
        for text in ["carefully", "TypeScript", "the first", "text of a", "make x", "not that", "Shall I"] {
            assert!(!head.contains(text), "`{text}` stands in {head}");
        }
    }
}

#[test]
fn streams_count_their_own_events() {
    let mut next: BTreeMap<StreamId, u64> = BTreeMap::new();
    for sealed in seal(&story().log) {
        let seq = next.entry(sealed.stream.clone()).or_insert(0);
        *seq += 1;
        assert_eq!(sealed.seq, *seq);
    }
    assert_eq!(next.len(), 2, "the run's, and the session's with the grant");
}

/// Opening a stored event detects any changed field.
#[test]
fn tampering_is_found() {
    let sealed = seal(&story().log);
    let at = sealed.iter().position(|each| each.content.is_some() && each.seq > 3).expect("there is one");
    let edited = |from: &str, to: &str| {
        let mut sealed = sealed.clone();
        let head = String::from_utf8(sealed[at].head.clone()).expect("the head is text");
        assert!(head.contains(from), "{from} in {head}");
        sealed[at].head = head.replacen(from, to, 1).into_bytes();
        sealed
    };
    let changed = |change: fn(&mut Sealed)| {
        let mut sealed = sealed.clone();
        change(&mut sealed[at]);
        sealed
    };
    let without = {
        let mut sealed = sealed.clone();
        sealed.remove(at);
        sealed
    };
    let swapped = {
        let mut sealed = sealed.clone();
        sealed.swap(at, at + 1);
        sealed
    };
    let replaced = {
        // The hash of the changed head is correct, but the hash of the previous event in the chain is not.
        let mut sealed = sealed.clone();
        let head = String::from_utf8(sealed[at].head.clone()).expect("the head is text");
        sealed[at].head = head.replacen("\"id\":\"", "\"id\":\"x", 1).into_bytes();
        sealed[at].hash = holdshort_core::digest::Digest::of_bytes(&sealed[at].head);
        sealed
    };
    let table = [
        ("the type", edited("\"type\":\"", "\"type\":\"x")),
        ("the time", edited("\"at\":1", "\"at\":2")),
        ("the actor", edited("\"id\":\"", "\"id\":\"x")),
        ("the role", edited("\"role\":\"", "\"role\":\"x")),
        ("the facts", edited("\"facts\":{", "\"facts\":{\"x\":1,")),
        ("the seq in the head", edited("\"seq\":", "\"seq\":1")),
        ("the stream in the head", edited("\"stream\":\"run_0", "\"stream\":\"run_1")),
        ("the content's digest", edited("\"content_digest\":\"", "\"content_digest\":\"0")),
        ("the version", edited("\"v\":2", "\"v\":1")),
        ("the seq", changed(|sealed| sealed.seq += 1)),
        ("the hash", changed(|sealed| sealed.hash = holdshort_core::digest::Digest::ZERO)),
        (
            "the content",
            changed(|sealed| {
                if let Some(content) = &mut sealed.content {
                    content.bytes.push(b' ');
                }
            }),
        ),
        (
            "the salt",
            changed(|sealed| {
                if let Some(content) = &mut sealed.content {
                    content.salt[0] ^= 1;
                }
            }),
        ),
        ("an event left out", without),
        ("two events swapped", swapped),
        ("an event replaced", replaced),
    ];
    let unseen: Vec<&str> =
        table.into_iter().filter(|(_, sealed)| open(sealed).is_ok()).map(|(name, _)| name).collect();
    assert_eq!(unseen, Vec::<&str>::new());
}

/// Content of an event is rejected if the head of the event declares no content.
#[test]
fn content_can_not_be_slipped_in() {
    let mut sealed = seal(&story().log);
    let content = sealed.iter().find_map(|each| each.content.clone());
    let empty = sealed.iter().position(|each| each.content.is_none()).expect("there is one");
    sealed[empty].content = content;
    assert!(matches!(open(&sealed), Err(Error::WrongContent { .. })));
}

fn forged(head: &str) -> Error {
    let stream = StreamId::System;
    let hash = holdshort_core::digest::Digest::ZERO;
    let sealed = Sealed { stream, seq: 1, head: head.as_bytes().to_vec(), content: None, hash };
    event::decode(&sealed).expect_err("it is not readable")
}

#[test]
fn what_is_not_an_event_of_a_known_version_is_refused() {
    let head = |v: &str, rest: &str| {
        format!(
            r#"{{"actor":{{"id":"e","role":"engine"}},"at":1{rest},"seq":1,"stream":"sys","type":"frozen","v":{v}}}"#
        )
    };
    let stream = StreamId::System;
    let hash = holdshort_core::digest::Digest::ZERO;
    let good = Sealed { stream, seq: 1, head: head("1", "").into_bytes(), content: None, hash };
    assert!(event::decode(&good).is_ok());
    assert!(matches!(forged(&head("3", "")), Error::FromTheFuture { version: 3, .. }));
    for bad in [
        head("0", ""),
        head("\"1\"", ""),
        head("1.5", ""),
        head("-1", ""),
        head("9007199254740992", ""),
        head("1", r#","at":1"#),
        head("1", r#","unknown":1"#),
        head("1", r#","facts":{"unknown":1}"#),
        head("1", "").replace("frozen", "thawed"),
        head("1", "").replace("\"at\":1", "\"at\":9007199254740993"),
        head("1", "").replace("engine", "god"),
        format!("{} ", head("1", "")) + "x",
        String::new(),
    ] {
        assert!(matches!(forged(&bad), Error::Unreadable { .. }), "{bad}");
    }
}

#[test]
fn json_is_read_strictly() {
    let read = |text: &str| json::parse(text.as_bytes()).is_ok();
    let refused = [
        r#"{"a":1,"a":2}"#,
        r#"{"x":{"a":1,"a":1}}"#,
        r#"[{"\u0061":1,"a":2}]"#,
        "9007199254740992",
        "-9007199254740992",
        "18446744073709551616",
        "1e300",
        "1e16",
        "1e999",
        "NaN",
        "01",
        "1 2",
        "[1,]",
        "{\"a\":1,}",
        "'a'",
        "\"\\ud800\"",
        "",
    ];
    let taken = [
        "9007199254740991",
        "-9007199254740991",
        "1.5",
        "1e3",
        "0.1",
        "{\"a\":{\"a\":1}}",
        "\"\\u0000\"",
        "null ",
    ];
    assert_eq!(
        (
            refused.into_iter().filter(|text| read(text)).collect::<Vec<_>>(),
            taken.into_iter().filter(|text| !read(text)).collect::<Vec<_>>(),
        ),
        (Vec::<&str>::new(), Vec::<&str>::new()),
    );
}

/// A value is safe if writing and reading it back leaves it unchanged. `made_safe` always returns a safe value.
#[test]
fn what_is_safe_can_be_read_again() {
    use serde_json::json;
    let nest = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let table = [
        (json!(9_007_199_254_740_991_u64), true),
        (json!(9_007_199_254_740_992_u64), false),
        (json!(-9_007_199_254_740_992_i64), false),
        (json!(1e15), true),
        (json!(1e17), false),
        (json!(0.5), true),
        (json!({ "a": [u64::MAX] }), false),
        (nest(64), true),
        (nest(65), false),
        (nest(1_000), false),
    ];
    for (value, safe) in table {
        assert_eq!(json::unsafe_part(&value).is_none(), safe, "{value}");
        let made = json::made_safe(value.clone());
        let is_same = made == json::as_read_again(value.clone());
        assert_eq!(is_same, safe || (65..=80).contains(&depth(&value)), "{value}");
        assert!(json::parse(&json::canonical(&json!({ "data": made }))).is_ok(), "{value}");
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// After all content is erased, the hash chain is still valid, and statuses, interrupts and rows are unchanged.
#[test]
fn erasure_keeps_replay() {
    without_content(&story());
    without_content(&crate::handoffs::story());
    without_content(&crate::copilot::story());
}

fn without_content(world: &World) {
    let sealed: Vec<Sealed> =
        seal(&world.log).into_iter().map(|sealed| Sealed { content: None, ..sealed }).collect();
    let erased = open(&sealed).expect("the chain holds");
    assert!(erased.iter().all(|event| event.content == Content::none()));
    // The head shows that the event had content.
    let lost = |sealed: &Sealed| envelope::has_lost_content(sealed).expect("its head can be read");
    for (bare, whole) in sealed.iter().zip(seal(&world.log)) {
        assert_eq!((lost(bare), lost(&whole)), (whole.content.is_some(), false));
    }
    for upto in 0..=erased.len() {
        let (whole, _) = replay(world, &world.log[..upto]);
        let (bare, _) = replay(world, &erased[..upto]);
        assert_eq!(skeleton(&bare), skeleton(&whole), "after {upto} events");
    }
}

/// Describes a run without its texts.
fn skeleton(run: &Run) -> String {
    let calls: Vec<_> = run
        .calls
        .iter()
        .map(|(id, call)| {
            (
                id,
                &call.tool,
                &call.state,
                call.revision,
                call.attempt,
                &call.look,
                call.digest,
                &call.authority,
            )
        })
        .collect();
    let steps: Vec<_> = run
        .steps
        .iter()
        .map(|(id, step)| {
            (
                id,
                &step.agent,
                step.end,
                &step.blocked,
                step.entries.len(),
                step.turn,
                step.model,
                step.failures,
                step.used,
                step.retry_at,
            )
        })
        .collect();
    let interrupts: Vec<_> = run
        .interrupts
        .values()
        .map(|each| {
            let counted = |vote: &Vote| (vote.by.clone(), vote.option.clone(), vote.seq, vote.edit_of);
            let votes: Vec<_> = each.votes.iter().map(counted).collect();
            (&each.opened, each.opened_at, each.opened_seq, &each.resolution, votes)
        })
        .collect();
    let due: Vec<String> = run.actions().iter().map(|action| action.id().to_string()).collect();
    let rows = run.interrupt_rows(run.interrupts.keys());
    format!(
        "{calls:#?}{steps:#?}{interrupts:#?}{rows:#?}{:#?}{:?}{due:?}{:?}{:?}",
        run.row(),
        run.status(),
        run.phases,
        run.next_deadline(),
    )
}

/// A salt and an id that are drawn for one input share no bits, and two consecutive salts differ.
#[test]
fn salts_do_not_show_in_ids() {
    let fresh = || Draw::new(Seed([1; 16]), Timestamp::from_millis(0));
    let id = fresh().id::<holdshort_core::id::RunId>();
    let salt = fresh().salt();
    let same_bits = {
        let mut draw = fresh();
        draw.salt() == salt && draw.salt() != salt
    };
    // The last 16 characters of an id encode 80 bits. `of_salt` encodes the first 80 bits of the salt in the same
    // way.
    let alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    let of_salt: String = (0..16)
        .map(|i| {
            let bit = i * 5;
            let pair = u16::from(salt[bit / 8]) << 8 | u16::from(salt[(bit / 8 + 1).min(15)]);
            let at = usize::from(pair >> (11 - bit % 8) & 31);
            alphabet.as_bytes()[at] as char
        })
        .collect();
    assert!(same_bits && !id.as_str().ends_with(&of_salt), "{id} {of_salt}");
}

#[test]
fn times_stay_where_json_and_rfc_3339_can_follow() {
    let end = Timestamp::from_millis(0).plus_ms(u64::MAX);
    assert_eq!(end.to_string(), "9999-12-30T22:00:00.000Z");
    assert_eq!(
        "2026-01-31T09:30:00Z".parse::<Timestamp>().map(|at| at.to_string()),
        Ok("2026-01-31T09:30:00.000Z".to_owned())
    );
    assert!(u64::try_from(end.as_millis()).is_ok_and(|ms| ms < json::MAX_INTEGER));
}

/// An event gets the timestamp of the last event if the clock has gone back.
#[test]
fn time_does_not_run_backwards_in_a_journal() {
    let mut world = World::started(definition(), Vec::new());
    world.now = Timestamp::from_millis(0);
    world.message("hello");
    let times: Vec<Timestamp> = world.log.iter().map(|event| event.at).collect();
    assert!(times.is_sorted(), "{times:?}");
}

/// Every prefix of the journal can be replayed. After each prefix, the status of the run and its due actions are as in
/// the snapshot.
#[test]
fn every_prefix_replays() {
    let story = story();
    let due: Vec<String> = (0..=story.log.len())
        .map(|upto| {
            let (run, _) = replay(&story, &story.log[..upto]);
            let due: Vec<String> = run.actions().iter().map(|action| action.id().to_string()).collect();
            let last = story.log[..upto].last().map(describe_event).unwrap_or_default();
            format!("{last}: {} {}", run.status().as_str(), due.join(" ")).trim_end().to_owned()
        })
        .collect();
    crate::snapshot::check("story", &(due.join("\n") + "\n"));
}

/// After a crash at any commit, a new process can take over and finish the run. No side effect starts twice without a
/// question to a person in between.
#[test]
fn every_prefix_can_be_taken_over() {
    taken_over(&story());
    taken_over(&crate::handoffs::story());
    taken_over(&crate::copilot::story());
}

fn taken_over(story: &World) {
    for upto in story.commits.clone() {
        let (run, session) = replay(story, &story.log[..upto]);
        let mut world = World { run, session, log: story.log[..upto].to_vec(), ..story.clone() };
        // The journal does not contain the files, so a write before the crash may or may not have happened.
        world.files.clear();
        world.epoch += 1;
        if world.run.needs_adoption(world.epoch) {
            world.send(adopt());
            assert!(!world.run.needs_adoption(world.epoch), "once is enough, after {upto} events");
            assert_eq!(world.send(adopt()), Vec::<String>::new());
        }
        finish(&mut world, upto);
        assert!(world.run.status().is_terminal(), "after {upto} events: {:#?}", world.story());
        assert_eq!(twice(&world), Vec::<String>::new(), "after {upto} events: {:#?}", world.story());
        let open = world.run.open_interrupts().count();
        assert_eq!((open, world.run.actions().len()), (0, 0), "after {upto} events");
        reread(&world);
    }
}

/// Finishes the run: a person approves everything, and the model makes no further calls.
fn finish(world: &mut World, upto: usize) {
    for _ in 0..200 {
        world.work();
        if world.run.status().is_terminal() {
            return;
        }
        if world.run.paused {
            world.person(Input::Resume);
            continue;
        }
        let open = world.run.open_interrupts().next().map(|(id, interrupt)| (id.clone(), interrupt.clone()));
        if let Some((interrupt, state)) = open {
            let wanted = ["done", "approve", "continue", "answer", "rerun", "retry", "option_1"];
            let option =
                wanted.into_iter().find(|option| state.offers(option).is_some()).expect("one is offered");
            let decision = choose_with(option, "yes");
            world.person(Input::Decide { interrupt, decision, holder: None });
            continue;
        }
        let step = world.run.steps.iter().find(|(_, step)| step.end.is_none()).map(|(id, _)| id.clone());
        let Some(step) = step else { panic!("nothing to do after {upto} events: {:#?}", world.story()) };
        world.script.entry(step).or_default().push_back(says("Done."));
        world.pass_ms(60_000);
    }
}

/// Returns the side effects that started a second time without a question to a person after the first start.
pub(crate) fn twice(world: &World) -> Vec<String> {
    let mut settled: BTreeMap<String, bool> = BTreeMap::new();
    let mut twice = Vec::new();
    for event in &world.log {
        let (kind, facts) = event.fact.encode();
        let call = facts["call"].as_str().unwrap_or_default().to_owned();
        let writes = world.run.calls.get(&call).is_some_and(|call| call.tool != "read_file");
        match kind.as_str() {
            "tool_started" if writes && settled.insert(call.clone(), false) == Some(false) => {
                twice.push(call);
            }
            // Doubted: a person is asked. Returned: the call did not take effect. Lost: the call can continue without
            // harm.
            "tool_doubted" | "tool_returned" | "tool_lost" => {
                settled.insert(call, true);
            }
            _ => {}
        }
    }
    twice
}

/// After a crash at any moment of a call, the call runs again, continues, or a person is asked, depending on the kind
/// of tool.
#[test]
fn a_crash_in_the_middle_of_a_call() {
    let started = |call| {
        let mut definition = definition();
        definition.gates.rules = vec![crate::world::allow(&["*"])];
        let mut world = World::started(definition, vec![calls(&[call]), says("Done.")]);
        world.work_once();
        world.work_once();
        world.begin_tool("call_1");
        world
    };
    let told = |mut world: World| {
        let mut told = world.crash();
        told.extend(world.work());
        (told, world.effects)
    };
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let end = [
        "model_started",
        "model_replied",
        "step_ended completed",
        "phase_ended completed work",
        "run_completed done",
    ];
    let then = |first: &[&str]| lines(&[first, end.as_slice()].concat());

    assert_eq!(
        told(started(read("a"))),
        (
            then(&[
                "adopted",
                "tool_lost call_1",
                "tool_started call_1",
                "tool_finished call_1 failed tool_failed"
            ]),
            Vec::new()
        ),
        "reading is harmless",
    );
    let committing = || {
        let mut definition = definition();
        definition.gates.rules = vec![crate::world::allow(&["*"])];
        let mut world = World::started(definition, vec![calls(&[write("a")]), says("Done.")]);
        world.proposes = true;
        world.work_once();
        world.work_once();
        world.begin_tool("call_1");
        world
    };
    let carried_on =
        then(&["adopted", "tool_lost call_1", "tool_started call_1", "tool_finished call_1 done"]);
    assert_eq!(told(committing()), (carried_on.clone(), lines(&["commit a"])), "the file is as before");
    let mut written = committing();
    let changes = written.run.calls["call_1"].proposal.clone().unwrap().changeset.clone().unwrap();
    written.commit_one(&changes.changes()[0]);
    assert_eq!(told(written), (carried_on, lines(&["commit a"])), "the file is as after");
    let mut other = committing();
    other.files.insert("a".to_owned(), "somebody else's".to_owned());
    let (other, effects) = told(other);
    assert_eq!(other[4..], lines(&["interrupt_opened unknown_outcome"]), "the file is neither: {other:?}");
    assert_eq!(effects, Vec::<String>::new());
    assert_eq!(
        told(started(write("a"))),
        (lines(&["adopted", "tool_doubted call_1", "interrupt_opened unknown_outcome"]), Vec::new()),
        "what it was to change was not written down",
    );
    assert_eq!(
        told(started(command("make"))),
        (lines(&["adopted", "tool_doubted call_1", "interrupt_opened unknown_outcome"]), Vec::new()),
        "nobody can know",
    );
}

/// A process takes over only lost work. Work that still runs in the process returns normally, and a replay yields the
/// same state.
#[test]
fn what_a_process_is_still_at_is_not_taken_over() {
    let mut definition = definition();
    definition.gates.rules = vec![crate::world::allow(&["*"])];
    let script = vec![calls(&[read("a"), read("b"), read("c")]), says("Done.")];
    let mut world = World::started(definition, script);
    for _ in 0..4 {
        world.work_once();
    }
    // Reads run in parallel. A command would wait for them.
    for call in ["call_1", "call_2", "call_3"] {
        assert_eq!(world.begin_tool(call), [format!("tool_started {call}")]);
    }
    let at_work: BTreeSet<ActionId> = [Action::tool_id("call_1", 1), Action::tool_id("call_2", 1)].into();
    world.epoch += 1;
    assert_eq!(world.send(Input::Adopt { at_work: at_work.clone() }), ["adopted", "tool_lost call_3"]);
    assert!(!world.run.needs_adoption(world.epoch));
    let under_way: Vec<_> = world.run.started().collect();
    assert_eq!(under_way, at_work.iter().map(|action| (action.clone(), 2)).collect::<Vec<_>>());
    // The actions started in the current epoch, so there is nothing to take over and the command is not in doubt.
    assert_eq!(world.send(Input::Adopt { at_work }), Vec::<String>::new());
    let (run, _) = replay(&world, &world.log);
    assert_eq!(run.started().collect::<Vec<_>>(), under_way);
    let outcome = Outcome::Done { text: "made".to_owned(), data: serde_json::Value::Null };
    let ran = Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome };
    assert_eq!(world.send(ran).first().map(String::as_str), Some("tool_finished call_1 done"));

    // The command still runs in this process, so it is not in doubt.
    let mut world = World::started(world.run.definition.as_ref().clone(), vec![calls(&[command("make")])]);
    for _ in 0..2 {
        world.work_once();
    }
    world.begin_tool("call_1");
    world.epoch += 1;
    world.send(Input::Adopt { at_work: [Action::tool_id("call_1", 1)].into() });
    assert_eq!((world.count("tool_doubted"), world.open_kinds()), (0, Vec::<&str>::new()));
}

/// After a person chooses `rerun` for a call in doubt, this call needs no further approval, even after a second doubt.
#[test]
fn a_rerun_needs_no_second_approval() {
    let mut world = World::started(definition(), vec![calls(&[command("make")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    for _ in 0..3 {
        world.begin_tool("call_1");
        world.crash();
        world.decide(Kind::UnknownOutcome, choose("rerun"));
        assert_eq!(
            world.work_once(),
            Some(vec!["tool_inspected call_1".to_owned(), "tool_authorised call_1 interrupt".to_owned()])
        );
    }
    world.work();
    assert_eq!(world.effects, ["run_command make"]);
}

/// If the run ends before a lost call starts again, the call's outcome stays unknown, even after `rerun`.
#[test]
fn a_run_that_ends_before_a_lost_call_starts_again_leaves_it_in_doubt() {
    for (loses, looks_again, end) in
        [(false, false, CallEnd::Cancelled), (true, false, CallEnd::Unknown), (true, true, CallEnd::Unknown)]
    {
        let mut world = World::started(definition(), vec![calls(&[command("make")])]);
        world.work();
        world.decide(Kind::ToolApproval, choose("approve"));
        if loses {
            world.begin_tool("call_1");
            world.crash();
            world.decide(Kind::UnknownOutcome, choose("rerun"));
        }
        if looks_again {
            world.work_once();
        }
        world.person(Input::Cancel { text: None });
        assert_eq!(world.run.calls["call_1"].state, CallState::Ended(end), "{loses} {looks_again}");
    }
}

/// After `rerun`, a person is asked again if the call would now do something different.
#[test]
fn a_rerun_of_something_else_asks() {
    let mut world = World::started(definition(), vec![calls(&[write("a")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    world.files.insert("a".to_owned(), "somebody else's".to_owned());
    world.crash();
    world.work();
    world.decide(Kind::UnknownOutcome, choose("rerun"));
    assert_eq!(world.work(), ["tool_inspected call_1", "interrupt_opened tool_approval"]);
}
