//! Injected faults. In each simulation, only some kinds of faults occur. If all occurred, one fault could hide the
//! effect of another.

use super::choices::Choices;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// All simulated nodes die, and their running tools too. Then a new process opens the store.
    Crash,
    Join,
    /// One of several simulated nodes dies. The other nodes notice this when the lease of the dead node expires.
    Die,
    /// A simulated node stops renewing its lease, and possibly its clock stops too. At the next fault of this kind, the
    /// node begins to renew its lease again.
    Late,
    /// The process of a simulated node is suspended, but its tools continue to run. At the next fault of this kind, the
    /// process continues, and does not notice that it was suspended.
    Freeze,
    /// A second process opens a store that is for one node only, while tools of the first process are still running.
    TakeOver,
    /// An append to the simulated journal fails, and nothing is written.
    Full,
    /// An append to the simulated journal is written, but the caller receives an error.
    Unheard,
    /// An append to the simulated journal is not written, and the caller gets an error that does not tell if it was.
    Lost,
    Reads,
    /// The wall clock of one simulated node, or of all nodes, jumps.
    Jump,
    /// The background task of a simulated node is restarted, and notifications that the task has not handled are lost.
    LostWake,
    /// A task of the simulation is polled although nothing has woken it.
    Wake,
    /// The result of a simulated job is delivered to the driver twice.
    Twice,
    /// The sender of a request to a simulated node stops waiting before the request is complete.
    GiveUp,
    /// A file of the simulated workspace changes although no run writes to it.
    File,
}

const ALL: [Fault; 16] = [
    Fault::Crash,
    Fault::Join,
    Fault::Die,
    Fault::Late,
    Fault::Freeze,
    Fault::TakeOver,
    Fault::Full,
    Fault::Unheard,
    Fault::Lost,
    Fault::Reads,
    Fault::Jump,
    Fault::LostWake,
    Fault::Wake,
    Fault::Twice,
    Fault::GiveUp,
    Fault::File,
];

/// Conditions of one simulation: the kind of its store, its faults, its length and its end.
#[expect(clippy::struct_excessive_bools, reason = "each flag is drawn independently")]
pub(super) struct Climate {
    pub(super) faults: Vec<Fault>,
    pub(super) turns: usize,
    /// True if several nodes may use the simulated store at the same time.
    pub(super) shared: bool,
    /// True if appends can wait in the queue of the simulated journal for many turns.
    pub(super) slow: bool,
    /// True if texts that simulated tools write may be the same as texts that were written before.
    pub(super) same_texts: bool,
    /// True if the part without faults, at the end of the simulation, begins with a restart.
    pub(super) ends_with_restart: bool,
    pub(super) mild: bool,
}

impl Climate {
    pub(super) fn new(choices: &mut Choices) -> Self {
        Self {
            faults: ALL.into_iter().filter(|_| choices.one_in(2)).collect(),
            turns: 300 + choices.below(900),
            shared: !choices.one_in(3),
            slow: choices.one_in(3),
            same_texts: choices.one_in(3),
            ends_with_restart: choices.one_in(2),
            mild: false,
        }
    }

    /// Makes the faults of a simulation four times less frequent. With more faults, long conversations would not reach
    /// their end.
    pub(super) fn mild(self) -> Self {
        Self { mild: true, ..self }
    }
}
