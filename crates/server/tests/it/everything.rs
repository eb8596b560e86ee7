//! The stream of all events, in the order of their commits.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, ok, refusal, send_request, text};
use crate::streams::{Frame, Stream, types};

const PATH: &str = "/v1/events";

async fn read(api: &Api, query: &str) -> Value {
    ok(send_request(api.request(Method::GET, &format!("{PATH}{query}")).header("accept", "application/json"))
        .await)
}

async fn take(stream: &mut Stream, count: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    while frames.len() < count {
        let frame = stream.next().await.unwrap();
        assert_eq!(frame.id.as_deref(), frame.data["position"].as_str(), "{frame:?}");
        frames.push(frame);
    }
    frames
}

/// Opens an event stream that starts now. Returns the stream and its start position.
async fn start(api: &Api) -> (Stream, String) {
    let mut stream = Stream::at(api, PATH, None).await;
    let first = stream.next().await.unwrap();
    let position = text(&first.data, "position").to_owned();
    assert_eq!((first.id.as_deref(), first.event.as_deref()), (Some(&*position), Some("position")));
    (stream, position)
}

#[tokio::test]
async fn events_of_all_streams_come_in_the_order_of_their_commits_also_after_a_restart() {
    let served = Served::new().await;
    let operator = served.operator();
    operator.ask().await;
    let (mut stream, position) = start(&operator).await;
    let one = operator.ask().await;
    let two = operator.ask().await;
    ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    for asked in [&two, &one] {
        ok(operator.decide(asked, &json!({"option": "reject"})).await);
    }
    let frames = take(&mut stream, 11).await;
    let (first, second) = (text(&one, "run"), text(&two, "run"));
    let seen: Vec<_> =
        frames.iter().map(|frame| (text(&frame.data, "stream"), frame.data["seq"].clone())).collect();
    let expected = [(first, 1), (first, 2), (second, 1), (second, 2), ("sys", 1)];
    let expected = expected.into_iter().chain((3..=5).map(|seq| (second, seq)));
    let expected: Vec<_> =
        expected.chain((3..=5).map(|seq| (first, seq))).map(|(of, seq)| (of, json!(seq))).collect();
    assert_eq!(seen, expected);
    drop(stream);

    // A stream from the first position repeats the events. If a request contains two positions, the later position is
    // used.
    let served = served.restart().await;
    let operator = served.operator();
    let mut again = Stream::at(&operator, &format!("{PATH}?position={position}"), None).await;
    again.next().await.unwrap();
    assert_eq!(take(&mut again, 11).await, frames);
    let fourth = frames[3].id.as_deref();
    let mut rest = Stream::at(&operator, &format!("{PATH}?position={position}"), fourth).await;
    assert_eq!(rest.next().await.unwrap().id.as_deref(), fourth);
    let mut followed = take(&mut rest, 7).await;
    assert_eq!(followed, frames[4..]);
    operator.ask().await;
    followed = take(&mut rest, 2).await;
    assert_eq!(types(&followed), ["run_started", "interrupt_opened"]);
    // Except for their positions, the events equal the events of the run.
    let page = ok(operator.get(&format!("/v1/runs/{first}/events")).await);
    let mut last = frames[10].data.clone();
    last.as_object_mut().unwrap().remove("position");
    assert_eq!(page["items"][4], last);
}

#[tokio::test]
async fn pages_begin_at_the_beginning_and_follow_one_another() {
    let served = Served::new().await;
    let operator = served.operator();
    for _ in 0..40 {
        operator.ask().await;
    }
    for limit in [1, 7, 64, 80, 81, 200] {
        let mut positions = Vec::new();
        let mut query = format!("?limit={limit}");
        loop {
            let page = read(&operator, &query).await;
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= limit);
            positions.extend(items.iter().map(|event| text(event, "position").to_owned()));
            match page["next_cursor"].as_str() {
                Some(next) => query = format!("?limit={limit}&position={next}"),
                None => break,
            }
        }
        assert_eq!(positions, (1..=80).map(|n| format!("p{n}")).collect::<Vec<_>>(), "limit {limit}");
    }
    assert_eq!(read(&operator, "?position=p80").await, json!({"items": []}));
}

#[tokio::test]
async fn an_agent_reads_what_happened_in_its_own_runs() {
    let served = Served::with_checkpoint().await;
    let (agent, operator) = (served.agent(), served.operator());
    let (mut stream, _) = start(&agent).await;
    operator.post("/v1/runs", &json!({"workflow": "look", "input": {"task": "t"}})).await;
    operator.ask().await;
    ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    let own = agent.ask().await;
    ok(operator.decide(&own, &json!({"option": "reject"})).await);
    let frames = take(&mut stream, 5).await;
    assert!(frames.iter().all(|frame| frame.data["run"] == own["run"]), "{frames:?}");
    let page = read(&agent, "").await;
    assert_eq!(page["items"], json!(frames.iter().map(|frame| &frame.data).collect::<Vec<_>>()));
    assert_eq!(read(&operator, "").await["items"].as_array().unwrap().len(), 11);
}

#[tokio::test]
async fn a_place_must_be_one_that_there_is() {
    let served = Served::new().await;
    let operator = served.operator();
    operator.ask().await;
    for position in ["p3", "p18446744073709551615", "p-1", "p01", "2", "", "run_1", "p1.5"] {
        for accept in ["application/json", "text/event-stream"] {
            let request = operator.request(Method::GET, &format!("{PATH}?position={position}"));
            let answer = send_request(request.header("accept", accept)).await;
            assert_eq!(refusal(&answer), (400, "invalid_query", vec![]), "{position}: {}", answer.1);
        }
        if !position.is_empty() {
            let request = operator.request(Method::GET, PATH).header("last-event-id", position);
            assert_eq!(refusal(&send_request(request).await), (400, "invalid_header", vec![]), "{position}");
        }
    }
    for query in ["?since=1", "?limit=0", "?previews=perhaps"] {
        let request =
            operator.request(Method::GET, &format!("{PATH}{query}")).header("accept", "application/json");
        assert_eq!(refusal(&send_request(request).await), (400, "invalid_query", vec![]), "{query}");
    }
    assert_eq!(refusal(&served.api(None).get(PATH).await), (401, "unauthenticated", vec![]));
}
