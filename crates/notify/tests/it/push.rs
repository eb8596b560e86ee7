//! Push messages that are sent over sockets and decrypted with the browser's keys.

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use holdshort_core::channel::{self, Source, To, Via};
use holdshort_core::interrupt::Outcome;
use holdshort_core::notice::Occasion;
use holdshort_notify::{BadBrowser, Browser, Message, Reader, Sent, Vapid, Verdict, title};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use web_push_native::p256::SecretKey;
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;
use web_push_native::{Auth, decrypt};

use crate::channels::{at, definition, message, open};
use crate::sink::{Answer, Sink};

const CREATED: &[u8] = b"HTTP/1.1 201 Created\r\nlocation: /m/1\r\ncontent-length: 0\r\n\r\n";
const AUTH: [u8; 16] = *b"sixteen secrets!";
const NOW: i64 = 1_760_000_001_000;

/// Returns the private key of the simulated browser. Any number below the order of the curve is valid.
fn secret() -> SecretKey {
    SecretKey::from_slice(&[7; 32]).unwrap()
}

fn p256dh() -> String {
    BASE64URL_NOPAD.encode(secret().public_key().to_encoded_point(false).as_bytes())
}

fn vapid() -> Arc<Vapid> {
    Arc::new(Vapid::from_pkcs8(&Vapid::draw().unwrap()).unwrap())
}

fn browser(endpoint: &str, vapid: &Arc<Vapid>) -> Browser {
    Browser::open(endpoint, &p256dh(), &BASE64URL_NOPAD.encode(&AUTH), vapid.clone()).unwrap()
}

fn of_browsers() -> channel::Channel {
    channel::Channel {
        url: Source::Plain("mailto:ops@example.org".to_owned()),
        to: To::People,
        headers: std::collections::BTreeMap::new(),
        ..definition(Via::Push, "")
    }
}

fn to(browser: Browser, message: Message) -> Message {
    Message { reader: Some(Reader { browser: Some(browser), ..Reader::default() }), ..message }
}

async fn send(channel: channel::Channel, messages: &[Message]) -> Sent {
    let channels = open(channel).unwrap();
    let channel = channels.get("tested").unwrap();
    match messages {
        [message] => channel.send(message, at(NOW)).await,
        several => channel.send_several(several, "https://hold.example.org/inbox", at(NOW)).await,
    }
}

fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {head}"))
}

/// Decrypts the body of a push message and returns the payload that the browser shows.
fn read(body: &[u8]) -> Value {
    let plain = decrypt(body.to_vec(), &secret(), &Auth::from(AUTH)).unwrap();
    serde_json::from_slice(&plain).unwrap()
}

#[tokio::test]
async fn its_browser_alone_reads_it_and_its_push_service_knows_who_sends() {
    let sink = Sink::start(Answer::Bytes(CREATED)).await;
    let vapid = vapid();
    let sent = send(of_browsers(), &[to(browser(&sink.url(), &vapid), message())]).await;
    assert_eq!((sent.verdict, sent.status, sent.error), (Verdict::Delivered, Some(201), None));
    let (head, body) = sink.requests().remove(0);
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
    for (name, value) in [
        ("content-encoding", "aes128gcm"),
        ("content-type", "application/octet-stream"),
        // The interrupt expires in slightly less than an hour.
        ("ttl", "3599"),
        ("urgency", "high"),
        ("topic", "int_01k6f0000000000000000000cc"),
    ] {
        assert_eq!(header(&head, name), value, "{head}");
    }
    assert!(!String::from_utf8_lossy(&body).contains("payout"), "it is encrypted");
    let wanted = json!({
        "title": "Waiting for a decision: tool approval in payout",
        "body": "“Pay <@U1> *now*”\nRisk: high\nAsked: legal, anna\nExpires: 2025-10-09 09:53 UTC",
        "url": "https://hold.example.org/inbox/int_01k6f0000000000000000000cc",
        "tag": "int_01k6f0000000000000000000cc",
    });
    assert_eq!(read(&body), wanted);

    // The token is valid only for this push service, expires within a day, and is signed with the key in `k` (RFC
    // 8292).
    let (token, key) = header(&head, "authorization").split_once(", k=").unwrap();
    assert_eq!(key, vapid.public());
    let (signed, signature) = token.strip_prefix("vapid t=").unwrap().rsplit_once('.').unwrap();
    let bytes = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).unwrap();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(key));
    key.verify(signed.as_bytes(), &bytes(signature)).unwrap();
    let parts: Vec<Value> =
        signed.split('.').map(|part| serde_json::from_slice(&bytes(part)).unwrap()).collect();
    assert_eq!(parts[0], json!({"typ": "JWT", "alg": "ES256"}));
    let audience = format!("http://127.0.0.1:{}", sink.port());
    let wanted = json!({"aud": audience, "exp": NOW / 1_000 + 12 * 3_600, "sub": "mailto:ops@example.org"});
    assert_eq!(parts[1], wanted);
}

/// Push messages escape hostile texts in the same way as all other channels. A long title is truncated.
#[tokio::test]
async fn hostile_titles_are_written_as_on_every_channel() {
    const SHOWN: usize = 150;
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../../../protocol/tests/hostile.json")).unwrap();
    let sink = Sink::start(Answer::Bytes(CREATED)).await;
    let browser = browser(&sink.url(), &vapid());
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().trim_matches(' ').to_owned();
    for row in &rows {
        let told = Message { title: title(&text(row, "given")), ..message() };
        send(of_browsers(), &[to(browser.clone(), told)]).await;
        let shown = read(&sink.requests().pop().unwrap().1);
        let as_line: String = text(row, "as_line").chars().take(SHOWN).collect();
        assert!(shown["body"].as_str().unwrap().contains(&as_line), "{}: {shown}", row["name"]);
    }
}

#[tokio::test]
async fn what_became_of_it_takes_the_place_of_what_was_asked() {
    let sink = Sink::start(Answer::Bytes(CREATED)).await;
    let mut told = message();
    told.title = None;
    told.notice.occasion = Occasion::Resolved;
    told.notice.outcome = Some(Outcome::Approved);
    told.notice.by = vec!["anna".to_owned()];
    send(of_browsers(), &[to(browser(&sink.url(), &vapid()), told)]).await;
    let (head, body) = sink.requests().remove(0);
    let shown = read(&body);
    assert_eq!(header(&head, "topic"), shown["tag"]);
    assert_eq!((header(&head, "urgency"), header(&head, "ttl")), ("normal", "86400"));
    assert_eq!(shown["title"], "Approved: tool approval in payout");
    assert!(shown["body"].as_str().unwrap().starts_with("Risk: high\nBy: anna\n"), "{shown}");
    assert!(!shown.to_string().contains("Pay"), "no title: {shown}");
}

#[tokio::test]
async fn much_at_once_is_cut_and_each_push_service_takes_it() {
    let sink = Sink::start(Answer::Bytes(CREATED)).await;
    let browser = browser(&sink.url(), &vapid());
    let wide = Message { title: Some("\u{1f6d1}".repeat(150)), ..message() };
    for messages in [vec![to(browser.clone(), wide.clone())], vec![to(browser, wide); 100]] {
        let sent = send(of_browsers(), &messages).await;
        assert_eq!(sent.verdict, Verdict::Delivered);
        let (_, body) = sink.requests().pop().unwrap();
        assert!(body.len() <= 4_096, "{} bytes", body.len());
        let shown = read(&body);
        assert!(shown["body"].as_str().unwrap().chars().count() <= 510, "{shown}");
        assert!(shown["url"].as_str().unwrap().starts_with("https://hold.example.org/inbox"), "{shown}");
    }
}

#[tokio::test]
async fn a_browser_that_is_gone_is_no_fault_of_the_channel() {
    let again = |seconds| Verdict::Again(Some(std::time::Duration::from_secs(seconds)));
    for (answer, verdict) in [
        (&b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\n/hook/123"[..], Verdict::Left),
        (b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", Verdict::Left),
        (b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n", Verdict::Refused),
        (b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n", Verdict::Refused),
        (b"HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n", again(7)),
        (b"HTTP/1.1 503 Away\r\ncontent-length: 0\r\n\r\n", Verdict::Again(None)),
    ] {
        let sink = Sink::start(Answer::Bytes(answer)).await;
        let sent = send(of_browsers(), &[to(browser(&sink.url(), &vapid()), message())]).await;
        assert_eq!(sent.verdict, verdict, "{sent:?}");
        // The response must not be stored, because it may contain the endpoint.
        assert_eq!(sent.answer, None);
    }
}

#[tokio::test]
async fn a_browser_that_names_an_address_of_this_network_is_sent_nothing() {
    let sink = Sink::start(Answer::Bytes(CREATED)).await;
    let vapid = vapid();
    let elsewhere = || channel::Channel { allow: vec!["10.1.2.0/24".to_owned()], ..of_browsers() };
    for host in ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"] {
        for scheme in ["http", "https"] {
            let browser = browser(&format!("{scheme}://{host}:{}/secret", sink.port()), &vapid);
            let sent = send(elsewhere(), &[to(browser, message())]).await;
            let error = sent.error.unwrap();
            assert!(error.contains("which is not allowed"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
    // An unencrypted endpoint is refused if the channel lists no networks in `allow`.
    let nowhere = channel::Channel { allow: Vec::new(), ..of_browsers() };
    let sent = send(nowhere, &[to(browser(&sink.url(), &vapid), message())]).await;
    assert_eq!(sent.verdict, Verdict::Refused);
    assert!(sent.error.unwrap().contains("only allowed in networks that"));
    let unaddressed = send(of_browsers(), &[message()]).await;
    assert_eq!(unaddressed.verdict, Verdict::Refused);
    assert!(sink.requests().is_empty());
}

#[test]
fn what_is_wrong_with_a_browser_is_told_without_it() {
    let (vapid, auth) = (vapid(), BASE64URL_NOPAD.encode(&AUTH));
    let at = "https://push.example.org/secret";
    let padded = format!("{auth}==");
    let of_nowhere = BASE64URL_NOPAD.encode(&[4; 65]);
    let long = format!("https://push.example.org/{}", "secret".repeat(400));
    for (endpoint, key, auth, pointer) in [
        ("secret", &*p256dh(), &*auth, "/endpoint"),
        ("ftp://push.example.org/secret", &p256dh(), &auth, "/endpoint"),
        ("https://me:secret@push.example.org/", &p256dh(), &auth, "/endpoint"),
        (&long, &p256dh(), &auth, "/endpoint"),
        (at, "secret", &auth, "/p256dh"),
        (at, &of_nowhere, &auth, "/p256dh"),
        (at, &p256dh(), "c2VjcmV0", "/auth"),
        (at, &p256dh(), &padded, "/auth"),
    ] {
        let wrong: BadBrowser = Browser::open(endpoint, key, auth, vapid.clone()).unwrap_err();
        assert_eq!(wrong.pointer(), pointer, "{endpoint} {key} {auth}");
        assert!(!wrong.to_string().contains("secret"), "{wrong}");
    }
    let shown = format!("{:?}", to(browser(at, &vapid), message()));
    assert!(shown.contains("push.example.org") && !shown.contains("secret"), "{shown}");
    assert!(!shown.contains("sixteen"), "{shown}");
    assert!(Vapid::from_pkcs8(b"nonsense").is_err());
}
