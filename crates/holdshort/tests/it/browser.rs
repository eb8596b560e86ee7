//! Tests of links for a browser, used next to a terminal.

use holdshort_testkit::home::Home;
use holdshort_testkit::terminal::{PROMPT, Terminal};
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

struct Browser {
    runtime: Runtime,
    http: reqwest::Client,
    base: String,
    cookie: String,
    secret: String,
}

impl Browser {
    fn open(link: &str) -> Self {
        let (base, code) = link.split_once("/login#").unwrap();
        let runtime = Runtime::new().unwrap();
        let http = holdshort_http::plain().build().unwrap();
        let (cookie, login) = runtime.block_on(async {
            let request = http.post(format!("{base}/v1/login")).json(&json!({ "code": code }));
            let response = request.send().await.unwrap().error_for_status().unwrap();
            let cookie =
                response.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
            (cookie, response.json::<Value>().await.unwrap())
        });
        let secret = login["secret"].as_str().unwrap().to_owned();
        Self { runtime, http, base: base.to_owned(), cookie, secret }
    }

    fn decide(&self, interrupt: &Value, decision: &Value) -> Value {
        let id = interrupt["id"].as_str().unwrap();
        let request = self
            .http
            .post(format!("{}/v1/interrupts/{id}/decisions", self.base))
            .header(COOKIE, &self.cookie)
            .header("x-holdshort-secret", &self.secret)
            .json(decision);
        self.runtime.block_on(async {
            request.send().await.unwrap().error_for_status().unwrap().json().await.unwrap()
        })
    }
}

fn collapse_whitespace(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_decided_in_the_browser_is_told_at_the_terminal() {
    let home = Home::new();
    let data = home.data();
    let mut terminal = Terminal::open(&home, &["demo", "--data", data.to_str().unwrap()], &[]);
    let shown = terminal.expect(PROMPT);
    let link = shown.split_whitespace().find(|word| word.contains("/login#")).expect(&shown);
    let browser = Browser::open(link);
    let question = home.open_interrupt();
    browser.decide(&question, &json!({"option": "answer", "text": "the period that ends"}));
    terminal.expect("Decided elsewhere:");
    let told = collapse_whitespace(&terminal.expect("Holding short: plan"));
    assert!(told.contains("answered “the period that ends”, by operator (web)"), "{told}");
    terminal.expect(PROMPT);
    browser.decide(&home.open_interrupt(), &json!({"option": "approve"}));
    let told = collapse_whitespace(&terminal.expect("Holding short: tool call"));
    assert!(told.contains("approved, by operator (web)"), "{told}");
    terminal.expect(PROMPT);
    terminal.type_line("d");
    assert_eq!(terminal.end().0, 4);
}

#[test]
fn links_are_printed_to_be_copied() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let address = serving.started["listening"].as_str().unwrap();
    // The login link that is printed at the start, and a newly created login link.
    Browser::open(serving.started["login"].as_str().unwrap());
    let ran = home.run(&["login"]);
    assert!(ran.code == 0 && ran.err.contains("once") && ran.out.lines().count() == 1, "{ran:?}");
    let browser = Browser::open(ran.out.trim());
    assert!(home.json(&["login"])["expires_at"].is_string());

    let ask = json!({"kind": "question", "title": "Which way?"});
    let asked = browser.runtime.block_on(async {
        let request = browser.http.post(format!("{address}/v1/interrupts")).json(&ask);
        let request = request.bearer_auth(serving.started["agent_token"].as_str().unwrap());
        request.send().await.unwrap().json::<Value>().await.unwrap()
    });
    let id = asked["id"].as_str().unwrap();
    let shown = home.run(&["show", id]);
    assert!(shown.out.contains(&format!("{address}/inbox/{id}")), "{shown:?}");
    let ran = home.run(&["link", id, "--expires-in", "2h"]);
    assert!(ran.code == 0 && ran.out.starts_with(&format!("{address}/d/")), "{ran:?}");
    assert!(ran.err.contains("acts on this interrupt as you"), "{ran:?}");
    assert_eq!(home.run(&["link", id, "--expires-in", "soon"]).code, 2);
    let ran = home.run(&["link", id, "--expires-in", "31d"]);
    assert!(ran.code == 2 && ran.err.contains("/expires_in_ms"), "{ran:?}");
    browser.decide(&asked, &json!({"option": "skip"}));
    let ran = home.run(&["link", id]);
    assert!(ran.code == 1 && ran.err.contains("answered with `skip` by operator"), "{ran:?}");
}
