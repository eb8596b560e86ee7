//! Errors of handling an input and appending its events.

use holdshort_core::id::RunId;
use holdshort_core::schema::Problem;
use holdshort_core::{envelope, run, session, system};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("run, session or interrupt not found")]
    NotFound,
    #[error(transparent)]
    Rejected(#[from] run::Rejection),
    #[error(transparent)]
    Session(#[from] session::Rejection),
    #[error(transparent)]
    System(#[from] system::Rejection),
    #[error("the request is invalid")]
    Start(Vec<Problem>),
    /// An idempotency key was reused for a different request.
    #[error("the idempotency key was already used for a different request")]
    KeyReused,
    /// At the same time, a different request used the same idempotency key. No event was written.
    #[error("the idempotency key was used by a concurrent request")]
    KeyTaken,
    /// At the same time, a different request started the next run of the conversation. No event was written.
    #[error("another request has already continued the conversation")]
    FrontTaken,
    /// The changes of a run cannot be undone. No event was written.
    #[error(transparent)]
    Undo(run::undo::NotUndone),
    /// The answer is erased. The copies of the answer in other runs are erased too, except in the listed runs, which
    /// are under legal hold. After these holds are lifted, repeat the request to erase the remaining copies.
    #[error(
        "the answer is erased, except its reused copies in {}, which are under legal hold: lift these \
        holds, then erase the answer again",
        listed(.0)
    )]
    ReuseHeld(Vec<RunId>),
    /// No run can receive the message: no live run accepts it, and no run can start in the session.
    #[error("the message has no receiver: no run of this session is live, and none can start in it")]
    NothingBegins,
    /// The stored events of the run are unreadable. Only this run stops.
    #[error("run {run} cannot be read: {source}")]
    Damaged { run: String, source: envelope::Error },
    /// The journal does not contain the workflow definition with which the run was started.
    #[error("the workflow definition of run {run} is missing from the journal")]
    NoDefinition { run: RunId },
    /// The journal contains the workflow definition intact, but this version of the program cannot parse it.
    #[error("this binary cannot read the workflow definition of run {run}: a newer version wrote it")]
    NewDefinition { run: RunId },
    #[error(transparent)]
    Store(#[from] holdshort_store::Error),
    /// A bug in Holdshort itself. No event was written.
    #[error("internal: {0}")]
    Internal(String),
    /// All attempts failed, because other writers wrote to the same streams each time. No event was written.
    #[error("too many concurrent changes; try again")]
    Busy,
}

impl Error {
    /// Returns true if a run, or the workflow definition with which the run was started, is unreadable. The state of
    /// that run is unknown. Other runs continue.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::NoDefinition { .. } | Self::NewDefinition { .. })
    }

    /// Returns true if the data is intact but this version of the program cannot decode it. Damaged data is not decoded
    /// at all, because its hash is compared first.
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

/// Lists the first runs for an error message, and states the number of the remaining runs.
fn listed(runs: &[RunId]) -> String {
    const LISTED: usize = 10;
    let more = runs.len().saturating_sub(LISTED);
    let mut listed: Vec<String> = runs.iter().take(LISTED).map(ToString::to_string).collect();
    listed.extend((more > 0).then(|| format!("{more} more")));
    listed.join(", ")
}
