//! Approvals and questions, over both transports and both revisions.

use std::time::Duration;

use holdshort_testkit::server::TestServer;
use serde_json::json;

use super::{Person, Wire, approve, asked, decide, only_open, params, text};

#[tokio::test]
async fn an_approval_is_given_out_once() {
    let server = TestServer::setup().start().await;
    for wire in Wire::ALL {
        let client = wire.connect(&server, Person::default(), &[]).await;
        let refund = json!({"title": format!("Refund {wire:?}"), "arguments": {"amount": 120}});
        let (decision, interrupt) =
            tokio::join!(client.decision("request_approval", &refund), decide(&server, approve()));
        let id = interrupt["id"].as_str().unwrap();
        let link = format!("{}/inbox/{id}", server.base());
        assert_eq!(
            decision,
            json!({"request": id, "status": "approved", "may_proceed": true, "link": link,
                "decided_by": ["operator"], "arguments": {"amount": 120}, "edited": false}),
            "{wire:?}"
        );
        let again = client.decision("get_decision", &json!({"request": id})).await;
        assert_eq!((&again["status"], &again["may_proceed"]), (&json!("used"), &json!(false)), "{wire:?}");
    }
}

#[tokio::test]
async fn a_rejection_carries_the_words_of_the_person() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let deploy = json!({"title": "Deploy", "message": "Friday"});
    let (result, _) = tokio::join!(
        client.call("request_approval", &deploy),
        decide(&server, json!({"option": "reject", "text": "Not on Friday."}))
    );
    let decision = result.structured_content.clone().unwrap();
    assert_eq!(
        (&decision["status"], &decision["may_proceed"], &decision["text"]),
        (&json!("rejected"), &json!(false), &json!("Not on Friday."))
    );
    assert!(text(&result).starts_with("Rejected by operator: Not on Friday."), "{}", text(&result));
    // A model that repeats the call at once gets the same refusal.
    let again = client.decision("request_approval", &deploy).await;
    assert_eq!((again["status"].clone(), asked(&server).await), (json!("rejected"), 1));
}

#[tokio::test]
async fn words_in_place_of_an_approval_do_not_approve() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let deploy = json!({"title": "Deploy"});
    let (result, _) = tokio::join!(
        client.call("request_approval", &deploy),
        decide(&server, json!({"option": "respond", "text": "Go ahead."}))
    );
    assert!(text(&result).starts_with("Not approved. Answered by operator: Go ahead."), "{}", text(&result));
    assert_eq!(result.structured_content.unwrap()["may_proceed"], false);
}

#[tokio::test]
async fn a_person_edits_the_arguments() {
    let server = TestServer::setup().start().await;
    let client = Wire::Http2025.connect(&server, Person::default(), &[]).await;
    for (tool, path) in [(None, "refund"), (Some("billing.refund"), "call")] {
        let mut refund = json!({"title": path, "arguments": {"amount": 120}, "editable": true});
        if let Some(tool) = tool {
            refund["tool"] = tool.into();
        }
        let (decision, _) = tokio::join!(
            client.decision("request_approval", &refund),
            decide(&server, json!({"option": "edit", "edit": {"amount": 20}}))
        );
        assert_eq!(
            (&decision["may_proceed"], &decision["edited"], &decision["arguments"]),
            (&json!(true), &json!(true), &json!({"amount": 20})),
            "{path}"
        );
    }
    // Without `editable` the card offers no edit.
    let fixed = json!({"title": "fixed", "arguments": {"amount": 1}});
    let (_, interrupt) = tokio::join!(client.call("request_approval", &fixed), decide(&server, approve()));
    let options: Vec<&str> =
        interrupt["options"].as_array().unwrap().iter().filter_map(|option| option["id"].as_str()).collect();
    assert_eq!(options, ["approve", "respond", "reject"]);
}

#[tokio::test]
async fn a_question_is_answered_by_its_schema_or_choices() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2026.connect(&server, Person::default(), &[]).await;
    let schema = json!({"type": "object", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]});
    let when = json!({"question": "When?", "schema": schema});
    let (decision, _) = tokio::join!(
        client.decision("ask_human", &when),
        decide(&server, json!({"option": "answer", "edit": {"hour": 14}}))
    );
    assert_eq!((&decision["status"], &decision["answer"]), (&json!("answered"), &json!({"hour": 14})));
    let which = json!({"question": "Which?", "choices": ["blue", "green"]});
    let choose = async {
        let interrupt = only_open(&server).await;
        let refused = server.decide(&interrupt, &json!({"option": "answer", "text": "red"})).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        server.decide(&interrupt, &json!({"option": "answer", "text": "green"})).await.ok();
    };
    let (decision, ()) = tokio::join!(client.decision("ask_human", &which), choose);
    assert_eq!((&decision["answer"], &decision["may_proceed"]), (&json!("green"), &json!(false)));
}

#[tokio::test]
async fn a_pending_request_is_read_on() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &["--pending-after", "1s"]).await;
    let deploy = json!({"title": "Deploy"});
    let result = client.call("request_approval", &deploy).await;
    let pending = result.structured_content.clone().unwrap();
    let id = pending["request"].as_str().unwrap();
    assert_eq!((&pending["status"], &pending["may_proceed"]), (&json!("pending"), &json!(false)));
    assert!(text(&result).contains(&format!("{}/inbox/{id}", server.base())), "{}", text(&result));
    let read = json!({"request": id, "wait_seconds": 40});
    let (decision, _) = tokio::join!(client.decision("get_decision", &read), decide(&server, approve()));
    assert_eq!((&decision["status"], &decision["may_proceed"]), (&json!("approved"), &json!(true)));
}

#[tokio::test]
async fn a_cancelled_call_attaches_again() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let deploy = json!({"title": "Deploy"});
    // Dropping the call sends `notifications/cancelled`.
    let call = client.service.call_tool(params("request_approval", &deploy));
    let first = tokio::select! {
        result = call => panic!("{result:?}"),
        first = only_open(&server) => first,
    };
    // Another process of the same agent attaches too: it is the client that was restarted.
    drop(client);
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    server.decide(&first, &approve()).await.ok();
    let decision = client.decision("request_approval", &deploy).await;
    assert_eq!((&decision["request"], &decision["may_proceed"]), (&first["id"], &json!(true)));
    // A third call, after the approval was used, is a new request.
    let (decision, second) =
        tokio::join!(client.decision("request_approval", &deploy), decide(&server, approve()));
    assert_ne!(second["id"], first["id"]);
    assert_eq!((&decision["may_proceed"], asked(&server).await), (&json!(true), 2));
}

#[tokio::test]
async fn two_clients_share_a_request_but_not_its_approval() {
    let server = TestServer::setup().start().await;
    let one = Wire::Stdio2025.connect(&server, Person::default(), &["--pending-after", "5s"]).await;
    let other = Wire::Stdio2025.connect(&server, Person::default(), &["--pending-after", "5s"]).await;
    let deploy = json!({"title": "Deploy"});
    let late = async {
        only_open(&server).await;
        other.decision("request_approval", &deploy).await
    };
    let person = async {
        only_open(&server).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        decide(&server, approve()).await
    };
    let (first, second, _) = tokio::join!(one.decision("request_approval", &deploy), late, person);
    let proceed = [&first, &second].iter().filter(|decision| decision["may_proceed"] == true).count();
    assert_eq!(proceed, 1, "{first} {second}");
}

#[tokio::test]
async fn a_request_expires_without_an_approval() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &["--expires-in", "1s"]).await;
    let decision = client.decision("request_approval", &json!({"title": "Deploy"})).await;
    assert_eq!((&decision["status"], &decision["may_proceed"]), (&json!("expired"), &json!(false)));
}
