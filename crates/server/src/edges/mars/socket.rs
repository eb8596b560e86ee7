//! One connection: what the client says is carried out in order, what the run does is told beside it, and neither
//! waits for the other (LESSONS 16). A connection that ends changes nothing.

use std::pin::pin;
use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Path, State};
use axum::response::Response;
use futures::stream::{self, BoxStream, SplitStream};
use futures::{SinkExt, StreamExt};
use holdshort_core::id::RunId;
use holdshort_core::run::Input;
use holdshort_engine::live::Kind;
use holdshort_protocol::Code;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::attached::Attached;
use super::frame::{self, ClientFrame, Frame, Heard, Place};
use super::start::{self, TaskId};
use super::story::Story;
use super::{CHANNEL, act};
use crate::app::App;
use crate::auth::{Caller, Door};
use crate::edges::follow::{self, News};
use crate::edges::line::{self, End};
use crate::edges::who::Guest;
use crate::limits::{ANSWERS, FRAME_READ_BYTES, GOODBYE_TIME, READ_BUFFER_BYTES, WRITE_BUFFER_BYTES};
use crate::problem::{Answer, Refused};
use crate::socket::outbox::{Outbox, Unsent};
use crate::socket::write;

/// The request that a connection begins with.
pub(super) async fn open(
    State(door): State<Door>,
    guest: Guest,
    Path(task): Path<String>,
    Extension(attached): Extension<Arc<Attached>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let caller = guest.through(CHANNEL);
    // Whoever follows a task here also starts it and decides in it.
    caller.require_operator()?;
    let task = TaskId::of(&caller, &task)?;
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("a WebSocket: {error}")))?;
    let (permit, _) = door.place()?;
    let upgrade = upgrade
        .max_message_size(FRAME_READ_BYTES)
        .max_frame_size(FRAME_READ_BYTES)
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES);
    Ok(upgrade.on_upgrade(async move |socket| {
        let client = Client { caller, task };
        serve(socket, &client, &attached, &door).await;
        drop(permit);
    }))
}

/// Who speaks, and of which task.
struct Client {
    caller: Caller,
    task: TaskId,
}

async fn serve(socket: WebSocket, client: &Client, attached: &Attached, door: &Door) {
    let mut hold = attached.take(&client.task);
    let pace = client.caller.app.pace;
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(pace.patience);
    let mut writing = pin!(write::all(sink, queue, pace.ping));
    let end = tokio::select! {
        end = converse(&mut incoming, client, outbox) => Some(end),
        // Only a broken connection ends it before the outbox is gone.
        _ = &mut writing => None,
        () = door.stopped() => Some(Over::Line(End::Stopping)),
        _ = &mut hold.replaced => Some(Over::Line(End::Replaced)),
    };
    attached.leave(&client.task, hold.number());
    match end {
        Some(Over::Line(end)) => Box::pin(line::goodbye(end, writing, incoming)).await,
        Some(Over::Unreadable) => {
            // The client has been told why, if it still reads. One that comes back is read to anew.
            let closed = async {
                let Ok(mut sink) = writing.await else { return };
                let reason = "the journal can not be read: come back".into();
                let close = CloseFrame { code: close_code::ERROR, reason };
                if sink.send(Message::Close(Some(close))).await.is_ok() {
                    while let Some(Ok(_)) = incoming.next().await {}
                }
            };
            let _ = Box::pin(timeout(GOODBYE_TIME, closed)).await;
        }
        None => {}
    }
}

/// Why a conversation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Line(End),
    /// There is more to tell, and it can not be read.
    Unreadable,
}

impl From<Unsent> for Over {
    fn from(unsent: Unsent) -> Self {
        Self::Line(unsent.into())
    }
}

async fn converse(incoming: &mut SplitStream<WebSocket>, client: &Client, outbox: Outbox) -> Over {
    let (orders, taken) = mpsc::channel(ANSWERS);
    let mut telling = pin!(tell(taken, outbox));
    let end = tokio::select! {
        end = listen(incoming, client, orders) => end,
        Err(over) = &mut telling => return over,
    };
    // What was answered is still said.
    match telling.await {
        Ok(()) => Over::Line(end),
        Err(over) => over,
    }
}

/// What listening comes to.
enum Order {
    Say(Utf8Bytes),
    /// From here on this, instead of what was told until now.
    Tell(BoxStream<'static, Told>),
}

/// Text for the client.
enum Told {
    Event(Utf8Bytes),
    /// One who is behind can do without it.
    Preview(Utf8Bytes),
    /// Why nothing follows.
    Last(Utf8Bytes),
}

async fn tell(mut orders: mpsc::Receiver<Order>, outbox: Outbox) -> Result<(), Over> {
    let mut telling: BoxStream<'static, Told> = stream::pending().boxed();
    loop {
        tokio::select! {
            biased;
            order = orders.recv() => match order {
                None => return Ok(()),
                Some(Order::Say(text)) => outbox.put(text).await?,
                Some(Order::Tell(stream)) => telling = stream.chain(stream::pending()).boxed(),
            },
            Some(told) = telling.next() => match told {
                Told::Event(text) => outbox.put(text).await?,
                Told::Preview(text) => outbox.offer(text),
                Told::Last(text) => {
                    outbox.put(text).await?;
                    return Err(Over::Unreadable);
                }
            },
        }
    }
}

async fn listen(incoming: &mut SplitStream<WebSocket>, client: &Client, orders: mpsc::Sender<Order>) -> End {
    let pace = client.caller.app.pace;
    let mut run: Option<RunId> = None;
    loop {
        let Heard { kind, run: named, frame } = match line::next(incoming, pace.silence).await {
            Ok(Some(text)) => frame::read(&text),
            Ok(None) => Heard::refused(Code::MalformedJson, "frames are text, not binary"),
            Err(end) => return end,
        };
        let done = match frame {
            // On the heap for as long as it lasts: an idle socket is to be small.
            Ok(frame) => Box::pin(carry_out(client, &mut run, kind.as_deref(), named.as_ref(), frame)).await,
            Err(refused) => Err(refused),
        };
        let said = done.unwrap_or_else(|refused| {
            vec![say(client, run.as_ref(), "error_occurred", frame::refusal(kind.as_deref(), &refused))]
        });
        for order in said {
            match timeout(pace.patience, orders.send(order)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return End::Left,
                Err(_) => return End::Behind,
            }
        }
    }
}

async fn carry_out(
    client: &Client,
    run: &mut Option<RunId>,
    kind: Option<&str>,
    named: Option<&Value>,
    frame: ClientFrame,
) -> Answer<Vec<Order>> {
    let caller = &client.caller;
    let app = &caller.app;
    if let ClientFrame::Start(asked) = frame {
        if asked.since.is_some() && start::find(app, &client.task).await?.is_none() {
            let rule = "nothing has been told of this task: it was not started yet";
            return Err(Refused::invalid_at("/since", rule));
        }
        let started = start::start(caller, &client.task, &asked).await?;
        // Once more on the same connection: it is told already.
        if run.as_ref() == Some(&started) && asked.since.is_none() {
            return Ok(vec![status(client, &started).await?]);
        }
        let told = told_from(client, &started, asked.since.unwrap_or_default()).await?;
        let status = status(client, &started).await?;
        *run = Some(started);
        return Ok(vec![status, told]);
    }
    // Whoever comes back may say anything first: the task is known. A sign of life asks for nothing.
    let known = match run {
        None if frame == ClientFrame::Ping && named.is_none() => None,
        None => start::find(app, &client.task).await?,
        Some(known) => Some(known.clone()),
    };
    // Clients that name it in every frame mean the run of this task, or another one by mistake.
    if named.is_some_and(|named| named.as_str() != known.as_ref().map(RunId::as_str)) {
        return Err(Refused::invalid_at("/run_id", "is not the run of this task"));
    }
    if frame == ClientFrame::Ping {
        return Ok(vec![say(client, run.as_ref(), "pong", json!({}))]);
    }
    let Some(known) = known else {
        let rule = "nothing runs under this id: the first frame is {\"task\", \"config\"}";
        return Err(Refused::new(Code::NotFound, rule));
    };
    let is_new = run.is_none();
    let from = match &frame {
        ClientFrame::RequestState(since) => *since,
        _ => None,
    };
    let told = match from {
        Some(place) => Some(told_from(client, &known, place).await?),
        None if is_new => Some(told_from(client, &known, Place::default()).await?),
        None => None,
    };
    // Attached only once there is something to tell it with.
    *run = Some(known.clone());
    let mut orders = Vec::new();
    let done = match frame {
        ClientFrame::Start(_) | ClientFrame::Ping => Ok(()),
        ClientFrame::Resolve(resolve) => match act::resolve(caller, &known, resolve).await {
            // No event will tell of it: it stands already.
            Ok(Some(seq)) => told_again(client, &known, seq).await.map(|again| orders.push(again)),
            Ok(None) => Ok(()),
            Err(refused) => Err(refused),
        },
        ClientFrame::Pause => steered(client, &known, Input::Pause, &mut orders).await,
        ClientFrame::Resume => steered(client, &known, Input::Resume, &mut orders).await,
        ClientFrame::Cancel(text) => steered(client, &known, Input::Cancel { text }, &mut orders).await,
        ClientFrame::RequestState(_) => status(client, &known).await.map(|status| orders.push(status)),
    };
    // Told also where what was asked is refused: the connection is attached.
    if let Err(refused) = done {
        if told.is_none() {
            return Err(refused);
        }
        orders.push(say(client, Some(&known), "error_occurred", frame::refusal(kind, &refused)));
    }
    orders.extend(told);
    Ok(orders)
}

/// Where nothing changes no event will tell of it: the answer is what stands.
async fn steered(client: &Client, run: &RunId, input: Input, orders: &mut Vec<Order>) -> Answer<()> {
    let before = client.caller.app.run_row(run).await?.seq;
    if act::steer(&client.caller, run, input).await? == before {
        orders.push(status(client, run).await?);
    }
    Ok(())
}

/// A frame that stands in no journal: an answer.
fn say(client: &Client, run: Option<&RunId>, event_type: &'static str, data: Value) -> Order {
    let frame = Frame {
        event_type,
        timestamp: client.caller.app.now().to_string(),
        run_id: run.map(ToString::to_string),
        session_id: None,
        id: None,
        data,
    };
    Order::Say(frame.text())
}

/// All that has happened, folded.
async fn folded(client: &Client, run: &RunId) -> Answer<(Story, u64)> {
    let app = client.caller.app.clone();
    let last = app.run_row(run).await?.seq;
    let mut story = Story::new(run.as_str());
    let mut news = follow::run(app, run.clone(), 0);
    let mut seq = 0;
    while seq < last {
        match news.next().await {
            Some(News::Event { seq: next, event }) => {
                seq = next;
                story.tell(seq, &event);
            }
            Some(News::Preview(_)) => {}
            Some(News::Problem(refused)) => return Err(refused),
            None => break,
        }
    }
    Ok((story, seq))
}

async fn status(client: &Client, run: &RunId) -> Answer<Order> {
    let (story, seq) = folded(client, run).await?;
    let frame = Frame {
        event_type: "status",
        timestamp: client.caller.app.now().to_string(),
        run_id: Some(run.to_string()),
        session_id: story.session().map(str::to_owned),
        id: None,
        data: story.status(seq),
    };
    Ok(Order::Say(frame.text()))
}

/// The frames after a place, and then those that come.
async fn told_from(client: &Client, run: &RunId, since: Place) -> Answer<Order> {
    let app = client.caller.app.clone();
    let last = app.run_row(run).await?.seq;
    if since.seq > last {
        let rule = format!("is beyond the last event, {last}: was it given out for another task?");
        return Err(Refused::invalid_at("/since", rule));
    }
    let mut story = Story::new(run.as_str());
    let name = run.to_string();
    let clock = app.clone();
    let told = follow::run(app, run.clone(), 0).flat_map(move |news| {
        let told: Vec<Told> = match news {
            News::Event { seq, event } => {
                let frames = story.tell(seq, &event);
                let new = frames.into_iter().filter(|frame| frame.id.is_none_or(|place| place > since));
                new.map(|frame| Told::Event(frame.text())).collect()
            }
            News::Preview(preview) => {
                let kind = match preview.kind {
                    Kind::Text => "text",
                    Kind::Output => "output",
                };
                let data = json!({
                    "step_id": preview.step, "call_id": preview.call, "kind": kind, "text": preview.text,
                });
                vec![Told::Preview(passing(&clock, &name, story.session(), data).text())]
            }
            News::Problem(refused) => {
                let data = frame::refusal(None, &refused);
                let frame =
                    Frame { event_type: "error_occurred", ..passing(&clock, &name, story.session(), data) };
                vec![Told::Last(frame.text())]
            }
        };
        stream::iter(told)
    });
    Ok(Order::Tell(told.boxed()))
}

/// What a decision that stands already came to, once more.
async fn told_again(client: &Client, run: &RunId, at: u64) -> Answer<Order> {
    let app = client.caller.app.clone();
    let mut story = Story::new(run.as_str());
    let mut news = follow::run(app, run.clone(), 0);
    while let Some(news) = news.next().await {
        match news {
            News::Event { seq, event } => {
                let frames = story.tell(seq, &event);
                if seq == at {
                    let received = frames.into_iter().find(|frame| frame.event_type == "approval_received");
                    let data = received.map(|frame| frame.data).unwrap_or_default();
                    return Ok(say(client, Some(run), "approval_received", data));
                }
            }
            News::Preview(_) => {}
            News::Problem(refused) => return Err(refused),
        }
    }
    Err(Refused::of(Code::Stopping))
}

/// Live output: no id, no replay.
fn passing(app: &App, run: &str, session: Option<&str>, data: Value) -> Frame {
    Frame {
        event_type: "output",
        timestamp: app.now().to_string(),
        run_id: Some(run.to_owned()),
        session_id: session.map(str::to_owned),
        id: None,
        data,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A client that is not told any more must not go on waiting.
    #[tokio::test]
    async fn what_can_not_be_read_ends_the_conversation() {
        let (orders, taken) = mpsc::channel(2);
        let (outbox, mut queue) = Outbox::new(Duration::from_secs(1));
        let told = [Told::Event("one".into()), Told::Last("broken".into()), Told::Event("two".into())];
        assert!(orders.send(Order::Tell(stream::iter(told).boxed())).await.is_ok());
        assert_eq!(tell(taken, outbox).await, Err(Over::Unreadable));
        assert_eq!(queue.recv().await.as_deref(), Some("one"));
        assert_eq!(queue.recv().await.as_deref(), Some("broken"));
        assert_eq!(queue.recv().await, None);
    }
}
