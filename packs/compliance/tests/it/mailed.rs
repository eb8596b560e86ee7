//! A report that is held for review and decided by e-mail: through the link in the mail if the risk permits this, and
//! otherwise after a sign-in (contracts D1, D3, E18).

use holdshort_core::digest::Digest;
use holdshort_testkit::mailbox::{Mailbox, SmtpSecurity};
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::reviewer::{as_person, link, mailed, number, page, sign_in, text};
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use crate::served::{AGENTS, TABLES, body, crew, personal, sample};

/// Workflow of the shipped crew, with approvers for its report.
const WORKFLOW: &str = "name: mailed
extends: compliance
gates:
  review:
    options: [approve, reject]
    labels: {approve: Release the report, reject: Do not release it}
    expires_in: 60m
    on_expiry: reject
    assignment: {groups: [legal]}
";
const PEOPLE: &str = "people:
  anna: {roles: [reviewer], groups: [legal], addresses: {email: reviewer@example.org}}
";

async fn server(model: &ScriptedModel, mailbox: &Mailbox) -> TestServer {
    mailed(mailbox, "").model(model).workflow("mailed", WORKFLOW).people(PEOPLE).start().await
}

/// Returns a model whose agent `checker` asks for the review of a text, without a case.
async fn of_words() -> ScriptedModel {
    let model = ScriptedModel::start().await;
    for agent in AGENTS {
        model.script(agent, vec![Scripted::text(format!("The words of {agent}."))]);
    }
    let asks = json!({"title": "Look at customer 8", "content": "A name is like another."});
    model.script("compliance_checker", vec![Scripted::call("request_review", asks)]);
    model
}

/// Tests that the link in the mail opens a page that requires the number it shows, and then releases the report.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_released_from_a_mail() {
    let (model, mailbox) = (of_words().await, Mailbox::start(SmtpSecurity::Starttls, false));
    let mut server = server(&model, &mailbox).await;
    let run = server.start_run("mailed", "What do you think?").await;
    let held = server.wait_one(&run).await;
    assert_eq!((&held["kind"], &held["risk"]["level"]), (&json!("review"), &json!("medium")));
    let mail = mailbox.wait_for(1).await.remove(0);
    assert_eq!(mail["to"], json!(["reviewer@example.org"]));
    assert!(!mail["raw"].as_str().unwrap().contains("A name is like another."), "nothing of what is asked");

    let path = link(&server, &mail);
    let (status, shown) = page(&server, &path, None).await;
    assert_eq!(status, 200, "{shown}");
    assert!(shown.contains("A name is like another.") && shown.contains("Release the report"), "{shown}");
    let number = number(&shown).to_owned();
    // Without the number, the decision is refused, and no report is written.
    let (status, refused) = page(&server, &path, Some(&[("option", "approve"), ("number", "")])).await;
    assert!(status == 422 && refused.contains("Nothing was decided"), "{status} {refused}");
    server.restart().await;
    assert_eq!(server.wait_one(&run).await["id"], held["id"]);
    assert_eq!(model.requests_of("report_writer").len(), 0);

    let form = [("option", "approve"), ("text", "Rows checked."), ("number", &*number)];
    let (status, decided) = page(&server, &path, Some(&form)).await;
    assert!(status == 200 && decided.contains("<strong>Approved</strong>"), "{status} {decided}");
    let done = server.wait_status(&run, &["completed"]).await;
    assert_eq!(done["result"]["released"][0]["content"], "A name is like another.");
    assert_eq!(done["result"]["phases"]["report_writer"], "The words of report_writer.");
    let resolution = &server.interrupt(held["id"].as_str().unwrap()).await["resolution"];
    assert_eq!(
        (&resolution["by"], &resolution["text"]),
        (&json!(["anna"]), &json!("Rows checked.")),
        "{resolution}"
    );
    let made = &server.events_of(&run, "decision_made").await[0];
    assert_eq!(made["actor"], json!({"id": "anna", "role": "reviewer", "via": "email"}));
    let followed = mailbox.wait_for(2).await.remove(1);
    assert!(text(&followed, "/text").starts_with("Approved: review in mailed"), "{followed:#}");
    assert!(text(&followed, "/text").contains("\nBy: anna\nAt: 20"), "{followed:#}");
    let (status, late) = page(&server, &path, Some(&[("option", "reject"), ("number", &*number)])).await;
    assert!(status == 409 && late.contains("Already decided"), "{status} {late}");
}

/// Tests that a rejection over the link in a mail fails the run with the reviewer's text.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_not_released_from_a_mail() {
    let (model, mailbox) = (of_words().await, Mailbox::start(SmtpSecurity::Starttls, false));
    let server = server(&model, &mailbox).await;
    let run = server.start_run("mailed", "What do you think?").await;
    let path = link(&server, &mailbox.wait_for(1).await.remove(0));
    let (_, shown) = page(&server, &path, None).await;
    let form = [("option", "reject"), ("text", "The rows are wrong."), ("number", number(&shown))];
    assert_eq!(page(&server, &path, Some(&form)).await.0, 200);
    let failed = server.wait_status(&run, &["failed"]).await;
    assert_eq!(failed["end_reason"], "rejected");
    assert!(failed["end_message"].as_str().unwrap().contains("The rows are wrong."), "{failed}");
    assert_eq!(model.requests_of("report_writer").len(), 0);
}

/// Tests a report with critical findings: the mail links to the inbox, where the reviewer signs in and releases the
/// report unchanged. No mail contains the name of a person in the case.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_critical_is_released_by_who_signs_in() {
    let (model, mailbox) = (crew().await, Mailbox::start(SmtpSecurity::Starttls, false));
    let server = server(&model, &mailbox).await;
    for name in TABLES {
        std::fs::write(server.workspace().join(name), sample(name)).unwrap();
    }
    let run = server.post("/v1/runs", &body(&server, "mailed")).await.ok();
    let run = run["id"].as_str().unwrap();
    let held = server.wait_one(run).await;
    assert_eq!(held["risk"]["level"], "critical");
    let id = held["id"].as_str().unwrap();
    let mail = mailbox.wait_for(1).await.remove(0);
    let told = text(&mail, "/text");
    assert!(told.contains(&format!("{}/inbox/{id}", server.base())) && !told.contains("/d/"), "{told}");

    let anna = sign_in(&server, "anna").await;
    let (status, shown) = as_person(&server, &anna, Method::GET, &format!("/v1/interrupts/{id}"), None).await;
    assert_eq!((status, &shown["payload"]["content"]), (200, &held["payload"]["content"]));
    let decision = json!({"option": "approve", "version": shown["version"]});
    let path = format!("/v1/interrupts/{id}/decisions");
    let (status, decided) = as_person(&server, &anna, Method::POST, &path, Some(decision)).await;
    assert_eq!(status, 200, "{decided}");
    let done = server.wait_status(run, &["completed"]).await;
    assert_eq!(done["result"]["released"][0]["content"], held["payload"]["content"]);
    let digest = Digest::of_bytes(held["payload"]["content"].as_str().unwrap().as_bytes()).to_string();
    assert_eq!(server.events_of(run, "output_released").await[0]["data"]["digest"], json!(digest));
    let mails = mailbox.wait_for(2).await;
    assert!(text(&mails[1], "/text").contains("\nBy: anna\n"), "{:#}", mails[1]);
    let said =
        |mail: &Value| ["/subject", "/text", "/html"].map(|part| text(mail, part).to_lowercase()).join("\n");
    let all: String = mails.iter().map(said).collect();
    for word in personal() {
        assert!(!all.contains(&word), "{word}: {all}");
    }
}
