//! Only one connection is asked to run a call, even if many connections are open (design, invariant 7).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, kinds, post};
use super::{on_call, result, served, user};

fn read(path: &str) -> Scripted {
    Scripted::call("read_file", json!({ "path": path }))
}

fn write(path: &str) -> Scripted {
    Scripted::call("write_file", json!({ "path": path, "content": "x" }))
}

/// Starts a session in which the agent `coder` receives the messages. The agent replies with these steps and then says
/// that it is done.
async fn coding(steps: Vec<Scripted>) -> (ScriptedModel, TestServer) {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::call("handoff_to_coder", json!({ "message": "code" })));
    for step in steps {
        model.push("coder", step);
    }
    model.push("coder", Scripted::text("Done."));
    (model, server)
}

fn to_run(frames: &[Value]) -> Vec<&Value> {
    frames
        .iter()
        .filter(|frame| frame["type"] == "tool_call" && frame["requires_approval"] == false)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_windows_one_runs_a_call() {
    let (_model, server) = coding(vec![read("a"), write("b")]).await;
    let (mut first, mut second) = (Ide::connect(&server, "s").await, Ide::connect(&server, "s").await);
    first.say(&user("Code.")).await;
    // A call that needs no approval is handed out to the newest window.
    let heard = [first.until("done").await, second.until("done").await];
    assert_eq!((to_run(&heard[0]).len(), to_run(&heard[1]).len()), (0, 1), "{heard:#?}");
    let call = to_run(&heard[1])[0].clone();
    // Any window may send the result of the call.
    first.say(&result(&call, "text")).await;
    let heard = [first.until("done").await, second.until("done").await];
    let asked = find_only_frame(&heard[0], "tool_call").clone();
    assert_eq!(*find_only_frame(&heard[1], "tool_call"), asked, "both are asked");
    // The window that approves a call receives the call.
    first.say(&on_call(&asked, "approve")).await;
    let heard = [first.until("done").await, second.until("done").await];
    assert_eq!((to_run(&heard[0]).len(), to_run(&heard[1]).len()), (1, 0), "{heard:#?}");
    assert_eq!(to_run(&heard[0])[0]["metadata"], json!({ "approved": true }));
    // The third window does not receive the call, because the first window runs it.
    let mut third = Ide::connect(&server, "s").await;
    first.say(&result(&asked, "written")).await;
    let heard = third.until("done").await;
    assert_eq!(to_run(&heard).len(), 0, "{heard:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_calls_of_who_leaves_go_to_who_is_left() {
    let (_model, server) = coding(vec![read("a")]).await;
    let mut first = Ide::connect(&server, "s").await;
    let mut second = Ide::connect(&server, "s").await;
    first.say(&user("Code.")).await;
    let handed_out = second.find("tool_call").await;
    first.find("done").await;
    drop(second);
    let moved = first.next().await;
    assert_eq!(
        (&moved["call_id"], &moved["metadata"]),
        (&handed_out["call_id"], &json!({ "redelivered": true })),
        "at once, and to the one that is left"
    );
    // No window is left, so the next window receives the call, and no other window does.
    drop(first);
    let mut third = Ide::connect(&server, "s").await;
    assert_eq!(third.find("tool_call").await, moved);
    let mut fourth = Ide::connect(&server, "s").await;
    third.say(&result(&moved, "text")).await;
    let frames = fourth.until("done").await;
    assert_eq!(to_run(&frames).len(), 0, "{frames:#?}");
}

/// After the response to a gateway has ended, the call stays with the gateway's client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_ended_keeps_its_call() {
    let (_model, server) = coding(vec![read("a")]).await;
    let mut socket = Ide::connect(&server, "s").await;
    let frames = post(&server, "s", &user("Code.")).await;
    let call = to_run(&frames)[0].clone();
    let heard = socket.until("done").await;
    assert_eq!(to_run(&heard).len(), 0, "{heard:#?}");
    let frames = post(&server, "s", &result(&call, "text")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Done.");
    let heard = socket.until("done").await;
    assert_eq!(to_run(&heard).len(), 0, "{heard:#?}");
}

/// The sender of a message over HTTP is asked to run calls whose client is gone, but no call that an open window runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_takes_no_call_from_a_window_that_is_there() {
    let (_model, server) = coding(vec![read("a")]).await;
    let mut window = Ide::connect(&server, "s").await;
    window.say(&user("Code.")).await;
    let call = window.find("tool_call").await;
    let frames = post(&server, "s", &user("How far?")).await;
    assert_eq!(to_run(&frames).len(), 0, "{frames:#?}");
    drop(window);
    // The call is handed out again when the server notices that the window is closed.
    let again = eventually("the window is gone", async || {
        let frames = post(&server, "s", &user("And now?")).await;
        to_run(&frames).first().map(|call| (*call).clone())
    });
    let again = again.await;
    assert_eq!((&again["call_id"], &again["metadata"]), (&call["call_id"], &json!({ "redelivered": true })));
}

/// An existing client runs the call that it approves, and sends the result at once (B11). The server reads both
/// messages before it asks a client to run the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_right_behind_the_approval_is_not_handed_out() {
    let paths = ["a", "b", "c", "d"];
    let (_model, server) = coding(paths.iter().map(|path| write(path)).collect()).await;
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Code.")).await;
    for _ in paths {
        let frames = ide.until("tool_call").await;
        assert_eq!(to_run(&frames).len(), 0, "{frames:#?}");
        let call = frames.last().unwrap();
        ide.say_all(&[on_call(call, "approve"), result(call, "written")]).await;
    }
    let frames = ide.until("assistant_message").await;
    assert!(!kinds(&frames).contains(&"tool_call"), "{frames:#?}");
}
