//! Which connection of a session is handed a call that is to run: exactly one, for two IDEs that both run it are one
//! too many. What is here is about connections alone, of this node; a run knows nothing of it.
//!
//! The connection that approved a call gets it, else the newest one. Where that one breaks the newest that is left
//! gets it; an answer over HTTP that came to its end keeps what it was handed, until somebody connects anew.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Hands(Mutex<Rooms>);

/// Whose session it is, and its name.
pub(super) type Key = (String, String);

#[derive(Default)]
struct Rooms {
    last: u64,
    by_session: HashMap<Key, Room>,
}

/// A session that somebody is connected to.
#[derive(Default)]
struct Room {
    /// By their numbers: the last one is the newest.
    seats: BTreeMap<u64, Arc<Notify>>,
    calls: BTreeMap<String, Hold>,
}

#[derive(Default)]
struct Hold {
    approved_by: Option<u64>,
    by: Option<u64>,
    told: bool,
    /// The connection that had it is gone.
    moved: bool,
    /// Results of it that have come, and are about to be taken or refused.
    results: u32,
    /// Nothing is left to run of it.
    is_over: bool,
}

/// A connection's place at its session. Dropping it is leaving.
pub(super) struct Seat {
    hands: Arc<Hands>,
    key: Key,
    number: u64,
    moved: Arc<Notify>,
    ended: AtomicBool,
}

/// A call that is this connection's to run.
pub(super) struct Claim {
    pub(super) approved_here: bool,
}

/// A call's result is on its way: as long as this is there nobody is handed the call. Dropped without a word, whoever
/// was to be handed it meanwhile still is.
pub(super) struct Answering<'a> {
    seat: &'a Seat,
    call: &'a str,
}

impl Hands {
    pub(super) fn seat(self: &Arc<Self>, key: Key) -> Seat {
        let moved = Arc::new(Notify::new());
        let mut rooms = self.lock();
        rooms.last += 1;
        let number = rooms.last;
        rooms.by_session.entry(key.clone()).or_default().seats.insert(number, moved.clone());
        drop(rooms);
        Seat { hands: self.clone(), key, number, moved, ended: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, Rooms> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hold {
    fn matters(&self) -> bool {
        self.by.is_some() || self.approved_by.is_some() || self.is_answered()
    }

    fn is_answered(&self) -> bool {
        self.results > 0 || self.is_over
    }
}

impl Room {
    fn is_there(&self, seat: Option<u64>) -> bool {
        seat.is_some_and(|seat| self.seats.contains_key(&seat))
    }

    fn ring(&self, seat: Option<u64>) {
        if let Some(bell) = seat.and_then(|seat| self.seats.get(&seat)) {
            bell.notify_one();
        }
    }

    fn leave(&mut self, number: u64, ended: bool) {
        self.seats.remove(&number);
        let Some((&newest, bell)) = self.seats.last_key_value() else { return };
        for hold in self.calls.values_mut().filter(|hold| hold.by == Some(number)) {
            if ended && hold.told {
                continue;
            }
            hold.by = Some(newest);
            hold.told = false;
            hold.moved = true;
            bell.notify_one();
        }
    }
}

impl Seat {
    fn with<T>(&self, look: impl FnOnce(&mut Room) -> T) -> T {
        look(self.hands.lock().by_session.entry(self.key.clone()).or_default())
    }

    /// Whose decision lets a call run. Said before the decision is made: what follows from it may be read at once.
    pub(super) fn approving(&self, call: &str) {
        self.with(|room| {
            let hold = room.calls.entry(call.to_owned()).or_default();
            if hold.by.is_none() && hold.approved_by.is_none() {
                hold.approved_by = Some(self.number);
            }
        });
    }

    /// The decision was not taken.
    pub(super) fn not_approved(&self, call: &str) {
        self.with(|room| {
            if let Some(hold) = room.calls.get_mut(call)
                && hold.approved_by == Some(self.number)
            {
                hold.approved_by = None;
                room.calls.retain(|_, hold| hold.matters());
            }
        });
    }

    /// Its result is here.
    pub(super) fn answering<'a>(&'a self, call: &'a str) -> Answering<'a> {
        self.with(|room| room.calls.entry(call.to_owned()).or_default().results += 1);
        Answering { seat: self, call }
    }

    /// Nothing is left to run of it. Kept as long as somebody is here: whoever read the run before may come to hand it
    /// out later.
    pub(super) fn over(&self, call: &str) {
        self.with(|room| room.calls.entry(call.to_owned()).or_default().is_over = true);
    }

    /// For a call that has just become one to run: whether it is this connection's.
    pub(super) fn claim(&self, call: &str) -> Option<Claim> {
        self.with(|room| {
            let newest = room.seats.last_key_value().map(|(newest, _)| *newest);
            let approved_by = room.calls.get(call).and_then(|hold| hold.approved_by);
            let first = approved_by.filter(|seat| room.seats.contains_key(seat)).or(newest);
            let hold = room.calls.entry(call.to_owned()).or_default();
            hold.by = hold.by.or(first);
            let is_ours = hold.by == Some(self.number) && !hold.told && !hold.is_answered();
            is_ours.then_some(Claim { approved_here: approved_by == Some(self.number) })
        })
    }

    /// For a call that is to run already when this connection comes: whether nobody else has it.
    pub(super) fn take(&self, call: &str) -> bool {
        self.with(|room| {
            let (by, approved_by) =
                room.calls.get(call).map_or((None, None), |hold| (hold.by, hold.approved_by));
            let other = if by.is_some() { by } else { approved_by };
            if other != Some(self.number) && room.is_there(other) {
                return false;
            }
            let hold = room.calls.entry(call.to_owned()).or_default();
            hold.by = Some(self.number);
            hold.told = false;
            hold.moved = false;
            !hold.is_answered()
        })
    }

    /// The last look before the call goes out, which it does once.
    pub(super) fn tell(&self, call: &str) -> bool {
        self.with(|room| {
            let Some(hold) = room.calls.get_mut(call) else { return false };
            let goes = hold.by == Some(self.number) && !hold.told && !hold.is_answered();
            hold.told |= goes;
            hold.moved &= !goes;
            goes
        })
    }

    /// Resolves when a call has become this connection's because another one left.
    pub(super) async fn moved(&self) {
        self.moved.notified().await;
    }

    /// Such calls, as long as they have not been told.
    pub(super) fn taken_over(&self) -> Vec<String> {
        self.with(|room| {
            let ours =
                |hold: &Hold| hold.by == Some(self.number) && hold.moved && !hold.told && !hold.is_answered();
            room.calls.iter().filter(|(_, hold)| ours(hold)).map(|(call, _)| call.clone()).collect()
        })
    }

    /// An answer over HTTP has come to its end: its client has what it was handed.
    pub(super) fn ended(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl Answering<'_> {
    /// The result was taken.
    pub(super) fn taken(self) {
        self.seat.over(self.call);
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.seat.with(|room| {
            let Some(hold) = room.calls.get_mut(self.call) else { return };
            hold.results -= 1;
            if hold.is_answered() {
                return;
            }
            hold.moved |= !hold.told;
            let by = hold.by;
            room.ring(by);
            room.calls.retain(|_, hold| hold.matters());
        });
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let ended = self.ended.load(Ordering::Relaxed);
        let mut rooms = self.hands.lock();
        let Some(room) = rooms.by_session.get_mut(&self.key) else { return };
        room.leave(self.number, ended);
        if room.seats.is_empty() {
            rooms.by_session.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats<const N: usize>() -> (Arc<Hands>, [Seat; N]) {
        let hands = Arc::new(Hands::default());
        let seats = std::array::from_fn(|_| hands.seat(("me".to_owned(), "s".to_owned())));
        (hands, seats)
    }

    #[test]
    fn a_call_goes_to_the_newest_or_to_who_approved_it_and_once() {
        let (_, [old, new]) = seats();
        assert!(old.claim("free").is_none() && new.claim("free").is_some());
        assert!(new.tell("free") && !new.tell("free") && !old.tell("free"));
        old.approving("asked");
        assert!(new.claim("asked").is_none());
        assert!(old.claim("asked").is_some_and(|claim| claim.approved_here));
        // What was not decided gives no claim.
        old.approving("refused");
        old.not_approved("refused");
        assert!(new.claim("refused").is_some());
    }

    #[test]
    fn who_leaves_leaves_its_calls_to_the_newest_unless_its_answer_had_ended() {
        let (hands, [first, second, third]) = seats();
        assert!(third.claim("a").is_some() && third.tell("a"));
        drop(third);
        assert_eq!((second.taken_over(), first.taken_over()), (vec!["a".to_owned()], vec![]));
        assert!(second.tell("a") && second.taken_over().is_empty());
        second.ended();
        drop(second);
        assert!(first.taken_over().is_empty() && first.claim("a").is_none());
        let later = hands.seat(("me".to_owned(), "s".to_owned()));
        assert!(later.take("a") && later.tell("a") && !first.take("a"));
        drop((first, later));
        assert!(hands.lock().by_session.is_empty());
    }

    #[test]
    fn what_has_its_result_is_not_handed_out_unless_the_result_was_refused() {
        let (_, [only]) = seats();
        only.approving("a");
        assert!(only.claim("a").is_some());
        let (first, second) = (only.answering("a"), only.answering("a"));
        assert!(!only.tell("a") && only.claim("a").is_none());
        drop(first);
        assert!(only.taken_over().is_empty());
        drop(second);
        assert_eq!(only.taken_over(), ["a"]);
        drop(only.answering("made up"));
        assert!(!only.hands.lock().by_session[&only.key].calls.contains_key("made up"));
        only.answering("a").taken();
        assert!(only.taken_over().is_empty() && !only.take("a") && only.claim("a").is_none());
    }
}
