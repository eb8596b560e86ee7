//! The real engine: a persistent store, the wall clock, real tools and models.

mod bodies;
pub mod clock_mark;
mod executor;
mod foreign_trial;
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

/// The driver that the server program uses.
pub type RealDriver = Driver<Store, DeadlineClock, RealExecutor>;

/// The settings and components from which an engine is built. `L` is a function that loads the workflows and receives
/// the people of the installation.
pub struct Setup<L> {
    pub data: PathBuf,
    /// All people of the people file. `None` leaves the people unchanged.
    pub people: Option<Roster>,
    /// Rules of the installation. `None` leaves the rules unchanged.
    pub rules: Option<Vec<Rule>>,
    /// Channels that notify people.
    pub channels: Vec<Channel>,
    pub library: L,
    /// Tools that packs add.
    pub toolsets: Vec<&'static dyn Toolset>,
    /// The default model. With `None`, only workflows with a scripted rehearsal can run.
    pub model: Option<Arc<dyn Model>>,
    /// Executable with the hidden subcommand `sandbox-exec`, which starts commands in the sandbox.
    pub sandbox_program: PathBuf,
    pub store: Location,
    /// Queue for the traces of ended runs. `None` exports no traces.
    pub traces: Option<Arc<TraceQueue>>,
}

pub struct Engine {
    pub driver: Arc<RealDriver>,
    pub previews: Previews,
    pub library: Arc<Library>,
    /// Sandbox level that this host provides for commands without network access.
    pub sandbox: SandboxLevel,
    upkeep: JoinHandle<()>,
}

/// Opens the store, starts the background tasks, and continues the runs that a stop or a crash interrupted.
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
    // The workflows and people are checked before any run continues. If one of them is invalid, the server does not
    // start.
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
    // Channels that were registered at run time are included, because a run that continues may have to notify them.
    let registered = Channel::registered(&*driver.system().await?).collect::<Vec<_>>();
    driver.set_channels(channels.into_iter().chain(registered).collect());
    // The people are set before any run continues, so that a person who was removed from the file cannot decide.
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
    // The rules are set before any run continues, so that no call starts that the new rules forbid.
    if let Some(rules) = rules {
        driver.set_rules(rules).await?;
    }
    let resumed = driver.claim().await? + driver.sweep().await?;
    if resumed > 0 {
        tracing::info!(runs = resumed, "continued runs that a stop had interrupted");
    }
    let overdue = driver.catch_up().await?;
    if overdue > 0 {
        tracing::info!(overdue, "processed deadlines that passed while no server ran");
    }
    let keeps = (upkeep::keep_up(driver.clone()), clock_mark::keep_marking(driver.clone()));
    let removes = layers::keep_removing(driver.clone());
    let upkeep = tokio::spawn(async { _ = futures::join!(keeps.0, keeps.1, removes) });
    Ok(Engine { driver, previews, library, sandbox, upkeep })
}

/// Freezes an installation that was restored from a backup until a person has checked it. The journal of a restored
/// installation lacks the actions of agents after the backup. Without the freeze, agents could repeat them.
async fn freeze_copy(driver: &Arc<RealDriver>, from: &str) -> Result<(), Error> {
    let reason = format!(
        "restored from {from}: actions after that copy was made are not recorded here, and agents may repeat them"
    );
    match driver.change_system(Input::Freeze { part: None, reason }, Actor::engine()).await {
        // The installation was already frozen when it was copied. The reason of that freeze is kept.
        Ok(_) | Err(Error::System(Rejection::Frozen(_))) => {}
        Err(error) => return Err(error),
    }
    // Waiting deliveries are dropped, because the original installation has sent them or will send them.
    let (now, why) = (driver.clock().now(), format!("this journal was restored from {from}"));
    driver.journal().change_deliveries(DeliveryChange::DropWaiting { why, now }).await?;
    tracing::warn!(from, "the journal is a copy: everything is frozen until a person lifts the freeze");
    Ok(())
}

/// Returns all people of the installation as they will be after the people file is applied.
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
    /// Starts no more actions, drops model requests, and waits for running tools up to a time limit. Tools that are
    /// still running after the limit are killed, and the next process records their outcome as unknown. Decisions are
    /// accepted until `stop` is called.
    pub async fn drain(&self) {
        self.upkeep.abort();
        self.driver.close().await;
        self.driver.executor().drain().await;
    }

    /// Drains the engine, and then closes the journal.
    pub async fn stop(self) -> Result<(), Error> {
        self.drain().await;
        if let Err(error) = clock_mark::write(self.driver.clock(), &self.driver.executor().data) {
            tracing::warn!(%error, "the time cannot be stored in the data folder");
        }
        self.driver.journal().close().await?;
        Ok(())
    }
}
