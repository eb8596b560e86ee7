//! Terminal commands that show and decide. Each command runs in a separate process, against a running server.

use std::fs;

use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::json;

use crate::play::{command, done, one, solo};

/// Runs a terminal command of the binary `holdshort`. Returns its exit code, and its output joined into one line.
fn verb(server: &TestServer, arguments: &[&str]) -> (i32, String) {
    let output = server.client_command().args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `show` describes each effect that a command can have, in the words of what the sandbox enforces.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn show_says_what_a_command_may_do() {
    let table = [
        ("ls", "effect only read: it writes and executes nothing of the workspace, and has no network"),
        (
            "echo one >> count.txt",
            "effect write the workspace, except files that your own tools run automatically",
        ),
        (
            "echo x >> .envrc",
            "effect write the workspace, including files that your own tools run automatically",
        ),
    ];
    let steps: Vec<_> = table.iter().map(|(line, _)| one(command(line))).chain([done()]).collect();
    let (_model, server) = solo(steps).await;
    let run = server.start_run("solo", "count").await;
    for (line, words) in table {
        let asked = server.wait_one(&run).await;
        let (code, said) = verb(&server, &["show", asked["id"].as_str().unwrap()]);
        assert_eq!((code, said.contains(line), said.contains(words)), (0, true, true), "{said}");
        server.choose(&asked, "approve").await;
    }
    server.wait_status(&run, &["completed"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_no_tool_could_carry_out_is_refused_in_the_terminal_and_closes_nothing() {
    let (_model, server) = solo([one(command("echo one >> count.txt")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let asked = server.wait_one(&run).await;
    let id = asked["id"].as_str().unwrap();
    let edit = server.workspace().parent().unwrap().join("edit.json");
    let file = edit.to_str().unwrap();
    for (arguments, place) in [
        (json!({"command": "  "}), "--edit, at /command: "),
        (json!({"command": "touch b\u{0}"}), "--edit, at /command: "),
        (json!({"command": "touch b", "cwd": "../elsewhere"}), "--edit, at /cwd: "),
        (json!({"command": "touch b", "cwd": "nowhere"}), "--edit, at /cwd: "),
    ] {
        fs::write(&edit, arguments.to_string()).unwrap();
        let (code, said) = verb(&server, &["decide", id, "edit", "--edit", file]);
        assert_eq!(
            (code, said.contains(place), said.contains("[invalid_request]")),
            (2, true, true),
            "{said}"
        );
        let stands = server.get(&format!("/v1/interrupts/{id}")).await.ok();
        assert_eq!((&stands["status"], &stands["version"]), (&json!("open"), &asked["version"]));
    }
    assert!(server.events_of(&run, "decision_made").await.is_empty());
    fs::write(&edit, json!({"command": "echo two >> count.txt"}).to_string()).unwrap();
    assert_eq!(verb(&server, &["decide", id, "edit", "--edit", file]).0, 0);
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(server.workspace().join("count.txt")).unwrap(), "two\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_removes_a_person_reads_what_that_leaves() {
    let server = TestServer::setup().without_model().start().await;
    for person in ["anna", "ben"] {
        assert_eq!(verb(&server, &["people", "set", person, "--role", "reviewer"]).0, 0);
    }
    let mut ids = Vec::new();
    for approvers in [json!(["anna"]), json!(["anna", "ben"])] {
        let ask = json!({
            "kind": "tool_approval", "title": "Archive 41 branches", "assignment": {"approvers": approvers},
        });
        let request = server.agent_request(Method::POST, "/v1/interrupts").json(&ask);
        let asked = server.send(request).await.ok();
        ids.push(asked["id"].as_str().unwrap().to_owned());
    }
    let (code, said) = verb(&server, &["people", "remove", "anna"]);
    assert_eq!(code, 0, "{said}");
    for (id, who) in
        ids.iter().zip(["no approver is left, so admins and operators decide now", "others may decide"])
    {
        let line = format!("{id} tool call ({who}) Archive 41 branches");
        assert!(said.contains(&line), "{said}");
    }
    assert!(!said.contains("There may be more"), "{said}");
    let (code, said) = verb(&server, &["people", "remove", "ben"]);
    assert_eq!((code, said.contains("Open interrupts that were assigned to them: ")), (0, true), "{said}");
    let (_, said) = verb(&server, &["people", "set", "cleo", "--role", "reviewer"]);
    assert!(said.contains("cleo"), "{said}");
    assert_eq!(
        verb(&server, &["people", "remove", "cleo"]),
        (0, "The person `cleo` is removed and can no longer decide.".to_owned())
    );
}

/// An interrupt has stages that require different people. If too few approvers are left, the output says that one
/// person may vote in several stages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_one_is_left_for_two_stages_the_card_says_so() {
    let server = TestServer::setup().without_model().start().await;
    for person in ["anna", "ben"] {
        assert_eq!(verb(&server, &["people", "set", person, "--role", "reviewer"]).0, 0);
    }
    let ask = json!({
        "kind": "review", "title": "Send it?",
        "assignment": {"stages": [{"approvers": ["anna"]}, {"approvers": ["ben"]}]},
    });
    let request = server.agent_request(Method::POST, "/v1/interrupts").json(&ask);
    let asked = server.send(request).await.ok();
    let id = asked["id"].as_str().unwrap();
    let (_, said) = verb(&server, &["show", id]);
    assert!(said.contains("2 stages") && !said.contains("may agree in several"), "{said}");
    for person in ["anna", "ben"] {
        assert_eq!(verb(&server, &["people", "remove", person]).0, 0);
    }
    eventually("it goes to the operator", async || {
        let (_, said) = verb(&server, &["show", id]);
        said.contains("2 stages, and one person may agree in several stages").then_some(())
    })
    .await;
    for open in [true, false] {
        assert_eq!(verb(&server, &["decide", id, "approve"]).0, 0);
        assert_eq!(server.interrupt(id).await["status"] == "open", open);
    }
}
