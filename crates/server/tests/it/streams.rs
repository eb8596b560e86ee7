//! Server-sent events, each of which arrives once and in order, even after disconnects and restarts.

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::{Api, SOON, Served, ok, refusal, send_request, text};

/// Event stream of a response whose frames are read as they arrive.
pub(crate) struct Stream {
    response: Response,
    buffer: String,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) id: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) data: Value,
}

impl Stream {
    pub(crate) async fn open(api: &Api, run: &str, query: &str, last: Option<u64>) -> Self {
        let last = last.map(|last| last.to_string());
        Self::at(api, &format!("/v1/runs/{run}/events{query}"), last.as_deref()).await
    }

    pub(crate) async fn at(api: &Api, path: &str, last: Option<&str>) -> Self {
        // The time limit of a wait applies to each frame, so the time limit of the whole request is longer.
        let request = api.request(Method::GET, path).timeout(10 * SOON);
        let mut request = request.header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// Returns the next frame of the event stream with data. Returns `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                let mut frame = Frame { id: None, event: None, data: Value::Null };
                for line in block.lines() {
                    match line.split_once(": ") {
                        Some(("id", id)) => frame.id = Some(id.to_owned()),
                        Some(("event", event)) => frame.event = Some(event.to_owned()),
                        Some(("data", data)) => frame.data = serde_json::from_str(data).unwrap(),
                        _ => {}
                    }
                }
                if frame.data != Value::Null {
                    return Some(frame);
                }
                continue;
            }
            let chunk =
                timeout(SOON, self.response.chunk()).await.expect("a stream that says nothing").unwrap()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    pub(crate) async fn rest(mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }
}

impl Frame {
    /// Returns the id of the frame as the sequence number of an event in a run.
    pub(crate) fn seq(&self) -> Option<u64> {
        self.id.as_ref().map(|id| id.parse().unwrap())
    }
}

pub(crate) fn types(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| text(&frame.data, "type")).collect()
}

#[tokio::test]
async fn a_stream_follows_the_run_to_its_end() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let asked = agent.ask().await;
    let run = text(&asked, "run");
    let mut stream = Stream::open(&agent, run, "", None).await;
    let mut frames = vec![stream.next().await.unwrap(), stream.next().await.unwrap()];
    assert_eq!(types(&frames), ["run_started", "interrupt_opened"]);
    ok(operator.decide(&asked, &json!({"option": "approve", "text": "go"})).await);
    frames.extend(stream.rest().await);
    assert_eq!(types(&frames)[2..], ["decision_made", "interrupt_resolved", "run_completed"]);
    assert_eq!(frames.iter().map(Frame::seq).collect::<Vec<_>>(), (1..=5).map(Some).collect::<Vec<_>>());

    // The page contains the same events.
    let page = ok(agent.get(&format!("/v1/runs/{run}/events")).await);
    assert_eq!(page["items"], json!(frames.iter().map(|frame| &frame.data).collect::<Vec<_>>()));
    assert_eq!(page.get("next_cursor"), None);
    let made = &frames[2].data;
    assert_eq!(
        *made,
        json!({
            "stream": run, "seq": 3, "run": run, "at": made["at"], "type": "decision_made",
            "actor": {"id": "operator", "role": "operator", "via": "rest"},
            "data": {"interrupt": asked["id"], "option": "approve", "content": {"text": "go"}},
        })
    );
}

#[tokio::test]
async fn a_client_that_comes_back_gets_what_follows_also_after_a_restart() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let run = text(&asked, "run").to_owned();
    let mut stream = Stream::open(&served.operator(), &run, "", None).await;
    let first = stream.next().await.unwrap();
    let second = stream.next().await.unwrap();
    drop(stream);

    let served = served.restart().await;
    let replayed = Stream::open(&served.operator(), &run, "", Some(1)).await.next().await.unwrap();
    assert_eq!(replayed, second, "byte by byte the same");
    let mut after = Stream::open(&served.operator(), &run, "?since=1", Some(2)).await;
    ok(served.operator().decide(&asked, &json!({"option": "approve"})).await);
    assert_eq!(after.next().await.unwrap().seq(), Some(3), "the later of the two cursors counts");
    assert_eq!(types(&after.rest().await), ["interrupt_resolved", "run_completed"]);

    let all = Stream::open(&served.operator(), &run, "?since=0", None).await.rest().await;
    assert_eq!((all.len(), &all[0]), (5, &first));
    let rest = Stream::open(&served.operator(), &run, "?since=3", None).await.rest().await;
    assert_eq!(rest.iter().filter_map(Frame::seq).collect::<Vec<_>>(), [4, 5]);
}

#[tokio::test]
async fn a_stream_that_has_been_read_is_over() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    let path = format!("/v1/runs/{}/events", text(&asked, "run"));
    let stream = |last: &'static str| {
        let request = operator.request(Method::GET, &path).header("accept", "text/event-stream");
        send_request(request.header("last-event-id", last))
    };
    assert_eq!(stream("5").await, (204, Value::Null));
    assert_eq!(refusal(&stream("five").await), (400, "invalid_header", vec![]));
}

#[tokio::test]
async fn pages_of_events_follow_one_another() {
    let served = Served::new().await;
    let operator = served.operator();
    let run = operator.start_external().await;
    let run = text(&run, "id");
    for n in 0..150 {
        ok(operator.post(&format!("/v1/runs/{run}/messages"), &json!({"text": n.to_string()})).await);
    }
    for limit in [1, 7, 64, 151, 200] {
        let mut seqs = Vec::new();
        let mut since = "0".to_owned();
        loop {
            let page = ok(operator.get(&format!("/v1/runs/{run}/events?since={since}&limit={limit}")).await);
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= limit);
            seqs.extend(items.iter().map(|event| event["seq"].as_u64().unwrap()));
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut since),
                None => break,
            }
        }
        assert_eq!(seqs, (1..=151).collect::<Vec<u64>>(), "limit {limit}");
    }
    let streamed = {
        ok(operator.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await);
        Stream::open(&operator, run, "", None).await.rest().await
    };
    assert_eq!(streamed.len(), 152);
}

#[tokio::test]
async fn streams_and_polls_end_when_the_server_stops() {
    let served = Served::new().await;
    let asked = served.agent().ask().await;
    let mut stream = Stream::open(&served.operator(), text(&asked, "run"), "?since=1", None).await;
    stream.next().await.unwrap();
    let poll = tokio::spawn({
        let (agent, id) = (served.agent(), text(&asked, "id").to_owned());
        async move { agent.get(&format!("/v1/interrupts/{id}?wait=60")).await }
    });
    let rest = tokio::spawn(stream.rest());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = std::time::Instant::now();
    served.stop().await;
    assert!(started.elapsed() < Duration::from_secs(5), "nothing holds the server up");
    assert_eq!(rest.await.unwrap(), []);
    assert_eq!(ok(poll.await.unwrap())["status"], "open");
}
