//! Rules and grants on URLs: URLs that a pattern certainly matches, URLs that it may match, and texts that are not
//! URLs.

use holdshort_core::gate::{Matcher, Subject};
use holdshort_core::policy::Rule;
use holdshort_core::policy::RuleAction;
use holdshort_core::tool::Category;
use holdshort_core::web::{Pattern, Target};

use super::{file, one};

fn page(url: &str) -> Subject<'_> {
    Subject { tool: "web_fetch", category: Category::Web, path: None, url: Some(url), ..file("a") }
}

fn of_urls(action: RuleAction, pattern: &str) -> [Rule; 1] {
    [Rule { urls: vec![pattern.to_owned()], action, ..Rule::default() }]
}

/// Each table row has a pattern, a URL, and two flags: an `allow` rule with the pattern covers the URL, and a `forbid`
/// rule with the pattern matches it.
#[test]
fn patterns_and_near_misses() {
    let table = [
        ("docs.rs", "https://docs.rs/", true, true),
        ("docs.rs", "https://docs.rs/tokio/latest", true, true),
        ("docs.rs", "http://docs.rs/", true, true),
        ("docs.rs", "https://DOCS.RS/tokio", true, true),
        ("Docs.RS", "https://docs.rs/tokio", true, true),
        ("docs.rs.", "https://docs.rs/", true, true),
        ("docs.rs", "https://docs.rs./tokio", true, true),
        ("docs.rs", "https://docs.rs:443/tokio", true, true),
        ("docs.rs", "http://docs.rs:80/tokio", true, true),
        ("docs.rs", "https://docs.rs:80/tokio", false, true),
        ("docs.rs", "https://docs.rs:8443/tokio", false, true),
        ("docs.rs:8443", "https://docs.rs:8443/tokio", true, true),
        ("docs.rs:8443", "https://docs.rs/tokio", false, false),
        ("docs.rs:443", "https://docs.rs/tokio", true, true),
        ("https://docs.rs", "https://docs.rs/tokio", true, true),
        ("https://docs.rs", "http://docs.rs/tokio", false, false),
        // The allowed host in different spellings, and hosts that only look like it.
        ("docs.rs", "https://docs.rs.evil.example/tokio", false, false),
        ("docs.rs", "https://evildocs.rs/", false, false),
        ("docs.rs", "https://sub.docs.rs/", false, false),
        ("docs.rs", "https://evil.example/docs.rs/", false, false),
        ("docs.rs", "https://evil.example/?docs.rs", false, false),
        ("docs.rs", "https://evil.example/#docs.rs", false, false),
        ("docs.rs", "https://docs%2Ers/tokio", true, true),
        ("docs.rs", "https://docs。rs/tokio", true, true),
        // `*.` covers subdomains, but not the domain.
        ("*.example.org", "https://a.example.org/", true, true),
        ("*.example.org", "https://a.b.example.org/", true, true),
        ("*.example.org", "https://example.org/", false, false),
        ("*.example.org", "https://aexample.org/", false, false),
        ("*.example.org", "https://a.example.org.evil.example/", false, false),
        // Different spellings of one host.
        ("bücher.example", "https://xn--bcher-kva.example/", true, true),
        ("xn--bcher-kva.example", "https://BÜCHER.example/", true, true),
        ("127.0.0.1", "http://2130706433/", true, true),
        ("0x7f.1", "http://127.0.0.1/", true, true),
        ("[::1]", "http://[0:0:0:0:0:0:0:1]/", true, true),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/", false, false),
        // A pattern with a path must match the whole path.
        ("docs.rs/*", "https://docs.rs/tokio", true, true),
        ("docs.rs/*", "https://docs.rs/", true, true),
        ("docs.rs/*", "https://docs.rs/tokio/latest", false, false),
        ("docs.rs/**", "https://docs.rs/tokio/latest", true, true),
        ("docs.rs/", "https://docs.rs/", true, true),
        ("docs.rs/", "https://docs.rs", true, true),
        ("docs.rs/", "https://docs.rs/a", false, false),
        ("example.org/api/**", "https://example.org/api/v1/users", true, true),
        ("example.org/api/**", "https://example.org/api/", true, true),
        ("example.org/api/**", "https://example.org/api", false, true),
        ("example.org/api/**", "https://example.org/apis/v1", false, false),
        ("example.org/api/**", "https://example.org/x/api/v1", false, false),
        ("example.org/api/**", "https://example.org/API/v1", false, true),
        ("example.org/a*z", "https://example.org/abcz", true, true),
        ("example.org/a*z", "https://example.org/ab/z", false, false),
        ("example.org/a**z", "https://example.org/ab/z", true, true),
        // A pattern covers any query. The fragment is not sent.
        ("example.org/api/**", "https://example.org/api/v1?q=/../x", true, true),
        ("example.org/api/**", "https://example.org/api/v1#/../x", true, true),
        // Dot segments are resolved before the comparison, as in the request.
        ("example.org/api/**", "https://example.org/api/../secret", false, false),
        ("example.org/api/**", "https://example.org/api/%2e%2e/secret", false, false),
        ("example.org/secret", "https://example.org/api/../secret", true, true),
        ("example.org/api/**", "https://example.org/x/../api/v1", true, true),
        // Servers interpret these paths in different ways, so the paths are not allowed, and may be forbidden.
        ("example.org/api/**", "https://example.org/api/..%2fsecret", false, true),
        ("example.org/secret", "https://example.org/api/..%2fsecret", false, true),
        ("example.org/secret", "https://example.org/api/..%5csecret", false, true),
        ("example.org/secret", "https://example.org/api/%252e%252e/secret", false, true),
        ("example.org/secret", "https://example.org/api/..;/secret", false, true),
        ("example.org/secret", "https://example.org//secret", false, true),
        ("example.org/secret", "https://example.org/%00/secret", false, true),
        ("example.org/secret", "https://example.org/%ff", false, true),
        ("example.org/secret", "https://example.org/%zz", false, true),
        ("example.org/**", "https://example.org//secret", true, true),
        // An encoded letter equals the plain letter.
        ("example.org/café", "https://example.org/caf%C3%A9", true, true),
        ("example.org/secret", "https://example.org/%73ecret", true, true),
        // An invalid URL is never allowed, and every rule that forbids matches it.
        ("docs.rs", "https://docs.rs@evil.example/", false, true),
        ("docs.rs", "https://user:word@docs.rs/", false, true),
        ("docs.rs", "https://@docs.rs/", false, true),
        ("docs.rs", "https:\\\\docs.rs\\x", false, true),
        ("docs.rs", "https://docs.rs/a\tb", false, true),
        ("docs.rs", " https://docs.rs/", false, true),
        ("docs.rs", "ftp://docs.rs/", false, true),
        ("docs.rs", "file:///etc/passwd", false, true),
        ("docs.rs", "docs.rs", false, true),
        ("docs.rs", "https://docs..rs/", false, true),
        ("docs.rs", "https://docs.rs:0/", false, true),
    ];
    for (pattern, url, covers, may_cover) in table {
        Pattern::parse(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
        let allowed = one(&page(url), &of_urls(RuleAction::Allow, pattern)).starts_with("allow");
        let forbidden = one(&page(url), &of_urls(RuleAction::Forbid, pattern)).starts_with("forbid");
        assert_eq!((allowed, forbidden), (covers, may_cover), "{pattern} and {url}");
    }
}

#[test]
fn patterns_that_would_never_match_are_refused() {
    for pattern in [
        "",
        "*",
        "*.",
        "*.*.org",
        "a*.example.org",
        "https://*/x",
        "ftp://docs.rs",
        "HTTPS://docs.rs",
        "docs.rs/a?b",
        "docs.rs/#a",
        "user@docs.rs",
        "docs.rs:0",
        "docs.rs:99999",
        "docs.rs:x",
        "docs..rs",
        "docs.rs/../x",
        "docs.rs/./x",
        "docs.rs//x",
        "docs.rs/a b",
        "docs.rs/a%20b",
        "docs.rs\\x",
        "*.127.0.0.1",
        "/etc",
        "docs.rs/a;b",
    ] {
        assert!(Pattern::parse(pattern).is_err(), "{pattern}");
    }
}

/// A rule on URLs allows only tools that fetch URLs, and no other tool with an allowed URL as an argument.
#[test]
fn what_is_allowed_is_a_page_and_nothing_else() {
    let posting = Subject { tool: "post_form", category: Category::CodeExec, ..page("https://docs.rs/") };
    let by = |action| one(&posting, &of_urls(action, "docs.rs"));
    assert!(by(RuleAction::Allow).starts_with("ask"));
    assert!(by(RuleAction::Forbid).starts_with("forbid"));
    assert!(one(&file("a"), &of_urls(RuleAction::Allow, "docs.rs")).starts_with("ask"));
    assert!(one(&file("a"), &of_urls(RuleAction::Forbid, "docs.rs")).starts_with("ask"));
    // Pattern that is no longer valid, as an older journal may contain it.
    assert!(one(&page("https://docs.rs/"), &of_urls(RuleAction::Forbid, "*")).starts_with("forbid"));
    assert!(one(&page("https://docs.rs/"), &of_urls(RuleAction::Allow, "*")).starts_with("ask"));
}

#[test]
fn a_grant_is_for_one_origin() {
    let grant = Matcher::for_call(&page("https://docs.rs/tokio?a=1")).expect("it can be remembered");
    assert_eq!(
        grant.describe(),
        "every page that `web_fetch` gets from `https://docs.rs`, in this workspace"
    );
    let table = [
        ("https://docs.rs/other", true),
        ("https://DOCS.rs./other#x", true),
        ("http://docs.rs/other", false),
        ("https://docs.rs:8443/other", false),
        ("https://sub.docs.rs/", false),
        ("https://docs.rs@evil.example/", false),
    ];
    for (url, covered) in table {
        assert_eq!(grant.covers(&page(url)), covered, "{url}");
    }
    assert!(!grant.covers(&Subject { url: None, ..page("") }));
    assert_eq!(Matcher::for_call(&page("https://docs.rs@evil.example/")), None);
    let everything = Matcher { origin: None, ..grant };
    assert!(!everything.covers(&page("https://docs.rs/other")), "no grant is for every URL");
}

#[test]
fn redirects_lead_home_or_away() {
    let table = [
        ("https://a.example/x", "/y", true),
        ("https://a.example/x", "https://a.example/z", true),
        ("https://a.example/x", "//b.example/", false),
        ("https://a.example/x", "http://a.example/x", false),
        ("http://a.example/x", "https://a.example/x", true),
        ("http://a.example:8080/x", "https://a.example/x", false),
        ("https://a.example/x", "https://a.example:8443/x", false),
    ];
    for (from, location, home) in table {
        let from = Target::parse(from).unwrap();
        assert_eq!(from.leads_home(&from.join(location).unwrap()), home, "{from} → {location}");
    }
    let from = Target::parse("https://a.example/x").unwrap();
    for location in ["javascript:alert(1)", "ftp://a.example/", "https://u:p@a.example/", "http://["] {
        assert!(from.join(location).is_err(), "{location}");
    }
}
