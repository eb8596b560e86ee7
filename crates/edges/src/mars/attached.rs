//! Which connection has a task: the newest one; and the last frame that it was told, for a client that comes back without
//! a place (contract A32). A run knows nothing of it. What is forgotten with the process a client brings itself.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::frame::FrameId;
use super::start::TaskId;
use crate::limits::MARS_TASKS;

#[derive(Default)]
pub(super) struct Attached(Mutex<Attachments>);

#[derive(Default)]
struct Attachments {
    last: u64,
    by_task: HashMap<TaskId, Attachment>,
}

struct Attachment {
    /// Of the connection that has the task, or had it last.
    number: u64,
    replace: Option<oneshot::Sender<()>>,
    told: Option<FrameId>,
}

/// A connection's hold on its task. It ends when another one takes the task, or when it is given back.
pub(super) struct Hold {
    number: u64,
    pub(super) replaced: oneshot::Receiver<()>,
}

impl Attached {
    /// Takes the task; the connection that had it is told.
    pub(super) fn take(&self, task: &TaskId) -> Hold {
        let (tell, replaced) = oneshot::channel();
        let mut places = self.lock();
        places.last += 1;
        let number = places.last;
        let told = places.by_task.get(task).and_then(|before| before.told);
        let now = Attachment { number, replace: Some(tell), told };
        if let Some(Attachment { replace: Some(older), .. }) = places.by_task.insert(task.clone(), now) {
            // One that is leaving by itself needs no telling.
            let _ = older.send(());
        }
        places.forget_the_oldest();
        Hold { number, replaced }
    }

    /// Gives the task back, unless a newer connection has it.
    pub(super) fn leave(&self, task: &TaskId, number: u64) {
        if let Some(held) = self.lock().held(task, number) {
            held.replace = None;
        }
    }

    /// The last frame that the task's connections were told; nothing where this process told none.
    pub(super) fn place(&self, task: &TaskId) -> Option<FrameId> {
        self.lock().by_task.get(task)?.told
    }

    /// The task has just begun: nothing of it was told.
    pub(super) fn begun(&self, task: &TaskId) {
        if let Some(held) = self.lock().by_task.get_mut(task) {
            held.told.get_or_insert_default();
        }
    }

    /// The connection was told a frame. One that was replaced tells nobody any more.
    pub(super) fn told(&self, task: &TaskId, number: u64, frame: FrameId) {
        if let Some(held) = self.lock().held(task, number) {
            held.told = Some(frame);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Attachments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attachments {
    fn held(&mut self, task: &TaskId, number: u64) -> Option<&mut Attachment> {
        self.by_task.get_mut(task).filter(|held| held.number == number)
    }

    fn forget_the_oldest(&mut self) {
        if self.by_task.len() <= MARS_TASKS {
            return;
        }
        let left = self.by_task.iter().filter(|(_, each)| each.replace.is_none());
        let oldest = left.min_by_key(|(_, each)| each.number).map(|(task, _)| task.clone());
        oldest.and_then(|oldest| self.by_task.remove(&oldest));
    }
}

impl Hold {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}
