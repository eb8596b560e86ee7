//! The state that handlers use. A handler gets this state from an extractor in `auth.rs`, together with the caller's
//! identity.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use holdshort_core::actor::Actor;
use holdshort_core::envelope::Sealed;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::projection::{InterruptRow, RunRow};
use holdshort_core::run::{Input, Run};
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::SandboxLevel;
use holdshort_engine::evidence::Evidence;
use holdshort_engine::real::{Previews, RealDriver};
use holdshort_engine::rebuild::event_at;
use holdshort_engine::traces::Traces;
use holdshort_engine::{Clock, Error, IdempotencyKey};
use holdshort_models::Description;
use holdshort_protocol::Code;
use holdshort_store::{Store, Tables};
use holdshort_workflow::Library;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tracing::Instrument;

use crate::access::{KeyUsage, Newest};
use crate::callbacks::Callbacks;
use crate::connections::Connections;
use crate::edge_page::EdgePage;
use crate::feed::{Owners, Recent};
use crate::identity::jwt::Issuers;
use crate::interrupt_ref::InterruptRef;
use crate::links::{Links, Pressed};
use crate::logins::Logins;
use crate::pace::Pace;
use crate::problem::{Answer, Refused};
use crate::push::Push;
use crate::quota::Allowances;
use crate::rate::Rates;
use crate::secrets;
use crate::sign_in::SignIns;
use crate::tokens::Tokens;
use crate::webhooks::Webhooks;

pub struct App {
    pub driver: Arc<RealDriver>,
    pub evidence: Evidence<Store>,
    pub previews: Previews,
    pub recent: Recent,
    pub owners: Owners,
    pub library: Arc<Library>,
    pub model: Description,
    pub sandbox: SandboxLevel,
    pub data: PathBuf,
    pub tokens: Tokens,
    pub logins: Logins,
    pub issuers: Issuers,
    pub sign_ins: SignIns,
    /// Page of another system whose scripts may call one edge (a compatible API of this server) with a cookie.
    pub page: Option<EdgePage>,
    pub links: Links,
    pub pressed: Pressed,
    pub webhooks: Webhooks,
    pub callbacks: Callbacks,
    pub push: Push,
    /// Exporter of traces; `None` if the server exports no traces.
    pub traces: Option<Arc<Traces>>,
    /// Base URL of the links that the server creates: the public URL, or the address on which the server listens.
    pub base: String,
    pub public_url: Option<String>,
    /// Error that prevents the use of the current certificate files. The received value is `None` if the files are
    /// usable, and the outer option is `None` if the server does not use TLS.
    pub certificate: Option<watch::Receiver<Option<String>>>,
    pub streams: Arc<Semaphore>,
    pub polls: Arc<Semaphore>,
    /// Permits for trial runs of the commands of external agents. The number of permits limits the trials that run at
    /// the same time.
    pub trials: Arc<Semaphore>,
    pub pace: Pace,
    pub connections: Arc<Connections>,
    pub agents: Rates,
    pub allowances: Allowances,
    pub used: KeyUsage,
    pub newest: Newest,
    /// People, keys and settings of the installation, as they were last published to open sockets, streams and long
    /// polls.
    pub standing: watch::Receiver<Arc<System>>,
    /// Signal that becomes true when the server stops. All waiting requests then end.
    pub stopping: watch::Receiver<bool>,
}

impl App {
    pub fn journal(&self) -> &Store {
        self.driver.journal()
    }

    pub fn now(&self) -> Timestamp {
        self.driver.clock().now()
    }

    /// Returns the row of a run in the list of runs. For a run in memory, the row is computed; any other row is read
    /// from the store.
    pub async fn run_row(&self, id: &RunId) -> Answer<RunRow> {
        if let Some(row) = self.driver.current(id).await.and_then(|run| run.row()) {
            return Ok(row);
        }
        self.journal().run(id).await?.ok_or_else(|| Refused::not_found("run"))
    }

    /// Returns the current state of a run: from memory if the run is loaded, or replayed from the run's events.
    pub async fn run_now(&self, id: &RunId) -> Result<Arc<Run>, Error> {
        self.driver.now(id).await
    }

    /// Returns the id of an existing interrupt with the id of its run. If the run is in memory, the store is not read.
    pub async fn find_interrupt(&self, id: &InterruptId) -> Answer<InterruptRef> {
        match self.driver.asker(id) {
            Some(run) => Ok(InterruptRef { run, interrupt: id.clone() }),
            None => Ok(self.interrupt_row(id).await?.into()),
        }
    }

    /// Returns the row of an interrupt in the list of interrupts. The row is computed if the interrupt's run is in
    /// memory, and read from the store if not.
    pub async fn interrupt_row(&self, id: &InterruptId) -> Answer<InterruptRow> {
        let asker = self.driver.current_asker(id).await;
        if let Some(row) = asker.and_then(|run| run.interrupt_rows([id]).pop()) {
            return Ok(row);
        }
        self.journal().interrupt(id).await?.ok_or_else(|| Refused::not_found("interrupt"))
    }

    /// Returns the event `seq` of a journal stream. A missing event is an error, because the journal is then damaged.
    pub async fn event(&self, stream: &StreamId, seq: u64) -> Answer<Event> {
        event_at(self.journal(), stream, seq)
            .await?
            .ok_or_else(|| Refused::new(Code::JournalDamaged, format!("the event {stream}/{seq} is missing")))
    }

    /// Decodes an event as the store returns it. A stored event that cannot be decoded is an error.
    pub fn decode_event(&self, sealed: &Sealed) -> Answer<Event> {
        let damaged = |source| Error::Damaged { run: sealed.stream.to_string(), source };
        Ok(event::decode(sealed).map_err(damaged)?)
    }

    pub async fn send(&self, run: &RunId, input: Input, actor: Actor) -> Result<Arc<Run>, Error> {
        let (driver, run) = (self.driver.clone(), run.clone());
        detached(async move { driver.send(&run, input, actor).await }).await
    }

    /// Sends an input for a run to the engine. If several requests have the same idempotency key, the input is sent
    /// only once.
    pub async fn send_once(
        &self,
        run: &RunId,
        input: Input,
        key: IdempotencyKey,
        actor: Actor,
    ) -> Result<(), Error> {
        let (driver, run) = (self.driver.clone(), run.clone());
        detached(async move { driver.send_once(&run, input, Some(key), actor).await }).await.map(drop)
    }

    /// Returns true if a request with this idempotency key has already been carried out.
    pub async fn is_used(&self, key: &IdempotencyKey) -> Result<bool, Error> {
        Ok(self.driver.made_with(Some(key)).await?.is_some())
    }

    /// Returns the URL at which a login code signs a browser in. The code is in the fragment of this URL, after `#`, so
    /// it is not part of any request line, log or `Referer` header.
    pub fn login_url(&self, code: &str) -> String {
        format!("{}/login#{code}", self.base)
    }

    /// Reserves one of the streams whose number the server limits. Dropping the permit frees the stream.
    pub fn reserve_stream(&self) -> Answer<OwnedSemaphorePermit> {
        self.streams.clone().try_acquire_owned().map_err(|_| Refused::from_code(Code::TooManyStreams))
    }

    /// Resolves when the server stops.
    pub async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // If the sender was dropped, the server has also stopped.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}

/// Runs blocking work, such as disk access, on a thread for blocking work.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, secrets::Error> + Send + 'static,
) -> Answer<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        Err(error) => {
            tracing::error!(%error, "a task that reads or writes files did not complete");
            Err(Refused::from_code(Code::Internal))
        }
    }
}

/// Runs `work` until it is complete even if the client disconnects, because a committed change must take full effect.
/// While the client is connected, `work` runs in the task of the request. The log lines of `work` contain the request
/// id in both cases.
pub async fn detached<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    Carried(Some(Box::pin(work.in_current_span()))).await
}

/// Work that moves to a separate task if its future is dropped before the work is complete.
struct Carried<T: Send + 'static>(Option<Work<T>>);

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<T: Send + 'static> Future for Carried<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // The work is taken out of the option, so that it is not polled again after a panic.
        let Some(mut work) = self.0.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Carried<T> {
    fn drop(&mut self) {
        // If there is no runtime, the process is ending. The next start of the server continues the work.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_change_goes_on_when_nobody_waits_for_it_any_more() {
        let (go, going) = oneshot::channel::<()>();
        let (done, told) = oneshot::channel();
        let mut change = Box::pin(detached(async move {
            let _ = going.await;
            let _ = done.send("carried out");
        }));
        assert!(futures::poll!(&mut change).is_pending());
        drop(change);
        go.send(()).unwrap();
        assert_eq!(told.await, Ok("carried out"));
    }
}
