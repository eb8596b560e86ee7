//! A mutant breaks the engine in one way. With it, a test proves that the simulator detects this defect.
//!
//! The driver itself is not changed. A mutant changes the driver's journal, its executor, its clock, or the way in
//! which it is started.

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

/// Maximum number of seeds that are played until a mutant is detected.
const SEEDS: u64 = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Defect of the simulated store: an append is accepted even if its streams do not end where the append expects.
    DropTheCompareAndSet,
    /// Defect of the simulated store: an append is accepted even if the session or the installation has changed.
    DropTheGuards,
    /// Defect: idempotency keys are not written to the store.
    ForgetKeys,
    /// Defect: when an event about an interrupt is written, the database row of the interrupt is not.
    ForgetRows,
    /// Defect: work begins before the event that permits it is written.
    AnswerBeforeWriting,
    /// Defect: the store writes the append, but reports that it is full.
    SayFullAfterWriting,
    /// Defect: after a restart, a process uses the driver number (epoch) that it had before.
    KeepTheEpoch,
    /// Defect: nodes do not look for runs that no node drives, for example after a crash or a lost response.
    NeverSweep,
    /// Defect: deadlines have no effect.
    KeepNoTime,
    /// Defect: neither the driver nor the tool checks if a file still has the content that was shown to a person.
    BelieveWhatWasShown,
    /// Defect: a tool runs with other arguments than those that were approved.
    RunSomethingElse,
    /// Defect: each job is performed twice.
    WorkTwice,
    /// Defect: if a crash interrupts a commit, the commit is treated as complete.
    ForgetTheRest,
    /// Defect: the commit of a changeset overwrites files without checking their present content.
    WriteOverOthers,
    /// Defect: the commit of a changeset leaves out the last path.
    LeaveTheLast,
    /// Defect: an undo leaves out the last path of its changes.
    UndoInPart,
    /// Defect: if the store refuses the result of a job, the result is not sent again.
    LoseAnswers,
    /// Defect: an append is accepted even if another living node drives the run.
    IgnoreLeases,
    /// Defect: nodes do not take over the runs of a dead node.
    ClaimNothing,
    /// Defect: each node chooses its driver numbers (epochs) without asking the store.
    SameEpochForAll,
    /// Defect: no node ever checks if its lease has expired.
    HoldForEver,
    /// Defect: a node that has lost a part of its work treats all its work as lost, even what is still running.
    AdoptEverything,
    /// Defect: when sessions or the installation are read, the last event is missing.
    ReadWhatWas,
    /// Defect: the session records a wrong sequence number for a message in a run.
    ForgetWhatWasSaid,
    /// Defect: one vote resolves an interrupt even if two are required.
    ForgetTheQuorum,
    /// Defect: a claim is recorded for a person who has not claimed the interrupt.
    ClaimForAnother,
    /// Defect: a copilot's round begins, but the event which records that a person wanted this round is missing.
    ForgetTheWord,
    /// Defect: a person ends the work of a copilot, but another round follows.
    GoOnAfterTheEnd,
    /// Defect: the decision of a router about a task is written twice.
    RouteTwice,
    /// Defect: a tool call has its result, but a phase that the call began never ends.
    LeaveThePhaseOpen,
    /// Defect: a changeset is committed before the event that names it is written.
    CommitBeforeWriting,
    /// Defect: answers about one subject are used again for another subject.
    MixSubjects,
    /// Defect: questions never expire.
    ForgetTheTime,
    /// Defect: the deliveries that belong to an append are left out.
    DropDeliveries,
    /// Defect: each delivery is written twice, with two different ids.
    TellTwice,
    /// Defect: an append is refused, but the deliveries that belong to it are written.
    TellWhatWasRefused,
    /// Defect: a delivery is recorded as delivered before its message is sent.
    SettleBeforeSending,
    /// Defect: a node sends a delivery without first recording that it has claimed it.
    ForgetToClaim,
    /// Defect: when a channel is disabled, all waiting deliveries of the channel are dropped.
    DropWithTheChannel,
    /// Defect: when messages are sent, every interrupt is treated as open.
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

    /// Plays seeds until the witness detects the mutant. Returns the report of that simulation. Begins with the seeds
    /// that have failed before, because these reach rare states.
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

/// Falsifies the deliveries that a node has just claimed.
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
    /// Returns the append in the form in which a store with the defect would write it.
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

    /// Renumbers the events of an append, so that they follow the present end of their stream.
    fn moved(&self, part: StreamAppend) -> StreamAppend {
        let Some(end) = self.end(&part).filter(|end| end.seq != part.expected) else { return part };
        self.resealed(part, end, |event| vec![event])
    }

    /// Changes each event of the append, if the append will be accepted.
    fn change(&self, append: &mut Append, change: impl Fn(&mut Event)) {
        self.replace(append, |mut event| {
            change(&mut event);
            vec![event]
        });
    }

    /// Replaces each event of the append, if the append will be accepted.
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
