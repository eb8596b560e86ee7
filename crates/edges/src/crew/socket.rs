//! `/ws/tasks/{task_id}`: live progress of a task (lesson 60). Each frame contains one event and the task, in the form
//! in which `/crew/status` shows the task to this caller. The first frame contains the current state of the task.
//! Heartbeats and answers to pings keep the connection open for clients that expect them (contract D10). All other
//! frames from the client are ignored, except that they show that the client is alive.

use std::pin::pin;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_core::event::{self, Event};
use holdshort_core::id::RunId;
use holdshort_core::interrupt::{Kind, Outcome};
use holdshort_core::json;
use holdshort_core::run::{Fact, Run};
use holdshort_core::time::Timestamp;
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use holdshort_web::websocket::{self, End, Outbox};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tracing::{Instrument, Span};

use super::guest::Guest;
use super::{status, task};
use crate::follow::{self, News};

pub(super) async fn open(
    State(door): State<AuthState>,
    guest: Guest,
    Id(id): Id<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let caller = guest.authorize()?;
    let id = task::resolve_id(&caller.app, &id).await?;
    status::render_for_caller(&caller, &*caller.app.run_now(&id).await?).await?;
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("not a WebSocket: {error}")))?;
    let permit = caller.app.reserve_stream()?;
    let span = Span::current();
    Ok(websocket::limited(upgrade).on_upgrade(async move |socket| {
        serve(socket, &caller, id, &door).instrument(span).await;
        drop(permit);
    }))
}

async fn serve(socket: WebSocket, caller: &Caller, id: RunId, door: &AuthState) {
    let pace = caller.app.pace;
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Frames::new(pace.patience);
    let mut writing = pin!(websocket::write(sink, queue, pace.ping, |never| match never {}));
    let end = tokio::select! {
        biased;
        end = End::of_access(caller) => Some(end),
        end = answer_pings(&mut incoming, caller, &outbox) => Some(end),
        end = Box::pin(send_frames(caller, &id, &outbox)) => Some(end),
        end = send_heartbeats(caller, &outbox) => Some(end),
        _ = &mut writing => None,
        () = door.stopped() => Some(End::Stopping),
    };
    // The writer ends when the queue is closed.
    drop(outbox);
    let Some(end) = end else { return };
    Box::pin(websocket::goodbye(&end, None, writing, incoming)).await;
}

type Frames = Outbox<std::convert::Infallible>;

async fn answer_pings(incoming: &mut SplitStream<WebSocket>, caller: &Caller, outbox: &Frames) -> End {
    loop {
        match websocket::next(incoming, caller.app.pace.silence).await {
            Ok(Some(text)) if is_ping(&text) => {
                if let Err(unsent) = outbox.put(keep_alive("pong", caller)).await {
                    return unsent.into();
                }
            }
            Ok(_) => {}
            Err(end) => return end,
        }
    }
}

fn is_ping(text: &str) -> bool {
    json::parse(text.as_bytes()).is_ok_and(|frame| frame.get("type").is_some_and(|kind| kind == "ping"))
}

async fn send_heartbeats(caller: &Caller, outbox: &Frames) -> End {
    let every = caller.app.pace.heartbeat;
    let mut beats = interval_at(Instant::now() + every, every);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beats.tick().await;
        if let Err(unsent) = outbox.put(keep_alive("heartbeat", caller)).await {
            return unsent.into();
        }
    }
}

/// Returns a frame that reports no event of the task, such as a heartbeat.
fn keep_alive(kind: &str, caller: &Caller) -> Utf8Bytes {
    json!({ "type": kind, "timestamp": seconds(caller.app.now()) }).to_string().into()
}

/// Returns a timestamp in the form that clients of the crew edge expect: seconds since 1970.
fn seconds(at: Timestamp) -> f64 {
    Duration::from_millis(u64::try_from(at.as_millis()).unwrap_or_default()).as_secs_f64()
}

/// Sends the frames of a task's socket until the task has ended. The connection then stays open until the client
/// disconnects.
async fn send_frames(caller: &Caller, id: &RunId, outbox: &Frames) -> End {
    let app = &caller.app;
    let Ok(run) = app.run_now(id).await else { return End::Unreadable };
    let mut run = (*run).clone();
    let stands = state_event(&run);
    let mut told = ReportedState::after(stands).unwrap_or(ReportedState::New);
    let mut news = follow::run(app.clone(), id.clone(), run.seq);
    let first = ClientEvent { kind: stands, event: "status", agent: None };
    if let Err(end) = send_frame(caller, &run, first, outbox).await {
        return end;
    }
    // A client that has never received a heartbeat reconnects after a few seconds (contract D10).
    if let Err(unsent) = outbox.put(keep_alive("heartbeat", caller)).await {
        return unsent.into();
    }
    loop {
        let said = match news.next().await {
            Some(News::Event { event, .. }) => {
                run.apply(&event);
                project_event(&run, &event, &mut told)
            }
            Some(News::Preview(_)) => Vec::new(),
            Some(News::Problem(_)) => return End::Unreadable,
            None => return std::future::pending().await,
        };
        for said in said {
            if let Err(end) = send_frame(caller, &run, said, outbox).await {
                return end;
            }
        }
    }
}

/// Sends one frame of a task's socket. A reviewer who has lost access to the task receives nothing more.
async fn send_frame(caller: &Caller, run: &Run, said: ClientEvent, outbox: &Frames) -> Result<(), End> {
    let shown = status::render_for_caller(caller, run).await.map_err(End::AccessEnded)?;
    outbox.put(frame(said, run, shown)).await.map_err(End::from)
}

/// Types of the events from which clients of the source system derive the state of a task. After `STARTED`, clients
/// show the task as running. After `REQUESTED` or `PAUSED`, clients show the task as paused.
const STARTED: &str = "task_started";
const REQUESTED: &str = "hitl_review_requested";
const PAUSED: &str = "task_paused";

/// State of a task that the client shows according to the events that it has received.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReportedState {
    New,
    Runs,
    Held,
}

impl ReportedState {
    /// Returns the task state that the client shows after it has received an event of this type. Returns `None` if an
    /// event of this type does not change the state.
    fn after(kind: &str) -> Option<Self> {
        match kind {
            STARTED => Some(Self::Runs),
            REQUESTED | PAUSED => Some(Self::Held),
            _ => None,
        }
    }
}

struct ClientEvent {
    /// Event type that clients of the crew edge know. They derive the state of the task from this type.
    kind: &'static str,
    /// Event type of the crew edge, which is more precise than `kind`.
    event: &'static str,
    /// Agent that the client event is about, or `None` for the current agent.
    agent: Option<String>,
}

/// Returns the event type after which clients show the current state of the task.
fn state_event(run: &Run) -> &'static str {
    match task::State::from_run(run) {
        task::State::Pending => "connected",
        task::State::Running => STARTED,
        task::State::Paused if run.open_review().is_some() => REQUESTED,
        task::State::Paused => PAUSED,
        task::State::Completed => "task_completed",
        task::State::Failed => "task_failed",
    }
}

fn frame(ClientEvent { kind, event, agent }: ClientEvent, run: &Run, shown: Value) -> Utf8Bytes {
    let agent = agent.as_deref().or_else(|| task::current_agent(run));
    let mut frame = json!({
        "id": format!("{}/{}/{event}", run.id, run.seq),
        "type": kind,
        "event": event,
        "timestamp": seconds(run.last_at),
        "timestamp_iso": run.last_at.to_string(),
        "seq": run.seq,
        "agent_id": agent,
    });
    if let (Some(frame), Value::Object(shown)) = (frame.as_object_mut(), shown) {
        frame.extend(shown);
    }
    frame.to_string().into()
}

/// Returns the client events for one event of the journal. If the task is running and the client shows a different
/// state, adds a `task_started` event. For a new task, `task_started` comes first.
fn project_event(run: &Run, event: &Event, told: &mut ReportedState) -> Vec<ClientEvent> {
    let event::Fact::Run(fact) = &event.fact else { return Vec::new() };
    let mut said = Vec::new();
    if let Some(happened) = happened(run, fact) {
        *told = ReportedState::after(happened.kind).unwrap_or(*told);
        said.push(happened);
    }
    let goes_on = matches!(
        fact,
        Fact::StepStarted { .. }
            | Fact::RunResumed
            | Fact::InterruptResolved { outcome: Outcome::Approved | Outcome::Answered, .. }
    );
    if goes_on && task::State::from_run(run) == task::State::Running {
        match std::mem::replace(told, ReportedState::Runs) {
            ReportedState::Runs => {}
            ReportedState::Held => {
                said.push(ClientEvent { kind: STARTED, event: "task_resumed", agent: None });
            }
            ReportedState::New => said.insert(0, ClientEvent { kind: STARTED, event: STARTED, agent: None }),
        }
    }
    said
}

/// Returns the client event for one fact of the journal. Returns `None` if clients need no event for the fact.
fn happened(run: &Run, fact: &Fact) -> Option<ClientEvent> {
    let is_review = |id| run.interrupts.get(id).is_some_and(|each| each.opened.kind == Kind::Review);
    let (kind, event, agent) = match fact {
        Fact::StepStarted { agent, .. } => ("agent_started", "agent_started", Some(agent.clone())),
        Fact::StepEnded { step, .. } => {
            let agent = run.steps.get(step).map(|step| step.agent.clone());
            ("agent_completed", "agent_completed", agent)
        }
        Fact::InterruptOpened(opened) if opened.kind == Kind::Review => {
            (REQUESTED, "review_requested", opened.agent.clone())
        }
        Fact::InterruptResolved { interrupt, outcome, .. } if is_review(interrupt) => {
            let (kind, event) = match outcome {
                Outcome::Approved | Outcome::Answered => ("hitl_review_approved", "review_approved"),
                Outcome::Rejected => ("hitl_review_rejected", "review_rejected"),
                // The source system has no event types for these outcomes.
                Outcome::Expired => ("review_expired", "review_expired"),
                Outcome::Cancelled | Outcome::Superseded => ("review_cancelled", "review_cancelled"),
            };
            (kind, event, None)
        }
        Fact::RunPaused => (PAUSED, PAUSED, None),
        Fact::RunCompleted { .. } => ("task_completed", "task_completed", None),
        Fact::RunFailed { .. } | Fact::RunCancelled { .. } => ("task_failed", "task_failed", None),
        _ => return None,
    };
    Some(ClientEvent { kind, event, agent })
}
