//! The client in `examples/crew`, as the clients of the source system use theirs (contract D9).

use std::process::{Command, Stdio};

use holdshort_testkit::sink::WebhookSink;

use super::{key, model, setup};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clients_of_the_source_system_find_what_they_know() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let server = setup(&model).env("WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8").start().await;
    let service = key(&server, "watcher", "agent").await;
    let root = env!("CARGO_MANIFEST_DIR");
    let mut node = Command::new("node");
    node.arg(format!("{root}/tests/it/crew/story.mjs"))
        .env("CLIENT", format!("{root}/../../examples/crew/client.mjs"))
        .env("HOLDSHORT_URL", server.base())
        .env("HOLDSHORT_TOKEN", server.token())
        .env("SERVICE_TOKEN", service)
        .env("SINK", sink.url("/hook"))
        .stdin(Stdio::null());
    let story = tokio::task::spawn_blocking(move || node.output()).await.unwrap().expect("node is there");
    let (out, err) = (String::from_utf8_lossy(&story.stdout), String::from_utf8_lossy(&story.stderr));
    assert!(story.status.success() && out.contains("\"ok\":true"), "{out}\n{err}");
}
