//! Recent events that followers share: they are read once for all followers that have caught up, without a difference
//! for clients.

use std::time::{Duration, Instant};

use futures::future::join_all;
use holdshort_server::Pace;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::{Api, SOON, Served, ok, text};
use crate::socket::{Socket, fill, types};
use crate::streams::{Frame, Stream};

/// Number of recent events that the server shares with its followers. A client that does not read at once falls behind.
const RECENT: usize = 4;

const ALL: &str = "/v1/events?previews=false";

/// Opens the stream of all events after a position, and waits for its first frame.
async fn follow(api: &Api, after: Option<&str>) -> Stream {
    let mut stream = Stream::at(api, ALL, after).await;
    assert_eq!(stream.next().await.unwrap().event.as_deref(), Some("position"));
    stream
}

async fn read(stream: &mut Stream, count: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    while frames.len() < count {
        frames.push(stream.next().await.unwrap());
    }
    frames
}

/// Reads `count` frames of the stream in a separate task, as they arrive.
fn reading(mut stream: Stream, count: usize) -> JoinHandle<Vec<Frame>> {
    tokio::spawn(async move { read(&mut stream, count).await })
}

fn ids(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.id.as_deref().unwrap()).collect()
}

fn positions(places: impl Iterator<Item = usize>) -> Vec<String> {
    places.map(|place| format!("p{place}")).collect()
}

/// Opens an event stream whose client has small buffers and does not read yet.
async fn unread(served: &Served) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16 * 1024).unwrap();
    let mut stream = socket.connect(served.address()).await.unwrap();
    let request = format!(
        "GET {ALL} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n\r\n",
        served.address(),
        served.token(),
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Returns the bytes of the event stream, without chunked encoding, until the event with this id is complete.
async fn until(stream: &mut TcpStream, id: &str) -> String {
    let (mut got, last) = (Vec::new(), format!("id: {id}\n"));
    loop {
        // A chunk contains only complete events.
        if got.ends_with(b"\n\n\r\n") {
            let said = String::from_utf8_lossy(&got);
            if said.contains(&last) {
                return said.replace("\r\n", "");
            }
        }
        assert!(timeout(SOON, stream.read_buf(&mut got)).await.unwrap().unwrap() > 0, "the stream ended");
    }
}

#[tokio::test]
async fn whoever_lags_behind_is_told_the_same_as_those_who_have_caught_up() {
    let served = Served::remembering(RECENT).await;
    let operator = served.operator();
    let quick = reading(follow(&operator, None).await, 151 + 2);
    let mut late = unread(&served).await;
    let mut socket = Socket::operator(&served).await;
    socket.subscribe(json!({"id": "all", "topic": "all"})).await;
    // These events exceed the buffers of the clients that do not read, and are many times the number of shared events.
    assert_eq!(fill(&served).await, 151);
    let events = socket.events("all", 151).await;
    let expected = positions(1..=151 + 2);
    assert_eq!(events.iter().map(|event| text(event, "position")).collect::<Vec<_>>(), expected[..151]);
    let mut got = until(&mut late, "p151").await;

    // All clients have caught up.
    operator.ask().await;
    let events = [events, socket.events("all", 2).await].concat();
    let frames = quick.await.unwrap();
    assert_eq!(ids(&frames), expected);
    assert_eq!(frames.into_iter().map(|frame| frame.data).collect::<Vec<_>>(), events);
    got.push_str(&until(&mut late, "p153").await);
    // The request id in the headers and the first position come before the events.
    let told = got.split("id: ").skip(3).map(|rest| rest.split('\n').next().unwrap());
    assert_eq!(told.collect::<Vec<_>>(), expected);
    for event in &events {
        assert!(got.contains(&format!("data: {event}\n")), "{event}");
    }
}

#[tokio::test]
async fn a_cursor_on_either_side_of_what_is_shared_has_no_gap_and_no_repeat() {
    const BEFORE: usize = 12;
    const AFTER: usize = 6;
    let served = Served::remembering(RECENT).await;
    let operator = served.operator();
    let mut first = follow(&operator, None).await;
    for _ in 0..BEFORE / 2 {
        operator.ask().await;
    }
    // From now on, the last four events are shared.
    assert_eq!(ids(&read(&mut first, BEFORE).await), positions(1..=BEFORE));
    let cursors = positions(0..=BEFORE);
    let mut streams = join_all(cursors.iter().map(|cursor| follow(&operator, Some(cursor)))).await;
    let mut sockets = Vec::new();
    for cursor in &cursors {
        let mut socket = Socket::operator(&served).await;
        socket.subscribe(json!({"id": "all", "topic": "all", "position": cursor})).await;
        sockets.push(socket);
    }
    for _ in 0..AFTER / 2 {
        operator.ask().await;
    }
    for (seen, (stream, socket)) in streams.iter_mut().zip(&mut sockets).enumerate() {
        let rest = BEFORE + AFTER - seen;
        let expected = positions(seen + 1..=BEFORE + AFTER);
        assert_eq!(ids(&read(stream, rest).await), expected);
        let told = socket.events("all", rest).await;
        assert_eq!(told.iter().map(|event| text(event, "position")).collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn whoever_comes_after_a_time_without_followers_misses_nothing() {
    let served = Served::remembering(RECENT).await;
    let operator = served.operator();
    let mut seen = "p0".to_owned();
    for round in 0..5 {
        operator.ask().await;
        let mut stream = follow(&operator, Some(&seen)).await;
        operator.ask().await;
        let frames = read(&mut stream, 4).await;
        assert_eq!(ids(&frames), positions(4 * round + 1..=4 * round + 4));
        seen = frames[3].id.clone().unwrap();
    }
}

#[tokio::test]
async fn those_who_follow_one_run_share_it_too() {
    let served = Served::remembering(RECENT).await;
    let operator = served.operator();
    let asked = served.agent().ask().await;
    let run = text(&asked, "run");
    let mut streams = Vec::new();
    for api in [&operator, &served.agent()] {
        for since in 0..=2 {
            streams.push((since, Stream::open(api, run, "", Some(since)).await));
        }
    }
    // Other runs continue too, so the shared events do not suffice for all runs.
    for n in 0..6 {
        operator.ask().await;
        ok(operator.post(&format!("/v1/runs/{run}/messages"), &json!({"text": n.to_string()})).await);
    }
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    let page = ok(operator.get(&format!("/v1/runs/{run}/events")).await);
    let events = page["items"].as_array().unwrap();
    assert_eq!(events.len(), 2 + 6 + 3);
    for (since, stream) in streams {
        let frames = stream.rest().await;
        let seen = usize::try_from(since).unwrap();
        assert_eq!(
            frames.iter().filter_map(Frame::seq).collect::<Vec<_>>(),
            (since + 1..=11).collect::<Vec<_>>()
        );
        assert_eq!(frames.into_iter().map(|frame| frame.data).collect::<Vec<_>>(), events[seen..]);
    }
}

#[tokio::test]
async fn each_sees_what_is_theirs_of_what_is_shared() {
    let served = Served::remembering(64).await;
    let (agent, operator) = (served.agent(), served.operator());
    let mut agents = join_all((0..4).map(|_| follow(&agent, None))).await;
    let mut operators = join_all((0..4).map(|_| follow(&operator, None))).await;
    let mut inboxes = Vec::new();
    for token in [served.agent_token(), served.token()] {
        let mut socket = Socket::with_token(&served, token).await;
        socket.subscribe(json!({"id": "in", "topic": "inbox"})).await;
        inboxes.push(socket);
    }
    let mut own = Vec::new();
    for _ in 0..3 {
        operator.ask().await;
        ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
        own.push(agent.ask().await);
        ok(operator.post("/v1/system/unfreeze", &json!({})).await);
    }
    let runs: Vec<_> = own.iter().flat_map(|asked| [text(asked, "run"); 2]).collect();
    for stream in &mut agents {
        let frames = read(stream, 6).await;
        assert_eq!(frames.iter().map(|frame| text(&frame.data, "run")).collect::<Vec<_>>(), runs);
        assert_eq!(ids(&frames), ["p4", "p5", "p10", "p11", "p16", "p17"]);
    }
    for stream in &mut operators {
        assert_eq!(ids(&read(stream, 18).await), positions(1..=18));
    }
    let [agents, operators] = &mut inboxes[..] else { unreachable!() };
    let told = agents.events("in", 3).await;
    assert_eq!(
        told.iter().map(|event| &event["run"]).collect::<Vec<_>>(),
        [&own[0]["run"], &own[1]["run"], &own[2]["run"]]
    );
    let round = ["interrupt_opened", "frozen", "interrupt_opened", "unfrozen"];
    assert_eq!(types(&operators.events("in", 12).await), round.repeat(3));
}

#[tokio::test]
async fn the_connection_of_a_client_that_does_not_read_is_closed_and_the_others_do_not_wait() {
    let pace = Pace { patience: Duration::from_secs(1), ..Pace::default() };
    let served = Served::paced(pace).await;
    let operator = served.operator();
    let others = reading(follow(&operator, None).await, 151);
    let mut slow = unread(&served).await;
    let filled = fill(&served).await;
    assert_eq!(ids(&others.await.unwrap()), positions(1..=filled));

    // The client has read nothing, so it notices the closed connection only when it writes.
    let began = Instant::now();
    while slow.write_all(b"\r\n").await.is_ok() {
        assert!(began.elapsed() < SOON, "the connection is held");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut got = Vec::new();
    let ended = timeout(SOON, slow.read_to_end(&mut got)).await.unwrap();
    assert!(!got.ends_with(b"0\r\n\r\n"), "a stream that is given up has no end: {ended:?}");

    // The client can resume from the last id that arrived completely.
    let got = String::from_utf8_lossy(&got);
    let whole = got.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
    let seen = whole
        .rsplit_once("id: p")
        .map_or(0, |(_, last)| last.split('\n').next().unwrap().parse::<usize>().unwrap());
    assert!((1..filled).contains(&seen), "{seen} of {filled}");
    let mut back = follow(&operator, Some(&format!("p{seen}"))).await;
    assert_eq!(ids(&read(&mut back, filled - seen).await), positions(seen + 1..=filled));
}
