//! Report about the frames of a WebSocket that were written. An edge whose clients disconnect silently resumes from the
//! last written frame.

use std::time::Duration;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::routing::get;
use futures::StreamExt;
use holdshort_web::websocket::{self, Outbox};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// Number of frames that exceed all buffers between client and server.
const FRAMES: u32 = 60;
const FRAME_BYTES: usize = 1024 * 1024;
const LONG: Duration = Duration::from_mins(1);

/// Queued frames of a socket are reported as written only when the client reads them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_queued_is_not_yet_written() {
    let (written, mut told) = watch::channel(0);
    let (done, mut queued) = mpsc::channel(1);
    let open = async move |upgrade: WebSocketUpgrade| {
        websocket::limited(upgrade).on_upgrade(async move |socket| {
            let (sink, _incoming) = socket.split();
            let (outbox, queue) = Outbox::new(LONG);
            let all = async {
                for frame in 1..=FRAMES {
                    outbox.put_marked("x".repeat(FRAME_BYTES).into(), Some(frame)).await.unwrap();
                }
                done.send(()).await.unwrap();
                drop(outbox);
            };
            let write = websocket::write(sink, queue, LONG, |frame| {
                written.send_replace(frame);
            });
            let _ = tokio::join!(all, write);
        })
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(axum::serve(listener, Router::new().route("/", get(open))).into_future());
    let (mut socket, _) = connect_async(format!("ws://{address}/")).await.unwrap();
    queued.recv().await.unwrap();
    assert!(*told.borrow_and_update() < FRAMES, "all is queued, and nobody has read");
    for _ in 0..FRAMES {
        assert!(matches!(socket.next().await, Some(Ok(Message::Text(_)))));
    }
    told.wait_for(|written| *written == FRAMES).await.unwrap();
    serving.abort();
}
