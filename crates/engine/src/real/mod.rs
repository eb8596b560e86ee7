//! The real thing: a store that lasts, the wall clock, real tools and models.

mod bodies;
pub mod clock_mark;
mod executor;
mod layers;
mod merge;
mod preview;
mod trial;
mod undo;

use std::path::PathBuf;
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::channel::Channel;
use holdshort_core::people::{People, PeopleSource, Roster};
use holdshort_core::policy::Rule;
use holdshort_core::system::{Input, Rejection};
use holdshort_core::time::Timestamp;
use holdshort_core::tool::SandboxLevel;
use holdshort_models::Model;
use holdshort_store::{DeliveryChange, Location, Outbox, Store, sqlite};
use holdshort_tools::Toolset;
use holdshort_workflow::Library;
use tokio::task::JoinHandle;

use bodies::Bodies;
pub use executor::{REHEARSAL, RealExecutor};
pub use preview::{Kind, Preview, Previews};

use crate::driver::system_of;
use crate::traces::TraceQueue;
use crate::{Clock, DeadlineClock, Driver, Error, upkeep};

/// The driver that the binary runs.
pub type RealDriver = Driver<Store, DeadlineClock, RealExecutor>;

/// What an engine is made of. `L` reads the workflows for those who may decide here.
pub struct Setup<L> {
    pub data: PathBuf,
    /// All whom the people file names; `None`: nothing is said, and they are as they were.
    pub people: Option<Roster>,
    /// The rules of the installation; `None`: they are as they were.
    pub rules: Option<Vec<Rule>>,
    /// Where people are told.
    pub channels: Vec<Channel>,
    pub library: L,
    /// Tools of packs.
    pub toolsets: Vec<&'static dyn Toolset>,
    /// `None`: rehearsals only.
    pub model: Option<Arc<dyn Model>>,
    /// The program that has the hidden subcommand `sandbox-exec`.
    pub sandbox_program: PathBuf,
    pub store: Location,
    /// Where runs that end are put; `None`: no traces are exported.
    pub traces: Option<Arc<TraceQueue>>,
}

pub struct Engine {
    pub driver: Arc<RealDriver>,
    pub previews: Previews,
    pub library: Arc<Library>,
    /// What commands are confined to on this machine, without network.
    pub sandbox: SandboxLevel,
    upkeep: JoinHandle<()>,
}

/// Opens the store, goes on with what a stop or a crash left behind, and starts to keep time.
pub async fn open<L, E>(setup: Setup<L>) -> Result<Engine, E>
where
    L: FnOnce(&People) -> Result<Library, E>,
    E: From<Error>,
{
    let Setup { data, people, rules, channels, library, toolsets, model, sandbox_program, store, traces } =
        setup;
    let copied_at = match &store {
        Location::Folder(_) => sqlite::copied_at(&data).map_err(Error::from)?,
        Location::Database(_) => None,
    };
    let journal = Arc::new(Store::open(&data, store).await.map_err(Error::from)?);
    let clock = DeadlineClock::default();
    // Before anything goes on: a workflow that does not load, or a person who can not be, stops the start.
    let begun = async {
        clock_mark::take_up(&clock, &journal, &data).await;
        let people = people_of(&journal, people.as_ref(), clock.now()).await?;
        library(&people).map(Arc::new)
    };
    let library = match begun.await {
        Ok(library) => library,
        Err(error) => {
            journal.close().await.map_err(Error::from)?;
            return Err(error);
        }
    };
    let sandbox = {
        let program = sandbox_program.clone();
        let probed = tokio::task::spawn_blocking(move || {
            holdshort_tools::sandbox::clean_up();
            holdshort_tools::sandbox::level(&program, false)
        });
        probed.await.unwrap_or(SandboxLevel::None)
    };
    let previews = Previews::default();
    let executor = RealExecutor {
        data,
        library: library.clone(),
        toolsets,
        model,
        sandbox_program,
        bodies: Bodies::new(journal.clone()),
        previews: previews.clone(),
        tasks: Arc::default(),
    };
    let driver = Driver::new(journal, clock, executor);
    if let Some(traces) = traces {
        driver.queue_traces(traces);
    }
    // Those that were registered, too: what goes on may have something to tell them.
    let registered = Channel::registered(&*driver.system().await?).collect::<Vec<_>>();
    driver.tell_channels(channels.into_iter().chain(registered).collect());
    // Before any run goes on: who has left the file has no say in it.
    if let Some(people) = people {
        driver.set_people(PeopleSource::File, people).await?;
    }
    for warning in driver.system().await?.people.double_warnings() {
        tracing::warn!("{warning}");
    }
    if let Some(at) = copied_at {
        freeze_copy(&driver, &format!("a backup of {at}")).await?;
        sqlite::taken_up(&driver.executor().data).map_err(Error::from)?;
    }
    if driver.journal().is_restored() {
        freeze_copy(&driver, "a dump of a database").await?;
        driver.journal().take_up().await.map_err(Error::from)?;
    }
    // And what is forbidden from now on does not begin.
    if let Some(rules) = rules {
        driver.set_rules(rules).await?;
    }
    let resumed = driver.claim().await? + driver.sweep().await?;
    if resumed > 0 {
        tracing::info!(runs = resumed, "went on with runs that a stop had interrupted");
    }
    let overdue = driver.catch_up().await?;
    if overdue > 0 {
        tracing::info!(overdue, "settled what became due while no server ran");
    }
    let keeps = (upkeep::keep_up(driver.clone()), clock_mark::keep_marking(driver.clone()));
    let removes = layers::keep_removing(driver.clone());
    let upkeep = tokio::spawn(async { _ = futures::join!(keeps.0, keeps.1, removes) });
    Ok(Engine { driver, previews, library, sandbox, upkeep })
}

/// What the agents did since a backup was made is not in it, and would be done again: a person looks first.
async fn freeze_copy(driver: &Arc<RealDriver>, from: &str) -> Result<(), Error> {
    let reason =
        format!("restored from {from}: what was done since is not known here, and may be done again");
    match driver.change_system(Input::Freeze { part: None, reason }, Actor::engine()).await {
        // It was frozen when it was copied, and stays so for its own reason.
        Ok(_) | Err(Error::System(Rejection::Frozen(_))) => {}
        Err(error) => return Err(error),
    }
    // The original goes on telling, or has told.
    let (now, why) = (driver.clock().now(), format!("a copy: {from}"));
    driver.journal().change_deliveries(DeliveryChange::DropWaiting { why, now }).await?;
    tracing::warn!(from, "the journal is a copy: everything is frozen until a person lifts it");
    Ok(())
}

/// Everybody, once the people of the file are taken up.
async fn people_of(journal: &Arc<Store>, people: Option<&Roster>, now: Timestamp) -> Result<People, Error> {
    let mut system = (*system_of(&**journal).await?).clone();
    let source = PeopleSource::File;
    let inputs = people.cloned().map(|Roster { people, hours }| {
        [Input::SetAllHours { source, hours }, Input::SetPeople { source, people }]
    });
    for input in inputs.into_iter().flatten() {
        for event in system.handle(now, &Actor::engine(), input)? {
            system.apply(&event);
        }
    }
    Ok(system.people)
}

impl Engine {
    /// Begins nothing more, drops model requests, and gives running tools their time. What still runs after that
    /// is cut off; the next start settles it. Decisions are taken until `stop`.
    pub async fn drain(&self) {
        self.upkeep.abort();
        self.driver.close().await;
        self.driver.executor().drain().await;
    }

    /// Drains, and closes the journal.
    pub async fn stop(self) -> Result<(), Error> {
        self.drain().await;
        if let Err(error) = clock_mark::write(self.driver.clock(), &self.driver.executor().data) {
            tracing::warn!(%error, "the time can not be noted in the data folder");
        }
        self.driver.journal().close().await?;
        Ok(())
    }
}
