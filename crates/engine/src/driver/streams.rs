//! Cache of the state of sessions and of the installation, which decisions about runs need. A cached state can be used
//! until another writer changes the stream. After such a change, the guard of the next append fails, and the stream is
//! read again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use holdshort_core::actor::Actor;
use holdshort_core::delivery::Delivery;
use holdshort_core::envelope::{self, Chain};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{Id, SessionId, StreamId};
use holdshort_core::notice::CheckpointNotice;
use holdshort_core::people::{PeopleSource, Roster};
use holdshort_core::policy::Rule;
use holdshort_core::session::Session;
use holdshort_core::system::checkpoint::SendCheckpoint;
use holdshort_core::system::{self, System};
use holdshort_store::{Append, AppendError, Journal, Key, Rows, StreamAppend};

use super::{Driver, lock};
use crate::{Clock, Error, Executor};

/// Maximum number of cached sessions. When the map is full, it is emptied.
const SESSIONS: usize = 1_024;
pub(super) const ATTEMPTS: usize = 10;

struct CachedStream<T> {
    state: Option<(Arc<T>, Chain)>,
    /// True if the stream may have events that the cached state lacks. The missing events must be read before the state
    /// is used again.
    stale: bool,
    /// Highest sequence number of the stream that this process knows. A slow reader or writer may deliver an older
    /// state. An older state is not cached, because nothing would cause a refresh.
    at_least: u64,
}

impl<T> Default for CachedStream<T> {
    fn default() -> Self {
        Self { state: None, stale: false, at_least: 0 }
    }
}

impl<T> CachedStream<T> {
    fn keep(&mut self, state: Arc<T>, chain: Chain) {
        if chain.seq >= self.at_least {
            self.at_least = chain.seq;
            self.state = Some((state, chain));
            self.stale = false;
        }
    }

    /// Records that the stream has an event with the sequence number `seq`. Returns false if the cached state already
    /// contains the event.
    fn note_event(&mut self, seq: u64) -> bool {
        self.at_least = self.at_least.max(seq);
        let is_news = self.state.as_ref().is_none_or(|(_, chain)| chain.seq < seq);
        self.stale |= is_news;
        is_news
    }
}

#[derive(Default)]
pub(super) struct Streams {
    sessions: Mutex<BTreeMap<SessionId, CachedStream<Session>>>,
    system: Mutex<CachedStream<System>>,
    /// Streams with appends whose result is not known. The value is the sequence number of the stream before these
    /// appends, and the number of these appends. A cached session with this sequence number is read again before use.
    unanswered: Mutex<BTreeMap<StreamId, (u64, u32)>>,
}

impl Streams {
    pub(super) fn forget(&self, stream: &StreamId) {
        match stream {
            StreamId::Session(id) => {
                if let Some(kept) = lock(&self.sessions).get_mut(id) {
                    kept.stale = true;
                }
            }
            StreamId::System => lock(&self.system).stale = true,
            StreamId::Run(_) => {}
        }
    }

    /// Records that a stream has an event with the sequence number `seq`. An older cached state is read again at the
    /// next use. Returns false if the cached state already contains the event.
    pub(super) fn note_event(&self, stream: &StreamId, seq: u64) -> bool {
        match stream {
            StreamId::Session(id) => self.with_cached_session(id, |kept| kept.note_event(seq)),
            StreamId::System => lock(&self.system).note_event(seq),
            StreamId::Run(_) => true,
        }
    }

    fn with_cached_session<R>(
        &self,
        id: &SessionId,
        with: impl FnOnce(&mut CachedStream<Session>) -> R,
    ) -> R {
        let mut sessions = lock(&self.sessions);
        if sessions.len() >= SESSIONS && !sessions.contains_key(id) {
            sessions.clear();
        }
        with(sessions.entry(id.clone()).or_default())
    }

    /// Records that an append to the stream, after its event `end`, is in progress.
    pub(super) fn appends(&self, stream: &StreamId, end: u64) {
        let mut unanswered = lock(&self.unanswered);
        let (at, many) = unanswered.entry(stream.clone()).or_insert((end, 0));
        if *at < end {
            // The stream has grown. Therefore earlier pending appends were not written, and can never be written.
            (*at, *many) = (end, 0);
        }
        *many += u32::from(*at == end);
    }

    /// Records that the result of an append to the stream, after its event `end`, is now known.
    pub(super) fn answered(&self, stream: &StreamId, end: u64) {
        let mut unanswered = lock(&self.unanswered);
        let Some((_, many)) = unanswered.get_mut(stream).filter(|(at, _)| *at == end) else { return };
        *many -= 1;
        if *many == 0 {
            let _nobody_appends = unanswered.remove(stream);
        }
    }

    /// Returns true if the stream may have events after `end` that this process does not know, because the result of an
    /// append is unknown.
    fn may_have_more(&self, stream: &StreamId, end: u64) -> bool {
        let mut unanswered = lock(&self.unanswered);
        let Some((at, _)) = unanswered.get(stream) else { return false };
        if *at < end {
            unanswered.remove(stream);
            return false;
        }
        true
    }

    pub(super) fn keep_session(&self, session: Arc<Session>, chain: Chain) {
        let id = session.id.clone();
        self.with_cached_session(&id, |kept| kept.keep(session, chain));
    }
}

/// The result of applying an input to the installation.
struct SystemChange {
    before: Arc<System>,
    events: Vec<Event>,
    now: Arc<System>,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub async fn session(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        if self.is_shared() {
            self.streams.forget(&StreamId::Session(id.clone()));
        }
        Ok(self.session_chain(id).await?.0)
    }

    pub(super) fn session_chain<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<(Arc<Session>, Chain), Error>> {
        Box::pin(async move {
            let stream = StreamId::Session(id.clone());
            let known = lock(&self.streams.sessions).get(id).map(|kept| (kept.state.clone(), kept.stale));
            let (session, chain) = match known {
                Some((Some((session, chain)), stale)) => {
                    if !stale && !self.streams.may_have_more(&stream, chain.seq) {
                        return Ok((session, chain));
                    }
                    (session, chain)
                }
                Some((None, _)) | None => (Arc::new(Session::new(id.clone())), Chain::START),
            };
            let (session, chain) = fold(&*self.journal, &stream, session, chain, Session::apply).await?;
            self.clock.observe(session.last_at);
            self.streams.keep_session(session.clone(), chain);
            Ok((session, chain))
        })
    }

    /// Returns the cached state of the installation. The state may lack recent changes of other nodes. If a decision
    /// depends on such a change, its append fails because of the guards, and the decision is repeated.
    pub async fn glance_system(&self) -> Result<Arc<System>, Error> {
        Ok(self.system_chain().await?.0)
    }

    pub async fn system(&self) -> Result<Arc<System>, Error> {
        if self.is_shared() {
            self.streams.forget(&StreamId::System);
        }
        Ok(self.system_chain().await?.0)
    }

    /// Returns the state of the installation, in which expired keys are removed. If a key has expired since the last
    /// call, `keep_up` checks the interrupts that are assigned to the key.
    pub(super) fn system_chain(&self) -> BoxFuture<'_, Result<(Arc<System>, Chain), Error>> {
        Box::pin(async move {
            let (system, chain) = self.folded_system().await?;
            let Some(now) = system.without_expired(self.clock.now()).map(Arc::new) else {
                return Ok((system, chain));
            };
            lock(&self.streams.system).keep(now.clone(), chain);
            self.reevaluate_later();
            Ok((now, chain))
        })
    }

    async fn folded_system(&self) -> Result<(Arc<System>, Chain), Error> {
        let (known, stale) = {
            let kept = lock(&self.streams.system);
            (kept.state.clone(), kept.stale)
        };
        let (system, chain) = match known {
            Some((system, chain)) => {
                if !stale && !self.streams.may_have_more(&StreamId::System, chain.seq) {
                    return Ok((system, chain));
                }
                (system, chain)
            }
            None => (Arc::default(), Chain::START),
        };
        let (system, chain) = fold(&*self.journal, &StreamId::System, system, chain, System::apply).await?;
        if let Some(at) = system.last_at() {
            self.clock.observe(at);
        }
        lock(&self.streams.system).keep(system.clone(), chain);
        Ok((system, chain))
    }

    /// Changes the installation, for example freezes or unfreezes it or sets the policy. After an unfreeze, waiting
    /// runs continue.
    pub async fn change_system(
        self: &Arc<Self>,
        input: system::Input,
        actor: Actor,
    ) -> Result<Arc<System>, Error> {
        let SystemChange { before, events, now } = self.write_system(input, actor).await?;
        self.people_changed(&events, &before).await;
        if now.freezes.lifts(&before.freezes) {
            self.sweep().await?;
        }
        Ok(now)
    }

    /// Replaces all people that come from the given source. A person of this source who is missing from `roster` is
    /// removed. The working hours of groups are replaced in the same way. The background task `keep_up` checks the open
    /// interrupts afterwards.
    pub async fn set_people(self: &Arc<Self>, source: PeopleSource, roster: Roster) -> Result<(), Error> {
        self.reevaluate_later();
        let Roster { people, hours } = roster;
        self.write_system(system::Input::SetAllHours { source, hours }, Actor::engine()).await?;
        self.write_system(system::Input::SetPeople { source, people }, Actor::engine()).await.map(drop)
    }

    /// Sets the rules of the installation. The background task `keep_up` checks the open interrupts afterwards, even if
    /// the rules are unchanged: an earlier process may have set the same rules and stopped before the check.
    pub async fn set_rules(&self, rules: Vec<Rule>) -> Result<(), Error> {
        self.revote_later();
        self.write_system(system::Input::SetPolicy { rules }, Actor::engine()).await.map(drop)
    }

    /// Notifies channels of a signed checkpoint, in the append that records it. Does nothing if a node recorded a
    /// checkpoint less than `every_ms` ago.
    pub async fn notify_checkpoint(&self, notice: &CheckpointNotice, every_ms: u64) -> Result<(), Error> {
        let tell = SendCheckpoint { covered: notice.covered, every_ms };
        let deliveries = self.checkpoint_deliveries(notice);
        let input = system::Input::TellCheckpoint(tell);
        self.write_system_with_deliveries(input, Actor::engine(), &deliveries).await?;
        self.told.notify_one();
        Ok(())
    }

    async fn write_system(&self, input: system::Input, actor: Actor) -> Result<SystemChange, Error> {
        self.write_system_with_deliveries(input, actor, &[]).await
    }

    /// Changes the installation, and notifies channels of the first event of the change.
    async fn write_system_with_deliveries(
        &self,
        input: system::Input,
        actor: Actor,
        deliveries: &[Delivery],
    ) -> Result<SystemChange, Error> {
        let _one = self.changing_system.lock().await;
        // The system is read again. With a stale cache, an input could seem to have no effect. For example, a freeze
        // would be skipped although another node has lifted the previous freeze.
        if self.is_shared() {
            self.streams.forget(&StreamId::System);
        }
        for _ in 0..ATTEMPTS {
            let (current, chain) = self.system_chain().await?;
            let events = current.handle(self.clock.now(), &actor, input.clone())?;
            if events.is_empty() {
                return Ok(SystemChange { before: current.clone(), events, now: current });
            }
            let of_it = |delivery: &Delivery| Delivery { seq: chain.seq + 1, ..delivery.clone() };
            let more = Append { deliveries: deliveries.iter().map(of_it).collect(), ..Append::default() };
            if self.append_beside(&events, chain, more).await?.is_some() {
                let now = self.system().await?;
                return Ok(SystemChange { before: current, events, now });
            }
        }
        Err(Error::Busy)
    }

    /// Appends events of one session or of the system. Returns the new last position of the stream's hash chain.
    /// Returns `None` after a conflict with another writer.
    pub(super) async fn append_plain(
        &self,
        events: &[Event],
        chain: Chain,
        rows: Rows,
        keys: Vec<Key>,
    ) -> Result<Option<Chain>, Error> {
        self.append_beside(events, chain, Append { rows, keys, ..Append::default() }).await
    }

    /// Appends events to one stream, together with the other content of the append in `more`.
    async fn append_beside(
        &self,
        events: &[Event],
        mut chain: Chain,
        more: Append,
    ) -> Result<Option<Chain>, Error> {
        let expected = chain.seq;
        let stream = events[0].stream.clone();
        let mut draw = holdshort_core::id::Draw::new(self.clock.seed(), self.clock.now());
        let sealed = events.iter().map(|event| envelope::seal(event, &mut chain, &mut draw)).collect();
        let append = Append {
            streams: vec![StreamAppend { stream: stream.clone(), expected, events: sealed }],
            ..more
        };
        self.streams.appends(&stream, expected);
        let appended = self.journal.append(append).await;
        self.streams.answered(&stream, expected);
        // The stream must be read again, because the append may have been written despite the error.
        self.streams.forget(&stream);
        match appended {
            Ok(_) => {
                self.metrics.appended();
                self.streams.note_event(&stream, chain.seq);
                self.notify_followers(&stream, chain.seq);
                Ok(Some(chain))
            }
            Err(AppendError::Conflict { .. } | AppendError::KeyTaken(_) | AppendError::Driven) => Ok(None),
            Err(AppendError::Malformed(why)) => Err(Error::Internal(why)),
            Err(AppendError::Store(error)) => Err(error.into()),
        }
    }

    /// Returns a new session id. The stream of a session that a run creates has no events until, for example, a grant
    /// is given in the session.
    pub(super) fn new_session(&self) -> SessionId {
        let mut draw = holdshort_core::id::Draw::new(self.clock.seed(), self.clock.now());
        let id: SessionId = draw.id();
        debug_assert!(id.as_str().starts_with(SessionId::PREFIX));
        id
    }
}

pub(crate) async fn system_of(journal: &impl Journal) -> Result<Arc<System>, Error> {
    Ok(fold(journal, &StreamId::System, Arc::default(), Chain::START, System::apply).await?.0)
}

/// Returns the current state of a stream: starts from the given state, which is the state at `chain`, and applies all
/// later events. Copies the given state only if there are later events.
async fn fold<T: Clone>(
    journal: &impl Journal,
    stream: &StreamId,
    mut state: Arc<T>,
    mut chain: Chain,
    apply: impl Fn(&mut T, &Event),
) -> Result<(Arc<T>, Chain), Error> {
    const PAGE: usize = 500;
    loop {
        let page = journal.read(stream, chain.seq, PAGE).await?;
        for sealed in &page {
            let event = event::open(sealed, &mut chain)
                .map_err(|source| Error::Damaged { run: stream.to_string(), source })?;
            apply(Arc::make_mut(&mut state), &event);
        }
        if page.len() < PAGE {
            return Ok((state, chain));
        }
    }
}
