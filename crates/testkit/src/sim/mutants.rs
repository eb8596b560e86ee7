//! Mutants. A mutant breaks the engine in one way, to prove that the simulator notices the defect.
//!
//! A mutant does not change the driver, but only its journal, its executor, its clock or its start.

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
use super::{
    COPILOTS_FROM, OUTBOX_FROM, QUESTIONS_FROM, SimulationReport, TALKS_FROM, TRIALS_FROM, failed_once, play,
};

/// Maximum number of seeds that are played to find a simulation in which a mutant is detected.
const SEEDS: u64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// An append does not check the expected end of its streams.
    DropTheCompareAndSet,
    /// An append does not check if the session or the installation has changed.
    DropTheGuards,
    /// Idempotency keys are not stored.
    ForgetKeys,
    /// The rows of interrupts are not written with their events.
    ForgetRows,
    /// Work begins before the event that authorizes the work is written.
    AnswerBeforeWriting,
    /// The store reports that it is full although it has written the append.
    SayFullAfterWriting,
    /// A restarted process uses its previous epoch again.
    KeepTheEpoch,
    /// Nodes do not look for work without a driver, which a crash or a lost response leaves behind.
    NeverSweep,
    /// Deadlines have no effect.
    KeepNoTime,
    /// Neither the driver nor the tool checks that a file still has the content that a person saw.
    BelieveWhatWasShown,
    /// A tool runs with arguments that were not approved.
    RunSomethingElse,
    /// A job is done twice.
    WorkTwice,
    /// A commit that a crash interrupted is treated as complete.
    ForgetTheRest,
    /// A commit writes files without checking their content first.
    WriteOverOthers,
    /// A commit leaves out the last path.
    LeaveTheLast,
    /// An undo leaves out the last path.
    UndoInPart,
    /// A result that the store refuses is not sent again.
    LoseAnswers,
    /// An append of a node is accepted although another living node drives the run.
    IgnoreLeases,
    /// Nodes do not claim runs that a dead node left behind.
    ClaimNothing,
    /// Each node chooses its epochs by itself.
    SameEpochForAll,
    /// A node never checks if its lease has expired.
    HoldForEver,
    /// A node that lost one part of its work adopts all its work, including work that still runs.
    AdoptEverything,
    /// Reads of sessions and of the installation omit the last event.
    ReadWhatWas,
    /// The session records a message of a run with a wrong sequence.
    ForgetWhatWasSaid,
    /// One person's vote is enough where two votes are required.
    ForgetTheQuorum,
    /// A claim is written under the name of a person who did not claim.
    ClaimForAnother,
    /// A round begins without the event that a person wanted the round.
    ForgetTheWord,
    /// A person says that the work is over, but one more round follows.
    GoOnAfterTheEnd,
    /// The routing of a task is written twice.
    RouteTwice,
    /// A phase that a call began never ends, although the call has its result.
    LeaveThePhaseOpen,
    /// A changeset is committed before the event that names the changeset is written.
    CommitBeforeWriting,
    /// Answers about one subject are reused for a different subject.
    MixSubjects,
    /// Questions never expire.
    ForgetTheTime,
    /// An append does not contain its deliveries.
    DropDeliveries,
    /// Each delivery is written twice, under two different ids.
    TellTwice,
    /// An append is refused, but its deliveries are written.
    TellWhatWasRefused,
    /// A delivery is recorded as delivered before it is sent.
    SettleBeforeSending,
    /// A node sends a delivery without recording that it has claimed the delivery.
    ForgetToClaim,
    /// Disabling a channel drops all waiting deliveries of the channel.
    DropWithTheChannel,
    /// Senders treat every interrupt as open.
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

    /// Searches for a simulation in which the witness detects the mutant. Returns the report of the first one. Plays
    /// the seeds that have failed before first, because they reach rare states.
    pub fn noticed(self) -> Option<SimulationReport> {
        // Only simulations in which people talk show these mutants.
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

pub(super) fn starts_a_commit(append: &Append) -> bool {
    let mut events = append.streams.iter().flat_map(|part| &part.events);
    events.any(|sealed| {
        event::decode(sealed).is_ok_and(|event| {
            matches!(event.fact, event::Fact::Run(Fact::ToolStarted { changeset: Some(_), .. }))
        })
    })
}

/// Falsifies the deliveries that a node has claimed.
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
    /// Returns the append as a broken store would write it.
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

    /// Moves the events to the current end of their stream.
    fn moved(&self, part: StreamAppend) -> StreamAppend {
        let Some(end) = self.end(&part).filter(|end| end.seq != part.expected) else { return part };
        self.resealed(part, end, |event| vec![event])
    }

    /// Changes each event of an append, if the append will be accepted.
    fn change(&self, append: &mut Append, change: impl Fn(&mut Event)) {
        self.replace(append, |mut event| {
            change(&mut event);
            vec![event]
        });
    }

    /// Replaces each event of an append, if the append will be accepted.
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
        // Each event is sealed again, because the previous events may have changed.
        let events = part.events.iter().filter_map(|sealed| event::decode(sealed).ok()).flat_map(by);
        let events = events.map(|event| envelope::seal(&event, &mut chain, &mut draw)).collect();
        StreamAppend { stream: part.stream, expected, events }
    }
}
