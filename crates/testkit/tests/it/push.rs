//! Push notifications in browsers, with the real binary. npm `http_ece` decrypts each message, and Node's crypto
//! verifies its signature. Endpoints and keys must appear only where they are stored.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use data_encoding::BASE64;
use holdshort_testkit::server::{Answer, Setup, TestServer, eventually};
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cluster::{database, leave_behind, sql};
pub(crate) use holdshort_testkit::reviewer::{as_person, sign_in};

use crate::mails::{person, to_legal};
use crate::notifications::{ask, deliveries, resolve, wait_state};

fn push_setup(more: &str) -> Setup {
    TestServer::setup().channels(&format!(
        "channels:\n  browsers: {{type: push, contact: \"mailto:ops@example.org\", allow: [127.0.0.0/8], \
         retry_delay: 50ms{more}}}\n"
    ))
}

/// Runs the browser's part of push notifications, `webhooks/push.js`, in Node.
fn node(given: &Value) -> Value {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/webhooks"));
    assert!(folder.join("node_modules/http_ece").exists(), "run `npm ci` in {}", folder.display());
    let mut child = Command::new("node")
        .arg(folder.join("push.js"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

struct Browser {
    keys: Value,
    endpoint: String,
}

impl Browser {
    fn at(sink: &WebhookSink, path: &str) -> Self {
        Self { keys: node(&json!({})), endpoint: sink.url(path) }
    }

    fn body(&self) -> Value {
        json!({"endpoint": self.endpoint, "p256dh": self.keys["p256dh"], "auth": self.keys["auth"]})
    }

    /// Decrypts a received push message. Returns its `payload`, and the `claims` and `key` of the sender.
    fn read(&self, received: &ReceivedRequest) -> Value {
        let mut given = self.keys.clone();
        given["authorization"] = received.header("authorization").into();
        given["body"] = BASE64.encode(&received.body).into();
        node(&given)
    }
}

async fn subscribe(server: &TestServer, browser: &Browser) -> Answer {
    server.post("/v1/me/push", &browser.body()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_told_and_its_person_alone_reads_it() {
    let sink = WebhookSink::start().await;
    sink.answer([201]);
    let server = push_setup("").start().await;
    let key = server.get("/v1/me/push").await.ok()["key"].as_str().unwrap().to_owned();
    let browser = Browser::at(&sink, "/send/one");
    let known = subscribe(&server, &browser).await.ok();
    assert_eq!(known["host"], "127.0.0.1");
    let id = ask(&server, json!({})).await;
    let received = sink.wait_for(1).await;
    assert_eq!((&*received[0].path, received[0].header("topic")), ("/send/one", &*id));
    let read = browser.read(&received[0]);
    assert_eq!((&read["key"], &read["header"]["alg"]), (&json!(key), &json!("ES256")));
    assert_eq!(read["claims"]["aud"], sink.url("").trim_end_matches('/'));
    assert_eq!(read["claims"]["sub"], "mailto:ops@example.org");
    let payload = &read["payload"];
    assert_eq!(
        (&payload["title"], &payload["tag"]),
        (&json!("Waiting for a decision: review in external"), &json!(id))
    );
    assert_eq!(payload["url"], format!("{}/inbox/{id}", server.base()));
    assert!(!payload.to_string().contains("Roe") && !payload.to_string().contains("DE02"), "{payload}");
    wait_state(&server, "delivered", 1).await;

    resolve(&server, &id).await;
    let received = sink.wait_for(2).await;
    let settled = browser.read(&received[1]);
    assert_eq!(settled["payload"]["tag"], payload["tag"], "it takes the place of the first");
    assert_eq!(settled["payload"]["title"], "Approved: review in external");
    assert_eq!(settled["key"], json!(key), "one key for all");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_title_is_told_where_the_channel_says_so() {
    let sink = WebhookSink::start().await;
    let server = push_setup(", title: true").start().await;
    let browser = Browser::at(&sink, "/one");
    subscribe(&server, &browser).await.ok();
    ask(&server, json!({})).await;
    let read = browser.read(&sink.wait_for(1).await[0]);
    let body = read["payload"]["body"].as_str().unwrap();
    assert!(body.starts_with("“Send it to Mrs Roe?”\n"), "{body}");
    ask(&server, json!({"withhold": [{"from": ["reviewer"], "fields": ["/iban"]}]})).await;
    let read = browser.read(&sink.wait_for(2).await[1]);
    assert!(!read["payload"].to_string().contains("Roe"), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_person_has_browsers_of_their_own() {
    let sink = WebhookSink::start().await;
    let server = push_setup("").start().await;
    for who in ["anna", "ben"] {
        person(&server, who, json!({})).await;
    }
    let anna = sign_in(&server, "anna").await;
    let ben = sign_in(&server, "ben").await;
    let (desk, phone, other) =
        (Browser::at(&sink, "/desk"), Browser::at(&sink, "/phone"), Browser::at(&sink, "/ben"));
    for (login, browser) in [(&anna, &desk), (&anna, &phone), (&ben, &other)] {
        let (status, _) = as_person(&server, login, Method::POST, "/v1/me/push", Some(browser.body())).await;
        assert_eq!(status, 201);
    }
    let (_, list) = as_person(&server, &anna, Method::GET, "/v1/me/push", None).await;
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    let mut members: Vec<&String> = items[0].as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["endpoint_sha256", "host", "id", "since"]);
    // A person cannot end a subscription of a different person, whatever the first person's role.
    let of_anna = format!("/v1/me/push/{}", items[0]["id"].as_str().unwrap());
    assert_eq!(as_person(&server, &ben, Method::DELETE, &of_anna, None).await.0, 404);
    assert_eq!(server.send(server.request(Method::DELETE, &of_anna)).await.refusal(), (404, "not_found"));

    ask(&server, to_legal(&json!({}))).await;
    let mut paths: Vec<String> = sink.wait_for(3).await.iter().map(|each| each.path.clone()).collect();
    paths.sort();
    assert_eq!(paths, ["/ben", "/desk", "/phone"]);
    assert_eq!(wait_state(&server, "delivered", 3).await.len(), 3, "a delivery for each");

    assert_eq!(as_person(&server, &anna, Method::DELETE, &of_anna, None).await.0, 204);
    assert_eq!(as_person(&server, &ben, Method::DELETE, "/v1/logins", None).await.0, 204);
    ask(&server, to_legal(&json!({}))).await;
    let received = sink.wait_for(4).await;
    wait_state(&server, "delivered", 4).await;
    assert_eq!(received.len(), 4, "who signed out everywhere is told nowhere");
    assert!(["/desk", "/phone"].contains(&&*received[3].path), "{}", received[3].path);
}

/// A person who is removed after a notification cannot decide through the notification, and receives no further
/// notifications.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_after_they_were_told_decides_nothing() {
    let sink = WebhookSink::start().await;
    let server = push_setup("").start().await;
    for who in ["anna", "ben"] {
        person(&server, who, json!({})).await;
    }
    let ben = sign_in(&server, "ben").await;
    let browser = Browser::at(&sink, "/ben");
    assert_eq!(as_person(&server, &ben, Method::POST, "/v1/me/push", Some(browser.body())).await.0, 201);
    let id = ask(&server, to_legal(&json!({}))).await;
    let read = browser.read(&sink.wait_for(1).await[0]);
    assert_eq!(read["payload"]["url"], format!("{}/inbox/{id}", server.base()));
    wait_state(&server, "delivered", 1).await;
    server.send(server.request(Method::DELETE, "/v1/people/ben")).await;

    let card = format!("/v1/interrupts/{id}");
    assert_eq!(as_person(&server, &ben, Method::GET, &card, None).await.0, 401);
    let decision = json!({"option": "approve"});
    let path = format!("{card}/decisions");
    assert_eq!(as_person(&server, &ben, Method::POST, &path, Some(decision)).await.0, 401);
    assert_eq!(server.interrupt(&id).await["status"], "open");
    eventually("nothing is kept of their browser", async || {
        std::fs::read_dir(server.data().join("push")).unwrap().next().is_none().then_some(())
    })
    .await;
    resolve(&server, &id).await;
    ask(&server, to_legal(&json!({}))).await;
    assert_eq!(sink.received().len(), 1, "who left is told nothing more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_is_gone_is_forgotten_and_the_others_are_told() {
    let sink = WebhookSink::start().await;
    let server = push_setup("").start().await;
    for (status, path) in [(404, "/a"), (410, "/b")] {
        let browser = Browser::at(&sink, path);
        subscribe(&server, &browser).await.ok();
        sink.answer([status]);
        ask(&server, json!({})).await;
        eventually("it is forgotten", async || {
            let list = server.get("/v1/me/push").await.ok();
            list["items"].as_array().unwrap().is_empty().then_some(())
        })
        .await;
    }
    let dropped = wait_state(&server, "dropped", 2).await;
    assert!(dropped.iter().all(|each| each["attempts"] == 1), "{dropped:?}");
    let folder = server.data().join("push");
    eventually("nothing is kept", async || {
        std::fs::read_dir(&folder).unwrap().next().is_none().then_some(())
    })
    .await;
    let channels = server.get("/v1/channels").await.ok();
    assert_eq!(channels["items"][0].get("disabled_at").unwrap_or(&Value::Null), &Value::Null, "{channels}");
    let browser = Browser::at(&sink, "/c");
    subscribe(&server, &browser).await.ok();
    ask(&server, json!({})).await;
    wait_state(&server, "delivered", 1).await;
}

/// The secrets of a subscription are stored only in the subscription's file. If the file is unusable, the person turns
/// notifications off and on again in that browser.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_whose_file_can_not_be_used_is_switched_off_and_on_again() {
    let sink = WebhookSink::start().await;
    let server = push_setup("").start().await;
    let browser = Browser::at(&sink, "/send/one");
    let known = subscribe(&server, &browser).await.ok();
    let id = known["id"].as_str().unwrap();
    std::fs::write(server.data().join(format!("push/{id}.json")), "{").unwrap();
    ask(&server, json!({})).await;
    wait_state(&server, "dropped", 1).await;
    eventually("the log says what to do", async || {
        server.stderr().contains("turn notifications off and on again in that browser").then_some(())
    })
    .await;
    let off = server.send(server.request(Method::DELETE, &format!("/v1/me/push/{id}"))).await;
    assert_eq!(off.status, 204);
    subscribe(&server, &browser).await.ok();
    ask(&server, json!({})).await;
    wait_state(&server, "delivered", 1).await;
}

/// Browsers stay subscribed after a restart, a failed delivery is sent again, and secrets appear nowhere outside of
/// their files.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_browsers_and_their_secrets_are_nowhere_else() {
    let sink = WebhookSink::start().await;
    let mut server = push_setup("").start().await;
    let browser = Browser::at(&sink, "/send/hidden-path");
    let known = subscribe(&server, &browser).await.ok();
    let again = subscribe(&server, &browser).await.ok();
    assert_eq!(again["id"], known["id"], "the same browser once more");
    let key = server.get("/v1/me/push").await.ok()["key"].clone();
    server.restart().await;
    assert_eq!(server.get("/v1/me/push").await.ok()["key"], key, "browsers know it");
    sink.answer([503]);
    ask(&server, json!({})).await;
    let received = sink.wait_for(2).await;
    browser.read(&received[1]);
    let [delivery] = &wait_state(&server, "delivered", 1).await[..] else { panic!("one") };
    assert_eq!(delivery["attempts"], 2);

    let shown = server.get(&format!("/v1/deliveries/{}", delivery["id"].as_str().unwrap())).await.ok();
    let events = server.get("/v1/audit/events?stream=sys&limit=200").await.ok();
    assert!(events.to_string().contains("push_subscribed"), "{events}");
    let list = server.get("/v1/me/push").await.ok();
    let auth = browser.keys["auth"].as_str().unwrap();
    let p256dh = browser.keys["p256dh"].as_str().unwrap();
    for text in [shown.to_string(), events.to_string(), list.to_string(), server.stderr()] {
        for secret in ["hidden-path", auth, p256dh] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    for secret in ["hidden-path", auth] {
        let found = Command::new("grep").args(["-rlFe", secret]).arg(server.data()).output().unwrap();
        let found = String::from_utf8_lossy(&found.stdout).into_owned();
        let [file] = &found.lines().collect::<Vec<_>>()[..] else { panic!("{found}") };
        assert!(file.ends_with(&format!("push/{}.json", known["id"].as_str().unwrap())), "{found}");
        for path in [Path::new(file), &server.data().join("push"), &server.data().join("vapid_key.json")] {
            let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
            assert_eq!(mode, 0, "{}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_browser_is_refused_and_not_repeated() {
    let sink = WebhookSink::start().await;
    let server = push_setup("").start().await;
    let good = Browser::at(&sink, "/one").body();
    for (member, value, pointer) in [
        ("endpoint", json!("ftp://push.example.org/hidden"), "/endpoint"),
        ("p256dh", json!("hidden"), "/p256dh"),
        ("auth", json!("hidden"), "/auth"),
    ] {
        let mut body = good.clone();
        body[member] = value;
        let answer = server.post("/v1/me/push", &body).await;
        assert_eq!(answer.refusal(), (422, "invalid_request"));
        let text = answer.body.to_string();
        assert!(text.contains(pointer) && !text.contains("hidden"), "{text}");
    }
    let agent = server.agent_request(Method::POST, "/v1/me/push").json(&good);
    assert_eq!(server.send(agent).await.refusal(), (403, "forbidden_role"));
    // `http` without an allowed network is refused. A subscription without a push channel is also refused.
    let channels = "channels: {browsers: {type: push, contact: \"mailto:ops@example.org\"}}\n";
    let open = TestServer::setup().channels(channels).start().await;
    assert_eq!(open.post("/v1/me/push", &good).await.refusal(), (422, "invalid_request"));
    let none = TestServer::setup().start().await;
    assert_eq!(none.post("/v1/me/push", &good).await.refusal(), (422, "invalid_request"));
    assert_eq!(none.get("/v1/me/push").await.ok().get("key"), None);
}

/// No message is sent to an address of a private network that is not allowed. The delivery records the reason.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_pushed_to_addresses_that_nobody_named() {
    let sink = WebhookSink::start().await;
    let channels = "channels: {browsers: {type: push, contact: \"mailto:ops@example.org\", allow: [10.1.2.0/24], \
                    attempts: 1}}\n";
    let server = TestServer::setup().channels(channels).start().await;
    subscribe(&server, &Browser::at(&sink, "/one")).await.ok();
    ask(&server, json!({})).await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    assert!(failed["error"].as_str().unwrap().contains("which is not allowed"), "{failed}");
    assert!(sink.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn any_node_tells_a_browser_that_another_one_was_told_of() {
    let sink = WebhookSink::start().await;
    let url = database().await;
    let one = push_setup("").database(&url, "a").start().await;
    let mut other = push_setup("").database(&url, "b").start().await;
    assert_eq!(one.get("/v1/me/push").await.ok()["key"], other.get("/v1/me/push").await.ok()["key"]);
    let browser = Browser::at(&sink, "/one");
    subscribe(&one, &browser).await.ok();
    drop(one);
    // The data folder of this node does not contain the browser's file.
    other.restart().await;
    ask(&other, json!({})).await;
    browser.read(&sink.wait_for(1).await[0]);
    assert_eq!(deliveries(&other, "").await.len(), 1);
}

/// A crash can leave a browser's file without an event, or a half-written file. The next start removes both.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_left_of_a_browser_is_swept() {
    let sink = WebhookSink::start().await;
    let mut server = push_setup("").start().await;
    let known = subscribe(&server, &Browser::at(&sink, "/one")).await.ok();
    server.kill();
    let folder = server.data().join("push");
    let known = folder.join(format!("{}.json", known["id"].as_str().unwrap()));
    let left = folder.join("psh_01k6f0000000000000000000aa.json");
    fs::copy(&known, &left).unwrap();
    let (half, fresh) = (left.with_extension("json.new"), known.with_extension("json.new"));
    for path in [&half, &fresh] {
        fs::write(path, "{").unwrap();
    }
    File::options().write(true).open(&half).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    server.start().await;
    eventually("what no event follows is forgotten", async || {
        (!left.exists() && !half.exists()).then_some(())
    })
    .await;
    assert!(known.exists() && fresh.exists());
}

/// With a database, the next start also removes a browser's row without an event. A recent row stays, because a
/// different node may be about to append its event.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_left_of_a_browser_is_swept() {
    let (sink, url) = (WebhookSink::start().await, database().await);
    let mut server = push_setup("").database(&url, "a").start().await;
    let browser = Browser::at(&sink, "/one");
    let known = subscribe(&server, &browser).await.ok();
    let known = format!("push/{}", known["id"].as_str().unwrap());
    server.kill();
    let [past, recent] = leave_behind(&url, &known).await;
    server.start().await;
    let left = eventually("what no event follows is forgotten", async || {
        let names = sql(&url, "SELECT name FROM agreed WHERE name LIKE 'push/%'").await;
        (!names.contains(&past)).then_some(names)
    })
    .await;
    assert!(left.contains(&known) && left.contains(&recent), "{left}");
    ask(&server, json!({})).await;
    browser.read(&sink.wait_for(1).await[0]);
}
