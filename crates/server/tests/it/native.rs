//! Runs that Holdshort runs itself, seen from outside: a checkpoint, and the freeze.

use serde_json::json;

use crate::harness::{Served, created, ok, refusal, text};

#[tokio::test]
async fn a_checkpoint_waits_and_survives_a_restart() {
    let served = Served::with_checkpoint().await;
    let start = json!({"workflow": "look", "input": {"task": "t"}});
    let run = created(served.operator().post("/v1/runs", &start).await);
    let id = text(&run, "id");
    assert_eq!(
        (&run["workflow"], &run["status"], &run["config"]),
        (&json!("look"), &json!("waiting"), &json!({}))
    );
    let interrupt = run["open_interrupts"][0].as_str().unwrap();
    let before = ok(served.operator().get(&format!("/v1/interrupts/{interrupt}")).await);
    assert_eq!(
        (&before["kind"], &before["origin"], &before["position"], &before["policy"]),
        (&json!("checkpoint"), &json!("native"), &json!("phase"), &json!({"version": 0}))
    );

    let served = served.restart().await;
    let operator = served.operator();
    assert_eq!(
        ok(operator.get(&format!("/v1/runs/{id}")).await),
        run,
        "nothing that a client can see changed"
    );
    assert_eq!(ok(operator.get(&format!("/v1/interrupts/{interrupt}")).await), before);
    assert_eq!(
        refusal(&operator.get(&format!("/v1/runs/{id}/result")).await),
        (409, "run_not_ended", vec![])
    );
    let external = json!({"kind": "question", "title": "t", "run": id});
    assert_eq!(refusal(&operator.post("/v1/interrupts", &external).await), (409, "not_external", vec![]));

    let decided = ok(operator.decide(&before, &json!({"option": "approve"})).await);
    assert_eq!(decided["resolution"]["outcome"], "approved");
    let ended = ok(operator.get(&format!("/v1/runs/{id}/result")).await);
    assert_eq!((&ended["run"], &ended["status"]), (&json!(id), &json!("completed")));
}

#[tokio::test]
async fn an_invalid_input_starts_nothing() {
    let served = Served::with_checkpoint().await;
    let said = served.operator().post("/v1/runs", &json!({"workflow": "look", "input": {"task": 5}})).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/input/task"]));
    let said = served.operator().post("/v1/runs", &json!({"workflow": "look", "input": {}})).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/input"]));
    assert_eq!(ok(served.operator().get("/v1/runs").await)["items"], json!([]));
}

#[tokio::test]
async fn the_installation_freezes_and_thaws() {
    let served = Served::with_checkpoint().await;
    let operator = served.operator();
    let state = |frozen: bool, seq: u64| json!({"frozen": frozen, "policy_version": 0, "seq": seq});
    assert_eq!(ok(operator.get("/v1/system").await), state(false, 0));
    assert_eq!(ok(operator.post("/v1/system/freeze", &json!({})).await), state(true, 1));
    assert_eq!(ok(operator.post("/v1/system/freeze", &json!({})).await), state(true, 1), "twice is once");
    let served = served.restart().await;
    assert_eq!(ok(served.operator().get("/v1/system").await), state(true, 1));
    assert_eq!(ok(served.operator().post("/v1/system/unfreeze", &json!({})).await), state(false, 2));
}

#[tokio::test]
async fn the_server_says_what_it_is_and_what_it_offers() {
    let served = Served::with_checkpoint().await;
    let info = ok(served.operator().get("/v1/info").await);
    assert_eq!(text(&info, "version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(text(&info, "data"), served.data().to_str().unwrap());
    assert!(info["rehearsal"].is_boolean() && info["model"]["provider"].is_string());
    assert!(["none", "partial", "full"].contains(&text(&info, "sandbox")));

    let workflows = ok(served.operator().get("/v1/workflows").await);
    let names: Vec<_> =
        workflows["items"].as_array().unwrap().iter().map(|each| text(each, "name")).collect();
    assert_eq!(
        names,
        [
            "autonomous",
            "coach",
            "codelab",
            "codelab_ide",
            "copilot",
            "error_recovery",
            "external",
            "full_interactive",
            "look",
            "pair",
            "research",
            "review_plan",
            "step_by_step",
        ]
    );
    assert_eq!(workflows["items"][8]["phases"], json!(["look"]));
    assert_eq!(workflows["items"][9]["rehearsal"], true);
}
