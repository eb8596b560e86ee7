//! Tasks start, pause and continue: cases 37 to 39, 42 and 43.

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::eventually;
use serde_json::{Value, json};

use super::{BASE, at_the_analyst, get, key, model, paused, post, request_counts, server, setup, wait_state};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_37_a_run_answers_when_it_is_paused_or_at_once() {
    let (model, server) = server().await;
    let sync = json!({"crew_name": "fraud", "inputs": {"case": "T123"}});
    let (status, run) = post(&server, "/crew/run", &sync).await;
    let task = run["task_id"].as_str().unwrap();
    let review = run["result"]["review_id"].as_str().unwrap();
    assert!(review.starts_with("REV-"), "{run}");
    let expected = json!({
        "success": true, "crew_name": "fraud", "task_id": task, "status": "paused", "error": null,
        "result": {"status": "paused", "message": "Waiting for reviewer", "review_id": review},
    });
    assert_eq!((status, &run), (200, &expected));
    assert_eq!(request_counts(&model), [1, 1, 1, 1, 0], "the report waits");

    let shown = get(&server, &format!("/crew/status/{task}")).await;
    let told = json!([
        shown["status"],
        shown["state"],
        shown["crew_name"],
        shown["inputs"],
        shown["current_agent"],
        shown["review_id"],
        shown["result"],
        shown["error"],
    ]);
    let expected =
        json!(["PAUSED", "paused", "fraud", {"case": "T123"}, "compliance_checker", review, null, null]);
    assert_eq!(told, expected, "{shown:#}");
    for time in ["created_at", "last_updated", "paused_at"] {
        assert!(shown[time].as_str().is_some_and(|at| at.ends_with('Z')), "{time}: {shown}");
    }

    server.wait_for_log("no channel notifies reviewers").await;

    let in_the_background = json!({"crew_name": "fraud", "inputs": {}, "async_execution": true});
    let (status, run) = post(&server, "/crew/run", &in_the_background).await;
    let task = run["task_id"].as_str().unwrap();
    assert_eq!(
        (status, &run["success"], &run["result"], &run["error"]),
        (200, &json!(true), &Value::Null, &Value::Null)
    );
    let shown = wait_state(&server, task, "PAUSED").await;
    assert!(shown["review_id"].is_string());
    let tasks = get(&server, "/crew/tasks?state=paused&crew_name=fraud").await;
    assert_eq!(tasks["count"], 2, "{tasks}");
    assert_eq!(get(&server, "/crew/tasks?state=completed").await["count"], 0);
    assert_eq!(get(&server, "/crew/tasks?crew_name=pair").await["count"], 0);
    for (path, member) in
        [("/crew/tasks?state=paused&limit=1", "tasks"), ("/crew/reviews?status=pending&limit=1", "reviews")]
    {
        let all = get(&server, path.strip_suffix("&limit=1").unwrap()).await;
        let first = get(&server, path).await;
        let cursor = first["next_cursor"].as_str().unwrap_or_else(|| panic!("{first}"));
        let second = get(&server, &format!("{path}&cursor={cursor}")).await;
        assert_eq!(json!([first[member][0], second[member][0]]), all[member]);
        assert_eq!((&second["next_cursor"], &all["next_cursor"]), (&Value::Null, &Value::Null));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_38_after_an_approval_the_next_task_begins_and_no_earlier_agent_is_asked() {
    let (model, server) = server().await;
    let (task, review) = paused(&server).await;
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    let told = json!([
        shown["review_id"],
        shown["id"],
        shown["task_id"],
        shown["status"],
        shown["findings"],
        shown["risk_level"],
        shown["implications"],
        shown["regulatory_implications"],
        shown["responses"],
        shown["details"]["content"],
    ]);
    let expected = json!([
        review,
        review,
        task,
        "pending",
        "structuring\nvelocity",
        "high",
        ["SAR filing"],
        ["SAR filing"],
        [],
        "Account A split 14,000 into three.",
    ]);
    assert_eq!(told, expected, "{shown:#}");
    let listed = get(&server, "/crew/reviews?status=pending").await;
    assert_eq!((&listed["count"], &listed["reviews"][0]["review_id"]), (&json!(1), &json!(review)));

    let decision = json!({"status": "approved", "comments": "Looks good, proceed"});
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &decision).await;
    let words = json!([told["success"], told["status"], told["task_id"], told["review_id"]]);
    assert_eq!((status, words), (200, json!([true, "resuming", task, review])));
    let shown = wait_state(&server, &task, "COMPLETED").await;
    assert_eq!(shown["result"], json!({"report": "done", "cases": 1}), "JSON in text is that JSON");
    assert_eq!(request_counts(&model), [1, 1, 1, 1, 1], "agents 1 to 4 are not asked again");
    let request = model.requests_of("report_writer")[0].texts().join("\n");
    let decision = "The review was approved by operator: Looks good, proceed";
    for word in ["Account A split 14,000 into three.", decision] {
        assert!(request.contains(word), "the decision enters what comes next: {request}");
    }

    let shown = get(&server, &format!("/crew/review/{task}")).await;
    let response = &shown["responses"][0];
    let told = json!([shown["status"], response["status"], response["reviewer"], response["comments"]]);
    assert_eq!(told, json!(["approved", "approved", "operator", "Looks good, proceed"]));
    assert!(response["timestamp"].is_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_39_a_rejection_fails_the_task_with_the_comment() {
    let (model, server) = server().await;
    let (task, _) = paused(&server).await;
    let decision = json!({"status": "rejected", "comments": "names are in it"});
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &decision).await;
    assert_eq!((status, &told["status"]), (200, &json!("rejected")));
    let shown = wait_state(&server, &task, "FAILED").await;
    assert_eq!(shown["error"], "Compliance review rejected: names are in it", "without the review's title");
    assert_eq!(request_counts(&model)[4], 0, "no report");
    assert_eq!(get(&server, &format!("/crew/review/{task}")).await["status"], "rejected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_synchronous_run_tells_its_end() {
    let model = model().await;
    model.script("compliance_checker", vec![Scripted::text("Nothing to release.")]);
    let server = setup(&model).start().await;
    let body = json!({"crew_name": "fraud", "inputs": {"query": "any?"}});
    let (status, run) = post(&server, "/crew/run", &body).await;
    let told = json!([run["success"], run["status"], run["result"], run["error"]]);
    assert_eq!((status, told), (200, json!([true, "completed", {"report": "done", "cases": 1}, null])));

    model.script(
        "compliance_checker",
        vec![Scripted::status(400), Scripted::status(400), Scripted::status(400)],
    );
    let (status, run) = post(&server, "/crew/run", &body).await;
    assert_eq!((status, &run["success"], &run["result"]), (200, &json!(false), &Value::Null), "{run}");
    assert!(run["error"].as_str().is_some_and(|error| !error.is_empty()), "{run}");
}

/// A waiting task survives a restart at each stage, and agents that have finished are not called again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_43_a_restart_changes_nothing_that_a_client_sees() {
    let (model, mut server) = server().await;
    let (task, review) = paused(&server).await;
    let before = get(&server, &format!("/crew/status/{task}")).await;
    server.restart().await;
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await, before);
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!((status, &told["review_id"]), (200, &json!(review)));
    server.restart().await;
    wait_state(&server, &task, "COMPLETED").await;
    server.restart().await;
    let again = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!((again.0, &again.1["status"]), (200, &json!("resuming")), "the same again, after a restart");
    assert_eq!(request_counts(&model)[..4], [1, 1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_pauses_a_task_and_nothing_begins_until_somebody_has_looked() {
    let (model, mut server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    let task = at_the_analyst(&model, &server).await;

    let findings = json!({
        "findings": "Sanctions hit on account B", "risk_level": "HIGH",
        "regulatory_implications": ["OFAC"], "details": {"rule": "S-1"},
    });
    let pause = |token: String| {
        let (server, task, findings) = (&server, task.clone(), findings.clone());
        async move {
            super::ask(server, &token, reqwest::Method::POST, &format!("/crew/pause/{task}"), Some(&findings))
                .await
        }
    };
    let (status, told) = pause(service.clone()).await;
    let review = told["review_id"].as_str().unwrap().to_owned();
    assert_eq!((status, &told["success"], &told["status"]), (200, &json!(true), &json!("paused")), "{told}");
    let (status, told) = pause(service.clone()).await;
    let words = json!([told["success"], told["review_id"]]);
    assert_eq!((status, words), (200, json!([false, review])), "paused already: the same review");

    // The model request that is already running ends, and no new work begins.
    model.release();
    eventually("its reply is kept", async || {
        let story = server.story(&task).await;
        (story.iter().filter(|kind| *kind == "model_replied").count() == 2).then_some(())
    })
    .await;
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    assert_eq!(request_counts(&model), [1, 1, 0, 0, 0]);
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    let told = json!([
        shown["findings"],
        shown["risk_level"],
        shown["implications"],
        shown["details"]["rule"],
        shown["agent"],
    ]);
    assert_eq!(told, json!(["Sanctions hit on account B", "HIGH", ["OFAC"], "S-1", "watcher"]));

    server.restart().await;
    assert_eq!(request_counts(&model), [1, 1, 0, 0, 0]);
    let decision = json!({"status": "approved", "comments": "a namesake"});
    post(&server, &format!("/crew/resume/{task}"), &decision).await;
    // The crew continues until its own review, and its agents receive the decision on the service's review.
    let shown = eventually("its own review is open", async || {
        let shown = get(&server, &format!("/crew/status/{task}")).await;
        (shown["status"] == "PAUSED" && shown["review_id"] != json!(review)).then_some(shown)
    })
    .await;
    assert_eq!(request_counts(&model), [1, 1, 1, 1, 0]);
    let request = model.requests_of("fraud_pattern_hunter")[0].texts().join("\n");
    assert!(request.contains("The review was approved by operator: a namesake"), "{request}");
    let review = get(&server, &format!("/crew/review/{task}")).await;
    assert_eq!(review["history"].as_array().unwrap().len(), 1, "{review}");
    assert_eq!(review["review_id"], shown["review_id"]);
}

/// A service that pauses a task with an open review receives this review. The service's findings become a comment on
/// the review.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_finds_more_says_it_beside_the_open_review() {
    let (_model, server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    let (task, review) = paused(&server).await;
    let findings = json!({"findings": "Sanctions hit on account B", "risk_level": "HIGH"});
    for _ in 0..2 {
        let path = format!("/crew/pause/{task}");
        let (status, told) =
            super::ask(&server, &service, reqwest::Method::POST, &path, Some(&findings)).await;
        assert_eq!(
            (status, &told["success"], &told["review_id"]),
            (200, &json!(false), &json!(review)),
            "{told}"
        );
    }
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    assert_eq!(shown["findings"], "structuring\nvelocity", "its own");
    let comments = shown["comments"].as_array().unwrap();
    assert_eq!((comments.len(), &comments[0]["by"]), (1, &json!("watcher")), "{shown}");
    assert!(comments[0]["text"].as_str().unwrap().contains("Sanctions hit on account B"), "{shown}");
}

/// A finding that is too long for a comment is truncated. If the list of comments is full, the finding is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_finding_beside_the_open_review_is_cut_and_one_too_many_is_refused() {
    let (_model, server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    let (task, review) = paused(&server).await;
    let path = format!("/crew/pause/{task}");
    let pause = async |findings: String| {
        let body = json!({"findings": findings, "risk_level": "critical"});
        super::ask(&server, &service, reqwest::Method::POST, &path, Some(&body)).await
    };
    let (status, told) = pause("ä match. ".repeat(10_000)).await;
    assert_eq!((status, &told["review_id"]), (200, &json!(review)), "{told}");
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    let text = shown["comments"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 64 * 1024 && text.contains("(Cut: this is the beginning of 10"), "{}", text.len());

    for n in 1..200 {
        assert_eq!(pause(n.to_string()).await.0, 200, "{n}");
    }
    let (status, told) = pause("one more".to_owned()).await;
    assert_eq!((status, &told["code"]), (409, &json!("limit_reached")), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("the maximum number of comments"), "{told}");
    assert_eq!(told["errors"].as_array().map_or(0, Vec::len), 0, "no member of the body is wrong: {told}");
    let (status, told) = pause("x".repeat(300_000)).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("")), "{told}");
    assert!(told["detail"].as_str().unwrap().starts_with("the body is larger than"), "{told}");
}

/// If several pauses arrive at the same time, one of them opens the review. All other pauses return the same review,
/// even if one service sent all pauses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_pauses_at_once_one_opens_the_review() {
    let (model, server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    let task = at_the_analyst(&model, &server).await;
    let path = format!("/crew/pause/{task}");
    // Each character has three bytes, and the first line must be truncated to fit a title.
    let bodies: Vec<Value> = ["一", "二", "三", "四", "五"]
        .iter()
        .map(|each| json!({"findings": each.repeat(300), "risk_level": "high", "details": {"amount": 14.0}}))
        .collect();
    let pauses =
        bodies.iter().map(|body| super::ask(&server, &service, reqwest::Method::POST, &path, Some(body)));
    let told = futures::future::join_all(pauses).await;
    let opened = told.iter().filter(|(_, told)| told["success"] == true).count();
    assert!(told.iter().all(|(status, _)| *status == 200) && opened == 1, "{told:?}");
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    assert_eq!(shown["comments"].as_array().unwrap().len(), 4, "what the others found stands beside it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_pause_fails_the_task() {
    let (model, server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    model.script("graph_analyst", vec![Scripted::hang()]);
    let (_, run) = post(&server, "/crew/run", &json!({"crew_name": "fraud", "async_execution": true})).await;
    let task = run["task_id"].as_str().unwrap();
    let findings = json!({"findings": "PEP", "risk_level": "critical"});
    let path = format!("/crew/pause/{task}");
    super::ask(&server, &service, reqwest::Method::POST, &path, Some(&findings)).await;
    let decision = json!({"status": "rejected", "comments": "a PEP indeed"});
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &decision).await;
    assert_eq!((status, &told["status"]), (200, &json!("rejected")));
    let shown = get(&server, &format!("/crew/status/{task}")).await;
    assert_eq!(shown["status"], "FAILED");
    assert_eq!(shown["error"], "Compliance review rejected: a PEP indeed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_in_time_fails_the_task_and_the_review_is_expired() {
    let model = model().await;
    let workflow = super::WORKFLOW.to_owned() + "gates: {review: {expires_in: 300ms}}\n";
    let server = setup(&model).workflow("fraud", &workflow).start().await;
    let body = json!({"crew_name": "fraud", "async_execution": true});
    let (_, run) = post(&server, "/crew/run", &body).await;
    let task = run["task_id"].as_str().unwrap();
    let shown = wait_state(&server, task, "FAILED").await;
    assert!(shown["error"].as_str().unwrap().contains("in time"), "{shown}");
    assert_eq!(get(&server, &format!("/crew/review/{task}")).await["status"], "expired");
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!(status, 409, "{told}");
    let review = shown["review_id"].as_str().unwrap();
    let path = format!("/webhooks/callback/{review}");
    let (status, told) = post(&server, &path, &json!({"status": "approved"})).await;
    assert_eq!((status, &told["success"], &told["status"]), (200, &json!(false), &json!("expired")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_is_a_failed_task() {
    let (_model, server) = server().await;
    let (task, _) = paused(&server).await;
    server.post(&format!("/v1/runs/{task}/cancel"), &json!({})).await.ok();
    let shown = wait_state(&server, &task, "FAILED").await;
    assert_eq!(shown["error"], "cancelled", "contract E30");
    assert_eq!(get(&server, &format!("/crew/review/{task}")).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_base_serves_both_forms_of_the_paths() {
    let (_model, server) = server().await;
    for base in ["/edges/crew", BASE] {
        let crews = server.get(&format!("{base}/crew/crews")).await.ok();
        let names: Vec<_> =
            crews["crews"].as_array().unwrap().iter().map(|crew| crew["name"].clone()).collect();
        assert!(names.contains(&json!("fraud")) && !names.contains(&json!("external")), "{names:?}");
        let listed = server.get(&format!("{base}/crew")).await.ok();
        let listed = listed["crews"].as_array().unwrap();
        assert!(names.iter().all(|name| listed.contains(name)), "{listed:?}");
        let crew = server.get(&format!("{base}/crew/crews/fraud")).await.ok();
        assert_eq!(
            crew["agents"],
            json!([
                "nlq_translator",
                "graph_analyst",
                "fraud_pattern_hunter",
                "compliance_checker",
                "report_writer"
            ])
        );
        let agents = server.get(&format!("{base}/crew/agents")).await.ok();
        assert!(agents["agents"].as_array().unwrap().iter().any(|agent| agent["id"] == "graph_analyst"));
        let of_crew = server.get(&format!("{base}/crew/agents?crew_name=fraud")).await.ok();
        let ids: Vec<_> = of_crew["agents"].as_array().unwrap().iter().map(|agent| &agent["id"]).collect();
        assert_eq!(json!(ids), crew["agents"], "{of_crew}");
        let agent = server.get(&format!("{base}/crew/agents/compliance_checker")).await.ok();
        assert!(agent["goal"].is_string() && crew["process_type"] == "sequential", "{agent} {crew}");
        // A shipped crew also has an agent of this name, so the tools of both crews are listed.
        assert_eq!(agent["tools"], json!(["case_findings", "case_query", "request_review"]));
        assert_eq!(agent["crews"], json!(["compliance", "fraud"]));
        for path in
            ["/crew/crews/none", "/crew/agents/none", "/crew/crews/external", "/crew/agents?crew_name=none"]
        {
            assert_eq!(server.get(&format!("{base}{path}")).await.status, 404, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_request_under_one_key_starts_one_crew() {
    let (_model, server) = server().await;
    let body = json!({"crew_name": "fraud", "inputs": {"case": 1}, "async_execution": true});
    let run = async || {
        let request = server
            .request(reqwest::Method::POST, &format!("{BASE}/crew/run"))
            .header("idempotency-key", "T123")
            .json(&body);
        server.send(request).await.ok()
    };
    let first = run().await;
    assert_eq!(run().await["task_id"], first["task_id"]);
    assert!(first.get("erased").is_none() && first.get("bypassed").is_none(), "{first}");

    // The idempotency key stays valid after the task was erased. Every view then says that the task was erased.
    let task = first["task_id"].as_str().unwrap();
    wait_state(&server, task, "PAUSED").await;
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    wait_state(&server, task, "COMPLETED").await;
    server.post("/v1/erasures", &json!({"run": task})).await.ok();
    let again = run().await;
    assert_eq!((&again["task_id"], &again["result"]), (&first["task_id"], &Value::Null), "{again}");
    let status = get(&server, &format!("/crew/status/{task}")).await;
    let review = get(&server, &format!("/crew/review/{task}")).await;
    for told in [again, status, review] {
        let erased = &told["erased"];
        assert_eq!((&erased["by"], &erased["because"]), (&json!("operator"), &json!("request")), "{told}");
    }
}

/// If a client sends a trace when it starts a crew, the run joins that trace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crew_joins_the_trace_of_who_started_it() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let model = model().await;
    let server = setup(&model).start().await;
    let body = json!({"crew_name": "fraud", "inputs": {"case": "T123"}, "async_execution": true});
    let request = server.request(reqwest::Method::POST, &format!("{BASE}/crew/run")).json(&body);
    let told = server.send(request.header("traceparent", PARENT)).await.ok();
    let started = server.events_of(told["task_id"].as_str().unwrap(), "run_started").await;
    assert_eq!(started[0]["data"]["trace"], PARENT);
}

/// Agents without file tools read only their input, so a crew without a directory accepts any text as its case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crew_without_a_folder_takes_any_case() {
    let model = super::model().await;
    model.script("compliance_checker", vec![Scripted::text("Nothing to release.")]);
    let server = super::setup(&model).start().await;
    let body = json!({"crew_name": "fraud", "inputs": {"case": "../T123"}});
    let (status, run) = post(&server, "/crew/run", &body).await;
    assert_eq!((status, &run["status"]), (200, &json!("completed")), "{run}");
}
