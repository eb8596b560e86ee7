//! Tests of `Retry-After` values, and of the causes of failed requests.

use std::time::{Duration, UNIX_EPOCH};

use holdshort_http::answers::{innermost, retry_after};

#[test]
fn a_receiver_says_in_every_form_when_to_come_back() {
    // Sun, 06 Nov 1994 08:49:37 GMT.
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    for (value, wanted) in [
        ("0", Some(Duration::ZERO)),
        (" 120 ", Some(Duration::from_mins(2))),
        ("1.5", Some(Duration::from_millis(1_500))),
        ("99999999999999999999999999", Some(Duration::MAX)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", Some(Duration::from_mins(1))),
        ("Sunday, 06-Nov-94 08:50:37 GMT", Some(Duration::from_mins(1))),
        ("Sun Nov  6 08:50:37 1994", Some(Duration::from_mins(1))),
        ("Sun, 06 Nov 1994 08:48:37 GMT", Some(Duration::ZERO)),
        ("-1", None),
        (".5", None),
        ("1.2.3", None),
        ("1e3", None),
        ("inf", None),
        ("soon", None),
        ("", None),
    ] {
        assert_eq!(retry_after(value, now), wanted, "{value}");
    }
}

/// The cause of a failed request never contains the URL, which may contain a secret.
#[tokio::test]
async fn an_error_says_why_and_not_where() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = holdshort_http::client_to(&format!("http://{free}").parse().unwrap());
    let client = client.no_proxy().build().unwrap();
    for url in [format!("http://{free}/secret"), "nothing://secret".to_owned()] {
        let why = innermost(&client.get(&url).send().await.unwrap_err());
        assert!(!why.is_empty() && !why.contains("secret"), "{url}: {why}");
    }
}
