//! The writer: one thread with one connection, which commits jobs in groups.
//!
//! All jobs that are waiting form a group. One transaction commits the group. After the COMMIT, the replies are sent.
//! If a job is rejected, it has written nothing, and the other jobs of the group continue. If the store returns an
//! error for a job, the group is rolled back. Then each job runs again in a transaction of its own. Savepoints would
//! avoid this repetition. But they would copy all pages that the jobs change, and such errors are rare. If the COMMIT
//! fails, nothing is written, and all jobs of the group fail with this error. The writer never waits in order to
//! collect more jobs. A group may consist of a single job, and jobs that arrive during a commit form the next group.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use holdshort_core::time::Timestamp;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tokio::sync::{mpsc, oneshot, watch};

use super::error::again;
use super::head_file::{self, HeadFile};
use super::outbox::{OutboxReply, OutboxRequest};
use super::status::Status;
use super::{append, bodies, chain, outbox, rescue, rows, schema};
use crate::folder::Lock;
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Blob};
use crate::tables::Rows;

/// Maximum number of write jobs in one transaction. Jobs beyond this number form the next transaction.
const GROUP_LIMIT: usize = 256;
/// Maximum number of jobs in the queue of the writer thread. If the queue is full, callers wait until there is room.
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
    DrawEpoch {
        reply: Reply<u64, Error>,
    },
    PutBodies {
        bodies: Vec<Blob>,
        at: Timestamp,
        reply: Reply<(), Error>,
    },
    NeedBodies {
        digests: Vec<Digest>,
        at: Timestamp,
        reply: Reply<BTreeSet<Digest>, Error>,
    },
    DropBodies {
        before: Timestamp,
        most_bytes: u64,
        reply: Reply<usize, Error>,
    },
    Outbox {
        asked: OutboxRequest,
        reply: Reply<OutboxReply, Error>,
    },
    /// Writes a page to find out if the journal can be written. The status records the outcome.
    Probe,
    /// Ends the writer thread after all earlier jobs are completed.
    Close,
}

/// Outcome of a write job. The caller receives it after the COMMIT of the job's group.
enum Outcome {
    Append(Result<Appended, AppendError>),
    Done,
    Epoch(u64),
    Found(BTreeSet<Digest>),
    Dropped(usize),
    Outbox(OutboxReply),
}

/// Reason why a group of write jobs was rolled back.
enum Failure {
    /// The store returned an error for one of the write jobs.
    Job(Error),
    /// The store returned an error for the transaction of the group as a whole.
    Group(Error),
}

/// Data that belongs to the writer thread.
pub(super) struct Writer {
    pub(super) connection: Connection,
    /// Head of the journal after the last commit.
    pub(super) head: Head,
    pub(super) pin: HeadFile,
    pub(super) position: watch::Sender<u64>,
    pub(super) status: Arc<Status>,
}

impl Writer {
    /// Starts the writer thread. The thread releases the lock of the data folder when the journal is closed. After a
    /// panic, the lock remains until the process ends, so that no second server starts: work in this process may still
    /// have effects that cannot be recorded.
    pub(super) fn start(self, lock: Arc<Lock>) -> std::io::Result<(mpsc::Sender<Job>, JoinHandle<()>)> {
        let (queue, jobs) = mpsc::channel(QUEUE_LIMIT);
        let work = move || {
            let worked = catch_unwind(AssertUnwindSafe(|| self.work(jobs)));
            match worked {
                Ok(()) => drop(lock),
                Err(panic) => {
                    mem::forget(lock);
                    resume_unwind(panic);
                }
            }
        };
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(work)?;
        Ok((queue, thread))
    }

    fn work(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut group = Vec::with_capacity(GROUP_LIMIT);
        while jobs.blocking_recv_many(&mut group, GROUP_LIMIT) > 0 {
            if group.iter().any(|job| matches!(job, Job::Close)) {
                jobs.close();
            }
            self.commit(&mut group);
        }
        self.finish();
    }

    /// Closes the journal, and copies SQLite's write-ahead log into the database. The database file then contains the
    /// whole journal, and the next start has nothing to recover.
    fn finish(self) {
        if self.status.check().is_err() {
            return self.finish_displaced();
        }
        let Self { connection, head, mut pin, position, status: _ } = self;
        // The journal is marked as closed only if the head file is on disk.
        if pin.close(head)
            && let Err(error) = head_file::set_open(&connection, 0)
        {
            tracing::warn!(%error, "the journal is not marked as closed: the next start assumes a crash");
        }
        if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)") {
            tracing::warn!(%error, "the journal is closed without a checkpoint; the next start makes one");
        }
        drop(connection);
        drop(position);
    }

    /// Closes a journal whose files were deleted or replaced. A normal close would copy the old write-ahead log into
    /// the new files at the same paths.
    fn finish_displaced(self) {
        rescue::run_last(&self.status, &self.connection, self.head);
        let keeps_log = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        if let Err(error) = keeps_log {
            tracing::error!(%error, "closing the journal may overwrite its replaced files");
        }
    }

    /// Replies to all jobs with an error. Makes a rescue copy if the files of the journal were deleted or replaced.
    fn refuse(&mut self, group: &mut Vec<Job>, error: &Error) {
        self.status.record(Some(error));
        for job in group.drain(..) {
            job.fail(error);
        }
        rescue::run(&self.status, &self.connection, self.head);
    }

    /// Runs all write jobs of the group, commits them, and replies to them. Leaves the group empty.
    fn commit(&mut self, group: &mut Vec<Job>) {
        if group.iter().any(|job| matches!(job, Job::Probe)) {
            self.status.end_probe();
        }
        if let Err(error) = self.status.check() {
            return self.refuse(group, &error);
        }
        match self.transact(group) {
            Ok((outcomes, head)) => {
                let is_longer = mem::replace(&mut self.head, head) != head;
                // A commit is not acknowledged if the files were deleted or replaced.
                if let Err(error) = self.status.check() {
                    return self.refuse(group, &error);
                }
                self.status.record(None);
                if is_longer {
                    self.pin.put(head);
                }
                let is_probe = group.iter().all(|job| matches!(job, Job::Probe));
                if !is_probe {
                    // The trace event comes before the replies. Therefore a subscriber sees a commit earlier than any
                    // caller.
                    tracing::trace!(name: "journal_committed", jobs = group.len(), "a group is committed");
                }
                if let Some(last) = outcomes.iter().filter_map(Outcome::position).max() {
                    self.position.send_if_modified(|position| mem::replace(position, last) != last);
                }
                for (job, outcome) in group.drain(..).zip(outcomes) {
                    job.answer(outcome);
                }
            }
            Err(Failure::Job(_)) if group.len() > 1 => {
                for job in group.drain(..) {
                    self.commit(&mut vec![job]);
                }
            }
            Err(failure) => {
                let error = match failure {
                    // A damaged run must not prevent writes to other runs. Therefore the damage is not recorded as a
                    // failure of the writer.
                    Failure::Job(error @ Error::Corrupt(_)) => error,
                    Failure::Job(error) | Failure::Group(error) => {
                        self.status.record(Some(&error));
                        error
                    }
                };
                tracing::error!(%error, jobs = group.len(), "a commit failed: nothing was written");
                for job in group.drain(..) {
                    job.fail(&error);
                }
            }
        }
    }

    /// Runs all write jobs of the group and commits them. If an error occurs, nothing is written. Returns the outcomes
    /// of the jobs, and the new head of the journal.
    fn transact(&self, group: &[Job]) -> Result<(Vec<Outcome>, Head), Failure> {
        execute(&self.connection, "BEGIN IMMEDIATE").map_err(Failure::Group)?;
        let mut head = self.head;
        let ran = self.is_alone().map_err(Failure::Group).and_then(|()| {
            let ran: Result<Vec<_>, _> =
                group.iter().map(|job| job.run(&self.connection, &mut head)).collect();
            ran.map_err(Failure::Job)
        });
        let committed = ran.and_then(|outcomes| {
            execute(&self.connection, "COMMIT").map_err(Failure::Group)?;
            Ok((outcomes, head))
        });
        // After some errors, such as a full disk or a failed read, SQLite has already rolled back the transaction.
        if !self.connection.is_autocommit() {
            execute(&self.connection, "ROLLBACK").map_err(Failure::Group)?;
        }
        committed
    }

    /// Returns an error if another process has written events to the database. Otherwise both processes would continue
    /// the hash chain, each from its own head.
    fn is_alone(&self) -> Result<(), Error> {
        let (found, own) = (chain::head(&self.connection)?, self.head);
        if found == own {
            Ok(())
        } else if found.events > own.events {
            let next = own.events + 1;
            Err(Error::Corrupt(format!("another process wrote the event at position {next}")))
        } else {
            let last = own.events;
            Err(Error::Corrupt(format!(
                "another process has changed the event at position {last}, which this server wrote"
            )))
        }
    }
}

impl Job {
    /// Runs the job. A rejection by the journal is an outcome; an error means that the store failed.
    fn run(&self, connection: &Connection, head: &mut Head) -> Result<Outcome, Error> {
        match self {
            Self::Append { append, .. } => match append::append(connection, append, head) {
                Err(AppendError::Store(error)) => Err(error),
                result => Ok(Outcome::Append(result)),
            },
            Self::ReplaceRows { rows, .. } => rows::replace(connection, rows).map(|()| Outcome::Done),
            Self::DrawEpoch { .. } => schema::next_epoch(connection).map(Outcome::Epoch),
            Self::PutBodies { bodies, at, .. } => {
                bodies::put(connection, bodies, *at).map(|()| Outcome::Done)
            }
            Self::NeedBodies { digests, at, .. } => {
                bodies::need(connection, digests, *at).map(Outcome::Found)
            }
            Self::DropBodies { before, most_bytes, .. } => {
                bodies::drop(connection, *before, *most_bytes).map(Outcome::Dropped)
            }
            Self::Outbox { asked, .. } => outbox::answer(connection, asked).map(Outcome::Outbox),
            Self::Probe => schema::probe(connection).map(|()| Outcome::Done),
            Self::Close => Ok(Outcome::Done),
        }
    }

    fn answer(self, outcome: Outcome) {
        match (self, outcome) {
            (Self::Append { reply, .. }, Outcome::Append(result)) => answer(reply, result),
            (Self::ReplaceRows { reply, .. } | Self::PutBodies { reply, .. }, Outcome::Done) => {
                answer(reply, Ok(()));
            }
            (Self::DrawEpoch { reply }, Outcome::Epoch(epoch)) => answer(reply, Ok(epoch)),
            (Self::NeedBodies { reply, .. }, Outcome::Found(found)) => answer(reply, Ok(found)),
            (Self::DropBodies { reply, .. }, Outcome::Dropped(count)) => answer(reply, Ok(count)),
            (Self::Outbox { reply, .. }, Outcome::Outbox(answered)) => answer(reply, Ok(answered)),
            // A probe or a close has no caller to answer. For all other jobs, the outcome is always of the kind of the
            // job.
            (
                _,
                Outcome::Append(_)
                | Outcome::Done
                | Outcome::Epoch(_)
                | Outcome::Found(_)
                | Outcome::Dropped(_)
                | Outcome::Outbox(_),
            ) => {}
        }
    }

    /// Replies to the job with an error because its group has failed. A job that the journal rejected also gets this
    /// error: the rejection may be due to a write of the group that was rolled back.
    fn fail(self, error: &Error) {
        match self {
            Self::Append { reply, .. } => answer(reply, Err(again(error).into())),
            Self::ReplaceRows { reply, .. } | Self::PutBodies { reply, .. } => {
                answer(reply, Err(again(error)));
            }
            Self::DrawEpoch { reply } => answer(reply, Err(again(error))),
            Self::NeedBodies { reply, .. } => answer(reply, Err(again(error))),
            Self::DropBodies { reply, .. } => answer(reply, Err(again(error))),
            Self::Outbox { reply, .. } => answer(reply, Err(again(error))),
            Self::Probe | Self::Close => {}
        }
    }
}

impl Outcome {
    fn position(&self) -> Option<u64> {
        match self {
            Self::Append(Ok(appended)) => Some(appended.position),
            Self::Append(Err(_))
            | Self::Done
            | Self::Epoch(_)
            | Self::Found(_)
            | Self::Dropped(_)
            | Self::Outbox(_) => None,
        }
    }
}

/// Sends the reply to the caller of a job. Ignores a caller that has stopped waiting, because the commit is valid
/// anyway.
fn answer<T, E>(reply: Reply<T, E>, result: Result<T, E>) {
    let _gone = reply.send(result);
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Error> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}
