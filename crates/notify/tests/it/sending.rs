//! One delivery attempt over sockets: it succeeds, can be retried, is refused, or has no allowed address.

use std::time::Duration;

use holdshort_core::channel::{self, Source, Via};
use holdshort_http::guard::Guard;
use holdshort_notify::limits::ANSWER_BYTES;
use holdshort_notify::{Sent, Verdict};
use reqwest::Url;

use crate::channels::{OTHER, SECRET, at, definition, message, open};
use crate::sink::{Answer, Sink};

async fn send(definition: channel::Channel) -> Sent {
    open(definition).unwrap().get("tested").unwrap().send(&message(), at(1_760_000_001_000)).await
}

async fn answered(answer: Answer) -> Sent {
    let sink = Sink::start(answer).await;
    send(definition(Via::Webhook, &sink.url())).await
}

#[tokio::test]
async fn the_status_decides_what_becomes_of_it() {
    let again = |seconds| Verdict::Again(Some(Duration::from_secs(seconds)));
    for (answer, verdict, status) in [
        (&b"HTTP/1.1 204 No Content\r\n\r\n"[..], Verdict::Delivered, 204),
        (b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", Verdict::Delivered, 202),
        (b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n", Verdict::Refused, 400),
        (b"HTTP/1.1 404 Not Found\r\nretry-after: 5\r\ncontent-length: 0\r\n\r\n", Verdict::Refused, 404),
        (b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n", Verdict::Again(None), 408),
        (b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", Verdict::Gone, 410),
        (b"HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n", again(7), 429),
        (
            b"HTTP/1.1 503 Away\r\nretry-after: Thu, 09 Oct 2025 08:54:21 GMT\r\ncontent-length: 0\r\n\r\n",
            again(60),
            503,
        ),
        (b"HTTP/1.1 500 Broken\r\ncontent-length: 0\r\n\r\n", Verdict::Again(None), 500),
    ] {
        let sent = answered(Answer::Bytes(answer)).await;
        assert_eq!((sent.verdict, sent.status), (verdict, Some(status)), "{sent:?}");
        assert_eq!(sent.error.is_none(), verdict == Verdict::Delivered, "{sent:?}");
    }
    let cut = answered(Answer::Hangs).await;
    assert_eq!((cut.verdict, cut.status), (Verdict::Again(None), None), "{cut:?}");
}

/// The header `Retry-After` of Slack may be a number of seconds or a date, as for other receivers.
#[tokio::test]
async fn slack_says_when_to_come_back() {
    for (answer, seconds) in [
        (&b"HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n"[..], 7),
        (
            b"HTTP/1.1 429 Slow Down\r\nretry-after: Thu, 09 Oct 2025 08:54:21 GMT\r\ncontent-length: 0\r\n\r\n",
            60,
        ),
    ] {
        let sink = Sink::start(Answer::Bytes(answer)).await;
        let app = channel::SlackApp {
            conversation: "C0123456789".to_owned(),
            token: Source::Plain("xoxb-of-the-tests".to_owned()),
            signing_secret: Source::Plain("of-the-tests".to_owned()),
        };
        let sent = send(channel::Channel { slack: Some(app), ..definition(Via::Slack, &format!("{}/", sink.url().trim_end_matches('/'))) }).await;
        assert_eq!(sent.verdict, Verdict::Again(Some(Duration::from_secs(seconds))), "{sent:?}");
    }
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let metadata = Answer::Bytes(
        b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest/meta-data\r\ncontent-length: 0\r\n\r\n",
    );
    let sent = answered(metadata).await;
    assert_eq!((sent.verdict, sent.status), (Verdict::Again(None), Some(302)));
    assert!(sent.error.unwrap().contains("redirects are not followed"));
}

#[tokio::test]
async fn a_late_answer_within_the_time_counts() {
    let late = Answer::Late(Duration::from_millis(700), b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let sink = Sink::start(late).await;
    let sent = send(channel::Channel { timeout_ms: 20_000, ..definition(Via::Webhook, &sink.url()) }).await;
    assert_eq!(sent.verdict, Verdict::Delivered);
    let sent = send(channel::Channel { timeout_ms: 100, ..definition(Via::Webhook, &sink.url()) }).await;
    assert_eq!(
        (sent.verdict, sent.error.as_deref()),
        (Verdict::Again(None), Some("the receiver did not answer within 100 ms"))
    );
}

#[tokio::test]
async fn what_drips_is_cut_off() {
    let of = |url: &str| channel::Channel { timeout_ms: 300, ..definition(Via::Webhook, url) };
    // If the head of the response never ends, the attempt fails.
    let head = Sink::start(Answer::Drips(b"HTTP/1.1 200 OK\r\nx: ")).await;
    assert_eq!(send(of(&head.url())).await.verdict, Verdict::Again(None));
    // If the body of the response never ends, the attempt succeeds, because the status was received.
    let body = Sink::start(Answer::Drips(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")).await;
    let sent = send(of(&body.url())).await;
    assert_eq!(sent.verdict, Verdict::Delivered);
    assert!(sent.answer.is_some_and(|answer| answer.starts_with("xx")));
}

#[tokio::test]
async fn of_a_large_answer_only_the_beginning_is_read() {
    const SIZE: usize = 10 * 1024 * 1024;
    let sink = Sink::start(Answer::Large(SIZE)).await;
    let sent = send(definition(Via::Webhook, &sink.url())).await;
    assert_eq!(sent.verdict, Verdict::Delivered);
    assert_eq!(sent.answer.unwrap(), "y".repeat(ANSWER_BYTES));
    // The sink could only write as many bytes as fit into the buffers of the kernel, because the sender stopped
    // reading.
    assert!(sink.written() < SIZE, "{}", sink.written());
}

#[tokio::test]
async fn nothing_goes_to_addresses_that_nobody_named() {
    let sink = Sink::start(Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).await;
    let elsewhere = |url: String| channel::Channel {
        allow: vec!["10.1.2.0/24".to_owned()],
        ..definition(Via::Webhook, &url)
    };
    for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "169.254.169.254", "192.168.0.1"] {
        let sent = send(elsewhere(format!("http://{host}:{}/", sink.port()))).await;
        assert_eq!((sent.verdict, sent.status), (Verdict::Again(None), None), "{host}");
        assert!(sent.error.unwrap().contains("which is not allowed"), "{host}");
    }
    assert!(sink.requests().is_empty());
}

/// A network in `allow` permits `http:` only to addresses in this network. On the way to any other address, the signed
/// body and secret headers could be read.
#[tokio::test]
async fn in_the_clear_nothing_goes_out_of_the_networks_that_are_named() {
    for host in ["93.184.216.34", "[2606:4700:4700::1111]", "1.1.1.1"] {
        for via in [Via::Webhook, Via::Ntfy] {
            let definition = definition(via, &format!("http://{host}/hook"));
            let channels = open(definition.clone()).unwrap();
            let refused = channels.get("tested").unwrap().check_address().unwrap_err().to_string();
            let sent = send(definition).await;
            assert_eq!((sent.verdict, sent.status), (Verdict::Again(None), None), "{host}");
            for why in [refused, sent.error.unwrap()] {
                assert!(why.contains("outside the allowed networks"), "{host}: {why}");
            }
        }
    }
    let encrypted = open(definition(Via::Webhook, "https://93.184.216.34/hook")).unwrap();
    encrypted.get("tested").unwrap().check_address().unwrap();
}

/// A name server may first return a public address and later a private address. The connection therefore uses the
/// checked address, and each attempt looks up and checks the name again.
#[tokio::test]
async fn a_name_that_becomes_private_is_not_followed_there() {
    let sink = Sink::start(Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).await;
    let url: Url = format!("http://localhost:{}/", sink.port()).parse().unwrap();
    // The first response of the name server. On this machine, the name has a different address.
    let first = vec!["192.0.2.1:9".parse().unwrap()];
    let guard = Guard::new(&["192.0.2.0/24".to_owned()]).unwrap();
    let checked = guard.check_all(&url, "localhost".to_owned(), first).unwrap();
    let client = checked.client().connect_timeout(Duration::from_millis(300)).build().unwrap();
    assert!(client.post(url).send().await.is_err());
    assert!(sink.requests().is_empty(), "the second answer was asked for");
}

#[tokio::test]
async fn two_secrets_sign_while_receivers_change_over() {
    let sink = Sink::start(Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")).await;
    let secrets = [SECRET, OTHER].map(|text| Source::Plain(text.to_owned())).to_vec();
    let sent = send(channel::Channel { secrets, ..definition(Via::Webhook, &sink.url()) }).await;
    let (head, body) = sink.requests().remove(0);
    let header = |name: &str| {
        let found = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_else(|| panic!("no {name} in {head}")).to_owned()
    };
    assert_eq!(header("webhook-id"), "dlv_01k6f0000000000000000000dd");
    assert_eq!(header("webhook-timestamp"), "1760000001");
    let signed =
        |text: &str| holdshort_notify::Secret::parse(text).unwrap().sign(&message().id, 1_760_000_001, &body);
    assert_eq!(header("webhook-signature"), format!("{} {}", signed(SECRET), signed(OTHER)));
    let first = holdshort_notify::Secret::parse(SECRET).unwrap();
    assert_eq!(header("x-webhook-signature"), first.sign_body(&body));
    assert_eq!(header("x-event-type"), "interrupt.opened");
    assert_eq!(header("x-event-id"), "run_01k6f0000000000000000000aa/12");
    assert_eq!(sent.digest.len(), 64);
}
