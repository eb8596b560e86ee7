//! Events of subscriptions, each of which arrives once and in order, even after disconnects and restarts.

use serde_json::{Value, json};

use super::{Socket, error, types};
use crate::harness::{Served, ok, text};

#[tokio::test]
async fn a_run_is_followed_to_its_end() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    let run = text(&asked, "run");
    let mut socket = Socket::operator(&served).await;
    let start = socket.subscribe(json!({"id": "r", "topic": "run", "run": run, "since": 0})).await;
    assert_eq!(start, json!({"type": "subscribed", "id": "r", "seq": 0}));
    let mut events = socket.events("r", 2).await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    events.extend(socket.events("r", 3).await);
    assert_eq!(socket.next().await, json!({"type": "ended", "id": "r"}));
    // The page contains the same events.
    assert_eq!(ok(operator.get(&format!("/v1/runs/{run}/events")).await)["items"], json!(events));

    // The id of an ended subscription can be used again. Earlier events are not repeated.
    let start = socket.subscribe(json!({"id": "r", "topic": "run", "run": run, "since": 4})).await;
    assert_eq!(start["seq"], 4);
    assert_eq!(types(&socket.events("r", 1).await), ["run_completed"]);
    assert_eq!(socket.next().await["type"], "ended");
    for since in [json!(5), Value::Null] {
        let wish = json!({"id": "r", "topic": "run", "run": run, "since": since});
        assert_eq!(socket.subscribe(wish).await["seq"], 5);
        assert_eq!(socket.next().await["type"], "ended");
    }
}

#[tokio::test]
async fn the_inbox_has_what_concerns_interrupts_and_two_subscriptions_share_a_socket() {
    let served = Served::new().await;
    let operator = served.operator();
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "in", "topic": "inbox"})).await;
    let one = operator.ask().await;
    let two = operator.ask().await;
    let run = text(&two, "run");
    assert_eq!(types(&socket.events("in", 2).await), ["interrupt_opened", "interrupt_opened"]);
    socket.subscribe(json!({"id": "run", "topic": "run", "run": run})).await;
    for asked in [&one, &two] {
        ok(operator.decide(asked, &json!({"option": "approve"})).await);
    }
    let mut told = socket.until("ended").await;
    while told.iter().filter(|frame| frame["id"] == "in").count() < 4 {
        told.push(socket.next().await);
    }
    let of = |id: &str| -> Vec<String> {
        let frames = told.iter().filter(|frame| frame["id"] == id && frame["type"] == "event");
        frames
            .map(|frame| format!("{} {}", text(&frame["event"], "run"), text(&frame["event"], "type")))
            .collect()
    };
    let (first, second) = (text(&one, "run"), run);
    assert_eq!(
        of("in"),
        [
            format!("{first} decision_made"),
            format!("{first} interrupt_resolved"),
            format!("{second} decision_made"),
            format!("{second} interrupt_resolved"),
        ]
    );
    assert_eq!(
        of("run"),
        ["decision_made", "interrupt_resolved", "run_completed"].map(|kind| format!("{second} {kind}"))
    );
}

#[tokio::test]
async fn a_client_that_comes_back_with_its_position_misses_nothing() {
    let served = Served::new().await;
    let mut socket = Socket::operator(&served).await;
    let start = socket.subscribe(json!({"id": "all", "topic": "all"})).await;
    let asked = served.agent().ask().await;
    let mut seen = socket.events("all", 1).await;
    drop(socket);
    // While the client is disconnected, more events are written, also to streams that are not runs.
    ok(served.operator().post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    ok(served.operator().decide(&asked, &json!({"option": "reject"})).await);

    let served = served.restart().await;
    let mut socket = Socket::operator(&served).await;
    let position = text(&seen[0], "position").to_owned();
    let again = socket.subscribe(json!({"id": "all", "topic": "all", "position": position})).await;
    assert_eq!(again["position"], json!(position));
    seen.extend(socket.events("all", 5).await);
    served.agent().ask().await;
    seen.extend(socket.events("all", 2).await);
    assert_eq!(
        types(&seen),
        [
            "run_started",
            "interrupt_opened",
            "frozen",
            "decision_made",
            "interrupt_resolved",
            "run_completed",
            "run_started",
            "interrupt_opened"
        ]
    );
    assert_eq!((&seen[2]["stream"], seen[2].get("run")), (&json!("sys"), None));
    // A second subscription from the same position gets the same events.
    socket.say(&json!({"type": "unsubscribe", "id": "all"})).await;
    assert_eq!(socket.next().await, json!({"type": "ended", "id": "all"}));
    socket.subscribe(json!({"id": "again", "topic": "all", "position": start["position"]})).await;
    assert_eq!(socket.events("again", 8).await, seen);
}

#[tokio::test]
async fn what_is_listed_after_the_welcome_and_followed_from_it_has_no_gap() {
    let served = Served::new().await;
    let mut socket = Socket::open(&served, &[]).await.unwrap();
    let welcome = socket.ask(&json!({"type": "hello", "token": served.token()})).await;
    let position = text(&welcome, "position").to_owned();
    assert_eq!(
        welcome,
        json!({
            "type": "welcome", "person": "operator", "role": "operator", "version": env!("CARGO_PKG_VERSION"),
            "ping_ms": 15_000, "position": position
        })
    );
    let asked = served.agent().ask().await;
    let listed = ok(served.operator().get("/v1/interrupts").await);
    // The items of a list say whether the reader may decide.
    assert_eq!(
        (listed["items"].as_array().map(Vec::len), &listed["items"][0]["id"]),
        (Some(1), &asked["id"])
    );
    socket.subscribe(json!({"id": "in", "topic": "inbox", "position": position})).await;
    assert_eq!(types(&socket.events("in", 1).await), ["interrupt_opened"]);
}

#[tokio::test]
async fn an_agent_follows_its_own_runs_and_no_others() {
    let served = Served::with_checkpoint().await;
    let (agent, operator) = (served.agent(), served.operator());
    let mut socket = Socket::with_token(&served, served.agent_token()).await;
    for topic in ["inbox", "all"] {
        socket.subscribe(json!({"id": topic, "topic": topic})).await;
    }
    let native = operator.post("/v1/runs", &json!({"workflow": "look", "input": {"task": "t"}})).await;
    let others = operator.ask().await;
    ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    let own = agent.ask().await;
    let mut told = Vec::new();
    while told.len() < 3 {
        told.push(socket.next().await);
    }
    for frame in &told {
        assert_eq!((&frame["type"], &frame["event"]["run"]), (&json!("event"), &own["run"]), "{frame}");
    }
    for run in [text(&native.1, "id"), text(&others, "run")] {
        let answer = socket
            .ask(&json!({"type": "subscribe", "id": "r", "topic": "run", "run": run, "since": 0}))
            .await;
        assert_eq!(error(&answer), (Some("r"), "forbidden_role", vec![]));
    }
    let run = text(&own, "run");
    socket.subscribe(json!({"id": "r", "topic": "run", "run": run, "since": 0})).await;
    assert_eq!(types(&socket.events("r", 2).await), ["run_started", "interrupt_opened"]);
}
