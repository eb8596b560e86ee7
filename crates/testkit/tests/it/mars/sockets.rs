//! Connections. A task stays one run, whatever happens to its connections (lessons 16, 22 to 28, 31).

use holdshort_core::time::Timestamp;
use holdshort_testkit::by_hand;
use serde_json::{Value, json};

use super::{Mars, around_steps, error_summary, first, plan, planned};

fn config() -> Value {
    around_steps("both")
}

fn one_step() -> holdshort_testkit::model::Scripted {
    plan(&[("build", "engineer")])
}

async fn runs(server: &holdshort_testkit::server::TestServer) -> usize {
    server.get("/v1/runs").await.ok()["items"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_frame_starts_or_attaches() {
    let (_model, server) = planned(&[one_step()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    let asked = mars.wait_for_request().await;
    let run = mars.run();
    let told = mars.journal_frames();
    drop(mars);

    // Clients of the source system send their first frame again after a reconnect. The server does not repeat any
    // frames, except that it sends the open request again.
    let mut again = Mars::start(&server, "t1", "Build it.", config()).await;
    let status = again.wait("status").await;
    assert_eq!(
        (&status["status"], &status["open_approvals"]),
        (&json!("waiting_approval"), &json!([asked["approval_id"]]))
    );
    assert_eq!(again.wait("approval_requested").await, asked);
    assert_eq!((again.run(), again.journal_frames()), (run.clone(), Vec::new()));
    // A client that reconnects from the beginning receives all frames again.
    let mut whole = first(&server, "Build it.", config());
    whole["since"] = json!(0);
    let mut again = Mars::connect(&server, "t1").await;
    again.say(&whole).await;
    assert_eq!(again.wait_for_request().await, asked);
    assert_eq!((again.run(), again.journal_frames()), (run.clone(), told.clone()));
    assert_eq!(runs(&server).await, 1);

    // A different task or config under the same id is refused, and the run is unchanged.
    for other in [first(&server, "Burn it.", config()), first(&server, "Build it.", json!({}))] {
        let refused = again.refused(&other).await;
        assert_eq!(refused["error_type"], "idempotency_key_reused", "{refused}");
        let mut third = Mars::connect(&server, "t1").await;
        assert_eq!(third.refused(&other).await["error_type"], "idempotency_key_reused");
        again = Mars::connect(&server, "t1").await;
    }
    assert_eq!((runs(&server).await, &server.run(&run).await["status"]), (1, &json!("waiting")));

    // A client that reconnects at a place receives only later frames.
    let place = &told[told.len() - 3]["id"];
    again.say(&json!({"type": "request_state", "since": place})).await;
    again.wait("status").await;
    for expected in &told[told.len() - 2..] {
        assert_eq!(again.next().await, *expected);
    }
    let beyond = again.refused(&json!({"type": "request_state", "since": "10000"})).await;
    assert_eq!(beyond["errors"][0]["pointer"], "/since");

    // A different id begins a new run, even if the task is equal.
    let mut other = Mars::start(&server, "t2", "Build it.", config()).await;
    other.wait_for_request().await;
    assert_ne!(other.run(), run);
}

/// A client that reconnects receives each missed frame once, whichever frame was its last, even after SIGKILL of the
/// server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_back_gets_what_follows() {
    let (_model, mut server) = planned(&[one_step()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    let asked = mars.wait_for_request().await;
    server.restart().await;

    let mut back = Mars::connect(&server, "t1").await;
    let mut seen = mars.journal_frames();
    let last = seen.last().unwrap()["id"].clone();
    back.say(&json!({"type": "request_state", "since": last})).await;
    let status = back.wait("status").await;
    assert_eq!(status["open_approvals"], json!([asked["approval_id"]]), "what was asked is still asked");
    back.resolve(&asked, "approve", json!({})).await;
    let after = back.wait_for_request().await;
    server.restart().await;
    seen.extend(back.journal_frames());

    let mut again = Mars::connect(&server, "t1").await;
    let mut frame = first(&server, "Build it.", config());
    frame["since"] = seen.last().unwrap()["id"].clone();
    again.say(&frame).await;
    again.resolve(&after, "continue", json!({})).await;
    again.wait("workflow_completed").await;
    seen.extend(again.journal_frames());

    let mut whole = Mars::connect(&server, "t1").await;
    frame["since"] = json!(0);
    whole.say(&frame).await;
    whole.wait("workflow_completed").await;
    let ids = |frames: &[Value]| frames.iter().map(|frame| frame["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&seen), ids(&whole.journal_frames()));
    assert_eq!(seen, whole.journal_frames());
    assert_eq!((runs(&server).await, server.lines("count.txt")), (1, 1));
    // A client that reconnects with a timestamp receives the later events.
    let time = |frame: &Value| frame["timestamp"].as_str().unwrap().parse::<Timestamp>().unwrap().as_millis();
    for at in [0, seen.len() / 2, seen.len() - 1] {
        whole.say(&json!({"type": "request_state", "since": time(&seen[at])})).await;
        whole.wait("status").await;
        for expected in seen.iter().filter(|frame| time(frame) > time(&seen[at])) {
            while whole.next().await["id"].is_null() {}
            assert_eq!(whole.frames.last(), Some(expected));
        }
    }
    // A client that reconnects at any place receives the remaining frames.
    for at in 0..seen.len() {
        whole.say(&json!({"type": "request_state", "since": seen[at]["id"]})).await;
        whole.wait("status").await;
        for expected in &seen[at + 1..] {
            while whole.next().await["id"].is_null() {}
            assert_eq!(whole.frames.last(), Some(expected));
        }
    }
}

/// When a client reconnects to a loaded run, the server does not read events before the client's position again. An
/// unreadable old event therefore does no harm. The position is after an event if the client has received the last
/// frame of this event.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_read_before_the_place_of_who_comes_back() {
    let (_model, server) = planned(&[one_step()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    let asked = mars.wait_for_request().await;
    let seq = server.get(&format!("/v1/runs/{}", mars.run())).await.ok()["seq"].clone();
    let last = mars.journal_frames().last().unwrap()["id"].clone();
    assert_eq!(last, seq.to_string(), "the event was told in several frames");
    let file = rusqlite::Connection::open(server.data().join("holdshort.db")).unwrap();
    let second = "UPDATE events SET head = x'7b' WHERE seq = 2 AND instr(CAST(head AS TEXT), ?1) > 0";
    let named = format!("\"stream\":\"{}\"", mars.run());
    assert_eq!(by_hand::change_events(&file, second, &[&named]), 1);

    let mut back = Mars::connect(&server, "t1").await;
    back.say(&json!({"type": "request_state", "since": last})).await;
    let status = back.wait("status").await;
    assert_eq!((&status["status"], &status["seq"]), (&json!("waiting_approval"), &seq));
    assert_eq!(status["open_approvals"], json!([asked["approval_id"]]));
    back.resolve(&asked, "approve", json!({})).await;
    assert_eq!(back.wait_for_request().await["checkpoint_type"], "after_step");
    assert!(!back.types().contains(&"error_occurred"), "{:?}", back.types());
    // A replay from the beginning fails.
    let refused = back.refused(&json!({"type": "request_state", "since": "0"})).await;
    assert_eq!(error_summary(&refused), ("journal_damaged", ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_connection_has_the_task() {
    let (_model, server) = planned(&[one_step()]).await;
    let mut older = Mars::start(&server, "t1", "Build it.", config()).await;
    let asked = older.wait_for_request().await;
    let mut newer = Mars::start(&server, "t1", "Build it.", config()).await;
    assert_eq!(newer.wait("approval_requested").await, asked);
    let code = loop {
        if let Err(code) = older.receive().await {
            break code;
        }
    };
    assert_eq!(code, Some(4409));
    newer.resolve(&asked, "approve", json!({})).await;
    assert_eq!(runs(&server).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_start_one_run() {
    let (_model, server) = planned(&[one_step()]).await;
    let rush = (0..8).map(async |_| {
        let mut mars = Mars::connect(&server, "t1").await;
        // The server may already have closed this connection, because a newer connection was opened.
        mars.try_say(&first(&server, "Build it.", config())).await;
        while let Ok(frame) = mars.receive().await {
            if frame["event_type"] == "approval_requested" {
                return Some(mars.run());
            }
        }
        None
    });
    let found: Vec<String> = futures::future::join_all(rush).await.into_iter().flatten().collect();
    assert!(!found.is_empty() && found.iter().all(|run| *run == found[0]), "{found:?}");
    assert_eq!(runs(&server).await, 1);
}

/// A decision in the browser or in the terminal is sent as `approval_received` with its real outcome (lesson 31).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_elsewhere_is_told_here() {
    let (_model, server) = planned(&[one_step()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    let before = mars.wait_for_request().await;
    let id = before["approval_id"].as_str().unwrap();
    server.choose(&server.interrupt(id).await, "approve").await;
    let received = mars.wait("approval_received").await;
    assert_eq!(
        (&received["approval_id"], &received["approved"], &received["resolution"], &received["by"]),
        (&json!(id), &json!(true), &json!("approve"), &json!("operator"))
    );
    // A repeated decision returns the resolution. A different decision is too late.
    let again = mars.resolve(&before, "approved", json!({})).await;
    assert_eq!(again, received);
    let late =
        mars.refused(&json!({"type": "resolve_approval", "approval_id": id, "resolution": "skip"})).await;
    assert_eq!(
        (&late["error_type"], &late["resolution"]["option"]),
        (&json!("already_resolved"), &json!("approve"))
    );
    let after = mars.wait_for_request().await;
    let decided = json!({"option": "continue", "text": "good"});
    server.decide(&server.interrupt(after["approval_id"].as_str().unwrap()).await, &decided).await.ok();
    let received = mars.wait("approval_received").await;
    assert_eq!((&received["approved"], &received["feedback"]), (&json!(true), &json!("good")));
    mars.wait("workflow_completed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pause_resume_and_cancel_get_in_while_the_model_works() {
    let (model, server) = planned(&[holdshort_testkit::model::Scripted::hang()]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    mars.wait("step_started").await;
    model.wait_for_requests(2).await;
    mars.say(&json!({"type": "ping"})).await;
    mars.wait("pong").await;
    mars.say(&json!({"type": "pause"})).await;
    mars.wait("workflow_paused").await;
    mars.say(&json!({"type": "request_state"})).await;
    assert_eq!(mars.wait("status").await["status"], "paused");
    // If a command has no effect, the response contains the current status.
    mars.say(&json!({"type": "pause"})).await;
    assert_eq!(mars.wait("status").await["status"], "paused");
    mars.say(&json!({"type": "resume"})).await;
    mars.wait("workflow_resumed").await;
    mars.say(&json!({"type": "cancel", "reason": "enough"})).await;
    let ended = mars.wait("workflow_cancelled").await;
    assert_eq!(ended["message"], "enough");
    model.wait_for_hang_ups(1).await;
    let late = mars.refused(&json!({"type": "pause"})).await;
    assert_eq!(late["error_type"], "run_ended");
}

/// A position that was never sent is refused and starts nothing. A refused frame does not attach the connection to a
/// run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_attaches_nobody() {
    let (_model, server) = planned(&[]).await;
    let task = json!({"task": "Look.", "config": {"phases": [{"type": "hitl_checkpoint"}]}});
    let mut since = task.clone();
    since["since"] = json!("50.1");
    let mut mars = Mars::connect(&server, "t1").await;
    assert_eq!(error_summary(&mars.refused(&since).await), ("invalid_request", "/since"));
    let early = mars.refused(&json!({"type": "ping", "run_id": "run_01k6f0000000000000000000aa"})).await;
    assert_eq!(
        (error_summary(&early), &early["in_reply_to"]),
        (("invalid_request", "/run_id"), &json!("ping"))
    );
    assert_eq!(runs(&server).await, 0);
    mars.say(&task).await;
    let asked = mars.wait_for_request().await;
    let run = mars.run();

    // A new connection can also find the run by its task id.
    let mut back = Mars::connect(&server, "t1").await;
    let other = back.refused(&json!({"type": "pause", "run_id": "run_01k6f0000000000000000000aa"})).await;
    assert_eq!(error_summary(&other), ("invalid_request", "/run_id"));
    let beyond = back.refused(&json!({"type": "request_state", "since": "99999.1", "run_id": run})).await;
    assert_eq!(
        (error_summary(&beyond), &beyond["in_reply_to"]),
        (("invalid_request", "/since"), &json!("request_state"))
    );
    // The next frame attaches the connection, which then receives later frames. A refusal names the frame that was
    // refused.
    back.say(
        &json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "maybe"}),
    )
    .await;
    let refused = back.wait("error_occurred").await;
    assert_eq!(refused["in_reply_to"], "resolve_approval");
    assert_eq!(back.wait("approval_requested").await, asked);
    back.say(&json!({"type": "pause", "run_id": run})).await;
    back.wait("workflow_paused").await;
}

/// If a client sends a trace when it opens the connection, the run that it starts joins that trace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_joins_the_trace_of_its_connection() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (_model, server) = planned(&[]).await;
    let task = json!({"task": "Look.", "config": {"phases": [{"type": "hitl_checkpoint"}]}});
    let headers = [("traceparent", PARENT)];
    for (id, headers, trace) in [("t1", &headers[..], json!(PARENT)), ("t2", &headers[..0], Value::Null)] {
        let path = format!("/edges/mars/ws/{id}?token={}", server.token());
        let mut mars = Mars::open(&server, &path, headers).await.unwrap_or_else(|status| panic!("{status}"));
        mars.say(&task).await;
        mars.wait_for_request().await;
        let started = server.events_of(&mars.run(), "run_started").await;
        assert_eq!(started[0]["data"]["trace"], trace, "{id}");
    }
}
