//! A native run with a scripted model, as a client sees it while an agent works.

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

/// Returns the joined text of all preview frames of a reply.
fn previewed(frames: &[Frame]) -> String {
    let previews = frames.iter().filter(|frame| frame.event.as_deref() == Some("preview"));
    previews.map(|frame| text(&frame.data, "text")).collect()
}

#[tokio::test]
async fn an_agent_works_asks_and_is_told() {
    let model = ScriptedModel::start().await;
    model.script(
        "asker",
        [
            Scripted::Hang(Box::new(Scripted::call("ask_human", json!({"question": "Which one?"})))),
            Scripted::Held("the second one it is".to_owned()),
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
    model.hold();
    ok(operator.decide(&open, &json!({"option": "answer", "text": "the second"})).await);
    // The reply ends only after the client has seen all previews, because the event of the reply replaces later
    // previews.
    let mut frames = Vec::new();
    while previewed(&frames) != "the second one it is" {
        frames.push(stream.next().await.unwrap());
    }
    model.release();
    frames.extend(stream.rest().await);
    assert_eq!(previewed(&frames), "the second one it is");
    for preview in frames.iter().filter(|frame| frame.event.is_some()) {
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
    const REPLY: &str = "nothing more to ask";
    let model = ScriptedModel::start().await;
    let question = Scripted::call("ask_human", json!({"question": "Which one?"}));
    model.script("asker", [question, Scripted::Held(REPLY.to_owned())]);
    let served = serve(&model).await;
    let operator = served.operator();
    let run = created(operator.post("/v1/runs", &json!({"workflow": "ask", "input": {"task": "t"}})).await);
    let run = text(&run, "id");
    let opened = until(&mut Stream::open(&operator, run, "", None).await, "interrupt_opened").await;
    let interrupt = text(&opened.last().unwrap().data["data"], "interrupt").to_owned();
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "shown", "topic": "run", "run": run})).await;
    socket.subscribe(json!({"id": "hidden", "topic": "run", "run": run, "previews": false})).await;
    socket.subscribe(json!({"id": "all", "topic": "all"})).await;
    let mut shown = Stream::at(&operator, "/v1/events", None).await;
    let mut hidden = Stream::at(&operator, "/v1/events?previews=false", None).await;
    let open = ok(operator.get(&format!("/v1/interrupts/{interrupt}")).await);
    ok(operator.decide(&open, &json!({"option": "answer", "text": "the second"})).await);

    let of = |frames: &[Value], id: &str| -> String {
        let previews = frames.iter().filter(|frame| frame["type"] == "preview" && frame["id"] == id);
        previews.map(|frame| text(&frame["preview"], "text")).collect()
    };
    let mut frames = Vec::new();
    while ["shown", "all"].map(|id| of(&frames, id)) != [REPLY, REPLY] {
        frames.push(socket.next().await);
    }
    let mut streamed = Vec::new();
    while previewed(&streamed) != REPLY {
        streamed.push(shown.next().await.unwrap());
    }
    // The reply ends only after the client has seen all previews, because the event of the reply replaces later
    // previews.
    model.release();
    let is_last = |frame: &Value| frame["event"]["type"] == "run_completed";
    while frames.iter().filter(|frame| is_last(frame)).count() < 3 {
        frames.push(socket.next().await);
    }
    assert_eq!(["shown", "hidden", "all"].map(|id| of(&frames, id)), [REPLY, "", REPLY]);
    streamed.extend(until(&mut shown, "run_completed").await);
    assert_eq!(previewed(&streamed), REPLY);
    assert_eq!(previewed(&until(&mut hidden, "run_completed").await), "");
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
