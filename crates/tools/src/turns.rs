//! Turns of commands and file tools in a workspace. While a command that may write is running, no other command that
//! may write runs, and no file tool writes a guarded path. Without turns, a file that another call makes while a
//! command runs could be taken for a file of the command, or for a file that existed before.
//!
//! Turns are not shared with other server processes. A turn in a workspace also excludes turns in folders that contain
//! this workspace or lie in it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

struct Waiting {
    ticket: u64,
    workspace: PathBuf,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// Requests for the exclusive right to write in a workspace, in the order of their arrival. A request is granted
    /// when no earlier request is about an overlapping workspace.
    waiting: Vec<Waiting>,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { next: 0, waiting: Vec::new() });
static ENDED: Notify = Notify::const_new();

/// Exclusive right of one call to write in a workspace, or a queued request for this right. Released on drop.
#[derive(Debug)]
pub struct Turn {
    ticket: u64,
}

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Queues a request for the exclusive right to write in a workspace, and waits until all earlier requests for
/// overlapping workspaces have ended. If the future is dropped, the request is withdrawn.
pub(crate) async fn wait(workspace: &Path) -> Turn {
    let turn = {
        let mut queue = queue();
        let ticket = queue.next;
        queue.next += 1;
        queue.waiting.push(Waiting { ticket, workspace: workspace.to_owned() });
        Turn { ticket }
    };
    loop {
        let ended = ENDED.notified();
        tokio::pin!(ended);
        // From here on, the end of another turn wakes this future, even if it ends before this future waits.
        ended.as_mut().enable();
        if turn.is_now() {
            return turn;
        }
        ended.await;
    }
}

impl Turn {
    fn is_now(&self) -> bool {
        let queue = queue();
        let Some(own) = queue.waiting.iter().find(|other| other.ticket == self.ticket) else { return false };
        let overlaps = |other: &&Waiting| {
            other.workspace.starts_with(&own.workspace) || own.workspace.starts_with(&other.workspace)
        };
        queue.waiting.iter().find(overlaps).is_some_and(|first| first.ticket == self.ticket)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        queue().waiting.retain(|other| other.ticket != self.ticket);
        ENDED.notify_waiters();
    }
}
