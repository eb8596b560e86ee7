//! Files that change between the approval and the write, and paths that lead out of the workspace.

use std::fs;
use std::os::unix::fs::symlink;

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::eventually;
use serde_json::json;

use crate::play::{SOLO, command, done, last_told, one, play, read, solo, write};

#[tokio::test]
async fn a_file_that_changed_before_the_decision_is_asked_about_again() {
    let (_model, server) = solo([one(write("a.txt", "new\n")), done()]).await;
    let file = server.workspace().join("a.txt");
    fs::write(&file, "old\n").unwrap();
    let run = server.start_run("solo", "write").await;
    let shown = server.wait_one(&run).await;
    fs::write(&file, "by somebody else\n").unwrap();
    server.choose(&shown, "approve").await;
    let again = eventually("another question", async || server.open(&run).await.into_iter().next()).await;
    assert_eq!(
        (&again["supersedes"], fs::read_to_string(&file).unwrap().as_str()),
        (&shown["id"], "by somebody else\n")
    );
    assert_ne!(again["action_digest"], shown["action_digest"]);
    assert!(again["payload"].to_string().contains("by somebody else"), "{again:#}");
    server.choose(&again, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "new\n");
    assert_eq!(server.events_of(&run, "tool_started").await.len(), 1);
}

#[tokio::test]
async fn a_file_that_changed_between_approval_and_execution_is_asked_about_again() {
    // The command runs until the file `go` exists, and the approved write waits for the command.
    let wait = command("while [ ! -e go ]; do sleep 0.02; done");
    let (_model, server) = solo([Scripted::calls([wait, write("a.txt", "new\n")]), done()]).await;
    let file = server.workspace().join("a.txt");
    fs::write(&file, "old\n").unwrap();
    let run = server.start_run("solo", "write").await;
    let open = server.wait_open(&run, 2).await;
    server.choose(&open[0], "approve").await;
    server.choose(&open[1], "approve").await;
    assert_eq!(server.events_of(&run, "tool_authorised").await.len(), 2);
    fs::write(&file, "by somebody else\n").unwrap();
    fs::write(server.workspace().join("go"), "").unwrap();
    let again = server.wait_one(&run).await;
    assert_eq!(
        (&again["supersedes"], fs::read_to_string(&file).unwrap().as_str()),
        (&open[1]["id"], "by somebody else\n")
    );
    server.choose(&again, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "by somebody else\n");
    server.events(&run).await;
}

#[tokio::test]
async fn a_hard_link_asks_whatever_the_rules_allow() {
    let workflow = SOLO.replace("tools: [read_file, ask_human]", "tools: [read_file, write_file]");
    let (_model, server) =
        play(&workflow, [one(write("free.txt", "x")), one(write("linked.txt", "x")), done()]).await;
    let (linked, other) =
        (server.workspace().join("linked.txt"), server.data().parent().unwrap().join("other.txt"));
    fs::write(&linked, "precious").unwrap();
    fs::hard_link(&linked, &other).unwrap();
    let run = server.start_run("solo", "write").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(fs::read_to_string(server.workspace().join("free.txt")).unwrap(), "x");
    assert_eq!(asked["risk"]["reasons"][0]["code"], "hard_link", "{asked:#}");
    let offered = asked["options"].as_array().unwrap();
    assert!(offered.iter().all(|option| option["id"] != "approve_session"), "{offered:#?}");
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    // The write replaced the file, and did not write through the hard link.
    let contents = (fs::read_to_string(&linked).unwrap(), fs::read_to_string(&other).unwrap());
    assert_eq!(contents, ("x".to_owned(), "precious".to_owned()));
}

#[tokio::test]
async fn paths_that_lead_out_of_the_workspace_are_refused() {
    let workflow = SOLO.replace("tools: [read_file, ask_human]", "tools: [read_file, write_file]");
    let calls = [
        write("../out.txt", "x"),
        write("/tmp/holdshort-out.txt", "x"),
        write("folder/out.txt", "x"),
        write("link.txt", "x"),
        write(".git/config", "x"),
        read("../secret.txt"),
        read("folder/secret.txt"),
        read("secret-link.txt"),
        read("/etc/passwd"),
    ];
    let n = calls.len();
    let (model, server) = play(&workflow, [Scripted::calls(calls), done()]).await;
    let outside = server.data().parent().unwrap().to_owned();
    fs::write(outside.join("secret.txt"), "secret-content").unwrap();
    symlink(&outside, server.workspace().join("folder")).unwrap();
    symlink(outside.join("out.txt"), server.workspace().join("link.txt")).unwrap();
    symlink(outside.join("secret.txt"), server.workspace().join("secret-link.txt")).unwrap();
    let run = server.start_run("solo", "escape").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(!outside.join("out.txt").exists());
    assert!(!std::path::Path::new("/tmp/holdshort-out.txt").exists());
    let told = last_told(&model);
    assert!(!told.contains("secret-content") && !told.contains("root:"), "{told}");
    let finished = server.events_of(&run, "tool_finished").await;
    let failed = finished.iter().filter(|event| event["data"]["end"] == "failed").count();
    assert_eq!((failed, server.events_of(&run, "tool_started").await.len()), (n, 0), "{finished:#?}");
}

#[tokio::test]
async fn what_an_agent_writes_is_data() {
    let escape = "\u{1b}[2J\u{202e}gnp.exe";
    let (_model, server) = solo([one(command(&format!("echo {escape}"))), done()]).await;
    let run = server.start_run("solo", "write").await;
    let shown = server.wait_one(&run).await;
    // The API returns the arguments unchanged, and the terminal escapes control characters.
    assert_eq!(shown["payload"]["arguments"], json!({"command": format!("echo {escape}")}));
    let show = server.client_command().args(["show", shown["id"].as_str().unwrap()]).output().unwrap();
    let printed = String::from_utf8_lossy(&show.stdout);
    assert!(show.status.success(), "{}", String::from_utf8_lossy(&show.stderr));
    assert!(!printed.contains('\u{202e}') && !printed.contains("\u{1b}[2J"), "{printed:?}");
}
