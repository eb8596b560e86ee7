//! Links in messages, with the real binary. A robot that follows a link decides nothing, and a person can decide with
//! forms and without scripts. The link in a mail opens the page of the mail's recipient. A Teams card has many readers,
//! so its link first leads to the sign-in (contract E18).

use holdshort_testkit::mailbox::{Mailbox, SmtpSecurity};
use holdshort_testkit::provider::{Page, Provider, Visitor};
use holdshort_testkit::server::TestServer;
use holdshort_testkit::sink::WebhookSink;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::mails::{self, mailed, number, page, person, to_legal};
use crate::notifications::ask;
use crate::push::{as_person, sign_in};
use crate::sign_in::started;

/// Channel that sent a notification with a link to an interrupt.
#[derive(Clone, Copy, Debug)]
enum NotificationChannel {
    Mail,
    Teams,
}

const ALL: [NotificationChannel; 2] = [NotificationChannel::Mail, NotificationChannel::Teams];

/// A server with a mail channel and a Teams channel, to which people sign in through a provider.
struct Stage {
    mailbox: Mailbox,
    teams: WebhookSink,
    _provider: Provider,
    server: TestServer,
}

struct NotifiedInterrupt {
    id: String,
    run: String,
    mail: String,
    card: String,
}

impl NotifiedInterrupt {
    fn path(&self, told: NotificationChannel) -> &str {
        match told {
            NotificationChannel::Mail => &self.mail,
            NotificationChannel::Teams => &self.card,
        }
    }
}

impl Stage {
    async fn start() -> Self {
        let (mailbox, teams) = (Mailbox::start(SmtpSecurity::Starttls, false), WebhookSink::start().await);
        let channels = mails::channel(&mailbox, ", events: [opened]") + CARDS;
        let setup = mailed(&mailbox, "").channels(&channels).env("TEAMS_URL", &teams.url("/secret"));
        let claimed = json!({"roles": ["deciders"]});
        let provider = Provider::start(&json!({
            "anna": claimed, "cleo": claimed, "olaf": claimed, "otto": claimed,
        }));
        let server = started(setup, &provider).await;
        person(&server, "anna", json!({})).await;
        Self { mailbox, teams, _provider: provider, server }
    }

    /// Opens the interrupt with this number at the server.
    async fn ask(&self, nth: usize) -> NotifiedInterrupt {
        let Self { mailbox, teams, server, .. } = self;
        let id = ask(server, to_legal(&json!({}))).await;
        let mail = mails::link(server, &mailbox.wait_for(nth).await[nth - 1]);
        let card = link_of(server, &teams.wait_for(nth).await[nth - 1].json());
        let run = server.interrupt(&id).await["run"].as_str().unwrap().to_owned();
        NotifiedInterrupt { id, run, mail, card }
    }
}

const CARDS: &str = "  cards: {type: teams, url_env: TEAMS_URL, allow: [127.0.0.0/8], events: [opened]}\n";

/// Returns the path behind the first button of a Teams card about an interrupt.
fn link_of(server: &TestServer, card: &Value) -> String {
    let actions = card["attachments"][0]["content"]["actions"].as_array().unwrap();
    assert!(actions.iter().all(|action| action["type"] == "Action.OpenUrl"), "a card calls nobody back");
    actions[0]["url"].as_str().unwrap().strip_prefix(server.base()).expect("a link to us").to_owned()
}

/// Follows the link of a Teams card and signs in. Returns the page after the sign-in.
async fn through(server: &TestServer, visitor: &mut Visitor, card: &str) -> Page {
    let page = visitor.get(&format!("{}{card}", server.base())).await;
    assert_eq!((page.status, &*page.text), (303, ""), "it shows nothing to whoever has not signed in");
    let address = page.location.expect("an address").to_string();
    let callback = format!("{}/login/oidc/callback", server.base());
    let back = visitor.signs_in(&address, &callback).await.expect("they are sent back");
    visitor.get(&back).await
}

/// Returns the value of the field `version` in the form of a decision page.
fn version(page: &str) -> &str {
    let field = page.split("name=\"version\" value=\"").nth(1).unwrap_or_else(|| panic!("{page}"));
    field.split('"').next().unwrap()
}

/// Signs a person in through the link of a Teams card. Returns the path of the page that the person reaches.
async fn let_onto(server: &TestServer, person: &str, card: &str) -> String {
    let page = through(server, &mut Visitor::new(person), card).await;
    let to = page.location.unwrap_or_else(|| panic!("{person}: {}", page.text)).to_string();
    let path = to.strip_prefix(server.base()).expect("a page of ours").to_owned();
    assert!(path.starts_with("/d/"), "{path}");
    path
}

/// Bodies that link scanners and previews may send: an empty body, the fields of the form, or a client's JSON.
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
    let http = holdshort_http::plain().no_proxy().redirect(Policy::none()).build().unwrap();
    for told in ALL {
        let url = format!("{}{}", server.base(), asked.path(told));
        for method in [Method::GET, Method::HEAD, Method::GET] {
            let answer =
                http.request(method.clone(), &url).header("accept", "text/html").send().await.unwrap();
            let expected = match told {
                NotificationChannel::Mail => StatusCode::OK,
                NotificationChannel::Teams => StatusCode::SEE_OTHER,
            };
            assert_eq!(answer.status(), expected, "{told:?} {method}");
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
        let (at, via) = match told {
            NotificationChannel::Mail => (asked.mail.clone(), "email"),
            NotificationChannel::Teams => {
                assert_eq!(asked.card, format!("/decide/{}", asked.id));
                (let_onto(server, "anna", &asked.card).await, "web")
            }
        };
        let (status, shown) = page(server, &at, None).await;
        assert!(status == 200 && shown.contains("Mrs Roe"), "{told:?}: {status} {shown}");
        assert_eq!(server.interrupt(&asked.id).await["status"], "open", "to be let in decides nothing");
        // The second step of a decision: the number on the page, or the sign-in that preceded the page.
        let version = ("version", version(&shown));
        let form = match told {
            NotificationChannel::Mail => vec![("option", "approve"), version, ("number", number(&shown))],
            NotificationChannel::Teams => vec![("option", "approve"), version],
        };
        let (status, decided) = page(server, &at, Some(&form)).await;
        assert_eq!(status, 200, "{told:?}: {decided}");
        let resolution = &server.interrupt(&asked.id).await["resolution"];
        assert_eq!(
            (&resolution["outcome"], &resolution["by"]),
            (&json!("approved"), &json!(["anna"])),
            "{told:?}"
        );
        let events = server.get(&format!("/v1/runs/{}/events", asked.run)).await.ok();
        let mut events = events["items"].as_array().unwrap().iter();
        // Events record that the person saw the content, with the digest of that content.
        for kind in ["interrupt_viewed", "decision_made"] {
            let event = events.find(|event| event["type"] == kind).expect(kind);
            assert_eq!(event["actor"], json!({"id": "anna", "role": "reviewer", "via": via}), "{told:?}");
            let digest = event.pointer("/data/content/data/digest");
            assert_eq!(digest.is_some(), kind == "interrupt_viewed", "{event:#}");
        }
    }
}

/// A reader of a shared link sees and decides only what the reader's own permissions allow.
#[tokio::test(flavor = "multi_thread")]
async fn a_shared_link_gives_nobody_more_than_is_theirs() {
    let stage = Stage::start().await;
    let server = &stage.server;
    person(server, "cleo", json!({"groups": ["finance"]})).await;
    person(server, "otto", json!({"roles": ["auditor"], "groups": []})).await;
    person(server, "olaf", json!({"roles": ["operator"], "groups": []})).await;
    let asked = stage.ask(1).await;
    for who in ["cleo", "otto"] {
        let page = through(server, &mut Visitor::new(who), &asked.card).await;
        assert_eq!((page.status, &page.location), (403, &None), "{who}: {}", page.text);
        assert!(page.text.contains("forbidden_role"), "{who}: {}", page.text);
        assert!(!page.text.contains("Roe") && !page.text.contains("DE02"), "{who}: {}", page.text);
    }
    // An operator who is not an approver sees the page without the form.
    let of_olaf = let_onto(server, "olaf", &asked.card).await;
    let (status, shown) = page(server, &of_olaf, None).await;
    assert!(status == 200 && shown.contains("Mrs Roe"), "{status} {shown}");
    assert!(shown.contains("may not decide") && !shown.contains("<form"), "{shown}");
    assert_eq!(page(server, &of_olaf, Some(&[("option", "approve")])).await.0, 403);
    // After signing out, the page is no longer accessible.
    let of_anna = let_onto(server, "anna", &asked.card).await;
    assert_eq!(page(server, &of_anna, None).await.0, 200);
    let anna = sign_in(server, "anna").await;
    assert_eq!(as_person(server, &anna, Method::DELETE, "/v1/logins", None).await.0, 204);
    for form in [None, Some(&[("option", "approve")][..])] {
        let (status, shown) = page(server, &of_anna, form).await;
        assert!(status == 410 && !shown.contains("Roe"), "{status} {shown}");
    }
    assert_eq!(server.interrupt(&asked.id).await["status"], "open");
}

/// For an interrupt with high risk, a mail contains no personal link. Like the link of a Teams card, the mail's link
/// leads through the sign-in.
#[tokio::test(flavor = "multi_thread")]
async fn where_the_risk_is_high_every_link_leads_through_the_sign_in() {
    let stage = Stage::start().await;
    let server = &stage.server;
    let risky = json!({"kind": "tool_approval", "title": "Remove the build", "assignment": {"groups": ["legal"]},
        "payload": {}, "call": {"tool": "shell", "arguments": {"command": "rm -rf build"}, "workspace": "/home/me/project"}});
    let id = ask(server, risky).await;
    assert_eq!(server.interrupt(&id).await["risk"]["level"], "high");
    let link = format!("{}/decide/{id}", server.base());
    let mails = stage.mailbox.wait_for(1).await;
    let told = mails::text(&mails[0], "/text");
    assert!(told.contains(&link) && !told.contains("/d/"), "{told}");
    let at = let_onto(server, "anna", &format!("/decide/{id}")).await;
    assert_eq!(page(server, &at, Some(&[("option", "approve")])).await.0, 422, "a tick comes first");
    let (status, decided) = page(server, &at, Some(&[("option", "approve"), ("confirm", "yes")])).await;
    assert_eq!(status, 200, "{decided}");
}

/// Without a provider, the link of a Teams card leads to the app, and so does the path of the page behind this link.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_provider_a_card_leads_to_the_app() {
    let teams = WebhookSink::start().await;
    let channels = format!("channels:\n{CARDS}");
    let setup = TestServer::setup().channels(&channels).env("TEAMS_URL", &teams.url("/secret"));
    let server = setup.start().await;
    let id = ask(&server, json!({})).await;
    let card = teams.wait_for(1).await[0].json();
    let inbox = format!("/inbox/{id}");
    assert_eq!(link_of(&server, &card), inbox);
    let sent_on = Visitor::new("anna").get(&format!("{}/decide/{id}", server.base())).await;
    let to = sent_on.location.map(String::from);
    assert_eq!((sent_on.status, to), (303, Some(format!("{}{inbox}", server.base()))));
}
