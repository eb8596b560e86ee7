//! Store tests for leases, which determine the node that drives a run, with the stores that can have several nodes.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::id::RunId;
use holdshort_core::projection::RunRow;
use holdshort_store::{Append, AppendError, Journal, Lease, Leases, Log, Rows, Tables};

use crate::fixture::{Dice, id, put_run, run_row, run_stream, to};
use crate::subject::Cluster;

crate::conformance::on_stores! {
    {
        a_run_is_driven_by_one_node,
        a_lease_that_lapsed_is_taken_over,
        a_node_that_lapsed_goes_on_until_somebody_takes_over,
        a_visitor_wakes_the_node_that_drives,
        a_node_that_stops_leaves_its_runs_to_others,
        a_run_that_can_not_go_on_has_no_lease,
        of_many_who_claim_each_run_goes_to_one,
        the_nodes_are_listed_with_what_they_drive,
        there_is_a_lease_for_each_runnable_run,
    }: memory InMemory, postgres InPostgres
}

fn runnable(n: u64) -> RunRow {
    RunRow { runnable: true, ..run_row(n) }
}

fn drive(n: u64, expected: u64) -> Append {
    let rows = Rows { run: Some(runnable(n)), ..Rows::default() };
    Append { rows, drives: true, ..to(&run_stream(n), expected, 1) }
}

/// Returns an append such as a person's decision, which any node can make without driving the run.
fn visit(n: u64, expected: u64) -> Append {
    Append { drives: false, ..drive(n, expected) }
}

async fn is_driven(journal: &impl Journal, append: Append) -> bool {
    match journal.append(append).await {
        Ok(_) => false,
        Err(AppendError::Driven) => true,
        Err(other) => panic!("{other:?}"),
    }
}

async fn a_run_is_driven_by_one_node<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    one.append(drive(1, 0)).await.unwrap();
    assert!(is_driven(&*other, drive(1, 1)).await);
    let ended = Rows { run: Some(RunRow { runnable: false, ..run_row(1) }), ..Rows::default() };
    assert!(is_driven(&*other, Append { rows: ended.clone(), ..drive(1, 1) }).await);
    assert_eq!(other.chain(&run_stream(1)).await.unwrap().seq, 1);
    // The sequence is checked before the lease, so a node with an outdated state learns that it has to read again.
    let late = other.append(drive(1, 0)).await;
    assert!(matches!(late, Err(AppendError::Conflict { .. })), "{late:?}");
    one.append(Append { rows: ended, ..drive(1, 1) }).await.unwrap();
    other.append(drive(1, 2)).await.unwrap();
    assert!(is_driven(&**one, drive(1, 3)).await);
}

async fn a_lease_that_lapsed_is_taken_over<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    one.append(drive(1, 0)).await.unwrap();
    one.append(drive(2, 0)).await.unwrap();
    assert!(other.claim(10).await.unwrap().is_empty());
    store.lapse(one).await;
    assert_eq!(other.claim(1).await.unwrap(), [id::<RunId>(1)]);
    assert_eq!(other.claim(10).await.unwrap(), [id::<RunId>(2)]);
    assert_eq!(other.runnable(10).await.unwrap(), [1, 2].map(id::<RunId>));
    assert!(one.runnable(10).await.unwrap().is_empty());
    assert!(is_driven(&**one, drive(1, 1)).await);
    // A node can drive a run without claiming the run first.
    let third = store.join().await;
    store.lapse(&other).await;
    third.append(drive(2, 1)).await.unwrap();
    assert!(is_driven(&*other, drive(2, 2)).await);
}

async fn a_node_that_lapsed_goes_on_until_somebody_takes_over<S: Cluster>() {
    let store = S::open().await;
    let one = store.journal();
    one.append(drive(1, 0)).await.unwrap();
    store.lapse(one).await;
    one.append(drive(1, 1)).await.unwrap();
    assert_eq!(one.runnable(10).await.unwrap(), [id::<RunId>(1)]);
    store.join().await.claim(10).await.unwrap();
    assert!(is_driven(&**one, drive(1, 2)).await);
}

async fn a_visitor_wakes_the_node_that_drives<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    one.append(drive(1, 0)).await.unwrap();
    assert!(one.claim(10).await.unwrap().is_empty());
    other.append(visit(1, 1)).await.unwrap();
    assert!(other.claim(10).await.unwrap().is_empty());
    assert_eq!(one.claim(10).await.unwrap(), [id::<RunId>(1)]);
    assert!(one.claim(10).await.unwrap().is_empty());
    // A run that no node drives goes to the first node that claims runs.
    one.append(visit(2, 0)).await.unwrap();
    assert_eq!(other.claim(10).await.unwrap(), [id::<RunId>(2)]);
    assert!(one.claim(10).await.unwrap().is_empty());
}

async fn a_node_that_stops_leaves_its_runs_to_others<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    one.append(drive(1, 0)).await.unwrap();
    store.stop(one).await;
    assert!(!one.has_valid_leases());
    assert!(other.has_valid_leases());
    assert_eq!(other.claim(10).await.unwrap(), [id::<RunId>(1)]);
    let node = Some(other.nodes().await.unwrap().iter().find(|row| row.here).unwrap().node);
    assert_eq!(other.leases(None, 10).await.unwrap(), [Lease { run: id(1), node }]);
}

async fn a_run_that_can_not_go_on_has_no_lease<S: Cluster>() {
    let store = S::open().await;
    let journal = &**store.journal();
    journal.append(drive(1, 0)).await.unwrap();
    put_run(journal, RunRow { runnable: false, ..run_row(1) }).await;
    assert!(journal.leases(None, 10).await.unwrap().is_empty());
    assert!(journal.claim(10).await.unwrap().is_empty());
    put_run(journal, runnable(1)).await;
    assert_eq!(journal.leases(None, 10).await.unwrap(), [Lease { run: id(1), node: None }]);
}

async fn of_many_who_claim_each_run_goes_to_one<S: Cluster>() {
    const RUNS: u64 = 60;
    let store = S::open().await;
    for n in 0..RUNS {
        put_run(&**store.journal(), runnable(n)).await;
    }
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let node = store.join().await;
        tasks.push(tokio::spawn(async move {
            let mut claimed = Vec::new();
            while !node.leases(None, 100).await.unwrap().iter().all(|lease| lease.node.is_some()) {
                claimed.extend(node.claim(3).await.unwrap());
            }
            // Return the node, because dropping it would release the runs that it claimed.
            (node, claimed)
        }));
    }
    let (mut nodes, mut claimed) = (Vec::new(), Vec::new());
    for task in tasks {
        let (node, runs) = task.await.unwrap();
        nodes.push(node);
        claimed.extend(runs);
    }
    let all: BTreeSet<RunId> = claimed.iter().cloned().collect();
    assert_eq!((claimed.len(), all), (60, (0..RUNS).map(id).collect()));
}

async fn the_nodes_are_listed_with_what_they_drive<S: Cluster>() {
    let store = S::open().await;
    let (one, other) = (store.journal(), store.join().await);
    for n in 1..4 {
        one.append(drive(n, 0)).await.unwrap();
    }
    let listed = other.nodes().await.unwrap();
    let told: Vec<_> = listed.iter().map(|row| (row.node, row.alive, row.here, row.runs)).collect();
    assert_eq!(told, [(one.epoch(), true, false, 3), (other.epoch(), true, true, 0)]);
    store.lapse(one).await;
    let listed = other.nodes().await.unwrap();
    assert_eq!((listed[0].alive, listed[0].runs), (false, 3));
}

/// After any operation of the nodes, there is exactly one lease for each runnable run.
async fn there_is_a_lease_for_each_runnable_run<S: Cluster>() {
    let store = S::open().await;
    let mut nodes = [Arc::clone(store.journal()), store.join().await, store.join().await];
    let mut dice = Dice(11);
    for step in 0..300_u64 {
        let at = usize::try_from(dice.roll(3)).unwrap();
        let node = Arc::clone(&nodes[at]);
        match dice.roll(30) {
            0..5 => {
                node.claim(usize::try_from(dice.roll(4)).unwrap()).await.unwrap();
            }
            5 => store.lapse(&node).await,
            6 => nodes[at] = store.join().await,
            7 => {
                let kept = (0..12).filter(|_| dice.chance(2)).collect::<Vec<_>>();
                let rows = |n| Rows { run: Some(run_row(n)), ..Rows::default() };
                let before = node.leases(None, 100).await.unwrap();
                node.replace_rows(kept.into_iter().map(rows).collect()).await.unwrap();
                // If a run is still runnable, the node that drove it still drives it.
                let after = node.leases(None, 100).await.unwrap();
                let stayed = |lease: &&Lease| after.iter().any(|other| other.run == lease.run);
                let lost: Vec<_> =
                    before.iter().filter(stayed).filter(|lease| !after.contains(lease)).collect();
                assert!(lost.is_empty(), "step {step}: {lost:?}");
            }
            _ => {
                let row = RunRow { runnable: dice.chance(2), ..run_row(dice.roll(12)) };
                let rows = Rows { run: Some(row), ..Rows::default() };
                let put = node.append(Append { rows, drives: dice.chance(2), ..Append::default() }).await;
                assert!(matches!(put, Ok(_) | Err(AppendError::Driven)), "{put:?}");
            }
        }
        let mut expected = Vec::new();
        for n in 0..12 {
            expected.extend(node.run(&id(n)).await.unwrap().filter(|row| row.runnable).map(|row| row.run));
        }
        expected.sort();
        let held = node.leases(None, 100).await.unwrap();
        let leased: Vec<_> = held.into_iter().map(|lease| lease.run).collect();
        assert_eq!(leased, expected, "step {step}");
    }
}
