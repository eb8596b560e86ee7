//! What has happened in a task's run, told from its first event on: where it stands, what follows a place, and once
//! more what a decision came to. Reads the journal and nothing else; who is told is `socket.rs`'s to know.

use axum::extract::ws::Utf8Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use holdshort_core::id::RunId;
use holdshort_engine::live::Kind;
use holdshort_protocol::Code;
use serde_json::{Value, json};

use super::frame::{self, Frame, Place};
use super::story::Story;
use crate::app::App;
use crate::auth::Caller;
use crate::edges::follow::{self, News};
use crate::problem::{Answer, Refused};

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
    let story = read(caller, run, last, |_, _| {}).await?;
    Ok(passing(&caller.app, "status", Some(run.as_str()), story.session(), story.status(last)))
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

/// The run's story up to an event; `each` hears the frames that it came to.
async fn read(
    caller: &Caller,
    run: &RunId,
    until: u64,
    mut each: impl FnMut(u64, Vec<Frame>),
) -> Answer<Story> {
    let mut story = Story::new(run.as_str());
    let mut news = follow::run(caller.app.clone(), run.clone(), 0);
    while let Some(news) = news.next().await {
        match news {
            News::Event { seq, event } => {
                each(seq, story.tell(seq, &event));
                if seq >= until {
                    return Ok(story);
                }
            }
            News::Preview(_) => {}
            News::Problem(refused) => return Err(refused),
        }
    }
    Err(Refused::of(Code::Stopping))
}

/// The frames after a place, and then those that come.
pub(super) async fn after(caller: &Caller, run: &RunId, since: Place) -> Answer<BoxStream<'static, Told>> {
    let app = caller.app.clone();
    let last = app.run_row(run).await?.seq;
    if since.seq > last {
        let rule = format!("is beyond the last event, {last}: was it given out for another task?");
        return Err(Refused::invalid_at("/since", rule));
    }
    let mut story = Story::new(run.as_str());
    let name = run.to_string();
    let news = follow::run(app.clone(), run.clone(), 0);
    let told = news.flat_map(move |news| {
        let passing =
            |kind, session: Option<&str>, data| passing(&app, kind, Some(&name), session, data).text();
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
                vec![Told::Preview(passing("output", story.session(), data))]
            }
            News::Problem(refused) => {
                let data = frame::refusal(None, &refused);
                vec![Told::Last(passing("error_occurred", story.session(), data))]
            }
        };
        stream::iter(told)
    });
    Ok(told.boxed())
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
