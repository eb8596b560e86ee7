//! A damaged or full store: errors have a type, and unaffected work continues.

use holdshort_server::{Tuning, start, start_tuned};
use holdshort_testkit::by_hand;
use serde_json::json;

use crate::harness::{Served, created, ok, options, question, refusal, text};
use crate::socket::{Socket, error};
use crate::streams::{Stream, types};

#[tokio::test]
async fn a_damaged_run_stops_and_the_others_go_on() {
    let served = Served::new().await;
    let damaged = served.agent().ask().await;
    let whole = served.agent().ask().await;
    let run = text(&damaged, "run");
    let change = "CAST(replace(CAST(head AS TEXT), '\"reject\"', '\"approve\"') AS BLOB)";
    let served = damage(served, run, change).await;
    let operator = served.operator();
    let said = operator.decide(&damaged, &json!({"option": "approve"})).await;
    assert_eq!(refusal(&said), (500, "journal_damaged", vec![]), "{}", said.1);
    ok(operator.decide(&whole, &json!({"option": "approve"})).await);
    let run_of_whole = format!("/v1/runs/{}/events", text(&whole, "run"));
    assert_eq!(ok(operator.get(&run_of_whole).await)["items"].as_array().unwrap().len(), 5);
    let report = ok(operator.get("/v1/audit/verify").await);
    assert_eq!((&report["intact"], &report["damages"][0]["stream"]), (&json!(false), &json!(run)));
    assert_eq!(report["damages"].as_array().unwrap().len(), 1);
}

/// Changes the stored hash of a run's second event in the database, and restarts the server.
async fn damage(served: Served, run: &str, change: &str) -> Served {
    let data = served.data().to_owned();
    let folder = served.stop().await;
    let database = std::fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "db"))
        .unwrap();
    let connection = rusqlite::Connection::open(database).unwrap();
    let sql = format!("UPDATE events SET head = {change} WHERE seq = 2 AND head LIKE '%' || ?1 || '%'");
    assert_eq!(by_hand::change_events(&connection, &sql, &[&run]), 1);
    drop(connection);
    Served::again(folder).await
}

#[tokio::test]
async fn what_can_not_be_read_is_said_where_it_is_followed() {
    let served = Served::new().await;
    let damaged = served.agent().ask().await;
    let whole = served.agent().ask().await;
    let run = text(&damaged, "run");
    let served = damage(served, run, "CAST('{' AS BLOB)").await;
    let operator = served.operator();

    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "run", "topic": "run", "run": run, "since": 0})).await;
    socket.events("run", 1).await;
    assert_eq!(error(&socket.next().await), (Some("run"), "journal_damaged", vec![]));
    assert_eq!(socket.next().await, json!({"type": "ended", "id": "run"}));

    // Other runs are not affected.
    for topic in ["all", "inbox"] {
        socket.subscribe(json!({"id": topic, "topic": topic, "position": "p1"})).await;
        assert_eq!(error(&socket.next().await), (Some(topic), "journal_damaged", vec![]));
        let opened = socket.until("event").await;
        assert_eq!(opened.last().unwrap()["event"]["run"], whole["run"]);
        socket.say(&json!({"type": "unsubscribe", "id": topic})).await;
        socket.until("ended").await;
    }
    let mut stream = Stream::at(&operator, "/v1/events?position=p1", None).await;
    stream.next().await.unwrap();
    let problem = stream.next().await.unwrap();
    assert_eq!((problem.event.as_deref(), text(&problem.data, "code")), (Some("problem"), "journal_damaged"));
    assert_eq!(stream.next().await.unwrap().data["position"], "p3");
    let mut stream = Stream::open(&operator, run, "", None).await;
    assert_eq!(stream.next().await.unwrap().seq(), Some(1));
    assert_eq!(types(&stream.rest().await), ["/docs/errors/journal_damaged"]);
}

#[tokio::test]
async fn a_full_disk_is_said_and_tears_nothing() {
    let data = tempfile::tempdir().unwrap();
    let tuning = Tuning { max_pages: Some(400), ..Tuning::default() };
    let server = start_tuned(options(data.path()), tuning).await.unwrap();
    let api = Served::client(&server);
    let mut large = question();
    large["payload"] = "x".repeat(50_000).into();
    let mut asked = Vec::new();
    let full = loop {
        let said = api.post("/v1/interrupts", &large).await;
        if said.0 != 201 {
            break said;
        }
        asked.push(text(&said.1, "id").to_owned());
        assert!(asked.len() < 1_000, "the disk never fills");
    };
    assert_eq!(refusal(&full), (507, "disk_full", vec![]));
    // The existing data are complete and readable.
    let listed = ok(api.get("/v1/interrupts?limit=200").await);
    let ids: Vec<_> = listed["items"].as_array().unwrap().iter().map(|each| text(each, "id")).collect();
    assert_eq!(ids, asked);
    let before = ok(api.get("/v1/audit/verify").await);
    assert_eq!((&before["intact"], &before["events"]), (&json!(true), &json!(2 * asked.len())));
    server.stop().await;

    // After space becomes free, the server works again.
    let server = start(options(data.path())).await.unwrap();
    let api = Served::client(&server);
    created(api.post("/v1/interrupts", &large).await);
    server.stop().await;
}
