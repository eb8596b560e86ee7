//! The connections of this node's clients, and which of them is to run a call.
//!
//! A call is a client's once the journal says so (`interrupt_claimed`): whichever node it is connected to, one client
//! has it. What is kept here is which connections there are. The newest of a session takes what nobody approved; one
//! that leaves lets go what it has.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{About, Holder, Interrupt, Kind};
use holdshort_core::run::{Input, Run};
use holdshort_protocol::Code;
use holdshort_store::Leases;
use holdshort_web::app::App;
use holdshort_web::auth::Caller;
use holdshort_web::problem::Answer;
use tokio::sync::Notify;

/// Whose session it is, and its name.
pub(super) type Key = (String, String);

#[derive(Default)]
pub(super) struct Clients {
    /// How this node is called in the journal.
    node: OnceLock<u64>,
    connected: Mutex<Connected>,
}

#[derive(Default)]
struct Connected {
    last: u64,
    /// By their numbers: the last one is the newest.
    by_session: HashMap<Key, BTreeMap<u64, Arc<Notify>>>,
}

/// One connection. Dropping it is leaving.
pub(super) struct Client {
    clients: Arc<Clients>,
    caller: Caller,
    key: Key,
    holder: Holder,
    /// Another connection of the session has left.
    left: Arc<Notify>,
    held: Mutex<Held>,
}

/// The calls that a connection has.
#[derive(Default)]
struct Held {
    calls: BTreeMap<InterruptId, RunId>,
    told: BTreeSet<InterruptId>,
    /// Its answer came to its end: its client has what it was told.
    is_over: bool,
}

impl Clients {
    pub(super) async fn connect(self: &Arc<Self>, caller: Caller, key: Key) -> Answer<Client> {
        let node = self.node(&caller.app).await?;
        let left = Arc::new(Notify::new());
        let mut connected = self.lock();
        connected.last += 1;
        let number = connected.last;
        connected.by_session.entry(key.clone()).or_default().insert(number, left.clone());
        drop(connected);
        let holder = Holder { node, number };
        Ok(Client { clients: self.clone(), caller, key, holder, left, held: Mutex::default() })
    }

    async fn node(&self, app: &App) -> Answer<u64> {
        if let Some(node) = self.node.get() {
            return Ok(*node);
        }
        let nodes = app.journal().nodes().await?;
        let here = nodes.iter().find(|node| node.here).map_or(0, |node| node.node);
        Ok(*self.node.get_or_init(|| here))
    }

    /// Whether a connection is there. Of another node it is, as long as that node is.
    async fn is_there(&self, app: &App, holder: &Holder) -> Answer<bool> {
        if self.node.get() == Some(&holder.node) {
            let connected = self.lock();
            return Ok(connected.by_session.values().any(|each| each.contains_key(&holder.number)));
        }
        let nodes = app.journal().nodes().await?;
        Ok(nodes.iter().any(|node| node.node == holder.node && node.alive))
    }

    fn lock(&self) -> MutexGuard<'_, Connected> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    pub(super) fn holder(&self) -> Holder {
        self.holder.clone()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody came to the session after it, as far as this node knows.
    fn is_newest(&self) -> bool {
        let connected = self.clients.lock();
        let newest = connected.by_session.get(&self.key).and_then(|each| each.last_key_value());
        newest.is_some_and(|(number, _)| *number == self.holder.number)
    }

    /// For a call that has just been handed out: whether it is this connection's to run.
    pub(super) async fn takes(&self, run: &Run, handed_out: &Interrupt) -> Answer<bool> {
        match &handed_out.claim {
            Some(claim) if claim.holder.as_ref() == Some(&self.holder) => {
                self.has(run, handed_out);
                Ok(true)
            }
            Some(_) => Ok(false),
            None if self.is_newest() => self.claim(run, handed_out, None).await,
            None => Ok(false),
        }
    }

    /// For a call that was handed out before this connection came, or that another one let go: whether it is this
    /// one's now.
    pub(super) async fn takes_over(&self, run: &Run, handed_out: &Interrupt) -> Answer<bool> {
        let Some(claim) = &handed_out.claim else { return self.takes(run, handed_out).await };
        let Some(holder) = claim.holder.as_ref().filter(|holder| **holder != self.holder) else {
            return self.takes(run, handed_out).await;
        };
        if self.clients.is_there(&self.caller.app, holder).await? {
            return Ok(false);
        }
        self.claim(run, handed_out, Some(claim.seq)).await
    }

    /// The first client to say so in the journal has the call.
    async fn claim(&self, run: &Run, handed_out: &Interrupt, over: Option<u64>) -> Answer<bool> {
        let interrupt = handed_out.opened.interrupt.clone();
        let input = Input::Claim { interrupt, holder: Some(self.holder()), over };
        let sent = self.caller.app.send(&run.id, input, self.caller.actor.clone()).await;
        match sent.map_err(holdshort_web::problem::Refused::from) {
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
            Err(refused) => Err(refused),
        }
    }

    fn has(&self, run: &Run, handed_out: &Interrupt) {
        self.held().calls.insert(handed_out.opened.interrupt.clone(), run.id.clone());
    }

    /// Whether a call of this connection is to be told: once.
    pub(super) fn tells(&self, handed_out: &InterruptId) -> bool {
        let mut held = self.held();
        held.calls.contains_key(handed_out) && held.told.insert(handed_out.clone())
    }

    /// Resolves when another connection of the session has left.
    pub(super) async fn left(&self) {
        self.left.notified().await;
    }

    /// An answer over HTTP has come to its end: its client has what it was told.
    pub(super) fn ended(&self) {
        self.held().is_over = true;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut connected = self.clients.lock();
        if let Some(session) = connected.by_session.get_mut(&self.key) {
            session.remove(&self.holder.number);
            for other in session.values() {
                other.notify_one();
            }
            if session.is_empty() {
                connected.by_session.remove(&self.key);
            }
        }
        drop(connected);
        let Held { calls, told, is_over } = std::mem::take(&mut *self.held());
        let let_go: Vec<_> = calls.into_iter().filter(|(call, _)| !is_over || !told.contains(call)).collect();
        // Without a runtime the process ends, and with it every connection: whoever comes later takes over.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if let_go.is_empty() {
            return;
        }
        let (app, actor, holder) =
            (self.caller.app.clone(), self.caller.actor.clone(), Some(self.holder.clone()));
        runtime.spawn(async move {
            for (interrupt, run) in let_go {
                let input = Input::Release { interrupt, holder: holder.clone() };
                if let Err(error) = app.send(&run, input, actor.clone()).await {
                    tracing::debug!(%run, %error, "a call of a client that left is not let go: it is over");
                }
            }
        });
    }
}

/// The interrupt that hands out a call; `None` where the call is not, or not any more, with a client.
pub(super) fn handed_out<'r>(run: &'r Run, call: &str) -> Option<&'r Interrupt> {
    let mut open = run.open_interrupts().map(|(_, interrupt)| interrupt);
    open.find(|each| {
        each.opened.kind == Kind::ClientCall && each.opened.about == About::Call(call.to_owned())
    })
}
