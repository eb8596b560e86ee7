//! A client that was disconnected receives all missed frames once and in order, also after a restart (B12, lessons 4,
//! 27).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use holdshort_testpg::Server as Postgres;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, kinds, post, post_body, post_refused};
use super::{on_plan, plans, result, served, subtask, user};

/// Returns all frames that the server has for a session after the frame with the id `since`, without `done` frames,
/// which describe the present.
async fn story(server: &TestServer, since: &str) -> Vec<(String, Value)> {
    let mut ide = Ide::come_back(server, "s", since).await;
    let mut frames = Vec::new();
    loop {
        let frame = ide.next().await;
        if frame["type"] == "done" {
            return frames;
        }
        frames.push((ide.place.clone(), frame));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_followed_is_told_from_any_frame_on() {
    let (model, mut server) = served().await;
    model.push("orchestrator", plans(&[subtask("a", "coder", &[]), subtask("b", "ask", &[])]));
    model.push("coder", Scripted::hang());
    model.push("ask", Scripted::text("b is done."));
    let mut ide = Ide::connect(&server, "s").await;
    assert_eq!(ide.place, "start");
    ide.say(&user("Build it.")).await;
    let plan = ide.find("plan_notification").await;
    ide.say(&on_plan(&plan, "approve")).await;
    ide.find("subtask_started").await;
    let place = ide.place.clone();
    drop(ide);
    model.release();
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    server.wait_status(&run, &["completed"]).await;

    let mut ide = Ide::come_back(&server, "s", &place).await;
    let frames = ide.until("done").await;
    assert_eq!(
        kinds(&frames),
        [
            "assistant_message",
            "plan_progress",
            "subtask_completed",
            "assistant_message",
            "plan_progress",
            "agent_switched",
            "subtask_started",
            "assistant_message",
            "plan_progress",
            "subtask_completed",
            "assistant_message",
            "plan_progress",
            "plan_completed",
            "done",
        ]
    );
    // The session continues in a second run. A client that reconnects at a place in the first run also receives the
    // frames of the second run.
    model.push("orchestrator", Scripted::text("Two files."));
    ide.say(&user("What is there now?")).await;
    let answer = ide.find("assistant_message").await;
    ide.find("done").await;
    drop(ide);
    server.kill();
    server.start().await;
    let all = story(&server, "start").await;
    assert_eq!(all.last().unwrap().1, answer);
    let before = all.iter().position(|(at, _)| *at == place).unwrap();
    for (n, (at, _)) in all.iter().enumerate() {
        assert_eq!(all.iter().filter(|(other, _)| other == at).count(), 1, "{at} comes twice");
        assert_eq!(story(&server, at).await, all[n + 1..], "after {at}");
    }
    assert_eq!(all[before].1["type"], "subtask_started");

    // A request over HTTP returns the same frames, with or without a message.
    let frames = post_body(&server, &json!({ "session_id": "s", "since": place })).await;
    let ids: Vec<&str> = frames.iter().skip(1).filter_map(|frame| frame["id"].as_str()).collect();
    let expected: Vec<&str> = all[before + 1..].iter().map(|(at, _)| at.as_str()).collect();
    assert_eq!(ids, expected);
    model.push("orchestrator", Scripted::text("Still two."));
    let again = json!({ "session_id": "s", "since": all.last().unwrap().0, "message": user("And now?") });
    let frames = post_body(&server, &again).await;
    assert_eq!(kinds(&frames), ["session_info", "assistant_message", "done"]);
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Still two.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_that_is_none_of_the_session_is_refused() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::text("Hello.").repeat());
    let mut other = Ide::connect(&server, "other").await;
    other.say(&user("Hi.")).await;
    other.find("assistant_message").await;
    let beyond = format!("{}.900.1", other.place.split('.').next().unwrap());
    for wrong in ["", "5", "run_x.1.1", &other.place, &beyond] {
        let mut ide = Ide::come_back(&server, "s", wrong).await;
        let error = ide.next().await;
        assert_eq!((&error["type"], &error["errors"][0]["pointer"]), (&json!("error"), &json!("/since")));
        // The connection now continues with new frames.
        ide.say(&user("Hi.")).await;
        assert_eq!(ide.find("assistant_message").await["content"], "Hello.");
        let body = json!({ "session_id": "s", "since": wrong, "message": user("Hi.") });
        let refused = post_refused(&server, &body).await;
        assert_eq!(refused["errors"][0]["pointer"], "/since", "{refused}");
    }
    // These are positions in the session at which no frame was sent, in the session's first run and in its last run.
    let mut ide = Ide::come_back(&server, "s", "start").await;
    let mut places = Vec::new();
    while ide.next().await["type"] != "done" {
        places.push(ide.place.clone());
    }
    for place in [&places[0], &places[places.len() - 1]] {
        let (event, part) = place.rsplit_once('.').unwrap();
        let (run, seq) = event.split_once('.').unwrap();
        let next = part.parse::<u32>().unwrap() + 1;
        for wrong in
            [format!("{event}.{next}"), format!("{run}.900.1"), format!("{run}.900"), format!("{run}.2.1")]
        {
            let refused = post_refused(&server, &json!({ "session_id": "s", "since": wrong })).await;
            assert_eq!(refused["errors"][0]["pointer"], "/since", "{wrong}: {refused}");
        }
        for right in [place.clone(), event.to_owned(), format!("{run}.2")] {
            let frames = post_body(&server, &json!({ "session_id": "s", "since": right })).await;
            assert_eq!(frames.last().unwrap()["type"], "done", "{seq}: {right}");
        }
    }
}

/// The cost of reading missed frames grows with their number. The server does not read the run again for each call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_are_told_from_few_reads() {
    const REPLIES: usize = 4;
    const CALLS: usize = 15;
    let model = ScriptedModel::start().await;
    for _ in 0..REPLIES {
        let calls = (0..CALLS).map(|n| ("read_file", json!({ "path": format!("f{n}") })));
        model.push("orchestrator", Scripted::calls(calls));
    }
    model.push("orchestrator", Scripted::text("Read."));
    let url = crate::cluster::database().await;
    let mut server = TestServer::setup().model(&model).database(&url, "a").start().await;
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Read them.")).await;
    for _ in 0..REPLIES * CALLS {
        let call = ide.find("tool_call").await;
        ide.say(&result(&call, "text")).await;
    }
    ide.find("assistant_message").await;
    drop(ide);
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    server.wait_status(&run, &["completed"]).await;
    let appends = format!("SELECT count(*) FROM appends WHERE stream = '{run}'");
    let appends: u64 = crate::cluster::sql(&url, &appends).await.parse().unwrap();

    // PostgreSQL reports the reads of a connection after the connection is closed.
    let read = async || {
        let others = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        eventually("nobody is connected", async || {
            (crate::cluster::sql(&url, others).await == "0").then_some(())
        })
        .await;
        let read = "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_user_tables WHERE relname = 'appends'";
        crate::cluster::sql(&url, read).await.parse::<u64>().unwrap()
    };
    server.kill();
    let before = read().await;
    server.start().await;
    let frames = story(&server, "start").await;
    assert!(frames.len() > REPLIES * CALLS);
    server.kill();
    let rows = read().await - before;
    assert!(rows < 15 * appends, "{rows} rows were read to tell {appends} appends");
}

/// If the open work is unreadable, the server sends an error and closes the connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_read_ends_the_connection() {
    let postgres = tokio::task::spawn_blocking(Postgres::start).await.unwrap().unwrap();
    let model = ScriptedModel::start().await;
    model.push("orchestrator", Scripted::text("Hello."));
    let setup = TestServer::setup().model(&model).database(&postgres.database(), "a");
    let server = setup.start().await;
    post(&server, "s", &user("Hi.")).await;
    let postgres = tokio::task::spawn_blocking(|| postgres.stop().map(|()| postgres)).await.unwrap().unwrap();
    for since in [None, Some("start")] {
        let mut ide = match since {
            None => Ide::open(&server, "s").await,
            Some(since) => {
                let headers = [("authorization", format!("Bearer {}", server.token()))];
                let path = format!("/edges/codelab/ws/s?since={since}");
                Ide::try_open(&server, &path, &headers).await.unwrap()
            }
        };
        let (frames, code) = ide.until_closed().await;
        assert_eq!((kinds(&frames), code), (vec!["error"], Some(1011)), "{frames:#?}");
        assert_eq!(frames[0]["code"], "store_failed");
    }
    tokio::task::spawn_blocking(move || postgres.start_again()).await.unwrap().unwrap();
}

/// A call that a client was asked to run and that has no result is sent again, even to a client that reconnects after a
/// later frame.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_without_a_result_is_handed_out_again() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::call("read_file", json!({ "path": "a" })));
    model.push("orchestrator", Scripted::text("Read."));
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Read it.")).await;
    let call = ide.find("tool_call").await;
    assert_eq!(call.get("metadata"), None, "nobody was asked about it");
    let after = ide.place.clone();
    drop(ide);
    for since in ["start", &after] {
        let mut ide = Ide::come_back(&server, "s", since).await;
        // The call arrives with the missed frames, or when the server has noticed that the first connection is closed.
        let again = ide.find("tool_call").await;
        assert_eq!(
            (&again["call_id"], &again["metadata"]),
            (&call["call_id"], &json!({ "redelivered": true }))
        );
    }
    let mut ide = Ide::come_back(&server, "s", &after).await;
    ide.say(&result(&call, "text")).await;
    assert_eq!(ide.find("assistant_message").await["content"], "Read.");
    drop(ide);
    // The call is finished, so the server does not send it again.
    let mut ide = Ide::come_back(&server, "s", "start").await;
    let frames = ide.until("done").await;
    assert!(!kinds(&frames).contains(&"tool_call"), "{frames:#?}");
}

/// Open calls are sent again after the missed frames, with the same ids as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_still_waits_is_told_again_after_what_was_missed() {
    let (model, server) = served().await;
    let write = |path: &str| ("write_file", json!({ "path": path, "content": "x" }));
    model.push("coder", Scripted::calls([write("a"), write("b")]));
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&json!({ "type": "switch_agent", "agent_type": "coder", "content": "Write them." })).await;
    let first = ide.find("tool_call").await;
    let after_first = ide.place.clone();
    let second = ide.find("tool_call").await;
    let after_second = ide.place.clone();
    drop(ide);
    let asked = |frames: &[Value]| -> Vec<Value> {
        frames
            .iter()
            .filter(|frame| frame["type"] == "tool_call")
            .map(|frame| frame["call_id"].clone())
            .collect()
    };
    // At the first place the client has missed the second call, and the first call is still open. At the second place
    // both calls are open, and none was missed.
    for (since, expected) in [(&after_first, [&second, &first]), (&after_second, [&first, &second])] {
        let mut ide = Ide::come_back(&server, "s", since).await;
        let frames = ide.until("done").await;
        let expected: Vec<Value> = expected.iter().map(|call| call["call_id"].clone()).collect();
        assert_eq!(asked(&frames), expected, "{frames:#?}");
    }
    let frames = post_body(&server, &json!({ "session_id": "s", "since": after_second })).await;
    assert_eq!(asked(&frames).len(), 2, "{frames:#?}");
}
