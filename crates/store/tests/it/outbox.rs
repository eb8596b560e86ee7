//! Store tests for deliveries (notifications to send): they are written with an append, sent by one node at a time, and
//! kept for a limited time.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::delivery::{Attempt, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId, RunId};
use holdshort_core::notice::Occasion;
use holdshort_store::{
    Append, AppendError, CHANNEL_PAUSE, Claim, DeliveryChange, DeliveryFilter, Failing, Journal, Log, Outbox,
    Rows, SettleOutcome, Settled, Tables,
};

use crate::conformance::{on_every_store, on_stores};
use crate::fixture::{at, id, interrupt_row, run_stream, to};
use crate::subject::{Cluster, InPostgres, InSqlite, Subject};

on_every_store! {
    deliveries_are_written_with_their_append_or_not_at_all,
    they_are_claimed_when_they_are_due_and_settled_once,
    what_a_process_left_claimed_is_claimed_again,
    a_channel_that_is_disabled_gets_nothing_until_one_is_retried,
    a_pause_counts_in_part_of_how_long_a_channel_fails,
    one_that_is_retried_waits_from_then_on,
    what_waits_too_long_fails_and_what_is_old_is_forgotten,
    what_receivers_answered_goes_with_the_run,
    deliveries_are_listed_newest_first,
    what_is_rebuilt_leaves_them_alone,
    a_long_queue_is_claimed_in_parts_and_each_once,
}

on_stores! {
    {
        of_several_nodes_each_delivery_goes_to_one,
        a_node_that_is_gone_leaves_its_deliveries_to_others,
        what_a_node_still_sends_is_not_given_to_it_again,
        what_is_claimed_as_a_whole_goes_to_one_of_them,
    }: shared_memory InMemory, shared_postgres InPostgres
}

fn delivery(n: u64) -> Delivery {
    Delivery {
        delivery: id(n),
        channel: if n.is_multiple_of(2) { "even" } else { "odd" }.to_owned(),
        occasion: Occasion::ALL[usize::try_from(n % 6).unwrap()],
        run: id::<RunId>(1),
        seq: n,
        interrupt: id::<InterruptId>(n % 3),
        notice: format!(r#"{{"n":{n}}}"#),
        state: DeliveryState::Waiting,
        created_at: at(n),
        next_at: Some(at(n)),
        attempts: 0,
        node: None,
        status: None,
        error: None,
        ended_at: None,
    }
}

/// Returns an append with these deliveries and one event, whose sequence is `expected + 1`.
fn telling(expected: u64, deliveries: Vec<Delivery>) -> Append {
    Append { deliveries, ..to(&run_stream(1), expected, 1) }
}

fn claim(channel: &str, now: u64, limit: usize) -> Claim {
    Claim { channel: channel.to_owned(), now: at(now), limit, sending: Vec::new(), whole: false }
}

fn ids(deliveries: &[Delivery]) -> Vec<DeliveryId> {
    deliveries.iter().map(|each| each.delivery.clone()).collect()
}

fn tried(delivery: &Delivery, state: DeliveryState, now: u64) -> Settled {
    let number = delivery.attempts + 1;
    let ended = state != DeliveryState::Waiting;
    let attempt = Attempt {
        delivery: delivery.delivery.clone(),
        number,
        at: at(now),
        took_ms: 7,
        status: Some(503),
        error: Some("answered 503".to_owned()),
        digest: Some("ab".repeat(32)),
        answer: Some("later".to_owned()),
    };
    let delivery = Delivery {
        state,
        next_at: (!ended).then_some(at(now + 100)),
        ended_at: ended.then_some(at(now)),
        attempts: number,
        node: None,
        status: Some(503),
        error: Some("answered 503".to_owned()),
        ..delivery.clone()
    };
    Settled { delivery, attempt: Some(attempt) }
}

fn failing(since: u64, ms: u64) -> SettleOutcome {
    SettleOutcome::Written { failing: Some(Failing { since: at(since), ms }) }
}

async fn claimed(journal: &impl Journal, channel: &str, now: u64) -> Vec<Delivery> {
    journal.claim_deliveries(claim(channel, now, 100)).await.unwrap()
}

async fn deliveries_are_written_with_their_append_or_not_at_all<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, vec![delivery(1), delivery(2)])).await.unwrap();
    let late = journal.append(telling(0, vec![delivery(3)])).await;
    assert!(matches!(late, Err(AppendError::Conflict { .. })), "{late:?}");
    let twice = journal.append(telling(1, vec![delivery(4), delivery(4)])).await;
    assert!(matches!(twice, Err(AppendError::Malformed(_))), "{twice:?}");
    let store = store.restart().await;
    for (n, kept) in [(1, true), (2, true), (3, false), (4, false)] {
        let found = store.journal().delivery(&id(n)).await.unwrap();
        assert_eq!(found, kept.then(|| delivery(n)), "{n}");
    }
    assert_eq!(store.journal().inspect().await.unwrap(), [""; 0]);
}

async fn they_are_claimed_when_they_are_due_and_settled_once<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, (1..=9).map(delivery).collect())).await.unwrap();
    assert_eq!(journal.next_delivery(vec!["odd".to_owned()]).await.unwrap(), Some(at(1)));
    assert_eq!(claimed(&**journal, "odd", 0).await, []);
    let first = journal.claim_deliveries(claim("odd", 7, 2)).await.unwrap();
    assert_eq!(ids(&first), [id(1), id(3)]);
    // A node does not claim deliveries again that it is still sending.
    let sending = ids(&first);
    let more = Claim { sending: sending.clone(), ..claim("odd", 7, 10) };
    assert_eq!(ids(&journal.claim_deliveries(more).await.unwrap()), [id(5), id(7)]);
    assert_eq!(journal.next_delivery(vec!["odd".to_owned()]).await.unwrap(), Some(at(9)));
    let both = vec!["odd".to_owned(), "even".to_owned(), "nobody".to_owned()];
    assert_eq!(journal.next_delivery(both).await.unwrap(), Some(at(2)));

    let retried = tried(&first[0], DeliveryState::Waiting, 50);
    let told = journal.settle_delivery(retried.clone()).await.unwrap();
    assert_eq!(told, failing(50, 0));
    assert_eq!(journal.delivery(&id(1)).await.unwrap(), Some(retried.delivery.clone()));
    assert_eq!(
        journal.attempts(&id(1)).await.unwrap(),
        retried.attempt.clone().into_iter().collect::<Vec<_>>()
    );
    assert_eq!(
        journal.settle_delivery(retried.clone()).await.unwrap(),
        SettleOutcome::Taken,
        "it is not claimed"
    );
    let failed = tried(&first[1], DeliveryState::Failed, 60);
    let told = journal.settle_delivery(failed).await.unwrap();
    assert_eq!(told, failing(50, 10), "from the first failure to the last");

    let again = journal.claim_deliveries(Claim { sending, ..claim("odd", 150, 1) }).await.unwrap();
    assert_eq!(ids(&again), [id(5)], "the longest due first");
    let due = journal.claim_deliveries(claim("odd", 150, 100)).await.unwrap();
    assert_eq!(ids(&due), [id(5), id(7), id(9), id(1)]);
    let delivered = tried(&due[3], DeliveryState::Delivered, 160);
    assert_eq!(journal.settle_delivery(delivered).await.unwrap(), SettleOutcome::Written { failing: None });
    assert_eq!(journal.channel_states().await.unwrap(), []);
    assert_eq!(journal.attempts(&id(1)).await.unwrap().len(), 2);
}

async fn what_a_process_left_claimed_is_claimed_again<S: Subject>() {
    let store = S::open().await;
    store.journal().append(telling(0, vec![delivery(1), delivery(3)])).await.unwrap();
    let before = claimed(&**store.journal(), "odd", 10).await;
    assert_eq!(before.len(), 2);
    let store = store.restart().await;
    let after = claimed(&**store.journal(), "odd", 10).await;
    assert_eq!(ids(&after), ids(&before));
    // A node claims a delivery again that it had claimed earlier and no longer lists in `sending`.
    let known = Claim { sending: vec![id(1)], ..claim("odd", 10, 100) };
    assert_eq!(ids(&store.journal().claim_deliveries(known).await.unwrap()), [id(3)]);
}

async fn a_channel_that_is_disabled_gets_nothing_until_one_is_retried<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, (1..=4).map(delivery).collect())).await.unwrap();
    let one = claimed(&**journal, "odd", 10).await.remove(0);
    journal.settle_delivery(tried(&one, DeliveryState::Failed, 20)).await.unwrap();
    let disable = |now| DeliveryChange::Disable {
        channel: "odd".to_owned(),
        why: "nothing came through".to_owned(),
        now: at(now),
    };
    assert_eq!(journal.change_deliveries(disable(30)).await.unwrap(), 1);
    assert_eq!(journal.change_deliveries(disable(31)).await.unwrap(), 0, "once");
    let [state] = &journal.channel_states().await.unwrap()[..] else { panic!("one channel") };
    let told = (&*state.channel, state.failing_since, state.disabled_at, state.why.as_deref());
    assert_eq!(told, ("odd", at(20), Some(at(30)), Some("nothing came through")));
    assert_eq!(claimed(&**journal, "odd", 100).await, []);
    assert_eq!(journal.next_delivery(vec!["odd".to_owned()]).await.unwrap(), None);
    assert_eq!(claimed(&**journal, "even", 100).await.len(), 2);

    let retry = DeliveryChange::Retry { delivery: id(1), now: at(40) };
    assert_eq!(journal.change_deliveries(retry).await.unwrap(), 1);
    assert_eq!(journal.channel_states().await.unwrap(), []);
    let again = claimed(&**journal, "odd", 100).await;
    assert_eq!(ids(&again), [id(3), id(1)]);
    assert_eq!((again[1].attempts, again[1].state), (1, DeliveryState::Waiting));
    let sent = DeliveryChange::Retry { delivery: id(1), now: at(41) };
    assert_eq!(journal.change_deliveries(sent).await.unwrap(), 0, "it is being sent");
    let unknown = DeliveryChange::Retry { delivery: id(77), now: at(41) };
    assert_eq!(journal.change_deliveries(unknown).await.unwrap(), 0);
    journal.settle_delivery(tried(&again[1], DeliveryState::Delivered, 42)).await.unwrap();
    let delivered = DeliveryChange::Retry { delivery: id(1), now: at(43) };
    assert_eq!(journal.change_deliveries(delivered).await.unwrap(), 0, "it is there");
    assert_eq!(journal.delivery(&id(1)).await.unwrap().unwrap().state, DeliveryState::Delivered);
}

/// A long pause between two failed attempts adds only a part of its duration to the time for which a channel is
/// failing.
async fn a_pause_counts_in_part_of_how_long_a_channel_fails<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, (0..8).map(|n| delivery(2 * n + 1)).collect())).await.unwrap();
    let day = u64::try_from(CHANNEL_PAUSE.as_millis()).unwrap();
    // For each attempt: its time, its result, and the state of the channel after the attempt.
    let attempts = [
        (100, DeliveryState::Waiting, failing(100, 0)),
        (150, DeliveryState::Failed, failing(100, 50)),
        // This attempt began before the preceding attempt, and ended after it.
        (140, DeliveryState::Waiting, failing(100, 50)),
        (9 * day, DeliveryState::Waiting, failing(100, 50 + day)),
        (9 * day + 7, DeliveryState::Failed, failing(100, 57 + day)),
        (30 * day, DeliveryState::Failed, failing(100, 57 + 2 * day)),
        (31 * day, DeliveryState::Delivered, SettleOutcome::Written { failing: None }),
        (40 * day, DeliveryState::Waiting, failing(40 * day, 0)),
    ];
    for (one, (now, state, wanted)) in claimed(&**journal, "odd", 100).await.iter().zip(attempts) {
        assert_eq!(journal.settle_delivery(tried(one, state, now)).await.unwrap(), wanted, "at {now}");
    }
}

async fn one_that_is_retried_waits_from_then_on<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, vec![delivery(1), delivery(3)])).await.unwrap();
    let fail = |now| DeliveryChange::FailOld { before: at(now), why: "it waited".to_owned(), now: at(now) };
    assert_eq!(journal.change_deliveries(fail(10)).await.unwrap(), 2);
    let retry = DeliveryChange::Retry { delivery: id(1), now: at(20) };
    assert_eq!(journal.change_deliveries(retry).await.unwrap(), 1);
    assert_eq!(journal.change_deliveries(fail(20)).await.unwrap(), 0);
    assert_eq!(journal.delivery(&id(1)).await.unwrap().unwrap().state, DeliveryState::Waiting);
    assert_eq!(journal.change_deliveries(fail(21)).await.unwrap(), 1);
}

async fn what_waits_too_long_fails_and_what_is_old_is_forgotten<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, (1..=6).map(delivery).collect())).await.unwrap();
    let one = claimed(&**journal, "odd", 1).await.remove(0);
    journal.settle_delivery(tried(&one, DeliveryState::Delivered, 10)).await.unwrap();
    let fail = DeliveryChange::FailOld { before: at(4), why: "it waited too long".to_owned(), now: at(20) };
    assert_eq!(journal.change_deliveries(fail.clone()).await.unwrap(), 2);
    assert_eq!(journal.change_deliveries(fail).await.unwrap(), 0);
    let failed = journal.delivery(&id(2)).await.unwrap().unwrap();
    let told = (failed.state, failed.next_at, failed.ended_at, failed.error.as_deref());
    assert_eq!(told, (DeliveryState::Failed, None, Some(at(20)), Some("it waited too long")));

    let forget = |bodies, attempts| DeliveryChange::Forget { bodies: at(bodies), attempts: at(attempts) };
    assert_eq!(journal.change_deliveries(forget(15, 5)).await.unwrap(), 1);
    assert_eq!(journal.change_deliveries(forget(15, 5)).await.unwrap(), 0);
    assert_eq!(journal.delivery(&id(1)).await.unwrap().unwrap().notice, "");
    let [attempt] = &journal.attempts(&id(1)).await.unwrap()[..] else { panic!("one attempt") };
    assert_eq!((attempt.answer.as_deref(), attempt.status), (None, Some(503)));
    let retry = DeliveryChange::Retry { delivery: id(1), now: at(40) };
    assert_eq!(journal.change_deliveries(retry).await.unwrap(), 0, "nobody knows what it said");

    assert_eq!(journal.change_deliveries(forget(15, 15)).await.unwrap(), 1);
    assert_eq!(journal.delivery(&id(1)).await.unwrap(), None);
    assert_eq!(journal.attempts(&id(1)).await.unwrap(), []);
    let drop_all = DeliveryChange::DropWaiting { why: "restored".to_owned(), now: at(50) };
    assert_eq!(journal.change_deliveries(drop_all).await.unwrap(), 3);
    assert_eq!(claimed(&**journal, "odd", 100).await, []);
    assert_eq!(journal.delivery(&id(6)).await.unwrap().unwrap().state, DeliveryState::Dropped);
}

async fn what_receivers_answered_goes_with_the_run<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    // Deliveries about the interrupts 1 and 2 of the runs 1 and 2.
    let other = Delivery { run: id::<RunId>(2), ..delivery(5) };
    let rows = Rows { interrupts: vec![interrupt_row(1), interrupt_row(2)], ..Rows::default() };
    journal.append(Append { rows, ..telling(0, vec![delivery(1), other]) }).await.unwrap();
    for one in claimed(&**journal, "odd", 10).await {
        journal.settle_delivery(tried(&one, DeliveryState::Delivered, 10)).await.unwrap();
    }
    let forgets = Some(id::<RunId>(1));
    journal.append(Append { forgets, ..to(&run_stream(1), 1, 1) }).await.unwrap();
    for (n, answer) in [(1, None), (5, Some("later"))] {
        let [attempt] = &journal.attempts(&id(n)).await.unwrap()[..] else { panic!("one attempt") };
        assert_eq!((attempt.answer.as_deref(), attempt.status), (answer, Some(503)), "{n}");
    }
}

async fn deliveries_are_listed_newest_first<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, (1..=7).map(delivery).collect())).await.unwrap();
    let one = claimed(&**journal, "odd", 1).await.remove(0);
    journal.settle_delivery(tried(&one, DeliveryState::Delivered, 10)).await.unwrap();
    let odd = || Some("odd".to_owned());
    let cases: [(DeliveryFilter, &[u64]); 5] = [
        (DeliveryFilter::default(), &[7, 6, 5, 4, 3, 2, 1]),
        (DeliveryFilter { channel: odd(), ..DeliveryFilter::default() }, &[7, 5, 3, 1]),
        (DeliveryFilter { state: Some(DeliveryState::Delivered), ..DeliveryFilter::default() }, &[1]),
        (
            DeliveryFilter {
                state: Some(DeliveryState::Waiting),
                channel: odd(),
                ..DeliveryFilter::default()
            },
            &[7, 5, 3],
        ),
        (DeliveryFilter { interrupt: Some(id(0)), ..DeliveryFilter::default() }, &[6, 3]),
    ];
    for (filter, wanted) in cases {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = journal.deliveries(&filter, after.as_ref(), 2).await.unwrap();
            found.extend(ids(&page.items));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, wanted.iter().map(|n| id(*n)).collect::<Vec<_>>(), "{filter:?}");
    }
    let bad = journal.deliveries(&DeliveryFilter::default(), Some(&"x".to_owned()), 2).await;
    assert!(matches!(bad, Err(holdshort_store::Error::BadCursor)), "{bad:?}");
}

async fn what_is_rebuilt_leaves_them_alone<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    journal.append(telling(0, vec![delivery(1)])).await.unwrap();
    journal.replace_rows(Vec::new()).await.unwrap();
    assert_eq!(journal.delivery(&id(1)).await.unwrap(), Some(delivery(1)));
}

/// Each waiting delivery is claimed exactly once, at most `limit` per claim, and none is lost when a process stops.
async fn all_that_wait_are_claimed_once<S: Subject>(many: u64) {
    const ROOM: usize = 4;
    /// Maximum number of deliveries in one append.
    const TOLD_AT_ONCE: u64 = 100;
    let store = S::open().await;
    for n in 0..many / TOLD_AT_ONCE {
        let first = n * TOLD_AT_ONCE;
        let deliveries = (first..first + TOLD_AT_ONCE).map(|n| delivery(2 * n)).collect();
        store.journal().append(telling(n, deliveries)).await.unwrap();
    }
    let lost = ids(&store.journal().claim_deliveries(claim("even", 2 * many, ROOM)).await.unwrap());
    let store = store.restart().await;
    let journal = store.journal();
    let mut all = Vec::new();
    loop {
        let due = journal.claim_deliveries(claim("even", 2 * many, ROOM)).await.unwrap();
        assert!(due.len() <= ROOM);
        if due.is_empty() {
            break;
        }
        all.extend(ids(&due));
        for each in &due {
            journal.settle_delivery(tried(each, DeliveryState::Delivered, 2 * many)).await.unwrap();
        }
    }
    assert_eq!(all[..ROOM], lost, "the longest due first");
    let wanted: Vec<DeliveryId> = (0..many).map(|n| id(2 * n)).collect();
    assert_eq!(all, wanted);
    assert_eq!(journal.next_delivery(vec!["even".to_owned()]).await.unwrap(), None);
}

async fn a_long_queue_is_claimed_in_parts_and_each_once<S: Subject>() {
    all_that_wait_are_claimed_once::<S>(400).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_a_hundred_thousand_in_sqlite() {
    all_that_wait_are_claimed_once::<InSqlite>(100_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_a_hundred_thousand_in_postgres() {
    all_that_wait_are_claimed_once::<InPostgres>(100_000).await;
}

async fn of_several_nodes_each_delivery_goes_to_one<S: Cluster>() {
    const MANY: u64 = 60;
    let store = S::open().await;
    store.journal().append(telling(0, (1..=MANY).map(|n| delivery(2 * n)).collect())).await.unwrap();
    let nodes = [store.journal().clone(), store.join().await, store.join().await];
    let mut claiming = Vec::new();
    for node in nodes {
        let node: Arc<S::Journal> = node;
        claiming.push(tokio::spawn(async move {
            let (mut sending, mut all) = (Vec::new(), Vec::new());
            loop {
                let claim = Claim { sending: sending.clone(), ..claim("even", 1_000, 3) };
                let claimed = node.claim_deliveries(claim).await.unwrap();
                sending.extend(ids(&claimed));
                if claimed.is_empty() {
                    return all;
                }
                all.extend(ids(&claimed));
                for each in &claimed {
                    let told =
                        node.settle_delivery(tried(each, DeliveryState::Delivered, 2_000)).await.unwrap();
                    assert_eq!(told, SettleOutcome::Written { failing: None });
                }
            }
        }));
    }
    let mut all = Vec::new();
    for each in claiming {
        all.extend(each.await.unwrap());
    }
    assert_eq!(all.len(), usize::try_from(MANY).unwrap());
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), usize::try_from(MANY).unwrap());
}

/// Deliveries claimed with `whole` all go to one node, even if many nodes claim at once. Digests need this, because
/// they combine all deliveries in one message.
async fn what_is_claimed_as_a_whole_goes_to_one_of_them<S: Cluster>() {
    const MANY: u64 = 60;
    for _ in 0..5 {
        let store = S::open().await;
        store.journal().append(telling(0, (1..=MANY).map(|n| delivery(2 * n)).collect())).await.unwrap();
        let nodes = [store.journal().clone(), store.join().await, store.join().await];
        let claiming = nodes.map(|node: Arc<S::Journal>| {
            tokio::spawn(async move {
                let claim = Claim { whole: true, ..claim("even", 1_000, 500) };
                node.claim_deliveries(claim).await.unwrap().len()
            })
        });
        let mut claimed = Vec::new();
        for each in claiming {
            claimed.push(each.await.unwrap());
        }
        claimed.sort_unstable();
        assert_eq!(claimed, [0, 0, usize::try_from(MANY).unwrap()]);
    }
}

/// A node cannot claim again a delivery that it is still sending, even after another node has claimed and released it.
/// Otherwise the result of the old attempt would settle the new claim, and the message would be sent twice.
async fn what_a_node_still_sends_is_not_given_to_it_again<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    one.append(telling(0, vec![delivery(1), delivery(3)])).await.unwrap();
    let sending = ids(&claimed(&**one, "odd", 10).await);
    store.lapse(one).await;
    let taken = claimed(&*other, "odd", 10).await;
    assert_eq!(ids(&taken), sending);
    other.settle_delivery(tried(&taken[0], DeliveryState::Waiting, 20)).await.unwrap();
    store.revive(one).await;
    let claim = Claim { sending: vec![sending[0].clone()], ..claim("odd", 200, 10) };
    assert_eq!(one.claim_deliveries(claim).await.unwrap(), [], "and the other one sends the second");
    assert_eq!(ids(&claimed(&**one, "odd", 200).await), sending[..1], "it knows nothing of it any more");
}

async fn a_node_that_is_gone_leaves_its_deliveries_to_others<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    one.append(telling(0, vec![delivery(1), delivery(3)])).await.unwrap();
    let before = claimed(&**one, "odd", 10).await;
    assert_eq!(before.len(), 2);
    assert_eq!(claimed(&*other, "odd", 10).await, []);
    let retry = DeliveryChange::Retry { delivery: id(1), now: at(41) };
    assert_eq!(other.change_deliveries(retry).await.unwrap(), 0, "it is being sent");
    one.append(telling(1, vec![delivery(5)])).await.unwrap();
    store.lapse(one).await;
    // A node whose lease has expired claims nothing, even if it has not noticed, because a different node may be
    // sending the same delivery.
    assert_eq!(claimed(&**one, "odd", 10).await, []);
    assert_eq!(other.next_delivery(vec!["odd".to_owned()]).await.unwrap(), Some(at(1)));
    let after = claimed(&*other, "odd", 10).await;
    assert_eq!(after.len(), 3);
    assert_eq!(ids(&after[..2]), ids(&before));
    // The result of the first node comes too late and is rejected.
    let late = one.settle_delivery(tried(&before[0], DeliveryState::Failed, 20)).await.unwrap();
    assert_eq!(late, SettleOutcome::Taken);
    assert_eq!(other.attempts(&id(1)).await.unwrap(), []);
}
