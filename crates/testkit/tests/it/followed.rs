//! The links of messages, with the real binary: a robot that follows them decides nothing, and a person comes through to a
//! decision. Of a mail that is a page of their own, of a card of Teams, which a whole conversation reads, a sign-in (contract E18).

use holdshort_testkit::mailbox::{Mailbox, Speaks};
use holdshort_testkit::server::TestServer;
use holdshort_testkit::sink::WebhookSink;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::mails::{self, mailed, number, page, person, to_legal};
use crate::push::{as_person, sign_in};
use crate::telling::ask;

/// Where somebody is told, and leads to.
#[derive(Clone, Copy, Debug)]
enum Told {
    Mail,
    Teams,
}

const ALL: [Told; 2] = [Told::Mail, Told::Teams];

/// A server that tells over both.
struct Stage {
    mailbox: Mailbox,
    teams: WebhookSink,
    server: TestServer,
}

/// What is asked, and where its messages lead.
struct Asked {
    id: String,
    run: String,
    mail: String,
    card: String,
}

impl Asked {
    fn path(&self, told: Told) -> &str {
        match told {
            Told::Mail => &self.mail,
            Told::Teams => &self.card,
        }
    }
}

impl Stage {
    async fn start() -> Self {
        let (mailbox, teams) = (Mailbox::start(Speaks::Starttls, false), WebhookSink::start().await);
        let card = "  cards: {type: teams, url_env: TEAMS_URL, allow: [127.0.0.0/8], events: [opened]}\n";
        let channels = mails::channel(&mailbox, ", events: [opened]") + card;
        let setup = mailed(&mailbox, "").channels(&channels).env("TEAMS_URL", &teams.url("/secret"));
        let server = setup.start().await;
        person(&server, "anna", json!({})).await;
        Self { mailbox, teams, server }
    }

    /// The nth question.
    async fn ask(&self, nth: usize) -> Asked {
        let Self { mailbox, teams, server } = self;
        let id = ask(server, to_legal(&json!({}))).await;
        let mail = mails::link(server, &mailbox.wait_for(nth).await[nth - 1]);
        let card = link_of(server, &teams.wait_for(nth).await[nth - 1].json());
        let run = server.interrupt(&id).await["run"].as_str().unwrap().to_owned();
        Asked { id, run, mail, card }
    }
}

/// The path that the only button of a card opens.
fn link_of(server: &TestServer, card: &Value) -> String {
    let actions = &card["attachments"][0]["content"]["actions"];
    let [action] = &actions.as_array().unwrap()[..] else { panic!("{card:#}") };
    assert_eq!(action["type"], "Action.OpenUrl", "a card calls nobody back");
    action["url"].as_str().unwrap().strip_prefix(server.base()).expect("a link to us").to_owned()
}

/// What scanners and previews send: nothing, the fields of a form, and what a client of ours would.
const BODIES: [(&str, &str); 5] = [
    ("text/plain", ""),
    ("application/x-www-form-urlencoded", ""),
    ("application/x-www-form-urlencoded", "option=approve"),
    ("application/x-www-form-urlencoded", "option=approve&text=yes&number=yes"),
    ("application/json", r#"{"option": "approve"}"#),
];

#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_a_link_and_sends_what_is_there_decides_nothing() {
    let stage = Stage::start().await;
    let asked = stage.ask(1).await;
    let server = &stage.server;
    let before = server.run(&asked.run).await["seq"].clone();
    let http = holdshort_http::client().no_proxy().build().unwrap();
    for told in ALL {
        let url = format!("{}{}", server.base(), asked.path(told));
        for method in [Method::GET, Method::HEAD, Method::GET] {
            let answer =
                http.request(method.clone(), &url).header("accept", "text/html").send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{told:?} {method}");
        }
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            for (kind, body) in BODIES {
                let request = http.request(method.clone(), &url).header(CONTENT_TYPE, kind).body(body);
                let status = request.send().await.unwrap().status();
                assert!(status.is_client_error(), "{told:?} {method} {kind} {body}: {status}");
            }
        }
        assert_eq!(server.interrupt(&asked.id).await["status"], "open", "{told:?}");
        assert_eq!(server.run(&asked.run).await["seq"], before, "{told:?}: nothing is written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_asked_comes_through_to_a_decision() {
    let stage = Stage::start().await;
    let server = &stage.server;
    for (nth, told) in (1..).zip(ALL) {
        let asked = stage.ask(nth).await;
        let (status, shown) = page(server, asked.path(told), None).await;
        assert_eq!(status, 200, "{told:?}: {shown}");
        match told {
            // The number of the page is the second step.
            Told::Mail => {
                assert!(shown.contains("Mrs Roe"), "{shown}");
                let form = [("option", "approve"), ("number", number(&shown))];
                let (status, decided) = page(server, &asked.mail, Some(&form)).await;
                assert_eq!(status, 200, "{decided}");
            }
            // Everybody in the conversation has this link: it shows nothing to whoever has not signed in.
            Told::Teams => {
                assert_eq!(asked.card, format!("/inbox/{}", asked.id));
                assert!(!shown.contains("DE02") && !shown.contains("Roe"), "{shown}");
                let path = format!("/v1/interrupts/{}", asked.id);
                assert_eq!(page(server, &path, None).await.0, 401);
                let anna = sign_in(server, "anna").await;
                let (status, seen) = as_person(server, &anna, Method::GET, &path, None).await;
                assert_eq!((status, &seen["title"]), (200, &json!("Send it to Mrs Roe?")), "{seen}");
                let decision = json!({"option": "approve", "version": seen["version"]});
                let path = format!("{path}/decisions");
                let (status, decided) = as_person(server, &anna, Method::POST, &path, Some(decision)).await;
                assert_eq!(status, 200, "{decided}");
            }
        }
        let resolution = &server.interrupt(&asked.id).await["resolution"];
        assert_eq!(
            (&resolution["outcome"], &resolution["by"]),
            (&json!("approved"), &json!(["anna"])),
            "{told:?}"
        );
    }
}
