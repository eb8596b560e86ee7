//! What has happened in a task's run, told from its first event on: where it stands, what follows a place, and once
//! more what a decision came to. Reads the journal and nothing else; who is told is `socket.rs`'s to know.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use holdshort_core::event::{self, Event};
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::run::Fact;
use holdshort_engine::real::{Kind, Preview};
use holdshort_engine::rebuild::event_at;
use holdshort_protocol::Code;
use holdshort_web::app::App;
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use serde_json::{Value, json};

use super::frame::{self, Frame, FrameId};
use super::projector::Projector;
use crate::follow::{self, News};

/// Text for the client.
pub(super) enum Told {
    Event(Utf8Bytes),
    /// One who is behind can do without it.
    Preview(Utf8Bytes),
    /// Why nothing follows.
    Last(Utf8Bytes),
}

/// Where the run stands.
pub(super) async fn status(caller: &Caller, run: &RunId) -> Answer<Frame> {
    let last = caller.app.run_row(run).await?.seq;
    let projector = read(caller, run, last, |_, _| {}).await?;
    Ok(passing(&caller.app, "status", Some(run.as_str()), projector.session(), projector.status(last)))
}

/// What a decision that stands already came to, by the event that resolved it.
pub(super) async fn resolved(caller: &Caller, run: &RunId, at: u64) -> Answer<Frame> {
    let mut data = Value::Null;
    let keep = |seq, frames: Vec<Frame>| {
        if seq == at
            && let Some(received) = frames.into_iter().find(|frame| frame.event_type == "approval_received")
        {
            data = received.data;
        }
    };
    read(caller, run, at, keep).await?;
    Ok(say(caller, Some(run), "approval_received", data))
}

/// A run on its way to be told, from its first event on.
pub(super) struct Telling {
    app: Arc<App>,
    run: RunId,
    projector: Projector,
    news: BoxStream<'static, News>,
}

/// What comes next of a run.
pub(super) enum Next {
    Frames { seq: u64, frames: Vec<Frame> },
    Preview(Preview),
    Problem(Refused),
}

impl Telling {
    pub(super) fn of(app: &Arc<App>, run: &RunId) -> Self {
        let news = follow::run(app.clone(), run.clone(), 0);
        Self { app: app.clone(), run: run.clone(), projector: Projector::new(run.as_str()), news }
    }

    pub(super) async fn next(&mut self) -> Option<Next> {
        Some(match self.news.next().await? {
            News::Event { seq, event } => match follows(&self.app, &self.run, seq, &event).await {
                Ok(follows) => {
                    Next::Frames { seq, frames: self.projector.tell(seq, &event, follows.as_ref()) }
                }
                Err(refused) => Next::Problem(refused),
            },
            News::Preview(preview) => Next::Preview(preview),
            News::Problem(refused) => Next::Problem(refused),
        })
    }

    fn passing(&self, event_type: &'static str, data: Value) -> Utf8Bytes {
        passing(&self.app, event_type, Some(self.run.as_str()), self.projector.session(), data).text()
    }
}

/// The event after a request: one append holds both where nobody was asked, so whoever reads the one finds the other.
async fn follows(app: &App, run: &RunId, seq: u64, event: &Event) -> Answer<Option<Event>> {
    if !matches!(event.fact, event::Fact::Run(Fact::InterruptOpened(_))) {
        return Ok(None);
    }
    Ok(event_at(app.journal(), &StreamId::Run(run.clone()), seq + 1).await?)
}

/// The run's projector up to an event; `each` hears the frames that it came to.
async fn read(
    caller: &Caller,
    run: &RunId,
    until: u64,
    mut each: impl FnMut(u64, Vec<Frame>),
) -> Answer<Projector> {
    let mut telling = Telling::of(&caller.app, run);
    while let Some(next) = telling.next().await {
        match next {
            Next::Frames { seq, frames } => {
                each(seq, frames);
                if seq >= until {
                    return Ok(telling.projector);
                }
            }
            Next::Preview(_) => {}
            Next::Problem(refused) => return Err(refused),
        }
    }
    Err(Refused::of(Code::Stopping))
}

/// The frames after a place, and then those that come.
pub(super) async fn after(caller: &Caller, run: &RunId, since: FrameId) -> Answer<BoxStream<'static, Told>> {
    let last = caller.app.run_row(run).await?.seq;
    if since.seq > last {
        let rule = format!("is beyond the last event, {last}: was it given out for another task?");
        return Err(Refused::invalid_at("/since", rule));
    }
    let told = stream::unfold(Telling::of(&caller.app, run), move |mut telling| async move {
        let told: Vec<Told> = match telling.next().await? {
            Next::Frames { frames, .. } => {
                let new = frames.into_iter().filter(|frame| frame.id.is_none_or(|place| place > since));
                new.map(|frame| Told::Event(frame.text())).collect()
            }
            Next::Preview(preview) => {
                let kind = match preview.kind {
                    Kind::Text => "text",
                    Kind::Output => "output",
                };
                let data = json!({
                    "step_id": preview.step, "call_id": preview.call, "kind": kind, "text": preview.text,
                });
                vec![Told::Preview(telling.passing("output", data))]
            }
            Next::Problem(refused) => {
                let data = frame::refusal(None, &refused);
                vec![Told::Last(telling.passing("error_occurred", data))]
            }
        };
        Some((stream::iter(told), telling))
    });
    Ok(told.flatten().boxed())
}

/// An answer to the client.
pub(super) fn say(caller: &Caller, run: Option<&RunId>, event_type: &'static str, data: Value) -> Frame {
    passing(&caller.app, event_type, run.map(RunId::as_str), None, data)
}

/// A frame that stands in no journal: no id, no replay.
fn passing(
    app: &App,
    event_type: &'static str,
    run: Option<&str>,
    session: Option<&str>,
    data: Value,
) -> Frame {
    Frame {
        event_type,
        timestamp: app.now().to_string(),
        run_id: run.map(str::to_owned),
        session_id: session.map(str::to_owned),
        id: None,
        data,
    }
}
