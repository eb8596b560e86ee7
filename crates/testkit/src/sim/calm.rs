//! The end of a simulation: nothing fails any more, people decide, time passes, and every run must end.

use holdshort_core::run::Run;
use holdshort_core::system;
use holdshort_engine::Clock;

use super::history::short;
use super::journal::Write;
use super::people::{self, Deed};
use super::site::lock;
use super::turns::Sim;

/// A run that waits longer than this for nobody is stuck. Deadlines are shorter, and so are the jumps of clocks.
const PATIENCE_MS: u64 = 15 * 60_000;

/// Turns of a calm; far more than any needs.
const TURNS: u64 = 30_000;

impl Sim {
    pub(super) fn calm_down(&mut self) {
        self.choices.calm();
        lock(&self.site).queue.failing_reads = 0;
        lock(&self.site).tell(|| "calm: nothing fails any more".to_owned());
        self.put_clock_right();
        if self.orphans || self.climate.ends_with_restart {
            self.crash();
        }
        let (mut events, mut since) = (0, self.clock.passed_ms());
        let until = self.steps + TURNS;
        while !self.has_problem() {
            if self.steps > until {
                return self.fail_with("the calm has no end");
            }
            let written = lock(&self.site).witness.events();
            if written > events {
                (events, since) = (written, self.clock.passed_ms());
            }
            if self.clock.passed_ms() - since > PATIENCE_MS {
                return self.fail_with("nothing happens any more");
            }
            if !self.settle_once() {
                break;
            }
        }
        let mut site = lock(&self.site);
        let memory = site.memory.clone();
        site.witness.check_all(&memory, &self.clock);
    }

    /// One thing that is due; `false` when every run has ended and nothing is under way.
    fn settle_once(&mut self) -> bool {
        if let Some(index) = self.tasks.ready().first() {
            self.go_on(*index);
            return true;
        }
        let (queued, jobs, deed, all_ended) = {
            let site = lock(&self.site);
            let at_work = || site.witness.runs().filter(|run| run.ended.is_none());
            let deed = if site.witness.system().frozen {
                Some(Deed::Change { input: system::Input::Unfreeze })
            } else {
                at_work().find_map(|run| people::settle(run, &site))
            };
            (!site.queue.is_empty(), site.world.jobs.len(), deed, at_work().next().is_none())
        };
        if queued {
            self.write(Write::Well);
        } else if jobs > 0 {
            self.work(0, 1);
        } else if let Some(deed) = deed {
            self.request(deed, true);
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
