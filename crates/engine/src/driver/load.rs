//! Loads a run from the journal. Verifies each event. Uses the version of the workflow with which the run was started.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{self, Chain};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::json;
use holdshort_core::message::Request;
use holdshort_core::run::{Fact, Run};
use holdshort_store::Journal;

use super::{Driver, lock};
use crate::{Clock, Error, Executor};

/// Number of events of a run that are read from the journal at a time.
const PAGE: usize = 500;

/// Cache of the workflow definitions in the journal, by digest. Many runs share one definition.
#[derive(Default)]
pub(crate) struct Definitions(Mutex<BTreeMap<Digest, Arc<Definition>>>);

impl Definitions {
    pub(super) fn get(&self, digest: &Digest) -> Option<Arc<Definition>> {
        lock(&self.0).get(digest).cloned()
    }

    /// Returns the digest of a definition if the cache contains exactly this `Arc`. Compares pointers, not contents.
    pub(super) fn digest_of(&self, definition: &Arc<Definition>) -> Option<Digest> {
        lock(&self.0).iter().find(|(_, known)| Arc::ptr_eq(known, definition)).map(|(digest, _)| *digest)
    }

    pub(super) fn keep(&self, digest: Digest, definition: Arc<Definition>) {
        lock(&self.0).insert(digest, definition);
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Returns the run in its current state in the journal. Only reads.
    pub async fn load(&self, run: &RunId) -> Result<Arc<Run>, Error> {
        Ok(Arc::new(self.replay(run).await?.0))
    }

    /// Returns the run in its state after event `seq`. Only reads, and stops after the page of events that contains
    /// event `seq`.
    pub async fn load_at(&self, run: &RunId, seq: u64) -> Result<Run, Error> {
        Ok(self.fold_until(run, |run, _| run.seq >= seq).await?.0)
    }

    /// Returns the state of the run that its events define, even if the database row of the run differs. Used to
    /// rebuild rows.
    pub(crate) async fn rebuild_run(&self, run: &RunId) -> Result<Run, Error> {
        Ok(self.fold_run(run).await?.0)
    }

    /// Replays the run, and compares its last sequence number with the database row of the run. The comparison detects
    /// that the last events of the stream were deleted. The hash chain cannot detect this, but the row was written in
    /// the same append as the last event.
    pub(super) fn replay<'a>(&'a self, id: &'a RunId) -> BoxFuture<'a, Result<(Run, Chain), Error>> {
        Box::pin(async move {
            let (row, replayed) = futures::join!(self.journal.run(id), self.fold_run(id));
            let told = row?.map_or(0, |row| row.seq);
            if !is_behind(&replayed, told) {
                return replayed;
            }
            // Events may have been appended to the run between the two reads.
            let replayed = self.fold_run(id).await;
            if !is_behind(&replayed, told) {
                return replayed;
            }
            let found = replayed.map_or(0, |(_, chain)| chain.seq);
            let source = envelope::Error::Missing { stream: StreamId::Run(id.clone()), found, told };
            Err(Error::Damaged { run: id.to_string(), source })
        })
    }

    /// Returns the `n`th request (counted from 1) that the run sent to a model, and the step that sent it. Returns
    /// `None` if the run has sent fewer requests. The request is rebuilt from the events that precede it. Earlier runs
    /// of the conversation are read as they are now, without content that was erased in the meantime.
    pub async fn model_request(&self, id: &RunId, n: u64) -> Result<Option<(String, Request)>, Error> {
        let (mut started, mut of) = (0, None);
        let (mut run, _) = self
            .fold_until(id, |_, event| {
                if let event::Fact::Run(Fact::ModelStarted { step, .. }) = &event.fact {
                    started += 1;
                    of = (started == n).then(|| step.clone());
                }
                started >= n
            })
            .await?;
        let Some(step) = of else { return Ok(None) };
        run.earlier = self.earlier_of(&run).await?;
        Ok(run.request(&step).map(|request| (step, request)))
    }

    async fn fold_run(&self, id: &RunId) -> Result<(Run, Chain), Error> {
        self.fold_until(id, |_, _| false).await
    }

    /// Replays the run and stops before the first event for which `stops` returns true.
    pub(super) async fn fold_until(
        &self,
        id: &RunId,
        mut stops: impl FnMut(&Run, &Event) -> bool + Send,
    ) -> Result<(Run, Chain), Error> {
        let stream = StreamId::Run(id.clone());
        let mut chain = Chain::START;
        let mut run: Option<Run> = None;
        loop {
            let page = self.journal.read(&stream, chain.seq, PAGE).await?;
            let full = page.len() == PAGE;
            for sealed in &page {
                let event = event::open(sealed, &mut chain)
                    .map_err(|source| Error::Damaged { run: id.to_string(), source })?;
                match &mut run {
                    Some(run) if stops(run, &event) => return Ok((run.clone(), chain)),
                    Some(run) => run.apply(&event),
                    None => run = Some(first(&*self.journal, &self.definitions, id, &event).await?),
                }
            }
            if !full {
                break;
            }
        }
        let run = run.ok_or(Error::NotFound)?;
        self.clock.observe(run.last_at);
        Ok((run, chain))
    }
}

/// Returns the state of the run after its first event, and uses the workflow definition with which the run was started.
pub(crate) async fn first<J: Journal>(
    journal: &J,
    definitions: &Definitions,
    id: &RunId,
    event: &Event,
) -> Result<Run, Error> {
    let event::Fact::Run(Fact::RunStarted { definition, .. }) = &event.fact else {
        return Err(Error::NoDefinition { run: id.clone() });
    };
    let mut run = Run::new(id.clone(), pinned(journal, definitions, id, definition).await?);
    run.apply(event);
    Ok(run)
}

async fn pinned<J: Journal>(
    journal: &J,
    definitions: &Definitions,
    run: &RunId,
    digest: &Digest,
) -> Result<Arc<Definition>, Error> {
    if let Some(known) = definitions.get(digest) {
        return Ok(known);
    }
    let missing = || Error::NoDefinition { run: run.clone() };
    let bytes = journal.blob(digest).await?.ok_or_else(missing)?;
    if Digest::of_bytes(&bytes) != *digest {
        return Err(missing());
    }
    let definition: Arc<Definition> =
        Arc::new(json::from_slice(&bytes).map_err(|_| Error::NewDefinition { run: run.clone() })?);
    definitions.keep(*digest, definition.clone());
    Ok(definition)
}

/// Returns true if the replay ended at an earlier event than the database row of the run states.
fn is_behind(replayed: &Result<(Run, Chain), Error>, told: u64) -> bool {
    match replayed {
        Ok((_, chain)) => chain.seq < told,
        Err(Error::NotFound) => told > 0,
        Err(_) => false,
    }
}
