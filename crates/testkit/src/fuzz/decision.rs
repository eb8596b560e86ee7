//! Fuzz target for the bodies of requests that decide. Parses a body as the server does. Then applies the decision to
//! interrupts of many kinds.

use std::sync::{Arc, LazyLock};

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{self, Chain};
use holdshort_core::event;
use holdshort_core::id::{Draw, InterruptId, Seed};
use holdshort_core::interrupt::{Assignment, Decision, Kind, Timing};
use holdshort_core::run::{Ask, Config, Context, HandledInput, Input, Origin, Rejection, Run, Start};
use holdshort_core::session::Session;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_server::reading;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp::from_millis(1_769_851_800_000);

pub(super) fn decision(bytes: &[u8]) {
    let read = match reading::decision(bytes) {
        Ok(read) => read,
        Err(problem) => return super::is_coded(&problem),
    };
    let written = serde_json::to_vec(&read).expect("a decision can be written");
    assert_eq!(reading::decision(&written).ok().as_ref(), Some(&read));
    let holdshort_protocol::Decision { option, text, edit, version, from, viewed_ms, also, also_shown } =
        read;
    let from = from.and_then(|from| from.parse().ok());
    let ids = |written: Vec<String>| written.iter().filter_map(|id| id.parse().ok()).collect();
    let (also, also_shown) = (ids(also), ids(also_shown));
    let (on_behalf_of, from_page) = (None, false);
    let decision =
        Decision { option, text, edit, version, from, viewed_ms, on_behalf_of, also, also_shown, from_page };
    for interrupt in HELD.run.interrupts.keys() {
        decide(interrupt, &decision);
    }
}

/// Asserts that a decision is either accepted or refused by the core. An accepted decision can be stored, read and
/// replayed. If it is repeated, it changes nothing.
fn decide(interrupt: &InterruptId, decision: &Decision) {
    let input = || Input::Decide { interrupt: interrupt.clone(), decision: decision.clone(), holder: None };
    let before = &HELD.run;
    let decided = match HELD.handle(before, input()) {
        Ok(decided) => decided,
        Err(Rejection::Refused(_) | Rejection::Invalid(_)) => return,
        Err(other) => panic!("{decision:?}: {other:?}"),
    };
    let (mut run, mut chain, mut again) = (before.clone(), Chain::START, Chain::START);
    let mut draw = Draw::new(Seed([1; 16]), NOW);
    for event in &decided.events {
        let sealed = envelope::seal(event, &mut chain, &mut draw);
        let opened = event::open(&sealed, &mut again).unwrap_or_else(|error| panic!("{decision:?}: {error}"));
        assert_eq!(opened, *event);
        run.apply(&opened);
    }
    assert_eq!(run, decided.run, "{decision:?}");
    let resolved = run.interrupts.get(interrupt).and_then(|held| held.resolution.clone());
    assert!(resolved.is_some(), "{decision:?} was accepted, but the interrupt is still open");
    let second = HELD.handle(&run, input()).map(|decided| decided.events);
    assert_eq!(second, Ok(Vec::new()), "repeating {decision:?} changed the result");
}

/// An external run in which one interrupt is open for each kind that an external agent can request.
struct InterruptFixture {
    run: Run,
    session: Session,
    system: System,
}

static HELD: LazyLock<InterruptFixture> = LazyLock::new(|| {
    let mut draw = Draw::new(Seed([2; 16]), NOW);
    let session = Session::new(draw.id());
    let definition = Arc::new(holdshort_workflow::external());
    let run = Run::new(draw.id(), definition);
    let mut held = InterruptFixture { run, session, system: System::default() };
    held.take(Input::Start(Start {
        session: held.session.id.clone(),
        definition: Digest::ZERO,
        config: Config::default(),
        input: json!({}),
        origin: Origin::External,
        front: None,
        trace: None,
    }));
    let edit = json!({
        "type": "object", "required": ["path"], "additionalProperties": false,
        "properties": { "path": { "type": "string", "maxLength": 40 }, "n": { "type": "integer" } },
    });
    for kind in Kind::ALL {
        let ask = Ask {
            kind,
            title: "May I?".to_owned(),
            message: String::new(),
            payload: Value::Null,
            options: if kind == Kind::Choice {
                vec![("a".to_owned(), None), ("b".to_owned(), None)]
            } else {
                Vec::new()
            },
            // The server refuses a response schema for a kind whose options use no schema.
            response_schema: (!matches!(kind, Kind::Choice | Kind::Escalation)).then(|| edit.clone()),
            expires_in_ms: None,
            on_expiry: None,
            assignment: Assignment::default(),
            call: None,
            trial: None,
            usable_ms: None,
            callback: None,
            withhold: Vec::new(),
            timing: Timing::default(),
        };
        // External agents cannot open interrupts of some kinds.
        if let Ok(asked) = held.handle(&held.run, Input::Ask(Box::new(ask))) {
            held.run = asked.run;
        }
    }
    assert!(held.run.interrupts.len() >= 6, "{}", held.run.interrupts.len());
    held
});

impl InterruptFixture {
    fn handle(&self, run: &Run, input: Input) -> Result<HandledInput, Rejection> {
        let mut seed = [3; 16];
        seed[..8].copy_from_slice(&run.seq.to_le_bytes());
        let cx = Context {
            now: NOW,
            seed: Seed(seed),
            actor: Actor::operator("rest"),
            session: &self.session,
            system: &self.system,
            epoch: 1,
        };
        run.handle(&cx, input)
    }

    fn take(&mut self, input: Input) {
        self.run = self.handle(&self.run, input).expect("a run can be started").run;
    }
}
