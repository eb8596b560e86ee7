//! Faults that prevent the start of a server. The server prints one message, and no part of the server keeps running.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::server::TestServer;

use crate::play::{SOLO, count, done, one, solo};

#[tokio::test]
async fn a_misspelt_key_is_named_with_its_place() {
    let workflow = SOLO.replace("    instructions: Work.", "    instrutions: Work.");
    let mut server = TestServer::setup().workflow("solo", &workflow).stopped();
    let status = server.try_start().await.unwrap_err();
    assert_eq!(status.code(), Some(2));
    let told = server.stderr();
    for part in ["solo.yaml", "5:5", "instrutions", "instructions"] {
        assert!(told.contains(part), "no `{part}`: {told}");
    }
}

#[tokio::test]
async fn a_second_server_on_one_data_folder_refuses() {
    let (_model, server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let mut second = TestServer::setup().data(&server.data()).stopped();
    let status = second.try_start().await.unwrap_err();
    assert!(!status.success());
    assert!(second.stderr().contains("another server uses this data folder"), "{}", second.stderr());
    // The first server is not affected.
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
}

/// An unusable file of secrets stops the start. The message says how to repair that file, and the repair works.
#[tokio::test]
async fn a_file_of_secrets_that_can_not_be_used_says_what_to_do() {
    let mut server = TestServer::setup().start().await;
    server.kill();
    for (name, helps) in [
        ("tokens.json", "delete it; new tokens are created at the next start"),
        ("logins.json", "delete it; all people must then sign in again"),
        (
            "vapid_key.json",
            "delete the file; the next start creates a new key, and browsers must subscribe again",
        ),
        ("checkpoint_key.json", "delete the file; the next start creates a new signing key"),
        ("webhooks.json", "delete it, then remove its webhooks and register them again"),
    ] {
        let path = server.data().join(name);
        for (mode, wrong) in [(0o640, "is readable by others"), (0o600, "has invalid content")] {
            fs::write(&path, "{").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(!server.try_start().await.expect_err(name).success());
            let said = server.stderr();
            let said = said.lines().rfind(|line| line.contains(wrong)).unwrap_or_default();
            assert!(said.contains(name) && said.contains(helps), "{name}: {said}");
        }
        fs::remove_file(&path).unwrap();
        server.start().await;
        server.kill();
    }
}

#[tokio::test]
async fn addresses_that_others_reach_are_refused() {
    let server = TestServer::setup().stopped();
    let mut command = server.client_command();
    let output = command.args(["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_workspace_never_overlaps_the_data_folder() {
    let (_model, server) = solo([done()]).await;
    let mut body = server.run_body("solo", "x");
    for workspace in [server.data(), server.data().parent().unwrap().to_owned()] {
        body["config"]["workspace"] = workspace.to_str().unwrap().into();
        let refused = server.post("/v1/runs", &body).await;
        assert_eq!(refused.refusal(), (422, "invalid_request"));
        assert_eq!(refused.body["errors"][0]["pointer"], "/config/workspace");
    }
}
