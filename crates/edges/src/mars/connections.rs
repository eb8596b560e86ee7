//! The newest connection of each task, and the last frame that was written to it. A client that reconnects without a
//! position resumes there (contract A32). Runs know nothing of connections. After a restart of the process the client
//! must name its position.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::frame::FrameId;
use super::start::TaskId;
use crate::limits::MARS_TASKS;

/// Longest wait for the previous connection to report the frames that it has written.
const HANDED_OVER: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct TaskConnections(Mutex<Attachments>);

#[derive(Default)]
struct Attachments {
    last: u64,
    by_task: HashMap<TaskId, Attachment>,
}

struct Attachment {
    /// Number of the connection that has the task, or had it last.
    number: u64,
    replace: Option<oneshot::Sender<()>>,
    /// Resolves when that connection has left. None afterwards.
    left: Option<oneshot::Receiver<()>>,
    /// Previous connection, until it has left. Frames that it writes until then still advance the position.
    before: Option<u64>,
    told: Option<FrameId>,
}

/// A connection's hold on its task. It ends when another connection takes the task, or when it is given back.
pub(super) struct Hold {
    pub(super) number: u64,
    pub(super) replaced: oneshot::Receiver<()>,
    before: Option<oneshot::Receiver<()>>,
    /// Dropped when the connection leaves.
    leaves: Option<oneshot::Sender<()>>,
}

impl Hold {
    /// Waits until the previous connection has left and all its frames are recorded. A client that reconnects at once
    /// then receives no frame twice.
    pub(super) async fn wait_for_handover(&mut self) {
        if let Some(before) = self.before.take() {
            let _ = timeout(HANDED_OVER, before).await;
        }
    }
}

impl TaskConnections {
    /// Takes the task and notifies the connection that had it.
    pub(super) fn take(&self, task: &TaskId) -> Hold {
        let (tell, replaced) = oneshot::channel();
        let (leaves, left) = oneshot::channel();
        let mut places = self.lock();
        places.last += 1;
        let number = places.last;
        let older = places.by_task.remove(task);
        let told = older.as_ref().and_then(|older| older.told);
        let before = older.as_ref().filter(|older| older.left.is_some()).map(|older| older.number);
        let now = Attachment { number, replace: Some(tell), left: Some(left), before, told };
        places.by_task.insert(task.clone(), now);
        let (replace, before) = older.map(|older| (older.replace, older.left)).unwrap_or_default();
        // The send fails if that connection is already leaving.
        replace.map(|older| older.send(()));
        places.forget_the_oldest();
        Hold { number, replaced, before, leaves: Some(leaves) }
    }

    /// Gives the task back, unless a newer connection has it. Frames written after this do not advance the position.
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

    /// Returns the last frame that was written to the task's connections. None if this process wrote none.
    pub(super) fn last_frame(&self, task: &TaskId) -> Option<FrameId> {
        self.lock().by_task.get(task)?.told
    }

    /// Marks a new task, of which no frame has been written.
    pub(super) fn record_new_task(&self, task: &TaskId) {
        if let Some(held) = self.lock().by_task.get_mut(task) {
            held.told.get_or_insert_default();
        }
    }

    /// Records a frame that was written to the connection. Frames of a connection that has left are ignored.
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
