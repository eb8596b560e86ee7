//! The run of a task for a client: where it stands, the frames after a place, what a decision came to. Has the run as it
//! was at that place and follows the events behind it; who is told is `socket.rs`'s to know.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::run::Run;
use holdshort_engine::real::{Kind, Preview};
use holdshort_web::app::App;
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view::assignment::Reader;
use serde_json::{Value, json};

use super::approval;
use super::config::Idle;
use super::console::Console;
use super::frame::{self, Frame, FrameId, Since};
use super::projector::{self, Projector, Said};
use crate::assigned;
use crate::follow::{self, News};

/// Text for the client.
pub(super) enum Told {
    Event(Utf8Bytes, Option<FrameId>),
    /// One who is behind can do without it.
    Preview(Utf8Bytes),
    /// Why nothing follows.
    Last(Utf8Bytes),
}

/// A run as it stands, for one who is told of it.
pub(super) struct Now {
    app: Arc<App>,
    run: Arc<Run>,
    /// Whoever is told.
    reader: Reader,
}

impl Now {
    pub(super) async fn of(caller: &Caller, run: &RunId) -> Answer<Self> {
        let (run, reader) = (caller.app.run_now(run).await?, caller.reader().await?);
        Ok(Self { app: caller.app.clone(), run, reader })
    }

    fn frame(&self, (event_type, data): Said) -> Frame {
        passing(&self.app, event_type, Some(&self.run.id), self.run.session(), data)
    }

    /// Where it stands; and of one that has just begun what of its config changes nothing (contract E40).
    pub(super) fn status(&self, idle: &[Idle]) -> Frame {
        let mut data = projector::status(&self.run);
        if !idle.is_empty() {
            let named = idle.iter().map(|Idle { key, why }| format!("`{key}` {why}"));
            let message = data["message"].as_str().unwrap_or_default();
            let all = named.collect::<Vec<_>>().join("; ");
            data["message"] = format!("{message} Taken, and without effect here: {all}.").into();
            data["ignored"] =
                idle.iter().map(|Idle { key, why }| json!({ "key": key, "why": why })).collect();
        }
        self.frame(("status", data))
    }

    /// What people are asked now, asked again; `last` is the one that is to be seen.
    pub(super) fn open(&self, last: Option<&str>) -> Vec<Frame> {
        let mut open = projector::open(&self.run);
        open.sort_by_key(|(_, data)| data["approval_id"].as_str() == last);
        let seen = open.into_iter().map(|(kind, mut data)| {
            tell_you(&mut data, &self.run, &self.reader);
            self.frame((kind, data))
        });
        seen.collect()
    }

    /// State and graph, for a client that may have missed how they came about.
    pub(super) fn state(&self) -> Vec<Frame> {
        projector::state(&self.run).into_iter().map(|said| self.frame(said)).collect()
    }

    /// What a decision that stands already came to.
    pub(super) fn resolved(&self, interrupt: &InterruptId) -> Frame {
        let interrupt = self.run.interrupts.get(interrupt);
        let data = interrupt.map(|interrupt| approval::received(&self.run, interrupt)).unwrap_or_default();
        self.frame(("approval_received", data))
    }
}

/// Whether it is a request that says who decides.
fn is_assigned(data: &Value) -> bool {
    data.pointer("/context/assignment").is_some()
}

/// Says in a request whether whoever is told may decide.
fn tell_you(data: &mut Value, run: &Run, reader: &Reader) {
    if let Some(assigned) = data.pointer_mut("/context/assignment") {
        assigned::tell_you(assigned, run, reader);
    }
}

/// A run on its way to be told.
pub(super) struct Telling {
    app: Arc<App>,
    /// Who is told whether they may decide; nobody where it is about what was.
    caller: Option<Caller>,
    projector: Projector,
    news: BoxStream<'static, News>,
    console: Console,
}

/// What comes next of a run.
pub(super) enum Next {
    Frames(Vec<Frame>),
    /// The lines that it completes.
    Preview(Preview, Vec<String>),
    Problem(Refused),
}

impl Telling {
    /// From the event after this one. Nothing before it is told; it is read where the run has gone on since.
    pub(super) async fn after(
        app: &Arc<App>,
        caller: Option<&Caller>,
        run: &Arc<Run>,
        seq: u64,
    ) -> Answer<Self> {
        let then = match seq {
            0 => Run::new(run.id.clone(), run.definition.clone()),
            _ if seq == run.seq => Run::clone(run),
            _ => app.driver.load_at(&run.id, seq).await?,
        };
        let news = follow::run(app.clone(), run.id.clone(), seq);
        let (app, caller) = (app.clone(), caller.cloned());
        Ok(Self { app, caller, projector: Projector(then), news, console: Console::default() })
    }

    /// The last event that was told.
    pub(super) fn seq(&self) -> u64 {
        self.projector.0.seq
    }

    pub(super) async fn next(&mut self) -> Option<Next> {
        Some(match self.news.next().await? {
            News::Event { seq, event } => {
                self.console.hear(&event);
                let mut frames = self.projector.tell(seq, &event);
                if frames.iter().any(|frame| is_assigned(&frame.data))
                    && let Some(reader) = self.reader().await
                {
                    let run = &self.projector.0;
                    for frame in &mut frames {
                        tell_you(&mut frame.data, run, &reader);
                    }
                }
                Next::Frames(frames)
            }
            News::Preview(preview) => {
                let lines = self.console.lines(&preview);
                Next::Preview(preview, lines)
            }
            News::Problem(refused) => Next::Problem(refused),
        })
    }

    /// Whoever is told. Where it can not be known now whether they may decide nothing is said of it: they are told when
    /// they do.
    async fn reader(&mut self) -> Option<Reader> {
        self.caller.as_ref()?.reader().await.ok()
    }

    /// The requests that are open and were not told in this telling since the panel was cleared last.
    async fn open(&mut self, shown: &BTreeSet<String>) -> Vec<Told> {
        let mut unseen = projector::open(&self.projector.0);
        unseen.retain(|(_, data)| data["approval_id"].as_str().is_none_or(|id| !shown.contains(id)));
        if unseen.iter().any(|(_, data)| is_assigned(data))
            && let Some(reader) = self.reader().await
        {
            let run = &self.projector.0;
            for (_, data) in &mut unseen {
                tell_you(data, run, &reader);
            }
        }
        unseen
            .into_iter()
            .map(|(event_type, data)| Told::Event(self.passing(event_type, data), None))
            .collect()
    }

    fn passing(&self, event_type: &'static str, data: Value) -> Utf8Bytes {
        let run = &self.projector.0;
        passing(&self.app, event_type, Some(&run.id), run.session(), data).text()
    }
}

/// What a client is told from now on. One that names no place goes on where the connection before it stopped; where
/// nobody here knows that, from where the run stands. The end of a run is told to whoever comes, for a connection that
/// broke may have lost it: a client that comes again hears of it again.
pub(super) async fn told(
    caller: &Caller,
    run: &RunId,
    since: Option<Since>,
    known: Option<FrameId>,
) -> Answer<BoxStream<'static, Told>> {
    let app = &caller.app;
    let run = app.run_now(run).await?;
    // People may comment on a run that has ended: its end is not always its last event.
    let stands = FrameId::all_of(run.ended.as_ref().map_or(run.seq, |ended| ended.seq.saturating_sub(1)));
    let place = match (since, known) {
        // Several frames have one time: where the connection before stopped is known better.
        (Some(since @ Since::Time(_)), Some(known)) => place(app, &run, since).await?.min(known),
        (Some(since), _) => place(app, &run, since).await?,
        (None, Some(known)) => known.min(stands),
        (None, None) => stands,
    };
    after(caller, &run, place).await
}

/// The frame after which a client wants to be told.
async fn place(app: &App, run: &Run, since: Since) -> Answer<FrameId> {
    let place = match since {
        Since::Frame(place) => place,
        Since::Time(ms) => FrameId::all_of(last_before(app, run, ms).await?),
    };
    if place.seq > run.seq {
        let rule = format!("is beyond the last event, {}: was it given out for another task?", run.seq);
        return Err(Refused::invalid_at("/since", rule));
    }
    Ok(place)
}

/// The last event that happened up to then. Their times never fall, so few are read.
async fn last_before(app: &App, run: &Run, ms: u64) -> Answer<u64> {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    let stream = StreamId::Run(run.id.clone());
    let (mut known, mut unknown) =
        if run.last_at.as_millis() <= ms { (run.seq, run.seq) } else { (0, run.seq) };
    while known < unknown && ms > 0 {
        let middle = (known + unknown).div_ceil(2);
        if app.event(&stream, middle).await?.at.as_millis() <= ms {
            known = middle;
        } else {
            unknown = middle - 1;
        }
    }
    Ok(known)
}

/// The frames after a place, what is open by then, and then those that come.
async fn after(caller: &Caller, run: &Arc<Run>, since: FrameId) -> Answer<BoxStream<'static, Told>> {
    let told = Replay {
        telling: Telling::after(&caller.app, Some(caller), run, since.whole()).await?,
        since,
        until: Some(run.seq),
        shown: BTreeSet::new(),
    };
    Ok(stream::unfold(told, Replay::next).map(stream::iter).flatten().boxed())
}

/// The way to where the run stands, and on.
struct Replay {
    telling: Telling,
    since: FrameId,
    /// Where what is open is asked again; `None` behind it.
    until: Option<u64>,
    /// Requests that the client has seen on this way and that nothing cleared.
    shown: BTreeSet<String>,
}

impl Replay {
    async fn next(mut self) -> Option<(Vec<Told>, Self)> {
        if self.until.take_if(|until| *until <= self.telling.seq()).is_some() {
            let open = self.telling.open(&self.shown).await;
            return Some((open, self));
        }
        let told = match self.telling.next().await? {
            Next::Frames(frames) => {
                let new = frames.into_iter().filter(|frame| frame.id.is_none_or(|place| place > self.since));
                let new: Vec<Frame> = new.collect();
                for frame in new.iter().filter(|_| self.until.is_some()) {
                    match frame.event_type {
                        "approval_received" => self.shown.clear(),
                        "approval_requested" => {
                            self.shown.extend(frame.data["approval_id"].as_str().map(str::to_owned));
                        }
                        _ => {}
                    }
                }
                new.into_iter().map(|frame| Told::Event(frame.text(), frame.id)).collect()
            }
            Next::Preview(preview, lines) => {
                let kind = match preview.kind {
                    Kind::Text => "text",
                    Kind::Output => "output",
                };
                let line = |line| {
                    let data = json!({ "data": line, "step_id": preview.step, "call_id": preview.call, "kind": kind });
                    Told::Preview(self.telling.passing("output", data))
                };
                lines.into_iter().map(line).collect()
            }
            Next::Problem(refused) => {
                let data = frame::refusal(None, &refused);
                vec![Told::Last(self.telling.passing("error_occurred", data))]
            }
        };
        Some((told, self))
    }
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
