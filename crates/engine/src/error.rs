//! What can go wrong between an input and its append.

use holdshort_core::id::RunId;
use holdshort_core::schema::Problem;
use holdshort_core::{envelope, run, session, system};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no such run, session or interrupt")]
    NotFound,
    #[error(transparent)]
    Rejected(#[from] run::Rejection),
    #[error(transparent)]
    Session(#[from] session::Rejection),
    #[error(transparent)]
    System(#[from] system::Rejection),
    #[error("the request does not fit")]
    Start(Vec<Problem>),
    /// The same idempotency key came with another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// Somebody else used the same idempotency key meanwhile. Nothing was written.
    #[error("the idempotency key was used meanwhile")]
    KeyTaken,
    /// Somebody else has begun the next run of the conversation meanwhile. Nothing was written.
    #[error("the conversation has gone on meanwhile")]
    FrontTaken,
    /// What a run changed can not be taken back. Nothing was written.
    #[error(transparent)]
    Undo(run::undo::NotUndone),
    /// The answer itself is erased, and so is what was reused of it in other runs. Sent again, it erases the rest.
    #[error(
        "the answer is erased, but what was reused of it is held from that in {}: lift these holds, and erase it again",
        listed(.0)
    )]
    ReuseHeld(Vec<RunId>),
    /// No run lives that would hear it, and none can begin.
    #[error("nothing can begin in this session")]
    NothingBegins,
    /// The run can not be read: it stops, others go on.
    #[error("run {run} can not be read: {source}")]
    Damaged { run: String, source: envelope::Error },
    /// The workflow that the run pins is not in the journal.
    #[error("run {run} pins a workflow that the journal does not hold")]
    NoDefinition { run: RunId },
    /// It is there as it was written, and this binary does not understand it.
    #[error("run {run} pins a workflow that this binary can not read: a newer version wrote it")]
    NewDefinition { run: RunId },
    #[error(transparent)]
    Store(#[from] holdshort_store::Error),
    /// A mistake of ours; nothing was written.
    #[error("internal: {0}")]
    Internal(String),
    /// Others changed the same streams again and again; nothing was written.
    #[error("too many others change this at once; try again")]
    Busy,
}

impl Error {
    /// Whether a run, or the workflow that it pins, can not be read: nothing is known of it, and others go on.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::NoDefinition { .. } | Self::NewDefinition { .. })
    }

    /// Whether what is there is what was written, and only this binary can not read it. Hashes are compared before
    /// anything is read.
    pub fn is_of_another_version(&self) -> bool {
        match self {
            Self::NewDefinition { .. } => true,
            Self::Damaged { source, .. } => {
                matches!(source, envelope::Error::FromTheFuture { .. } | envelope::Error::Unreadable { .. })
            }
            _ => false,
        }
    }
}

/// Some of them, and how many more there are.
fn listed(runs: &[RunId]) -> String {
    const LISTED: usize = 10;
    let more = runs.len().saturating_sub(LISTED);
    let mut listed: Vec<String> = runs.iter().take(LISTED).map(ToString::to_string).collect();
    listed.extend((more > 0).then(|| format!("{more} more")));
    listed.join(", ")
}
