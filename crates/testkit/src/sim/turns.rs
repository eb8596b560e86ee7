//! One turn at a time: a task goes on, an append is written, a job is done, somebody acts, something fails.
//!
//! A turn is the step that the simulator counts. Between any two turns everything is as a crash would find it.

use std::time::Duration;

use holdshort_core::run::Input;
use holdshort_core::time::Timestamp;
use holdshort_engine::{Clock, Error};

use super::choices::Choices;
use super::faults::{Climate, Fault};
use super::history::{History, short};
use super::journal::Write;
use super::mutants::Mutant;
use super::node::{Node, NodeId};
use super::people::{Deed, Menu};
use super::site::{Shared, Site, lock};
use super::tasks::{About, Tasks, What};
use super::world::Held;
use crate::clock::SimClock;

pub(super) struct Sim {
    pub(super) choices: Choices,
    pub(super) clock: SimClock,
    pub(super) site: Shared,
    pub(super) tasks: Tasks,
    /// Those of the present opening: one, or two rivals.
    pub(super) nodes: Vec<Node>,
    pub(super) climate: Climate,
    pub(super) steps: u64,
    /// Work was lost that only another opening takes over: with a node, or with the answer to an append. (Known:
    /// what such an append began goes on only with the next input to its run.)
    pub(super) orphans: bool,
    menu: Menu,
    mutant: Option<Mutant>,
    opened: u64,
    node_ids: NodeId,
}

impl Sim {
    pub(super) fn new(seed: u64, mut choices: Choices, mutant: Option<Mutant>, history: History) -> Self {
        let clock = SimClock::new(seed);
        let site = Site::new(clock.clone(), mutant, history);
        choices.next_turn();
        let climate = Climate::new(&mut choices);
        let menu = Menu::new(&mut choices);
        let mut sim = Self {
            choices,
            clock,
            site,
            tasks: Tasks::default(),
            nodes: Vec::new(),
            climate,
            steps: 0,
            orphans: false,
            menu,
            mutant,
            opened: 0,
            node_ids: 0,
        };
        sim.reopen();
        sim
    }

    pub(super) fn has_problem(&self) -> bool {
        lock(&self.site).witness.problem().is_some()
    }

    /// Plays one turn; `false` when there is none left.
    pub(super) fn turn(&mut self) -> bool {
        if !self.choices.next_turn() {
            return false;
        }
        let kind = self.choices.below(100);
        let ready = self.tasks.ready();
        let (queued, jobs) = {
            let site = lock(&self.site);
            (!site.queue.is_empty(), site.world.jobs.len())
        };
        match kind {
            0..40 if !ready.is_empty() => {
                let index = *self.choices.pick(&ready);
                self.go_on(index);
            }
            40..60 if queued => self.write(Write::Well),
            60..75 if jobs > 0 => {
                let index = self.choices.below(jobs);
                self.work(index, 1);
            }
            75..84 => self.act(),
            84..90 => self.pass_some_time(),
            90..100 if !self.climate.faults.is_empty() => {
                let fault = *self.choices.pick(&self.climate.faults.clone());
                self.fail(fault);
            }
            _ if !ready.is_empty() => self.go_on(ready[0]),
            _ if queued => self.write(Write::Well),
            _ if jobs > 0 => self.work(0, 1),
            _ if self.choices.one_in(2) => self.pass_some_time(),
            _ => self.act(),
        }
        true
    }

    /// Lets a task go on to its next wait.
    pub(super) fn go_on(&mut self, index: usize) {
        self.steps += 1;
        self.tasks.poll(index);
        let aborted = std::mem::take(&mut lock(&self.site).world.aborted);
        for (node, run, action) in aborted {
            let gone = About { node, what: What::Answer(run.to_string(), action.to_string()) };
            self.tasks.drop_those(|about| *about == gone);
        }
    }

    pub(super) fn write(&mut self, how: Write) {
        self.steps += 1;
        lock(&self.site).write_next(how);
    }

    /// Does a job and brings its answer on its way, perhaps more than once.
    pub(super) fn work(&mut self, index: usize, answers: usize) {
        self.steps += 1;
        let (held, answer) = {
            let mut site = lock(&self.site);
            let held = site.world.jobs.remove(index);
            let late = self.nodes.iter().all(|node| node.id != held.node);
            if self.mutant == Some(Mutant::WorkTwice) {
                let _ = site.work(&held.job, late, &mut self.choices);
            }
            let answer = site.work(&held.job, late, &mut self.choices);
            site.tell(|| {
                format!(
                    "n{} is done with {} of {}: {}",
                    held.node,
                    held.job.action,
                    short(held.job.run.as_str()),
                    told(&answer)
                )
            });
            (held, answer)
        };
        for _ in 0..answers {
            self.bring(&held, answer.clone());
        }
    }

    fn bring(&mut self, held: &Held, answer: Input) {
        let what = What::Answer(held.job.run.to_string(), held.job.action.to_string());
        let (deliver, clock, site) = (held.deliver.clone(), self.clock.clone(), self.site.clone());
        let gives_up = self.mutant == Some(Mutant::LoseAnswers);
        self.tasks.spawn(About { node: held.node, what }, async move {
            while let Err(error) = deliver(answer.clone()).await {
                match error {
                    Error::Store(_) | Error::Busy if !gives_up => clock.sleep(Duration::from_secs(1)).await,
                    Error::Store(_) | Error::Busy => return,
                    error => return lock(&site).witness.note(Err(format!("an answer is refused: {error}"))),
                }
            }
        });
    }

    /// Somebody does something, on one surface or on two at once.
    fn act(&mut self) {
        let deed = self.menu.deed(&mut lock(&self.site), &mut self.choices);
        let surfaces = if self.choices.one_in(6) { 2 } else { 1 };
        let patient = !self.choices.one_in(3);
        for _ in 0..surfaces {
            self.request(deed.clone(), patient);
        }
    }

    pub(super) fn request(&mut self, deed: Deed, patient: bool) {
        self.steps += 1;
        let node = self.choices.pick(&self.nodes).clone();
        lock(&self.site).tell(|| format!("n{} is asked: {}", node.id, deed.tell()));
        let about = About { node: node.id, what: What::Request(deed.tell()) };
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
    }

    fn fail(&mut self, fault: Fault) {
        self.steps += 1;
        lock(&self.site).tell(|| format!("fault: {fault:?}"));
        match fault {
            Fault::Crash => self.crash(),
            Fault::Rival if self.nodes.len() == 1 => self.open_node(),
            Fault::LoseOne if self.nodes.len() == 2 => {
                let index = self.choices.below(2);
                let lost = self.nodes.remove(index).id;
                self.lose(|node| node == lost);
                self.orphans = true;
            }
            Fault::TakeOver => {
                let before: Vec<NodeId> = self.nodes.iter().map(|node| node.id).collect();
                self.lose(|node| !before.contains(&node));
                self.tasks.drop_those(|about| !matches!(about.what, What::Answer(..)));
                self.reopen();
            }
            Fault::Full => lock(&self.site).write_next(Write::Full),
            Fault::Unheard => {
                lock(&self.site).write_next(Write::Unheard);
                self.orphans = true;
            }
            Fault::Lost => lock(&self.site).write_next(Write::Lost),
            Fault::Reads => lock(&self.site).queue.failing_reads += 1,
            Fault::Jump => {
                let ms = i64::try_from(self.choices.below(120_000)).unwrap_or(0) - 60_000;
                self.clock.advance_ms(ms);
            }
            Fault::LostWake => {
                let node = self.choices.pick(&self.nodes).clone();
                let timers = About { node: node.id, what: What::Timers };
                self.tasks.drop_those(|about| *about == timers);
                self.tasks.spawn(timers, node.live(self.mutant));
            }
            Fault::Wake => {
                let all = self.tasks.all();
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
                    self.orphans = true;
                }
            }
            Fault::File => {
                let path = *self.choices.pick(&["a", "b"]);
                lock(&self.site).world.change(path);
            }
            Fault::Rival | Fault::LoseOne => {}
        }
    }

    /// The end of the process, and the next one. Some of what was on its way may have been written.
    pub(super) fn crash(&mut self) {
        while !lock(&self.site).queue.is_empty() && self.choices.one_in(2) {
            self.write(Write::Unheard);
        }
        self.nodes.clear();
        self.lose(|_| true);
        {
            let mut site = lock(&self.site);
            let memory = site.memory.clone();
            site.witness.check_all(&memory, &self.clock);
        }
        self.orphans = false;
        self.reopen();
    }

    /// Everything that these nodes hold in memory is gone, and their tools with it.
    fn lose(&mut self, gone: impl Fn(NodeId) -> bool) {
        self.tasks.drop_those(|about| gone(about.node));
        lock(&self.site).world.jobs.retain(|held| !gone(held.node));
    }

    /// Another process opens the store: the one before is shut out.
    fn reopen(&mut self) {
        if self.opened == 0 || self.mutant != Some(Mutant::KeepTheEpoch) {
            self.opened += 1;
        }
        lock(&self.site).queue.reopen(self.opened);
        self.nodes.clear();
        self.open_node();
    }

    fn open_node(&mut self) {
        self.node_ids += 1;
        let node = Node::open(self.node_ids, self.opened, &self.site, &self.clock);
        lock(&self.site).tell(|| format!("n{} opens the store, epoch {}", node.id, self.opened));
        let timers = About { node: node.id, what: What::Timers };
        self.tasks.spawn(timers, node.clone().live(self.mutant));
        self.nodes.push(node);
    }

    /// The wall clock is put right: not before anything that was written.
    pub(super) fn put_clock_right(&mut self) {
        let latest = lock(&self.site).witness.runs().map(|run| run.last_at).max();
        self.clock.set(latest.unwrap_or(Timestamp::from_millis(0)).max(self.clock.now()));
    }
}

fn told(answer: &Input) -> String {
    match answer {
        Input::Ran { outcome, .. } => format!("{outcome:?}"),
        Input::Probed { probed, .. } => format!("{probed:?}"),
        Input::Replied { reply, .. } => {
            let calls = reply.calls.iter().map(|call| format!("{} {:?}", call.tool, call.arguments));
            format!("{:?} {:?}", reply.text, calls.collect::<Vec<_>>())
        }
        Input::Failed { failure, .. } => format!("{:?}", failure.kind),
        _ => "looked".to_owned(),
    }
}
