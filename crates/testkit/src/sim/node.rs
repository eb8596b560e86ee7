//! A node of a simulation: the real driver, with a simulated journal, clock and executor, and with its background
//! tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use holdshort_core::definition::Definition;
use holdshort_core::id::{RunId, Seed};
use holdshort_core::run::{ActionId, Config, Run};
use holdshort_core::schema::Problem;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::Precondition;
use holdshort_engine::{Clock, Deliver, Driver, Executor, Job, Unfit};
use serde_json::Value;

use super::journal::{Pause, SimJournal};
use super::mutants::Mutant;
use super::site::{Shared, lock};
use crate::clock::SimClock;

/// Number of a simulated node's process. Numbers are never reused.
pub(super) type NodeId = usize;
pub(super) type SimDriver = Driver<SimJournal, NodeClock, Hands>;

#[derive(Clone)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) driver: Arc<SimDriver>,
    /// True if the process of the simulated node is suspended. Tools of the process continue to run.
    pub(super) frozen: bool,
}

impl Node {
    pub(super) fn open(id: NodeId, journal: SimJournal, site: &Shared, clock: &SimClock) -> Self {
        let clock = NodeClock { clock: clock.clone(), ahead_ms: Arc::default() };
        let driver = Driver::new(Arc::new(journal), clock, Hands { node: id, site: site.clone() });
        Self { id, driver, frozen: false }
    }

    /// Runs the background tasks of a simulated node: it claims runs, continues runs that no node drives, and then
    /// follows new events.
    pub(super) async fn live(self, mutant: Option<Mutant>) {
        if mutant == Some(Mutant::NeverSweep) {
            return Box::pin(self.live_without_sweep()).await;
        }
        while self.driver.claim().await.is_err() || self.driver.sweep().await.is_err() {
            self.driver.clock().sleep(Duration::from_secs(1)).await;
        }
        if mutant != Some(Mutant::KeepNoTime) {
            Box::pin(holdshort_engine::keep_up(self.driver)).await;
        }
    }

    async fn live_without_sweep(self) {
        let driver = self.driver.clone();
        let claims = async {
            loop {
                let _next_time = driver.claim().await;
                driver.clock().sleep(Duration::from_secs(1)).await;
            }
        };
        futures::join!(holdshort_engine::keep_time(self.driver), claims);
    }
}

/// Wall clock of a simulated node. On all nodes, time passes at the same speed, but the clocks of some nodes are ahead.
#[derive(Clone, Debug)]
pub(super) struct NodeClock {
    clock: SimClock,
    ahead_ms: Arc<AtomicI64>,
}

impl NodeClock {
    pub(super) fn put_ahead(&self, ms: i64) {
        self.ahead_ms.store(ms, Ordering::Relaxed);
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis() + self.ahead_ms.load(Ordering::Relaxed))
    }

    fn seed(&self) -> Seed {
        self.clock.seed()
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.clock.sleep(time)
    }
}

/// Executor of a simulated node. A job waits in the simulated world until the simulator performs it.
pub(super) struct Hands {
    node: NodeId,
    site: Shared,
}

impl Executor for Hands {
    async fn prepare(&self, _: &Definition, config: Config) -> Result<Config, Vec<Problem>> {
        Ok(config)
    }

    async fn observe(&self, run: &Run, paths: &[String]) -> Vec<Precondition> {
        Pause(false).await;
        let site = lock(&self.site);
        if site.mutant == Some(Mutant::BelieveWhatWasShown) {
            let looks = run.calls.values().filter_map(|call| call.look.as_ref());
            return looks.flat_map(|look| look.preconditions.clone()).collect();
        }
        paths.iter().map(|path| site.world.state(path)).collect()
    }

    /// Rejects a path outside the workspace if the simulation includes the features from [`super::ENDINGS_FROM`] on. In
    /// other simulations, such a path is rejected only by the inspection.
    async fn check_call(&self, _: &Run, _: &str, arguments: &Value) -> Result<(), Unfit> {
        Pause(false).await;
        let is_outside = arguments["path"].as_str().is_some_and(|path| path.contains(".."));
        if is_outside && lock(&self.site).world.plays_endings {
            return Err(Unfit::Always(Problem::new("/path", "is outside the workspace")));
        }
        Ok(())
    }

    fn has_model(&self, _: &Run) -> bool {
        true
    }

    fn perform(&self, job: Job, deliver: Deliver) {
        let mut site = lock(&self.site);
        site.record_history(|| {
            format!("n{} begins {} of {}", self.node, job.action, super::history::short(job.run.as_str()))
        });
        let believes = site.leases.is_believed_valid(self.node, site.clock.passed_ms());
        site.witness.performed(self.node, believes, &job);
        site.world.begin(self.node, job, deliver);
    }

    fn abort(&self, run: &RunId, action: &ActionId) {
        let mut site = lock(&self.site);
        site.record_history(|| {
            format!("n{} drops {action} of {}", self.node, super::history::short(run.as_str()))
        });
        site.world.abort(self.node, run, action);
    }

    fn stop(&self, run: &RunId, action: &ActionId) {
        let mut site = lock(&self.site);
        site.record_history(|| {
            format!("n{} stops {action} of {}", self.node, super::history::short(run.as_str()))
        });
        site.world.stopped.insert((run.clone(), action.clone()));
    }
}
