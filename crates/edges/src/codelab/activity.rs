//! Tells a waiting client whether the run continues by itself or needs a person.

use holdshort_core::projection::Status;
use holdshort_core::run::{Action, Run};
use holdshort_web::problem::Answer;

use super::session::Session;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    GoesOn(Status),
    Rests(Status),
    /// The run would continue, but all runs are frozen.
    Frozen,
}

impl Activity {
    pub(super) async fn from_run(session: &Session, run: &Run) -> Answer<Self> {
        let status = run.status();
        match status {
            Status::Completed | Status::Failed | Status::Cancelled => Ok(Self::Rests(status)),
            _ if is_at_work(run) => Ok(Self::GoesOn(status)),
            Status::Waiting | Status::Paused => Ok(Self::Rests(status)),
            // A freeze stops the run only if the run's next action would start new work.
            Status::Queued | Status::Running => {
                let system = session.caller.app.driver.system().await?;
                Ok(if run.freeze(&system).is_some() { Self::Frozen } else { Self::GoesOn(status) })
            }
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::GoesOn(status) | Self::Rests(status) => status.as_str(),
            Self::Frozen => "frozen",
        }
    }

    /// Returns the sentence that tells people what the run is doing.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::GoesOn(status) | Self::Rests(status) => match status {
                Status::Queued | Status::Running => "Agents are working.",
                Status::Waiting => "The session is waiting for you.",
                Status::Paused => "The session is paused.",
                Status::Completed => "The work is done.",
                Status::Failed => "The work has failed.",
                Status::Cancelled => "The work was cancelled.",
            },
            Self::Frozen => "The installation is frozen. The session continues when the freeze is lifted.",
        }
    }
}

/// Returns true if the run has started work that has not ended. A pause or a freeze does not interrupt this work.
fn is_at_work(run: &Run) -> bool {
    let looks = |action: &Action| matches!(action, Action::Inspect { .. });
    run.started().next().is_some() || run.actions().iter().any(looks)
}
