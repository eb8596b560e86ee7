//! External agents ask, wait, and get the resolution of their interrupts.

use serde_json::json;

use crate::harness::{Served, created, ok, refusal, text};

#[tokio::test]
async fn an_agent_asks_waits_and_gets_the_resolution() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let asked = agent.ask().await;
    let (id, run) = (text(&asked, "id").to_owned(), text(&asked, "run").to_owned());
    let shown = json!({
        "kind": asked["kind"], "origin": asked["origin"], "status": asked["status"], "title": asked["title"],
        "message": asked["message"], "payload": asked["payload"], "agent": asked["agent"],
        "version": asked["version"], "on_expiry": asked["on_expiry"], "assignment": asked["assignment"],
        "options": asked["options"].as_array().unwrap().iter().map(|option| &option["id"]).collect::<Vec<_>>(),
    });
    assert_eq!(
        shown,
        json!({
            "kind": "tool_approval", "origin": "external", "status": "open", "title": "Archive 41 branches",
            "message": "All are merged.", "payload": {"tool": "git", "arguments": {"branches": 41}},
            "agent": "agent", "version": 1, "on_expiry": "reject",
            "assignment": {"approvers": [], "quorum": {"required": 1}},
            "options": ["approve", "edit", "respond", "reject"],
        })
    );
    let waiting = ok(agent.get(&format!("/v1/runs/{run}")).await);
    assert_eq!((&waiting["status"], &waiting["open_interrupts"]), (&json!("waiting"), &json!([id])));

    // The long poll may already wait when the decision arrives.
    let poll = tokio::spawn({
        let (agent, id) = (agent.clone(), id.clone());
        async move { agent.get(&format!("/v1/interrupts/{id}?wait=15")).await }
    });
    tokio::task::yield_now().await;
    let decision = json!({"option": "reject", "text": "not the release ones"});
    let decided = ok(operator.decide(&asked, &decision).await);
    let polled = ok(poll.await.unwrap());
    assert_eq!(polled, decided, "both see the same");
    let resolution = json!({
        "outcome": "rejected", "option": "reject", "effect": "refuse", "text": "not the release ones",
        "by": ["operator"], "cause": "decision", "at": decided["resolution"]["at"],
    });
    assert_eq!(decided["resolution"], resolution);
    assert_eq!(ok(agent.get(&format!("/v1/interrupts/{id}")).await), decided);

    let ended = ok(agent.get(&format!("/v1/runs/{run}/result")).await);
    assert_eq!((&ended["status"], &ended["end_reason"]), (&json!("completed"), &json!("resolved")));
    assert_eq!(ended["result"]["outcome"], "rejected");
}

/// A long poll returns the resolution of an interrupt at once, even if the decision arrives while the poll starts or
/// reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_poll_that_meets_the_decision_tells_the_resolution() {
    let served = Served::new().await;
    let cycles = (0..24).map(|_| {
        let (agent, operator) = (served.agent(), served.operator());
        tokio::spawn(async move {
            for _ in 0..12 {
                let asked = agent.ask().await;
                let path = format!("/v1/interrupts/{}?wait=60", text(&asked, "id"));
                let (decision, began) = (json!({"option": "approve"}), std::time::Instant::now());
                let (polled, decided) = futures::join!(agent.get(&path), operator.decide(&asked, &decision));
                assert_eq!(ok(polled), ok(decided));
                assert!(began.elapsed().as_secs() < 60, "it came with the time that was over");
            }
        })
    });
    for cycle in cycles.collect::<Vec<_>>() {
        cycle.await.unwrap();
    }
}

/// A question whose options all release work is refused.
#[tokio::test]
async fn an_agent_can_not_offer_only_what_releases() {
    let served = Served::new().await;
    let agent = served.agent();
    let offer = |options: &[&str]| {
        let mut question = crate::harness::question();
        question["options"] = options.iter().map(|id| json!({"id": id, "label": "Go"})).collect();
        question
    };
    for options in [&["approve"][..], &["approve", "edit"]] {
        let said = agent.post("/v1/interrupts", &offer(options)).await;
        assert_eq!(refusal(&said), (422, "invalid_request", vec!["/options"]), "{options:?}");
    }
    let mut hand_off = offer(&["continue", "instruct"]);
    hand_off["kind"] = json!("escalation");
    let said = agent.post("/v1/interrupts", &hand_off).await;
    assert_eq!(
        refusal(&said),
        (422, "invalid_request", vec!["/options"]),
        "an instruction is no way to stop"
    );
    let runs = ok(served.operator().get("/v1/runs").await);
    assert_eq!(runs["items"], json!([]), "nothing was started for it");
    created(agent.post("/v1/interrupts", &offer(&["approve", "reject"])).await);
}

/// A choice with a single option also accepts a free text.
#[tokio::test]
async fn a_choice_can_be_answered_in_ones_own_words() {
    let served = Served::new().await;
    let choice =
        json!({"kind": "choice", "title": "Deploy?", "options": [{"id": "go", "label": "Deploy now"}]});
    let asked = created(served.agent().post("/v1/interrupts", &choice).await);
    let ids: Vec<&str> =
        asked["options"].as_array().unwrap().iter().map(|option| text(option, "id")).collect();
    assert_eq!(ids, ["go", "custom"]);
    let decision = json!({"option": "custom", "text": "Not on a Friday."});
    let decided = ok(served.operator().decide(&asked, &decision).await);
    let resolution = &decided["resolution"];
    assert_eq!((text(resolution, "outcome"), text(resolution, "text")), ("answered", "Not on a Friday."));
}

/// Deadlines of interrupts that passed while no server ran take effect before the server's first response.
#[tokio::test]
async fn deadlines_that_passed_meanwhile_are_settled_before_the_server_answers() {
    let served = Served::new().await;
    let mut question = crate::harness::question();
    question["expires_in_ms"] = json!(3_000);
    let mut last = json!(null);
    for _ in 0..60 {
        last = created(served.agent().post("/v1/interrupts", &question).await);
    }
    let asked = tokio::time::Instant::now();
    let folder = served.stop().await;
    tokio::time::sleep_until(asked + std::time::Duration::from_millis(3_010)).await;
    let served = Served::again(folder).await;
    let open = ok(served.operator().get("/v1/interrupts?status=open").await);
    assert_eq!(open["items"], json!([]));
    let late = served.operator().decide(&last, &json!({"option": "approve"})).await;
    assert_eq!((refusal(&late).0, &late.1["resolution"]["outcome"]), (410, &json!("expired")));
}

#[tokio::test]
async fn a_poll_without_a_decision_answers_with_what_is_there() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let path = format!("/v1/interrupts/{}?wait=1", text(&asked, "id"));
    assert_eq!(ok(served.agent().get(&path).await), asked);
}

#[tokio::test]
async fn nobody_decides_and_the_poll_sees_the_expiry() {
    let served = Served::new().await;
    let mut question = crate::harness::question();
    question["expires_in_ms"] = json!(200);
    let asked = created(served.agent().post("/v1/interrupts", &question).await);
    assert!(text(&asked, "expires_at").ends_with('Z'));
    let path = format!("/v1/interrupts/{}?wait=15", text(&asked, "id"));
    let expired = ok(served.agent().get(&path).await);
    assert_eq!(
        expired["resolution"],
        json!({
            "outcome": "expired", "option": "reject", "effect": "refuse", "by": [], "cause": "expiry",
            "at": expired["resolution"]["at"],
        })
    );
    let late = served.operator().decide(&asked, &json!({"option": "approve"})).await;
    assert_eq!(refusal(&late).0, 410);
    assert_eq!(late.1["resolution"], expired["resolution"]);
}

#[tokio::test]
async fn an_external_run_asks_several_times_and_finishes() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let run = agent.start_external().await;
    assert_eq!((&run["status"], &run["input"]), (&json!("running"), &json!({"task": "t"})));
    let id = text(&run, "id");
    let ask = |title: &str| json!({"kind": "question", "title": title, "run": id});
    let first = created(agent.post("/v1/interrupts", &ask("first")).await);
    let second = created(agent.post("/v1/interrupts", &ask("second")).await);
    assert_eq!(first["session"], run["session"]);

    // The second question is answered while the first question is still open.
    ok(operator.decide(&second, &json!({"option": "answer", "text": "2"})).await);
    let open = ok(agent.get(&format!("/v1/runs/{id}")).await)["open_interrupts"].clone();
    assert_eq!(open, json!([first["id"]]));

    let finished = ok(agent.post(&format!("/v1/runs/{id}/finish"), &json!({"result": [1, 2]})).await);
    assert_eq!(
        (&finished["status"], &finished["end_reason"], &finished["result"], &finished["open_interrupts"]),
        (&json!("completed"), &json!("finished"), &json!([1, 2]), &json!([]))
    );
    let closed = ok(agent.get(&format!("/v1/interrupts/{}", text(&first, "id"))).await);
    assert_eq!(
        (&closed["resolution"]["outcome"], &closed["resolution"]["cause"]),
        (&json!("cancelled"), &json!("run_ended"))
    );
    let again = agent.post(&format!("/v1/runs/{id}/finish"), &json!({"result": null})).await;
    assert_eq!(refusal(&again), (409, "run_ended", vec![]));
    let third = agent.post("/v1/interrupts", &ask("third")).await;
    assert_eq!(refusal(&third), (409, "run_ended", vec![]));
}

#[tokio::test]
async fn a_question_may_join_a_session_that_is_there() {
    let served = Served::new().await;
    let agent = served.agent();
    let first = agent.ask().await;
    let mut question = crate::harness::question();
    question["session"] = first["session"].clone();
    let second = created(agent.post("/v1/interrupts", &question).await);
    assert_eq!(second["session"], first["session"]);
    assert_ne!(second["run"], first["run"]);

    let session = ok(served.operator().get(&format!("/v1/sessions/{}", text(&first, "session"))).await);
    assert_eq!(session["runs"], json!([second["run"], first["run"]]));
    let path = format!("/v1/sessions/{}/interrupts", text(&first, "session"));
    let listed = ok(served.operator().get(&path).await);
    let shown = listed["items"].as_array().expect("a list").iter().map(|item| {
        let mut item = item.clone();
        // An agent never decides, so its items have no field `you`.
        item.as_object_mut().expect("an object").remove("you");
        item
    });
    assert_eq!(shown.collect::<Vec<_>>(), [first, second]);
}

#[tokio::test]
async fn who_decides_is_warned_of_what_is_not_what_it_looks_like() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let ask = json!({
        "kind": "tool_approval", "title": "Fetch it", "message": "As\u{202e} ever",
        "payload": {"command": "\u{441}url https://example.org"},
    });
    let asked = created(agent.post("/v1/interrupts", &ask).await);
    let warnings = json!([
        {"kind": "look_alike", "at": "/payload/command", "text": "\u{441}url", "looks_like": "curl"},
        {"kind": "hidden_characters", "at": "/message", "text": "As\\u{202e}"},
    ]);
    let listed = ok(operator.get("/v1/interrupts").await)["items"][0].clone();
    let decided = ok(operator.decide(&asked, &json!({"option": "reject"})).await);
    for interrupt in [&asked, &listed, &decided] {
        assert_eq!(interrupt["warnings"], warnings);
    }
    assert!(agent.ask().await.get("warnings").is_none());
}
