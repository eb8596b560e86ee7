//! Runs that Holdshort itself executes, as clients see them: a checkpoint, and a freeze.

use serde_json::{Value, json};

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
    let frozen = |system: &Value| {
        let all = system["freezes"].as_array().into_iter().flatten();
        let told = all.map(|one| format!("{} by {}", text(one, "reason"), text(one, "by")));
        (system["frozen"] == json!(true), system["seq"].as_u64(), told.collect::<Vec<_>>())
    };
    assert_eq!(frozen(&ok(operator.get("/v1/system").await)), (false, Some(0), vec![]));
    let all = json!({"reason": "a look"});
    let stands = (true, Some(1), vec!["a look by operator".to_owned()]);
    assert_eq!(frozen(&ok(operator.post("/v1/system/freeze", &all).await)), stands);
    assert_eq!(frozen(&ok(operator.post("/v1/system/freeze", &all).await)), stands, "twice is once");
    // A freeze with a second reason is refused, so that it neither hides the first reason nor is lost.
    let again = operator.post("/v1/system/freeze", &json!({"reason": "another look"})).await;
    assert_eq!(refusal(&again), (409, "frozen", vec![]));
    assert!(text(&again.1, "detail").contains("by operator (a look); lift the freeze before"), "{again:?}");
    assert_eq!(frozen(&ok(operator.get("/v1/system").await)), stands);
    let served = served.restart().await;
    assert_eq!(frozen(&ok(served.operator().get("/v1/system").await)), stands);
    let lifted = ok(served.operator().post("/v1/system/unfreeze", &json!({})).await);
    assert_eq!(frozen(&lifted), (false, Some(2), vec![]));
}

#[tokio::test]
async fn a_part_is_frozen_on_its_own() {
    let served = Served::with_checkpoint().await;
    let operator = served.operator();
    let freeze = async |body: Value| operator.post("/v1/system/freeze", &body).await;
    for (wrong, field) in [
        (json!({}), "/reason"),
        (json!({"reason": " "}), "/reason"),
        (json!({"reason": "x".repeat(2_001)}), "/reason"),
        (json!({"reason": "why", "workflow": ""}), "/workflow"),
        (json!({"reason": "why", "agent": "a\u{7}b"}), "/agent"),
        (json!({"reason": "why", "workflow": "look", "agent": "anna"}), ""),
        (json!({"reason": "why", "workflows": "look"}), "/workflows"),
    ] {
        assert_eq!(refusal(&freeze(wrong.clone()).await), (422, "invalid_request", vec![field]), "{wrong}");
    }
    let nowhere = json!({"reason": "why", "run": "run_01k6f0000000000000000000cc"});
    assert_eq!(freeze(nowhere).await.0, 404);

    // A frozen external agent gets no approval.
    let review = json!({"kind": "review", "title": "A text", "payload": {"content": "Hello."}});
    let asked = created(served.agent().post("/v1/interrupts", &review).await);
    let agent = json!({"reason": "it sends too much", "agent": "agent"});
    let seen = ok(freeze(agent).await);
    assert_eq!((&seen["frozen"], &seen["freezes"][0]["agent"]), (&json!(false), &json!("agent")));
    let shown =
        async || ok(operator.get(&format!("/v1/interrupts/{}", text(&asked, "id"))).await)["frozen"].clone();
    let frozen = shown().await;
    let said = ["agent", "reason", "by"].map(|field| text(&frozen, field));
    assert_eq!(said, ["agent", "it sends too much", "operator"], "the card says so");
    let approve = json!({"option": "approve"});
    assert_eq!(refusal(&operator.decide(&asked, &approve).await), (409, "frozen", vec![]));
    let unfreeze = async |body: Value| ok(operator.post("/v1/system/unfreeze", &body).await);
    assert_eq!(unfreeze(json!({})).await["freezes"][0]["agent"], json!("agent"), "that is another freeze");
    assert_eq!(unfreeze(json!({"agent": "agent"})).await.get("freezes"), None);
    assert_eq!(shown().await, Value::Null);
    assert_eq!(ok(operator.decide(&asked, &approve).await)["resolution"]["outcome"], "approved");
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
    assert_eq!(workflows["items"][7]["phases"], json!(["look"]));
    assert_eq!(workflows["items"][8]["rehearsal"], true);
}
