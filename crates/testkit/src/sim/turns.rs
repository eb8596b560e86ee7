//! Turns of a simulation. In one turn, a task continues, an append is written, a job completes, a person acts, or
//! something fails.
//!
//! Each turn is one step of the simulator. Between any two turns, a crash can occur.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::run::Input;
use holdshort_core::time::Timestamp;
use holdshort_engine::{Clock, Error, Work};
use holdshort_store::Leases;

use super::choices::Choices;
use super::faults::{Climate, Fault};
use super::founders;
use super::history::{History, short};
use super::journal::{SimJournal, Write};
use super::mutants::Mutant;
use super::node::{Node, NodeId};
use super::outbox;
use super::people::{Menu, SimRequest};
use super::ranges::{COPILOTS_FROM, ENDINGS_FROM, OUTBOX_FROM, QUESTIONS_FROM, TRIALS_FROM};
use super::site::{Shared, Site, lock};
use super::store::Store;
use super::tasks::{TaskLabel, TaskPurpose, Tasks};
use super::twin::Database;
use super::world::RunningJob;
use crate::clock::SimClock;

/// Maximum number of simulated nodes that are alive at the same time.
const NODES: usize = 3;

pub(super) struct Sim {
    pub(super) choices: Choices,
    pub(super) clock: SimClock,
    pub(super) site: Shared,
    pub(super) tasks: Tasks,
    /// Simulated nodes that are alive, including those that are suspended.
    pub(super) nodes: Vec<Node>,
    pub(super) climate: Climate,
    pub(super) steps: u64,
    menu: Menu,
    mutant: Option<Mutant>,
    /// Number of times that a simulated store for one node was opened so far.
    opened: u64,
    node_ids: NodeId,
}

impl Sim {
    /// Creates a simulation. If several nodes share the store and `beside` is given, their requests are also sent to
    /// this database.
    pub(super) fn new(
        seed: u64,
        mut choices: Choices,
        mutant: Option<Mutant>,
        history: History,
        beside: Option<Database>,
    ) -> Self {
        let clock = SimClock::new(seed);
        choices.next_turn();
        let mut climate = Climate::new(&mut choices);
        if seed >= COPILOTS_FROM {
            climate = climate.mild();
        }
        let menu = Menu::new(seed, &mut choices);
        let store = if climate.shared { Store::shared(beside.map(Arc::new)) } else { Store::new() };
        let site = Site::new(store, clock.clone(), mutant, history);
        {
            let mut site = lock(&site);
            let made = founders::made(&site);
            site.found(&made);
        }
        lock(&site).world.same_texts = climate.same_texts;
        lock(&site).world.plays_endings = seed >= ENDINGS_FROM;
        lock(&site).world.plays_questions = seed >= QUESTIONS_FROM;
        lock(&site).world.plays_trials = seed >= TRIALS_FROM;
        lock(&site).witness.telling.plays = seed >= OUTBOX_FROM;
        let mut sim = Self {
            choices,
            clock,
            site,
            tasks: Tasks::default(),
            nodes: Vec::new(),
            climate,
            steps: 0,
            menu,
            mutant,
            opened: 0,
            node_ids: 0,
        };
        sim.open_node();
        sim
    }

    pub(super) fn has_problem(&self) -> bool {
        let mut site = lock(&self.site);
        let differs = site.store.difference();
        site.witness.note(differs.map_or(Ok(()), Err));
        site.witness.problem().is_some()
    }

    /// Plays one turn of the simulation. Returns false if there are no more turns.
    pub(super) fn turn(&mut self) -> bool {
        if !self.choices.next_turn() {
            return false;
        }
        if self.has_channels() && self.choices.one_in(5) && self.receive() {
            return true;
        }
        let kind = self.choices.below(100);
        let ready = self.ready();
        let (queued, jobs) = {
            let site = lock(&self.site);
            (site.queue.len(), site.world.jobs.len())
        };
        let writes = if self.climate.slow { 58..60 } else { 40..60 };
        match kind {
            0..40 if !ready.is_empty() => {
                let index = *self.choices.pick(&ready);
                self.go_on(index);
            }
            kind if queued > 0 && writes.contains(&kind) => self.write(Write::Well),
            60..75 if jobs > 0 => {
                let index = self.choices.below(jobs);
                self.work(index, 1);
            }
            75..84 => self.act(),
            84..90 => self.pass_some_time(),
            90..100 if !self.climate.faults.is_empty() && (!self.climate.mild || self.choices.one_in(4)) => {
                let fault = *self.choices.pick(&self.climate.faults.clone());
                self.fail(fault);
            }
            _ if !ready.is_empty() => self.go_on(ready[0]),
            _ if queued > 0 && !self.climate.slow => self.write(Write::Well),
            _ if jobs > 0 => self.work(0, 1),
            _ if self.choices.one_in(2) => self.pass_some_time(),
            _ if queued > 0 => self.write(Write::Well),
            _ => self.act(),
        }
        true
    }

    fn has_channels(&self) -> bool {
        lock(&self.site).witness.telling.plays
    }

    /// Returns the tasks of the simulation that can continue. Tasks of suspended nodes are left out.
    pub(super) fn ready(&self) -> Vec<usize> {
        self.tasks.ready(|id| self.is_awake(id))
    }

    fn is_awake(&self, id: NodeId) -> bool {
        self.nodes.iter().all(|node| node.id != id || !node.frozen)
    }

    /// Lets a task of the simulation continue until it has to wait again.
    pub(super) fn go_on(&mut self, index: usize) {
        self.steps += 1;
        self.tasks.poll(index);
        let aborted = std::mem::take(&mut lock(&self.site).world.aborted);
        for (node, run, action) in aborted {
            let gone = TaskLabel { node, what: TaskPurpose::Answer(run.to_string(), action.to_string()) };
            self.tasks.drop_those(|about| *about == gone);
        }
        self.compare_loaded();
    }

    /// Compares the state of each loaded run with the state that follows from its written events. Each run is compared
    /// once after each append to the run.
    fn compare_loaded(&mut self) {
        let mut site = lock(&self.site);
        for run in site.witness.not_compared() {
            for live in self.nodes.iter().filter_map(|node| node.driver.glance(&run)) {
                site.witness.live(&live);
            }
        }
    }

    /// Writes one of the appends in the queue of the simulated journal. In a store for one node, it is the oldest
    /// append. In a shared store, it can be any of them.
    pub(super) fn write(&mut self, how: Write) {
        self.steps += 1;
        let queued = lock(&self.site).queue.len();
        let index = if self.climate.shared { self.choices.below(queued) } else { 0 };
        lock(&self.site).write_one(index, how);
    }

    /// Performs a simulated job, and delivers its result `answers` times.
    pub(super) fn work(&mut self, index: usize, answers: usize) {
        self.steps += 1;
        let (held, answer) = {
            let mut site = lock(&self.site);
            let mut held = site.world.jobs.remove(index);
            if let Work::Commit { call, attempt, .. } = held.job.work.clone() {
                let Some(outcome) = site.write_on(&held.job, &mut held.writing) else {
                    site.world.jobs.insert(index, held);
                    return;
                };
                drop(site);
                return self.bring(&held, Input::Ran { call, attempt, outcome });
            }
            if self.mutant == Some(Mutant::WorkTwice) {
                let _ = site.work(&held.job, &mut self.choices);
            }
            let answer = site.work(&held.job, &mut self.choices);
            site.record_history(|| {
                format!(
                    "n{} is done with {} of {}: {}",
                    held.node,
                    held.job.action,
                    short(held.job.run.as_str()),
                    describe_answer(&answer)
                )
            });
            (held, answer)
        };
        for _ in 0..answers {
            self.bring(&held, answer.clone());
        }
    }

    fn bring(&mut self, held: &RunningJob, answer: Input) {
        let what = TaskPurpose::Answer(held.job.run.to_string(), held.job.action.to_string());
        let (deliver, clock, site) = (held.deliver.clone(), self.clock.clone(), self.site.clone());
        let gives_up = self.mutant == Some(Mutant::LoseAnswers);
        self.tasks.spawn(TaskLabel { node: held.node, what }, async move {
            while let Err(error) = deliver(answer.clone()).await {
                match error {
                    Error::Store(_) | Error::Busy if !gives_up => clock.sleep(Duration::from_secs(1)).await,
                    Error::Store(_) | Error::Busy => return,
                    error => return lock(&site).witness.note(Err(format!("an answer is refused: {error}"))),
                }
            }
        });
    }

    /// Sends a request of a simulated person or agent. A second request may be sent at the same time.
    fn act(&mut self) {
        let deed = self.menu.next_request(&mut lock(&self.site), &mut self.choices);
        let surfaces = if self.choices.one_in(6) { 2 } else { 1 };
        let patient = !self.choices.one_in(3);
        let beside = self.menu.concurrent_request(&deed, &mut self.choices);
        for _ in 0..surfaces {
            self.request(deed.clone(), patient);
        }
        if let Some(beside) = beside {
            self.request(beside, patient);
        }
    }

    fn request(&mut self, deed: SimRequest, patient: bool) {
        let index = self.choices.below(self.nodes.len());
        self.request_at(index, deed, patient);
    }

    pub(super) fn request_at(&mut self, index: usize, deed: SimRequest, patient: bool) {
        self.steps += 1;
        let node = self.nodes[index].clone();
        lock(&self.site).record_history(|| format!("n{} is asked: {}", node.id, deed.describe()));
        let about = TaskLabel { node: node.id, what: TaskPurpose::Request(deed.describe()) };
        self.tasks.spawn(about, deed.carry_out(node, self.site.clone(), patient));
    }

    fn pass_some_time(&mut self) {
        let ms = match self.choices.below(3) {
            0 => self.clock.next_ms().unwrap_or(1_000),
            1 => self.choices.below(3_000) as u64,
            _ => 1_000 * self.choices.below(40) as u64,
        };
        self.pass(ms);
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.steps += 1;
        self.clock.pass_ms(ms);
        lock(&self.site).leases.pass(self.clock.passed_ms());
    }

    fn fail(&mut self, fault: Fault) {
        self.steps += 1;
        lock(&self.site).record_history(|| format!("fault: {fault:?}"));
        match fault {
            Fault::Crash => self.crash(),
            Fault::Join if self.climate.shared && self.nodes.len() < NODES => self.open_node(),
            Fault::Die if self.nodes.len() > 1 => {
                let index = self.choices.below(self.nodes.len());
                let dead = self.nodes.remove(index).id;
                self.die(dead);
            }
            Fault::Late if self.climate.shared => {
                let index = self.choices.below(self.nodes.len());
                self.renew_or_not(index);
            }
            Fault::Freeze => {
                let index = self.choices.below(self.nodes.len());
                let freezes = !self.nodes[index].frozen;
                self.freeze(index, freezes);
            }
            Fault::TakeOver if !self.climate.shared => {
                self.tasks.drop_those(|about| !matches!(about.what, TaskPurpose::Answer(..)));
                self.open_node();
            }
            Fault::Full => self.write(Write::Full),
            Fault::Unheard => self.write(Write::Unheard),
            Fault::Lost => self.write(Write::Lost),
            Fault::Reads => lock(&self.site).queue.failing_reads += 1,
            Fault::Jump => {
                let ms = i64::try_from(self.choices.below(120_000)).unwrap_or(0) - 60_000;
                if self.choices.one_in(2) {
                    let node = self.choices.pick(&self.nodes);
                    node.driver.clock().put_ahead(ms);
                } else {
                    self.clock.advance_ms(ms);
                }
            }
            Fault::LostWake => {
                let node = self.choices.pick(&self.nodes).clone();
                let life = TaskLabel { node: node.id, what: TaskPurpose::Life };
                self.tasks.drop_those(|about| *about == life);
                self.tasks.spawn(life, node.live(self.mutant));
            }
            Fault::Wake => {
                let all = self.tasks.all(|id| self.is_awake(id));
                if !all.is_empty() {
                    let index = *self.choices.pick(&all);
                    self.go_on(index);
                }
            }
            Fault::Twice => {
                let jobs = lock(&self.site).world.jobs.len();
                if jobs > 0 {
                    let index = self.choices.below(jobs);
                    self.work(index, 2);
                }
            }
            Fault::GiveUp => {
                let requests = self.tasks.requests();
                if !requests.is_empty() {
                    let index = *self.choices.pick(&requests);
                    self.tasks.give_up(index);
                }
            }
            Fault::File => {
                let path = *self.choices.pick(&["a", "b"]);
                let mut site = lock(&self.site);
                site.world.change(path);
                site.witness.overwritten(path);
            }
            Fault::Join | Fault::Die | Fault::Late | Fault::TakeOver => {}
        }
    }

    /// Ends all processes of the simulation. Then a new process opens the store. Before that, some of the appends in
    /// the queue are written. In a shared store, the other appends may be written later.
    pub(super) fn crash(&mut self) {
        while lock(&self.site).queue.len() > 0 && self.choices.one_in(2) {
            self.write(Write::Unheard);
        }
        for node in std::mem::take(&mut self.nodes) {
            self.die(node.id);
        }
        {
            let mut site = lock(&self.site);
            let store = site.store.clone();
            site.witness.check_all(&store, &self.clock);
        }
        self.open_node();
    }

    /// Ends a simulated node. The memory and the tools of the node are lost. Its lease expires later.
    fn die(&mut self, dead: NodeId) {
        self.tasks.drop_those(|about| about.node == dead);
        self.hang_up(dead);
        let mut site = lock(&self.site);
        site.record_history(|| format!("n{dead} dies"));
        site.world.jobs.retain(|held| held.node != dead);
        site.leases.stop(dead, false);
    }

    /// Opens the simulated store in a new process. If the store is for one node, the process that used it before loses
    /// access.
    fn open_node(&mut self) {
        self.node_ids += 1;
        let id = self.node_ids;
        let is_deaf = self.climate.shared && self.choices.one_in(4);
        let journal = {
            let mut site = lock(&self.site);
            let store = if self.climate.shared {
                Arc::new(site.store.join())
            } else {
                if self.opened > 0 {
                    site.store = Arc::new(site.store.reopen());
                }
                self.opened += 1;
                site.queue.reopen(self.opened);
                for before in 1..id {
                    site.leases.end(before);
                    site.witness.telling.died(before);
                }
                self.nodes.clear();
                site.store.clone()
            };
            site.leases.open(id, store.clone(), self.clock.passed_ms());
            site.record_history(|| format!("n{id} opens the store, epoch {}", store.epoch()));
            SimJournal::new(self.site.clone(), id, store, self.opened, is_deaf)
        };
        let node = Node::open(id, journal, &self.site, &self.clock);
        self.tasks.spawn(TaskLabel { node: id, what: TaskPurpose::Life }, node.clone().live(self.mutant));
        if self.has_channels() {
            self.tasks
                .spawn(TaskLabel { node: id, what: TaskPurpose::Post }, outbox::worker(&node, &self.site));
        }
        self.nodes.push(node);
    }

    /// Makes a simulated node stop renewing its lease, or begin again.
    fn renew_or_not(&mut self, index: usize) {
        let node = self.nodes[index].id;
        let clock_stands = self.choices.one_in(2);
        let mut site = lock(&self.site);
        if site.leases.renews(node) {
            site.leases.stop(node, clock_stands);
        } else if !self.nodes[index].frozen {
            site.leases.renew(node, self.clock.passed_ms());
        }
    }

    fn freeze(&mut self, index: usize, freezes: bool) {
        let node = &mut self.nodes[index];
        node.frozen = freezes;
        let mut site = lock(&self.site);
        if self.climate.shared && freezes {
            // The clock of the node continues. Therefore the node notices the expired lease when it resumes.
            site.leases.stop(node.id, false);
        } else if self.climate.shared {
            site.leases.renew(node.id, self.clock.passed_ms());
        }
    }

    pub(super) fn heal(&mut self) {
        lock(&self.site).queue.failing_reads = 0;
        for index in 0..self.nodes.len() {
            self.freeze(index, false);
            self.nodes[index].driver.clock().put_ahead(0);
        }
        self.put_clock_right();
        self.heal_sink();
    }

    /// Corrects the simulated wall clock. The clock must not be before the timestamp of the newest written event.
    fn put_clock_right(&mut self) {
        let latest = lock(&self.site).witness.runs().map(|run| run.last_at).max();
        self.clock.set(latest.unwrap_or(Timestamp::from_millis(0)).max(self.clock.now()));
    }
}

fn describe_answer(answer: &Input) -> String {
    match answer {
        Input::Ran { outcome, .. } => format!("{outcome:?}"),
        Input::Replied { reply, .. } => {
            let calls = reply.calls.iter().map(|call| format!("{} {:?}", call.tool, call.arguments));
            format!("{:?} {:?}", reply.text, calls.collect::<Vec<_>>())
        }
        Input::Failed { failure, .. } => format!("{:?}", failure.kind),
        _ => "looked".to_owned(),
    }
}
