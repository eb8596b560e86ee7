//! The writer: one thread, one connection, group commit.
//!
//! All jobs that wait go into one transaction, a savepoint each, so that one that fails spares its group; the
//! answers go out after COMMIT. If COMMIT fails, or SQLite gives the transaction up before it, every job of
//! the group fails with that error and nothing is applied. It waits for no timer: a lone job is its own group,
//! and what arrives during one commit is the next group.

#[cfg(test)]
mod tests;

use std::thread::{self, JoinHandle};
use std::vec;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use super::error::again;
use super::folder::Lock;
use super::{append, rows};
use crate::journal::{Append, AppendError, Appended, Error, Rows};

/// Jobs in one transaction. Above it the log grows more than the shared fsync is worth.
const GROUP_LIMIT: usize = 256;
/// Jobs that wait for their group. When it is full, `append` waits: that is the back-pressure.
const QUEUE_LIMIT: usize = 1024;

pub(super) type Reply<T, E> = oneshot::Sender<Result<T, E>>;

pub(super) enum Job {
    Append {
        append: Box<Append>,
        reply: Reply<Appended, AppendError>,
    },
    ReplaceRows {
        rows: Vec<Rows>,
        reply: Reply<(), Error>,
    },
    /// Ends the thread after the jobs that were accepted before.
    Close,
}

/// A job whose outcome is known and waits for COMMIT.
enum Done {
    Append(Result<Appended, AppendError>, Reply<Appended, AppendError>),
    ReplaceRows(Result<(), Error>, Reply<(), Error>),
}

/// What the thread owns; the lock is let go last.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) position: watch::Sender<u64>,
    pub(super) after_commit: Option<fn()>,
    pub(super) lock: Lock,
}

impl Writer {
    pub(super) fn start(self) -> std::io::Result<(mpsc::Sender<Job>, JoinHandle<()>)> {
        let (queue, jobs) = mpsc::channel(QUEUE_LIMIT);
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || self.work(jobs))?;
        Ok((queue, thread))
    }

    fn work(self, mut jobs: mpsc::Receiver<Job>) {
        let mut group = Vec::with_capacity(GROUP_LIMIT);
        while jobs.blocking_recv_many(&mut group, GROUP_LIMIT) > 0 {
            if group.iter().any(|job| matches!(job, Job::Close)) {
                jobs.close();
            }
            self.commit(group.drain(..));
        }
        self.finish();
    }

    /// Leaves an empty log behind, so that the next start has nothing to recover and the one file is the whole
    /// journal.
    fn finish(self) {
        let Self { connection, position, lock, after_commit: _ } = self;
        if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
            tracing::warn!(%error, "the journal is closed without a checkpoint; the next start makes one");
        }
        drop(connection);
        drop(position);
        drop(lock);
    }

    fn commit(&self, mut group: vec::Drain<'_, Job>) {
        let mut done = Vec::with_capacity(group.len());
        match self.transact(&mut group, &mut done) {
            Ok(()) => {
                if let Some(hook) = self.after_commit {
                    hook();
                }
                if let Some(last) = done.iter().filter_map(Done::position).max() {
                    self.position.send_if_modified(|position| std::mem::replace(position, last) != last);
                }
                done.into_iter().for_each(Done::send);
            }
            Err(error) => {
                tracing::error!(%error, jobs = group.len() + done.len(), "a commit failed: nothing was written");
                for done in done {
                    done.fail(&error);
                }
                for job in group {
                    job.fail(&error);
                }
            }
        }
    }

    /// Runs all jobs and commits. On an error those that it did not come to are still in the group.
    fn transact(&self, group: &mut vec::Drain<'_, Job>, done: &mut Vec<Done>) -> Result<(), Error> {
        execute(&self.connection, "BEGIN IMMEDIATE")?;
        let outcome = self.run_all(group, done).and_then(|()| execute(&self.connection, "COMMIT"));
        if !self.connection.is_autocommit() {
            execute(&self.connection, "ROLLBACK")?;
        }
        outcome
    }

    fn run_all(&self, group: &mut vec::Drain<'_, Job>, done: &mut Vec<Done>) -> Result<(), Error> {
        for job in group {
            execute(&self.connection, "SAVEPOINT job")?;
            let Some(ran) = job.run(&self.connection) else { continue };
            let (failed, failure) = (ran.is_failed(), ran.failure());
            done.push(ran);
            // A full disk or a failed read can make SQLite roll all of the transaction back by itself.
            if let Some(error) = failure.filter(|_| self.connection.is_autocommit()) {
                return Err(error);
            }
            if failed {
                execute(&self.connection, "ROLLBACK TO job")?;
            }
            execute(&self.connection, "RELEASE job")?;
        }
        Ok(())
    }
}

impl Job {
    fn run(self, connection: &Connection) -> Option<Done> {
        match self {
            Self::Append { append, reply } => Some(Done::Append(append::append(connection, &append), reply)),
            Self::ReplaceRows { rows, reply } => {
                Some(Done::ReplaceRows(rows::replace(connection, &rows), reply))
            }
            Self::Close => None,
        }
    }

    fn fail(self, error: &Error) {
        match self {
            Self::Append { reply, .. } => answer(reply, Err(again(error).into())),
            Self::ReplaceRows { reply, .. } => answer(reply, Err(again(error))),
            Self::Close => {}
        }
    }
}

impl Done {
    fn is_failed(&self) -> bool {
        match self {
            Self::Append(result, _) => result.is_err(),
            Self::ReplaceRows(result, _) => result.is_err(),
        }
    }

    /// The store's own failure, as against an append that the journal refuses.
    fn failure(&self) -> Option<Error> {
        match self {
            Self::Append(Err(AppendError::Store(error)), _) | Self::ReplaceRows(Err(error), _) => {
                Some(again(error))
            }
            Self::Append(..) | Self::ReplaceRows(Ok(()), _) => None,
        }
    }

    fn position(&self) -> Option<u64> {
        match self {
            Self::Append(Ok(appended), _) => Some(appended.position),
            Self::Append(Err(_), _) | Self::ReplaceRows(..) => None,
        }
    }

    fn send(self) {
        match self {
            Self::Append(result, reply) => answer(reply, result),
            Self::ReplaceRows(result, reply) => answer(reply, result),
        }
    }

    /// Also for a job that was refused: what it was refused for may have been written by its own group.
    fn fail(self, error: &Error) {
        match self {
            Self::Append(_, reply) => answer(reply, Err(again(error).into())),
            Self::ReplaceRows(_, reply) => answer(reply, Err(again(error))),
        }
    }
}

/// Whoever asked may be gone; the commit stands all the same.
fn answer<T, E>(reply: Reply<T, E>, result: Result<T, E>) {
    let _gone = reply.send(result);
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Error> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
