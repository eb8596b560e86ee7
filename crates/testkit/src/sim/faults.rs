//! What goes wrong. Each simulation has some of these, so that none hides what another one would show.

use super::choices::Choices;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Every node dies, tools in the middle too; the next process opens the store.
    Crash,
    /// Another node joins.
    Join,
    /// One of several nodes dies. The others find out when its lease is over.
    Die,
    /// A node's renewals do not come through any more, and its clock may stand still too; or they do again.
    Late,
    /// A whole process stands still while its tools go on; or it wakes up, and knows nothing of it.
    Freeze,
    /// Another process takes over a store of one node while the tools of the one before still run.
    TakeOver,
    /// An append fails, and nothing is written.
    Full,
    /// An append is written, and whoever asked hears of an error.
    Unheard,
    /// An append is not written, and whoever asked can not know.
    Lost,
    /// Reads fail.
    Reads,
    /// The wall clock jumps: everybody's, or a node's.
    Jump,
    /// What a node does by itself begins anew: what had rung for it is forgotten.
    LostWake,
    /// A task goes on that nobody woke.
    Wake,
    /// An answer comes twice.
    Twice,
    /// Whoever sent a request goes away in the middle.
    GiveUp,
    /// Somebody changes a file who asks nobody.
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

/// How one simulation is: its store, its faults, its length, its end.
#[expect(clippy::struct_excessive_bools, reason = "each is a coin of its own")]
pub(super) struct Climate {
    pub(super) faults: Vec<Fault>,
    pub(super) turns: usize,
    /// Several nodes may open the store.
    pub(super) shared: bool,
    /// Appends lie in the queue while much else goes on.
    pub(super) slow: bool,
    /// Now and then a text is written that was written before.
    pub(super) same_texts: bool,
    /// Whether the calm at the end begins with a restart.
    pub(super) ends_with_restart: bool,
    /// Faults are rare.
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

    /// One fault in four: long conversations must get to their end.
    pub(super) fn mild(self) -> Self {
        Self { mild: true, ..self }
    }
}
