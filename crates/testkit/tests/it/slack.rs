//! Decisions in Slack, with the real binary. Slack's own SDK validates the messages and signs the requests. Only
//! approvers may decide, and unsigned requests decide nothing (leaders 22, 23).

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use holdshort_testkit::server::{Setup, TestServer};
use holdshort_testkit::slack::Slack;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::mails::{person, to_legal};
use crate::notifications::{ask, wait_state};
use crate::push::{as_person, sign_in};

const TOKEN: &str = "xoxb-of-the-tests";
const SIGNING: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const POST: &str = "/api/chat.postMessage";
const OPEN: &str = "/api/views.open";
const UPDATE: &str = "/api/chat.update";
const WHISPERED: &str = "/response";

fn channel(slack: &Slack, more: &str) -> String {
    let api = slack.api();
    format!(
        "channels:\n  team: {{type: slack, channel: C0123456789, token_env: SLACK_TOKEN, \
         signing_secret_env: SLACK_SIGNING, url: \"{api}\", allow: [127.0.0.0/8]{more}}}\n"
    )
}

fn app(slack: &Slack, more: &str) -> Setup {
    TestServer::setup()
        .channels(&channel(slack, more))
        .env("SLACK_TOKEN", TOKEN)
        .env("SLACK_SIGNING", SIGNING)
}

fn sdk(given: &Value) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/webhooks");
    let installed = std::path::Path::new(folder).join("node_modules/.python/slack_sdk");
    assert!(installed.exists(), "run `npm ci` in {folder}");
    let mut child = Command::new("python3")
        .arg(format!("{folder}/slack.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let told = child.wait_with_output().unwrap();
    assert!(told.status.success(), "the SDK refuses {given:#}");
    serde_json::from_slice(&told.stdout).unwrap()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Sends an interaction to the server as Slack does, signed with this secret and this timestamp.
async fn interact(server: &TestServer, payload: &Value, secret: &str, at: u64) -> (u16, Value) {
    sent(server, payload, (secret, at), 0).await
}

/// Sends an interaction to the server with Slack's retry number `again`. Retry number 0 is the first attempt.
async fn sent(server: &TestServer, payload: &Value, (secret, at): (&str, u64), again: u32) -> (u16, Value) {
    let form = Url::parse_with_params("http://x", [("payload", payload.to_string())]).unwrap();
    let body = form.query().unwrap().to_owned();
    let signed = sdk(&json!({"secret": secret, "timestamp": at.to_string(), "sign": body}));
    let http = holdshort_http::plain().no_proxy().build().unwrap();
    let mut request = http
        .post(format!("{}/integrations/slack/interactions", server.base()))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-slack-request-timestamp", at.to_string())
        .header("x-slack-signature", signed["signature"].as_str().unwrap())
        .body(body);
    if again > 0 {
        request = request.header("x-slack-retry-num", again).header("x-slack-retry-reason", "http_timeout");
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

fn press(slack: &Slack, user: &str, value: &Value) -> Value {
    json!({"type": "block_actions", "user": {"id": user}, "trigger_id": "1.2.3",
        "response_url": slack.url(WHISPERED), "actions": [{"action_id": "decide-0", "value": value}]})
}

fn send(user: &str, view: &Value, words: &str) -> Value {
    json!({"type": "view_submission", "user": {"id": user}, "view": {
        "id": "V1",
        "private_metadata": view["private_metadata"],
        "state": {"values": {"words": {"text": {"type": "plain_text_input", "value": words}}}},
    }})
}

/// Returns the field of a person that contains the person's address in Slack.
fn in_slack(id: &str) -> Value {
    json!({"addresses": {"slack": id}})
}

/// Returns the events that record that a person viewed the interrupt.
async fn looks(server: &TestServer, id: &str) -> Vec<Value> {
    let run = server.interrupt(id).await["run"].clone();
    server.events_of(run.as_str().unwrap(), "interrupt_viewed").await
}

/// Returns the value of the button with this label in a Slack message.
fn button(posted: &Value, words: &str) -> Value {
    let elements = posted["blocks"].as_array().unwrap().iter().filter(|block| block["type"] == "actions");
    let mut buttons = elements.flat_map(|block| block["elements"].as_array().unwrap());
    let found = buttons.find(|button| button["text"]["text"] == words);
    found.unwrap_or_else(|| panic!("no {words}: {posted:#}"))["value"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_opens_a_form_and_the_form_decides() {
    let slack = Slack::start().await;
    let mut server = app(&slack, "").start().await;
    person(&server, "anna", in_slack("U111")).await;
    let id = ask(&server, to_legal(&json!({}))).await;
    let posted = slack.wait_for(POST, 1).await.remove(0);
    assert_eq!(posted.token.as_deref(), Some("Bearer xoxb-of-the-tests"));
    assert_eq!(posted.body["channel"], "C0123456789");
    let drawn = sdk(&json!({"blocks": {"message": posted.body["blocks"]}}));
    assert_eq!(drawn["message"], posted.body["blocks"], "as Slack's SDK reads it");
    // The message in the channel does not show the content.
    assert!(!posted.body.to_string().contains("Roe"), "{:#}", posted.body);
    wait_state(&server, "delivered", 1).await;

    server.restart().await;
    let value = button(&posted.body, "Approve");
    assert_eq!(interact(&server, &press(&slack, "U111", &value), SIGNING, now()).await.0, 200);
    let opened = slack.wait_for(OPEN, 1).await.remove(0);
    let view = &opened.body["view"];
    assert_eq!(&sdk(&json!({"view": view}))["view"], view, "as Slack's SDK reads it");
    let text = view.to_string();
    assert!(text.contains("Send it to Mrs Roe?") && text.contains("DE02 1203 0000"), "{view:#}");
    assert_eq!(server.interrupt(&id).await["status"], "open", "a button decides nothing");
    // The approver's view is recorded, and only once.
    interact(&server, &press(&slack, "U111", &value), SIGNING, now()).await;
    slack.wait_for(OPEN, 2).await;
    let [look] = &looks(&server, &id).await[..] else { panic!("one look") };
    assert_eq!(look["actor"], json!({"id": "anna", "role": "reviewer", "via": "slack"}));
    assert!(look["data"]["content"]["data"]["digest"].is_string(), "{look}");

    let sent = send("U111", view, "  she is a customer ");
    for _ in 0..2 {
        // Slack repeats a request if it has not received the response.
        let answer = interact(&server, &sent, SIGNING, now()).await;
        assert_eq!(answer, (200, json!({"response_action": "clear"})));
    }
    let interrupt = server.interrupt(&id).await;
    let resolution = &interrupt["resolution"];
    assert_eq!(
        (&resolution["option"], &resolution["by"], &resolution["text"]),
        (&json!("approve"), &json!(["anna"]), &json!("she is a customer"))
    );
    let events = server.get(&format!("/v1/runs/{}/events", interrupt["run"].as_str().unwrap())).await.ok();
    let made: Vec<&Value> =
        events["items"].as_array().unwrap().iter().filter(|event| event["type"] == "decision_made").collect();
    assert_eq!((made.len(), &made[0]["actor"]["via"]), (1, &json!("slack")));

    // The updated message names the approver and the time of the decision, and has no buttons.
    let updated = slack.wait_for(UPDATE, 1).await.remove(0);
    assert_eq!(updated.body["channel"], "C0123456789");
    assert!(updated.body["ts"].as_str().unwrap().starts_with("1700000000."), "{:#}", updated.body);
    let text = updated.body.to_string();
    assert!(text.contains("Approved: review in external") && text.contains("By: anna"), "{text}");
    assert!(text.contains("At: 20") && !text.contains("decide-"), "{text}");
    assert_eq!(slack.called(POST).len(), 1, "no second message");
    // A button in an old message shows the resolution.
    interact(&server, &press(&slack, "U111", &value), SIGNING, now()).await;
    let told = slack.wait_for(WHISPERED, 1).await.remove(0);
    assert!(told.body["text"].as_str().unwrap().contains("Approved by anna"), "{:#}", told.body);
}

/// Option labels from an agent are content, so they appear in the form for approvers, but not on buttons in the
/// channel.
#[tokio::test(flavor = "multi_thread")]
async fn no_word_of_an_agent_is_on_a_button() {
    let slack = Slack::start().await;
    let server = app(&slack, "").start().await;
    person(&server, "anna", in_slack("U111")).await;
    let options = json!([{"id": "to Jane Roe", "label": "Pay 4711"}, {"id": "_"}]);
    let id = ask(&server, to_legal(&json!({"kind": "choice", "options": options}))).await;
    let posted = slack.wait_for(POST, 1).await.remove(0);
    let actions = posted.body["blocks"].as_array().unwrap().iter().find(|block| block["type"] == "actions");
    let elements = actions.unwrap()["elements"].as_array().unwrap();
    let words: Vec<&str> = elements.iter().filter_map(|each| each["text"]["text"].as_str()).collect();
    assert_eq!(words[..3], ["Option 1", "Option 2", "Custom"]);
    let value = button(&posted.body, "Option 1");
    let kept = data_encoding::BASE64URL_NOPAD.decode(value.as_str().unwrap().as_bytes()).unwrap();
    let told = format!("{} {}", posted.body, String::from_utf8_lossy(&kept));
    assert!(!told.contains("Jane Roe") && !told.contains("Pay 4711"), "{told}");

    assert_eq!(interact(&server, &press(&slack, "U111", &value), SIGNING, now()).await.0, 200);
    let opened = slack.wait_for(OPEN, 1).await.remove(0);
    let view = &opened.body["view"];
    assert!(view.to_string().contains("Pay 4711 (to Jane Roe): "), "{view:#}");
    assert_eq!(&sdk(&json!({"view": view}))["view"], view, "as Slack's SDK reads it");
    interact(&server, &send("U111", view, ""), SIGNING, now()).await;
    assert_eq!(server.interrupt(&id).await["resolution"]["option"], "to Jane Roe");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_not_decide_is_told_so_and_nobody_else_is() {
    let slack = Slack::start().await;
    let server = app(&slack, "").start().await;
    person(&server, "anna", in_slack("U111")).await;
    person(&server, "ben", json!({"groups": ["finance"], "addresses": {"slack": "U222"}})).await;
    let id = ask(&server, to_legal(&json!({}))).await;
    let posted = slack.wait_for(POST, 1).await.remove(0);
    let value = button(&posted.body, "Reject");
    for (n, (user, why)) in
        [("U999", "no person has the address `U999` on the channel `slack`"), ("U222", "")]
            .into_iter()
            .enumerate()
    {
        assert_eq!(interact(&server, &press(&slack, user, &value), SIGNING, now()).await.0, 200);
        let told = slack.wait_for(WHISPERED, n + 1).await.remove(n);
        let text = told.body["text"].as_str().unwrap();
        assert_eq!(told.body["response_type"], "ephemeral");
        assert!(text.contains(why) && !text.is_empty() && !text.contains("Roe"), "{text}");
        // A form that was shown to a different person also decides nothing.
        let form = json!({"private_metadata": value});
        let (status, answer) = interact(&server, &send(user, &form, "no"), SIGNING, now()).await;
        assert_eq!((status, &answer["response_action"]), (200, &json!("update")), "{answer:#}");
        assert!(!answer.to_string().contains("Roe"), "{answer:#}");
    }
    assert_eq!(slack.called(OPEN).len(), 0);
    assert_eq!(server.interrupt(&id).await["status"], "open");
    assert!(looks(&server, &id).await.is_empty(), "nobody was shown anything");
}

/// A person who is removed between the message and the button, or between the button and the form, decides nothing.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_left_since_decides_nothing() {
    let slack = Slack::start().await;
    let server = app(&slack, "").start().await;
    for (who, user) in [("anna", "U111"), ("ben", "U222")] {
        person(&server, who, in_slack(user)).await;
    }
    let id = ask(&server, to_legal(&json!({}))).await;
    let posted = slack.wait_for(POST, 1).await.remove(0);
    let value = button(&posted.body, "Approve");
    assert_eq!(interact(&server, &press(&slack, "U222", &value), SIGNING, now()).await.0, 200);
    let form = slack.wait_for(OPEN, 1).await.remove(0).body["view"].clone();
    server.send(server.request(Method::DELETE, "/v1/people/ben")).await;
    let (status, answer) = interact(&server, &send("U222", &form, ""), SIGNING, now()).await;
    assert_eq!((status, &answer["response_action"]), (200, &json!("update")), "{answer:#}");
    assert_eq!(interact(&server, &press(&slack, "U222", &value), SIGNING, now()).await.0, 200);
    let told = slack.wait_for(WHISPERED, 1).await.remove(0);
    assert!(!told.body["text"].as_str().unwrap().contains("Roe"), "{:#}", told.body);
    assert_eq!((slack.called(OPEN).len(), &server.interrupt(&id).await["status"]), (1, &json!("open")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_slack_has_not_signed_in_the_last_minutes_is_not_heard() {
    let slack = Slack::start().await;
    let server = app(&slack, "").start().await;
    person(&server, "anna", in_slack("U111")).await;
    let id = ask(&server, to_legal(&json!({}))).await;
    let posted = slack.wait_for(POST, 1).await.remove(0);
    let form = json!({"private_metadata": button(&posted.body, "Approve")});
    let sent = send("U111", &form, "");
    for (secret, at) in [("another", now()), (SIGNING, now() - 301), (SIGNING, now() + 330)] {
        assert_eq!(interact(&server, &sent, secret, at).await.0, 401, "{secret} {at}");
    }
    // A form that was not created by this server also decides nothing.
    let forged = send("U111", &json!({"private_metadata": "AAAA"}), "");
    assert_eq!(interact(&server, &forged, SIGNING, now()).await.0, 404);
    assert_eq!(server.interrupt(&id).await["status"], "open");
    assert_eq!(interact(&server, &sent, SIGNING, now() - 200).await.0, 200);
    assert_eq!(server.interrupt(&id).await["status"], "resolved");
}

/// A request that Slack repeats takes effect once, even during the first request, and even if the person has withdrawn
/// the vote.
#[tokio::test(flavor = "multi_thread")]
async fn what_slack_sends_again_counts_once() {
    let slack = Slack::start().await;
    let server = app(&slack, "").start().await;
    for (who, user) in [("anna", "U111"), ("ben", "U222")] {
        person(&server, who, in_slack(user)).await;
    }
    let two = json!({"assignment": {"groups": ["legal"], "quorum": {"required": 2}}});
    let id = ask(&server, two).await;
    let posted = slack.wait_for(POST, 1).await.remove(0);
    let form = json!({"private_metadata": button(&posted.body, "Approve")});
    for (n, user) in ["U111", "U222"].into_iter().enumerate() {
        let submitted = send(user, &form, "");
        let at = now();
        let all = (0..4).map(|again| sent(&server, &submitted, (SIGNING, at), again));
        for (status, answer) in futures::future::join_all(all).await {
            assert_eq!(status, 200, "{answer:#}");
        }
        let interrupt = server.interrupt(&id).await;
        assert_eq!(interrupt["status"], if n == 0 { "open" } else { "resolved" }, "{interrupt:#}");
        let votes = interrupt["votes"].as_array().map(Vec::len);
        assert!(n == 1 || votes == Some(1), "{interrupt:#}");
        if n == 1 {
            break;
        }
        // A repeated form does not cast a withdrawn vote again.
        let anna = sign_in(&server, "anna").await;
        let path = format!("/v1/interrupts/{id}/decisions");
        assert_eq!(as_person(&server, &anna, Method::DELETE, &path, None).await.0, 200);
        for at in [at, at - 1] {
            let answer = sent(&server, &submitted, (SIGNING, at), 5).await;
            assert_eq!(answer, (200, json!({"response_action": "clear"})));
        }
        assert!(server.interrupt(&id).await["votes"].is_null(), "no vote stands");
        // A newly opened form casts a new vote.
        let mut anew = submitted;
        anew["view"]["id"] = json!("V2");
        let (_, answer) = sent(&server, &anew, (SIGNING, at), 0).await;
        assert_eq!(answer["response_action"], "update", "{answer:#}");
    }
    assert_eq!(server.interrupt(&id).await["resolution"]["by"], json!(["anna", "ben"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_slack_refuses_is_not_tried_again_and_what_it_puts_off_is() {
    let slack = Slack::start().await;
    slack.fail("ratelimited");
    slack.fail("channel_not_found");
    let server = app(&slack, ", retry_delay: 50ms").start().await;
    ask(&server, json!({})).await;
    let [failed] = &wait_state(&server, "failed", 1).await[..] else { panic!("one") };
    assert_eq!(
        (&failed["attempts"], &failed["error"]),
        (&json!(2), &json!("Slack says `channel_not_found`"))
    );
    assert!(!server.stderr().contains(TOKEN), "{}", server.stderr());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_person_is_written_to_in_their_own_language() {
    let slack = Slack::start().await;
    let channels = channel(&slack, "").replace("C0123456789", "people");
    let server = app(&slack, "").channels(&channels).start().await;
    person(&server, "anna", json!({"addresses": {"slack": "U111"}, "language": "de"})).await;
    person(&server, "ben", in_slack("U222")).await;
    ask(&server, to_legal(&json!({}))).await;
    let posted = slack.wait_for(POST, 2).await;
    let mut told: Vec<_> =
        posted.iter().map(|each| (each.body["channel"].clone(), each.body["text"].clone())).collect();
    told.sort_by_key(|(to, _)| to.to_string());
    let wanted = [
        (json!("U111"), json!("Wartet auf eine Entscheidung: Prüfung in external")),
        (json!("U222"), json!("Waiting for a decision: review in external")),
    ];
    assert_eq!(told, wanted);
}
