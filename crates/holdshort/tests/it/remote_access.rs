//! Tests of access from other machines: conditions for the start, and trusted request headers.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::home::{Home, Serving};
use serde_json::{Value, json};

use crate::raw::send_plain;

const PUBLIC: [&str; 2] = ["--public-url", "https://holdshort.example"];

/// Writes a people file with an admin into the home directory of the test.
pub(crate) fn people(home: &Home) -> String {
    let path = home.path().join("people.yaml");
    fs::write(&path, "people:\n  anna: {roles: [admin, operator]}\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Returns the `HOST:PORT` of the server on this machine.
fn at(serving: &Serving) -> String {
    let local = serving.started["local"].as_str().or(serving.started["listening"].as_str()).unwrap();
    local.strip_prefix("http://").unwrap().to_owned()
}

fn code(answer: &crate::raw::Answer) -> String {
    answer.json()["code"].as_str().unwrap().to_owned()
}

#[test]
fn other_machines_are_served_once_somebody_can_say_who_they_are() {
    let home = Home::new();
    let refused = |arguments: &[&str], parts: &[&str]| {
        let ran = home.run(&[&["serve"], arguments].concat());
        let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((ran.code, &*ran.out), (2, ""), "{arguments:?}: {ran:?}");
        for part in parts {
            assert!(said.contains(part), "{arguments:?}: {said}");
        }
    };
    let no_url = ["0.0.0.0:0 can be reached from other machines", "--public-url"];
    refused(&["--listen", "0.0.0.0:0"], &no_url);
    refused(&["--listen", "[::]:0"], &["can be reached from other machines"]);
    refused(
        &["--listen", "0.0.0.0:0", "--public-url", "http://holdshort.example"],
        &["must be `https`, because tokens and cookies would otherwise be sent in plain text"],
    );
    let nobody = ["other machines can reach this server", "--people", "[[identity.jwt]]", "keys create"];
    let outside = [&["--listen", "0.0.0.0:0"][..], &PUBLIC].concat();
    refused(&outside, &nobody);
    // A proxy on this machine also makes the server reachable from other machines.
    refused(&[&["--listen", "127.0.0.1:0"][..], &PUBLIC].concat(), &nobody);
    assert!(!home.data().exists(), "nothing was made");

    let local = home.serve(&[]);
    assert_eq!(local.stop().0, 0);
    refused(&outside, &nobody);

    let starts = || {
        let serving = home.serve_at("0.0.0.0:0", &PUBLIC);
        assert_eq!(serving.started["public_url"], "https://holdshort.example");
        assert_eq!(serving.stop().0, 0);
    };
    // One key satisfies the precondition until the key is revoked.
    let local = home.serve(&[]);
    assert_eq!(home.run(&["keys", "create", "bot"]).code, 0);
    let key = home.json(&["keys"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(local.stop().0, 0);
    starts();
    let local = home.serve(&[]);
    assert_eq!(home.run(&["keys", "revoke", &key]).code, 0);
    assert_eq!(local.stop().0, 0);
    refused(&outside, &nobody);
    // One person satisfies the precondition until the person is removed.
    let local = home.serve(&[]);
    assert_eq!(home.run(&["people", "set", "ben", "--role", "operator"]).code, 0);
    assert_eq!(local.stop().0, 0);
    starts();
    let local = home.serve(&[]);
    assert_eq!(home.run(&["people", "remove", "ben"]).code, 0);
    assert_eq!(local.stop().0, 0);
    refused(&outside, &nobody);
    // One token issuer satisfies the precondition. All settings are in the file.
    let config = home.data().join("holdshort.toml");
    fs::write(
        &config,
        "listen = \"0.0.0.0:0\"\npublic_url = \"https://holdshort.example\"\n\n[[identity.jwt]]\n\
         issuer = \"https://issuer.example\"\naudience = [\"holdshort\"]\nalgorithms = [\"ES256\"]\n\
         jwks_url = \"https://issuer.example/keys\"\nroles = { deciders = \"operator\" }\n",
    )
    .unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
    starts();
}

#[test]
fn host_and_origin_are_those_of_the_public_url_or_of_loopback() {
    let home = Home::new();
    let people = people(&home);
    let serving = home.serve_at("0.0.0.0:0", &[&PUBLIC[..], &["--people", &people]].concat());
    let at = at(&serving);
    let port = at.rsplit_once(':').unwrap().1;
    assert_eq!(serving.started["listening"], format!("http://0.0.0.0:{port}"));
    let host = |host: &str| send_plain(&at, "GET /v1/openapi.json", &[&format!("host: {host}")], "");
    for ours in [
        "holdshort.example",
        "HoldShort.Example:443",
        &format!("127.0.0.1:{port}"),
        &format!("localhost:{port}"),
        &format!("[::1]:{port}"),
    ] {
        assert_eq!(host(ours).status, 200, "{ours}");
    }
    for other in [
        &format!("holdshort.example:{port}"),
        &format!("0.0.0.0:{port}"),
        "evil.example",
        "holdshort.example.evil.example",
        "holdshort.example, evil.example",
        "holdshort.example:80",
        "127.0.0.1",
        "",
    ] {
        let answer = host(other);
        assert_eq!((answer.status, &*code(&answer)), (421, "wrong_host"), "{other}");
        assert_eq!(answer.json()["detail"], "address the server as https://holdshort.example");
    }
    let twice =
        send_plain(&at, "GET /v1/openapi.json", &["host: holdshort.example", "host: holdshort.example"], "");
    assert!(matches!(twice.status, 400 | 421), "{twice:?}");
    // No trusted proxy is configured here, so its headers are ignored.
    let forged =
        ["x-forwarded-host: holdshort.example", "forwarded: host=holdshort.example", "host: evil.example"];
    assert_eq!(send_plain(&at, "GET /v1/openapi.json", &forged, "").status, 421);
    let forged = ["x-forwarded-host: evil.example", "x-forwarded-proto: http", "host: holdshort.example"];
    assert_eq!(send_plain(&at, "GET /v1/openapi.json", &forged, "").status, 200);

    let token = format!("authorization: Bearer {}", serving.started["token"].as_str().unwrap());
    let change = |origin: &str| {
        let headers = ["host: holdshort.example", &token, &format!("origin: {origin}")];
        send_plain(&at, "POST /v1/login-links", &headers, "").status
    };
    for (origin, status) in [
        ("https://holdshort.example".to_owned(), 201),
        (format!("http://localhost:{port}"), 201),
        ("http://holdshort.example".to_owned(), 403),
        (format!("https://holdshort.example:{port}"), 403),
        ("https://evil.example".to_owned(), 403),
        (format!("http://0.0.0.0:{port}"), 403),
        ("null".to_owned(), 403),
    ] {
        assert_eq!(change(&origin), status, "{origin}");
    }
    // Commands on this machine work as before.
    assert_eq!(home.json(&["inbox"]), json!([]));
    let doctor = home.json(&["doctor"]);
    assert_eq!(doctor["server"]["public_url"], "https://holdshort.example");
    assert!(home.run(&["doctor"]).out.contains("others use https://holdshort.example"));
}

fn clients(log: &std::path::Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().filter(|line| line.contains("answered") && line.contains("/v1/openapi.json"));
    let named = lines.filter_map(|line| line.split("client=").nth(1)?.split(' ').next());
    named.map(str::to_owned).collect()
}

#[test]
fn the_word_of_a_proxy_counts_and_that_of_nobody_else() {
    let table: [(&[&str], &str, [u16; 4]); 2] = [
        (&["--proxy", "10.0.0.0/8", "--proxy", "127.0.0.1"], "203.0.113.9", [200, 421, 421, 200]),
        (&["--proxy", "10.0.0.0/8"], "127.0.0.1", [421, 200, 200, 421]),
    ];
    for (proxies, client, expected) in table {
        let home = Home::new();
        let (people, log) = (people(&home), home.path().join("log"));
        let arguments = [&PUBLIC[..], &["--people", &people], proxies].concat();
        let serving = home.serve_logging(&log, "127.0.0.1:0", &arguments);
        let at = at(&serving);
        let status = |headers: &[&str]| {
            let headers = [headers, &["x-forwarded-for: 198.51.100.1, 203.0.113.9, 10.1.2.3"][..]].concat();
            send_plain(&at, "GET /v1/openapi.json", &headers, "").status
        };
        let found = [
            status(&["host: backend", "x-forwarded-host: holdshort.example", "x-forwarded-proto: https"]),
            status(&["host: holdshort.example", "x-forwarded-host: evil.example"]),
            status(&["host: holdshort.example", "x-forwarded-proto: http"]),
            status(&["host: backend", "x-forwarded-host: evil.example, holdshort.example"]),
        ];
        assert_eq!(found, expected, "{proxies:?}");
        // A probe may use any host, but not another scheme than the server.
        let probe = ["host: 192.0.2.7", "x-forwarded-proto: http"];
        assert_eq!(send_plain(&at, "GET /healthz", &probe, "").status, expected[2], "{proxies:?}");
        assert_eq!(send_plain(&at, "GET /healthz", &probe[..1], "").status, 200, "{proxies:?}");
        assert_eq!(serving.stop().0, 0);
        assert_eq!(clients(&log), vec![client; 4], "{proxies:?}");
    }
    let home = Home::new();
    let ran = home.run(&["serve", "--proxy", "0.0.0.0/0"]);
    assert!(ran.code == 2 && ran.err.contains("covers every address"), "{ran:?}");
}

/// A client cannot evade its rate limit with a forged address, as the fourth request shows.
#[test]
fn clients_of_a_named_proxy_are_rated_apart_and_those_of_any_other_as_one() {
    const CAME: [&str; 5] =
        ["203.0.113.9", "203.0.113.9", "203.0.113.9", "198.51.100.1, 203.0.113.9", "203.0.113.10"];
    const SERVED: u16 = 403;
    const REFUSED: u16 = 429;
    let table = [
        ("127.0.0.1", [(SERVED, 1), (SERVED, 0), (REFUSED, 0), (REFUSED, 0), (SERVED, 1)]),
        ("10.0.0.0/8", [(SERVED, 1), (SERVED, 0), (REFUSED, 0), (REFUSED, 0), (REFUSED, 0)]),
    ];
    for (proxy, expected) in table {
        let home = Home::new();
        let people = people(&home);
        fs::create_dir_all(home.data()).unwrap();
        let config = home.data().join("holdshort.toml");
        fs::write(&config, format!("proxy = [\"{proxy}\"]\nsign_in_rate = 2\n")).unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        let serving = home.serve_at("127.0.0.1:0", &[&PUBLIC[..], &["--people", &people]].concat());
        let at = at(&serving);
        for (client, (status, left)) in CAME.into_iter().zip(expected) {
            let forwarded = format!("x-forwarded-for: {client}");
            let headers = [
                "host: holdshort.example",
                "origin: https://holdshort.example",
                "x-forwarded-proto: https",
                &forwarded,
            ];
            let answer = send_plain(&at, "POST /v1/login", &headers, &json!({"code": "guessed"}).to_string());
            let said = if status == SERVED { "login_code_spent" } else { "too_many_requests" };
            assert_eq!((answer.status, &*code(&answer)), (status, said), "{proxy} {client}: {answer:?}");
            assert_eq!(answer.header("ratelimit-policy"), Some("\"sign-in\";q=2;w=60"), "{proxy} {client}");
            let standing = answer.header("ratelimit").unwrap_or_default();
            assert!(
                standing.starts_with(&format!("\"sign-in\";r={left};t=")),
                "{proxy} {client}: {standing}"
            );
            assert_eq!(answer.header("retry-after").is_some(), status == REFUSED, "{proxy} {client}");
        }
    }
}

#[test]
fn links_name_the_public_url_and_cookies_are_for_tls_alone() {
    let home = Home::new();
    let people = people(&home);
    let serving = home.serve_at("127.0.0.1:0", &[&PUBLIC[..], &["--people", &people]].concat());
    let at = at(&serving);
    let port = at.rsplit_once(':').unwrap().1;
    let started = serving.started["login"].as_str().unwrap();
    assert!(started.starts_with("https://holdshort.example/login#"), "{started}");

    let link = home.run(&["login", "--as", "anna"]).out;
    let login_code = link.trim_end().strip_prefix("https://holdshort.example/login#").expect(&link);
    let ours = ["host: holdshort.example", "origin: https://holdshort.example"];
    let entered = send_plain(&at, "POST /v1/login", &ours, &json!({"code": login_code}).to_string());
    let cookie = entered.header("set-cookie").unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert!(pair.starts_with(&format!("__Host-holdshort_{port}=")), "{cookie}");
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000; Secure");
    let secret = format!("x-holdshort-secret: {}", entered.json()["secret"].as_str().unwrap());
    let who =
        |pair: &str| send_plain(&at, "GET /v1/login", &[ours[0], &secret, &format!("cookie: {pair}")], "");
    assert_eq!(who(pair).json()["person"], "anna");
    // Without the `__Host-` prefix, any host of the domain could have set the cookie.
    assert_eq!(who(pair.trim_start_matches("__Host-")).status, 401);

    let agent = format!("authorization: Bearer {}", serving.started["agent_token"].as_str().unwrap());
    let review = json!({"kind": "review", "title": "A text", "payload": {"text": "…"}}).to_string();
    let asked: Value = send_plain(&at, "POST /v1/interrupts", &[ours[0], &agent], &review).json();
    let ran = home.run(&["link", asked["id"].as_str().unwrap()]);
    let path = ran.out.trim_end().strip_prefix("https://holdshort.example/d/").expect(&ran.out);
    assert!(ran.err.contains("Anyone who opens the link acts"), "{ran:?}");
    let page = send_plain(&at, &format!("GET /d/{path}"), &[ours[0]], "");
    assert!(page.status == 200 && page.body.contains("A text"), "{page:?}");
}
