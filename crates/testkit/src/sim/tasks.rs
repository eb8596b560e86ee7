//! Small executor without threads. The simulator chooses the task that continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;

use super::node::NodeId;

/// Node and purpose of a task. A task ends when its node ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaskLabel {
    pub(super) node: NodeId,
    pub(super) what: TaskPurpose,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TaskPurpose {
    /// Background work of a node.
    Life,
    /// Sends deliveries over channels.
    Post,
    /// Delivers the result of an action. The fields are the run and the action.
    Answer(String, String),
    /// Sends a request. The simulator may drop this task before the request completes.
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

    /// Returns the indices of all tasks of these nodes.
    pub(super) fn all(&self, of: impl Fn(NodeId) -> bool) -> Vec<usize> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, task)| of(task.about.node)).map(|(index, _)| index).collect()
    }

    /// Returns the indices of these nodes' tasks that can continue, oldest first.
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

    /// Polls a task once, and removes the task if it is complete.
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

    /// Drops every task for which `gone` returns true.
    pub(super) fn drop_those(&mut self, gone: impl Fn(&TaskLabel) -> bool) {
        self.0.retain(|task| !gone(&task.about));
    }
}
