//! Commands over a socket, which have the same effect as over HTTP, and never wait for subscriptions.

use serde_json::{Value, json};

use super::{Socket, error, fill};
use crate::harness::{Served, ok, text, without_card};

fn decide(id: &str, interrupt: &Value, option: &str) -> Value {
    json!({"type": "decide", "id": id, "interrupt": interrupt["id"], "option": option})
}

#[tokio::test]
async fn a_decision_has_the_answers_and_refusals_that_it_has_over_http() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let mut socket = Socket::operator(&served).await;

    let with = |change: Value| {
        let mut frame = decide("d", &asked, "approve");
        for (key, value) in change.as_object().unwrap() {
            frame[key] = value.clone();
        }
        frame
    };
    let refused = [
        (with(json!({"interrupt": "int_00000000000000000000000000"})), "not_found", vec![]),
        (with(json!({"interrupt": "int_1"})), "not_found", vec![]),
        (with(json!({"option": "nonsense", "version": 9})), "stale", vec![]),
        (with(json!({"option": "nonsense"})), "invalid_request", vec!["/option"]),
        (with(json!({"option": "respond"})), "invalid_request", vec!["/text"]),
        (with(json!({"colour": "red"})), "invalid_request", vec!["/colour"]),
        (with(json!({"option": 1})), "invalid_request", vec!["/option"]),
    ];
    for (frame, code, pointers) in refused {
        assert_eq!(error(&socket.ask(&frame).await), (Some("d"), code, pointers), "{frame}");
    }

    let decided = socket.ask(&with(json!({"text": "go", "version": 1}))).await;
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    let interrupt = without_card(ok(served.operator().get(&path).await));
    assert_eq!(decided, json!({"type": "decided", "id": "d", "interrupt": interrupt}));
    assert_eq!(interrupt["resolution"]["outcome"], "approved");
    // A repeat of the same decision returns the existing result. A different decision is refused, and the error
    // contains the existing result.
    assert_eq!(socket.ask(&with(json!({"text": "go", "version": 1}))).await, decided);
    let other = socket.ask(&decide("other", &asked, "reject")).await;
    assert_eq!(error(&other), (Some("other"), "already_resolved", vec![]));
    assert_eq!(other["problem"]["resolution"], interrupt["resolution"]);

    let events = ok(served.operator().get(&format!("/v1/runs/{}/events", text(&asked, "run"))).await);
    let made = events["items"].as_array().unwrap().iter().find(|event| event["type"] == "decision_made");
    assert_eq!(made.unwrap()["actor"], json!({"id": "operator", "role": "operator", "via": "ws"}));
}

#[tokio::test]
async fn a_run_is_told_something() {
    let served = Served::new().await;
    let run = served.operator().start_external().await;
    let mut socket = Socket::operator(&served).await;
    let tell = json!({"type": "message", "id": "m", "run": run["id"], "text": "use ISO dates"});
    let told = socket.ask(&tell).await;
    let path = format!("/v1/runs/{}", text(&run, "id"));
    assert_eq!(told, json!({"type": "told", "id": "m", "run": ok(served.operator().get(&path).await)}));
    let events = ok(served.operator().get(&format!("{path}/events")).await);
    assert_eq!(events["items"][1]["data"]["content"]["text"], "use ISO dates");

    ok(served.operator().post(&format!("{path}/cancel"), &json!({})).await);
    assert_eq!(error(&socket.ask(&tell).await), (Some("m"), "run_ended", vec![]));
    let lost = json!({"type": "message", "id": "m", "run": "run_1", "text": "?"});
    assert_eq!(error(&socket.ask(&lost).await), (Some("m"), "not_found", vec![]));
    let empty = json!({"type": "message", "id": "m", "run": run["id"]});
    assert_eq!(error(&socket.ask(&empty).await), (Some("m"), "invalid_request", vec!["/text"]));
}

#[tokio::test]
async fn an_agent_decides_nothing_and_tells_its_own_runs_alone() {
    let served = Served::new().await;
    let (asked, others) = (served.agent().ask().await, served.operator().ask().await);
    let mut socket = Socket::with_token(&served, served.agent_token()).await;
    let tell = |asked: &Value| json!({"type": "message", "id": "x", "run": asked["run"], "text": "t"});
    assert_eq!(socket.ask(&tell(&asked)).await["type"], "told");
    let frames = [decide("x", &asked, "approve"), tell(&others)];
    for frame in frames {
        assert_eq!(error(&socket.ask(&frame).await), (Some("x"), "forbidden_role", vec![]), "{frame}");
    }
    let path = format!("/v1/interrupts/{}", text(&asked, "id"));
    assert_eq!(ok(served.operator().get(&path).await)["status"], "open");
}

#[tokio::test]
async fn a_browser_says_its_secret_and_decides_as_the_operator() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let browser = served.browser().await;
    let origin = format!("http://localhost:{}", served.address().port());
    let headers = [("cookie", &*browser.login().cookie), ("origin", &*origin)];
    let mut socket = Socket::open(&served, &headers).await.unwrap();
    let welcome = socket.ask(&json!({"type": "hello", "secret": browser.login().secret})).await;
    assert_eq!((&welcome["person"], &welcome["role"]), (&json!("operator"), &json!("operator")));
    let decided = socket.ask(&decide("d", &asked, "approve")).await;
    assert_eq!(decided["interrupt"]["resolution"]["by"], json!(["operator"]));
    let events = ok(served.operator().get(&format!("/v1/runs/{}/events", text(&asked, "run"))).await);
    let made = events["items"].as_array().unwrap().iter().find(|event| event["type"] == "decision_made");
    assert_eq!(made.unwrap()["actor"]["via"], "web");
}

#[tokio::test]
async fn decisions_are_carried_out_in_the_order_in_which_they_come() {
    let served = Served::new().await;
    let mut asked = Vec::new();
    for _ in 0..20 {
        asked.push(served.operator().ask().await);
    }
    let mut socket = Socket::operator(&served).await;
    for (n, interrupt) in asked.iter().enumerate() {
        socket.say(&decide(&n.to_string(), interrupt, "approve")).await;
    }
    for (n, interrupt) in asked.iter().enumerate() {
        let decided = socket.next().await;
        assert_eq!((&decided["id"], &decided["interrupt"]["id"]), (&json!(n.to_string()), &interrupt["id"]));
    }
}

#[tokio::test]
async fn a_decision_gets_in_while_a_long_stream_is_stuck() {
    let served = Served::new().await;
    let operator = served.operator();
    let filled = fill(&served).await;
    let asked = [operator.ask().await, operator.ask().await];
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "all", "topic": "all", "position": "p0"})).await;
    // The client does not read, so the events fill all buffers.
    for (n, interrupt) in asked.iter().enumerate() {
        socket.say(&decide(&n.to_string(), interrupt, "approve")).await;
        let path = format!("/v1/interrupts/{}?wait=20", text(interrupt, "id"));
        assert_eq!(ok(operator.get(&path).await)["status"], "resolved");
    }

    let (mut events, mut decided) = (Vec::new(), Vec::new());
    while events.len() < filled + 10 {
        let frame = socket.next().await;
        match text(&frame, "type") {
            "event" => events.push(frame["event"]["position"].clone()),
            _ => decided.push((text(&frame, "type").to_owned(), text(&frame, "id").to_owned())),
        }
    }
    let answered: Vec<_> = decided.iter().map(|(kind, id)| (&**kind, &**id)).collect();
    assert_eq!(answered, [("decided", "0"), ("decided", "1")]);
    assert_eq!(events, (1..=filled + 10).map(|position| json!(format!("p{position}"))).collect::<Vec<_>>());
}
