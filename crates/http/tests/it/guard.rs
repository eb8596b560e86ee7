//! Tests of the addresses that a request may be sent to, in all notations.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use holdshort_http::guard::{Error, Guard, range};
use reqwest::Url;

const TIME: Duration = Duration::from_secs(5);

#[test]
fn addresses_and_what_becomes_of_them() {
    let guard = Guard::default();
    let table = [
        ("93.184.216.34", None),
        ("1.1.1.1", None),
        ("100.63.255.255", None),
        ("100.128.0.1", None),
        ("172.15.0.1", None),
        ("172.32.0.1", None),
        ("192.167.1.1", None),
        ("198.20.0.1", None),
        ("223.255.255.255", None),
        ("0.0.0.0", Some("an unspecified address")),
        ("0.1.2.3", Some("an unspecified address")),
        ("10.255.0.1", Some("a private address")),
        ("100.64.0.1", Some("a shared address of a provider's NAT")),
        ("127.0.0.1", Some("this machine")),
        ("127.255.255.254", Some("this machine")),
        ("169.254.169.254", Some("a link-local address")),
        ("172.16.0.1", Some("a private address")),
        ("172.31.255.255", Some("a private address")),
        ("192.0.0.8", Some("a reserved address")),
        ("192.0.2.1", Some("an address reserved for documentation")),
        ("192.88.99.1", Some("a reserved address")),
        ("192.168.0.1", Some("a private address")),
        ("198.19.255.255", Some("an address reserved for benchmarks")),
        ("198.51.100.7", Some("an address reserved for documentation")),
        ("203.0.113.7", Some("an address reserved for documentation")),
        ("224.0.0.1", Some("a multicast address")),
        ("239.255.255.250", Some("a multicast address")),
        ("240.0.0.1", Some("a reserved address")),
        ("255.255.255.255", Some("a broadcast address")),
        ("2606:4700:4700::1111", None),
        ("2a00:1450:4001::1", None),
        ("::", Some("an unspecified address")),
        ("::1", Some("this machine")),
        ("::2", Some("an unspecified address")),
        ("::127.0.0.1", Some("this machine")),
        ("::8.8.8.8", Some("a reserved address")),
        ("::ffff:127.0.0.1", Some("this machine")),
        ("::ffff:169.254.169.254", Some("a link-local address")),
        ("::ffff:8.8.8.8", None),
        ("::ffff:0:8.8.8.8", Some("a reserved address")),
        ("64:ff9b::127.0.0.1", Some("this machine")),
        ("64:ff9b::10.0.0.1", Some("a private address")),
        ("64:ff9b::8.8.8.8", None),
        ("64:ff9b:1::8.8.8.8", Some("a reserved address")),
        ("2002:7f00:1::", Some("this machine")),
        ("2002:a9fe:a9fe::1", Some("a link-local address")),
        ("2002:808:808::1", None),
        ("2001::1", Some("a reserved address")),
        ("2001:db8::1", Some("an address reserved for documentation")),
        ("3fff::1", Some("an address reserved for documentation")),
        ("100::1", Some("a reserved address")),
        ("5f00::1", Some("a reserved address")),
        ("fc00::1", Some("a private address")),
        ("fdff::1", Some("a private address")),
        ("fe80::1", Some("a link-local address")),
        ("fec0::1", Some("a private address")),
        ("ff02::1", Some("a multicast address")),
    ];
    for (address, what) in table {
        assert_eq!(guard.refuses(address.parse().unwrap()), what, "{address}");
    }
}

#[test]
fn a_range_that_is_named_is_allowed_and_no_more() {
    let guard = Guard::new(&["127.0.0.1/32".into(), "fd00:1::/32".into()]).unwrap();
    let refuses = |text: &str| guard.refuses(text.parse::<IpAddr>().unwrap()).is_some();
    let table = [
        ("127.0.0.1", false),
        ("::ffff:127.0.0.1", false),
        ("127.0.0.2", true),
        ("::1", true),
        ("64:ff9b::127.0.0.1", true),
        ("fd00:1::5", false),
        ("fd00:2::5", true),
    ];
    for (address, refused) in table {
        assert_eq!(refuses(address), refused, "{address}");
    }
    for wrong in ["127.0.0.1", "127.0.0.1/8", "127.0.0.1/33", "localhost/32", "", "*", "10.0.0.0/ 8"] {
        assert!(matches!(range(wrong), Err(Error::Range { .. })), "{wrong}");
    }
}

#[test]
fn a_closed_one_allows_what_is_named_and_nothing_else() {
    let guard = Guard::new(&["10.0.0.0/8".to_owned(), "1.1.1.0/24".to_owned()]).unwrap().closed();
    for (address, what) in [
        ("10.1.2.3", None),
        ("1.1.1.1", None),
        ("1.1.2.1", Some("a public address")),
        ("2606:4700:4700::1111", Some("a public address")),
        ("127.0.0.1", Some("this machine")),
    ] {
        assert_eq!(guard.refuses(address.parse().unwrap()), what, "{address}");
    }
}

#[test]
fn an_address_in_a_url_is_refused_without_a_look_up_and_a_name_is_not() {
    let guard = Guard::new(&["10.1.0.0/16".into()]).unwrap();
    let table = [
        ("https://127.0.0.1/hook", false),
        ("https://0x7f.1:8443/hook", false),
        ("https://[::1]/hook", false),
        ("https://10.2.0.1/hook", false),
        ("http://10.1.0.1/hook", true),
        ("https://93.184.216.34/hook", true),
        ("https://localhost/hook", true),
        ("https://hooks.example.org/hook", true),
    ];
    for (url, taken) in table {
        assert_eq!(guard.check_literal(&url.parse::<Url>().unwrap()).is_ok(), taken, "{url}");
    }
}

/// An allowed range of the guard permits `http:` to the addresses in the range, and to no other addresses.
#[test]
fn in_the_clear_goes_to_what_is_named_alone() {
    let guard = Guard::new(&["10.1.0.0/16".into(), "203.0.113.0/24".into(), "fd00:1::/32".into()]).unwrap();
    let table: [(&str, &[&str], bool); 9] = [
        ("http://in.example.org/", &["10.1.0.1"], true),
        ("http://in.example.org/", &["10.1.0.1", "203.0.113.7", "fd00:1::5"], true),
        ("http://in.example.org/", &["::ffff:10.1.0.1"], true),
        ("http://out.example.org/", &["93.184.216.34"], false),
        ("http://out.example.org/", &["2606:4700:4700::1111"], false),
        ("http://out.example.org/", &["10.2.0.1"], false),
        ("http://both.example.org/", &["10.1.0.1", "93.184.216.34"], false),
        ("https://out.example.org/", &["93.184.216.34"], true),
        ("https://both.example.org/", &["10.1.0.1", "93.184.216.34"], true),
    ];
    for (url, addresses, taken) in table {
        let addresses = addresses.iter().map(|text| text.parse::<IpAddr>().unwrap());
        let checked = guard.check_in_clear(&url.parse::<Url>().unwrap(), addresses);
        assert_eq!(checked.is_ok(), taken, "{url}: {checked:?}");
        assert!(matches!(checked, Ok(()) | Err(Error::InClear { .. })), "{url}: {checked:?}");
    }
}

#[tokio::test]
async fn hosts_that_stand_for_such_an_address_are_refused_however_they_are_written() {
    let guard = Guard::default();
    for host in [
        "localhost",
        "LOCALHOST",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:7f00:1]",
        "0",
        "[64:ff9b::7f00:1]",
    ] {
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        assert!(matches!(guard.check(&url, TIME).await, Err(Error::Refused { .. })), "{host}");
    }
}

/// If the guard refuses one of several addresses of a host name, it refuses the name, because the client might connect
/// to the refused address.
#[test]
fn every_address_of_a_name_counts() {
    let url = Url::parse("https://example.org/").unwrap();
    let at = |texts: &[&str]| -> Vec<SocketAddr> {
        texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 443)).collect()
    };
    let check = |texts: &[&str]| Guard::default().check_all(&url, "example.org".into(), at(texts));
    assert_eq!(check(&["93.184.216.34", "1.1.1.1"]).unwrap().addresses(), at(&["93.184.216.34", "1.1.1.1"]));
    assert!(matches!(check(&["93.184.216.34", "10.0.0.1"]), Err(Error::Refused { .. })));
    assert!(matches!(check(&[]), Err(Error::Addresses { .. })));
    assert!(matches!(check(&["1.1.1.1"; 65]), Err(Error::Addresses { .. })));
}
