//! Requests for each type of channel.

use holdshort_core::channel::Via;
use holdshort_core::digest::Digest;
use holdshort_core::interrupt::Outcome;
use holdshort_core::notice::{CheckpointNotice, Occasion};
use holdshort_core::system::checkpoint::CheckpointTree;
use holdshort_notify::limits::NTFY_BYTES;
use holdshort_notify::{Message, Reader, Verdict, title};
use serde_json::{Value, json};

use crate::channels::{at, definition, message, open};
use crate::sink::{Answer, Sink};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async fn sent(via: Via, message: &Message) -> (String, Value) {
    let sink = Sink::start(Answer::Bytes(OK)).await;
    let channels = open(definition(via, &sink.url())).unwrap();
    channels.get("tested").unwrap().send(message, at(1_760_000_001_000)).await;
    let (head, body) = sink.requests().remove(0);
    (head, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_webhook_is_told_facts_and_nothing_else() {
    let (head, body) = sent(Via::Webhook, &message()).await;
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nx-team: risk\r\n"), "{head}");
    let wanted = json!({
        "type": "interrupt.opened",
        "timestamp": "2025-10-09T08:53:20.000Z",
        "data": {
            "interrupt": "int_01k6f0000000000000000000cc",
            "run": "run_01k6f0000000000000000000aa",
            "seq": 12,
            "session": "ses_01k6f0000000000000000000bb",
            "workflow": "payout",
            "kind": "tool_approval",
            "risk": "high",
            "people": ["anna"],
            "groups": ["legal"],
            "expires_at": "2025-10-09T09:53:20.000Z",
            "url": "https://hold.example.org/inbox/int_01k6f0000000000000000000cc",
            "title": "Pay <@U1> *now*",
        },
    });
    assert_eq!(body, wanted);
    let mut untitled = message();
    untitled.title = None;
    untitled.notice.outcome = Some(Outcome::Approved);
    untitled.notice.occasion = Occasion::Resolved;
    untitled.notice.operators = true;
    let (_, body) = sent(Via::Webhook, &untitled).await;
    assert_eq!((&body["data"]["people"], &body["data"]["operators"]), (&json!(["anna"]), &json!(true)));
    assert_eq!((&body["type"], &body["data"]["outcome"]), (&json!("interrupt.resolved"), &json!("approved")));
    assert_eq!((body["data"].get("title"), body["data"].get("resolution")), (None, None));
}

/// After a decision, each channel receives a message with the person who decided and the time of the decision.
#[tokio::test]
async fn who_has_decided_and_when_is_told_by_each_kind() {
    let mut told = message();
    told.notice.occasion = Occasion::Resolved;
    told.notice.outcome = Some(Outcome::Approved);
    told.notice.by = vec!["carl".to_owned()];
    told.notice.expires_at = None;
    for via in [Via::Slack, Via::Teams, Via::Ntfy, Via::Webhook, Via::Crew] {
        let (_, body) = sent(via, &told).await;
        let text = body.to_string();
        assert!(text.contains("carl") && text.contains("2025-10-09"), "{via:?}: {text}");
        assert!(!text.contains("Open and decide"), "{via:?}: {text}");
    }
    let (_, body) = sent(Via::Crew, &told).await;
    assert_eq!(
        (&body["status"], &body["reviewers"], &body["timestamp"]),
        (&json!("APPROVED"), &json!(["carl"]), &json!("2025-10-09T08:53:20.000Z"))
    );
}

#[tokio::test]
async fn whoever_asked_is_told_what_was_decided() {
    let resolution = json!({"outcome": "answered", "option": "answer", "text": "On Monday.", "by": ["anna"]});
    let mut told = message();
    told.notice.occasion = Occasion::Resolved;
    told.notice.outcome = Some(Outcome::Answered);
    told.resolution = Some(resolution.clone());
    let (_, body) = sent(Via::Webhook, &told).await;
    let data = &body["data"];
    assert_eq!((&data["status"], &data["resolution"]), (&json!("resolved"), &resolution));
}

#[tokio::test]
async fn a_checkpoint_is_told_to_programs_as_it_was_signed() {
    let covered = CheckpointTree { size: 1_042, root: Digest::of_bytes(b"tree") };
    let notice = CheckpointNotice {
        at: at(1_760_000_000_000),
        covered,
        note: "holdshort/5fa1c2d3e4b5a697\n1042\n".to_owned(),
        key: "holdshort/5fa1c2d3e4b5a697+7b380829+AdEx".to_owned(),
        to: None,
    };
    for (via, is_told) in [(Via::Webhook, true), (Via::Slack, false), (Via::Teams, false), (Via::Ntfy, false)]
    {
        let sink = Sink::start(Answer::Bytes(OK)).await;
        let channels = open(definition(via, &sink.url())).unwrap();
        let channel = channels.get("tested").unwrap();
        let sent = channel.send_checkpoint("dlv_1", &notice, at(1_760_000_001_000)).await;
        assert_eq!(sent.error.is_none(), is_told, "{via:?}: {sent:?}");
        if !is_told {
            assert_eq!((sent.verdict, sink.requests().len()), (Verdict::Refused, 0));
            continue;
        }
        let (head, body) = sink.requests().remove(0);
        assert!(head.contains("webhook-id: dlv_1\r\n") && head.contains("webhook-signature: v1,"), "{head}");
        assert!(head.to_lowercase().contains("x-event-id: checkpoint/1042\r\n"), "{head}");
        let wanted = json!({
            "type": "checkpoint.signed",
            "timestamp": "2025-10-09T08:53:20.000Z",
            "data": {"size": 1042, "root": covered.root, "note": notice.note, "key": notice.key},
        });
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), wanted);
    }
}

#[tokio::test]
async fn slack_reads_nothing_in_what_is_not_ours() {
    let (_, body) = sent(Via::Slack, &message()).await;
    assert_eq!(body["text"], "Waiting for a decision: tool approval in payout");
    let blocks = body["blocks"].as_array().unwrap();
    let kinds: Vec<_> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["section", "section", "context", "actions"]);
    assert_eq!(blocks[1]["text"], json!({"type": "plain_text", "text": "“Pay <@U1> *now*”", "emoji": false}));
    let button = &blocks[3]["elements"][0];
    assert_eq!(button["url"], message().link);
    assert!(!body.to_string().contains("mrkdwn"));
    let mut named = message();
    named.notice.workflow = "<!channel> & co".to_owned();
    let (_, body) = sent(Via::Slack, &named).await;
    assert_eq!(body["text"], "Waiting for a decision: tool approval in &lt;!channel&gt; &amp; co");
}

#[tokio::test]
async fn teams_gets_one_card_without_markdown() {
    let (_, body) = sent(Via::Teams, &message()).await;
    let card = &body["attachments"][0]["content"];
    assert_eq!(body["attachments"][0]["contentType"], "application/vnd.microsoft.card.adaptive");
    assert_eq!((&card["type"], &card["version"]), (&json!("AdaptiveCard"), &json!("1.4")));
    assert_eq!(
        card["actions"][0],
        json!({
            "type": "Action.OpenUrl", "title": "Open and decide", "url": message().link,
        })
    );
    let all_plain = card["body"].as_array().unwrap().iter().all(|block| block["type"] == "RichTextBlock");
    assert!(all_plain, "{card}");
    assert_eq!(card["actions"].as_array().unwrap().len(), 1, "{card}");
}

/// Messages for people link to the page without JavaScript instead of the web app. Messages for programs still contain
/// the URL of the interrupt.
#[tokio::test]
async fn a_page_without_scripts_comes_first() {
    let plain = "https://hold.example.org/decide/int_01k6f0000000000000000000cc";
    let mut told = message();
    told.plain = Some(plain.to_owned());
    let (_, body) = sent(Via::Teams, &told).await;
    let actions = json!([
        {"type": "Action.OpenUrl", "title": "Open and decide", "url": plain},
        {"type": "Action.OpenUrl", "title": "Open in the app", "url": told.link},
    ]);
    assert_eq!(body["attachments"][0]["content"]["actions"], actions);
    let (_, body) = sent(Via::Slack, &told).await;
    assert_eq!(body["blocks"][3]["elements"][0]["url"], plain);
    let (_, body) = sent(Via::Ntfy, &told).await;
    assert_eq!(body["click"], plain);
    // A program needs the URL of the interrupt.
    let (_, body) = sent(Via::Webhook, &told).await;
    assert_eq!(body["data"]["url"], told.link);
}

/// Quotes follow the reader's language, and times the reader's time zone. UTC is the default.
#[tokio::test]
async fn quotes_and_times_are_those_of_the_reader() {
    let reader = |language: &str, zone: Option<&str>| Reader {
        language: Some(language.to_owned()),
        time_zone: zone.map(str::to_owned),
        ..Reader::default()
    };
    for (reader, title, expires) in [
        (None, "“Pay <@U1> *now*”", "Expires: 2025-10-09 09:53 UTC"),
        (Some(reader("en", Some("no/where"))), "“Pay <@U1> *now*”", "Expires: 2025-10-09 09:53 UTC"),
        (Some(reader("de-AT", None)), "„Pay <@U1> *now*“", "Läuft ab: 2025-10-09 09:53 UTC"),
        (Some(reader("de", Some("Europe/Berlin"))), "„Pay <@U1> *now*“", "Läuft ab: 2025-10-09 11:53 CEST"),
    ] {
        let (_, body) = sent(Via::Ntfy, &Message { reader, ..message() }).await;
        let lines: Vec<&str> = body["message"].as_str().unwrap().lines().collect();
        assert!(lines[0] == title && lines.contains(&expires), "{body}");
    }
}

#[tokio::test]
async fn ntfy_is_published_to_the_topic_of_its_url() {
    let (head, body) = sent(Via::Ntfy, &message()).await;
    assert!(head.starts_with("POST / HTTP/1.1\r\n"), "{head}");
    let told = (&body["topic"], &body["title"], &body["priority"], &body["click"]);
    let wanted = (
        &json!("hook"),
        &json!("Waiting for a decision: tool approval in payout"),
        &json!(4),
        &json!(message().link),
    );
    assert_eq!(told, wanted);
    assert!(body["message"].as_str().unwrap().contains("Asked: legal, anna"), "{body}");
}

/// ntfy servers refuse a message that is too large. The message therefore omits lines that do not fit and contains
/// their number.
#[tokio::test]
async fn what_does_not_fit_into_a_message_of_ntfy_is_counted() {
    let sink = Sink::start(Answer::Bytes(OK)).await;
    let channels = open(definition(Via::Ntfy, &sink.url())).unwrap();
    let messages = vec![Message { title: Some("ä".repeat(55)), ..message() }; 45];
    let inbox = "https://hold.example.org/inbox";
    channels.get("tested").unwrap().send_several(&messages, inbox, at(1_760_000_001_000)).await;
    let (_, body) = sink.requests().remove(0);
    let body: Value = serde_json::from_slice(&body).unwrap();
    let text = body["message"].as_str().unwrap();
    assert!(text.len() <= NTFY_BYTES, "{text}");
    let listed = text.lines().count() - 1;
    assert!(listed > 10, "{text}");
    assert_eq!(text.lines().last(), Some(&*format!("and {} more", 45 - listed)));
}

#[test]
fn a_title_is_one_line_that_shows_what_it_is() {
    for (text, wanted) in [
        ("Pay\n now\t!", Some("Pay\\n now\\t!")),
        ("a\u{202e}b\u{200b}c\u{7}", Some("a\\u{202e}b\\u{200b}c\\u{7}")),
        (" Pay \n", Some("Pay")),
        ("  \n ", None),
        ("", None),
        ("ä日本", Some("ä日本")),
    ] {
        assert_eq!(title(text).as_deref(), wanted, "{text:?}");
    }
    assert_eq!(title(&"x".repeat(1_000)).unwrap().chars().count(), 151);
    // An escape sequence `\u{…}` is never truncated in the middle.
    let cut = title(&"\u{200b}".repeat(1_000)).unwrap();
    assert_eq!(cut, format!("{}…", "\\u{200b}".repeat(150 / 8)));
}

/// Each channel escapes hostile texts in the same way as the terminal, the pages and the web app. All of them use the
/// same table of hostile texts.
#[tokio::test]
async fn hostile_titles_are_written_the_same_on_each_channel() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../../../protocol/tests/hostile.json")).unwrap();
    let one = |row: &Value, key: &str| row[key].as_str().unwrap().trim_matches(' ').to_owned();
    let rows: Vec<_> = rows.iter().map(|row| (one(row, "given"), one(row, "as_line"))).collect();
    for via in [Via::Slack, Via::Teams, Via::Ntfy, Via::Webhook, Via::Crew] {
        let sink = Sink::start(Answer::Bytes(OK)).await;
        let channels = open(definition(via, &sink.url())).unwrap();
        for (given, _) in &rows {
            let told = Message { title: title(given), ..message() };
            channels.get("tested").unwrap().send(&told, at(1_760_000_001_000)).await;
        }
        let wrong = sink.requests().into_iter().zip(&rows).filter_map(|((_, body), (given, as_line))| {
            let body: Value = serde_json::from_slice(&body).unwrap();
            let shown: String = as_line.chars().take(150).collect();
            (!has_text(&body, &shown)).then(|| format!("{via:?}: {given:?} is not {shown:?} in {body}"))
        });
        assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
    }
}

/// Returns true if a string in the JSON of a request body contains the text.
fn has_text(body: &Value, text: &str) -> bool {
    match body {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, text)),
        Value::Object(members) => members.values().any(|member| has_text(member, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
