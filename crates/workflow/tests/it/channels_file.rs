//! Channels file: its content, and its problems.

use std::collections::BTreeMap;

use holdshort_core::channel::{Security, Source, To, Via};
use holdshort_core::level::Level;
use holdshort_workflow::channels_file::parse;

fn problems(text: &str) -> Vec<String> {
    let found = parse("channels.yaml", text).expect_err("it is wrong");
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_channel_says_where_and_of_what() {
    let text = "
channels:
  legal: {type: slack, url_file: secrets/slack, groups: [legal], events: [opened, expired], risk: high}
  siem:
    type: webhook
    url: https://siem.example.org/hook
    secret_files: [new, old]
    headers: {X-Team: risk}
    header_files: {X-Api-Key: secrets/key}
    attempts: 3
    retry_delay: 1m
    allow: [10.0.0.0/8]
";
    let channels = parse("channels.yaml", text).unwrap();
    let [legal, siem] = &channels[..] else { panic!("two") };
    assert_eq!((legal.via, &legal.url), (Via::Slack, &Source::File("secrets/slack".to_owned())));
    assert_eq!((legal.rule.occasions.len(), legal.rule.risk, legal.attempts), (2, Some(Level::High), 8));
    assert_eq!((siem.secrets.len(), siem.retry_ms, siem.attempts, siem.timeout_ms), (2, 60_000, 3, 10_000));
    assert!(!siem.title);
    let wanted = [
        ("X-Api-Key".to_owned(), Source::File("secrets/key".to_owned())),
        ("X-Team".to_owned(), Source::Plain("risk".to_owned())),
    ];
    assert_eq!(siem.headers, BTreeMap::from(wanted));
}

/// The channels file may not use the reserved name of the channel that sends callbacks to agents.
#[test]
fn the_name_of_a_channel_of_ours_is_taken() {
    let text = "channels:\n  agent-callbacks: {type: teams, url_env: TEAMS}\n";
    let found = problems(text);
    assert!(found.len() == 1 && found[0].contains("choose another name"), "{found:?}");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (channel, at, wanted) in [
        (
            "{type: slack, url: https://hooks.slack.com/services/T/B/x}",
            "https:",
            "the URL of a slack channel is a secret",
        ),
        (
            "{type: slak, url_file: x}",
            "slak",
            "expected `webhook`, `slack`, `teams`, `ntfy`, `email`, `crew` or `push`, found `slak` (did you mean `slack`?)",
        ),
        ("{type: teams}", "{", "one of `url_file`, `url_env` is missing"),
        (
            "{type: webhook, url: https://a.example}",
            "{",
            "one of `secret_file`, `secret_files`, `secret_env` is missing",
        ),
        (
            "{type: slack, url_file: x, secret_env: Y}",
            "Y}",
            "a channel of the type `slack` has no secret besides its URL",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, url_env: X}",
            "X}",
            "only one of `url`, `url_file`, `url_env` is allowed: remove the others",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, event: [opened]}",
            "event:",
            "unknown key `event` (did you mean `events`?)",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, events: []}",
            "[]",
            "the list is empty: name at least one value",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, events: [expired, checkpoint]}",
            "[expired",
            "only channels of the types `webhook` and `email` can send the event `checkpoint`: remove it",
        ),
        (
            "{type: email, server: smtp.example.org, from: a@example.org, events: [checkpoint]}",
            "[checkpoint",
            "checkpoints are sent only to fixed mail addresses: list the addresses in `to`",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, digest: 2d}",
            "2d",
            "the digest must be an interval from `1s` to `1d`",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, digest: daily 25:00}",
            "daily",
            "`25:00` is not a time of day",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, quiet: {from: \"22:00\", to: \"7:00\"}}",
            "\"7:00",
            "`7:00` is not a time of day",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, quiet: {from: \"00:00\", to: \"24:00\"}}",
            "{from",
            "the quiet hours cover the whole week",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, quiet: {from: \"22:00\", to: \"07:00\", zone: Berlin}}",
            "Berlin",
            "unknown time zone `Berlin`",
        ),
        (
            "{type: webhook, url: https://a.example, secret_env: S, digest: 1h}",
            "1h",
            "a program receives every notification immediately, so this key has no effect: remove it",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, personal: {anna: {digest: off}}}",
            "{anna",
            "this channel does not notify people individually, so this key has no effect: remove it",
        ),
        ("{type: ntfy, url: https://ntfy.sh/t, attempts: 13}", "13", "expected a whole number from 1 to 12"),
        (
            "{type: ntfy, url: https://ntfy.sh/t, timeout: 1m}",
            "1m",
            "the duration must be from 1 to 30000 ms",
        ),
        ("{type: ntfy, url: https://ntfy.sh/t, allow: [10.0.0.1/8]}", "10.0", "`10.0.0.1/8` is not a range"),
        (
            "{type: ntfy, url: https://ntfy.sh/t, server: x}",
            "x}",
            "`server` is allowed only in a channel of the type `email`: remove it",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, url: x}",
            "x}",
            "`url` is not allowed in a channel of the type `email`: remove it",
        ),
        (
            "{type: email, server: \"a.example:x\", from: h@b.example}",
            "\"a.",
            "this is not a mail server such as",
        ),
        ("{type: email, from: h@b.example}", "{", "the key `server` is missing"),
        ("{type: email, server: a.example, from: nobody}", "nobody", "this is not a mail address such as"),
        (
            "{type: email, server: a.example, from: h@b.example, user: h}",
            "{",
            "`user` is set without a password: also set one of `password_file`, `password_env`",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, password_env: P}",
            "P}",
            "`user` is missing: name the mail account to which this password belongs",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, security: none}",
            "none",
            "`security: none` is allowed only for a mail server in a network that `allow` lists: add the \
            network, or use TLS",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, to: [\"l@b.example\\r\"]}",
            "\"l@",
            "`l@b.example\r` is not a mail address",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, to: everybody}",
            "everybody",
            "expected `people` or a list of addresses, found `everybody`",
        ),
        (
            "{type: slack, channel: C1, signing_secret_env: S}",
            "{",
            "a slack channel with buttons needs the bot token",
        ),
        (
            "{type: slack, channel: C1, token_env: T}",
            "{",
            "a slack channel with buttons needs the signing secret",
        ),
        (
            "{type: slack, channel: general, token_env: T, signing_secret_env: S}",
            "general",
            "expected the id of a channel such as `C0123456789`, or `people`",
        ),
        (
            "{type: slack, channel: C1, token_env: T, signing_secret_env: S, url_env: U}",
            "U}",
            "`url_env` is not allowed in a Slack channel with buttons: remove it",
        ),
        ("{type: push}", "{", "the key `contact` is missing"),
        (
            "{type: push, contact: ops}",
            "ops}",
            "the contact must be an address such as `mailto:ops@example.org`, or an `https:` URL",
        ),
        (
            "{type: push, contact: \"mailto:ops@b.example\", url: https://a.example}",
            "https",
            "`url` is not allowed in a channel of the type `push`: remove it",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, contact: \"mailto:ops@b.example\"}",
            "\"mailto",
            "`contact` is allowed only in a channel of the type `push`: remove it",
        ),
        (
            "{type: teams, url_env: U, channel: C1}",
            "C1",
            "`channel` is allowed only in a channel of the type `slack`: remove it",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, headers: {X-A: b}}",
            "{X-A",
            "`headers` is allowed only in a channel of the type `webhook`: remove it",
        ),
        (
            "{type: teams, url_env: U, header_files: {X-A: b}}",
            "{X-A",
            "`header_files` is allowed only in a channel of the type `webhook`: remove it",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, headers: {X-A: b}}",
            "{X-A",
            "`headers` is allowed only in a channel of the type `webhook`: remove it",
        ),
    ] {
        let line = format!("  c: {channel}");
        let column = line.find(at).unwrap() + 1;
        let found = problems(&format!("channels:\n{line}\n"));
        let wanted = format!("channels.yaml:2:{column}: {wanted}");
        assert!(found[0].starts_with(&wanted), "{channel}: {found:?}");
        assert!(!found[0].contains("services/T"), "{found:?}");
    }
    assert_eq!(
        problems("channel: {}\n")[0],
        "channels.yaml:1:1: unknown key `channel` (did you mean `channels`?)"
    );
}

#[test]
fn a_header_says_nothing_of_ours_and_no_secret() {
    let secret = |name: &str| {
        format!(
            "the header `{name}` contains a secret, and secrets must not be in this file: name a file with \
            the value in `header_files`"
        )
    };
    for (key, name, value, wanted) in [
        ("headers", "Cookie", "x", secret("Cookie")),
        ("headers", "Authorization", "x", secret("Authorization")),
        ("headers", "Proxy-Authorization", "x", secret("Proxy-Authorization")),
        ("headers", "X-Api-Key", "x", secret("X-Api-Key")),
        ("headers", "x_auth_token", "x", secret("x_auth_token")),
        ("headers", "ApiKey", "x", secret("ApiKey")),
        (
            "headers",
            "webhook-id",
            "x",
            "Holdshort itself sets the header `webhook-id`: remove it here".to_owned(),
        ),
        (
            "headers",
            "X-Webhook-Signature",
            "x",
            "Holdshort itself sets the header `X-Webhook-Signature`: remove it here".to_owned(),
        ),
        (
            "headers",
            "X-Event-Type",
            "x",
            "Holdshort itself sets the header `X-Event-Type`: remove it here".to_owned(),
        ),
        (
            "headers",
            "User-Agent",
            "x",
            "Holdshort itself sets the header `User-Agent`: remove it here".to_owned(),
        ),
        ("header_files", "Host", "x", "Holdshort itself sets the header `Host`: remove it here".to_owned()),
        (
            "header_files",
            "Content-Type",
            "x",
            "Holdshort itself sets the header `Content-Type`: remove it here".to_owned(),
        ),
        ("headers", "X A", "x", "`X A` is not a valid header name".to_owned()),
        ("headers", "X-A", "\"a\\nb\"", "a header value may contain only printable ASCII".to_owned()),
    ] {
        let channel = format!("{{type: webhook, url_env: U, secret_env: S, {key}: {{{name}: {value}}}}}");
        let found = problems(&format!("channels:\n  c: {channel}\n"));
        assert!(found[0].ends_with(&wanted), "{channel}: {found:?}");
    }
    let twice = "channels:
  c: {type: webhook, url_env: U, secret_env: S, headers: {X-A: b}, header_files: {x-a: f}}
";
    assert!(problems(twice)[0].ends_with("the header `x-a` is listed twice: remove one of the two"));
    let others = "channels:
  c:
    type: webhook
    url_env: U
    secret_env: S
    headers: {X-Team: a, X-Tenant-Id: b, X-Keyboard: c}
    header_files: {Authorization: secrets/siem}
";
    assert_eq!(parse("channels.yaml", others).unwrap()[0].headers.len(), 4);
}

#[test]
fn mails_have_a_server_and_go_to_people_unless_addresses_are_named() {
    let text = "
channels:
  mail: {type: email, server: smtp.example.org, from: Holdshort <h@example.org>, user: h, password_file: p}
  list: {type: email, server: \"smtp.example.org:465\", from: h@example.org, to: [legal@example.org]}
  near: {type: email, server: \"[::1]:25\", from: h@example.org, security: none, allow: [\"::1/128\"]}
";
    let channels = parse("channels.yaml", text).unwrap();
    let found: Vec<_> = channels
        .iter()
        .map(|channel| (&channel.url, channel.mail.as_ref().unwrap().security, &channel.to))
        .collect();
    let at = |url: &str| Source::Plain(url.to_owned());
    let wanted = [
        (&at("smtp://smtp.example.org:587"), Security::Starttls, &To::People),
        (
            &at("smtp://smtp.example.org:465"),
            Security::Tls,
            &To::Addresses(vec!["legal@example.org".to_owned()]),
        ),
        (&at("smtp://[::1]:25"), Security::None, &To::People),
    ];
    assert_eq!(found, wanted);
    assert_eq!(channels[0].secrets, [Source::File("p".to_owned())]);
}

#[test]
fn browsers_are_of_people_and_say_themselves_where_they_are() {
    let text = "channels: {browsers: {type: push, contact: \"mailto:ops@example.org\", personal: {anna: {quiet: off}}}}\n";
    let channels = parse("channels.yaml", text).unwrap();
    let [browsers] = &channels[..] else { panic!("one") };
    let contact = Source::Plain("mailto:ops@example.org".to_owned());
    assert_eq!((browsers.via, &browsers.url, &browsers.to), (Via::Push, &contact, &To::People));
    assert!(browsers.secrets.is_empty() && browsers.personal.contains_key("anna"));
}
