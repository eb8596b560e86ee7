//! Which connection has a task: the newest one. What is here is about connections alone; a run knows nothing of it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use super::start::TaskId;

#[derive(Default)]
pub(super) struct Attached(Mutex<Attachments>);

#[derive(Default)]
struct Attachments {
    last: u64,
    by_task: HashMap<TaskId, (u64, oneshot::Sender<()>)>,
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
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.last += 1;
        let number = places.last;
        if let Some((_, older)) = places.by_task.insert(task.clone(), (number, tell)) {
            // One that is leaving by itself needs no telling.
            let _ = older.send(());
        }
        Hold { number, replaced }
    }

    /// Gives the task back, unless a newer connection has it.
    pub(super) fn leave(&self, task: &TaskId, number: u64) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.by_task.get(task).is_some_and(|(holder, _)| *holder == number) {
            places.by_task.remove(task);
        }
    }
}

impl Hold {
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}
