//! The permission prompt of Claude Code.

use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{Client, Person, Wire, approve, asked, decide, only_open, text};

async fn prompt(client: &Client, command: &str, id: &str) -> Value {
    let call =
        json!({"tool_name": "Bash", "input": {"command": command, "description": "why"}, "tool_use_id": id});
    let result = client.call("permission", &call).await;
    assert_eq!((result.is_error, result.structured_content.clone()), (Some(false), None));
    serde_json::from_str(text(&result)).unwrap()
}

#[tokio::test]
async fn each_approval_lets_one_call_run() {
    let server = TestServer::setup().start().await;
    for wire in [Wire::Stdio2025, Wire::Http2025] {
        let client = wire.connect(&server, Person::default(), &[]).await;
        let before = asked(&server).await;
        for id in ["toolu_1", "toolu_1"] {
            let command = format!("touch {wire:?}");
            let (answer, interrupt) = tokio::join!(prompt(&client, &command, id), decide(&server, approve()));
            let input = json!({"command": command, "description": "why"});
            assert_eq!(answer, json!({"behavior": "allow", "updatedInput": input}), "{wire:?}");
            assert_eq!(interrupt["payload"]["tool"], "run_command");
        }
        assert_eq!(asked(&server).await - before, 2, "the id of a call is no approval");
    }
}

#[tokio::test]
async fn a_person_edits_or_rejects_the_call() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let (answer, _) = tokio::join!(
        prompt(&client, "rm -rf build", "toolu_1"),
        decide(&server, json!({"option": "edit", "edit": {"command": "rm -r build/cache"}}))
    );
    let input = json!({"command": "rm -r build/cache", "description": "why"});
    assert_eq!(answer, json!({"behavior": "allow", "updatedInput": input}));
    let (answer, _) = tokio::join!(
        prompt(&client, "rm -rf /srv", "toolu_2"),
        decide(&server, json!({"option": "reject", "text": "Keep it."}))
    );
    assert_eq!(answer, json!({"behavior": "deny", "message": "Rejected by operator: Keep it."}));
    let (answer, _) = tokio::join!(
        prompt(&client, "date", "toolu_3"),
        decide(&server, json!({"option": "respond", "text": "It is noon."}))
    );
    assert_eq!(answer, json!({"behavior": "deny", "message": "Not run. operator responded: It is noon."}));
}

#[tokio::test]
async fn a_late_approval_is_for_the_repeated_call() {
    let server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &["--permission-wait", "1s"]).await;
    let late = prompt(&client, "make", "toolu_1").await;
    let interrupt = only_open(&server).await;
    let link = format!("{}/inbox/{}", server.base(), interrupt["id"].as_str().unwrap());
    assert_eq!(late["behavior"], "deny");
    assert!(late["message"].as_str().unwrap().contains(&link), "{late}");
    server.decide(&interrupt, &approve()).await.ok();
    assert_eq!(prompt(&client, "make", "toolu_2").await["behavior"], "allow");
    assert_eq!(asked(&server).await, 1);
}

#[tokio::test]
async fn a_rule_decides_as_for_every_agent() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    let yaml = "rules:\n  - {tools: [run_command], commands: [make], do: allow}\n  \
        - {tools: [run_command], commands: [git push], do: forbid}\n";
    std::fs::write(&rules, yaml).unwrap();
    let setup = TestServer::setup().argument("--rules").argument(rules.path().to_str().unwrap());
    let server = setup.start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    // More calls than are compared with earlier requests.
    for _ in 0..20 {
        assert_eq!(prompt(&client, "make", "toolu_1").await["behavior"], "allow");
    }
    let denied = prompt(&client, "git push", "toolu_2").await;
    assert_eq!(denied["behavior"], "deny", "{denied}");
}

#[tokio::test]
async fn every_error_denies() {
    let mut server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let large = prompt(&client, &"x".repeat(10_000_000), "toolu_1").await;
    assert_eq!(large["behavior"], "deny");
    assert!(large["message"].as_str().unwrap().contains("[body_too_large]"), "{large}");
    let result = client.call("permission", &json!({"tool_name": "Bash"})).await;
    assert!(text(&result).contains(r#""behavior":"deny""#), "{}", text(&result));
    server.kill();
    let absent = prompt(&client, "make", "toolu_1").await;
    assert_eq!(absent["behavior"], "deny");
    assert!(absent["message"].as_str().unwrap().contains("[server_unreachable]"), "{absent}");
}
