//! Requests of external agents about their own questions: reading and following decisions, using approvals, withdrawing
//! questions.

use holdshort_core::digest::Digest;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, read, send_request, text};
use crate::streams::Stream;

async fn ask(agent: &Api, more: Value) -> Value {
    let mut body = json!({"kind": "tool_approval", "title": "Delete branches", "payload": {"tool": "git", "arguments": {"branches": 41}}});
    let (Value::Object(fields), Value::Object(more)) = (&mut body, more) else { panic!() };
    fields.extend(more);
    created(agent.post("/v1/interrupts", &body).await)
}

/// Uses the approval of an interrupt, for an action with the digest of `what`.
async fn consume(agent: &Api, interrupt: &Value, what: &Value, key: Option<&str>) -> (u16, Value) {
    let path = format!("/v1/interrupts/{}/consume", text(interrupt, "id"));
    let request =
        agent.request(Method::POST, &path).json(&json!({"digest": Digest::of_json(what).to_string()}));
    send_request(match key {
        Some(key) => request.header("idempotency-key", key),
        None => request,
    })
    .await
}

#[tokio::test]
async fn an_approval_is_used_once() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let open = ask(&agent, json!({})).await;
    let payload = open["payload"].clone();
    assert_eq!(open["action_digest"], Digest::of_json(&payload).to_string());
    assert_eq!(open.get("approval"), None);
    let (status, refused) = consume(&agent, &open, &payload, None).await;
    assert_eq!((status, &refused["code"]), (409, &json!("not_approved")));

    let decided = ok(operator.decide(&open, &json!({"option": "approve"})).await);
    assert_eq!(decided["approval"], json!({"digest": open["action_digest"]}));
    let (status, refused) = consume(&agent, &open, &json!({"tool": "rm"}), None).await;
    assert_eq!((status, &refused["code"]), (409, &json!("approval_differs")));
    assert_eq!(refused["approval"], json!({"digest": open["action_digest"], "approved": payload}));

    let used = ok(consume(&agent, &open, &payload, Some("mine")).await);
    assert_eq!(
        (&used["approved"], &used["by"], &used["digest"]),
        (&payload, &json!("agent"), &open["action_digest"])
    );
    // A repeated request gets the first response again, even after a restart. A request with a different key is
    // refused.
    assert_eq!(ok(consume(&agent, &open, &payload, Some("mine")).await), used);
    let (status, refused) = consume(&agent, &open, &payload, None).await;
    assert_eq!((status, &refused["code"]), (409, &json!("approval_used")));
    assert_eq!(refused["approval"]["used"], json!({"at": used["used_at"], "by": "agent"}));
    let served = served.restart().await;
    let (agent, operator) = (served.agent(), served.operator());
    assert_eq!(ok(consume(&agent, &open, &payload, Some("mine")).await), used);
    assert_eq!(consume(&agent, &open, &payload, Some("other")).await.0, 409);

    // The card shows the use of the approval, in lists too.
    let id = text(&open, "id");
    let read = ok(operator.get(&format!("/v1/interrupts/{id}")).await);
    assert_eq!(read["approval"]["used"], json!({"at": used["used_at"], "by": "agent"}));
    let listed = ok(operator.get("/v1/interrupts?status=resolved").await);
    assert_eq!(listed["items"][0]["approval"], read["approval"]);
}

#[tokio::test]
async fn of_many_at_once_one_uses_it() {
    let served = Served::new().await;
    let agent = served.agent();
    let open = ask(&agent, json!({})).await;
    ok(served.operator().decide(&open, &json!({"option": "approve"})).await);
    let payload = &open["payload"];
    let answers = futures::future::join_all((0..8).map(|_| consume(&agent, &open, payload, None))).await;
    let (used, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(status, _)| *status == 200);
    assert_eq!(used.len(), 1);
    assert!(refused.iter().all(|(status, body)| (*status, &body["code"]) == (409, &json!("approval_used"))));

    // A repeat of a request whose response has not arrived is not a second use.
    for _ in 0..4 {
        let open = ask(&agent, json!({})).await;
        ok(served.operator().decide(&open, &json!({"option": "approve"})).await);
        let payload = &open["payload"];
        let same = (0..8).map(|_| consume(&agent, &open, payload, Some(text(&open, "id"))));
        let answers = futures::future::join_all(same).await;
        assert!(answers.iter().all(|answer| *answer == answers[0] && answer.0 == 200), "{answers:?}");
    }
}

#[tokio::test]
async fn what_a_person_edited_is_what_is_used() {
    let served = Served::new().await;
    let agent = served.agent();
    let open = ask(&agent, json!({})).await;
    ok(served.operator().decide(&open, &json!({"option": "edit", "edit": {"branches": 3}})).await);
    let edited = json!({"tool": "git", "arguments": {"branches": 3}});
    let digest = Digest::of_json(&edited).to_string();
    let (status, refused) = consume(&agent, &open, &open["payload"], None).await;
    assert_eq!((status, &refused["code"]), (409, &json!("approval_differs")));
    assert_eq!(refused["approval"], json!({"digest": digest, "approved": edited}));
    assert_eq!(ok(consume(&agent, &open, &edited, None).await)["approved"], edited);
}

#[tokio::test]
async fn an_approval_is_used_in_time() {
    let served = Served::new().await;
    let agent = served.agent();
    let open = ask(&agent, json!({"usable_ms": 1})).await;
    let decided = ok(served.operator().decide(&open, &json!({"option": "approve"})).await);
    assert!(decided["approval"]["usable_until"].is_string());
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let (status, refused) = consume(&agent, &open, &open["payload"], None).await;
    assert_eq!((status, &refused["code"]), (409, &json!("approval_expired")));
    for (more, at) in [
        (json!({"usable_ms": 0}), "/usable_ms"),
        (json!({"usable_ms": 1, "kind": "question"}), "/usable_ms"),
        (json!({"usable_ms": 9_000_000_000_000_000_u64}), "/usable_ms"),
    ] {
        let mut body = json!({"kind": "tool_approval", "title": "t"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (status, refused) = agent.post("/v1/interrupts", &body).await;
        assert_eq!((status, &refused["errors"][0]["pointer"]), (422, &json!(at)), "{more}");
    }
    let path = format!("/v1/interrupts/{}/consume", text(&open, "id"));
    let (status, refused) = agent.post(&path, &json!({"digest": "short"})).await;
    assert_eq!((status, &refused["errors"][0]["pointer"]), (422, &json!("/digest")));
}

#[tokio::test]
async fn a_question_is_withdrawn() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let open = ask(&agent, json!({})).await;
    let path = format!("/v1/interrupts/{}/cancel", text(&open, "id"));
    let withdrawn = ok(agent.post(&path, &json!({"text": "done by hand"})).await);
    let resolution = &withdrawn["resolution"];
    assert_eq!(
        (&resolution["outcome"], &resolution["cause"], &resolution["by"]),
        (&json!("cancelled"), &json!("withdrawn"), &json!(["agent"]))
    );
    assert_eq!(ok(agent.post(&path, &json!({})).await)["resolution"], *resolution);
    let run = ok(operator.get(&format!("/v1/runs/{}", text(&open, "run"))).await);
    assert_eq!((&run["status"], &run["end_reason"]), (&json!("cancelled"), &json!("withdrawn")));
    let (status, refused) = operator.decide(&open, &json!({"option": "approve"})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("already_resolved")));

    // The other questions of the run stay open.
    let run = agent.start_external().await;
    let [first, second] =
        [ask(&agent, json!({"run": run["id"]})).await, ask(&agent, json!({"run": run["id"]})).await];
    ok(agent.post(&format!("/v1/interrupts/{}/cancel", text(&first, "id")), &json!({})).await);
    let run = ok(agent.get(&format!("/v1/runs/{}", text(&run, "id"))).await);
    assert_eq!((&run["status"], &run["open_interrupts"]), (&json!("waiting"), &json!([second["id"]])));
    ok(operator.decide(&second, &json!({"option": "approve"})).await);
    let (status, refused) =
        agent.post(&format!("/v1/interrupts/{}/cancel", text(&second, "id")), &json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("already_resolved")));
}

/// A decision that is made before the agent subscribes is not lost: the response to the ask contains a cursor before it.
#[tokio::test]
async fn a_decision_between_ask_and_subscription_is_found() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let earlier = ask(&agent, json!({})).await;
    ok(operator.decide(&earlier, &json!({"option": "approve"})).await);
    let body = json!({"kind": "tool_approval", "title": "May I?", "payload": {}});
    let request = || agent.request(Method::POST, "/v1/interrupts").header("idempotency-key", "k").json(&body);
    let response = request().send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    let (cursor, location) = (header("decisions-cursor"), header("location"));
    let asked = created(read(response).await);
    assert_eq!(location, format!("/v1/interrupts/{}", text(&asked, "id")));
    assert_eq!(ok(agent.get(&location).await)["id"], asked["id"]);
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    let path = format!("/v1/agent/decisions?cursor={cursor}");
    let page = ok(agent.get(&path).await);
    let [decision] = &page["items"].as_array().unwrap()[..] else { panic!("{page}") };
    assert_eq!(decision["interrupt"]["id"], asked["id"]);
    let mut stream = Stream::at(&agent, &path, None).await;
    stream.next().await.expect("where it starts");
    assert_eq!(stream.next().await.expect("a decision").data["interrupt"]["id"], asked["id"]);
    // The decision may be older than a repeat of the request, so a repeat leads to all decisions.
    let repeated = request().send().await.unwrap();
    let cursor = repeated.headers()["decisions-cursor"].to_str().unwrap();
    let page = ok(agent.get(&format!("/v1/agent/decisions?cursor={cursor}")).await);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    let mut whole = Stream::at(&agent, "/v1/agent/decisions?cursor=start", None).await;
    whole.next().await.expect("where it starts");
    for expected in [&earlier, &asked] {
        assert_eq!(whole.next().await.expect("a decision").data["interrupt"]["id"], expected["id"]);
    }
}

#[tokio::test]
async fn an_agent_reads_and_follows_its_own_decisions() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let secret = created(operator.post("/v1/keys", &json!({"name": "other-bot"})).await);
    let other = served.api(Some(text(&secret, "secret")));
    let mut stream = Stream::at(&agent, "/v1/agent/decisions", None).await;
    let start = stream.next().await.expect("where it starts");
    assert_eq!(start.event.as_deref(), Some("position"));
    let mut asked = Vec::new();
    for i in 0..3 {
        let theirs = ask(&other, json!({})).await;
        let own = ask(&agent, json!({"title": format!("number {i}")})).await;
        for interrupt in [&theirs, &own] {
            ok(operator
                .decide(interrupt, &json!({"option": "approve", "text": format!("so be it {i}")}))
                .await);
        }
        asked.push(text(&own, "id").to_owned());
    }
    let told = |item: &Value| {
        (text(&item["interrupt"], "id").to_owned(), text(&item["interrupt"]["resolution"], "text").to_owned())
    };
    let expected: Vec<_> = (0..3).map(|i| (asked[i].clone(), format!("so be it {i}"))).collect();

    let first = ok(agent.get("/v1/agent/decisions?limit=2").await);
    let items = first["items"].as_array().unwrap();
    assert_eq!(items.iter().map(told).collect::<Vec<_>>(), expected[..2]);
    let rest = ok(agent.get(&format!("/v1/agent/decisions?cursor={}", text(&first, "next_cursor"))).await);
    assert_eq!(rest["items"].as_array().unwrap().iter().map(told).collect::<Vec<_>>(), expected[2..]);
    assert_eq!(rest.get("next_cursor"), None);
    assert_eq!(ok(other.get("/v1/agent/decisions").await)["items"].as_array().unwrap().len(), 3);
    // The operator has asked no question.
    assert_eq!(ok(operator.get("/v1/agent/decisions").await)["items"], json!([]));

    let mut frames = Vec::new();
    for _ in 0..3 {
        let frame = stream.next().await.expect("a decision");
        assert_eq!(frame.event.as_deref(), Some("decision"));
        frames.push(frame.data);
    }
    assert_eq!(frames.iter().map(told).collect::<Vec<_>>(), expected);
    drop(stream);
    // A client that reconnects gets the decisions after the first decision, even after a restart.
    let seen = text(&frames[0], "position").to_owned();
    let served = served.restart().await;
    let mut again = Stream::at(&served.agent(), "/v1/agent/decisions", Some(&seen)).await;
    again.next().await.expect("where it starts");
    for expected in &expected[1..] {
        assert_eq!(told(&again.next().await.expect("a decision").data), *expected);
    }
    let (status, refused) = served.agent().get("/v1/agent/decisions?cursor=p999999").await;
    assert_eq!((status, &refused["code"]), (400, &json!("invalid_query")));
}
