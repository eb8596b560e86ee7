//! The newest connection of each task, and the last frame that was written for the task. A client that reconnects
//! without naming a position resumes after this frame (contract A32). A run continues whether or not a client is
//! connected. The data is in memory: after a restart of the server, a client must send its position to resume.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::id::RunId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::frame::FrameId;
use super::task_id::TaskId;
use crate::limits::MARS_TASKS;

/// Maximum time that a new connection of a task waits until the previous connection has recorded the frames that it
/// wrote.
const HANDED_OVER: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct TaskConnections(Mutex<Attachments>);

#[derive(Default)]
struct Attachments {
    last: u64,
    by_task: HashMap<TaskId, Attachment>,
}

struct Attachment {
    /// Number of the task's newest connection. This connection may already be closed.
    number: u64,
    replace: Option<oneshot::Sender<()>>,
    /// Receiver that completes when the task's newest connection has closed. `None` after it has closed.
    left: Option<oneshot::Receiver<()>>,
    /// Number of the task's previous connection, while this connection is open. The frames that it still writes also
    /// advance the recorded position of the task.
    before: Option<u64>,
    told: Option<FrameId>,
    /// Run whose frames the newest connection receives.
    shown: Option<RunId>,
    /// Run that a different task started and to which the task is attached, with the digest of the first frame.
    resumed: Option<(RunId, Digest)>,
}

/// Right of a task's newest connection to serve the task. The right ends when a newer connection takes the task over,
/// or when this connection gives the task back.
pub(super) struct Hold {
    pub(super) number: u64,
    pub(super) replaced: oneshot::Receiver<()>,
    before: Option<oneshot::Receiver<()>>,
    /// Sender that is dropped when the connection closes, which completes `left` of the task.
    leaves: Option<oneshot::Sender<()>>,
}

impl Hold {
    /// Waits until the task's previous connection has closed and all frames that it wrote are recorded. A client that
    /// reconnects immediately therefore receives no frame twice.
    pub(super) async fn wait_for_handover(&mut self) {
        if let Some(before) = self.before.take() {
            let _ = timeout(HANDED_OVER, before).await;
        }
    }
}

impl TaskConnections {
    /// Takes a task over for a new connection, and tells the previous connection to close.
    pub(super) fn take(&self, task: &TaskId) -> Hold {
        let (tell, replaced) = oneshot::channel();
        let (leaves, left) = oneshot::channel();
        let mut places = self.lock();
        places.last += 1;
        let number = places.last;
        let older = places.by_task.remove(task);
        let told = older.as_ref().and_then(|older| older.told);
        let resumed = older.as_ref().and_then(|older| older.resumed.clone());
        let before = older.as_ref().filter(|older| older.left.is_some()).map(|older| older.number);
        let (replace, left) = (Some(tell), Some(left));
        let now = Attachment { number, replace, left, before, told, shown: None, resumed };
        places.by_task.insert(task.clone(), now);
        let (replace, before) = older.map(|older| (older.replace, older.left)).unwrap_or_default();
        // The send fails if the previous connection is already ending, which is no error.
        replace.map(|older| older.send(()));
        places.forget_the_oldest();
        Hold { number, replaced, before, leaves: Some(leaves) }
    }

    /// Gives a task back, unless a newer connection has taken the task over. After this connection has given the task
    /// back, frames that it records do not advance the recorded position of the task.
    pub(super) fn leave(&self, task: &TaskId, hold: &mut Hold) {
        if let Some(held) = self.lock().by_task.get_mut(task) {
            if held.number == hold.number {
                held.replace = None;
                held.left = None;
            } else if held.before == Some(hold.number) {
                held.before = None;
            }
        }
        hold.leaves = None;
    }

    /// Returns the last frame that was written to any connection of a task. Returns `None` if this process has written
    /// no frame of the task.
    pub(super) fn last_frame(&self, task: &TaskId) -> Option<FrameId> {
        self.lock().by_task.get(task)?.told
    }

    /// Records that a task is new and that no frame of the task was written yet.
    pub(super) fn record_new_task(&self, task: &TaskId) {
        if let Some(held) = self.lock().by_task.get_mut(task) {
            held.told.get_or_insert_default();
        }
    }

    /// Records the run whose frames the newest connection of a task receives.
    pub(super) fn record_shown(&self, task: &TaskId, run: &RunId) {
        if let Some(held) = self.lock().by_task.get_mut(task) {
            held.shown = Some(run.clone());
        }
    }

    /// Records the run to which a task is attached if a different task started this run. `digest` is the digest of the
    /// task's first frame.
    pub(super) fn record_resumed(&self, task: &TaskId, run: &RunId, digest: Digest) {
        if let Some(held) = self.lock().by_task.get_mut(task) {
            held.resumed = Some((run.clone(), digest));
        }
    }

    /// Returns the run to which a task is attached if a different task started this run, and the digest of the task's
    /// first frame.
    pub(super) fn resumed(&self, task: &TaskId) -> Option<(RunId, Digest)> {
        self.lock().by_task.get(task)?.resumed.clone()
    }

    /// Returns true if no other open connection of the task's owner shows the run. A connection that shows no run yet
    /// may have just started this run, so the result is false while the owner has such a connection.
    pub(super) fn is_unattended(&self, run: &RunId, task: &TaskId) -> bool {
        let places = self.lock();
        let is_other = |other: &TaskId| other != task && other.has_owner_of(task);
        let open = places.by_task.iter().filter(|(other, each)| is_other(other) && each.left.is_some());
        open.map(|(_, each)| &each.shown).all(|shown| shown.as_ref().is_some_and(|shown| shown != run))
    }

    /// Records that a frame of a task was written to the connection with this number. Does nothing if the connection
    /// has given the task back.
    pub(super) fn record_frame(&self, task: &TaskId, number: u64, frame: FrameId) {
        let mut places = self.lock();
        let held = places.by_task.get_mut(task);
        if let Some(held) = held.filter(|held| held.number == number || held.before == Some(number)) {
            held.told = Some(frame);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Attachments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attachments {
    fn forget_the_oldest(&mut self) {
        if self.by_task.len() <= MARS_TASKS {
            return;
        }
        let left = self.by_task.iter().filter(|(_, each)| each.replace.is_none());
        let oldest = left.min_by_key(|(_, each)| each.number).map(|(task, _)| task.clone());
        oldest.and_then(|oldest| self.by_task.remove(&oldest));
    }
}
