//! A tiny executor without threads: tasks lie in a list, and the simulator says which one goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;

use super::node::NodeId;

/// Whatever a task is for; a node's end takes its tasks with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct About {
    pub(super) node: NodeId,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// What a node does by itself.
    Life,
    /// Sends what channels are told.
    Post,
    /// Brings the answer of an action back: run and action.
    Answer(String, String),
    /// Somebody's request, which may be given up in the middle.
    Request(String),
}

struct Task {
    about: About,
    future: BoxFuture<'static, ()>,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(super) struct Tasks(Vec<Task>);

impl Tasks {
    pub(super) fn spawn(&mut self, about: About, future: impl Future<Output = ()> + Send + 'static) {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.0.push(Task { about, future: Box::pin(future), woken });
    }

    /// All of these nodes.
    pub(super) fn all(&self, of: impl Fn(NodeId) -> bool) -> Vec<usize> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, task)| of(task.about.node)).map(|(index, _)| index).collect()
    }

    /// Those of these nodes that can go on, oldest first.
    pub(super) fn ready(&self, of: impl Fn(NodeId) -> bool) -> Vec<usize> {
        let mut all = self.all(of);
        all.retain(|index| self.0[*index].woken.0.load(Ordering::Relaxed));
        all
    }

    pub(super) fn requests(&self) -> Vec<usize> {
        let all = self.0.iter().enumerate();
        all.filter(|(_, task)| matches!(task.about.what, What::Request(_))).map(|(index, _)| index).collect()
    }

    /// Lets a task go on to where it has to wait again.
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

    /// Drops every task that `gone` names.
    pub(super) fn drop_those(&mut self, gone: impl Fn(&About) -> bool) {
        self.0.retain(|task| !gone(&task.about));
    }
}
