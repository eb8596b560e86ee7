//! The journal as a node sees it: the one in memory, behind a queue and a door that faults stand at.
//!
//! An append lies in the queue until the simulator writes it, so it can be lost, refused, or written without
//! anybody hearing of it; and it is written all the same when whoever asked has gone away. Every read is a
//! place where others may act first. A node whose opening is over is shut out.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::channel::oneshot;
use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed};
use holdshort_core::id::{GrantId, InterruptId, RunId, StreamId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow};
use holdshort_core::time::Timestamp;
use holdshort_store::{
    Append, AppendError, Appended, Cursor, Error, GrantFilter, InterruptFilter, Journal, KeyRecord, Memory,
    Page, Positioned, Rows, RunFilter,
};
use tokio::sync::watch;

use super::history;
use super::mutants::Mutant;
use super::site::{Shared, Site, lock};

/// What the store does with the append that is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    Well,
    /// Nothing is written.
    Full,
    /// It is written, and whoever asked hears of an error.
    Unheard,
    /// Nothing is written, and whoever asked hears an error that does not say so.
    Lost,
}

/// Appends on their way, and which opening of the store is the present one.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) epoch: u64,
    waiting: VecDeque<Waiting>,
    /// The next reads that fail.
    pub(super) failing_reads: u32,
    /// Appends that a mutant has answered before they are written.
    unwritten: Vec<Append>,
}

struct Waiting {
    append: Append,
    answer: oneshot::Sender<Result<Appended, AppendError>>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Another opening of the store: what was not written never will be.
    pub(super) fn reopen(&mut self, epoch: u64) {
        *self = Self { epoch, ..Self::default() };
    }
}

impl Site {
    /// Writes the append that is next, or not. What was written is witnessed.
    pub(super) fn write_next(&mut self, how: Write) {
        let Some(Waiting { append, answer }) = self.queue.waiting.pop_front() else { return };
        let broken = |why: &str| AppendError::Store(Error::Io(why.into()));
        let answered = match how {
            Write::Full => Err(AppendError::Store(Error::Full)),
            Write::Lost => Err(broken("nobody knows whether it was written")),
            Write::Well => self.write(append),
            Write::Unheard => self.write(append).and_then(|_| Err(broken("the answer got lost"))),
        };
        if let Some(told) = outcome(how, &answered) {
            self.tell(|| told);
        }
        let _nobody_waits = answer.send(answered);
    }

    fn write(&mut self, append: Append) -> Result<Appended, AppendError> {
        if self.mutant == Some(Mutant::AnswerBeforeWriting) {
            self.queue.unwritten.push(append);
            let late = self.queue.unwritten.len() > 2;
            let appends = if late { std::mem::take(&mut self.queue.unwritten) } else { Vec::new() };
            for append in appends {
                self.write_now(append)?;
            }
            return Ok(Appended { position: 0 });
        }
        self.write_now(append)
    }

    fn write_now(&mut self, append: Append) -> Result<Appended, AppendError> {
        let append = self.mutated(append);
        let written = append.clone();
        let appended = self.memory.append(append).now_or_never().expect("memory answers at once")?;
        self.appends += 1;
        self.tell(|| format!("journal: {}", history::append(&written)));
        self.witness.appended(&written);
        if self.mutant == Some(Mutant::SayFullAfterWriting) && self.appends.is_multiple_of(7) {
            return Err(AppendError::Store(Error::Full));
        }
        Ok(appended)
    }
}

fn outcome(how: Write, answered: &Result<Appended, AppendError>) -> Option<String> {
    match (how, answered) {
        (Write::Unheard, _) => Some("store: the answer of that append gets lost".to_owned()),
        (Write::Lost, _) => Some("store: an append is lost".to_owned()),
        (Write::Well | Write::Full, Err(error)) => Some(format!("store: {error}")),
        (Write::Well | Write::Full, Ok(_)) => None,
    }
}

/// A node's handle on the journal.
pub(super) struct SimJournal {
    site: Shared,
    memory: Arc<Memory>,
    epoch: u64,
}

impl SimJournal {
    pub(super) fn new(site: Shared, epoch: u64) -> Self {
        let memory = lock(&site).memory.clone();
        Self { site, memory, epoch }
    }

    /// Others may act first; then the journal answers, or does not.
    async fn reading(&self) -> Result<&Memory, Error> {
        Pause(false).await;
        let mut site = lock(&self.site);
        if site.queue.epoch != self.epoch {
            return Err(Error::Closed);
        }
        if site.queue.failing_reads > 0 {
            site.queue.failing_reads -= 1;
            site.tell(|| "store: a read fails".to_owned());
            return Err(Error::Io("the disk did not answer".into()));
        }
        Ok(&self.memory)
    }
}

/// Ready the second time.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Journal for SimJournal {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let heard = {
            let mut site = lock(&self.site);
            if site.queue.epoch != self.epoch {
                return Err(Error::Closed.into());
            }
            let (answer, heard) = oneshot::channel();
            site.queue.waiting.push_back(Waiting { append, answer });
            heard
        };
        heard.await.unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        self.reading().await?.read(stream, after, limit).await
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        self.reading().await?.tail(after, limit).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.memory.watch()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        self.reading().await?.chain(stream).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.reading().await?.blob(digest).await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<KeyRecord>, Error> {
        self.reading().await?.key(scope, key).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        self.reading().await?.run(run).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        self.reading().await?.runs(filter, after, limit).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        self.reading().await?.interrupt(id).await
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        self.reading().await?.interrupts(filter, after, limit).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.reading().await?.grant(id).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        self.reading().await?.grants(filter, after, limit).await
    }

    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.reading().await?.runnable(limit).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<RunId>, Error> {
        self.reading().await?.due(now, limit).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        self.reading().await?.next_deadline().await
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        self.reading().await?.streams(after, limit).await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        self.reading().await?.replace_rows(rows).await
    }
}
