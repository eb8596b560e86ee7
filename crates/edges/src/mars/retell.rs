//! The run of a task for a client: where it stands, the frames after a place, what a decision came to. Has the run as it
//! was at that place and follows the events behind it; who is told is `socket.rs`'s to know.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use holdshort_core::id::{InterruptId, RunId, SessionId};
use holdshort_core::run::Run;
use holdshort_engine::real::{Kind, Preview};
use holdshort_web::app::App;
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use serde_json::{Value, json};

use super::approval;
use super::frame::{self, Frame, FrameId};
use super::projector::{self, Projector};
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
    let run = loaded(&caller.app, run).await?;
    Ok(passing(&caller.app, "status", Some(&run.id), run.session(), projector::status(&run)))
}

/// What a decision that stands already came to.
pub(super) async fn resolved(caller: &Caller, run: &RunId, interrupt: &InterruptId) -> Answer<Frame> {
    let run = loaded(&caller.app, run).await?;
    let interrupt = run.interrupts.get(interrupt);
    let data = interrupt.map(|interrupt| approval::received(&run, interrupt)).unwrap_or_default();
    Ok(say(caller, Some(&run.id), "approval_received", data))
}

/// The run as it is now: the one in memory, or from the journal.
async fn loaded(app: &App, run: &RunId) -> Answer<Arc<Run>> {
    match app.driver.current(run).await {
        Some(run) => Ok(run),
        None => Ok(app.driver.load(run).await?),
    }
}

/// A run on its way to be told.
pub(super) struct Telling {
    app: Arc<App>,
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
    /// From its first event on.
    pub(super) async fn whole(app: &Arc<App>, run: &RunId) -> Answer<Self> {
        Self::after(app, &loaded(app, run).await?, 0).await
    }

    /// From the event after this one. Nothing before it is told; it is read where the run has gone on since.
    async fn after(app: &Arc<App>, run: &Arc<Run>, seq: u64) -> Answer<Self> {
        let then = match seq {
            0 => Run::new(run.id.clone(), run.definition.clone()),
            _ if seq == run.seq => Run::clone(run),
            _ => app.driver.load_at(&run.id, seq).await?,
        };
        let news = follow::run(app.clone(), run.id.clone(), seq);
        Ok(Self { app: app.clone(), projector: Projector(then), news })
    }

    pub(super) async fn next(&mut self) -> Option<Next> {
        Some(match self.news.next().await? {
            News::Event { seq, event } => Next::Frames { seq, frames: self.projector.tell(seq, &event) },
            News::Preview(preview) => Next::Preview(preview),
            News::Problem(refused) => Next::Problem(refused),
        })
    }

    fn passing(&self, event_type: &'static str, data: Value) -> Utf8Bytes {
        let run = &self.projector.0;
        passing(&self.app, event_type, Some(&run.id), run.session(), data).text()
    }
}

/// The frames after a place, and then those that come.
pub(super) async fn after(caller: &Caller, run: &RunId, since: FrameId) -> Answer<BoxStream<'static, Told>> {
    let run = loaded(&caller.app, run).await?;
    if since.seq > run.seq {
        let rule = format!("is beyond the last event, {}: was it given out for another task?", run.seq);
        return Err(Refused::invalid_at("/since", rule));
    }
    // Of the event itself there may be more to tell.
    let seen = if since.part == u32::MAX { since.seq } else { since.seq.saturating_sub(1) };
    let told =
        stream::unfold(Telling::after(&caller.app, &run, seen).await?, move |mut telling| async move {
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
    passing(&caller.app, event_type, run, None, data)
}

/// A frame that stands in no journal: no id, no replay.
fn passing(
    app: &App,
    event_type: &'static str,
    run: Option<&RunId>,
    session: Option<&SessionId>,
    data: Value,
) -> Frame {
    Frame {
        event_type,
        timestamp: app.now().to_string(),
        run_id: run.map(ToString::to_string),
        session_id: session.map(ToString::to_string),
        id: None,
        data,
    }
}
