//! Valid channels, and errors in a channel's definition that are found before a message is sent.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use holdshort_core::channel::{self, Rule, Source, To, Via};
use holdshort_core::interrupt::Kind;
use holdshort_core::level::Level;
use holdshort_core::notice::{Notice, Occasion};
use holdshort_core::quiet_hours::Hold;
use holdshort_core::time::Timestamp;
use holdshort_notify::{Channels, Error, LinkAccess, Message};

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
pub(crate) const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

pub(crate) fn definition(via: Via, url: &str) -> channel::Channel {
    let secrets = if via == Via::Webhook { vec![Source::Plain(SECRET.to_owned())] } else { Vec::new() };
    channel::Channel {
        name: "tested".to_owned(),
        rule: Rule::default(),
        via,
        url: Source::Plain(url.to_owned()),
        to: To::Channel,
        mail: None,
        slack: None,
        secrets,
        headers: BTreeMap::from([("X-Team".to_owned(), Source::Plain("risk".to_owned()))]),
        title: true,
        summary: false,
        allow: vec!["127.0.0.0/8".to_owned()],
        attempts: 3,
        retry_ms: 5_000,
        timeout_ms: 10_000,
        hold: Hold::default(),
        personal: BTreeMap::new(),
    }
}

pub(crate) fn open(definition: channel::Channel) -> Result<Channels, Error> {
    Channels::open(vec![definition], Path::new("/nowhere"), &|_| None)
}

pub(crate) fn message() -> Message {
    Message {
        id: "dlv_01k6f0000000000000000000dd".to_owned(),
        notice: Notice {
            occasion: Occasion::Opened,
            at: at(1_760_000_000_000),
            run: "run_01k6f0000000000000000000aa".parse().unwrap(),
            seq: 12,
            session: "ses_01k6f0000000000000000000bb".parse().unwrap(),
            workflow: "payout".to_owned(),
            interrupt: "int_01k6f0000000000000000000cc".parse().unwrap(),
            kind: Kind::ToolApproval,
            risk: Level::High,
            people: vec!["anna".to_owned()],
            groups: vec!["legal".to_owned()],
            operators: false,
            expires_at: Some(at(1_760_003_600_000)),
            outcome: None,
            by: Vec::new(),
            told: Vec::new(),
            to: None,
        },
        title: Some("Pay <@U1> *now*".to_owned()),
        link: "https://hold.example.org/inbox/int_01k6f0000000000000000000cc".to_owned(),
        plain: None,
        way: LinkAccess::SignIn,
        reader: None,
        buttons: Vec::new(),
        posted: Vec::new(),
        resolution: None,
        approval: None,
    }
}

pub(crate) fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

#[test]
fn what_is_wrong_is_told_without_the_url_or_the_secret() {
    let webhook = |url: &str| definition(Via::Webhook, url);
    let no_allow = |url: &str| channel::Channel { allow: Vec::new(), ..webhook(url) };
    let secret = |text: &str| channel::Channel {
        secrets: vec![Source::Plain(text.to_owned())],
        ..webhook("https://example.org")
    };
    for (definition, why) in [
        (webhook("nonsense-secret"), "the URL is not a URL"),
        (webhook("ftp://example.org/secret"), "the URL is neither"),
        (no_allow("http://example.org/secret"), "the URL begins with `http:`"),
        (webhook("https://me:secret@example.org"), "the URL contains a user name or password"),
        (definition(Via::Ntfy, "https://example.org/"), "the URL names no topic"),
        (secret("secret"), "secret 1 is not a Standard Webhooks secret"),
        (secret("whsec_secret!"), "secret 1 is not a Standard Webhooks secret"),
        (secret("whsec_c2VjcmV0"), "secret 1 has 6 bytes"),
    ] {
        let error = open(definition).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(!error.contains("c2VjcmV0") && !error.contains("me:"), "{error}");
    }
}

/// A text from which the host of a channel was removed contains no IP address either.
#[test]
fn a_text_without_the_host_holds_no_address_either() {
    for (url, text, expected) in [
        (
            "https://agent.example.org/hook",
            "`agent.example.org` is 10.0.0.7, a private address, which is not allowed",
            "`its host` is its address, a private address, which is not allowed",
        ),
        (
            "https://agent.example.org:8443/hook",
            "connecting to agent.example.org:8443, 10.0.0.7:8443 and [fd00::a:7]:8443: refused (os error 111)",
            "connecting to its host:8443, its address and [its address]:8443: refused (os error 111)",
        ),
        // The host is a part of the address in the text.
        ("https://fd00/hook", "fd00::a:7 is down.", "its address is down."),
        ("https://a.example/hook", "valid for IpAddress(10.0.0.7).", "valid for IpAddress(its address)."),
        ("https://a.example/hook", "at ::ffff:10.0.0.7: it failed", "at its address: it failed"),
        ("https://a.example/hook", "no route to fe80::", "no route to its address"),
        ("https://10.0.0.7/hook", "`10.0.0.7` is down", "`its address` is down"),
        ("https://[fd00::7]/hook", "`[fd00::7]` is fd00::7", "`its host` is its address"),
        // Texts that are not addresses.
        ("https://a.example/hook", "answered 503 Service Unavailable", "answered 503 Service Unavailable"),
        ("https://a.example/hook", "no answer after 10000 ms ...", "no answer after 10000 ms ..."),
        ("https://a.example/hook", "TLS 1.3: bad record: 0x16", "TLS 1.3: bad record: 0x16"),
    ] {
        let channels = open(definition(Via::Webhook, url)).unwrap();
        assert_eq!(channels.get("tested").unwrap().without_host(text), expected, "{url}");
    }
}

#[test]
fn secrets_are_read_from_files_of_their_owner_and_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    let from = |source: Source| {
        let definition =
            channel::Channel { secrets: vec![source], ..definition(Via::Webhook, "https://example.org") };
        let variable = |name: &str| (name == "THERE").then(|| SECRET.to_owned());
        Channels::open(vec![definition], folder.path(), &variable)
    };
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let exposed = from(Source::File("secret".to_owned())).unwrap_err().to_string();
    assert!(exposed.contains("readable by others (mode 640)"), "{exposed}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    from(Source::File("secret".to_owned())).unwrap();
    from(Source::Env("THERE".to_owned())).unwrap();
    let missing = from(Source::Env("MISSING".to_owned())).unwrap_err().to_string();
    assert!(missing.contains("the environment variable MISSING"), "{missing}");
    assert!(matches!(from(Source::File("gone".to_owned())), Err(Error::File { .. })));
}

#[test]
fn a_header_that_is_a_secret_is_read_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    let opened = |held: &str, mode: u32| {
        let _ = std::fs::remove_file(&file);
        std::fs::write(&file, held).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let headers = BTreeMap::from([("X-Api-Key".to_owned(), Source::File("key".to_owned()))]);
        let definition = channel::Channel { headers, ..definition(Via::Webhook, "https://example.org") };
        let opened = Channels::open(vec![definition], folder.path(), &|_| None);
        opened.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(opened("k-1\n", 0o600), Ok(()));
    let exposed = opened("k-1", 0o644).unwrap_err();
    assert!(exposed.contains("key is readable by others (mode 644)"), "{exposed}");
    let wrong = opened("k-1\nX: y", 0o600).unwrap_err();
    assert_eq!(
        wrong,
        "channel `tested`: the header `X-Api-Key` contains characters other than printable ASCII"
    );
}
