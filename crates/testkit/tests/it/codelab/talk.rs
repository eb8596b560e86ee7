//! Conversations: questions, previous messages, and messages about failures.

use holdshort_testkit::model::Scripted;
use reqwest::Method;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, get, kinds, post, post_refused};
use super::{WORKFLOW, conversation, on_plan, plans, served, served_with, subtask, user};

/// The next message answers an agent's question, whether the agent asked with the tool or in plain text.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_by_the_next_word() {
    let (model, server) = served().await;
    let ask = json!({ "question": "Light or dark?", "choices": ["light", "dark"] });
    model.push("orchestrator", Scripted::call("ask_human", ask));
    // The first question in plain text is returned to the model. The second question is shown to the person.
    model.push("orchestrator", Scripted::text("Which page?"));
    model.push("orchestrator", Scripted::text("And which page do you mean?"));
    model.push("orchestrator", Scripted::text("Then it is dark."));
    let frames = post(&server, "s", &user("Style it.")).await;
    let question = find_only_frame(&frames, "assistant_message").clone();
    assert_eq!(
        (&question["content"], &question["is_final"], &question["metadata"]["choices"]),
        (&json!("Light or dark?"), &json!(true), &json!(["light", "dark"]))
    );
    assert_eq!(super::done(frames.last().unwrap()), "waiting");
    // A client that connects later also receives the question.
    let mut ide = Ide::connect(&server, "s").await;
    assert_eq!(ide.next().await, question);
    // The list of pending requests also contains the question.
    let pending = get(&server, "sessions/s/pending-approvals").await;
    let item = &pending["pending_questions"][0];
    assert_eq!(
        (&pending["count"], &item["request_type"], &item["request_id"], &item["details"]["choices"]),
        (&json!(0), &json!("question"), &question["metadata"]["request_id"], &json!(["light", "dark"]))
    );

    let frames = post(&server, "s", &user("dark")).await;
    assert_eq!(conversation(&model)[2]["content"], "dark", "it is the result of the call");
    // A text without a question's id answers the open question. The response first repeats the question that the text
    // answers.
    assert_eq!(kinds(&frames), ["assistant_message", "status", "assistant_message", "done"]);
    assert_eq!((&frames[0], &frames[2]["content"]), (&question, &json!("And which page do you mean?")));
    let frames = post(&server, "s", &user("Settings.")).await;
    assert_eq!(frames[frames.len() - 2]["content"], "Then it is dark.");
    assert_eq!(frames.last().unwrap()["status"], "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_and_a_limit_are_said() {
    let (model, server) = served_with(&WORKFLOW.replace("rounds: 50", "rounds: 2")).await;
    model.push("orchestrator", Scripted::status(400));
    let frames = post(&server, "failing", &user("Hello.")).await;
    let error = find_only_frame(&frames, "error");
    assert_eq!((&error["is_final"], &frames.last().unwrap()["status"]), (&json!(true), &json!("failed")));
    assert_ne!(error["code"], "run_ended");
    assert!(!kinds(&frames).contains(&"status"), "nothing is retried: {frames:#?}");

    for path in ["a", "b"] {
        model.push("orchestrator", Scripted::call("handoff_to_ask", json!({ "message": path })));
        model.push("ask", Scripted::call("handoff_to_coder", json!({ "message": path })));
    }
    model.push("coder", Scripted::text("Enough."));
    let frames = post(&server, "limited", &user("Hello.")).await;
    let limit = find_only_frame(&frames, "assistant_message");
    assert!(limit["content"].as_str().unwrap().contains("limit of 2 rounds"), "{limit}");
    let id = &limit["metadata"]["request_id"];
    assert_eq!(limit["metadata"], json!({ "request_id": id, "limit": true }));
    // A text message does not decide the request at a limit, whatever the text says (B4).
    let asked = model.requests().len();
    let frames = post(&server, "limited", &user("No, stop!")).await;
    let notice = find_only_frame(&frames, "assistant_message");
    assert_eq!((&notice["metadata"]["waiting"], &notice["metadata"]["request_id"]), (&json!(true), id));
    let pending = get(&server, "sessions/limited/pending-approvals").await;
    let item = &pending["pending_questions"][0];
    assert_eq!(
        (&pending["count"], &item["request_type"], &item["call_id"]),
        (&json!(0), &json!("limit"), id)
    );
    let decide = |decision: &str| {
        json!({ "type": "hitl_decision", "call_id": id, "decision": decision, "feedback": "Go on.",
            "modified_arguments": (decision == "edit").then(|| json!({})) })
    };
    let edit = json!({ "session_id": "limited", "message": decide("edit") });
    assert_eq!(post_refused(&server, &edit).await["errors"][0]["pointer"], "/message/decision");
    assert_eq!(model.requests().len(), asked);
    let frames = post(&server, "limited", &decide("approve")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Enough.");
    let told = model.requests().pop().unwrap().texts().join("\n");
    assert!(told.contains("Go on."), "{told}");

    model.push("orchestrator", Scripted::call("handoff_to_ask", json!({ "message": "a" })));
    model.push("ask", Scripted::call("handoff_to_coder", json!({ "message": "a" })));
    let frames = post(&server, "ended", &user("Hello.")).await;
    let id = find_only_frame(&frames, "assistant_message")["metadata"]["request_id"].clone();
    let asked = model.requests().len();
    let reject = json!({ "type": "hitl_decision", "call_id": id, "decision": "reject" });
    let status = post(&server, "ended", &reject).await.pop().unwrap()["status"].clone();
    assert!(status == "completed" || status == "failed", "{status}");
    assert_eq!(model.requests().len(), asked);
}

/// An answer reaches only the question that it names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_never_lands_on_another_question() {
    let (model, server) = served().await;
    let ask = |question: &str| ("ask_human", json!({ "question": question }));
    model.push("orchestrator", Scripted::calls([ask("Which colour?"), ask("Delete the database?")]));
    model.push("orchestrator", Scripted::text("Blue it is."));
    let frames = post(&server, "s", &user("Style it.")).await;
    let question = |text: &str| {
        frames.iter().find(|frame| frame["content"] == text).unwrap()["metadata"]["request_id"].clone()
    };
    let (colour, delete) = (question("Which colour?"), question("Delete the database?"));
    let unnamed = json!({ "session_id": "s", "message": user("blue") });
    let refused = post_refused(&server, &unnamed).await;
    assert_eq!(
        (&refused["type"], &refused["errors"][0]["pointer"]),
        (&json!("error"), &json!("/message/request_id"))
    );
    for id in [&colour, &delete] {
        assert!(refused["error"].as_str().unwrap().contains(id.as_str().unwrap()), "{refused}");
    }
    let answer = |id: &Value, text: &str| {
        let mut answer = user(text);
        answer["request_id"] = id.clone();
        answer
    };
    post(&server, "s", &answer(&colour, "blue")).await;
    // This client does not know that the first question has been answered.
    let refused = post_refused(&server, &json!({ "session_id": "s", "message": user("yes, blue") })).await;
    assert_eq!(refused["errors"][0]["pointer"], "/message/request_id", "{refused}");
    let again = json!({ "session_id": "s", "message": answer(&colour, "yes, blue") });
    assert_eq!(post_refused(&server, &again).await["code"], "already_resolved");
    let nothing =
        json!({ "session_id": "s", "message": answer(&json!("int_01k6f0000000000000000000cc"), "x") });
    assert_eq!(post_refused(&server, &nothing).await["code"], "not_found");
    let frames = post(&server, "s", &answer(&delete, "no")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Blue it is.");
    let told = conversation(&model);
    assert_eq!((&told[2]["content"], &told[3]["content"]), (&json!("blue"), &json!("no")));

    // The conversation that the model sees includes answers. A long reply is truncated, so that it displaces no other
    // message.
    model.push("orchestrator", Scripted::text("y".repeat(30_000)));
    post(&server, "s", &user("Tell me all.")).await;
    model.push("orchestrator", Scripted::text("Blue."));
    post(&server, "s", &user("Which colour was it?")).await;
    let told = conversation(&model)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("Style it.") && told.contains("(asked: Which colour?) blue"), "{told}");
    assert!(told.contains("yyy… (cut: 30000 bytes)"), "{told}");
}

/// Runs that other clients start in the session are not part of the conversation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_run_in_the_session_does_not_take_it_over() {
    let (model, server) = served().await;
    model.push("orchestrator", plans(&[subtask("a", "coder", &[])]));
    let plan = find_only_frame(&post(&server, "s", &user("Build it.")).await, "plan_notification").clone();
    let session = server.get("/v1/runs").await.ok()["items"][0]["session"].clone();
    model.push("orchestrator", Scripted::text("Native."));
    let body = json!({ "workflow": "codelab_ide", "session": session, "input": { "task": "native" } });
    let native = server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned();
    server.wait_status(&native, &["completed"]).await;
    let mut ide = Ide::open(&server, "s").await;
    let info = ide.next().await;
    assert_eq!((&info["status"], &info["pending_plans"]), (&json!("waiting"), &json!(1)), "{info}");
    model.push("coder", Scripted::text("Built."));
    let frames = post(&server, "s", &on_plan(&plan, "approve")).await;
    assert_eq!(find_only_frame(&frames, "plan_completed")["completed"], 1);
    model.push("orchestrator", Scripted::text("Hello."));
    post(&server, "s", &user("Hello?")).await;
    let told = conversation(&model)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("Build it.") && !told.contains("Native."), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_that_can_not_begin_cancels_nothing() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::call("ask_human", json!({ "question": "Which?" })));
    post(&server, "s", &user("Style it.")).await;
    let switch = |content: &str, reason: &str| {
        let message =
            json!({ "type": "switch_agent", "agent_type": "ask", "content": content, "reason": reason });
        json!({ "session_id": "s", "message": message })
    };
    let cases = [
        ("\u{1}".repeat(60_000), String::new(), "/message/content"),
        ("x".repeat(70_000), String::new(), "/message/content"),
        ("x".to_owned(), "x".repeat(70_000), "/message/reason"),
    ];
    for (content, reason, pointer) in cases {
        let refused = post_refused(&server, &switch(&content, &reason)).await;
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    let statuses = async || {
        let runs = server.get("/v1/runs").await.ok();
        runs["items"].as_array().unwrap().iter().map(|run| run["status"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(statuses().await, ["waiting"]);
    // No run begins in a suspended session. After the resume, the suspended work continues.
    let session = server.get("/v1/runs").await.ok()["items"][0]["session"].as_str().unwrap().to_owned();
    server.post(&format!("/v1/sessions/{session}/suspend"), &json!({})).await.ok();
    let refused = post_refused(&server, &switch("why?", "curious")).await;
    assert_eq!((&refused["code"], statuses().await), (&json!("session_suspended"), vec![json!("paused")]));
    server.post(&format!("/v1/sessions/{session}/resume"), &json!({})).await.ok();
    assert_eq!(statuses().await, ["waiting"]);
}

/// While a plan waits, neither a text nor a switch of agents starts work. Other sessions do not see the plan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_by_themselves() {
    let (model, server) = served().await;
    model.push("orchestrator", plans(&[subtask("a", "coder", &[])]));
    let frames = post(&server, "one", &user("Build it.")).await;
    let plan = find_only_frame(&frames, "plan_notification").clone();
    let switch = json!({ "type": "switch_agent", "agent_type": "ask", "content": "Explain it." });
    let frames = post(&server, "one", &switch).await;
    assert_eq!(kinds(&frames), ["assistant_message", "done"]);
    assert_eq!(find_only_frame(&frames, "assistant_message")["metadata"]["waiting"], true);

    let mut other = Ide::connect(&server, "two").await;
    assert_eq!(other.refused(&on_plan(&plan, "approve")).await["code"], "not_found");
    model.push("orchestrator", Scripted::text("Hello, two."));
    other.say(&user("Hello.")).await;
    let heard = other.until("done").await;
    assert_eq!(kinds(&heard), ["assistant_message", "done"], "nothing of the other session");
    assert_eq!(get(&server, "sessions/two/pending-plans").await["count"], 0);
    assert_eq!(get(&server, "sessions/one/pending-plans").await["count"], 1);

    // The model sees only previous messages of the same session.
    model.push("orchestrator", Scripted::text("I said hello."));
    post(&server, "two", &user("What did you say?")).await;
    let told = conversation(&model)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("Hello, two.") && !told.contains("Build it."), "{told}");
}

/// No work starts during a freeze, and waiting clients are notified of the freeze.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_freeze_is_said() {
    let (model, server) = served().await;
    let freeze = async |verb: &str, body: Value| server.post(&format!("/v1/system/{verb}"), &body).await.ok();
    let handoff = Scripted::call("handoff_to_ask", json!({ "message": "it is a question" }));
    model.push("orchestrator", Scripted::Hang(Box::new(handoff)));
    model.push("ask", Scripted::text("There."));
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Where is it?")).await;
    model.wait_for_requests(1).await;
    freeze("freeze", json!({"reason": "a look"})).await;
    // The model request that is already running ends, but no next request starts.
    model.release();
    let frames = ide.until("done").await;
    assert_eq!(kinds(&frames), ["agent_switched", "status", "done"]);
    assert_eq!((&frames[1]["status"], &frames[2]["status"]), (&json!("frozen"), &json!("frozen")));
    assert_eq!(Ide::open(&server, "s").await.next().await["status"], "frozen");
    let frames = post(&server, "other", &user("Hello.")).await;
    assert_eq!(kinds(&frames), ["status", "done"]);
    assert_eq!((&frames[0]["status"], &frames[1]["status"]), (&json!("frozen"), &json!("frozen")));
    assert_eq!(model.requests().len(), 1);
    // After the freeze is lifted, the run continues by itself.
    model.push("orchestrator", Scripted::text("Hello."));
    freeze("unfreeze", json!({})).await;
    let frames = ide.until("done").await;
    assert_eq!(kinds(&frames), ["assistant_message", "done"]);
    assert_eq!(frames[1]["status"], "completed");
}

/// A pause takes effect when the model request that is already running has ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_is_done_when_nothing_is_under_way() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::hang());
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Think.")).await;
    model.wait_for_requests(1).await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let steer = async |verb: &str| server.post(&format!("/v1/runs/{run}/{verb}"), &json!({})).await.ok();
    steer("pause").await;
    assert_eq!(ide.next().await["status"], "paused");
    model.release();
    assert_eq!(super::done(&ide.next().await), "paused");
    steer("resume").await;
    let frames = ide.until("done").await;
    assert_eq!(kinds(&frames), ["status", "assistant_message", "done"]);
}

/// A gateway that disconnects changes nothing, and reading changes nothing (lessons 4, 5).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaving_and_looking_change_nothing() {
    let (model, server) = served().await;
    model.script("orchestrator", [Scripted::hang()]);
    let body = json!({ "session_id": "s", "message": user("Think.") });
    let request = server.request(Method::POST, "/edges/codelab/agent/message/stream").json(&body);
    let mut answer = request.send().await.unwrap();
    assert!(answer.chunk().await.unwrap().is_some(), "it begins before the model has answered");
    model.wait_for_requests(1).await;
    drop(answer);

    let events = async || server.get("/v1/audit/verify").await.ok()["events"].clone();
    let before = events().await;
    drop(Ide::connect(&server, "s").await);
    drop(Ide::connect(&server, "unknown").await);
    for path in
        ["sessions/s/pending-approvals", "sessions/s/plans", "sessions/unknown/plans", "events/audit-log"]
    {
        server.get(&format!("/edges/codelab/{path}")).await;
    }
    assert_eq!(events().await, before);

    model.release();
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests().len(), 1, "nothing was asked twice");
}

/// If a person writes while a reply is being generated, the client receives this reply and the next reply, each once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_overtaken_is_told_too() {
    let (model, server) = served().await;
    model.script("orchestrator", [Scripted::hang()]);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Question A?")).await;
    model.wait_for_requests(1).await;
    ide.say(&user("Question B?")).await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    holdshort_testkit::server::eventually("the second word", async || {
        (server.events_of(&run, "message_added").await.len() == 1).then_some(())
    })
    .await;
    model.push("orchestrator", Scripted::text("Answer B."));
    model.release();
    let frames = ide.until("done").await;
    assert_eq!(frames.last().unwrap()["status"], "completed");
    let told: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "assistant_message")
        .map(|frame| (&frame["content"], &frame["is_final"]))
        .collect();
    let first = conversation(&model)[1]["content"].clone();
    assert_eq!(told, [(&first, &json!(false)), (&json!("Answer B."), &json!(true))]);
}

/// Later runs of the session know the outcome of the session's plans (B5, lessons 12, 38).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_became_of_a_plan_goes_with_the_session() {
    let (model, server) = served().await;
    let graph =
        [subtask("one", "debug", &[]), subtask("two", "coder", &["one"]), subtask("three", "ask", &[])];
    let planned = async |session: &str| {
        model.push("orchestrator", plans(&graph));
        find_only_frame(&post(&server, session, &user("Build it.")).await, "plan_notification").clone()
    };
    let told = async |session: &str| {
        model.push("orchestrator", Scripted::text("That."));
        post(&server, session, &user("What was done?")).await;
        conversation(&model)[0]["content"].as_str().unwrap().to_owned()
    };
    let mut no = on_plan(&planned("rejected").await, "reject");
    no["feedback"] = json!("use Rust");
    post(&server, "rejected", &no).await;
    let rejected = told("rejected").await;
    assert_eq!(rejected.matches("use Rust").count(), 1, "{rejected}");
    assert!(
        rejected.contains("reject) use Rust") && rejected.contains("plan of 3 subtasks was rejected"),
        "{rejected}"
    );

    model.push("debug", Scripted::status(400));
    model.push("ask", Scripted::text("Result three."));
    let plan = planned("partial").await;
    post(&server, "partial", &on_plan(&plan, "approve")).await;
    let partial = told("partial").await;
    for line in
        ["(done in part)", "- one (failed): ", "- two (skipped)", "- three (completed): Result three."]
    {
        assert!(partial.contains(line), "no `{line}` in {partial}");
    }

    model.push("debug", Scripted::text("Result one."));
    model.push("coder", Scripted::call("read_file", json!({ "path": "a" })));
    let plan = planned("switched").await;
    post(&server, "switched", &on_plan(&plan, "approve")).await;
    let switch = json!({ "type": "switch_agent", "agent_type": "architect", "content": "What was done?",
        "reason": "the person chose" });
    model.push("architect", Scripted::text("That."));
    let frames = post(&server, "switched", &switch).await;
    let switched = frames.iter().rfind(|frame| frame["type"] == "agent_switched").unwrap();
    assert_eq!((&switched["to"], &switched["reason"]), (&json!("architect"), &json!("the person chose")));
    let told = conversation(&model)[0]["content"].as_str().unwrap().to_owned();
    let came = "- one (completed): Result one.\n    - two (not finished)\n    - three (not begun)";
    for line in ["(cancelled)", came] {
        assert!(told.contains(line), "no `{line}` in {told}");
    }
}
