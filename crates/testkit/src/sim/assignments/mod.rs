//! Simulates assignments and their deadlines. All choices come from a seed.
//!
//! In the simulation, people vote, withdraw votes, delegate, reassign, snooze, leave and come back. Approvers are
//! reminded. Interrupts are escalated, expire, and are stopped by freezes. There are two nodes, whose clocks differ by
//! five minutes. In some turns, neither of them acts. The simulation calls `Run::handle` directly, without a store.
//! Failures of the store and of the driver are simulated by the parent module.
//!
//! The judge (`judge.rs`) sees only the events, and counts votes with code of its own. The judge checks that an
//! interrupt is released only if its assignment allows this at that moment. The judge also checks that each deadline
//! takes effect once: not too early, not twice, and not during a freeze. The judge itself is tested with events that
//! were falsified on purpose (`bend.rs`).

mod bend;
mod judge;
mod law;
mod people;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::digest::Digest;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{Draw, InterruptId, Seed};
use holdshort_core::interrupt::Decision;
use holdshort_core::run::{Config, Context, Fact, Input, Origin, Run, Start};
use holdshort_core::session::Session;
use holdshort_core::system::{self, System};
use holdshort_core::time::Timestamp;
use serde_json::json;

use super::choices::Choices;
use super::workflows;
pub use bend::Bend;
use judge::Judge;

const TURNS: usize = 120;
/// Difference in milliseconds between the clocks of the two simulated nodes.
pub(super) const SKEW_MS: u64 = 5 * 60_000;
const START_MS: i64 = 1_769_851_800_000;

/// Result of one simulation of assignments.
#[derive(Clone, Debug)]
pub struct AssignmentReport {
    pub seed: u64,
    /// Description of the first rule that the simulated events violate. `None` if they violate no rule.
    pub problem: Option<String>,
    /// Number of simulated events of each type.
    pub counts: std::collections::BTreeMap<String, u64>,
    pub releases: u64,
}

/// Runs the simulation that a seed determines. If `bend` is given, its events are falsified in this way, to test the
/// judge.
pub fn play(seed: u64, bend: Option<Bend>) -> AssignmentReport {
    let mut game = Game::new(seed, bend);
    for _ in 0..TURNS {
        if game.judge.problem.is_some() {
            break;
        }
        game.turn();
    }
    game.end();
    let Judge { problem, counts, releases, .. } = game.judge;
    AssignmentReport { seed, problem, counts, releases }
}

struct Game {
    choices: Choices,
    run: Run,
    session: Session,
    system: System,
    /// Copy of the simulated `system` that was made before the last change of people.
    before: System,
    now: Timestamp,
    seeds: u64,
    /// Number of the following turns of the simulation in which no node acts.
    down: usize,
    /// True if people have changed and no node has evaluated the open interrupts again since then.
    relook: bool,
    bend: Option<Bend>,
    judge: Judge,
}

impl Game {
    fn new(seed: u64, bend: Option<Bend>) -> Self {
        let mut draw = Draw::new(Seed(u128::from(seed).to_be_bytes()), Timestamp::from_millis(START_MS));
        let (run, session) = (draw.id(), draw.id());
        let mut game = Self {
            choices: Choices::seeded(seed ^ 0x5eed),
            run: Run::new(run, workflows::external()),
            session: Session::new(session),
            system: System::default(),
            before: System::default(),
            now: Timestamp::from_millis(START_MS),
            seeds: seed,
            down: 0,
            relook: false,
            bend,
            judge: Judge::default(),
        };
        for (id, person) in people::all() {
            game.change(system::Input::SetPerson { id: id.to_owned(), person });
        }
        game.relook = false;
        let start = Start {
            session: game.session.id.clone(),
            definition: Digest::of_bytes(b"external"),
            config: Config::default(),
            input: json!({ "task": "ask" }),
            origin: Origin::External,
            front: None,
            trace: None,
        };
        game.send(&people::actor("olga", Role::Operator), Input::Start(start), 0);
        game
    }

    fn turn(&mut self) {
        let minutes = [0, 1, 7, 30, 90, 400][self.choices.below(6)];
        self.now = self.now.plus_ms(minutes * 60_000 + self.choices.below(60_000) as u64);
        if self.choices.one_in(12) {
            self.down = 1 + self.choices.below(8);
        }
        match self.down.checked_sub(1) {
            Some(less) => self.down = less,
            None => self.look(),
        }
        match self.choices.below(20) {
            0..=1 => self.ask(),
            2..=9 => self.vote(),
            10 => self.take_back(),
            11 => self.delegate(),
            12 => self.hand_on(),
            13 | 14 => self.snooze(),
            15 | 16 => self.change_people(),
            17 => self.freeze(),
            _ => {}
        }
    }

    /// Lets both simulated nodes, one node, or none of them handle the deadlines that are due.
    fn look(&mut self) {
        if self.bend == Some(Bend::KeepNoTime) {
            return;
        }
        if self.relook && !self.choices.one_in(3) {
            self.relook = false;
            self.send(&Actor::engine(), Input::PeopleChanged, 0);
        }
        for skew in [0, SKEW_MS] {
            if !self.choices.one_in(3) {
                self.send(&Actor::engine(), Input::Tick, skew);
            }
        }
    }

    /// Ends the simulation: lifts the freeze, lets a node handle all deadlines that are due, and checks that none was
    /// missed.
    fn end(&mut self) {
        if self.judge.problem.is_some() {
            return;
        }
        self.change(system::Input::unfreeze());
        if self.bend != Some(Bend::KeepNoTime) {
            self.send(&Actor::engine(), Input::PeopleChanged, 0);
            self.send(&Actor::engine(), Input::Tick, 0);
        }
        self.judge.at_the_end(self.now);
    }

    /// Handles an input of an actor with a clock that is `skew` milliseconds ahead. A refused input changes nothing.
    fn send(&mut self, actor: &Actor, input: Input, skew: u64) {
        self.seeds += 1;
        let mut seed = [3; 16];
        seed[..8].copy_from_slice(&self.seeds.to_be_bytes());
        let early = if self.bend == Some(Bend::LookEarly) { 3_600_000 } else { 0 };
        let is_stale = self.bend == Some(Bend::ReadWhoWasThere) && matches!(input, Input::Decide { .. });
        let cx = Context {
            now: self.now.plus_ms(skew + early),
            seed: Seed(seed),
            actor: actor.clone(),
            session: &self.session,
            system: if is_stale { &self.before } else { &self.system },
            epoch: 1,
        };
        let Ok(decided) = self.run.handle(&cx, input) else { return };
        let events = decided.events;
        let events = match self.bend {
            Some(bend) => bend.falsify(events),
            None => events,
        };
        for event in &events {
            match &event.fact {
                event::Fact::Run(_) => self.run.apply(event),
                event::Fact::Session(_) => self.session.apply(event),
                event::Fact::System(_) => {}
            }
        }
        self.judge.check_append(&events, self.now);
    }

    fn change(&mut self, input: system::Input) {
        let changes_people =
            matches!(input, system::Input::SetPerson { .. } | system::Input::RemovePerson { .. });
        let Ok(events) = self.system.handle(self.now, &people::actor("ada", Role::Admin), input) else {
            return;
        };
        if changes_people && !events.is_empty() {
            (self.before, self.relook) = (self.system.clone(), true);
        }
        for event in &events {
            self.system.apply(event);
        }
        self.judge.check_append(&events, self.now);
    }

    /// Returns a random interrupt of the simulation. In most cases, it is an open one.
    fn some(&mut self) -> Option<InterruptId> {
        let open: Vec<InterruptId> = self.run.open_interrupts().map(|(id, _)| id.clone()).collect();
        let all: Vec<InterruptId> = self.run.interrupts.keys().cloned().collect();
        let of = if open.is_empty() || self.choices.one_in(15) { all } else { open };
        (!of.is_empty()).then(|| self.choices.pick(&of).clone())
    }

    fn somebody(&mut self) -> Actor {
        let (id, role) = *self.choices.pick(&people::ROLES);
        people::actor(id, role)
    }

    fn ask(&mut self) {
        if self.run.open_interrupts().count() >= 4 {
            return;
        }
        let ask = people::ask(&mut self.choices);
        self.judge.expect_interrupt(&ask);
        self.send(&people::actor("olga", Role::Operator), Input::Ask(Box::new(ask)), 0);
    }

    fn vote(&mut self) {
        let Some(interrupt) = self.some() else { return };
        let option = if self.choices.one_in(10) { "reject" } else { "approve" };
        let decision = Decision { option: option.to_owned(), ..Decision::default() };
        let (actor, skew) = (self.somebody(), if self.choices.one_in(2) { 0 } else { SKEW_MS });
        self.send(&actor, Input::Decide { interrupt, decision, holder: None }, skew);
    }

    fn take_back(&mut self) {
        let Some(interrupt) = self.some() else { return };
        let actor = self.somebody();
        self.send(&actor, Input::TakeBack { interrupt }, 0);
    }

    fn delegate(&mut self) {
        let Some(interrupt) = self.some() else { return };
        let until = self.choices.one_in(2).then(|| self.now.plus_ms(7_200_000));
        let (from, to) = (self.somebody(), self.somebody().id);
        let delegation = holdshort_core::interrupt::Delegation { from: from.id.clone(), to, until };
        self.send(&from, Input::Delegate { interrupt, delegation }, 0);
    }

    fn hand_on(&mut self) {
        let Some(interrupt) = self.some() else { return };
        let (actor, other) = (self.somebody(), self.somebody().id);
        let groups = if self.choices.one_in(2) { vec!["legal".to_owned()] } else { Vec::new() };
        let approvers = if groups.is_empty() { vec![other] } else { Vec::new() };
        let to = holdshort_core::interrupt::HandedTo::Names { approvers, groups };
        self.send(&actor, Input::Reassign { interrupt, to, text: None }, 0);
    }

    fn snooze(&mut self) {
        let Some(interrupt) = self.some() else { return };
        let until = (!self.choices.one_in(5))
            .then(|| self.now.plus_ms(60_000 * (1 + self.choices.below(600) as u64)));
        let actor = self.somebody();
        self.send(&actor, Input::Snooze { interrupt, until }, 0);
    }

    fn change_people(&mut self) {
        let input = people::change(&mut self.choices, self.now, &self.system);
        self.change(input);
    }

    fn freeze(&mut self) {
        let freezes = self.choices.one_in(2);
        self.change(if freezes { system::Input::freeze("a look") } else { system::Input::unfreeze() });
    }
}

fn run_fact(event: &Event) -> Option<&Fact> {
    match &event.fact {
        event::Fact::Run(fact) => Some(fact),
        event::Fact::Session(_) | event::Fact::System(_) => None,
    }
}
