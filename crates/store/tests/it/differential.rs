//! Runs the same random operations on all stores. All results must be equal, including errors.

use std::sync::Arc;

use holdshort_core::digest::Digest;
use holdshort_core::id::StreamId;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow, Status};
use holdshort_core::session::State;
use holdshort_store::{
    AnswerFilter, Append, Blob, Cursor, GrantFilter, InterruptFilter, Journal, Leases, Log, Rows, RunFilter,
    Search, SessionFilter,
};

use crate::fixture::{
    Dice, answer_row, at, comparable_outcome, content, events, id, interrupt_row, key, run_row, run_stream,
    seen, session_row,
};
use crate::subject::{InMemory, InPostgres, InSqlite, Subject};

const OPERATIONS: usize = 500;

#[tokio::test(flavor = "multi_thread")]
async fn all_stores_give_the_same_answers() {
    for seed in 0..5 {
        compare(seed).await;
    }
}

async fn compare(seed: u64) {
    let mut memory = Ranked::<InMemory>::open().await;
    let mut sqlite = Ranked::<InSqlite>::open().await;
    let mut postgres = Ranked::<InPostgres>::open().await;
    let mut world = World { dice: Dice(seed), cursors: vec![Cursor::new()] };
    for step in 0..OPERATIONS {
        let operation = world.operation(&**memory.store.journal()).await;
        if let Operation::Restart = operation {
            memory = memory.restart().await;
            sqlite = sqlite.restart().await;
            postgres = postgres.restart().await;
        }
        let expected = memory.answer(operation.clone()).await;
        let others = [
            ("sqlite", sqlite.answer(operation.clone()).await),
            ("postgres", postgres.answer(operation.clone()).await),
        ];
        for (store, answer) in others {
            let what = format!("seed {seed}, step {step}: {operation:?}");
            assert!(answer == expected, "{what}\nmemory: {expected}\n{store}: {answer}");
        }
        world.learn(&expected);
    }
}

/// A store that reports the rank of a position instead of the position, because only ranks are equal in all stores.
struct Ranked<S> {
    store: S,
    positions: Vec<u64>,
}

impl<S: Subject> Ranked<S> {
    async fn open() -> Self {
        Self { store: S::open().await, positions: Vec::new() }
    }

    async fn restart(self) -> Self {
        let epoch = self.store.journal().epoch();
        let store = self.store.restart().await;
        assert!(store.journal().epoch() > epoch);
        Self { store, ..self }
    }

    fn rank(&self, position: u64) -> usize {
        self.positions.partition_point(|known| *known <= position)
    }

    fn position(&self, rank: u64) -> u64 {
        let Ok(rank) = usize::try_from(rank.min(self.positions.len() as u64)) else { return 0 };
        rank.checked_sub(1).map_or(0, |index| self.positions[index])
    }

    async fn answer(&mut self, operation: Operation) -> String {
        let journal = Arc::clone(self.store.journal());
        match operation {
            Operation::Append(append) => {
                let result = journal.append(*append).await;
                if let Ok(appended) = &result {
                    seen(&*journal, appended.position).await;
                    let known = self.positions.last().copied().unwrap_or_default();
                    let changes = journal.changes(known, usize::MAX).await.unwrap();
                    self.positions.extend(changes.iter().map(|change| change.position));
                }
                format!("{:?}", comparable_outcome(result).map(|position| self.rank(position)))
            }
            Operation::Tail(after, limit) => {
                let tail = journal.tail(self.position(after), limit).await.unwrap();
                let ranked: Vec<_> = tail.iter().map(|p| (self.rank(p.position), &p.event)).collect();
                format!("{ranked:?}")
            }
            Operation::Watch | Operation::Restart => {
                seen(&*journal, self.positions.last().copied().unwrap_or_default()).await;
                format!("{:?}", self.rank(*journal.watch().borrow()))
            }
            other => answer(&*journal, other).await,
        }
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Append(Box<Append>),
    Read(StreamId, u64, usize),
    Tail(u64, usize),
    Chain(StreamId),
    Blob(Digest),
    Key(String),
    Rows(u64),
    Runs(RunFilter, Option<Cursor>, usize),
    Sessions(SessionFilter, Option<Cursor>, usize),
    Idle(u64, usize),
    Interrupts(InterruptFilter, Option<Cursor>, usize),
    Grants(GrantFilter, Option<Cursor>, usize),
    Answers(AnswerFilter, Option<Cursor>, usize),
    Runnable(usize),
    Due(u64, usize),
    NextDeadline,
    Streams(Option<StreamId>, usize),
    ReplaceRows(Vec<Rows>),
    Watch,
    Restart,
}

async fn answer(journal: &impl Journal, operation: Operation) -> String {
    match operation {
        Operation::Read(stream, after, limit) => format!("{:?}", journal.read(&stream, after, limit).await),
        Operation::Chain(stream) => format!("{:?}", journal.chain(&stream).await),
        Operation::Blob(digest) => format!("{:?}", journal.blob(&digest).await),
        Operation::Key(key) => format!("{:?}", journal.key("tests", &key).await),
        Operation::Rows(n) => format!(
            "{:?} {:?} {:?} {:?} {:?}",
            journal.run(&id(n)).await,
            journal.session(&id(n)).await,
            journal.interrupt(&id(n)).await,
            journal.grant(&id(n)).await,
            journal.answer(&id(n)).await
        ),
        Operation::Runs(filter, after, limit) => {
            format!("{:?}", journal.runs(&filter, after.as_ref(), limit).await)
        }
        Operation::Sessions(filter, after, limit) => {
            format!("{:?}", journal.sessions(&filter, after.as_ref(), limit).await)
        }
        Operation::Idle(now, limit) => format!("{:?}", journal.idle_sessions(at(now), limit).await),
        Operation::Interrupts(filter, after, limit) => {
            format!("{:?}", journal.interrupts(&filter, after.as_ref(), limit).await)
        }
        Operation::Grants(filter, after, limit) => {
            format!("{:?}", journal.grants(&filter, after.as_ref(), limit).await)
        }
        Operation::Answers(filter, after, limit) => {
            format!("{:?}", journal.answers(&filter, after.as_ref(), limit).await)
        }
        Operation::Runnable(limit) => {
            // In a store with several nodes, a node must claim a run before it drives the run.
            journal.claim(usize::MAX).await.unwrap();
            let held = journal.leases(None, limit).await.unwrap();
            let leased: Vec<_> = held.into_iter().map(|lease| (lease.run, lease.node.is_some())).collect();
            format!("{:?} {leased:?}", journal.runnable(limit).await)
        }
        Operation::Due(now, limit) => {
            let first = journal.due(at(now), None, limit).await.unwrap();
            format!("{first:?} {:?}", journal.due(at(now), first.last(), limit).await)
        }
        Operation::NextDeadline => format!("{:?}", journal.next_deadline().await),
        Operation::Streams(after, limit) => format!("{:?}", journal.streams(after.as_ref(), limit).await),
        Operation::ReplaceRows(rows) => format!("{:?}", journal.replace_rows(rows).await),
        Operation::Append(_) | Operation::Tail(..) | Operation::Watch | Operation::Restart => {
            unreachable!("these tell positions")
        }
    }
}

struct World {
    dice: Dice,
    cursors: Vec<Cursor>,
}

impl World {
    async fn operation(&mut self, journal: &impl Journal) -> Operation {
        let limit = usize::try_from(self.dice.roll(8)).unwrap();
        match self.dice.roll(47) {
            0..16 => Operation::Append(Box::new(self.append(journal).await)),
            16..18 => Operation::Read(self.stream(), self.dice.roll(6), limit),
            18..20 => Operation::Tail(self.dice.roll(200), limit),
            20 => Operation::Chain(self.stream()),
            21 => Operation::Blob(Digest::of_bytes(&self.bytes())),
            22 => Operation::Key(self.dice.roll(40).to_string()),
            23..25 => Operation::Rows(self.dice.roll(30)),
            25..29 => Operation::Runs(self.run_filter(), self.cursor(), limit),
            29..33 => Operation::Interrupts(self.interrupt_filter(), self.cursor(), limit),
            33 => Operation::Runnable(limit),
            34 => Operation::Due(self.dice.roll(1100), limit),
            35 => Operation::NextDeadline,
            36 => Operation::Streams(self.maybe(Self::stream), limit),
            37 if self.dice.chance(8) => {
                let count = self.dice.roll(20);
                Operation::ReplaceRows((0..count).map(|_| self.rows()).collect())
            }
            38 if self.dice.chance(8) => Operation::Restart,
            39 => {
                let revoked = self.maybe(|world| world.dice.chance(2));
                Operation::Grants(GrantFilter { revoked }, self.cursor(), limit)
            }
            40..43 => Operation::Sessions(self.session_filter(), self.cursor(), limit),
            44..47 => Operation::Answers(self.answer_filter(), self.cursor(), limit),
            43 => Operation::Idle(self.dice.roll(700), limit),
            _ => Operation::Watch,
        }
    }

    /// Generates an append that usually succeeds, and sometimes has a fault.
    async fn append(&mut self, journal: &impl Journal) -> Append {
        let mut append = Append { rows: self.rows(), drives: self.dice.chance(2), ..Append::default() };
        for _ in 0..self.dice.roll(3) {
            let stream = self.stream();
            let mut expected = journal.chain(&stream).await.unwrap().seq;
            if self.dice.chance(10) {
                expected += 1;
            }
            let mut part = events(&stream, expected, self.dice.roll(4));
            for event in &mut part.events {
                event.content = self.maybe(Self::bytes).map(content);
            }
            append.streams.push(part);
        }
        if self.dice.chance(3) {
            let stream = self.stream();
            let seq = journal.chain(&stream).await.unwrap().seq + self.dice.roll(10) / 9;
            append.guards.push((stream, seq));
        }
        if self.dice.chance(4) {
            let name = self.dice.roll(40).to_string();
            append.keys.push(key(&name, &format!("run_{}", self.dice.roll(1000))));
        }
        if self.dice.chance(4) {
            append.blobs.push(Blob::new(self.bytes()));
        }
        append
    }

    fn rows(&mut self) -> Rows {
        let run = self.maybe(|world| RunRow { run: id(world.dice.roll(30)), ..run_row(world.dice.roll(60)) });
        let session = self.maybe(|world| SessionRow {
            session: id(world.dice.roll(10)),
            ..session_row(world.dice.roll(60))
        });
        let interrupts = (0..self.dice.roll(3))
            .map(|_| InterruptRow { interrupt: id(self.dice.roll(30)), ..interrupt_row(self.dice.roll(60)) })
            .collect();
        let grants = (0..self.dice.roll(2))
            .map(|_| GrantRow {
                grant: id(self.dice.roll(30)),
                session: id(self.dice.roll(3)),
                added_seq: self.dice.roll(9),
                revoked: self.dice.chance(2),
            })
            .collect();
        let answers = (0..self.dice.roll(3)).map(|_| answer_row(self.dice.roll(60))).collect();
        Rows { run, session, interrupts, grants, answers }
    }

    fn run_filter(&mut self) -> RunFilter {
        RunFilter {
            status: self.maybe(|world| Status::ALL[usize::try_from(world.dice.roll(7)).unwrap()]),
            workflow: self
                .maybe(|world| ["pair", "crew"][usize::try_from(world.dice.roll(2)).unwrap()].into()),
            session: self.maybe(|world| id(world.dice.roll(3))),
        }
    }

    fn session_filter(&mut self) -> SessionFilter {
        SessionFilter {
            states: State::ALL.into_iter().filter(|_| self.dice.chance(3)).collect(),
            workflow: self
                .maybe(|world| ["pair", "mars"][usize::try_from(world.dice.roll(2)).unwrap()].into()),
        }
    }

    fn answer_filter(&mut self) -> AnswerFilter {
        AnswerFilter {
            subject: self.maybe(|world| answer_row(world.dice.roll(3)).subject),
            run: self.maybe(|world| id(world.dice.roll(4))),
            asked: self.maybe(|world| answer_row(world.dice.roll(60)).asked),
            source: self.maybe(|world| id(world.dice.roll(5))),
            search: self.maybe(|world| {
                let words = answer_row(world.dice.roll(60)).words;
                let words = words.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
                if world.dice.chance(2) { Search::All(words) } else { Search::Any(words) }
            }),
        }
    }

    fn interrupt_filter(&mut self) -> InterruptFilter {
        InterruptFilter {
            open: self.maybe(|world| world.dice.chance(2)),
            run: self.maybe(|world| id(world.dice.roll(4))),
            session: self.maybe(|world| id(world.dice.roll(3))),
            kind: self.maybe(|world| Kind::ALL[usize::try_from(world.dice.roll(5)).unwrap()]),
            marks: self.maybe(|world| {
                let marks = interrupt_row(world.dice.roll(60)).assigned.unwrap_or_default();
                marks.split("\n\n").map(|mark| format!("\n{}\n", mark.trim())).collect()
            }),
        }
    }

    fn stream(&mut self) -> StreamId {
        match self.dice.roll(8) {
            0 => StreamId::System,
            n @ 1..3 => StreamId::Session(id(n)),
            n => run_stream(n),
        }
    }

    /// Returns random bytes, with few different values per size so that values repeat.
    fn bytes(&mut self) -> Vec<u8> {
        let byte = u8::try_from(self.dice.roll(6)).unwrap();
        let size = if self.dice.chance(12) { 70_000 } else { 10 };
        vec![byte; size]
    }

    fn cursor(&mut self) -> Option<Cursor> {
        let known = u64::try_from(self.cursors.len()).unwrap();
        self.maybe(|world| world.cursors[usize::try_from(world.dice.roll(known)).unwrap()].clone())
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.dice.chance(2) { Some(make(self)) } else { None }
    }

    /// Records the cursors in a store's result. Later operations use them, sometimes in the wrong list.
    fn learn(&mut self, answer: &str) {
        if let Some((_, rest)) = answer.split_once("next: Some(\"") {
            self.cursors.extend(rest.split_once('"').map(|(cursor, _)| cursor.to_owned()));
        }
    }
}
