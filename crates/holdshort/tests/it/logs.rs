//! Tests that an unwritable log loses only its lines, and the journal is still written. Each log line of a request
//! contains the request id, and no secret.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use holdshort_testkit::home::{CommandOutput, Home};
use holdshort_testkit::server::real;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::raw::{Answer, send_plain};

/// Starts a server that writes all log levels to `log` as its standard error.
fn serve(home: &Home, log: Stdio) -> Child {
    let mut child = home
        .command(real())
        .args(["serve", "--listen", "127.0.0.1:0", "--json"])
        .env("HOLDSHORT_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let _started: Value = serde_json::from_str(&line).expect("it starts");
    child
}

fn goes_on(home: &Home, mut child: Child) {
    for _ in 0..20 {
        assert_eq!(home.json(&["freeze", "--reason", "a look"])["frozen"], true);
        assert_eq!(home.json(&["unfreeze"])["frozen"], false);
    }
    let report = home.json(&["audit", "verify"]);
    assert_eq!((&report["intact"], report["events"].as_u64()), (&Value::Bool(true), Some(40)));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_on_a_full_disk() {
    let home = Home::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = serve(&home, full.into());
    goes_on(&home, child);
}

#[test]
fn a_log_whose_reader_has_gone() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = serve(&home, writer.into());
    goes_on(&home, child);
}

/// A server still works when nobody reads the pipe of its log. The pipe is full long before the last request.
#[test]
fn a_log_that_nobody_reads() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let child = serve(&home, writer.into());
    goes_on(&home, child);
    drop(reader);
}

/// Starts a server that writes its log as JSON to a file.
fn serve_json(home: &Home, log: &Path, filter: &str) -> (Child, Value) {
    let mut child = home
        .command(real())
        .args(["serve", "--listen", "127.0.0.1:0", "--json", "--log-format", "json"])
        .env("HOLDSHORT_LOG", filter)
        .stdout(Stdio::piped())
        .stderr(File::create(log).unwrap())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, serde_json::from_str(&line).expect("it starts"))
}

fn stop(mut child: Child) {
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

struct Client {
    at: String,
    host: String,
    token: String,
}

impl Client {
    fn from_started(started: &Value) -> Self {
        let text = |name: &str| started[name].as_str().unwrap().to_owned();
        let at = text("listening").trim_start_matches("http://").to_owned();
        Self { host: format!("host: {at}"), at, token: format!("authorization: Bearer {}", text("token")) }
    }

    fn send(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        send_plain(&self.at, line, &[&[&*self.host, &*self.token], headers].concat(), body)
    }
}

#[test]
fn a_request_id_comes_back_and_stands_in_the_log() {
    let home = Home::new();
    let log = home.path().join("log");
    let (child, started) = serve_json(&home, &log, "warn,access=debug");
    let client = Client::from_started(&started);

    let mut made = Vec::new();
    for (given, expected) in [
        (Some("proxy-7.a_Z"), Some("proxy-7.a_Z")),
        (Some("two words"), None),
        (Some("\"quoted\""), None),
        (None, None),
    ] {
        let header = given.map(|id| format!("x-request-id: {id}"));
        let answer = client.send("GET /v1/info", &header.iter().map(|it| &**it).collect::<Vec<_>>(), "");
        let id = answer.header("x-request-id").unwrap_or_else(|| panic!("{answer:?}")).to_owned();
        assert_eq!(answer.status, 200);
        match expected {
            Some(expected) => assert_eq!(id, expected),
            None => assert!(given.is_none_or(|given| !id.contains(given)) && !id.contains(' '), "{id}"),
        }
        made.push(id);
    }
    // The request id is also returned without authentication, for an unknown path, and for a wrong host name.
    for (line, status) in [("GET /healthz", 200), ("GET /nothing", 404), ("POST /v1/runs", 422)] {
        let answer = client.send(line, &["x-request-id: the-same"], "{}");
        assert_eq!((answer.status, answer.header("x-request-id")), (status, Some("the-same")), "{answer:?}");
        // The caller can fix this error without the log, so the response has no request id.
        assert!(!answer.body.contains("request_id"), "{answer:?}");
    }
    let elsewhere = ["host: evil.example", "x-request-id: from-elsewhere"];
    let answer = send_plain(&client.at, "GET /v1/openapi.json", &elsewhere, "");
    assert_eq!((answer.status, answer.header("x-request-id")), (421, Some("from-elsewhere")));
    stop(child);

    let lines = lines(&log);
    for id in made.iter().map(|id| &**id).chain(["the-same", "from-elsewhere"]) {
        let of_request = lines.iter().find(|line| line["span"]["request_id"] == id).expect(id);
        assert_eq!((&of_request["message"], &of_request["target"]), (&json!("answered"), &json!("access")));
        assert!(of_request["status"].is_u64() && of_request["timestamp"].is_string(), "{of_request}");
    }
}

/// The request id in an error response leads to the reason in the log.
#[test]
fn a_failure_names_its_request() {
    let home = Home::new();
    let log = home.path().join("log");
    let (child, started) = serve_json(&home, &log, "warn");
    let asked = Client::from_started(&started).send(
        "POST /v1/interrupts",
        &[],
        r#"{"kind": "question", "title": "Which?"}"#,
    );
    let run = asked.json()["run"].as_str().unwrap().to_owned();
    stop(child);
    assert!(lines(&log).is_empty(), "nothing is wrong, so nothing is logged");

    let journal = rusqlite::Connection::open(home.data().join("holdshort.db")).unwrap();
    let cut = "UPDATE appends SET heads = substr(heads, 1, length(heads) - 1) WHERE instr(heads, ?1) > 0";
    assert_eq!(journal.execute(cut, [format!("\"stream\":\"{run}\"").into_bytes()]).unwrap(), 1);
    drop(journal);

    let (child, started) = serve_json(&home, &log, "warn");
    let line = format!("GET /v1/runs/{run}/events");
    let answer = Client::from_started(&started).send(&line, &["x-request-id: looked-1"], "");
    let problem = answer.json();
    assert_eq!((answer.status, answer.header("x-request-id")), (500, Some("looked-1")), "{answer:?}");
    assert_eq!((&problem["code"], &problem["request_id"]), (&json!("journal_damaged"), &json!("looked-1")));
    let ran = home.run(&["events", &run]);
    assert!(ran.err.contains("[journal_damaged, request "), "{ran:?}");
    stop(child);

    let lines = lines(&log);
    let of_request: Vec<&Value> =
        lines.iter().filter(|line| line["span"]["request_id"] == "looked-1").collect();
    let failed = of_request.iter().find(|line| line["message"] == "a request failed").expect("it is told");
    assert_eq!(
        (&failed["level"], &failed["status"], &failed["code"], &failed["route"]),
        (&json!("ERROR"), &json!(500), &json!("journal_damaged"), &json!("/v1/runs/{id}/events"))
    );
    assert!(of_request.len() >= 2, "why it failed has the id, too: {lines:#?}");
}

/// Even with all log levels enabled, no line contains a credential or a person's text.
#[test]
fn no_line_holds_a_secret_or_what_somebody_said() {
    const SAID: &str = "the-runway-is-27-left";
    let home = Home::new();
    let log = home.path().join("log");
    let (child, started) = serve_json(&home, &log, "trace");
    let client = Client::from_started(&started);
    let text = |name: &str| started[name].as_str().unwrap().to_owned();
    let (token, agent, login) = (text("token"), text("agent_token"), text("login"));
    let code = login.split_once('#').unwrap().1.to_owned();
    let planted = "planted-0123456789abcdef0123456789abcdef";

    let body = format!(
        r#"{{"kind": "question", "title": "{SAID}", "message": "{SAID}", "payload": {{"a": "{SAID}"}}}}"#
    );
    let asked = client.send("POST /v1/interrupts", &[], &body).json();
    let decide = format!("POST /v1/interrupts/{}/decisions", asked["id"].as_str().unwrap());
    let decided = client.send(&decide, &[], &format!(r#"{{"option": "answer", "text": "{SAID}"}}"#));
    assert_eq!(decided.status, 200, "{decided:?}");
    let wrong = |headers: &[&str], line: &str, body: &str| {
        send_plain(&client.at, line, &[&[&*client.host], headers].concat(), body).status
    };
    assert_eq!(wrong(&[&format!("authorization: Bearer {planted}")], "GET /v1/runs", ""), 401);
    assert_eq!(wrong(&[], &format!("GET /v1/runs?token={planted}&q={SAID}"), ""), 401);
    assert_eq!(wrong(&[&format!("x-internal-auth: {planted}")], "GET /edges/mars/api/sessions", ""), 401);
    wrong(&[&format!("cookie: holdshort={planted}")], "GET /v1/login", "");
    wrong(&[], &format!("GET /login/oidc/callback?code={planted}&state={planted}"), "");
    wrong(&[], &format!("GET /d/{planted}"), "");
    wrong(&[], "POST /v1/login", &format!(r#"{{"code": "{planted}"}}"#));
    wrong(&[], "POST /v1/login", &format!(r#"{{"code": "{code}"}}"#));
    let key = client.send("POST /v1/keys", &[], r#"{"name": "robot", "role": "agent"}"#).json();
    let secret = key["secret"].as_str().unwrap_or_else(|| panic!("{key}")).to_owned();
    assert_eq!(wrong(&[&format!("authorization: Bearer {secret}")], "GET /v1/runs", ""), 200);
    stop(child);

    let logged = fs::read_to_string(&log).unwrap();
    assert!(lines(&log).len() > 10, "much is logged: {logged}");
    for word in [&*token, &agent, &code, planted, &secret, SAID] {
        assert!(!logged.contains(word), "{word} in {logged}");
    }
}

#[test]
fn a_form_that_is_not_known_is_refused() {
    let home = Home::new();
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let ran = CommandOutput::from_output(
        home.command(real()).args(serve).env("HOLDSHORT_LOG_FORMAT", "xml").output().unwrap(),
    );
    assert_eq!((ran.code, ran.err.contains("must be `text` or `json`")), (2, true), "{ran:?}");
    let ran = home.run(&[&serve[..], &["--log-format", "xml"]].concat());
    assert_eq!((ran.code, ran.err.contains("text, json")), (2, true), "{ran:?}");
}
