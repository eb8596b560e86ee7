//! A run of our own with a scripted model: what a client sees while an agent works.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use serde_json::{Value, json};

use crate::harness::{Served, created, ok, text};
use crate::socket::Socket;
use crate::streams::{Frame, Stream};

const WORKFLOW: &str = "\
name: ask
agents:
  asker:
    instructions: Ask.
    tools: [ask_human]
phases:
  - id: work
    kind: one_shot
    agent: asker
";

pub(crate) async fn serve(model: &ScriptedModel) -> Served {
    Served::with_workflow(WORKFLOW, |options| {
        options.model.model = Some("scripted".to_owned());
        options.model.base_url = Some(model.base_url().to_owned());
    })
    .await
}

async fn until(stream: &mut Stream, kind: &str) -> Vec<Frame> {
    let mut frames = Vec::new();
    loop {
        frames.push(stream.next().await.unwrap());
        if frames.last().is_some_and(|frame| frame.data["type"] == kind) {
            return frames;
        }
    }
}

#[tokio::test]
async fn an_agent_works_asks_and_is_told() {
    let model = ScriptedModel::start().await;
    model.script(
        "asker",
        [
            Scripted::Hang(Box::new(Scripted::call("ask_human", json!({"question": "Which one?"})))),
            Scripted::text("the second one it is"),
        ],
    );
    let served = serve(&model).await;
    let operator = served.operator();
    assert_eq!(ok(operator.get("/v1/info").await)["model"]["name"], "scripted");
    let run = created(operator.post("/v1/runs", &json!({"workflow": "ask", "input": {"task": "t"}})).await);
    let id = text(&run, "id").to_owned();
    assert_eq!(run["status"], "running");
    let mut stream = Stream::open(&operator, &id, "", None).await;
    until(&mut stream, "model_started").await;
    ok(operator.post(&format!("/v1/runs/{id}/messages"), &json!({"text": "use ISO dates"})).await);
    model.release();
    let frames = until(&mut stream, "interrupt_opened").await;

    let interrupt = text(&frames.last().unwrap().data["data"], "interrupt").to_owned();
    let open = ok(operator.get(&format!("/v1/interrupts/{interrupt}")).await);
    assert_eq!(
        (&open["kind"], &open["agent"], &open["payload"]["question"], &open["payload"]["asker"]),
        (&json!("question"), &json!("asker"), &json!("Which one?"), &json!("asker"))
    );
    ok(operator.decide(&open, &json!({"option": "answer", "text": "the second"})).await);
    let frames = stream.rest().await;
    let previews: Vec<_> = frames.iter().filter(|frame| frame.event.is_some()).collect();
    let told: String = previews.iter().map(|frame| text(&frame.data, "text")).collect();
    assert_eq!(told, "the second one it is");
    for preview in previews {
        assert_eq!((preview.seq(), preview.event.as_deref()), (None, Some("preview")));
        assert_eq!((text(&preview.data, "run"), text(&preview.data, "kind")), (&*id, "text"));
    }
    let ids: Vec<u64> = frames.iter().filter_map(Frame::seq).collect();
    assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "no gap in {ids:?}");
    let last = &frames.last().unwrap().data;
    assert_eq!(last["type"], "run_completed");
    assert_eq!(ok(operator.get(&format!("/v1/runs/{id}")).await)["seq"], last["seq"]);

    let told = model.requests_of("asker")[1].texts().join("\n");
    assert!(told.contains("use ISO dates") && told.contains("the second"), "{told}");
}

#[tokio::test]
async fn previews_come_where_they_are_wanted() {
    let model = ScriptedModel::start().await;
    model.script("asker", [Scripted::Hang(Box::new(Scripted::text("nothing to ask")))]);
    let served = serve(&model).await;
    let operator = served.operator();
    let run = created(operator.post("/v1/runs", &json!({"workflow": "ask", "input": {"task": "t"}})).await);
    let run = text(&run, "id");
    model.wait_for_requests(1).await;
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "shown", "topic": "run", "run": run})).await;
    socket.subscribe(json!({"id": "hidden", "topic": "run", "run": run, "previews": false})).await;
    socket.subscribe(json!({"id": "all", "topic": "all"})).await;
    let mut streams = Vec::new();
    for query in ["", "?previews=false"] {
        streams.push(Stream::at(&operator, &format!("/v1/events{query}"), None).await);
    }
    model.release();

    let mut frames = Vec::new();
    let is_last = |frame: &Value| frame["event"]["type"] == "run_completed";
    while frames.iter().filter(|frame| is_last(frame)).count() < 3 {
        frames.push(socket.next().await);
    }
    let previewed = |id: &str| -> String {
        let previews = frames.iter().filter(|frame| frame["type"] == "preview" && frame["id"] == id);
        previews.map(|frame| text(&frame["preview"], "text")).collect()
    };
    assert_eq!(["shown", "hidden", "all"].map(previewed), ["nothing to ask", "", "nothing to ask"]);
    let mut told = Vec::new();
    for stream in &mut streams {
        let frames = until(stream, "run_completed").await;
        let previews = frames.iter().filter(|frame| frame.event.as_deref() == Some("preview"));
        told.push(previews.map(|frame| text(&frame.data, "text")).collect::<String>());
    }
    assert_eq!(told, ["nothing to ask", ""]);
}

#[tokio::test]
async fn a_cancelled_run_lets_go_of_its_model() {
    let model = ScriptedModel::start().await;
    model.push("asker", Scripted::hang());
    let served = serve(&model).await;
    let operator = served.operator();
    let run = created(operator.post("/v1/runs", &json!({"workflow": "ask", "input": {"task": "t"}})).await);
    model.wait_for_requests(1).await;
    let cancelled = ok(operator.post(&format!("/v1/runs/{}/cancel", text(&run, "id")), &json!({})).await);
    assert_eq!(cancelled["status"], "cancelled");
    model.wait_for_hang_ups(1).await;
}
