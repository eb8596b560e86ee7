//! Appends, events and rows for tests. The events have arbitrary bytes, because a store never interprets events.

use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed, SealedContent};
use holdshort_core::history;
use holdshort_core::id::{Draw, Id, InterruptId, RunId, Seed, SessionId, StreamId};
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::{AnswerRow, InterruptRow, RunRow, SessionRow, Status};
use holdshort_core::session::State;
use holdshort_core::time::Timestamp;
use holdshort_store::{Append, AppendError, Appended, Journal, Key, Positioned, Rows, StreamAppend};

/// Maximum time to wait for something that should happen at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the `n`th test id. Ids with larger numbers sort later.
pub(crate) fn id<I: Id>(n: u64) -> I {
    let mut seed = [7; 16];
    seed[..8].copy_from_slice(&n.to_le_bytes());
    Draw::new(Seed(seed), at(n)).id()
}

pub(crate) fn run_stream(n: u64) -> StreamId {
    StreamId::Run(id(n))
}

pub(crate) fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(i64::try_from(ms).unwrap())
}

pub(crate) fn content(bytes: Vec<u8>) -> SealedContent {
    SealedContent { salt: [5; 16], bytes }
}

/// Returns the next event of a stream, and advances its hash chain.
pub(crate) fn event(stream: &StreamId, chain: &mut Chain, content: Option<SealedContent>) -> Sealed {
    let seq = chain.seq + 1;
    let head = format!(r#"{{"seq":{seq},"stream":"{stream}","type":"tested","v":1}}"#).into_bytes();
    let hash = Digest::of_parts(&[chain.hash.as_bytes(), &head]);
    *chain = Chain { seq, hash };
    Sealed { stream: stream.clone(), seq, head, content, hash }
}

/// Returns `count` events after the sequence `expected`. Tests that verify chains cannot use them, because they do not
/// continue the stream's hash chain.
pub(crate) fn events(stream: &StreamId, expected: u64, count: u64) -> StreamAppend {
    let mut chain = Chain { seq: expected, hash: Digest::of_bytes(&expected.to_be_bytes()) };
    let events = (0..count)
        .map(|i| event(stream, &mut chain, (i % 2 == 0).then(|| content(b"\"hello\"".to_vec()))))
        .collect();
    StreamAppend { stream: stream.clone(), expected, events }
}

pub(crate) fn to(stream: &StreamId, expected: u64, count: u64) -> Append {
    Append { streams: vec![events(stream, expected, count)], ..Append::default() }
}

pub(crate) fn key(name: &str, reference: &str) -> Key {
    Key {
        scope: "tests".to_owned(),
        key: name.to_owned(),
        digest: Digest::of_bytes(reference.as_bytes()),
        reference: reference.to_owned(),
    }
}

pub(crate) fn run_row(n: u64) -> RunRow {
    RunRow {
        run: id(n),
        session: id::<SessionId>(n % 3),
        workflow: if n.is_multiple_of(2) { "pair" } else { "crew" }.to_owned(),
        status: Status::ALL[usize::try_from(n % 7).unwrap()],
        end_reason: n.is_multiple_of(5).then(|| "asked to".to_owned()),
        runnable: n.is_multiple_of(4),
        deadline: n.is_multiple_of(3).then(|| at(1000 - n)),
        seq: n,
        ended_seq: n.is_multiple_of(5).then_some(n),
        requests: (!n.is_multiple_of(4)).then_some(n),
        input_tokens: (!n.is_multiple_of(4)).then_some(10 * n),
        output_tokens: (!n.is_multiple_of(4)).then_some(n + 7),
        cost: n.is_multiple_of(2).then_some(100 + n),
        currency: n.is_multiple_of(2).then(|| if n.is_multiple_of(4) { "EUR" } else { "USD" }.to_owned()),
        unpriced: (!n.is_multiple_of(4)).then_some(n % 2),
        // Two runs have the same timestamp, so that lists must order them by their ids.
        created_at: at(n / 2),
        updated_at: at(n + 1),
    }
}

pub(crate) fn session_row(n: u64) -> SessionRow {
    SessionRow {
        session: id(n),
        workflow: n.is_multiple_of(3).then(|| "mars".to_owned()),
        state: State::ALL[usize::try_from(n % 4).unwrap()],
        seq: n % 5,
        created_at: at(n / 2),
        changed_at: at(n + 1),
        idle_ms: n.is_multiple_of(2).then_some(10 * n + 1),
        front_run: n.is_multiple_of(4).then(|| id(n)),
        idle_since: at(n + 2),
    }
}

pub(crate) fn interrupt_row(n: u64) -> InterruptRow {
    InterruptRow {
        interrupt: id::<InterruptId>(n),
        run: id::<RunId>(n % 4),
        // The session of the interrupt's run.
        session: id::<SessionId>(n % 4 % 3),
        kind: Kind::ALL[usize::try_from(n % 5).unwrap()],
        open: !n.is_multiple_of(3),
        risk: u8::try_from(n % 4).unwrap(),
        created_at: at(n / 2),
        expires_at: n.is_multiple_of(2).then(|| at(n + 100)),
        opened_seq: n,
        resolved_seq: n.is_multiple_of(3).then_some(n + 1),
        claimed_by: n.is_multiple_of(7).then(|| format!("person {n}")),
        assigned: (!n.is_multiple_of(11)).then(|| marks(n)),
    }
}

/// Returns marks (names of people and groups) that a store could confuse: names that differ only in case, prefixes, and
/// wildcards.
fn marks(n: u64) -> String {
    let names = ["p:ann", "p:Ann", "p:anna", "g:100%", "g:a_b", "*", "p:Łukasz"];
    let at = usize::try_from(n).unwrap();
    [names[at % names.len()], names[at / 2 % names.len()]].map(|name| format!("\n{name}\n")).concat()
}

/// Returns an answer with one of a few words, so that words repeat. Every seventh answer is erased.
pub(crate) fn answer_row(n: u64) -> AnswerRow {
    let is_erased = n.is_multiple_of(7);
    let word =
        |n: u64| ["sleep", "élan", "走る", "knee", "ON", "don't", "%_*\"'"][usize::try_from(n % 7).unwrap()];
    let (question, answer) = (format!("How is the {}?", word(n / 2)), format!("{} and {n}", word(n)));
    let (question, answer) = (question.as_str(), answer.as_str());
    AnswerRow {
        interrupt: id(n),
        run: id(n % 4),
        subject: ["athlete-7", "athlete-8", "Ünïcode  ' subject"][usize::try_from(n % 3).unwrap()].to_owned(),
        agent: n.is_multiple_of(2).then(|| "metrics".to_owned()),
        question: question.to_owned(),
        answer: if is_erased { String::new() } else { answer.to_owned() },
        is_data: n.is_multiple_of(5),
        by: "operator".to_owned(),
        at: at(n),
        corrected_at: n.is_multiple_of(3).then(|| at(n + 5)),
        reused: n.is_multiple_of(6),
        source: n.is_multiple_of(2).then(|| id(n % 5)),
        erased: is_erased,
        asked: if is_erased { String::new() } else { history::question_key(question) },
        words: if is_erased {
            String::new()
        } else {
            history::collect_words([question, answer], 100).join(" ")
        },
    }
}

pub(crate) async fn put(journal: &impl Journal, rows: Rows) {
    journal.append(Append { rows, ..Append::default() }).await.unwrap();
}

pub(crate) async fn put_run(journal: &impl Journal, row: RunRow) {
    put(journal, Rows { run: Some(row), ..Rows::default() }).await;
}

pub(crate) async fn put_session(journal: &impl Journal, row: SessionRow) {
    put(journal, Rows { session: Some(row), ..Rows::default() }).await;
}

pub(crate) async fn put_interrupt(journal: &impl Journal, row: InterruptRow) {
    put(journal, Rows { interrupts: vec![row], ..Rows::default() }).await;
}

/// Waits until reads by position see all acknowledged events. Returns all events.
pub(crate) async fn log(journal: &impl Journal) -> Vec<Positioned> {
    let last = journal.append(Append::default()).await.unwrap().position;
    seen(journal, last).await;
    journal.tail(0, usize::MAX).await.unwrap()
}

/// Waits until reads by position see the event at this position.
pub(crate) async fn seen(journal: &impl Journal, position: u64) {
    let mut told = journal.watch();
    let wait = tokio::time::timeout(PATIENCE, told.wait_for(|told| *told >= position));
    wait.await.expect("reads by position see it in time").unwrap();
}

/// Converts the result of an append for comparisons, because errors do not implement `PartialEq`.
pub(crate) fn comparable_outcome(result: Result<Appended, AppendError>) -> Result<u64, String> {
    result.map(|appended| appended.position).map_err(|error| format!("{error:?}"))
}

/// Seeded random number generator (`SplitMix64`). The seed of a failing test reproduces the failure.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.roll(one_in) == 0
    }
}
