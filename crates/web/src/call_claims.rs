//! The connections of clients to this node, and the choice of the connection whose client runs a call.
//!
//! A client may run a call only after the journal has recorded that the client has claimed the call
//! (`interrupt_claimed`). Across all nodes, only one client can claim a call. This module stores the connections of
//! this node. A call that no connected client has claimed is sent to the newest connection of its session. When a
//! connection closes, the claims of its client end, so that another client can claim the calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{About, Claim, ClaimHolder, Interrupt};
use holdshort_core::run::{Input, Run};
use holdshort_engine::Error;
use holdshort_protocol::Code;
use holdshort_store::Leases;
use tokio::sync::Notify;

use crate::app::App;
use crate::auth::Caller;
use crate::limits::{LET_GO_ATTEMPTS, LET_GO_PAUSE};
use crate::problem::{Answer, Refused};

/// Owner of a client session, and name of the session. The connections of the session are stored under this key.
pub type Key = (String, String);

#[derive(Default)]
pub struct Clients {
    /// Number of this server process among the nodes that share the journal.
    node: OnceLock<u64>,
    connected: Mutex<Connected>,
}

#[derive(Default)]
struct Connected {
    last: u64,
    by_session: HashMap<Key, SessionConnections>,
}

/// Connections of one client session, which has at least one.
#[derive(Default)]
struct SessionConnections {
    /// Connections of the session by their number. The connection with the highest number is the newest.
    clients: BTreeMap<u64, Arc<Notify>>,
    /// Calls that were sent to clients of the session in completed HTTP responses. The clients that received the
    /// responses run these calls, even if they disconnect.
    kept: BTreeSet<InterruptId>,
}

/// Connection of a client that runs calls. Dropping the value ends the connection.
pub struct Client {
    clients: Arc<Clients>,
    caller: Caller,
    key: Key,
    holder: ClaimHolder,
    /// Signal that a different connection of the same session has closed.
    left: Arc<Notify>,
    held: Mutex<ClientCalls>,
}

#[derive(Default)]
struct ClientCalls {
    calls: BTreeMap<InterruptId, RunId>,
    told: BTreeSet<InterruptId>,
    /// Runs in which the client decided on a call over its connection. A call that the client approved may become ready
    /// later, and is then sent over the same connection.
    decided_in: BTreeSet<RunId>,
    /// True once the HTTP response to the client is complete. From then on, the client will run the calls in the
    /// response, even if it disconnects.
    is_over: bool,
}

impl Clients {
    pub async fn connect(self: &Arc<Self>, caller: Caller, key: Key) -> Answer<Client> {
        let node = self.node(&caller.app).await?;
        let left = Arc::new(Notify::new());
        let mut connected = self.lock();
        connected.last += 1;
        let number = connected.last;
        connected.by_session.entry(key.clone()).or_default().clients.insert(number, left.clone());
        drop(connected);
        let holder = ClaimHolder { node, number };
        Ok(Client { clients: self.clone(), caller, key, holder, left, held: Mutex::default() })
    }

    async fn node(&self, app: &App) -> Answer<u64> {
        if let Some(node) = self.node.get() {
            return Ok(*node);
        }
        let nodes = app.journal().nodes().await?;
        // This node is not in the list if its lease has expired. In that case it is unknown if its claims are still
        // valid.
        let here = nodes.iter().find(|node| node.here).ok_or_else(|| Refused::from_code(Code::Busy))?.node;
        Ok(*self.node.get_or_init(|| here))
    }

    /// Returns true if the client that has claimed a call is still connected. A connection to another node is assumed
    /// to be open while that node is alive.
    async fn is_connected(&self, app: &App, holder: &ClaimHolder) -> Answer<bool> {
        if self.node.get() == Some(&holder.node) {
            let connected = self.lock();
            return Ok(connected.by_session.values().any(|each| each.clients.contains_key(&holder.number)));
        }
        let nodes = app.journal().nodes().await?;
        Ok(nodes.iter().any(|node| node.node == holder.node && node.alive))
    }

    fn lock(&self) -> MutexGuard<'_, Connected> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// Records that the client decides on a call of the run over this connection. Returns the claim holder that is
    /// recorded with the decision.
    pub fn decides_in(&self, run: &RunId) -> ClaimHolder {
        self.held().decided_in.insert(run.clone());
        self.holder.clone()
    }

    fn held(&self) -> MutexGuard<'_, ClientCalls> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the client's connection is the newest connection of its session on this node.
    fn is_newest(&self) -> bool {
        let connected = self.clients.lock();
        let newest = connected.by_session.get(&self.key).and_then(|each| each.clients.last_key_value());
        newest.is_some_and(|(number, _)| *number == self.holder.number)
    }

    /// Claims a call that has just become ready to run, if the client of this connection must run it. Returns true if
    /// the client must run the call.
    pub async fn accept_call(&self, run: &Run, handed_out: &Interrupt) -> Answer<bool> {
        match &handed_out.claim {
            Some(claim) if claim.holder.as_ref() == Some(&self.holder) => {
                self.has(run, handed_out);
                Ok(true)
            }
            _ if !self.is_newest() || self.is_kept(&handed_out.opened.interrupt) => Ok(false),
            claim => match claim {
                None => self.claim(run, handed_out, None).await,
                // Either the client that approved the call has disconnected, or a person approved the call in the
                // inbox, where no call can run.
                Some(claim) => self.take_over_claim(run, handed_out, claim).await,
            },
        }
    }

    async fn take_over_claim(&self, run: &Run, handed_out: &Interrupt, claim: &Claim) -> Answer<bool> {
        if let Some(holder) = &claim.holder
            && self.clients.is_connected(&self.caller.app, holder).await?
        {
            return Ok(false);
        }
        self.claim(run, handed_out, Some(claim.seq)).await
    }

    /// Returns true if a completed HTTP response contained the call. The client that received this response runs the
    /// call, even if it has disconnected.
    fn is_kept(&self, handed_out: &InterruptId) -> bool {
        self.clients.lock().by_session.get(&self.key).is_some_and(|room| room.kept.contains(handed_out))
    }

    /// Like [`Self::accept_call`], for a call that was ready before the client connected. Also claims a call that an
    /// earlier HTTP response contained, because the client of that response may be gone.
    pub async fn accept_earlier_call(&self, run: &Run, handed_out: &Interrupt) -> Answer<bool> {
        if let Some(room) = self.clients.lock().by_session.get_mut(&self.key) {
            room.kept.remove(&handed_out.opened.interrupt);
        }
        self.accept_call(run, handed_out).await
    }

    /// Records in the journal that the client claims a call. The first client whose claim is recorded runs the call.
    /// `over` is the event number of an earlier claim that this claim replaces.
    async fn claim(&self, run: &Run, handed_out: &Interrupt, over: Option<u64>) -> Answer<bool> {
        let interrupt = handed_out.opened.interrupt.clone();
        let input = Input::Claim { interrupt, holder: Some(self.holder.clone()), over };
        let sent = self.caller.app.send(&run.id, input, self.caller.actor.clone()).await;
        match sent.map_err(Refused::from) {
            Ok(_) => {
                self.has(run, handed_out);
                Ok(true)
            }
            Err(refused)
                if matches!(
                    refused.code(),
                    Code::AlreadyClaimed | Code::AlreadyResolved | Code::RunEnded
                ) =>
            {
                Ok(false)
            }
            // Too many clients have already claimed this call. The call stays open, and clients can still find it in
            // the list of open calls.
            Err(refused) if refused.code() == Code::LimitReached => {
                tracing::warn!(run = %run.id, "a call is no longer offered to clients, because too many \
                    clients have already claimed it: {}", refused.0.detail);
                Ok(false)
            }
            Err(refused) => Err(refused),
        }
    }

    fn has(&self, run: &Run, handed_out: &Interrupt) {
        self.held().calls.insert(handed_out.opened.interrupt.clone(), run.id.clone());
    }

    /// Marks a claimed call as sent to the client. Returns true if this connection had claimed the call and not yet
    /// marked it.
    pub fn mark_as_sent(&self, handed_out: &InterruptId) -> bool {
        let mut held = self.held();
        held.calls.contains_key(handed_out) && held.told.insert(handed_out.clone())
    }

    /// Removes a call that has ended from the calls of the client's connection and its session.
    pub fn over(&self, handed_out: &InterruptId) {
        let mut held = self.held();
        held.calls.remove(handed_out);
        held.told.remove(handed_out);
        drop(held);
        if let Some(room) = self.clients.lock().by_session.get_mut(&self.key) {
            room.kept.remove(handed_out);
        }
    }

    /// Resolves when another connection of the same session closes.
    pub async fn left(&self) {
        self.left.notified().await;
    }

    /// Marks the HTTP response to the client as complete. The client will run the calls in the response, even if it
    /// disconnects.
    pub fn ended(&self) {
        self.held().is_over = true;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let ClientCalls { calls, told, decided_in, is_over } = std::mem::take(&mut *self.held());
        let keeps = |call: &InterruptId| is_over && told.contains(call);
        let mut connected = self.clients.lock();
        if let Some(room) = connected.by_session.get_mut(&self.key) {
            room.clients.remove(&self.holder.number);
            room.kept.extend(calls.keys().filter(|call| keeps(call)).cloned());
            for other in room.clients.values() {
                other.notify_one();
            }
            if room.clients.is_empty() {
                connected.by_session.remove(&self.key);
            }
        }
        drop(connected);
        let runs: BTreeSet<RunId> = calls.into_values().chain(decided_in).collect();
        // If there is no runtime, the process and all its connections are ending. The next client that connects takes
        // over the calls.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (caller, holder) = (self.caller.clone(), self.holder.clone());
        let kept: BTreeSet<InterruptId> = told.into_iter().filter(|_| is_over).collect();
        if !runs.is_empty() {
            runtime.spawn(async move {
                for run in runs {
                    release_claims(&caller, &run, &holder, &kept).await;
                }
            });
        }
    }
}

/// Releases the claims of a client whose connection has closed. This includes claims on approved calls that were not
/// sent yet. The calls in `kept` stay claimed.
async fn release_claims(caller: &Caller, run: &RunId, holder: &ClaimHolder, kept: &BTreeSet<InterruptId>) {
    for _ in 0..LET_GO_ATTEMPTS {
        let mut failed = None;
        let claimed = match caller.app.run_now(run).await {
            Ok(run) => claimed_by(&run, holder),
            Err(error) => {
                failed = Some(error);
                Vec::new()
            }
        };
        for interrupt in claimed.into_iter().filter(|each| !kept.contains(each)) {
            let input = Input::Release { interrupt, holder: Some(holder.clone()) };
            match caller.app.send(run, input, caller.actor.clone()).await {
                // Another client has claimed the call in the meantime.
                Ok(_) | Err(Error::Rejected(_)) => {}
                Err(error) => failed = Some(error),
            }
        }
        let Some(error) = failed else { return };
        tracing::warn!(%run, %error, "the calls of a disconnected client could not be released yet");
        tokio::time::sleep(LET_GO_PAUSE).await;
    }
}

fn claimed_by(run: &Run, holder: &ClaimHolder) -> Vec<InterruptId> {
    let is_theirs =
        |each: &Interrupt| each.claim.as_ref().is_some_and(|claim| claim.holder.as_ref() == Some(holder));
    let is_to_run = |each: &Interrupt| match &each.opened.about {
        About::Call(call) => run.calls.get(call).is_some_and(|call| !call.is_ended()),
        _ => false,
    };
    let theirs = run.interrupts.iter().filter(|(_, each)| is_theirs(each) && is_to_run(each));
    theirs.map(|(id, _)| id.clone()).collect()
}
