//! One connection: what the client says is carried out in order, what the run does is told beside it, and neither
//! waits for the other (lesson 16). A connection that ends changes nothing.

use std::pin::pin;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{self, BoxStream, SplitStream};
use holdshort_core::id::RunId;
use holdshort_core::run::Input;
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::limits::ANSWERS;
use holdshort_web::line::{self, End, Outbox};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::attached::Attached;
use super::frame::{self, ClientFrame, Frame, FrameId, Heard};
use super::retell::{self, Told};
use super::start::{self, TaskId};
use super::{CHANNEL, act};
use crate::who::Guest;

/// The request that a connection begins with.
pub(super) async fn open(
    State(door): State<AuthState>,
    guest: Guest,
    Id(task): Id<String>,
    Extension(attached): Extension<Arc<Attached>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let caller = guest.through(CHANNEL)?;
    let task = TaskId::of(&caller, &task)?;
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("a WebSocket: {error}")))?;
    let permit = caller.app.place()?;
    Ok(line::limited(upgrade).on_upgrade(async move |socket| {
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

async fn serve(socket: WebSocket, client: &Client, attached: &Attached, door: &AuthState) {
    let mut hold = attached.take(&client.task);
    let pace = client.caller.app.pace;
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(pace.patience);
    let mut writing = pin!(line::write(sink, queue, pace.ping));
    let end = tokio::select! {
        end = converse(&mut incoming, client, outbox) => Some(end),
        // Only a broken connection ends it before the outbox is gone.
        _ = &mut writing => None,
        () = door.stopped() => Some(End::Stopping),
        _ = &mut hold.replaced => Some(End::Replaced),
    };
    attached.leave(&client.task, hold.number());
    let Some(end) = end else { return };
    Box::pin(line::goodbye(&end, None, writing, incoming)).await;
}

async fn converse(incoming: &mut SplitStream<WebSocket>, client: &Client, outbox: Outbox) -> End {
    let (orders, taken) = mpsc::channel(ANSWERS);
    let mut telling = pin!(tell(taken, outbox));
    let end = tokio::select! {
        end = listen(incoming, client, orders) => end,
        Err(end) = &mut telling => return end,
    };
    // What was answered is still said.
    match telling.await {
        Ok(()) => end,
        Err(end) => end,
    }
}

/// What listening comes to.
enum Order {
    Say(Frame),
    /// From here on this, instead of what was told until now.
    Tell(BoxStream<'static, Told>),
}

async fn tell(mut orders: mpsc::Receiver<Order>, outbox: Outbox) -> Result<(), End> {
    let mut telling: BoxStream<'static, Told> = stream::pending().boxed();
    loop {
        tokio::select! {
            biased;
            order = orders.recv() => match order {
                None => return Ok(()),
                Some(Order::Say(frame)) => outbox.put(frame.text()).await?,
                Some(Order::Tell(stream)) => telling = stream.chain(stream::pending()).boxed(),
            },
            Some(told) = telling.next() => match told {
                Told::Event(text) => outbox.put(text).await?,
                Told::Preview(text) => outbox.offer(text),
                Told::Last(text) => {
                    outbox.put(text).await?;
                    return Err(End::Unreadable);
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
            let data = frame::refusal(kind.as_deref(), &refused);
            vec![Order::Say(retell::say(&client.caller, run.as_ref(), "error_occurred", data))]
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
            return Ok(vec![Order::Say(retell::status(caller, &started).await?)]);
        }
        let told = retell::after(caller, &started, asked.since.unwrap_or_default()).await?;
        let status = retell::status(caller, &started).await?;
        *run = Some(started);
        return Ok(vec![Order::Say(status), Order::Tell(told)]);
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
        return Ok(vec![Order::Say(retell::say(caller, run.as_ref(), "pong", json!({})))]);
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
        Some(place) => Some(retell::after(caller, &known, place).await?),
        None if is_new => Some(retell::after(caller, &known, FrameId::default()).await?),
        None => None,
    };
    // Attached only once there is something to tell it with.
    *run = Some(known.clone());
    let mut orders = Vec::new();
    let done = match frame {
        ClientFrame::Start(_) | ClientFrame::Ping => Ok(()),
        ClientFrame::Resolve(resolve) => match act::resolve(caller, &known, resolve).await {
            // No event will tell of it: it stands already.
            Ok(Some(id)) => {
                retell::resolved(caller, &known, &id).await.map(|again| orders.push(Order::Say(again)))
            }
            Ok(None) => Ok(()),
            Err(refused) => Err(refused),
        },
        ClientFrame::Pause => steered(caller, &known, Input::Pause, &mut orders).await,
        ClientFrame::Resume => steered(caller, &known, Input::Resume, &mut orders).await,
        ClientFrame::Cancel(text) => steered(caller, &known, Input::Cancel { text }, &mut orders).await,
        ClientFrame::RequestState(_) => {
            retell::status(caller, &known).await.map(|status| orders.push(Order::Say(status)))
        }
    };
    // Told also where what was asked is refused: the connection is attached.
    if let Err(refused) = done {
        if told.is_none() {
            return Err(refused);
        }
        let data = frame::refusal(kind, &refused);
        orders.push(Order::Say(retell::say(caller, Some(&known), "error_occurred", data)));
    }
    orders.extend(told.map(Order::Tell));
    Ok(orders)
}

/// Where nothing changes no event will tell of it: the answer is what stands.
async fn steered(caller: &Caller, run: &RunId, input: Input, orders: &mut Vec<Order>) -> Answer<()> {
    let before = caller.app.run_row(run).await?.seq;
    if act::steer(caller, run, input).await? == before {
        orders.push(Order::Say(retell::status(caller, run).await?));
    }
    Ok(())
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
        assert!(matches!(tell(taken, outbox).await, Err(End::Unreadable)));
        assert_eq!(queue.recv().await.as_deref(), Some("one"));
        assert_eq!(queue.recv().await.as_deref(), Some("broken"));
        assert_eq!(queue.recv().await, None);
    }
}
