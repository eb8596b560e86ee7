//! Sessions as objects: open, list, suspend, resume, close, expire.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, SOON, Served, created, ok, read, refusal, send_request, text};

async fn open(api: &Api, body: &Value) -> Value {
    created(api.post("/v1/sessions", body).await)
}

/// Sends an action such as `suspend` for a session. Returns the session afterwards.
async fn steer(api: &Api, session: &Value, verb: &str) -> Value {
    ok(api.post(&format!("/v1/sessions/{}/{verb}", text(session, "id")), &json!({})).await)
}

fn external(session: &Value) -> Value {
    json!({"workflow": "external", "input": {"task": "t"}, "session": session["id"]})
}

async fn listed(api: &Api, query: &str) -> Vec<Value> {
    let list = ok(api.get(&format!("/v1/sessions?{query}")).await);
    list["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect()
}

/// Returns the usage of models that a session without model calls reports.
fn unused() -> Value {
    json!({ "requests": 0, "input_tokens": 0, "output_tokens": 0 })
}

#[tokio::test]
async fn a_session_is_opened_read_and_joined() {
    let served = Served::new().await;
    let operator = served.operator();
    let body = json!({"name": "Release 1.2", "workflow": "pair", "expires_when_idle_ms": 60_000});
    let session = open(&operator, &body).await;
    let expected = json!({
        "id": session["id"], "name": "Release 1.2", "workflow": "pair", "state": "open",
        "expires_when_idle_ms": 60_000, "runs": [], "grants": [], "usage": unused(), "duration_ms": 0,
        "created_at": session["created_at"], "updated_at": session["created_at"],
    });
    assert_eq!(session, expected);
    let path = format!("/v1/sessions/{}", text(&session, "id"));
    for part in ["/interrupts", "/grants", "/plans"] {
        assert_eq!(ok(operator.get(&format!("{path}{part}")).await)["items"], json!([]), "{part}");
    }

    let run = created(operator.post("/v1/runs", &external(&session)).await);
    assert_eq!(run["session"], session["id"]);
    let served = served.restart().await;
    let read = ok(served.operator().get(&path).await);
    assert_eq!((&read["runs"], &read["updated_at"]), (&json!([run["id"]]), &run["updated_at"]));
    assert_eq!((&read["name"], &read["created_at"]), (&session["name"], &session["created_at"]));
}

#[tokio::test]
async fn a_run_makes_a_session_of_its_own() {
    let served = Served::new().await;
    let operator = served.operator();
    let run = operator.start_external().await;
    let session = ok(operator.get(&format!("/v1/sessions/{}", text(&run, "session"))).await);
    let expected = json!({
        "id": run["session"], "state": "open", "runs": [run["id"]], "grants": [], "usage": unused(), "duration_ms": 0,
        "created_at": run["created_at"], "updated_at": run["updated_at"],
    });
    assert_eq!(session, expected);
}

#[tokio::test]
async fn what_a_session_can_not_be_opened_with() {
    let served = Served::new().await;
    let operator = served.operator();
    let table = [
        (json!({"nmae": "x"}), "invalid_request", vec!["/nmae"]),
        (json!({"name": 1}), "invalid_request", vec!["/name"]),
        (json!({"name": " "}), "invalid_request", vec!["/name"]),
        (json!({"name": "x".repeat(501)}), "invalid_request", vec!["/name"]),
        (json!({"expires_when_idle_ms": 0}), "invalid_request", vec!["/expires_when_idle_ms"]),
        (json!({"expires_when_idle_ms": -1}), "invalid_request", vec!["/expires_when_idle_ms"]),
        (
            json!({"expires_when_idle_ms": 31_536_000_001_u64}),
            "invalid_request",
            vec!["/expires_when_idle_ms"],
        ),
        (json!({"workflow": "nonsense"}), "unknown_workflow", vec![]),
        (json!([]), "invalid_request", vec![""]),
    ];
    for (body, code, pointers) in table {
        assert_eq!(refusal(&operator.post("/v1/sessions", &body).await), (422, code, pointers), "{body}");
    }
    assert_eq!(listed(&operator, "").await, [json!(null); 0], "nothing was made");
    let refused = served.agent().post("/v1/sessions", &json!({})).await;
    assert_eq!(refusal(&refused), (403, "forbidden_role", vec![]));
    for query in ["state=lost", "stat=open", "cursor=nonsense", "limit=0", "limit=201"] {
        let said = operator.get(&format!("/v1/sessions?{query}")).await;
        assert_eq!(refusal(&said), (400, "invalid_query", vec![]), "{query}");
    }
    for id in ["ses_00000000000000000000000000", "nonsense"] {
        for verb in ["suspend", "resume", "close"] {
            let said = operator.post(&format!("/v1/sessions/{id}/{verb}"), &json!({"nonsense": 1})).await;
            assert_eq!(refusal(&said), (404, "not_found", vec![]), "{id} {verb}");
        }
    }
    let session = open(&operator, &json!({})).await;
    let path = format!("/v1/sessions/{}/suspend", text(&session, "id"));
    assert_eq!(
        refusal(&operator.post(&path, &json!({"why": 1})).await),
        (422, "invalid_request", vec!["/why"])
    );
}

#[tokio::test]
async fn the_same_key_opens_one_session() {
    let served = Served::new().await;
    let operator = served.operator();
    let keyed = async |body: Value| {
        let request = operator.request(Method::POST, "/v1/sessions").header("idempotency-key", "k 1");
        let response = request.json(&body).send().await.unwrap();
        let replayed = response.headers().contains_key("idempotency-replayed");
        (replayed, read(response).await)
    };
    let (replayed, first) = keyed(json!({"name": "one"})).await;
    assert!(!replayed);
    let first = created(first);
    assert_eq!(keyed(json!({"name": "one"})).await, (true, (201, first)));
    let (_, other) = keyed(json!({"name": "two"})).await;
    assert_eq!(refusal(&other), (422, "idempotency_key_reused", vec![]));
    assert_eq!(listed(&operator, "").await.len(), 1);
}

#[tokio::test]
async fn a_suspended_session_starts_nothing_until_it_is_resumed() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    let session = json!({"id": asked["session"]});
    let run = format!("/v1/runs/{}", text(&asked, "run"));
    for _ in 0..2 {
        assert_eq!(steer(&operator, &session, "suspend").await["state"], "suspended");
    }
    assert_eq!(ok(operator.get(&run).await)["status"], "paused");
    let served = served.restart().await;
    let operator = served.operator();
    let refused = operator.post("/v1/runs", &external(&session)).await;
    assert_eq!(refusal(&refused), (409, "session_suspended", vec![]));
    let question = json!({"kind": "question", "title": "t", "session": session["id"]});
    assert_eq!(
        refusal(&operator.post("/v1/interrupts", &question).await),
        (409, "session_suspended", vec![])
    );
    let refused = operator.post(&format!("{run}/resume"), &json!({})).await;
    assert_eq!(refusal(&refused), (409, "session_suspended", vec![]));

    for _ in 0..2 {
        assert_eq!(steer(&operator, &session, "resume").await["state"], "open");
    }
    assert_eq!(ok(operator.get(&run).await)["status"], "waiting");
    created(operator.post("/v1/runs", &external(&session)).await);
}

#[tokio::test]
async fn a_closed_session_is_over_for_good() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    let session = json!({"id": asked["session"]});
    for _ in 0..2 {
        let closed = steer(&operator, &session, "close").await;
        assert_eq!((&closed["state"], &closed["end_reason"]), (&json!("closed"), &json!("completed")));
    }
    let run = ok(operator.get(&format!("/v1/runs/{}", text(&asked, "run"))).await);
    assert_eq!((&run["status"], &run["end_reason"]), (&json!("cancelled"), &json!("cancelled")));
    for verb in ["suspend", "resume"] {
        let refused =
            operator.post(&format!("/v1/sessions/{}/{verb}", text(&session, "id")), &json!({})).await;
        assert_eq!(refusal(&refused), (409, "session_closed", vec![]), "{verb}");
    }
    let refused = operator.post("/v1/runs", &external(&session)).await;
    assert_eq!(refusal(&refused), (409, "session_closed", vec![]));
}

/// A session that expired while no server ran is closed at the next start of a server.
#[tokio::test]
async fn a_session_in_which_nothing_happens_expires() {
    let served = Served::new().await;
    let operator = served.operator();
    let idle = open(&operator, &json!({"expires_when_idle_ms": 1})).await;
    let busy = open(&operator, &json!({"expires_when_idle_ms": 1})).await;
    let asked = created(
        operator
            .post("/v1/interrupts", &json!({"kind": "question", "title": "t", "session": busy["id"]}))
            .await,
    );
    let served = served.restart().await;
    let operator = served.operator();
    let path = format!("/v1/sessions/{}", text(&idle, "id"));
    let expired = tokio::time::timeout(SOON, async {
        loop {
            let session = ok(operator.get(&path).await);
            if session["state"] == "closed" {
                return session;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert_eq!(expired.await.unwrap()["end_reason"], "expired");
    let refused = operator.post("/v1/runs", &external(&idle)).await;
    assert_eq!(refusal(&refused), (409, "session_closed", vec![]));
    // The second session has an open interrupt, so it never expires.
    assert_eq!(listed(&operator, "state=open").await, std::slice::from_ref(&busy["id"]));
    ok(operator.decide(&asked, &json!({"option": "answer", "text": "yes"})).await);
}

#[tokio::test]
async fn sessions_are_listed_by_state_and_workflow_page_by_page() {
    let served = Served::new().await;
    let operator = served.operator();
    let mut all = Vec::new();
    for workflow in ["pair", "external", "pair"] {
        all.push(open(&operator, &json!({"workflow": workflow})).await["id"].clone());
    }
    all.push(operator.start_external().await["session"].clone());
    steer(&operator, &json!({"id": all[0]}), "suspend").await;
    steer(&operator, &json!({"id": all[1]}), "close").await;
    let newest = |which: &[usize]| which.iter().map(|n| all[*n].clone()).collect::<Vec<_>>();
    for (query, expected) in [
        ("", &[3, 2, 1, 0][..]),
        ("state=open", &[3, 2]),
        ("state=suspended", &[0]),
        ("state=closed", &[1]),
        ("workflow=pair", &[2, 0]),
        ("workflow=external", &[3, 1]),
        ("workflow=pair&state=open", &[2]),
        ("workflow=nonsense", &[]),
    ] {
        assert_eq!(listed(&operator, query).await, newest(expected), "{query}");
    }
    let first = ok(operator.get("/v1/sessions?limit=3").await);
    open(&operator, &json!({})).await;
    let rest = format!("limit=3&cursor={}", text(&first, "next_cursor"));
    assert_eq!(listed(&operator, &rest).await, newest(&[0]));
    let single = ok(operator.get(&format!("/v1/sessions/{}", all[3].as_str().unwrap())).await);
    assert_eq!(first["items"][0], single);
}

/// Each change of a session is in the session's stream, and in the stream of all events.
#[tokio::test]
async fn what_is_done_to_a_session_is_told() {
    let served = Served::new().await;
    let operator = served.operator();
    let session = open(&operator, &json!({"name": "n"})).await;
    for verb in ["suspend", "resume", "close"] {
        steer(&operator, &session, verb).await;
    }
    let events =
        ok(send_request(operator.request(Method::GET, "/v1/events").header("accept", "application/json"))
            .await);
    let told: Vec<_> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["stream"].clone(), text(event, "type")))
        .collect();
    // Closing a session suspends it first, so that no run starts in the session while its runs end.
    let types =
        ["session_opened", "session_suspended", "session_resumed", "session_suspended", "session_closed"];
    assert_eq!(told, types.map(|kind| (session["id"].clone(), kind)));
    assert_eq!(events["items"][0]["data"]["content"]["data"], json!({"name": "n"}));
}
