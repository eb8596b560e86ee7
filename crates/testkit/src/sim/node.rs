//! A node: the real driver on the simulated journal, clock and hands, with its deadlines kept.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::definition::Definition;
use holdshort_core::id::RunId;
use holdshort_core::run::{ActionId, Config, Run};
use holdshort_core::schema::Problem;
use holdshort_core::tool::Precondition;
use holdshort_engine::{Clock, Deliver, Driver, Executor, Job};

use super::journal::SimJournal;
use super::mutants::Mutant;
use super::site::{Shared, lock};
use crate::clock::SimClock;

pub(super) type NodeId = usize;
pub(super) type SimDriver = Driver<SimJournal, SimClock, Hands>;

#[derive(Clone)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) driver: Arc<SimDriver>,
}

impl Node {
    pub(super) fn open(id: NodeId, epoch: u64, site: &Shared, clock: &SimClock) -> Self {
        let journal = Arc::new(SimJournal::new(site.clone(), epoch));
        let driver = Driver::new(journal, clock.clone(), Hands { node: id, site: site.clone() });
        Self { id, driver }
    }

    /// What a node does by itself: goes on with what was left behind, then keeps time.
    pub(super) async fn live(self, mutant: Option<Mutant>) {
        if mutant != Some(Mutant::SkipTheSweep) {
            while self.driver.sweep().await.is_err() {
                self.driver.clock().sleep(Duration::from_secs(1)).await;
            }
        }
        if mutant != Some(Mutant::KeepNoTime) {
            holdshort_engine::keep_time(self.driver).await;
        }
    }
}

/// A node's executor: jobs lie in the world until the simulator has them done.
pub(super) struct Hands {
    node: NodeId,
    site: Shared,
}

impl Executor for Hands {
    async fn prepare(&self, _: &Definition, config: Config) -> Result<Config, Vec<Problem>> {
        Ok(config)
    }

    async fn observe(&self, run: &Run, paths: &[String]) -> Vec<Precondition> {
        let site = lock(&self.site);
        if site.mutant == Some(Mutant::BelieveWhatWasShown) {
            let looks = run.calls.values().filter_map(|call| call.look.as_ref());
            return looks.flat_map(|look| look.preconditions.clone()).collect();
        }
        paths.iter().map(|path| site.world.state(path)).collect()
    }

    fn has_model(&self, _: &Run) -> bool {
        true
    }

    fn perform(&self, job: Job, deliver: Deliver) {
        let mut site = lock(&self.site);
        site.tell(|| {
            format!("n{} begins {} of {}", self.node, job.action, super::history::short(job.run.as_str()))
        });
        site.witness.performed(&job);
        site.world.begin(self.node, job, deliver);
    }

    fn abort(&self, run: &RunId, action: &ActionId) {
        let mut site = lock(&self.site);
        site.tell(|| format!("n{} drops {action} of {}", self.node, super::history::short(run.as_str())));
        site.world.abort(self.node, run, action);
    }
}
