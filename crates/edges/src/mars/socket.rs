//! One connection of a client. Frames from the client are carried out in order. The frames of the run are sent at the
//! same time: neither receiving nor sending waits for the other (lesson 16). If the connection closes, the run
//! continues.

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
use holdshort_core::trace_parent::TraceParent;
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::limits::ANSWERS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::trace_context::JoinedTrace;
use holdshort_web::websocket::{self, End, Outbox};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::{Instrument, Span};

use super::act;
use super::caller::person;
use super::config;
use super::connections::{Hold, TaskConnections};
use super::frame::{self, ClientFrame, Frame, FrameId, ReceivedFrame, Since};
use super::replay::{self, CurrentState, OutgoingText};
use super::start::{self, StartedTask};
use super::task_id::TaskId;
use crate::credentials::AuthenticatedCaller;

pub(super) async fn open(
    State(door): State<AuthState>,
    guest: AuthenticatedCaller,
    Id(task): Id<String>,
    Extension(attached): Extension<Arc<TaskConnections>>,
    JoinedTrace(trace): JoinedTrace,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let caller = person(guest)?;
    let task = TaskId::new(&caller, &task)?;
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("not a WebSocket: {error}")))?;
    let permit = caller.app.reserve_stream()?;
    let span = Span::current();
    Ok(websocket::limited(upgrade).on_upgrade(async move |socket| {
        let mut hold = attached.take(&task);
        hold.wait_for_handover().await;
        let client = Client { caller, task, number: hold.number, attached, trace };
        serve(socket, &client, &mut hold, &door).instrument(span).await;
        drop(permit);
    }))
}

/// Reason that the web UI gives when it closes its connection because a person pressed *Stop* or *Cancel*.
const STOPPED: &str = "Manual disconnect";

struct Client {
    caller: Caller,
    task: TaskId,
    attached: Arc<TaskConnections>,
    /// Number of this connection, which `connections.rs` assigned.
    number: u64,
    /// Trace that a run becomes part of if this connection starts the run.
    trace: Option<TraceParent>,
}

async fn serve(socket: WebSocket, client: &Client, hold: &mut Hold, door: &AuthState) {
    let pace = client.caller.app.pace;
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(pace.patience);
    let written = |frame| client.attached.record_frame(&client.task, client.number, frame);
    let mut writing = pin!(websocket::write(sink, queue, pace.ping, written));
    let end = tokio::select! {
        biased;
        end = End::of_access(&client.caller) => Some(end),
        end = converse(&mut incoming, client, outbox) => Some(end),
        // While the outbox exists, only a broken connection ends the writer.
        _ = &mut writing => None,
        () = door.stopped() => Some(End::Stopping),
        _ = &mut hold.replaced => Some(End::Replaced),
    };
    client.attached.leave(&client.task, hold);
    let Some(end) = end else { return };
    Box::pin(websocket::goodbye(&end, None, writing, incoming)).await;
}

async fn converse(incoming: &mut SplitStream<WebSocket>, client: &Client, outbox: Outbox<FrameId>) -> End {
    let (orders, taken) = mpsc::channel(ANSWERS);
    let mut telling = pin!(send_frames(taken, outbox));
    let end = tokio::select! {
        end = listen(incoming, client, orders) => end,
        Err(end) = &mut telling => return end,
    };
    // Send the responses that are already queued.
    match telling.await {
        Ok(()) => end,
        Err(end) => end,
    }
}

/// Instruction from the code that receives frames to the code that sends frames.
enum Order {
    Say(Frame),
    /// From now on, send the frames of this stream instead of the frames of the previous stream.
    Tell(BoxStream<'static, OutgoingText>),
}

async fn send_frames(mut orders: mpsc::Receiver<Order>, outbox: Outbox<FrameId>) -> Result<(), End> {
    let mut telling: BoxStream<'static, OutgoingText> = stream::pending().boxed();
    loop {
        tokio::select! {
            biased;
            order = orders.recv() => match order {
                None => return Ok(()),
                Some(Order::Say(frame)) => outbox.put(frame.text()).await?,
                Some(Order::Tell(stream)) => telling = stream.chain(stream::pending()).boxed(),
            },
            Some(told) = telling.next() => match told {
                OutgoingText::Event(text, place) => outbox.put_marked(text, place).await?,
                OutgoingText::Preview(text) => outbox.offer(text),
                OutgoingText::Last(text) => {
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
        let ReceivedFrame { kind, run: named, frame } = match websocket::next(incoming, pace.silence).await {
            Ok(Some(text)) => frame::read(&text),
            Ok(None) => ReceivedFrame::refused(Code::MalformedJson, "frames must be text, not binary"),
            Err(end) => {
                if let (End::LeftBecause(reason), Some(run)) = (&end, &run)
                    && reason.as_str() == STOPPED
                {
                    stop(&client.caller, run).await;
                }
                return end;
            }
        };
        let starts = matches!(frame, Ok(ClientFrame::Start(_)));
        let done = match frame {
            // The future is boxed, so that an idle socket needs little memory.
            Ok(frame) => Box::pin(carry_out(client, &mut run, kind.as_deref(), named.as_ref(), frame)).await,
            Err(refused) => Err(refused),
        };
        let said = match done {
            Ok(said) => said,
            Err(refused) => {
                let mut said = refuse(&client.caller, run.as_ref(), kind.as_deref(), None, &refused).await;
                if starts && run.is_none() {
                    said.extend(not_started(client, &refused).await);
                }
                said
            }
        };
        for order in said {
            match timeout(pace.patience, orders.send(order)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return End::Left,
                Err(_) => return End::Behind,
            }
        }
    }
}

/// Cancels the run of a task that a person has stopped.
async fn stop(caller: &Caller, run: &RunId) {
    let text = Some("stopped in the web UI".to_owned());
    if let Err(refused) = act::steer(caller, run, Input::Cancel { text }).await {
        tracing::warn!(%run, ?refused, "a run that was stopped in the web UI cannot be cancelled");
    }
}

/// Returns the frames that the server sends after it has rejected a frame of the client. A client clears its panel
/// after every decision that it sends, even if the decision is rejected. The open requests are therefore sent again,
/// with `last` at the end (contract E41).
async fn refuse(
    caller: &Caller,
    run: Option<&RunId>,
    kind: Option<&str>,
    last: Option<&str>,
    refused: &Refused,
) -> Vec<Order> {
    let data = frame::refusal(kind, refused);
    let error = replay::say(caller, run, "error_occurred", data);
    let decides = matches!(kind, Some("resolve_approval" | "approval_response"));
    let open = match run.filter(|_| decides) {
        Some(run) => CurrentState::load(caller, run).await.map(|now| now.open(last)).unwrap_or_default(),
        None => Vec::new(),
    };
    std::iter::once(error).chain(open).map(Order::Say).collect()
}

/// If a task was rejected before it had a run, returns the frame that ends the task in the client. Without this frame,
/// the web UI would show the task as running and reconnect until a person stops it. Returns `None` if the task has a
/// run, because the client may attach to this run.
async fn not_started(client: &Client, refused: &Refused) -> Option<Order> {
    let Client { caller, task, .. } = client;
    if !matches!(start::find(&caller.app, task).await, Ok(None)) {
        return None;
    }
    let ended = json!({ "reason": refused.0.code, "error": refused.0.detail });
    Some(Order::Say(replay::say(caller, None, "workflow_failed", ended)))
}

async fn carry_out(
    client: &Client,
    run: &mut Option<RunId>,
    kind: Option<&str>,
    named: Option<&Value>,
    frame: ClientFrame,
) -> Answer<Vec<Order>> {
    let Client { caller, task, .. } = client;
    if let ClientFrame::Start(asked) = frame {
        return begin(client, run, &asked).await;
    }
    // A client that reconnects may begin with any frame, because the URL names the task. A ping needs no task.
    let known = match run {
        None if frame == ClientFrame::Ping && named.is_none() => None,
        None => start::find(&caller.app, task).await?.or_else(|| Some(client.attached.resumed(task)?.0)),
        Some(known) => Some(known.clone()),
    };
    // Some clients name the run in every frame, with the id of the run or the id of the task.
    let is_ours = |named: &Value| {
        named.as_str().is_some_and(|named| {
            named == task.name() || known.as_ref().is_some_and(|run| run.as_str() == named)
        })
    };
    if named.is_some_and(|named| !is_ours(named)) {
        return Err(Refused::invalid_at("/run_id", "is not the run of this task"));
    }
    if frame == ClientFrame::Ping {
        return Ok(vec![Order::Say(replay::say(caller, run.as_ref(), "pong", json!({})))]);
    }
    let Some(known) = known else {
        let rule = "no task with this id has started: start it with the frame {\"task\", \"config\"}";
        return Err(Refused::new(Code::NotFound, rule));
    };
    let since = match &frame {
        ClientFrame::RequestState(since) => *since,
        _ => None,
    };
    let attach = match (since, run.is_none()) {
        (None, false) => Vec::new(),
        (since, _) => start_stream(client, &known, since).await?,
    };
    // The connection is attached only after the stream was opened.
    *run = Some(known.clone());
    let asks =
        if let ClientFrame::Resolve(resolve) = &frame { Some(resolve.approval_id.clone()) } else { None };
    let mut orders = match Box::pin(answer(caller, &known, frame)).await {
        Ok(answer) => answer,
        // Even a rejected frame attaches the connection to the task: the error is sent, and then the stream starts.
        Err(refused) => refuse(caller, Some(&known), kind, asks.as_deref(), &refused).await,
    };
    orders.extend(attach);
    Ok(orders)
}

/// Starts the task, or attaches the connection to the task.
async fn begin(client: &Client, run: &mut Option<RunId>, asked: &start::Start) -> Answer<Vec<Order>> {
    let Client { caller, task, attached, trace, .. } = client;
    let unseen = [None, Some(Since::Time(0))];
    if !unseen.contains(&asked.since) && start::find(&caller.app, task).await?.is_none() {
        let rule = "cannot be used: this task has not started, so it has sent no frames yet";
        return Err(Refused::invalid_at("/since", rule));
    }
    let begun = match attached.resumed(task) {
        Some((known, digest)) if digest == start::digest(asked) => StartedTask::existing(known),
        Some(_) => return Err(start::another()),
        None => start::start(caller, (task, attached), asked, *trace).await?,
    };
    if begun.is_new {
        attached.record_new_task(task);
    }
    if begun.is_resumed {
        attached.record_resumed(task, &begun.run, start::digest(asked));
    }
    let now = CurrentState::load(caller, &begun.run).await?;
    // The text of a task that resumes a session with *Resume* is not a text that a person has just written.
    let has_unused_text = begun.is_resumed && !config::resumes_session(&asked.config);
    let status = if has_unused_text { now.status_without_text() } else { now.status(&begun.idle) };
    let mut orders = vec![Order::Say(status)];
    // A second start frame on the same connection does not restart the stream.
    if run.as_ref() != Some(&begun.run) || asked.since.is_some() {
        let since = asked.since.or(begun.is_new.then_some(Since::Time(0)));
        orders.extend(start_stream(client, &begun.run, since).await?);
        *run = Some(begun.run);
    }
    Ok(orders)
}

/// Streams frames to the client from a position. If the client sent no position, the current state is sent first,
/// because the client possibly missed frames.
async fn start_stream(client: &Client, run: &RunId, since: Option<Since>) -> Answer<Vec<Order>> {
    let Client { caller, task, attached, .. } = client;
    let tell = replay::stream_frames(caller, run, since, attached.last_frame(task)).await?;
    attached.record_shown(task, run);
    let state = if since.is_none() { CurrentState::load(caller, run).await?.state() } else { Vec::new() };
    Ok(state.into_iter().map(Order::Say).chain([Order::Tell(tell)]).collect())
}

/// Carries out a command for the run. A command that changes nothing causes no event, so the current state of the run
/// is returned.
async fn answer(caller: &Caller, run: &RunId, frame: ClientFrame) -> Answer<Vec<Order>> {
    let steer = match frame {
        ClientFrame::Resolve(resolve) => {
            let Some(id) = Box::pin(act::resolve(caller, run, resolve)).await? else { return Ok(Vec::new()) };
            let now = CurrentState::load(caller, run).await?;
            return Ok(std::iter::once(now.resolved(&id)).chain(now.open(None)).map(Order::Say).collect());
        }
        ClientFrame::Start(_) | ClientFrame::Ping => return Ok(Vec::new()),
        ClientFrame::RequestState(_) => None,
        ClientFrame::Pause => Some(Input::Pause),
        ClientFrame::Resume => Some(Input::Resume),
        ClientFrame::Cancel(text) => Some(Input::Cancel { text }),
    };
    let changed = match steer {
        Some(input) => act::steer(caller, run, input).await?,
        None => false,
    };
    if changed {
        Ok(Vec::new())
    } else {
        Ok(vec![Order::Say(CurrentState::load(caller, run).await?.status(&[]))])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// If the journal is unreadable, the connection is closed, so that the client does not wait for nothing.
    #[tokio::test]
    async fn what_can_not_be_read_ends_the_conversation() {
        let (orders, taken) = mpsc::channel(2);
        let (outbox, mut queue) = Outbox::new(Duration::from_secs(1));
        let event = |text: &'static str| OutgoingText::Event(text.into(), None);
        let told = [event("one"), OutgoingText::Last("broken".into()), event("two")];
        assert!(orders.send(Order::Tell(stream::iter(told).boxed())).await.is_ok());
        assert!(matches!(send_frames(taken, outbox).await, Err(End::Unreadable)));
        let mut said = Vec::new();
        while let Some(queued) = queue.recv().await {
            said.push(queued.text);
        }
        assert_eq!(said, ["one", "broken"]);
    }
}
