//! The engine broken on purpose, one way at a time: a simulator that does not notice is no proof.
//!
//! Each is a twist in what stands around the driver: its journal, its executor, its clock and its start.

use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::envelope::{self, Chain};
use holdshort_core::event::{self, Event};
use holdshort_core::id::Draw;
use holdshort_core::interrupt::{Assignment, Kind};
use holdshort_core::run::Fact;
use holdshort_core::session;
use holdshort_engine::Clock;
use holdshort_store::{Append, Error, Log, Outbox, Settled, StreamAppend};

use futures::FutureExt;

use super::site::Site;
use super::store::Store;
use super::{COPILOTS_FROM, OUTBOX_FROM, Played, QUESTIONS_FROM, TALKS_FROM, TRIALS_FROM, failed_once, play};

/// Seeds that a mutant may live through.
const SEEDS: u64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// An append does not care where its streams end.
    DropTheCompareAndSet,
    /// An append does not care whether the session or the installation changed.
    DropTheGuards,
    /// A key is not kept.
    ForgetKeys,
    /// The rows of interrupts are not written with their events.
    ForgetRows,
    /// Work begins before what explains it is written.
    AnswerBeforeWriting,
    /// The store says that nothing was written when it was.
    SayFullAfterWriting,
    /// A restarted process does not know that it is another one.
    KeepTheEpoch,
    /// What a crash or a lost answer left behind is not looked for.
    NeverSweep,
    /// Deadlines pass.
    KeepNoTime,
    /// Neither the driver nor the tool looks whether a file is as it was shown.
    BelieveWhatWasShown,
    /// A tool runs with other arguments than were approved.
    RunSomethingElse,
    /// A job is done twice.
    WorkTwice,
    /// A commit that a crash cut off is taken for done.
    ForgetTheRest,
    /// A commit looks at no file before it writes it.
    WriteOverOthers,
    /// A commit leaves the last path out.
    LeaveTheLast,
    /// An undo knows nothing of the path that comes last.
    UndoInPart,
    /// An answer that the store refuses is not brought again.
    LoseAnswers,
    /// An append is taken from a node although another living one drives the run.
    IgnoreLeases,
    /// What another node left behind is nobody's.
    ClaimNothing,
    /// Nodes draw their epochs each for itself.
    SameEpochForAll,
    /// A node never looks whether its lease is over.
    HoldForEver,
    /// A node that lost some of its work takes over all of it, what it is still at too.
    AdoptEverything,
    /// What is read of sessions and of the installation is old by an event.
    ReadWhatWas,
    /// What is said in a run is not noted in its session.
    ForgetWhatWasSaid,
    /// One person is enough wherever two are asked for.
    ForgetTheQuorum,
    /// A claim is written down in somebody else's name.
    ClaimForAnother,
    /// A round begins, and that a person wanted one is not written.
    ForgetTheWord,
    /// A person says that the work is over, and another round follows.
    GoOnAfterTheEnd,
    /// What routed a task is written twice.
    RouteTwice,
    /// A phase that a call began never ends, and its call has its result.
    LeaveThePhaseOpen,
    /// A changeset is committed before the event that names it is written.
    CommitBeforeWriting,
    /// Answers of one subject are taken for those of another one.
    MixSubjects,
    /// Questions have no time.
    ForgetTheTime,
    /// An append leaves out what channels are told of it.
    DropDeliveries,
    /// Each delivery is written twice, under two ids.
    TellTwice,
    /// What channels are told of an append is written, and the append is refused.
    TellWhatWasRefused,
    /// A delivery is written down as delivered before it is sent.
    SettleBeforeSending,
    /// Who sends a delivery does not say so.
    ForgetToClaim,
    /// A channel is disabled, and whatever waits is dropped.
    DropWithTheChannel,
    /// Whoever sends believes that whatever is asked is open.
    AskWhatIsDecided,
}

impl Mutant {
    pub const ALL: [Self; 40] = [
        Self::DropTheCompareAndSet,
        Self::DropTheGuards,
        Self::ForgetKeys,
        Self::ForgetRows,
        Self::AnswerBeforeWriting,
        Self::SayFullAfterWriting,
        Self::KeepTheEpoch,
        Self::NeverSweep,
        Self::KeepNoTime,
        Self::BelieveWhatWasShown,
        Self::RunSomethingElse,
        Self::WorkTwice,
        Self::ForgetTheRest,
        Self::WriteOverOthers,
        Self::LeaveTheLast,
        Self::UndoInPart,
        Self::LoseAnswers,
        Self::IgnoreLeases,
        Self::ClaimNothing,
        Self::SameEpochForAll,
        Self::HoldForEver,
        Self::AdoptEverything,
        Self::ReadWhatWas,
        Self::ForgetWhatWasSaid,
        Self::ForgetTheQuorum,
        Self::ClaimForAnother,
        Self::ForgetTheWord,
        Self::GoOnAfterTheEnd,
        Self::RouteTwice,
        Self::LeaveThePhaseOpen,
        Self::CommitBeforeWriting,
        Self::MixSubjects,
        Self::ForgetTheTime,
        Self::DropDeliveries,
        Self::TellTwice,
        Self::TellWhatWasRefused,
        Self::SettleBeforeSending,
        Self::ForgetToClaim,
        Self::DropWithTheChannel,
        Self::AskWhatIsDecided,
    ];

    /// Returns the first seed that shows it. The seeds that failed once come first: they lead to places that few seeds reach.
    pub fn noticed(self) -> Option<Played> {
        // Those that it needs people for who talk.
        let talks = matches!(self, Self::ForgetWhatWasSaid | Self::ForgetTheQuorum | Self::ClaimForAnother);
        let from = match self {
            Self::ForgetTheRest
            | Self::WriteOverOthers
            | Self::LeaveTheLast
            | Self::UndoInPart
            | Self::CommitBeforeWriting => TRIALS_FROM,
            Self::ForgetTheWord | Self::GoOnAfterTheEnd | Self::RouteTwice | Self::LeaveThePhaseOpen => {
                COPILOTS_FROM
            }
            Self::MixSubjects | Self::ForgetTheTime => QUESTIONS_FROM,
            Self::DropDeliveries
            | Self::TellTwice
            | Self::TellWhatWasRefused
            | Self::SettleBeforeSending
            | Self::ForgetToClaim
            | Self::DropWithTheChannel
            | Self::AskWhatIsDecided => OUTBOX_FROM,
            _ if talks => TALKS_FROM,
            _ => 0,
        };
        failed_once()
            .filter(|seed| *seed >= from)
            .chain(from..from + SEEDS)
            .map(|seed| play(seed, Some(self)))
            .find(|played| played.problem.is_some())
    }
}

/// Whether a changeset is committed once this is written.
pub(super) fn starts_a_commit(append: &Append) -> bool {
    let mut events = append.streams.iter().flat_map(|part| &part.events);
    events.any(|sealed| {
        event::decode(sealed).is_ok_and(|event| {
            matches!(event.fact, event::Fact::Run(Fact::ToolStarted { changeset: Some(_), .. }))
        })
    })
}

/// A node has claimed these, in a broken way.
pub(super) async fn claimed(mutant: Mutant, store: &Store, claimed: &[Delivery]) -> Result<(), Error> {
    for delivery in claimed {
        let delivery = match mutant {
            Mutant::ForgetToClaim => Delivery { node: None, ..delivery.clone() },
            Mutant::SettleBeforeSending => Delivery {
                node: None,
                state: DeliveryState::Delivered,
                next_at: None,
                ended_at: delivery.next_at,
                ..delivery.clone()
            },
            _ => continue,
        };
        store.settle_delivery(Settled { delivery, attempt: None }).await?;
    }
    Ok(())
}

impl Site {
    /// The append as a broken store would take it.
    pub(super) fn mutated(&self, mut append: Append) -> Append {
        match self.mutant {
            Some(Mutant::DropTheCompareAndSet) => {
                let streams = std::mem::take(&mut append.streams);
                append.streams = streams.into_iter().map(|part| self.moved(part)).collect();
            }
            Some(Mutant::AdoptEverything) => self.change(&mut append, |event| {
                if let event::Fact::Run(Fact::Adopted { kept, .. }) = &mut event.fact {
                    kept.clear();
                }
            }),
            Some(Mutant::ForgetTheQuorum) => self.change(&mut append, |event| {
                if let event::Fact::Run(Fact::InterruptOpened(opened)) = &mut event.fact {
                    opened.assignment = Assignment::default();
                }
            }),
            Some(Mutant::ForgetTheTime) => self.change(&mut append, |event| {
                if let event::Fact::Run(Fact::InterruptOpened(opened)) = &mut event.fact
                    && opened.kind == Kind::Question
                {
                    opened.expires_at = None;
                }
            }),
            Some(Mutant::ClaimForAnother) => self.change(&mut append, |event| {
                if let event::Fact::Run(Fact::InterruptClaimed { by, .. }) = &mut event.fact {
                    by.push('x');
                }
            }),
            Some(Mutant::ForgetWhatWasSaid) => self.change(&mut append, |event| {
                if let event::Fact::Session(session::Fact::Said { seq, .. }) = &mut event.fact {
                    *seq = 1;
                }
            }),
            Some(Mutant::ForgetTheWord) => self.replace(&mut append, |event| match &event.fact {
                event::Fact::Run(Fact::RoundWanted { .. }) => Vec::new(),
                _ => vec![event],
            }),
            Some(Mutant::GoOnAfterTheEnd) => self.change(&mut append, |event| {
                if let event::Fact::Run(fact) = &mut event.fact
                    && let Fact::RoundsOver { phase } = fact
                {
                    let phase = phase.clone();
                    *fact = Fact::RoundWanted { phase, round: 2, new_task: false, fresh: false };
                }
            }),
            Some(Mutant::RouteTwice) => self.replace(&mut append, |event| match &event.fact {
                event::Fact::Run(Fact::TaskRouted { .. }) => vec![event.clone(), event],
                _ => vec![event],
            }),
            Some(Mutant::LeaveThePhaseOpen) => self.replace(&mut append, |event| match &event.fact {
                event::Fact::Run(Fact::PhaseEnded { phase, .. }) if phase.starts_with("of:") => Vec::new(),
                _ => vec![event],
            }),
            Some(Mutant::DropDeliveries) => append.deliveries.clear(),
            Some(Mutant::TellTwice) => {
                let mut draw = Draw::new(self.clock.seed(), self.clock.now());
                let again: Vec<Delivery> = append
                    .deliveries
                    .iter()
                    .map(|each| Delivery { delivery: draw.id(), ..each.clone() })
                    .collect();
                append.deliveries.extend(again);
            }
            Some(Mutant::DropTheGuards) => append.guards.clear(),
            Some(Mutant::ForgetKeys) => append.keys.clear(),
            Some(Mutant::ForgetRows) => append.rows.interrupts.clear(),
            _ => {}
        }
        append
    }

    /// The same events at the end of their stream, wherever that is.
    fn moved(&self, part: StreamAppend) -> StreamAppend {
        let Some(end) = self.end(&part).filter(|end| end.seq != part.expected) else { return part };
        self.resealed(part, end, |event| vec![event])
    }

    /// The same events, each changed a little, where the append is going to be taken.
    fn change(&self, append: &mut Append, change: impl Fn(&mut Event)) {
        self.replace(append, |mut event| {
            change(&mut event);
            vec![event]
        });
    }

    /// Other events in the place of each.
    fn replace(&self, append: &mut Append, by: impl Fn(Event) -> Vec<Event>) {
        for part in &mut append.streams {
            let Some(end) = self.end(part).filter(|end| end.seq == part.expected) else { continue };
            *part = self.resealed(part.clone(), end, &by);
        }
    }

    fn end(&self, part: &StreamAppend) -> Option<Chain> {
        self.store.chain(&part.stream).now_or_never().and_then(Result::ok)
    }

    fn resealed(&self, part: StreamAppend, end: Chain, by: impl Fn(Event) -> Vec<Event>) -> StreamAppend {
        let (mut chain, expected) = (end, end.seq);
        let mut draw = Draw::new(self.clock.seed(), self.clock.now());
        // Each as it was written: what stands before it may be more or less than it was.
        let events = part.events.iter().filter_map(|sealed| event::decode(sealed).ok()).flat_map(by);
        let events = events.map(|event| envelope::seal(&event, &mut chain, &mut draw)).collect();
        StreamAppend { stream: part.stream, expected, events }
    }
}
