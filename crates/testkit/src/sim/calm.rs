//! The last part of a simulation, which is called the calm: there are no more faults, people decide, time passes, and
//! every run must end.
//!
//! The calm begins with a quiet period. In this period, people act only at the beginning, and no tool completes. The
//! nodes must start all work that is due. After this period, people act again and tools complete.

use holdshort_core::id::RunId;
use holdshort_core::run::{Action, ActionId, Input, Run};
use holdshort_core::session::State;
use holdshort_engine::Clock;

use super::freezes;
use super::history::short;
use super::journal::Write;
use super::leases::LEASE_MS;
use super::node::NodeId;
use super::people::{self, SimRequest};
use super::settle;
use super::site::lock;
use super::turns::Sim;

/// Number of milliseconds without an event of a run after which the simulation considers the run stuck. The limit is
/// longer than all deadlines and all jumps of the clock.
const PATIENCE_MS: u64 = 15 * 60_000;

/// Maximum number of steps in the last part of a simulation, if the simulation has no channels.
const TURNS: u64 = 20_000;

/// Maximum number of steps in the last part of a simulation, if the simulation has channels. The longest last part that
/// was seen took 40,000 steps, because each message that waits for a channel takes one or two.
const TELLING: u64 = 100_000;

/// Length in milliseconds of the period at the start of a simulation's last part in which only the nodes act. At the
/// end of this period, the leases of dead nodes have expired, and every node has looked for runs to continue.
const QUIET_MS: u64 = LEASE_MS + 30_000;

impl Sim {
    pub(super) fn calm_down(&mut self) {
        self.choices.calm();
        lock(&self.site).record_history(|| "calm: nothing fails any more".to_owned());
        self.heal();
        if self.climate.ends_with_restart {
            self.crash();
        }
        let tells = lock(&self.site).witness.telling.plays;
        let until = self.steps + if tells { TELLING } else { TURNS };
        self.keep_quiet(until);
        let (mut events, mut since) = (0, self.clock.passed_ms());
        while !self.has_problem() {
            if self.steps > until {
                return self
                    .fail_with("the runs did not end within the maximum number of steps without faults");
            }
            let written = lock(&self.site).witness.events();
            if written > events {
                (events, since) = (written, self.clock.passed_ms());
            }
            if self.clock.passed_ms() - since > PATIENCE_MS {
                return self.fail_with("no event was written for too long");
            }
            if !self.settle_once() {
                break;
            }
        }
        self.empty_outbox();
        let mut site = lock(&self.site);
        let files = site.world.entries();
        site.witness.check_files(&files);
        let store = site.store.clone();
        site.witness.check_all(&store, &self.clock);
    }

    /// Performs one step of the simulation that needs no time to pass, without any fault. Returns false if there is no
    /// such step.
    pub(super) fn go_on_well(&mut self) -> bool {
        if let Some(index) = self.ready().first() {
            self.go_on(*index);
        } else if lock(&self.site).queue.len() > 0 {
            self.write(Write::Well);
        } else if self.letters() > 0 {
            self.receive_well();
        } else {
            return false;
        }
        true
    }

    /// Lets only the simulated nodes act, not people or tools, until all work that is due has started. Then checks that
    /// none of this work is left.
    fn keep_quiet(&mut self, until: u64) {
        self.decide_everywhere();
        let since = self.clock.passed_ms();
        while !self.has_problem() && self.steps < until {
            if self.go_on_well() {
                continue;
            }
            if self.clock.passed_ms() - since >= QUIET_MS {
                break;
            }
            self.pass(self.clock.next_ms().unwrap_or(1_000).clamp(1, 1_000));
        }
        let left = self.left_behind().map_or(Ok(()), |left| Err(format!("nothing is due, but {left}")));
        let mut site = lock(&self.site);
        site.witness.note(left);
        let store = site.store.clone();
        site.witness.check_leases(&store);
    }

    /// Sends decisions through all simulated nodes while tools are running. Also cancels a run through a node that does
    /// not drive the run. The node that drives the run must notice the cancellation.
    fn decide_everywhere(&mut self) {
        self.cancel_elsewhere();
        let deeds: Vec<SimRequest> = {
            let site = lock(&self.site);
            let at_work = site.witness.runs().filter(|run| run.ended.is_none());
            at_work.filter_map(|run| settle::settle(run, &site)).collect()
        };
        for (index, deed) in deeds.into_iter().enumerate() {
            self.request_at(index % self.nodes.len(), deed, true);
        }
    }

    fn cancel_elsewhere(&mut self) {
        let found = {
            let site = lock(&self.site);
            let other = |at: NodeId| self.nodes.iter().position(|node| node.id != at);
            let is_alive = |at: NodeId| self.nodes.iter().any(|node| node.id == at);
            let mut jobs = site.world.jobs.iter().filter(|held| is_alive(held.node));
            jobs.find_map(|held| Some((other(held.node)?, held.job.run.clone())))
        };
        if let Some((index, run)) = found {
            let input = Box::new(Input::Cancel { text: None });
            self.request_at(index, SimRequest::Send { run, input, actor: people::someone("bob") }, true);
        }
    }

    /// Describes work that the simulated nodes have forgotten. This is one of two things: an action that is due or
    /// started although no living node performs it, or a job that a living node performs although its run has ended.
    fn left_behind(&self) -> Option<String> {
        let site = lock(&self.site);
        let has_ended = |id: &RunId| site.witness.runs().any(|run| run.id == *id && run.ended.is_some());
        let mut alive =
            site.world.jobs.iter().filter(|held| self.nodes.iter().any(|node| node.id == held.node));
        if let Some(held) = alive.find(|held| has_ended(&held.job.run)) {
            let (run, action) = (short(held.job.run.as_str()), &held.job.action);
            return Some(format!("n{} still performs {action} of {run}, which has ended", held.node));
        }
        let now = self.clock.now();
        let system = site.witness.system();
        let is_open = |run: &Run| run.session().is_some_and(|id| site.witness.state(id) == State::Open);
        let under_way = |run: &Run, action: &ActionId| {
            let mut jobs = site.world.jobs.iter().filter(|held| held.job.run == run.id);
            jobs.any(|held| held.job.action == *action && self.nodes.iter().any(|node| node.id == held.node))
        };
        let mut left = site.witness.runs().filter(|run| run.ended.is_none()).flat_map(|run| {
            let is_open = is_open(run);
            let due = run.actions().into_iter().filter(move |action| {
                let goes_on = is_open && !freezes::hold(system, run, freezes::agent(run, action));
                match action {
                    Action::Inspect { .. } => true,
                    Action::Try { .. } | Action::CallTool { .. } => goes_on,
                    Action::CallModel { not_before, .. } => {
                        goes_on && not_before.is_none_or(|at| at.ms_since(now) == 0)
                    }
                }
            });
            let started = run.started().filter(|(_, epoch)| *epoch >= run.epoch).map(|(action, _)| action);
            due.map(|action| action.id()).chain(started).map(move |action| (run, action))
        });
        let left = left.find(|(run, action)| !under_way(run, action));
        left.map(|(run, action)| format!("no node performs {action} of {}", short(run.id.as_str())))
    }

    /// Performs one due step of the simulation. Returns false if every run has ended and no job is running any more.
    fn settle_once(&mut self) -> bool {
        if let Some(index) = self.ready().first() {
            self.go_on(*index);
            return true;
        }
        let (queued, jobs, deed, all_ended) = {
            let site = lock(&self.site);
            let at_work = || site.witness.runs().filter(|run| run.ended.is_none());
            let settled = || at_work().find_map(|run| settle::settle(run, &site));
            let deed = freezes::lift(site.witness.system()).or_else(settled);
            (site.queue.len() > 0, site.world.jobs.len(), deed, at_work().next().is_none())
        };
        if queued {
            self.write(Write::Well);
        } else if self.letters() > 0 {
            self.receive_well();
        } else if jobs > 0 {
            self.work(0, 1);
        } else if let Some(deed) = deed {
            // The requests go to each node in turn.
            let index = usize::try_from(self.steps).unwrap_or(0) % self.nodes.len();
            self.request_at(index, deed, true);
        } else if all_ended {
            return false;
        } else {
            self.pass(self.clock.next_ms().unwrap_or(1_000).max(1));
        }
        true
    }

    fn fail_with(&mut self, what: &str) {
        let mut site = lock(&self.site);
        let now = self.clock.now();
        let late = site
            .witness
            .runs()
            .find(|run| run.ended.is_none() && run.next_deadline().is_some_and(|deadline| deadline < now));
        let stuck = late.or_else(|| site.witness.runs().find(|run| run.ended.is_none()));
        let problem = match stuck {
            Some(run) => format!("{what}: {}", state(run, late.is_some())),
            None => what.to_owned(),
        };
        site.witness.note(Err(problem));
    }
}

fn state(run: &Run, late: bool) -> String {
    let why = if late { ", and its deadline has passed" } else { "" };
    format!("{} is {}{why}; due: {:?}", short(run.id.as_str()), run.status().as_str(), run.actions())
}
