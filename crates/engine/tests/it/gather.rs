//! Notifications of one channel, some of which are combined into one message, and others dropped. Each table row is one
//! case.

use std::collections::BTreeSet;

use holdshort_core::channel::{Channel, To, Via};
use holdshort_core::delivery::{Delivery, DeliveryState};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::Kind;
use holdshort_core::json;
use holdshort_core::level::Level;
use holdshort_core::notice::{Notice, Occasion, Recipient};
use holdshort_core::people::People;
use holdshort_core::quiet_hours::{Digest, Hold};
use holdshort_core::time::Timestamp;
use holdshort_engine::outbox::gather::{Sorted, sort};

fn channel() -> Channel {
    Channel {
        via: Via::Email,
        to: To::People,
        hold: Hold { quiet: Vec::new(), digest: Some(Digest::Every(3_600_000)) },
        ..Channel::webhook("mail".to_owned(), 1, 1, 1)
    }
}

/// Returns a channel that notifies all its readers immediately, without quiet hours and digests.
pub(crate) fn at_once() -> Channel {
    Channel {
        name: "at_once".to_owned(),
        via: Via::Ntfy,
        to: To::Channel,
        hold: Hold::default(),
        ..channel()
    }
}

fn id(n: u64) -> InterruptId {
    format!("int_01k6f0000000000000000000{n:02}").parse().unwrap()
}

/// Returns a delivery for the event with sequence number `seq`, about the `n`th interrupt.
fn new_delivery(seq: u64, n: u64, occasion: Occasion, to: &str, risk: Level) -> Delivery {
    let notice = Notice {
        occasion,
        at: Timestamp::from_millis(1),
        run: "run_01k6f0000000000000000000aa".parse().unwrap(),
        seq,
        session: "ses_01k6f0000000000000000000bb".parse().unwrap(),
        workflow: "payout".to_owned(),
        interrupt: id(n),
        kind: Kind::Review,
        risk,
        people: Vec::new(),
        groups: Vec::new(),
        operators: false,
        expires_at: None,
        outcome: None,
        by: Vec::new(),
        told: Vec::new(),
        to: Some(Recipient::Person(to.to_owned())),
    };
    Delivery {
        delivery: format!("dlv_01k6f0000000000000000000{seq:02}").parse().unwrap(),
        channel: "mail".to_owned(),
        occasion,
        run: notice.run.clone(),
        seq,
        interrupt: id(n),
        notice: String::from_utf8(json::canonical(&notice)).unwrap(),
        state: DeliveryState::Waiting,
        created_at: Timestamp::from_millis(1),
        next_at: Some(Timestamp::from_millis(3_600_000)),
        attempts: 0,
        node: None,
        status: None,
        error: None,
        ended_at: None,
    }
}

fn low(seq: u64, n: u64, occasion: Occasion) -> Delivery {
    new_delivery(seq, n, occasion, "anna", Level::Low)
}

/// Returns the sequence numbers of the deliveries in each message, and those of the dropped deliveries.
fn sorted(claimed: Vec<Delivery>, open: &[u64]) -> (Vec<Vec<u64>>, Vec<u64>) {
    let open: BTreeSet<InterruptId> = open.iter().map(|n| id(*n)).collect();
    let Sorted { bundles, dropped } = sort(claimed, &channel(), &People::default(), &open);
    let of = |bundle: &Vec<Delivery>| bundle.iter().map(|each| each.seq).collect();
    (bundles.iter().map(of).collect(), dropped.iter().map(|(each, _)| each.seq).collect())
}

#[test]
fn of_each_interrupt_the_last_is_told_and_of_what_is_decided_nothing() {
    use Occasion::{Escalated, Expired, Opened, Reminded, Resolved};
    for (story, claimed, open, wanted) in [
        ("two things", vec![low(1, 1, Opened), low(2, 2, Opened)], vec![1, 2], (vec![vec![1, 2]], vec![])),
        (
            "told again and again",
            vec![low(1, 1, Opened), low(2, 1, Reminded), low(3, 1, Escalated)],
            vec![1],
            (vec![vec![3]], vec![1, 2]),
        ),
        ("decided meanwhile", vec![low(1, 1, Opened), low(2, 1, Resolved)], vec![], (vec![], vec![1, 2])),
        ("decided, after it was told", vec![low(2, 1, Resolved)], vec![], (vec![vec![2]], vec![])),
        (
            "decided, after it was told and before the reminder",
            vec![low(2, 1, Reminded), low(3, 1, Resolved)],
            vec![],
            (vec![vec![3]], vec![2]),
        ),
        (
            "nobody was told in time",
            vec![low(1, 1, Opened), low(2, 1, Expired)],
            vec![],
            (vec![vec![2]], vec![1]),
        ),
    ] {
        assert_eq!(sorted(claimed, &open), wanted, "{story}");
    }
}

#[test]
fn each_has_a_message_of_their_own_and_what_is_critical_is_alone() {
    let claimed = vec![
        new_delivery(1, 1, Occasion::Opened, "anna", Level::Low),
        new_delivery(2, 2, Occasion::Opened, "ben", Level::High),
        new_delivery(3, 3, Occasion::Opened, "anna", Level::Critical),
        new_delivery(4, 4, Occasion::Opened, "anna", Level::High),
    ];
    assert_eq!(sorted(claimed, &[1, 2, 3, 4]), (vec![vec![3], vec![1, 4], vec![2]], vec![]));
}
