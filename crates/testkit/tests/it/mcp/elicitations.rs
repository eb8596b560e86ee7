//! Elicitations show the link to the inbox. The person at the client cannot approve.

use holdshort_testkit::server::TestServer;
use rmcp::model::{
    ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
};
use serde_json::{Value, json};

use super::{Person, Wire, approve, asked, decide};

fn person(capability: Value, answer: Option<ElicitResult>) -> Person {
    let mut capabilities = ClientCapabilities::default();
    let capability: ElicitationCapability = serde_json::from_value(capability).unwrap();
    capabilities.elicitation = Some(capability);
    Person { capabilities, answer, ..Person::default() }
}

fn accept(content: Value) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(content)
}

#[tokio::test]
async fn an_answer_at_the_client_never_approves() {
    let server = TestServer::setup().start().await;
    let decline = ElicitResult::new(ElicitationAction::Decline);
    // After an accepting answer the call waits for the inbox. The wait of a server cannot be set.
    let stdio = &[Wire::Stdio2025, Wire::Stdio2026][..];
    let all = &[Wire::Stdio2025, Wire::Stdio2026, Wire::Http2026][..];
    for (answer, expected, wires) in [
        (accept(json!({})), "pending", stdio),
        (accept(json!({"confirm": true})), "pending", stdio),
        (accept(json!({"confirm": "false"})), "pending", all),
        (ElicitResult::new(ElicitationAction::Cancel), "pending", all),
        (accept(json!({"confirm": false})), "cancelled", all),
        (decline.clone(), "cancelled", all),
        (decline.with_content(json!({"confirm": true})), "cancelled", all),
    ] {
        for wire in wires {
            let case = format!("{wire:?} {answer:?}");
            let person = person(json!({"form": {}}), Some(answer.clone()));
            let client = wire.connect(&server, person, &["--pending-after", "1s"]).await;
            let decision =
                client.decision("request_approval", &json!({"title": case, "message": case})).await;
            assert_eq!(
                (&decision["status"], &decision["may_proceed"]),
                (&json!(expected), &json!(false)),
                "{case}"
            );
            let id = decision["request"].as_str().unwrap();
            let status = server.interrupt(id).await["status"].clone();
            assert_eq!(status, if expected == "pending" { "open" } else { "resolved" }, "{case}");
        }
    }
}

#[tokio::test]
async fn the_decision_of_the_inbox_ends_the_wait() {
    let server = TestServer::setup().start().await;
    // The person at the client never answers the elicitation.
    let person = person(json!({"url": {}}), None);
    let client = Wire::Stdio2025.connect(&server, person.clone(), &["--pending-after", "1s"]).await;
    let deploy = json!({"title": "Deploy"});
    let (decision, interrupt) =
        tokio::join!(client.decision("request_approval", &deploy), decide(&server, approve()));
    assert_eq!(decision["may_proceed"], true, "{decision}");
    let shown = person.shown.lock().unwrap().clone();
    let [ElicitRequestParams::UrlElicitationParams { url, .. }] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!(*url, format!("{}/inbox/{}", server.base(), interrupt["id"].as_str().unwrap()));
    assert_eq!(asked(&server).await, 1);
}

#[tokio::test]
async fn a_client_of_2026_gets_the_decision_after_the_elicitation() {
    let server = TestServer::setup().start().await;
    for wire in [Wire::Stdio2026, Wire::Http2026] {
        let client = wire.connect(&server, person(json!({"url": {}}), Some(accept(json!({})))), &[]).await;
        let deploy = json!({"title": format!("Deploy {wire:?}")});
        let (decision, _) =
            tokio::join!(client.decision("request_approval", &deploy), decide(&server, approve()));
        assert_eq!(decision["may_proceed"], true, "{wire:?} {decision}");
    }
    assert_eq!(asked(&server).await, 2, "a repeat with input is no new request");
}
