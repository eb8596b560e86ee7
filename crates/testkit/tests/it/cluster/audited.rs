//! An audit of a database without a server only reads, and changes nothing.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{Cluster, database, setup, sql};
use crate::play::{count, done, one};

async fn dump(url: &str) -> String {
    let url = url.to_owned();
    let dump = move || holdshort_testpg::shared().run("pg_dump", &[&url]);
    let whole = tokio::task::spawn_blocking(dump).await.unwrap().unwrap();
    // Lines with `restrict` contain a random key, which differs in each dump.
    whole.lines().filter(|line| !line.contains("restrict")).collect::<Vec<_>>().join("\n")
}

/// Waits until the database has executed everything that a killed node had sent, and until readers see all of these
/// changes.
///
/// A transaction in any other database of the same PostgreSQL server hides appends that began after that transaction.
async fn at_rest(url: &str) {
    let connections = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    while sql(url, connections).await != "0" {}
    let hidden = "SELECT count(*) FROM appends WHERE position >= holdshort_horizon()";
    while sql(url, hidden).await != "0" {}
}

/// Runs a command of the binary `holdshort` on the database. Returns its exit code, output and errors.
fn verb(server: &TestServer, arguments: &[&str]) -> (i32, String, String) {
    let output = server.client_command().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_without_a_server_changes_nothing_in_the_database() {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(count("one")), done()]);
    let url = database().await;
    let mut server = setup(&model).database(&url, "one").start().await;
    let run = server.start_run("solo", "count").await;
    server.wait_one(&run).await;
    let noted = server.get("/v1/audit/head").await.ok()["head"].as_str().unwrap().to_owned();
    // A killed server leaves its node, its leases, and events that are not yet sealed.
    server.post(&format!("/v1/runs/{run}/pause"), &json!({})).await.ok();
    server.kill();
    at_rest(&url).await;
    let before = dump(&url).await;
    assert!(before.contains("one") && before.contains(&run), "the node and the run are in it");

    let (code, printed, said) =
        verb(&server, &["--json", "audit", "verify", "--against", &noted, "--store", &url]);
    let report: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{said}"));
    assert_eq!(
        (code, &report["intact"], &report["against"][0]["holds"]),
        (0, &json!(true), &json!(true)),
        "{report}"
    );
    let (code, head, said) = verb(&server, &["audit", "head", "--store", &url]);
    assert_eq!((code, head.trim_end()), (0, report["head"].as_str().unwrap()), "{said}");
    assert_eq!(dump(&url).await, before);

    // A database of an earlier schema version is not upgraded. The message says what to do.
    sql(&url, "UPDATE meta SET value = 2 WHERE name = 'version'").await;
    let older = dump(&url).await;
    for verb_of in ["verify", "head"] {
        let (code, _, said) = verb(&server, &["audit", verb_of, "--store", &url]);
        let known = holdshort_store::postgres::Schema::default().migrations().len();
        let told = said.contains(&format!(
            "has schema version 2, but this binary reads version {known}: start its server once"
        ));
        assert_eq!((code, told), (2, true), "{said}");
    }
    assert_eq!(dump(&url).await, older);

    let empty = database().await;
    let (code, _, said) = verb(&server, &["audit", "verify", "--store", &empty]);
    assert_eq!((code, said.contains("holds no journal")), (2, true), "{said}");
    assert!(!dump(&empty).await.contains("CREATE TABLE"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_beside_servers_elsewhere_is_no_node_of_theirs() {
    let url = database().await;
    let cluster = Cluster::start_on(&url, [one(count("one")), done()], |node| node).await;
    let run = cluster.nodes[0].start_run("solo", "count").await;
    cluster.nodes[0].wait_one(&run).await;
    let nodes =
        "SELECT last_value, (SELECT string_agg(node::text, ',' ORDER BY node) FROM nodes) FROM epochs";
    let before = sql(&url, nodes).await;
    // A different machine, on which the data folder does not exist.
    let elsewhere = setup(&cluster.model).stopped();
    let (code, printed, said) = verb(&elsewhere, &["audit", "verify", "--store", &url]);
    assert_eq!((code, printed.contains("No change was detected")), (0, true), "{printed}{said}");
    assert_eq!(sql(&url, nodes).await, before);
    assert!(!elsewhere.data().join("holdshort.lock").exists());
}
