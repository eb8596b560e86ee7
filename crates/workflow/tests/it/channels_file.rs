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

/// The name of the channel that sends callbacks to agents is reserved.
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
        ("{type: slack, url_file: x, secret_env: Y}", "Y}", "the URL is the only secret of a slack channel"),
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
        ("{type: ntfy, url: https://ntfy.sh/t, events: []}", "[]", "is empty; leave the key out"),
        (
            "{type: ntfy, url: https://ntfy.sh/t, events: [expired, checkpoint]}",
            "[expired",
            "`checkpoint` is for channels of the types `webhook` and `email`",
        ),
        (
            "{type: email, server: smtp.example.org, from: a@example.org, events: [checkpoint]}",
            "[checkpoint",
            "`checkpoint` goes to fixed addresses: name them in `to`",
        ),
        ("{type: ntfy, url: https://ntfy.sh/t, digest: 2d}", "2d", "must be from `1s` to `1d`"),
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
            "covers the whole week",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, quiet: {from: \"22:00\", to: \"07:00\", zone: Berlin}}",
            "Berlin",
            "unknown time zone `Berlin`",
        ),
        (
            "{type: webhook, url: https://a.example, secret_env: S, digest: 1h}",
            "1h",
            "a program receives every notification immediately: leave the key out",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, personal: {anna: {digest: off}}}",
            "{anna",
            "this channel does not notify people individually: leave the key out",
        ),
        ("{type: ntfy, url: https://ntfy.sh/t, attempts: 13}", "13", "expected a whole number from 1 to 12"),
        ("{type: ntfy, url: https://ntfy.sh/t, timeout: 1m}", "1m", "must be from 1 to 30000 ms"),
        ("{type: ntfy, url: https://ntfy.sh/t, allow: [10.0.0.1/8]}", "10.0", "`10.0.0.1/8` is not a range"),
        (
            "{type: ntfy, url: https://ntfy.sh/t, server: x}",
            "x}",
            "`server` is for channels of the type `email`",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, url: x}",
            "x}",
            "an email channel has no `url`",
        ),
        ("{type: email, server: \"a.example:x\", from: h@b.example}", "\"a.", "is not a server such as"),
        ("{type: email, from: h@b.example}", "{", "the key `server` is missing"),
        ("{type: email, server: a.example, from: nobody}", "nobody", "is not an address such as"),
        (
            "{type: email, server: a.example, from: h@b.example, user: h}",
            "{",
            "`user` also needs one of `password_file`, `password_env`",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, password_env: P}",
            "P}",
            "`user` is missing: it names the account of this password",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, security: none}",
            "none",
            "without TLS the server must be in a network that `allow` names",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, to: [\"l@b.example\\r\"]}",
            "\"l@",
            "`l@b.example\r` is not an address",
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
            "a slack channel with buttons has no `url_env`",
        ),
        ("{type: push}", "{", "the key `contact` is missing"),
        ("{type: push, contact: ops}", "ops}", "is neither `mailto:ops@example.org` nor an `https:` URL"),
        (
            "{type: push, contact: \"mailto:ops@b.example\", url: https://a.example}",
            "https",
            "a push channel has no `url`",
        ),
        (
            "{type: ntfy, url: https://ntfy.sh/t, contact: \"mailto:ops@b.example\"}",
            "\"mailto",
            "`contact` is for channels of the type `push`",
        ),
        ("{type: teams, url_env: U, channel: C1}", "C1", "`channel` is for channels of the type `slack`"),
        (
            "{type: ntfy, url: https://ntfy.sh/t, headers: {X-A: b}}",
            "{X-A",
            "`headers` is for channels of the type `webhook`",
        ),
        (
            "{type: teams, url_env: U, header_files: {X-A: b}}",
            "{X-A",
            "`header_files` is for channels of the type `webhook`",
        ),
        (
            "{type: email, server: a.example, from: h@b.example, headers: {X-A: b}}",
            "{X-A",
            "`headers` is for channels of the type `webhook`",
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
            "`{name}` would contain a secret, which must not be in this file: name a file in `header_files`"
        )
    };
    for (key, name, value, wanted) in [
        ("headers", "Cookie", "x", secret("Cookie")),
        ("headers", "Authorization", "x", secret("Authorization")),
        ("headers", "Proxy-Authorization", "x", secret("Proxy-Authorization")),
        ("headers", "X-Api-Key", "x", secret("X-Api-Key")),
        ("headers", "x_auth_token", "x", secret("x_auth_token")),
        ("headers", "ApiKey", "x", secret("ApiKey")),
        ("headers", "webhook-id", "x", "`webhook-id` is set by Holdshort".to_owned()),
        ("headers", "X-Webhook-Signature", "x", "`X-Webhook-Signature` is set by Holdshort".to_owned()),
        ("headers", "X-Event-Type", "x", "`X-Event-Type` is set by Holdshort".to_owned()),
        ("headers", "User-Agent", "x", "`User-Agent` is set by Holdshort".to_owned()),
        ("header_files", "Host", "x", "`Host` is set by Holdshort".to_owned()),
        ("header_files", "Content-Type", "x", "`Content-Type` is set by Holdshort".to_owned()),
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
    assert!(problems(twice)[0].ends_with("`x-a` is named twice"));
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
