//! Callbacks to external agents, with the real binary: content, signature, timing, allowed addresses, and stored data.

mod stored_callbacks;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use data_encoding::BASE64;
use holdshort_testkit::server::{Answer, Setup, TestServer, eventually, eventually_for};
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use crate::cluster::{database, sql};
use crate::keys::key;
use crate::notifications::{SECRET, deliveries, wait_state};

const CHANNEL: &str = "agent-callbacks";
/// Maximum number of callbacks that the server sends to one host at a time (`engine/src/outbox/limits.rs`).
const CALLED_AT_HOST: usize = 2;
/// Path of the URL of an agent's callback. The path grants access, so it must stay secret.
const HIDDEN: &str = "/hidden-path";

fn local_callback_setup() -> Setup {
    TestServer::setup().callback_allow_networks("127.0.0.0/8")
}

fn callback(sink: &WebhookSink) -> Value {
    json!({"url": sink.url(HIDDEN), "secret": SECRET})
}

/// Returns the request body with which an agent asks a question. `more` is added to its fields.
fn question(more: &Value) -> Value {
    let mut body = json!({"kind": "question", "title": "When may we deploy?"});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

async fn post(server: &TestServer, body: &Value, key: Option<&str>) -> Answer {
    let mut request = server.agent_request(Method::POST, "/v1/interrupts").json(body);
    if let Some(key) = key {
        request = request.header("Idempotency-Key", key);
    }
    server.send(request).await
}

/// Asks a question as an agent. Returns the id of the interrupt.
async fn ask(server: &TestServer, more: Value) -> String {
    post(server, &question(&more), None).await.ok()["id"].as_str().unwrap().to_owned()
}

async fn answer(server: &TestServer, id: &str, text: &str) {
    let interrupt = server.interrupt(id).await;
    server.decide(&interrupt, &json!({"option": "answer", "text": text})).await.ok();
}

/// Verifies the signature of a callback as a receiver of Standard Webhooks does.
fn verify(received: &ReceivedRequest) {
    let key = BASE64.decode(SECRET.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
    let mut signed =
        format!("{}.{}.", received.header("webhook-id"), received.header("webhook-timestamp")).into_bytes();
    signed.extend_from_slice(&received.body);
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), &signed);
    assert_eq!(received.header("webhook-signature"), format!("v1,{}", BASE64.encode(signature.as_ref())));
}

/// Returns the files below the server's data folder that contain a text.
fn files(server: &TestServer, text: &str) -> Vec<PathBuf> {
    let found = Command::new("grep").args(["-rlFe", text]).arg(server.data()).output().unwrap();
    String::from_utf8(found.stdout).unwrap().lines().map(PathBuf::from).collect()
}

fn callback_file(server: &TestServer, id: &str) -> PathBuf {
    server.data().join(format!("callbacks/{id}.json"))
}

async fn until_forgotten(server: &TestServer) {
    eventually("nothing is kept of it", async || files(server, SECRET).is_empty().then_some(())).await;
}

/// The callback of an approval contains what the agent needs to use the approval: the digest, and the edited action.
#[tokio::test(flavor = "multi_thread")]
async fn a_callback_contains_the_approval() {
    let sink = WebhookSink::start().await;
    let server = local_callback_setup().start().await;
    let body = json!({
        "kind": "tool_approval", "title": "Delete 41 branches", "payload": {"branches": 41},
        "callback": callback(&sink),
    });
    let id = post(&server, &body, None).await.ok()["id"].as_str().unwrap().to_owned();
    server
        .decide(&server.interrupt(&id).await, &json!({"option": "edit", "edit": {"branches": 40}}))
        .await
        .ok();
    let data = sink.wait_for(1).await.remove(0).json()["data"].clone();
    let read = server.send(server.agent_request(Method::GET, &format!("/v1/interrupts/{id}"))).await.ok();
    assert_eq!(data["approval"], read["approval"]);
    assert_eq!(data["approval"]["approved"], json!({"branches": 40}));
    let digest = json!({"digest": data["approval"]["digest"]});
    let used = server.agent_request(Method::POST, &format!("/v1/interrupts/{id}/consume")).json(&digest);
    assert_eq!(server.send(used).await.ok()["approved"], json!({"branches": 40}));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_what_was_decided_where_it_said() {
    let sink = WebhookSink::start().await;
    let server = local_callback_setup().start().await;
    let id = ask(&server, json!({"callback": callback(&sink)})).await;
    answer(&server, &id, "On Monday.").await;
    let told = sink.wait_for(1).await.remove(0);
    verify(&told);
    assert_eq!(told.path, HIDDEN);
    assert_eq!(told.header("x-event-type"), "interrupt.resolved");
    let body = told.json();
    assert_eq!(body["type"], "interrupt.resolved");
    let data = &body["data"];
    assert_eq!((&data["interrupt"], &data["status"]), (&json!(id), &json!("resolved")));
    assert_eq!((&data["outcome"], &data["by"]), (&json!("answered"), &json!(["operator"])));
    // The callback's body equals the resolution that the agent reads.
    let read = server.agent_request(Method::GET, &format!("/v1/interrupts/{id}"));
    let read = server.send(read).await.ok();
    assert_eq!(read["resolution"]["text"], "On Monday.");
    assert_eq!(data["resolution"], read["resolution"]);
    assert_eq!(data.get("approval"), None);

    let [delivery] = &wait_state(&server, "delivered", 1).await[..] else { panic!("one delivery") };
    assert_eq!((&delivery["channel"], &delivery["event"]), (&json!(CHANNEL), &json!("resolved")));
    assert_eq!(delivery["id"], told.header("webhook-id"));
    until_forgotten(&server).await;
    assert_eq!(sink.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_told_however_that_ended() {
    let sink = WebhookSink::start().await;
    let server = local_callback_setup().start().await;
    let told = json!({"callback": callback(&sink)});
    let with = |more: Value| {
        let mut all = told.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let expired = ask(&server, with(json!({"expires_in_ms": 300}))).await;
    sink.wait_for(1).await;
    let withdrawn = ask(&server, told.clone()).await;
    let path = format!("/v1/interrupts/{withdrawn}/cancel");
    server.send(server.agent_request(Method::POST, &path).json(&json!({"text": "done by hand"}))).await.ok();
    sink.wait_for(2).await;
    let ended = ask(&server, told.clone()).await;
    let run = server.interrupt(&ended).await["run"].as_str().unwrap().to_owned();
    server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    sink.wait_for(3).await;
    // An agent that registered no callback receives none.
    let other = ask(&server, json!({})).await;
    answer(&server, &other, "Now.").await;
    let received = sink.wait_for(3).await;
    received.iter().for_each(verify);
    let found: Vec<Value> = received
        .iter()
        .map(|each| {
            let body = each.json();
            json!([body["type"], body["data"]["interrupt"], body["data"]["resolution"]["outcome"]])
        })
        .collect();
    let wanted = [
        json!(["interrupt.expired", expired, "expired"]),
        json!(["interrupt.resolved", withdrawn, "cancelled"]),
        json!(["interrupt.resolved", ended, "cancelled"]),
    ];
    assert_eq!(found, wanted);
    wait_state(&server, "delivered", 3).await;
    assert_eq!(deliveries(&server, "").await.len(), 3);
}

/// Each of two questions in one run has its own callback.
#[tokio::test(flavor = "multi_thread")]
async fn each_question_of_a_run_has_a_place_of_its_own() {
    let (one, other) = (WebhookSink::start().await, WebhookSink::start().await);
    let server = local_callback_setup().start().await;
    let start = server.agent_request(Method::POST, "/v1/runs");
    let body = json!({"workflow": "external", "input": {"task": "deploy"}});
    let run = server.send(start.json(&body)).await.ok()["id"].clone();
    let first = ask(&server, json!({"run": run, "callback": callback(&one)})).await;
    let second = ask(&server, json!({"run": run, "callback": callback(&other)})).await;
    answer(&server, &second, "Later.").await;
    let told = other.wait_for(1).await;
    assert_eq!(told[0].json()["data"]["interrupt"], json!(second));
    answer(&server, &first, "Now.").await;
    let told = one.wait_for(1).await;
    assert_eq!(told[0].json()["data"]["resolution"]["text"], "Now.");
    until_forgotten(&server).await;
    assert_eq!((one.count(), other.count()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_after_the_decision_tells_it_when_it_is_back() {
    let sink = WebhookSink::start().await;
    sink.hold();
    let mut server = local_callback_setup().start().await;
    let id = ask(&server, json!({"callback": callback(&sink)})).await;
    // The stored callback also survives a restart before the decision.
    server.restart().await;
    answer(&server, &id, "On Monday.").await;
    sink.wait_for(1).await;
    server.kill();
    sink.release();
    server.start().await;
    let received = sink.wait_for(2).await;
    received.iter().for_each(verify);
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"), "the same delivery");
    // The bodies are equal except for the server's port, which the restart has changed.
    let [one, other] = [0, 1].map(|n| {
        let mut body: Value = received[n].json();
        body["data"].as_object_mut().unwrap().remove("url").expect("where it is shown");
        body
    });
    assert_eq!(one, other);
    wait_state(&server, "delivered", 1).await;
    until_forgotten(&server).await;
}

/// A server that is killed right after its response to a decision loses no callback, even if it has sent nothing.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_with_the_process_that_took_the_decisions() {
    const ASKS: usize = 8;
    let sink = WebhookSink::start().await;
    let mut server = local_callback_setup().start().await;
    for n in 1..=ASKS {
        let id = ask(&server, json!({"callback": callback(&sink)})).await;
        answer(&server, &id, "Yes.").await;
        server.kill();
        server.start().await;
        wait_state(&server, "delivered", n).await;
    }
    let mut ids: Vec<String> =
        sink.received().iter().map(|each| each.header("webhook-id").to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), ASKS, "one id for each");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_tried_again_and_by_hand_after_that() {
    let sink = WebhookSink::start().await;
    sink.answer_with(503, "retry-after", "1");
    let server = local_callback_setup().start().await;
    let id = ask(&server, json!({"callback": callback(&sink)})).await;
    answer(&server, &id, "Yes.").await;
    let received = sink.wait_for(2).await;
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    wait_state(&server, "delivered", 1).await;

    // Status 410 ends the automatic attempts of this callback, and does not affect other callbacks.
    sink.answer([410]);
    let gone = ask(&server, json!({"callback": callback(&sink)})).await;
    answer(&server, &gone, "Yes.").await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    assert_eq!((&failed["interrupt"], &failed["status"]), (&json!(gone), &json!(410)));
    let another = ask(&server, json!({"callback": callback(&sink)})).await;
    answer(&server, &another, "Yes.").await;
    wait_state(&server, "delivered", 2).await;
    let path = format!("/v1/deliveries/{}/retry", failed["id"].as_str().unwrap());
    server.post(&path, &json!({})).await.ok();
    wait_state(&server, "delivered", 3).await;
    sink.received().iter().for_each(verify);
    until_forgotten(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_told_is_refused_where_it_stands_and_not_repeated() {
    let sink = WebhookSink::start().await;
    let url = sink.url("/hush4711");
    let far = TestServer::setup().start().await;
    let near = local_callback_setup().start().await;
    let good = json!({"url": url, "secret": SECRET});
    let of = |name: &str, value: Value| {
        let mut callback = good.clone();
        callback[name] = value;
        callback
    };
    let long = format!("https://example.org/hush4711{}", "x".repeat(2_048));
    for (server, callback, pointer) in [
        // Loopback addresses, without an allowed network.
        (&far, of("url", json!(url)), "/callback/url"),
        (&far, of("url", json!(url.replacen("http:", "https:", 1))), "/callback/url"),
        (&near, of("url", json!("http://10.0.0.7/hush4711")), "/callback/url"),
        // Public addresses without TLS. The allowed network does not contain them.
        (&near, of("url", json!("http://93.184.216.34/hush4711")), "/callback/url"),
        (&near, of("url", json!("http://[2606:4700:4700::1111]/hush4711")), "/callback/url"),
        (&near, of("url", json!("ftp://example.org/hush4711")), "/callback/url"),
        (&near, of("url", json!("https://me:hush4711@example.org/")), "/callback/url"),
        (&near, of("url", json!("hush4711")), "/callback/url"),
        (&near, of("url", json!(long)), "/callback/url"),
        (&near, of("secret", json!("hush4711")), "/callback/secret"),
        (&near, of("secret", json!("whsec_aHVzaDQ3MTE=")), "/callback/secret"),
        (&near, json!({"url": url}), "/callback/secret"),
        (&near, json!({"secret": SECRET}), "/callback/url"),
        (&near, of("more", json!(1)), "/callback/more"),
        (&near, json!("hush4711"), "/callback"),
    ] {
        let refused = post(server, &question(&json!({"callback": callback})), None).await;
        assert_eq!(refused.refusal(), (422, "invalid_request"), "{callback}: {:?}", refused.body);
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{callback}");
        let text = refused.body.to_string();
        assert!(
            !text.contains("hush4711") && !text.contains("aHVzaDQ3MTE") && !text.contains(SECRET),
            "{text}"
        );
    }
    for server in [&far, &near] {
        assert!(server.get("/v1/interrupts").await.ok()["items"].as_array().unwrap().is_empty());
        assert!(files(server, "hush4711").is_empty(), "nothing is kept of what is refused");
    }
}

/// A host name is resolved at each attempt, and the address guard checks the resolved address.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_leads_to_this_machine_is_not_told() {
    let sink = WebhookSink::start().await;
    let server = TestServer::setup().start().await;
    let url = sink.url(HIDDEN).replacen("http://127.0.0.1", "https://localhost", 1);
    let id = ask(&server, json!({"callback": {"url": url, "secret": SECRET}})).await;
    answer(&server, &id, "Yes.").await;
    let tried = eventually("it was tried", async || {
        let found = deliveries(&server, "").await.pop()?;
        (found["attempts"].as_u64() > Some(0)).then_some(found)
    })
    .await;
    let error = tried["error"].as_str().unwrap();
    assert!(error.contains("is not allowed"), "{tried}");
    // Only the server may know the callback. The agent must not learn the address behind a host name.
    let hidden = ["localhost", "127.0.0.1", "::1"];
    assert!(!hidden.iter().any(|text| error.contains(text)), "{tried}");
    let shown = server.get(&format!("/v1/deliveries/{}", tried["id"].as_str().unwrap())).await.ok();
    assert!(!hidden.iter().any(|text| shown.to_string().contains(text)), "{shown}");
    assert_eq!(sink.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_an_agent_is_told_stands_in_one_file_and_is_shown_nowhere() {
    let sink = WebhookSink::start().await;
    sink.answer([400]);
    let mut server = local_callback_setup().start().await;
    let made = post(&server, &question(&json!({"callback": callback(&sink)})), None).await.ok();
    let id = made["id"].as_str().unwrap();
    for text in [SECRET, HIDDEN] {
        let [file] = &files(&server, text)[..] else { panic!("one file") };
        assert!(file.ends_with(format!("callbacks/{id}.json")), "{}", file.display());
        for path in [file.as_path(), file.parent().unwrap()] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o077, 0);
        }
    }
    answer(&server, id, "Yes.").await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    let run = made["run"].as_str().unwrap();
    let shown = server.get(&format!("/v1/deliveries/{}", failed["id"].as_str().unwrap())).await.ok();
    let events = server.get(&format!("/v1/audit/events?stream={run}&limit=200")).await.ok();
    let read = server.interrupt(id).await;
    assert!(events.to_string().contains("interrupt_opened"), "{events}");
    for text in [made.to_string(), shown.to_string(), events.to_string(), read.to_string(), server.stderr()] {
        assert!(!text.contains(SECRET) && !text.contains(HIDDEN), "{text}");
    }
    // A manual retry is possible, also after a restart, until the run is erased.
    server.restart().await;
    let stored = fs::read(callback_file(&server, id)).unwrap();
    server.post("/v1/erasures", &json!({"run": run})).await.ok();
    assert!(files(&server, SECRET).is_empty());
    let retry = format!("/v1/deliveries/{}/retry", failed["id"].as_str().unwrap());
    for (is_back, why) in [(false, "is no longer stored"), (true, "was erased")] {
        if is_back {
            // This is the state after a run was erased by its age and before its callback file is removed.
            fs::write(callback_file(&server, id), &stored).unwrap();
            fs::set_permissions(callback_file(&server, id), Permissions::from_mode(0o600)).unwrap();
        }
        let refused = server.post(&retry, &json!({})).await;
        assert_eq!(refused.refusal(), (409, "not_retriable"), "{refused:?}");
        assert!(refused.body["detail"].as_str().unwrap().contains(why), "{refused:?}");
        let [still] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
        assert_eq!(still["id"], failed["id"]);
    }
    assert_eq!(sink.count(), 1);
    server.restart().await;
    until_forgotten(&server).await;
}

/// The idempotency key covers the whole request, including the callback.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_asks_once_and_is_told_once() {
    let (sink, other) = (WebhookSink::start().await, WebhookSink::start().await);
    let server = local_callback_setup().start().await;
    let body = question(&json!({"callback": callback(&sink)}));
    let first = post(&server, &body, Some("deploy-1")).await.ok();
    let again = post(&server, &body, Some("deploy-1")).await.ok();
    assert_eq!(first["id"], again["id"]);
    assert_eq!(files(&server, SECRET).len(), 1, "of the repeat nothing is kept");
    let elsewhere = question(&json!({"callback": callback(&other)}));
    let refused = post(&server, &elsewhere, Some("deploy-1")).await;
    assert_eq!(refused.refusal(), (422, "idempotency_key_reused"));
    assert_eq!(files(&server, SECRET).len(), 1, "of what is refused nothing is kept");
    answer(&server, first["id"].as_str().unwrap(), "Yes.").await;
    sink.wait_for(1).await;
    wait_state(&server, "delivered", 1).await;
    assert_eq!((sink.count(), other.count()), (1, 0));
    until_forgotten(&server).await;
}

/// A receiver that accepts a request and never responds does not delay callbacks to other receivers.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_slow_keeps_nothing_from_the_others() {
    const ASKS: usize = 8;
    let (slow, quick) = (WebhookSink::start().await, WebhookSink::start().await);
    slow.hold();
    let server = local_callback_setup().start().await;
    let began = std::time::Instant::now();
    for _ in 0..ASKS {
        let id = ask(&server, json!({"callback": callback(&slow)})).await;
        answer(&server, &id, "Yes.").await;
    }
    slow.wait_for(CALLED_AT_HOST).await;
    let id = ask(&server, json!({"callback": callback(&quick)})).await;
    answer(&server, &id, "Yes.").await;
    let told = quick.wait_for(1).await;
    assert_eq!(told[0].json()["data"]["interrupt"], json!(id));
    // The number of open requests to the slow receiver stays limited, so a new request starts only after a timeout.
    let timed_out = usize::try_from(began.elapsed().as_secs() / 10).unwrap();
    assert!(slow.count() <= CALLED_AT_HOST * (1 + timed_out), "{}", slow.count());
    slow.release();
    wait_state(&server, "delivered", ASKS + 1).await;
    until_forgotten(&server).await;
}

/// An agent has more due callbacks at an unreachable host than are sent at a time. The callback of a second agent is
/// not delayed, and every callback finally arrives.
#[tokio::test(flavor = "multi_thread")]
async fn many_that_are_due_where_nobody_answers_keep_nothing_from_another_asker() {
    const DUE: usize = 150;
    let (dead, quick) = (WebhookSink::start().await, WebhookSink::start().await);
    dead.hold();
    let server = local_callback_setup().start().await;
    for _ in 0..DUE {
        let id = ask(&server, json!({"callback": callback(&dead)})).await;
        answer(&server, &id, "Yes.").await;
    }
    let (_, secret) = key(&server, "another").await;
    let client = holdshort_http::plain().build().expect("a client");
    let request = client.post(format!("{}/v1/interrupts", server.base())).bearer_auth(secret);
    let request = request.json(&question(&json!({"callback": callback(&quick)})));
    let id = server.send(request).await.ok()["id"].as_str().unwrap().to_owned();
    answer(&server, &id, "Yes.").await;
    // The callbacks at the unreachable host need many minutes, because only two are sent at a time.
    let told = quick.wait_for(1).await;
    assert_eq!(told[0].json()["data"]["interrupt"], json!(id));

    dead.release();
    let all = eventually_for(Duration::from_mins(3), "all are told", async || {
        let found = deliveries(&server, "&state=delivered").await;
        (found.len() > DUE).then_some(found)
    })
    .await;
    let attempts: u64 = all.iter().map(|each| each["attempts"].as_u64().unwrap()).sum();
    // An attempt may end before its receiver has seen the request.
    assert!(attempts >= (dead.count() + quick.count()) as u64, "{attempts}");
    let of = |each: &ReceivedRequest| each.header("webhook-id").to_owned();
    let mut ids: Vec<String> = dead.received().iter().map(of).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), DUE, "one id for each");
}

/// Many callbacks that are due at once do not block reads of the store.
#[tokio::test(flavor = "multi_thread")]
async fn many_that_are_due_at_once_hold_up_nobody_who_reads() {
    const HOSTS: usize = 30;
    let mut sinks = Vec::new();
    for _ in 0..HOSTS {
        let sink = WebhookSink::start().await;
        sink.hold();
        sinks.push(sink);
    }
    let mut server = local_callback_setup().start().await;
    for sink in sinks.iter().cycle().take(HOSTS * CALLED_AT_HOST) {
        let id = ask(&server, json!({"callback": callback(sink)})).await;
        answer(&server, &id, "Yes.").await;
    }
    server.kill();
    sinks.iter().for_each(WebhookSink::release);
    server.start().await;
    let all_told = async {
        while deliveries(&server, "&state=delivered").await.len() < HOSTS * CALLED_AT_HOST {
            server.get("/v1/runs").await.ok();
        }
    };
    tokio::time::timeout(Duration::from_mins(1), all_told).await.expect("it is told, and read meanwhile");
}

/// Any node of a shared database can send the callback, even if the question was asked at a node that is gone.
#[tokio::test(flavor = "multi_thread")]
async fn another_node_tells_what_was_asked_at_one_that_is_gone() {
    let sink = WebhookSink::start().await;
    let (url, lease) = (database().await, Duration::from_secs(2));
    let mut one = local_callback_setup().database(&url, "a").lease(lease).start().await;
    let other = local_callback_setup().database(&url, "b").lease(lease).start().await;
    let id = ask(&one, json!({"callback": callback(&sink)})).await;
    assert!(files(&one, SECRET).is_empty(), "nothing lies in a folder");
    let rows = "SELECT name FROM agreed WHERE name LIKE 'callbacks/%'";
    assert_eq!(sql(&url, rows).await, format!("callbacks/{id}"));
    one.kill();
    answer(&other, &id, "Yes.").await;
    let told = sink.wait_for(1).await;
    verify(&told[0]);
    wait_state(&other, "delivered", 1).await;
    eventually("its row is gone", async || sql(&url, rows).await.is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_key_was_revoked_is_told_nothing_more() {
    let sink = WebhookSink::start().await;
    let server = local_callback_setup().start().await;
    let client = holdshort_http::plain().build().expect("a client");
    let mut asked = Vec::new();
    for name in ["revoked", "rotated"] {
        let (key, secret) = key(&server, name).await;
        let request = client.post(format!("{}/v1/interrupts", server.base())).bearer_auth(secret);
        let request = request.json(&question(&json!({"callback": callback(&sink)})));
        let id = server.send(request).await.ok()["id"].as_str().unwrap().to_owned();
        asked.push((key, id));
    }
    let [(revoked, of_revoked), (rotated, of_rotated)] = &asked[..] else { panic!("two") };
    server.send(server.request(Method::DELETE, &format!("/v1/keys/{revoked}"))).await.ok();
    server.post(&format!("/v1/keys/{rotated}/rotate"), &json!({})).await.ok();
    answer(&server, of_revoked, "Yes.").await;
    let [dropped] = &wait_state(&server, "dropped", 1).await[..] else { panic!("one") };
    assert_eq!(dropped["interrupt"], json!(of_revoked));
    assert!(dropped["error"].as_str().unwrap().contains("is no longer valid"), "{dropped}");
    // The rotated secret belongs to the same agent key.
    answer(&server, of_rotated, "Yes.").await;
    let told = sink.wait_for(1).await;
    assert_eq!(told[0].json()["data"]["interrupt"], json!(of_rotated));
    wait_state(&server, "delivered", 1).await;
    assert_eq!(sink.count(), 1);
}

/// A repeated request gets the same response as before, even if the server no longer allows the network of its
/// callback.
#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_is_answered_where_its_callback_is_allowed_no_more() {
    let sink = WebhookSink::start().await;
    let mut before = local_callback_setup().start().await;
    let body = question(&json!({"callback": callback(&sink)}));
    let first = post(&before, &body, Some("deploy-1")).await.ok();
    before.kill();
    let after = TestServer::setup().data(&before.data()).start().await;
    let again = post(&after, &body, Some("deploy-1")).await.ok();
    assert_eq!(first["id"], again["id"]);
    let refused = post(&after, &body, Some("deploy-2")).await;
    assert_eq!(refused.refusal(), (422, "invalid_request"));
    assert_eq!(files(&after, SECRET).len(), 1, "of a repeat nothing is kept");
    answer(&after, first["id"].as_str().unwrap(), "Yes.").await;
    let [dropped] = &wait_state(&after, "dropped", 1).await[..] else { panic!("one") };
    assert!(dropped["error"].as_str().unwrap().contains("is no longer allowed"), "{dropped}");
    assert_eq!(sink.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_says_where_agents_may_be_told_at_all() {
    let sink = WebhookSink::start().await;
    let public = json!({"url": "https://1.1.1.1/resolved", "secret": SECRET});
    let named = callback(&sink);
    for (reach, of_public, of_named) in [
        ("public", None, None),
        ("allowed", Some("/callback/url"), None),
        ("off", Some("/callback"), Some("/callback")),
    ] {
        let server = local_callback_setup().callbacks(reach).start().await;
        for (callback, pointer) in [(&public, of_public), (&named, of_named)] {
            let asked = post(&server, &question(&json!({"callback": callback})), None).await;
            match pointer {
                None => assert_eq!(asked.status, 201, "{reach} {callback}: {:?}", asked.body),
                Some(pointer) => {
                    assert_eq!(asked.refusal(), (422, "invalid_request"), "{reach} {callback}");
                    assert_eq!(asked.body["errors"][0]["pointer"], pointer, "{reach} {callback}");
                }
            }
        }
    }
    // The current configuration also applies to callbacks of questions that were asked earlier.
    let mut server = local_callback_setup().start().await;
    let id = ask(&server, json!({"callback": named})).await;
    server.kill();
    server.change(|setup| setup.callbacks("off"));
    server.start().await;
    answer(&server, &id, "Yes.").await;
    let [dropped] = &wait_state(&server, "dropped", 1).await[..] else { panic!("one") };
    assert!(dropped["error"].as_str().unwrap().contains("is no longer allowed"), "{dropped}");
    assert_eq!(sink.count(), 0);
}
