//! `/ws/tasks/{task_id}`: how a task goes on, as it goes on (lesson 60). Each frame is the task as `/crew/status` tells it, and
//! what has just happened; the first one says how it stands. What a client says is not read, but for signs of life.

use std::pin::pin;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_core::event::{self, Event};
use holdshort_core::id::RunId;
use holdshort_core::interrupt::{Kind, Outcome};
use holdshort_core::run::{Fact, Run};
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::websocket::{self, End, Outbox};
use serde_json::{Value, json};
use tracing::{Instrument, Span};

use super::{CHANNEL, task};
use crate::follow::{self, News};
use crate::who::Guest;

pub(super) async fn open(
    State(door): State<AuthState>,
    guest: Guest,
    Id(id): Id<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let caller = guest.through(CHANNEL)?;
    let id = task::known(&caller.app, &id).await?;
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("a WebSocket: {error}")))?;
    let permit = caller.app.place()?;
    let span = Span::current();
    Ok(websocket::limited(upgrade).on_upgrade(async move |socket| {
        serve(socket, &caller, id, &door).instrument(span).await;
        drop(permit);
    }))
}

async fn serve(socket: WebSocket, caller: &Caller, id: RunId, door: &AuthState) {
    let pace = caller.app.pace;
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::<std::convert::Infallible>::new(pace.patience);
    let mut writing = pin!(websocket::write(sink, queue, pace.ping, |never| match never {}));
    let end = tokio::select! {
        biased;
        end = End::of_access(caller) => Some(end),
        end = hear(&mut incoming, caller) => Some(end),
        end = Box::pin(tell(caller, &id, outbox)) => Some(end),
        _ = &mut writing => None,
        () = door.stopped() => Some(End::Stopping),
    };
    let Some(end) = end else { return };
    Box::pin(websocket::goodbye(&end, None, writing, incoming)).await;
}

async fn hear(incoming: &mut SplitStream<WebSocket>, caller: &Caller) -> End {
    loop {
        if let Err(end) = websocket::next(incoming, caller.app.pace.silence).await {
            return end;
        }
    }
}

/// Until the task has ended; then the connection stays until its client leaves.
async fn tell(caller: &Caller, id: &RunId, outbox: Outbox<std::convert::Infallible>) -> End {
    let app = &caller.app;
    let Ok(run) = app.run_now(id).await else { return End::Unreadable };
    let mut run = (*run).clone();
    if let Err(unsent) = outbox.put(frame("status", &run)).await {
        return unsent.into();
    }
    let mut news = follow::run(app.clone(), id.clone(), run.seq);
    while let Some(news) = news.next().await {
        let event = match news {
            News::Event { event, .. } => event,
            News::Preview(_) => continue,
            News::Problem(_) => return End::Unreadable,
        };
        run.apply(&event);
        let Some(kind) = kind(&run, &event) else { continue };
        if let Err(unsent) = outbox.put(frame(kind, &run)).await {
            return unsent.into();
        }
    }
    std::future::pending().await
}

fn frame(kind: &str, run: &Run) -> Utf8Bytes {
    let mut frame: Value =
        json!({ "type": kind, "event": kind, "timestamp": run.last_at.to_string(), "seq": run.seq });
    if let (Some(frame), Value::Object(shown)) = (frame.as_object_mut(), task::shown(run, true)) {
        frame.extend(shown);
    }
    frame.to_string().into()
}

/// What an event is to whoever watches a crew; `None`: nothing.
fn kind(run: &Run, event: &Event) -> Option<&'static str> {
    let event::Fact::Run(fact) = &event.fact else { return None };
    let is_review = |id| run.interrupts.get(id).is_some_and(|each| each.opened.kind == Kind::Review);
    if let Fact::StepStarted { .. } = fact {
        return Some("agent_started");
    }
    if let Fact::StepEnded { .. } = fact {
        return Some("agent_completed");
    }
    if let Fact::InterruptOpened(opened) = fact {
        return (opened.kind == Kind::Review).then_some("review_requested");
    }
    if let Fact::InterruptResolved { interrupt, outcome, .. } = fact {
        let kind = match outcome {
            Outcome::Approved | Outcome::Answered => "review_approved",
            Outcome::Rejected => "review_rejected",
            Outcome::Expired => "review_expired",
            Outcome::Cancelled | Outcome::Superseded => "review_cancelled",
        };
        return is_review(interrupt).then_some(kind);
    }
    match fact {
        Fact::RunPaused => Some("task_paused"),
        Fact::RunResumed => Some("task_resumed"),
        Fact::RunCompleted { .. } => Some("task_completed"),
        Fact::RunFailed { .. } | Fact::RunCancelled { .. } => Some("task_failed"),
        _ => None,
    }
}
