//! What keeps a server from starting: said in one place, with nothing started.

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
    // The first one has noticed nothing.
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
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
