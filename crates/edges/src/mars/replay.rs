//! Frames that one client receives about a task's run: the current state, the frames after a position, and the results
//! of decisions. To replay frames, the state of the run at the position is loaded, and the later events are converted
//! to frames. `socket.rs` handles the connection.

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
use super::config::{UnusedKey, WORK_DIR};
use super::console::Console;
use super::frame::{self, Frame, FrameId, Since};
use super::projector::{self, FrameBody, Projector};
use crate::assignment;
use crate::follow::{self, News};

/// Text of the `status` frame for a message of a copilot that attached to a run of its session.
const TEXT_UNUSED: &str = "Your message was not used, because this earlier task of the session has not ended: follow \
                           it here, and send the message again afterwards.";

pub(super) enum OutgoingText {
    Event(Utf8Bytes, Option<FrameId>),
    /// Frame with a preview of an agent's streamed text. The frame may be dropped if the client is slow.
    Preview(Utf8Bytes),
    /// Error frame after which the connection to the client ends.
    Last(Utf8Bytes),
}

/// Current state of a run, with the members of the frames that describe it to one client.
pub(super) struct CurrentState {
    app: Arc<App>,
    run: Arc<Run>,
    /// Person who uses the client. Frames say if this person is allowed to decide.
    reader: Reader,
}

impl CurrentState {
    pub(super) async fn load(caller: &Caller, run: &RunId) -> Answer<Self> {
        let (run, reader) = (caller.app.run_now(run).await?, caller.reader().await?);
        Ok(Self { app: caller.app.clone(), run, reader })
    }

    fn frame(&self, (event_type, data): FrameBody) -> Frame {
        passing(&self.app, event_type, Some(&self.run.id), self.run.session(), data)
    }

    /// Returns a `status` frame with the current state of the run. For a new task, `idle` contains the config keys that
    /// have no effect, and the frame lists these keys (contract E40). The message of the frame states only the number
    /// of these keys, because the client shows the message as one line of its console. If the working directory of the
    /// config was replaced, the message names the new directory too.
    pub(super) fn status(&self, idle: &[UnusedKey]) -> Frame {
        let mut data = projector::status(&self.run);
        if !idle.is_empty() {
            let message = data["message"].as_str().unwrap_or_default();
            let (folders, others): (Vec<&UnusedKey>, Vec<&UnusedKey>) =
                idle.iter().partition(|unused| unused.key == WORK_DIR);
            let folders = folders.iter().map(|UnusedKey { key, why }| format!("`{key}` {why}."));
            let counted = match others.len() {
                0 => None,
                1 => Some("1 config key has no effect in this task: see `ignored`.".to_owned()),
                count => Some(format!("{count} config keys have no effect in this task: see `ignored`.")),
            };
            let all: Vec<String> =
                std::iter::once(message.to_owned()).chain(folders).chain(counted).collect();
            data["message"] = all.join(" ").into();
            data["ignored"] =
                idle.iter().map(|UnusedKey { key, why }| json!({ "key": key, "why": why })).collect();
        }
        self.frame(("status", data))
    }

    /// Returns a `status` frame for a task that attached to this run although a person had written a text. The
    /// message of the frame reports that the text is not part of the run.
    pub(super) fn status_without_text(&self) -> Frame {
        let mut frame = self.status(&[]);
        let message = frame.data["message"].as_str().unwrap_or_default();
        frame.data["message"] = format!("{message} {TEXT_UNUSED}").into();
        frame
    }

    /// Returns the frames of the run's open interrupts, to send them again. The interrupt with the id `last` is the
    /// last frame, because the client shows the last one.
    pub(super) fn open(&self, last: Option<&str>) -> Vec<Frame> {
        let mut open = projector::open(&self.run);
        open.sort_by_key(|(_, data)| data["approval_id"].as_str() == last);
        let seen = open.into_iter().map(|(kind, mut data)| {
            add_reader_right(&mut data, &self.run, &self.reader);
            self.frame((kind, data))
        });
        seen.collect()
    }

    /// Returns frames with the state and the graph of the run, for a client that possibly missed frames.
    pub(super) fn state(&self) -> Vec<Frame> {
        projector::state(&self.run).into_iter().map(|said| self.frame(said)).collect()
    }

    /// Returns the frame with the result of an earlier decision on an interrupt.
    pub(super) fn resolved(&self, interrupt: &InterruptId) -> Frame {
        let interrupt = self.run.interrupts.get(interrupt);
        let data = interrupt.map(|interrupt| approval::received(&self.run, interrupt)).unwrap_or_default();
        self.frame(("approval_received", data))
    }
}

fn is_assigned(data: &Value) -> bool {
    data.pointer("/context/assignment").is_some()
}

/// Adds a member to the data of an interrupt that says whether the reader is allowed to decide.
fn add_reader_right(data: &mut Value, run: &Run, reader: &Reader) {
    if let Some(assigned) = data.pointer_mut("/context/assignment") {
        assignment::add_reader_right(assigned, run, reader);
    }
}

/// Reader of a run that converts the events to frames one by one.
pub(super) struct RunProjection {
    app: Arc<App>,
    /// Caller who receives the frames of the run. Frames say whether this caller is allowed to decide. `None` if the
    /// frames are read for a history.
    caller: Option<Caller>,
    projector: Projector,
    news: BoxStream<'static, News>,
    console: Console,
}

/// Item that [`RunProjection`] yields: the frames of an event, a preview of streamed text, or an error.
pub(super) enum Next {
    Frames(Vec<Frame>),
    /// A preview of an agent's streamed text, and the console lines that the preview completes.
    Preview(Preview, Vec<String>),
    Problem(Refused),
}

impl RunProjection {
    /// Starts the stream of a run's frames after the event `seq`. Loads the state of the run after this event without
    /// producing frames for the earlier events.
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

    /// Returns the number of the run's last event that was converted to frames.
    pub(super) fn seq(&self) -> u64 {
        self.projector.0.seq
    }

    pub(super) async fn next(&mut self) -> Option<Next> {
        Some(match self.news.next().await? {
            News::Event { seq, event } => {
                self.console.apply_event(&event);
                let mut frames = self.projector.project(seq, &event);
                if frames.iter().any(|frame| is_assigned(&frame.data))
                    && let Some(reader) = self.reader().await
                {
                    let run = &self.projector.0;
                    for frame in &mut frames {
                        add_reader_right(&mut frame.data, run, &reader);
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

    /// Returns the person who receives the frames. Frames say whether this person is allowed to decide. If the
    /// permissions cannot be read at the moment, returns `None`, and the frames do not say this. The permission is
    /// checked again when the person decides.
    async fn reader(&mut self) -> Option<Reader> {
        self.caller.as_ref()?.reader().await.ok()
    }

    /// Returns the frames of the open interrupts that the client does not show in its panel. After the panel was
    /// cleared, it shows only the interrupts that were sent again.
    async fn open(&mut self, shown: &BTreeSet<String>) -> Vec<OutgoingText> {
        let mut unseen = projector::open(&self.projector.0);
        unseen.retain(|(_, data)| data["approval_id"].as_str().is_none_or(|id| !shown.contains(id)));
        if unseen.iter().any(|(_, data)| is_assigned(data))
            && let Some(reader) = self.reader().await
        {
            let run = &self.projector.0;
            for (_, data) in &mut unseen {
                add_reader_right(data, run, &reader);
            }
        }
        unseen
            .into_iter()
            .map(|(event_type, data)| OutgoingText::Event(self.passing(event_type, data), None))
            .collect()
    }

    fn passing(&self, event_type: &'static str, data: Value) -> Utf8Bytes {
        let run = &self.projector.0;
        passing(&self.app, event_type, Some(&run.id), run.session(), data).text()
    }
}

/// Returns a stream of a run's frames for a client. A client without a position resumes after the last frame of its
/// previous connection. If this server process has not recorded that frame, the client resumes at the current state.
/// The frames about the end of a run are always sent, because they are possibly lost if a connection breaks. A client
/// that reconnects possibly receives these frames twice.
pub(super) async fn stream_frames(
    caller: &Caller,
    run: &RunId,
    since: Option<Since>,
    known: Option<FrameId>,
) -> Answer<BoxStream<'static, OutgoingText>> {
    let app = &caller.app;
    let run = app.run_now(run).await?;
    // People may comment on a run that has ended, so its end is not always its last event.
    let stands = FrameId::all_of(run.ended.as_ref().map_or(run.seq, |ended| ended.seq.saturating_sub(1)));
    let place = match (since, known) {
        // Several frames can have the same timestamp, so the position of the previous connection is more precise than a
        // time.
        (Some(since @ Since::Time(_)), Some(known)) => resolve_position(app, &run, since).await?.min(known),
        (Some(since), _) => resolve_position(app, &run, since).await?,
        (None, Some(known)) => known.min(stands),
        (None, None) => stands,
    };
    after(caller, &run, place).await
}

/// Returns the id of the frame after which a client wants to resume. Rejects a position that does not exist in the run.
async fn resolve_position(app: &App, run: &Run, since: Since) -> Answer<FrameId> {
    let place = match since {
        Since::Frame(place) => place,
        Since::Time(ms) => FrameId::all_of(last_before(app, run, ms).await?),
    };
    if place.seq > run.seq {
        let rule = format!("is beyond the last event, {}: was it issued for another task?", run.seq);
        return Err(Refused::invalid_at("/since", rule));
    }
    Ok(place)
}

/// Returns the number of the run's last event whose timestamp is at most `ms`. Timestamps never decrease, so a binary
/// search can find the event.
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

/// Returns a stream of the run's past frames after `since`, followed by the open interrupts and the new frames.
async fn after(caller: &Caller, run: &Arc<Run>, since: FrameId) -> Answer<BoxStream<'static, OutgoingText>> {
    let told = Replay {
        telling: RunProjection::after(&caller.app, Some(caller), run, since.whole()).await?,
        since,
        until: Some(run.seq),
        shown: BTreeSet::new(),
    };
    Ok(stream::unfold(told, Replay::next).map(stream::iter).flatten().boxed())
}

/// Stream of a run's frames from a position to the current state, followed by new frames.
struct Replay {
    telling: RunProjection,
    since: FrameId,
    /// Number of the event after which the open interrupts are sent again. `None` as soon as they have been sent.
    until: Option<u64>,
    /// Ids of the interrupts that were sent since the client's panel was last cleared.
    shown: BTreeSet<String>,
}

impl Replay {
    async fn next(mut self) -> Option<(Vec<OutgoingText>, Self)> {
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
                new.into_iter().map(|frame| OutgoingText::Event(frame.text(), frame.id)).collect()
            }
            Next::Preview(preview, lines) => {
                let kind = match preview.kind {
                    Kind::Text => "text",
                    Kind::Output => "output",
                };
                let line = |line| {
                    let data = json!({ "data": line, "step_id": preview.step, "call_id": preview.call, "kind": kind });
                    OutgoingText::Preview(self.telling.passing("output", data))
                };
                lines.into_iter().map(line).collect()
            }
            Next::Problem(refused) => {
                let data = frame::refusal(None, &refused);
                vec![OutgoingText::Last(self.telling.passing("error_occurred", data))]
            }
        };
        Some((told, self))
    }
}

/// Returns a frame that answers a frame of the client. The returned frame reports no event of the journal.
pub(super) fn say(caller: &Caller, run: Option<&RunId>, event_type: &'static str, data: Value) -> Frame {
    passing(&caller.app, event_type, run, None, data)
}

/// Returns a frame that reports no event of the journal. Such a frame has no id and is not replayed.
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
