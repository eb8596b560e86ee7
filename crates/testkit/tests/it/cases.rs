//! Acceptance cases in their native form. The name of each test contains the number of its case.

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::play::{SOLO, ask, command, count, done, last_told, one, play, read, solo, write};

#[tokio::test]
async fn case_16_allowed_for_the_session() {
    let steps = [one(count("one")), one(count("two")), one(command("pip install left-pad")), done()];
    let (_model, server) = solo(steps).await;
    let run = server.start_run("solo", "count").await;
    let first = server.wait_one(&run).await;
    assert_eq!(first["kind"], "tool_approval");
    server.choose(&first, "approve_session").await;
    let install = server.wait_one(&run).await;
    assert_eq!(install["payload"]["arguments"]["command"], "pip install left-pad");
    assert_eq!(server.lines("count.txt"), 2);
    server.choose(&install, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 2);
    let session = server.run(&run).await["session"].as_str().unwrap().to_owned();
    let grants = server.get(&format!("/v1/sessions/{session}/grants")).await.ok();
    assert_eq!(grants["items"][0]["tool"], "run_command");

    // After the grant is revoked, the next run of the session asks again.
    let grant = grants["items"][0]["id"].as_str().unwrap().to_owned();
    let revoked = server.send(server.request(Method::DELETE, &format!("/v1/grants/{grant}"))).await;
    assert!(revoked.status < 300, "{revoked:?}");
    let mut body = server.run_body("solo", "count");
    body["session"] = session.into();
    let next = server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned();
    server.wait_one(&next).await;
}

#[tokio::test]
async fn case_17_refused_and_edited() {
    let (model, server) = solo([one(count("no")), one(count("raw")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let refused = server.wait_one(&run).await;
    server.decide(&refused, &json!({"option": "reject", "text": "not that"})).await.ok();
    let edited = server.wait_one(&run).await;
    assert_eq!(server.lines("count.txt"), 0);
    assert!(last_told(&model).contains("not that"), "{}", last_told(&model));
    let edit = json!({"option": "edit", "edit": {"command": "echo edited >> count.txt"}});
    server.decide(&edited, &edit).await.ok();
    server.wait_status(&run, &["completed"]).await;
    let counted = std::fs::read_to_string(server.workspace().join("count.txt")).unwrap();
    assert_eq!(counted, "edited\n");
    // The digest that was shown differs from the digest of the call that ran.
    let authorised = server.events_of(&run, "tool_authorised").await;
    assert_eq!(authorised.len(), 1);
    assert_ne!(authorised[0]["data"]["digest"], edited["action_digest"]);
}

#[tokio::test]
async fn case_21_a_limit_asks_for_a_fresh_budget() {
    let workflow = format!("{SOLO}limits: {{rounds: 2}}\n");
    let steps = [one(read("a")), one(read("a")), one(read("a")), done()];
    let (model, server) = play(&workflow, steps).await;
    let run = server.start_run("solo", "go on").await;
    let limit = server.wait_one(&run).await;
    assert_eq!((&limit["kind"], &limit["payload"]["limit"]), (&json!("continuation"), &json!("rounds")));
    assert_eq!(model.requests().len(), 2);
    server.decide(&limit, &json!({"option": "continue", "text": "look in b"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert!(last_told(&model).contains("look in b"));
    let late = server.decide(&limit, &json!({"option": "finish"})).await;
    assert_eq!(late.refusal(), (409, "already_resolved"));
    let steer = server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "more"})).await;
    assert_eq!(steer.refusal(), (409, "run_ended"));
    server.events(&run).await;
}

#[tokio::test]
async fn case_22_a_person_speaks_pauses_and_cancels_while_it_works() {
    let hang = Scripted::Hang(Box::new(one(read("a"))));
    let (model, server) = solo([hang, Scripted::hang()]).await;
    let run = server.start_run("solo", "work").await;
    model.wait_for_requests(1).await;
    server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "use TypeScript"})).await.ok();
    server.post(&format!("/v1/runs/{run}/pause"), &json!({})).await.ok();
    assert_eq!(server.run(&run).await["status"], "paused");
    model.release();
    // The model's reply is stored, but no call starts.
    eventually("the reply", async || {
        server.story(&run).await.contains(&"model_replied".to_owned()).then_some(())
    })
    .await;
    assert_eq!(model.requests().len(), 1);
    server.post(&format!("/v1/runs/{run}/resume"), &json!({})).await.ok();
    model.wait_for_requests(2).await;
    assert!(last_told(&model).contains("use TypeScript"));
    server.wait_status(&run, &["completed"]).await;
    server.events(&run).await;
}

#[tokio::test]
async fn case_22_cancel_acts_while_the_model_hangs() {
    let (model, server) = solo([Scripted::hang()]).await;
    let run = server.start_run("solo", "work").await;
    model.wait_for_requests(1).await;
    let body = json!({"text": "enough"});
    let cancelled = server.post(&format!("/v1/runs/{run}/cancel"), &body).await.ok();
    assert_eq!((&cancelled["status"], &cancelled["end_message"]), (&json!("cancelled"), &json!("enough")));
    model.wait_for_hang_ups(1).await;
    let ended = server.events_of(&run, "run_cancelled").await;
    assert_eq!(ended[0]["actor"]["id"], "operator");
}

#[tokio::test]
async fn case_31_two_calls_in_one_reply() {
    let (model, server) = solo([Scripted::calls([read("a.txt"), write("b.txt", "beta")]), done()]).await;
    std::fs::write(server.workspace().join("a.txt"), "alpha").unwrap();
    let run = server.start_run("solo", "work").await;
    let gated = server.wait_one(&run).await;
    assert_eq!(gated["payload"]["tool"], "write_file");
    // The read has run, but the model has not been called again.
    let ran = server.events_of(&run, "tool_finished").await;
    assert_eq!((ran.len(), &ran[0]["data"]["content"]["text"]), (1, &json!("alpha")));
    assert_eq!(model.requests().len(), 1);
    server.choose(&gated, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests().len(), 2);
    let messages = model.requests()[1].body["messages"].as_array().unwrap().clone();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    for (call, result) in messages[2]["tool_calls"].as_array().unwrap().iter().zip(&messages[3..]) {
        assert_eq!(call["id"], result["tool_call_id"]);
    }
    assert_eq!(std::fs::read_to_string(server.workspace().join("b.txt")).unwrap(), "beta");
    server.events(&run).await;
}

#[tokio::test]
async fn case_33_ask_and_go_on() {
    let (model, server) = solo([one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "work").await;
    let question = server.wait_one(&run).await;
    assert_eq!((&question["kind"], &question["payload"]["question"]), (&json!("question"), &json!("Which?")));
    server.decide(&question, &json!({"option": "answer", "text": "ill"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests().len(), 2);
    let last = model.requests()[1].body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["role"], &last["content"]), (&json!("tool"), &json!("ill")));
    server.events(&run).await;
}

#[tokio::test]
async fn case_34_resume_repeats_nothing() {
    let plot = one(count("plot"));
    let (model, mut server) = solo([one(read("a")), plot, one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "plot").await;
    let approval = server.wait_one(&run).await;
    server.choose(&approval, "approve").await;
    let question = eventually("the question", async || {
        server.open(&run).await.into_iter().find(|each| each["kind"] == "question")
    })
    .await;
    let before = (model.requests().len(), server.lines("count.txt"));
    assert_eq!(before, (3, 1));
    server.restart().await;
    let same = server.wait_one(&run).await;
    assert_eq!(same, question);
    assert_eq!((model.requests().len(), server.lines("count.txt")), before);
    server.decide(&same, &json!({"option": "answer", "text": "the second"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!((model.requests().len(), server.lines("count.txt")), (4, 1));
    assert!(last_told(&model).contains("the second"));
    server.events(&run).await;
}

#[tokio::test]
async fn case_35_asking_is_off() {
    let workflow = format!("{SOLO}asking: {{enabled: false}}\n");
    let (model, server) =
        play(&workflow, [one(ask("Which?")), Scripted::text("Shall I go on?"), done()]).await;
    let run = server.start_run("solo", "work").await;
    server.wait_status(&run, &["completed"]).await;
    let offered = model.requests()[0].tools();
    assert!(offered.iter().any(|tool| tool == "read_file"), "{offered:?}");
    assert!(!offered.iter().any(|tool| tool == "ask_human"), "{offered:?}");
    assert!(last_told(&model).contains("not available"), "{}", last_told(&model));
    assert!(last_told(&model).contains("Nobody can be asked: decide by yourself"), "{}", last_told(&model));
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 0);
}

#[tokio::test]
async fn case_45_nobody_is_there() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "work").await;
    server.wait_one(&run).await;
    // The run keeps waiting and stays listed while the server restarts without a connected client.
    for _ in 0..3 {
        server.restart().await;
        let list = server.get("/v1/interrupts?status=open").await.ok();
        assert_eq!((list["items"].as_array().unwrap().len(), &list["items"][0]["run"]), (1, &json!(run)));
    }
    assert_eq!((server.lines("count.txt"), &server.run(&run).await["status"]), (0, &json!("waiting")));
    assert_eq!(server.events_of(&run, "interrupt_resolved").await.len(), 0);
}

#[tokio::test]
async fn case_46_every_request_has_one_terminal_entry() {
    let calls = [count("a"), count("b"), count("c"), write("d.txt", "d")];
    let (_model, server) = solo([Scripted::calls(calls), one(ask("Which?")), one(count("e")), done()]).await;
    let run = server.start_run("solo", "work").await;
    let open = server.wait_open(&run, 4).await;
    let shown = |n: usize| open[n]["action_digest"].clone();
    server.choose(&open[0], "approve").await;
    server.decide(&open[1], &json!({"option": "reject", "text": "no"})).await.ok();
    let edit = json!({"option": "edit", "edit": {"command": "echo C >> other.txt"}});
    server.decide(&open[2], &edit).await.ok();
    server.decide(&open[3], &json!({"option": "respond", "text": "it is there"})).await.ok();
    let question = server.wait_one(&run).await;
    server.decide(&question, &json!({"option": "skip"})).await.ok();
    let last = server.wait_one(&run).await;
    let cancel = server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    assert_eq!(cancel["status"], "cancelled");

    let events = server.events(&run).await;
    let opened: Vec<&Value> = events.iter().filter(|event| event["type"] == "interrupt_opened").collect();
    assert_eq!(opened.len(), 6);
    for opened in &opened {
        let id = &opened["data"]["interrupt"];
        let of = |kind: &str| -> Vec<&Value> {
            let about = |event: &&Value| event["type"] == kind && event["data"]["interrupt"] == *id;
            events.iter().filter(about).collect()
        };
        let resolved = of("interrupt_resolved");
        assert_eq!(resolved.len(), 1, "{opened:#}");
        let decisions = of("decision_made");
        if *id == last["id"] {
            assert_eq!((&resolved[0]["data"]["outcome"], decisions.len()), (&json!("cancelled"), 0));
        } else {
            let actor = json!({"id": "operator", "role": "operator", "via": "rest"});
            assert_eq!((&resolved[0]["actor"], decisions.len()), (&actor, 1));
            assert!(resolved[0]["data"]["effect"].is_string(), "{:#}", resolved[0]);
            assert_eq!(resolved[0]["data"]["option"], decisions[0]["data"]["option"]);
        }
    }
    // The edited call has two digests, one of the call that was shown and one of the call that ran.
    let digests = |kind: &str, call: &Value| -> Vec<Value> {
        let of = |event: &&Value| event["type"] == kind && event["data"]["call"] == *call;
        events.iter().filter(of).map(|event| event["data"]["digest"].clone()).collect()
    };
    let edited = &open[2]["payload"]["call_id"];
    assert_eq!(digests("tool_started", edited).len(), 1);
    assert_ne!(digests("tool_started", edited)[0], shown(2));
    assert_eq!(digests("tool_started", &open[0]["payload"]["call_id"]), [shown(0)]);
    assert_eq!((server.lines("count.txt"), server.lines("other.txt")), (1, 1));
    let verified = server.get("/v1/audit/verify").await.ok();
    assert_eq!(verified["intact"], true, "{verified:#}");
}

#[tokio::test]
async fn only_the_agents_own_is_open_to_an_agent() {
    let server = TestServer::setup().start().await;
    let body = json!({"kind": "question", "title": "Which?", "message": "", "payload": {}});
    let asked = server.send(server.agent_request(Method::POST, "/v1/interrupts").json(&body)).await.ok();
    let path = format!("/v1/interrupts/{}/decisions", asked["id"].as_str().unwrap());
    let decision = json!({"option": "answer", "text": "me"});
    let refused = server.send(server.agent_request(Method::POST, &path).json(&decision)).await;
    assert_eq!(refused.refusal(), (403, "forbidden_role"));
    let poll = format!("/v1/interrupts/{}?wait=25", asked["id"].as_str().unwrap());
    let decision = json!({"option": "answer", "text": "this"});
    let (resolved, decided) = tokio::join!(
        server.send(server.agent_request(Method::GET, &poll)),
        server.decide(&asked, &decision),
    );
    decided.ok();
    assert_eq!(resolved.ok()["resolution"]["text"], "this");
    server.events(asked["run"].as_str().unwrap()).await;
}
