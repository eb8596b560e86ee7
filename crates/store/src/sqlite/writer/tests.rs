//! Tests the outcomes of jobs in one group: some are rejected, some succeed, and some fail together with their group.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::id::StreamId;
use rusqlite::StatementStatus;
use tempfile::TempDir;

use super::*;
use crate::folder;
use crate::log::{Key, StreamAppend};
use crate::sqlite::files::{Files, OpenedFiles};
use crate::sqlite::{read, schema};

#[test]
fn a_job_that_is_refused_spares_its_group() {
    let (_folder, mut writer) = writer(None);
    let answers = commit(&mut writer, vec![to_system(0, 10), to_system(0, 10), to_system(1, 10)]);
    assert_eq!(answers, ["at 1", "sys ends with event 1, but the append expects event 0", "at 2"]);
    assert_eq!(*writer.position.borrow(), 2);
}

#[test]
fn the_second_of_two_equal_keys_in_a_group_is_told_of_the_first() {
    let (_folder, mut writer) = writer(None);
    let key = |reference: &str| Append {
        keys: vec![Key {
            scope: "s".into(),
            key: "k".into(),
            digest: Digest::ZERO,
            reference: reference.into(),
        }],
        ..Append::default()
    };
    assert_eq!(commit(&mut writer, vec![key("first"), key("second")]), ["at 0", "the key was already used"]);
    let kept = read::key(&writer.connection, "s", "k").unwrap();
    assert_eq!(kept.map(|record| record.reference), Some("first".to_owned()));
}

/// Tests that an error of the store in one job does not affect the other jobs of its group. The other jobs run again in
/// transactions of their own, even if `SQLite` has already rolled back the transaction of the group.
#[test]
fn a_job_that_the_store_fails_spares_its_group() {
    let (_folder, mut writer) = writer(Some(64));
    assert_eq!(commit(&mut writer, vec![to_system(0, 10)]), ["at 1"]);
    let group = vec![to_system(1, 10), to_system(1, 10), to_system(2, 1_000_000), to_system(2, 10)];
    let full = "nothing was written because the disk is full";
    let behind = "sys ends with event 2, but the append expects event 1";
    assert_eq!(commit(&mut writer, group), ["at 2", behind, full, "at 3"]);
    assert_eq!(*writer.position.borrow(), 3);
    assert_eq!(read::last_position(&writer.connection).unwrap(), 3);
}

/// Checks the settings that ensure that an acknowledged commit is on disk. The check replaces a test of a power
/// failure, which cannot be simulated.
#[test]
fn a_commit_waits_for_the_disk() {
    let (_folder, writer) = writer(None);
    let synchronous: i64 =
        writer.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
    let journal: String =
        writer.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!((synchronous, journal.as_str()), (2, "wal"));
}

/// Tests that SQLite does not prepare the statement again when the value of a limit is set. Preparing it again would
/// take a fifth of the time that a run's cycle takes.
#[test]
fn a_limit_is_no_reason_to_plan_again() {
    let (_folder, writer) = writer(None);
    let mut statement = writer.connection.prepare("SELECT position FROM appends LIMIT ?1").unwrap();
    for limit in 1..4 {
        assert!(!statement.exists([limit]).unwrap());
    }
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

fn writer(max_pages: Option<u32>) -> (TempDir, Writer) {
    let folder = TempDir::new().unwrap();
    let (files, lock) = (Files::in_folder(folder.path()), folder::claim(folder.path()).unwrap());
    files.unopened(&lock).make().unwrap();
    let connection = schema::writer(&files.database(), max_pages).unwrap();
    let pin = HeadFile::open(folder.path()).unwrap();
    let position = watch::Sender::new(0);
    let status = Arc::new(Status::new(OpenedFiles::note(files).unwrap()));
    (folder, Writer { connection, head: Head::START, pin, position, status })
}

/// Commits the appends as one group, and returns the reply to each append.
fn commit(writer: &mut Writer, appends: Vec<Append>) -> Vec<String> {
    let (mut group, mut answers) = (Vec::new(), Vec::new());
    for append in appends {
        let (reply, answer) = oneshot::channel();
        group.push(Job::Append { append: Box::new(append), reply });
        answers.push(answer);
    }
    writer.commit(&mut group);
    let told = answers.into_iter().map(|mut answer| match answer.try_recv().unwrap() {
        Ok(appended) => format!("at {}", appended.position),
        Err(error) => error.to_string(),
    });
    told.collect()
}

fn to_system(expected: u64, size: usize) -> Append {
    let stream = StreamId::System;
    let event = Sealed {
        stream: stream.clone(),
        seq: expected + 1,
        head: vec![b'x'; size],
        content: None,
        hash: Digest::ZERO,
    };
    let part = StreamAppend { stream, expected, events: vec![event] };
    Append { streams: vec![part], ..Append::default() }
}
