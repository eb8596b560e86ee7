//! Small executor without threads. The simulator determines which task continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;

use super::node::NodeId;

/// The simulated node to which a task belongs, and the purpose of the task. When the node ends, the task ends too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskLabel {
    pub(super) node: NodeId,
    pub(super) what: TaskPurpose,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TaskPurpose {
    /// The task runs the background tasks of a simulated node.
    Life,
    /// The task sends deliveries over channels.
    Post,
    /// The task delivers the result of an action to the driver. The fields contain the run and the action.
    Answer(String, String),
    /// The task sends a request. The simulator can drop this task before the request is complete.
    Request(String),
}

struct Task {
    about: TaskLabel,
    future: BoxFuture<'static, ()>,
    woken: Arc<WakeFlag>,
}

struct WakeFlag(AtomicBool);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(super) struct Tasks(Vec<Task>);

impl Tasks {
    pub(super) fn spawn(&mut self, about: TaskLabel, future: impl Future<Output = ()> + Send + 'static) {
        let woken = Arc::new(WakeFlag(AtomicBool::new(true)));
        self.0.push(Task { about, future: Box::pin(future), woken });
    }

    /// Returns the indexes of all tasks of the nodes for which `of` returns true.
    pub(super) fn all(&self, of: impl Fn(NodeId) -> bool) -> Vec<usize> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, task)| of(task.about.node)).map(|(index, _)| index).collect()
    }

    /// Returns the indexes of the tasks that can continue, oldest first, of the nodes for which `of` returns true.
    pub(super) fn ready(&self, of: impl Fn(NodeId) -> bool) -> Vec<usize> {
        let mut all = self.all(of);
        all.retain(|index| self.0[*index].woken.0.load(Ordering::Relaxed));
        all
    }

    pub(super) fn requests(&self) -> Vec<usize> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, task)| matches!(task.about.what, TaskPurpose::Request(_)))
            .map(|(index, _)| index)
            .collect()
    }

    /// Polls a task of the simulation once. If it is complete, removes it.
    pub(super) fn poll(&mut self, index: usize) {
        let task = &mut self.0[index];
        task.woken.0.store(false, Ordering::Relaxed);
        let waker = Waker::from(task.woken.clone());
        if let Poll::Ready(()) = task.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            self.0.remove(index);
        }
    }

    pub(super) fn give_up(&mut self, index: usize) {
        self.0.remove(index);
    }

    pub(super) fn drop_those(&mut self, gone: impl Fn(&TaskLabel) -> bool) {
        self.0.retain(|task| !gone(&task.about));
    }
}
