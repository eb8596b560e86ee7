//! Sessions: every state with every input, what runs may do in each state, and the session's row in the index.

use std::fmt::Write as _;

use holdshort_core::actor::Actor;
use holdshort_core::event::Event;
use holdshort_core::limits;
use holdshort_core::projection::SessionRow;
use holdshort_core::run::{self, Config};
use holdshort_core::session::{End, Input, Open, Rejection, Session, State};
use holdshort_core::time::Timestamp;
use serde_json::json;

use crate::snapshot;
use crate::world::{World, calls, choose, command, definition, describe_event, draw};

const IDLE_MS: u64 = 1_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn person() -> Actor {
    Actor::operator("rest")
}

fn apply(session: &mut Session, events: &[Event]) {
    for event in events {
        session.apply(event);
    }
}

/// Returns a session after these inputs, which are sent at intervals of one second.
fn session(inputs: &[Input]) -> Session {
    let mut session = Session::new(draw(2).id());
    for (now, input) in (1..).zip(inputs) {
        let expires = *input == Input::Close { reason: End::Expired };
        let actor = if expires { Actor::engine() } else { person() };
        let events = session.handle(at(now * 1_000), &actor, input.clone()).expect("it is allowed");
        apply(&mut session, &events);
    }
    session
}

fn open(idle_ms: Option<u64>) -> Input {
    let workflow = Some("pair".to_owned());
    Input::Open(Open { workflow, idle_ms, name: Some("n".to_owned()), config: json!({ "a": 1 }) })
}

fn close(reason: End) -> Input {
    Input::Close { reason }
}

fn states() -> Vec<(&'static str, Session)> {
    let idle = || open(Some(IDLE_MS));
    let granted = {
        let mut world = World::started(definition(), vec![calls(&[command("make x")])]);
        world.work();
        world.decide(holdshort_core::interrupt::Kind::ToolApproval, choose("approve_session"));
        world.session
    };
    vec![
        ("without an event", session(&[])),
        ("with a grant", granted),
        ("opened", session(&[open(None)])),
        ("opened to expire", session(&[idle()])),
        ("suspended", session(&[idle(), Input::Suspend])),
        ("suspended, never opened", session(&[Input::Suspend])),
        ("resumed", session(&[idle(), Input::Suspend, Input::Resume])),
        ("completed", session(&[idle(), close(End::Completed)])),
        ("expired", session(&[idle(), close(End::Expired)])),
    ]
}

#[test]
fn every_state_takes_or_rejects_every_input() {
    let (early, late) = (at(0), at(i64::from(i32::MAX)));
    let mut text = String::new();
    for (name, session) in states() {
        let grant = session.grants.keys().next().cloned().unwrap_or_else(|| draw(9).id());
        let inputs = [
            ("revoke", person(), late, Input::Revoke { grant }),
            ("open", person(), late, open(Some(IDLE_MS))),
            ("suspend", person(), late, Input::Suspend),
            ("resume", person(), late, Input::Resume),
            ("close", person(), late, close(End::Completed)),
            ("expire", Actor::engine(), late, close(End::Expired)),
            ("expire (early)", Actor::engine(), early, close(End::Expired)),
        ];
        let mut rows = Vec::new();
        for (input_name, actor, now, input) in inputs {
            let cell = match session.handle(now, &actor, input) {
                Ok(events) if events.is_empty() => "–".to_owned(),
                Ok(events) => {
                    let mut after = session.clone();
                    apply(&mut after, &events);
                    let told: Vec<String> = events.iter().map(describe_event).collect();
                    format!("{} → {}", told.join(", "), after.state.as_str())
                }
                Err(rejection) => format!("✗ {rejection:?}"),
            };
            rows.push(vec![format!("  {input_name}"), cell]);
        }
        let _ = writeln!(text, "{name}: {}", session.state.as_str());
        text.push_str(&snapshot::table(&rows));
        text.push('\n');
    }
    snapshot::check("sessions", &text);
}

/// Only people open, suspend, resume and close sessions. Only the engine expires a session.
#[test]
fn everybody_keeps_to_their_part() {
    let agent = || Actor::agent("a", "rest");
    for (name, session) in states() {
        let inputs = [open(None), Input::Suspend, Input::Resume, close(End::Completed)];
        let foreign =
            inputs.into_iter().flat_map(|input| [(agent(), input.clone()), (Actor::engine(), input)]);
        let expiries = [agent(), person()].map(|actor| (actor, close(End::Expired)));
        for (actor, input) in foreign.chain(expiries) {
            let refused = session.handle(at(i64::from(i32::MAX)), &actor, input.clone());
            assert_eq!(refused, Err(Rejection::Role), "{name}: {input:?} by {actor:?}");
        }
    }
}

#[test]
fn what_a_session_is_opened_with_has_limits() {
    let refused = |open: Open| match session(&[]).handle(at(1), &person(), Input::Open(open)) {
        Err(Rejection::Invalid(problems)) => problems.into_iter().map(|problem| problem.pointer).collect(),
        Ok(_) => Vec::new(),
        Err(other) => panic!("{other:?}"),
    };
    let named = |name: String| refused(Open { name: Some(name), ..Open::default() });
    let idle = |ms| refused(Open { idle_ms: Some(ms), ..Open::default() });
    let configured = |config| refused(Open { config, ..Open::default() });
    assert_eq!(
        [
            refused(Open::default()),
            idle(1),
            idle(limits::SESSION_IDLE_MS),
            named("n".repeat(limits::TITLE_BYTES)),
        ],
        [const { Vec::<String>::new() }; 4]
    );
    assert_eq!([idle(0), idle(limits::SESSION_IDLE_MS + 1)], [["/expires_when_idle_ms"]; 2]);
    assert_eq!([named(" ".to_owned()), named("n".repeat(limits::TITLE_BYTES + 1))], [["/name"]; 2]);
    let large = json!({ "a": "x".repeat(limits::INPUT_BYTES) });
    assert_eq!([configured(large), configured(json!(1u64 << 60))], [["/config"]; 2]);
}

/// A run can start only in an open session. In a suspended session, no run continues.
#[test]
fn a_session_that_is_not_open_starts_nothing() {
    let said = [
        (session(&[]), Ok(())),
        (session(&[Input::Suspend, Input::Resume]), Ok(())),
        (session(&[Input::Suspend]), Err(run::Rejection::SessionSuspended)),
        (session(&[close(End::Completed)]), Err(run::Rejection::SessionClosed(End::Completed))),
        (
            session(&[open(Some(IDLE_MS)), close(End::Expired)]),
            Err(run::Rejection::SessionClosed(End::Expired)),
        ),
    ];
    for (session, expected) in said {
        let mut world = World::new(definition());
        world.session = session.clone();
        let start = world.start_input(Config::default());
        assert_eq!(world.try_send(&person(), start).map(drop), expected, "{:?}", session.state);

        let mut paused = World::started(definition(), Vec::new());
        paused.person(run::Input::Pause);
        paused.session = session;
        assert_eq!(paused.try_send(&person(), run::Input::Resume).map(drop), expected);
        assert_eq!(paused.try_send(&person(), run::Input::Cancel { text: None }).map(drop), Ok(()));
    }
}

/// The rows that the start of a run and the events of a session create merge to the same row in any order.
#[test]
fn rows_of_a_session_come_in_any_order() {
    let id = || draw(2).id();
    let mut own = Vec::new();
    let mut told = Vec::new();
    for input in [open(Some(IDLE_MS)), Input::Suspend, Input::Resume, close(End::Completed)] {
        told.push(input);
        own.extend(session(&told).row());
    }
    let mut rows = vec![
        SessionRow::from_run(id(), at(500), at(4_500)),
        SessionRow::from_run(id(), at(200), at(200)),
        own[2].clone(),
        own[0].clone(),
        own[3].clone(),
    ];
    let expected = SessionRow {
        session: id(),
        workflow: Some("pair".to_owned()),
        state: State::Closed(End::Completed),
        seq: 4,
        created_at: at(200),
        changed_at: at(4_000),
        idle_ms: Some(IDLE_MS),
        front_run: None,
        idle_since: at(4_500),
    };
    for _ in 0..rows.len() {
        rows.rotate_left(1);
        for rows in [rows.clone(), rows.iter().rev().cloned().collect()] {
            assert_eq!(rows.into_iter().reduce(SessionRow::with), Some(expected.clone()));
        }
    }
    assert_eq!(session(&[]).row(), None, "its runs say that it is there");
}
