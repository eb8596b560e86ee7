//! Notifications over channels, with the real binary: their content and their retries. No notification is lost, and
//! none is sent without need (contract D4, D7, E19; cases 40 and 45).

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use holdshort_testkit::server::{Setup, TestServer, eventually};
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use serde_json::{Value, json};

use crate::cluster::database;

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEXT_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// Returns a channels file with one channel that sends to the webhook receiver. `more` is added to the keys of the
/// channel.
fn channel(sink: &WebhookSink, more: &str) -> String {
    let url = sink.url("/hook");
    format!(
        "channels:\n  hook: {{type: webhook, url: \"{url}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8]{more}}}\n"
    )
}

pub(crate) fn webhook_setup(sink: &WebhookSink, more: &str) -> Setup {
    TestServer::setup().channels(&channel(sink, more)).env("HOOK_SECRET", SECRET)
}

/// Opens an interrupt as an external agent. Returns the id of the interrupt.
pub(crate) async fn ask(server: &TestServer, more: Value) -> String {
    let mut body =
        json!({"kind": "review", "title": "Send it to Mrs Roe?", "payload": {"iban": "DE02 1203 0000"}});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    let asked = server.post("/v1/interrupts", &body).await.ok();
    asked["id"].as_str().unwrap().to_owned()
}

pub(crate) async fn resolve(server: &TestServer, id: &str) {
    let interrupt = server.interrupt(id).await;
    server.decide(&interrupt, &json!({"option": "approve"})).await.ok();
}

pub(crate) async fn deliveries(server: &TestServer, query: &str) -> Vec<Value> {
    let list = server.get(&format!("/v1/deliveries?limit=200{query}")).await.ok();
    list["items"].as_array().unwrap().clone()
}

pub(crate) async fn wait_state(server: &TestServer, state: &str, n: usize) -> Vec<Value> {
    eventually(&format!("{n} deliveries are {state}"), async || {
        let found = deliveries(server, &format!("&state={state}")).await;
        (found.len() >= n).then_some(found)
    })
    .await
}

fn kinds(received: &[ReceivedRequest]) -> Vec<String> {
    received.iter().map(|each| each.json()["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn case_40_a_webhook_is_tried_until_it_is_there() {
    let sink = WebhookSink::start().await;
    sink.answer([500, 500]);
    let server = webhook_setup(&sink, ", retry_delay: 100ms").start().await;
    let id = ask(&server, json!({})).await;
    let received = sink.wait_for(3).await;
    let [delivery] = &wait_state(&server, "delivered", 1).await[..] else { panic!("one delivery") };
    assert_eq!((&delivery["attempts"], &delivery["event"]), (&json!(3), &json!("opened")));
    let gaps: Vec<Duration> = received.windows(2).map(|two| two[1].at - two[0].at).collect();
    assert!(gaps[1] > gaps[0], "{gaps:?}");
    for header in ["webhook-id", "x-event-id", "x-event-type"] {
        let values: BTreeSet<&str> = received.iter().map(|each| each.header(header)).collect();
        assert_eq!(values.len(), 1, "{header}: {values:?}");
    }
    assert_eq!(received[0].header("webhook-id"), delivery["id"].as_str().unwrap());
    assert_eq!(received[0].body, received[2].body);
    let body = received[0].json();
    assert_eq!((&body["type"], &body["data"]["interrupt"]), (&json!("interrupt.opened"), &json!(id)));
    let link = format!("{}/inbox/{id}", server.base());
    assert_eq!(body["data"]["url"], link);
    // Neither the message nor the stored delivery contains the content of the question.
    let shown = server.get(&format!("/v1/deliveries/{}", delivery["id"].as_str().unwrap())).await.ok();
    for text in [String::from_utf8(received[0].body.clone()).unwrap(), shown.to_string(), server.stderr()] {
        assert!(!text.contains("Roe") && !text.contains("DE02"), "{text}");
    }
    let tried: Vec<_> =
        shown["tried"].as_array().unwrap().iter().map(|each| each["status"].clone()).collect();
    assert_eq!(tried, [500, 500, 200]);

    resolve(&server, &id).await;
    let received = sink.wait_for(4).await;
    let last = received[3].json();
    assert_eq!((&last["type"], &last["data"]["outcome"]), (&json!("interrupt.resolved"), &json!("approved")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_is_what_the_channel_says() {
    let sink = WebhookSink::start().await;
    let (only, titled) = (sink.url("/only"), sink.url("/titled"));
    let channels = format!(
        "channels:
  only: {{type: webhook, url: \"{only}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], events: [expired], kinds: [review]}}
  titled: {{type: webhook, url: \"{titled}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], title: true}}
  nobody: {{type: webhook, url: \"{only}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], groups: [legal]}}
"
    );
    let server = TestServer::setup().channels(&channels).env("HOOK_SECRET", SECRET).start().await;
    ask(&server, json!({"expires_in_ms": 300})).await;
    let received = sink.wait_for(3).await;
    let mut told: Vec<(String, String)> =
        received.iter().map(|each| each.path.clone()).zip(kinds(&received)).collect();
    told.sort();
    let wanted =
        [("/only", "interrupt.expired"), ("/titled", "interrupt.expired"), ("/titled", "interrupt.opened")];
    assert_eq!(told, wanted.map(|(path, kind)| (path.to_owned(), kind.to_owned())));
    for each in &received {
        let title = each.json()["data"].get("title").cloned();
        assert_eq!(title, (each.path == "/titled").then(|| json!("Send it to Mrs Roe?")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_it_sends_sends_once_more_under_the_same_id() {
    let sink = WebhookSink::start().await;
    sink.hold();
    let mut server = webhook_setup(&sink, "").start().await;
    let id = ask(&server, json!({})).await;
    sink.wait_for(1).await;
    assert_eq!(deliveries(&server, "").await[0]["sending"], true);
    server.kill();
    sink.release();
    server.start().await;
    let received = sink.wait_for(2).await;
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    wait_state(&server, "delivered", 1).await;
    resolve(&server, &id).await;
    wait_state(&server, "delivered", 2).await;
    assert_eq!(sink.received().len(), 3, "nothing else is sent");
}

/// A server that is killed at any moment, with many open questions, sends a notification about each question and about
/// nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_however_often_it_is_killed() {
    const ASKS: usize = 24;
    let sink = WebhookSink::start().await;
    let mut server = webhook_setup(&sink, ", retry_delay: 50ms").start().await;
    let mut asked = BTreeSet::new();
    for n in 0..ASKS {
        asked.insert(ask(&server, json!({})).await);
        if n % 6 == 5 {
            server.restart().await;
        }
    }
    eventually("all are delivered", async || {
        let found = deliveries(&server, "&state=delivered").await;
        (found.len() == ASKS).then_some(())
    })
    .await;
    let received = sink.received();
    let of = |each: &ReceivedRequest| each.json()["data"]["interrupt"].as_str().unwrap().to_owned();
    assert_eq!(received.iter().map(of).collect::<BTreeSet<_>>(), asked);
    let ids: BTreeSet<&str> = received.iter().map(|each| each.header("webhook-id")).collect();
    assert_eq!(ids.len(), ASKS, "one id for each");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_send_each_once() {
    let sink = WebhookSink::start().await;
    let url = database().await;
    let one = webhook_setup(&sink, "").database(&url, "a").start().await;
    let other = webhook_setup(&sink, "").database(&url, "b").start().await;
    let mut asked = BTreeSet::new();
    for n in 0..30 {
        let node = if n % 2 == 0 { &one } else { &other };
        asked.insert(ask(node, json!({})).await);
    }
    wait_state(&one, "delivered", 30).await;
    let received = sink.received();
    assert_eq!(received.len(), 30, "each once");
    let ids: BTreeSet<&str> = received.iter().map(|each| each.header("webhook-id")).collect();
    assert_eq!(ids.len(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_leaves_what_it_was_sending_to_the_other_one() {
    let sink = WebhookSink::start().await;
    let url = database().await;
    let lease = Duration::from_secs(2);
    let mut one = webhook_setup(&sink, "").database(&url, "a").lease(lease).start().await;
    sink.hold();
    ask(&one, json!({})).await;
    sink.wait_for(1).await;
    let other = webhook_setup(&sink, "").database(&url, "b").lease(lease).start().await;
    one.kill();
    sink.release();
    let received = sink.wait_for(2).await;
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    wait_state(&other, "delivered", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_not_tried_again_and_a_person_retries() {
    let sink = WebhookSink::start().await;
    sink.answer([404, 410]);
    let server = webhook_setup(&sink, ", retry_delay: 50ms").start().await;
    let first = ask(&server, json!({})).await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    assert_eq!((&failed["attempts"], &failed["status"]), (&json!(1), &json!(404)));
    let channels = server.client_command().args(["channels"]).output().unwrap();
    let channels = String::from_utf8(channels.stdout).unwrap();
    assert!(channels.contains("hook  webhook  failing; first failure "), "{channels}");
    // Status 410 disables the channel, so later deliveries wait.
    resolve(&server, &first).await;
    wait_state(&server, "failed", 2).await;
    let [channel] = &server.get("/v1/channels").await.ok()["items"].as_array().unwrap().clone()[..] else {
        panic!("one channel")
    };
    assert_eq!(channel["why"], "the receiver answered with status 410, so it rejects all further deliveries");
    server.wait_for_log("the channel was disabled").await;
    ask(&server, json!({})).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(sink.received().len(), 2, "nothing more is sent");

    let id = failed["id"].as_str().unwrap();
    let retried = server.client_command().args(["deliveries", "retry", id]).output().unwrap();
    assert!(retried.status.success(), "{retried:?}");
    wait_state(&server, "delivered", 2).await;
    let again: Vec<String> = sink
        .received()
        .iter()
        .map(|each| each.header("webhook-id").to_owned())
        .filter(|of| of == id)
        .collect();
    assert_eq!(again.len(), 2, "under the same id");
    let channels = server.client_command().args(["channels"]).output().unwrap();
    let channels = String::from_utf8(channels.stdout).unwrap();
    assert!(channels.contains("hook  webhook  works"), "{channels}");
    let unknown = server.post("/v1/deliveries/dlv_01k6f0000000000000000000dd/retry", &json!({})).await;
    assert_eq!(unknown.refusal(), (404, "not_found"));
    // A delivered message is not sent again.
    let told = sink.received().len();
    let twice = server.client_command().args(["deliveries", "retry", id]).output().unwrap();
    let said = String::from_utf8(twice.stderr).unwrap();
    assert!(!twice.status.success() && said.contains("was delivered and is not sent again"), "{said}");
    assert!(!said.contains("It is being sent"), "{said}");
    let twice = server.post(&format!("/v1/deliveries/{id}/retry"), &json!({})).await;
    assert_eq!(twice.refusal(), (409, "not_retriable"));
    assert_eq!(sink.received().len(), told);
    let shown = server.client_command().args(["deliveries", "show", id]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("hook  opened"), "{shown}");
}

/// Operators are asked once about a disabled channel, in the inbox and over the channels that still work.
#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_is_disabled_is_asked_about() {
    let (dead, good) = (WebhookSink::start().await, WebhookSink::start().await);
    let of = |name: &str, sink: &WebhookSink| channel(sink, "").replace("hook:", &format!("{name}:"));
    let channels = of("dead", &dead) + of("good", &good).trim_start_matches("channels:\n");
    dead.answer([410]);
    let server = TestServer::setup().channels(&channels).env("HOOK_SECRET", SECRET).start().await;
    ask(&server, json!({})).await;
    let about = async || {
        let open = server.get("/v1/interrupts?status=open&limit=200").await.ok();
        let items = open["items"].as_array().unwrap().clone();
        let is_it =
            |each: &Value| each["title"].as_str().unwrap().starts_with("The channel `dead` is disabled");
        items.into_iter().filter(is_it).collect::<Vec<Value>>()
    };
    let alert = eventually("somebody is asked", async || about().await.pop()).await;
    good.wait_for(2).await;
    ask(&server, json!({})).await;
    let received = good.wait_for(3).await;
    assert!(received.iter().any(|each| each.json()["data"]["interrupt"] == alert["id"]), "it is told, too");
    assert_eq!((dead.count(), about().await.len()), (1, 1));
    server.decide(&alert, &json!({"option": "skip"})).await.ok();
    assert_eq!(about().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_deliveries_says_whether_there_are_any() {
    let server = TestServer::setup().channels("channels: {}\n").start().await;
    for (arguments, wanted) in [
        (&["deliveries"][..], "No notification was sent over a channel yet."),
        (&["deliveries", "list", "--state", "failed"], "No such delivery."),
    ] {
        let listed = server.client_command().args(arguments).output().unwrap();
        let said =
            format!("{}{}", String::from_utf8_lossy(&listed.stdout), String::from_utf8_lossy(&listed.stderr));
        assert!(listed.status.success() && said.contains(wanted), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_says_when_to_come_back() {
    let sink = WebhookSink::start().await;
    sink.answer_with(429, "retry-after", "2");
    let server = webhook_setup(&sink, ", retry_delay: 1ms").start().await;
    ask(&server, json!({})).await;
    let received = sink.wait_for(2).await;
    assert!(received[1].at - received[0].at >= Duration::from_secs(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_holds_what_is_told_and_a_removed_channel_keeps_what_waits() {
    let sink = WebhookSink::start().await;
    let mut server = webhook_setup(&sink, "").start().await;
    server.post("/v1/system/freeze", &json!({"reason": "looking"})).await.ok();
    ask(&server, json!({})).await;
    assert_eq!(deliveries(&server, "&state=waiting").await.len(), 1);
    server.restart().await;
    // While its channel is missing from the configuration, the delivery waits. The delivery is sent when the channel is
    // configured again.
    let without = "channels: {}\n";
    server.change(|setup| setup.channels(without));
    server.restart().await;
    server.post("/v1/system/unfreeze", &json!({})).await.ok();
    assert_eq!(deliveries(&server, "&state=waiting").await.len(), 1);
    assert_eq!(sink.received().len(), 0);
    let with = channel(&sink, "");
    server.change(|setup| setup.channels(&with));
    server.restart().await;
    sink.wait_for(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_not_asked_for_what_is_decided() {
    let sink = WebhookSink::start().await;
    let url = sink.url("/slack");
    let channels =
        "channels:\n  team: {type: slack, url_env: SLACK, allow: [127.0.0.0/8], retry_delay: 1s}\n";
    let server = TestServer::setup().channels(channels).env("SLACK", &url).start().await;
    sink.answer([503]);
    let id = ask(&server, json!({})).await;
    sink.wait_for(1).await;
    resolve(&server, &id).await;
    wait_state(&server, "delivered", 1).await;
    let [dropped] = &wait_state(&server, "dropped", 1).await[..] else { panic!("one") };
    let why = json!("the interrupt was resolved before this notification was sent");
    assert_eq!((&dropped["event"], &dropped["error"]), (&json!("opened"), &why));
    let texts: Vec<_> = sink.received().iter().map(|each| each.json()["text"].clone()).collect();
    assert_eq!(texts, ["Waiting for a decision: review in external", "Approved: review in external"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_tells_nobody() {
    let sink = WebhookSink::start().await;
    sink.hold();
    let mut server = webhook_setup(&sink, "").start().await;
    ask(&server, json!({})).await;
    sink.wait_for(1).await;
    let copy = tempfile::tempdir().unwrap();
    let target = copy.path().join("copy");
    let backup = server.client_command().args(["backup", target.to_str().unwrap()]).output().unwrap();
    assert!(backup.status.success(), "{backup:?}");
    server.kill();
    sink.release();
    let copied = webhook_setup(&sink, "").data(&target).start().await;
    let [dropped] = &deliveries(&copied, "").await[..] else { panic!("one") };
    assert_eq!(dropped["state"], "dropped");
    copied.post("/v1/system/unfreeze", &json!({})).await.ok();
    ask(&copied, json!({})).await;
    wait_state(&copied, "delivered", 1).await;
    assert_eq!(sink.received().len(), 2, "what is new is told, what was there is not");
}

/// Receivers' libraries from `PyPI` and `npm` verify a webhook, and reject a changed body.
#[tokio::test(flavor = "multi_thread")]
async fn receivers_verify_it_with_the_libraries_of_standard_webhooks() {
    let sink = WebhookSink::start().await;
    let server = webhook_setup(&sink, "").start().await;
    ask(&server, json!({})).await;
    let received = sink.wait_for(1).await.remove(0);
    let given = verification_input(&received, SECRET);
    for library in LIBRARIES {
        assert_eq!(said_by(library, &given), "valid", "{library:?}");
        let mut changed = given.clone();
        changed["body"] = format!("{} ", given["body"].as_str().unwrap()).into();
        assert_eq!(said_by(library, &changed), "invalid", "{library:?}");
    }
}

/// The libraries of Standard Webhooks produce the same signatures as the test vectors in the documentation (lesson 58).
#[test]
fn the_vectors_of_the_documents_are_those_of_the_libraries() {
    let vectors = crate::docs::json_of("docs/reference/webhooks.md", "## Vectors");
    assert_eq!(vectors.len(), 2);
    for vector in &vectors {
        for library in LIBRARIES {
            assert_eq!(json!(said_by(library, vector)), vector["signature"], "{library:?}");
        }
    }
}

/// A webhook verifies with each configured secret, so that receivers can change to a new secret at any time. A removed
/// secret no longer verifies.
#[tokio::test(flavor = "multi_thread")]
async fn while_secrets_rotate_each_of_them_verifies() {
    let (sink, folder) = (WebhookSink::start().await, tempfile::tempdir().unwrap());
    let file = |name: &str, secret: &str| {
        let path = folder.path().join(name);
        fs::write(&path, secret).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let (before, now) = (file("before", SECRET), file("now", NEXT_SECRET));
    let of = |files: &str| {
        let url = sink.url("/hook");
        format!(
            "channels:\n  hook: {{type: webhook, url: \"{url}\", secret_files: [{files}], allow: [127.0.0.0/8]}}\n"
        )
    };
    let (both, one) = (of(&format!("{now}, {before}")), of(&now));
    let mut server = TestServer::setup().channels(&both).start().await;
    ask(&server, json!({})).await;
    let received = sink.wait_for(1).await.remove(0);
    wait_state(&server, "delivered", 1).await;
    server.change(|setup| setup.channels(&one));
    server.restart().await;
    ask(&server, json!({})).await;
    let later = sink.wait_for(2).await.remove(1);
    for library in LIBRARIES {
        for (received, secret, said) in [
            (&received, SECRET, "valid"),
            (&received, NEXT_SECRET, "valid"),
            (&later, SECRET, "invalid"),
            (&later, NEXT_SECRET, "valid"),
        ] {
            assert_eq!(said_by(library, &verification_input(received, secret)), said, "{library:?} {secret}");
        }
    }
}

/// Returns the JSON input for a script that verifies a received webhook with a library of Standard Webhooks.
fn verification_input(received: &ReceivedRequest, secret: &str) -> Value {
    json!({
        "secret": secret,
        "headers": {
            "webhook-id": received.header("webhook-id"),
            "webhook-timestamp": received.header("webhook-timestamp"),
            "webhook-signature": received.header("webhook-signature"),
        },
        "body": String::from_utf8(received.body.clone()).unwrap(),
    })
}

/// Programs and their scripts, each of which calls a library of Standard Webhooks.
const LIBRARIES: [(&str, &str); 2] = [("python3", "verify.py"), ("node", "verify.js")];

fn said_by((program, script): (&str, &str), given: &Value) -> String {
    let verifiers = concat!(env!("CARGO_MANIFEST_DIR"), "/webhooks");
    let installed = std::path::Path::new(verifiers).join("node_modules/.python/standardwebhooks");
    assert!(installed.exists(), "run `npm ci` in {verifiers}");
    let mut child = Command::new(program)
        .arg(format!("{verifiers}/{script}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
}
