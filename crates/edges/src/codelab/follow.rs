//! Follows a session: converts the events of the session's runs to frames, from the oldest run to the newest. A
//! follower starts either from the current state or after the frame that the client received last.
//!
//! A commit to the followed run, to its session or to the installation wakes the follower. Frames are derived only from
//! the events of the run. For this reason, no frame is missed or sent twice, no matter which node wrote the event.

use std::collections::VecDeque;
use std::sync::Arc;

use holdshort_core::definition::Definition;
use holdshort_core::event;
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::interrupt::{Interrupt, Kind};
use holdshort_core::projection::Status;
use holdshort_core::run::{Fact, Run};
use holdshort_store::Log;
use holdshort_web::call_claims::Client;
use holdshort_web::limits::READ_EVENTS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view::assignment::Reader;
use tokio::sync::watch;

use super::activity::Activity;
use super::frame::{Frame, OutgoingFrame};
use super::frame_id::FrameId;
use super::message::PlanFrames;
use super::projector::Projector;
use super::session::Session;
use super::{ids, names, open_requests};
use crate::assignment;

pub(super) struct Follower {
    session: Session,
    client: Arc<Client>,
    /// Projector that converts the events of the followed run to frames. `None` before the session's first run.
    teller: Option<Projector>,
    /// Sequence number of the last event of the followed run that the client has received, and the number of the last
    /// frame of this event that the client has received. If the frame number is `None`, the client has received all
    /// frames of the event.
    heard: (u64, Option<u32>),
    /// Newest event of the followed run when the client connected. If a client was asked to run a call before or at
    /// this event, the call may already have run.
    came: Option<(RunId, u64)>,
    /// Open interrupts that were first sent before the last frame that the client has received. Their frames are sent
    /// again after the client has received all frames that it missed.
    again: Vec<InterruptId>,
    /// Frames that are not yet sent to the client.
    queue: VecDeque<OutgoingFrame>,
    /// True if the journal may contain events of the followed run that are not yet read.
    is_behind: bool,
    /// True if a `done` frame must be sent as soon as the followed run waits for a person, is paused or has ended.
    is_owed: bool,
    /// Last activity of the run that was sent to the client.
    told_activity: Option<Activity>,
    pub(super) plan_frames: PlanFrames,
    /// True if another connection may have closed before its client ran the calls that this client was asked to run.
    /// This connection can then take over these calls.
    may_take_over: bool,
    opening: Vec<OutgoingFrame>,
    commits: Commits,
}

/// Signals of the journal's commits that wake a follower.
struct Commits {
    run: Option<(RunId, watch::Receiver<u64>)>,
    /// Signal of commits to the session, once the session exists. A commit to the session can mean that the session's
    /// next run has started.
    session: Option<watch::Receiver<u64>>,
    /// Signal of commits to the whole installation, such as a freeze.
    system: watch::Receiver<u64>,
    /// Signal that any client has opened a session, watched while this session does not exist. After each opening,
    /// every waiting client looks up its own session name. The lookup is limited to the sessions of the client's user,
    /// so a client learns nothing about the sessions of other people.
    opened: watch::Receiver<u64>,
}

impl Follower {
    /// Starts following a session from the current state, or from the frame after `since`. `brought` is the call whose
    /// result the client is sending. The client is not asked to run this call again. Every commit after the call of
    /// `attach` wakes the first `next`.
    pub(super) async fn attach(
        session: Session,
        client: Arc<Client>,
        since: Option<&str>,
        brought: Option<&str>,
    ) -> Answer<Self> {
        // Subscribe before the first read, so that commits in between wake the follower.
        let driver = &session.caller.app.driver;
        let commits = Commits {
            run: None,
            session: None,
            system: driver.watch_stream(&StreamId::System),
            opened: driver.watch_opened(),
        };
        let mut follower = Self {
            session,
            client,
            teller: None,
            heard: (0, None),
            came: None,
            again: Vec::new(),
            queue: VecDeque::new(),
            is_behind: false,
            is_owed: false,
            told_activity: None,
            plan_frames: PlanFrames::Both,
            may_take_over: false,
            opening: Vec::new(),
            commits,
        };
        follower.watch().await?;
        match since {
            Some(since) => follower.begin_after(since, brought).await?,
            None => follower.begin_now().await?,
        }
        Ok(follower)
    }

    async fn begin_now(&mut self) -> Answer<()> {
        let mut here = FrameId::Start;
        if let Some(newest) = self.session.runs().await?.last() {
            self.teller = Some(self.load_projector(newest).await?);
            self.is_behind = true;
            while self.is_behind {
                self.read().await?;
                self.queue.clear();
            }
            if let Some(Projector { run, .. }) = &self.teller {
                here = FrameId::Event { run: run.id.clone(), seq: run.seq };
            }
        }
        self.is_owed = false;
        let activity = self.activity_now().await?;
        let run = self.teller.as_ref().map(|teller| &teller.run);
        self.opening = vec![OutgoingFrame { frame: self.info(run, activity, &self.agent()), id: Some(here) }];
        Ok(())
    }

    async fn begin_after(&mut self, since: &str, brought: Option<&str>) -> Answer<()> {
        let place: FrameId = since.parse().map_err(|()| unknown_place())?;
        let now = self.session.last().await?;
        self.came = now.as_ref().map(|run| (run.id.clone(), run.seq));
        let mut told = None;
        if let FrameId::Frame { run, seq, .. } | FrameId::Event { run, seq } = &place {
            if !self.session.runs().await?.iter().any(|front| front == run) {
                return Err(unknown_place());
            }
            self.teller = Some(self.load_projector(run).await?);
            self.heard = (*seq, if let FrameId::Frame { part, .. } = &place { Some(*part) } else { None });
            // Read up to the client's position, to check that the position exists.
            let is_before = |teller: &Option<Projector>| {
                teller.as_ref().is_some_and(|teller| teller.run.id == *run && teller.run.seq < *seq)
            };
            self.is_behind = true;
            while self.is_behind && is_before(&self.teller) {
                self.read().await?;
            }
            told = Some((run.clone(), *seq));
        }
        let run = now.as_deref();
        let agent = run.and_then(Run::agent_in_front).map_or_else(|| self.agent(), str::to_owned);
        let activity = match run {
            Some(run) => Some(Activity::from_run(&self.session, run).await?),
            None => None,
        };
        self.opening.push(OutgoingFrame { frame: self.info(run, activity, &agent), id: Some(place) });
        let but = run.and_then(|run| run.handed_out(ids::call_of(&run.id, brought?)?));
        let but = but.map(|interrupt| &interrupt.opened.interrupt);
        // Calls without a result that a client was asked to run before the position are sent again.
        // `queue_earlier_requests` sends the other open requests.
        for (id, interrupt) in run.map(open_requests::interrupts).unwrap_or_default() {
            let Some(run) = run else { continue };
            let was_told =
                told.as_ref().is_some_and(|(of, seq)| *of == run.id && interrupt.opened_seq <= *seq);
            if interrupt.opened.kind != Kind::ClientCall {
                self.again.extend(was_told.then(|| id.clone()));
                continue;
            }
            if Some(id) == but || !self.client.accept_earlier_call(run, interrupt).await? {
                continue;
            }
            if was_told && self.client.mark_as_sent(id) {
                self.opening.extend(
                    open_requests::frames_for_reconnect(run, interrupt).into_iter().map(OutgoingFrame::from),
                );
            }
        }
        let reader = self.session.caller.reader().await?;
        self.queue_earlier_requests(&reader);
        self.request_read();
        Ok(())
    }

    /// Queues the open interrupts that were first sent before the last frame that the client has received. Their frames
    /// are sent after the frames that the client missed.
    fn queue_earlier_requests(&mut self, reader: &Reader) {
        let Some(Projector { run, .. }) = &self.teller else { return };
        if !self.came.as_ref().is_some_and(|(id, seq)| *id == run.id && *seq <= run.seq) {
            return;
        }
        for id in std::mem::take(&mut self.again) {
            let open = run.interrupts.get(&id).filter(|interrupt| interrupt.is_open());
            let frames =
                open.map(|interrupt| open_requests::frames_for_reconnect(run, interrupt)).unwrap_or_default();
            self.queue.extend(
                frames.into_iter().map(|frame| OutgoingFrame::from(with_reader_right(frame, run, reader))),
            );
        }
    }

    /// Returns a projector, which converts events of a run to frames. The projector has not yet read any event of the
    /// run.
    async fn load_projector(&mut self, id: &RunId) -> Answer<Projector> {
        let runs = self.session.runs().await?;
        let at = runs.iter().position(|run| run == id).unwrap_or_default();
        let before = match at.checked_sub(1).and_then(|at| runs.get(at)) {
            Some(before) => self.session.load(before).await?.agent_in_front().map(str::to_owned),
            None => None,
        };
        let run = self.session.load(id).await?;
        Ok(Projector::at_start(&run, before.unwrap_or_else(|| self.first_agent())))
    }

    /// Returns the first frames of a connection, which describe the state of the session. If the client resumes after a
    /// frame, adds the calls without a result that a client was asked to run before this frame.
    pub(super) fn opening(&mut self) -> Vec<OutgoingFrame> {
        std::mem::take(&mut self.opening)
    }

    /// Returns the frames of the open interrupts. Each frame keeps the id under which it was first sent.
    pub(super) async fn waiting(&self) -> Answer<Vec<OutgoingFrame>> {
        let Some(run) = self.teller.as_ref().map(|teller| &teller.run) else { return Ok(Vec::new()) };
        let reader = self.session.caller.reader().await?;
        let mut told = Vec::new();
        for (id, interrupt) in open_requests::interrupts(run) {
            let is_call = interrupt.opened.kind == Kind::ClientCall;
            if !is_call
                || (self.client.accept_earlier_call(run, interrupt).await? && self.client.mark_as_sent(id))
            {
                let frames = open_requests::frames_for_reconnect(run, interrupt).into_iter();
                told.extend(frames.map(|frame| OutgoingFrame::from(with_reader_right(frame, run, &reader))));
            }
        }
        Ok(told)
    }

    /// Returns the frames of the calls without a result that a client was asked to run before this client connected.
    /// The client's connection becomes responsible for the calls whose earlier client has disconnected.
    pub(super) async fn handed_out(&self) -> Answer<Vec<OutgoingFrame>> {
        let (Some(before), Some(run)) = (&self.teller, self.session.last().await?) else {
            return Ok(Vec::new());
        };
        let mut told = Vec::new();
        for (id, interrupt) in open_requests::interrupts(&run) {
            let was_there = before.run.id == run.id && before.run.interrupts.contains_key(id);
            let is_lost = interrupt.opened.kind == Kind::ClientCall && was_there;
            if is_lost
                && self.client.accept_earlier_call(&run, interrupt).await?
                && self.client.mark_as_sent(id)
            {
                told.extend(
                    open_requests::frames_for_reconnect(&run, interrupt).into_iter().map(OutgoingFrame::from),
                );
            }
        }
        Ok(told)
    }

    /// Returns the frames of the open questions only, for a client that has already received the other open interrupts.
    pub(super) async fn questions(&self) -> Answer<Vec<OutgoingFrame>> {
        let Some(run) = self.teller.as_ref().map(|teller| &teller.run) else { return Ok(Vec::new()) };
        let reader = self.session.caller.reader().await?;
        let open = open_requests::interrupts(run).into_iter();
        let questions = open.filter(|(_, interrupt)| interrupt.opened.kind == Kind::Question);
        let frames = questions.flat_map(|(_, interrupt)| open_requests::frames(run, interrupt));
        Ok(frames.map(|frame| OutgoingFrame::from(with_reader_right(frame, run, &reader))).collect())
    }

    fn info(&self, run: Option<&Run>, activity: Option<Activity>, agent: &str) -> Frame {
        let open = |kinds: &[Kind]| {
            let open = run.into_iter().flat_map(Run::open_interrupts);
            open.filter(|(_, interrupt)| kinds.contains(&interrupt.opened.kind)).count()
        };
        Frame::SessionInfo {
            session_id: self.session.name.clone(),
            content: activity.map_or("A new session.", Activity::sentence).to_owned(),
            status: activity.map_or("new", Activity::as_str),
            run_id: run.map(|run| run.id.to_string()),
            agent: names::agent(agent).to_owned(),
            // A call that a client may already run is not listed, because the call needs no decision.
            pending_approvals: open(&[Kind::ToolApproval, Kind::Continuation]),
            pending_plans: open(&[Kind::PlanApproval]),
            rehearsal: self.session.caller.app.model.rehearsal,
        }
    }

    /// Returns the agent that is working in the session now or, if no agent works, the agent that receives the next
    /// message.
    fn agent(&self) -> String {
        self.teller.as_ref().map_or_else(|| self.first_agent(), |teller| teller.agent.clone())
    }

    fn first_agent(&self) -> String {
        let base = self.session.workflow().ok();
        base.as_deref().and_then(Definition::front_agent).unwrap_or_default().to_owned()
    }

    /// Makes the following `next` read the journal without waiting for a commit. As soon as the run waits for a person,
    /// is paused or has ended, a `done` frame follows.
    pub(super) fn request_read(&mut self) {
        (self.is_behind, self.is_owed) = (true, true);
    }

    /// Waits for the next frames of the session. Returns `None` if no frame can follow. Dropping the future loses no
    /// frame.
    pub(super) async fn next(&mut self) -> Answer<Option<Vec<OutgoingFrame>>> {
        loop {
            let free = self.queue.iter().take_while(|told| to_run(&told.frame).is_none()).count();
            let is_shown = |told: &OutgoingFrame| {
                self.plan_frames == PlanFrames::Both
                    || !matches!(told.frame, Frame::PlanApprovalRequired { .. })
            };
            let ready: Vec<OutgoingFrame> = self.queue.drain(..free).filter(is_shown).collect();
            if !ready.is_empty() {
                return Ok(Some(ready));
            }
            if let Some(call) = self.queue.front().and_then(|told| to_run(&told.frame)).map(str::to_owned) {
                let ours = self.claim_call(&call).await?;
                let told = self.queue.pop_front();
                if let Some(told) = told.filter(|_| ours.is_some_and(|ours| self.client.mark_as_sent(&ours)))
                {
                    return Ok(Some(vec![told]));
                }
                continue;
            }
            if self.is_behind {
                self.read().await?;
                continue;
            }
            if self.may_take_over {
                let frames = self.take_over_calls().await?;
                self.may_take_over = false;
                if !frames.is_empty() {
                    return Ok(Some(frames));
                }
            }
            if self.is_owed {
                let frames = self.rest().await?;
                self.is_owed = false;
                if !frames.is_empty() {
                    return Ok(Some(frames));
                }
            }
            if !self.wake().await? {
                return Ok(None);
            }
        }
    }

    /// Waits for a commit that may produce frames of the session. Returns false if no further commit is possible.
    async fn wake(&mut self) -> Answer<bool> {
        self.watch().await?;
        if self.is_behind {
            return Ok(true);
        }
        let commits = &mut self.commits;
        let run = async {
            match &mut commits.run {
                Some((_, run)) => run.changed().await,
                None => std::future::pending().await,
            }
        };
        let session = async {
            match &mut commits.session {
                Some(session) => session.changed().await,
                None => commits.opened.changed().await,
            }
        };
        let woken = tokio::select! {
            woken = run => woken.map(|()| self.is_behind = true),
            woken = session => woken.map(|()| self.is_behind = true),
            woken = commits.system.changed() => woken.map(|()| {
                let would_go_on = |run: &Run| matches!(run.status(), Status::Queued | Status::Running);
                let run = self.teller.as_ref().map(|teller| &teller.run);
                self.is_owed = self.told_activity != Some(Activity::Frozen) && run.is_some_and(would_go_on);
            }),
            () = self.client.left() => {
                self.may_take_over = true;
                Ok(())
            }
        };
        Ok(woken.is_ok())
    }

    /// Subscribes to commits of the followed run and of the session. The follower must read the journal after the
    /// subscription, because an earlier commit does not wake the follower.
    async fn watch(&mut self) -> Answer<()> {
        let driver = &self.session.caller.app.driver;
        if self.commits.session.is_none()
            && let Some(id) = self.session.id().await?
        {
            self.commits.session = Some(driver.watch_stream(&StreamId::Session(id)));
            self.is_behind = true;
        }
        let run = self.teller.as_ref().map(|teller| &teller.run.id);
        if let Some(run) = run.filter(|run| self.commits.run.as_ref().is_none_or(|(of, _)| of != *run)) {
            self.commits.run = Some((run.clone(), driver.watch(run)));
            self.is_behind = true;
        }
        Ok(())
    }

    /// Returns the current activity of the followed run, and stores it as the last activity that was sent. Returns
    /// `None` before the session's first run.
    async fn activity_now(&mut self) -> Answer<Option<Activity>> {
        let Some(teller) = &self.teller else { return Ok(None) };
        self.told_activity = Some(Activity::from_run(&self.session, &teller.run).await?);
        Ok(self.told_activity)
    }

    /// Returns a `done` frame if the followed run waits for a person, is paused or has ended. During a freeze a status
    /// frame precedes `done`, because the events of the run do not report the freeze.
    async fn rest(&mut self) -> Answer<Vec<OutgoingFrame>> {
        let activity = self.activity_now().await?.unwrap_or(Activity::Rests(Status::Completed));
        let why = match activity {
            Activity::GoesOn(_) => return Ok(Vec::new()),
            Activity::Rests(_) => None,
            Activity::Frozen => Some(Frame::status(activity.as_str(), activity.sentence())),
        };
        Ok(why.into_iter().chain([Frame::done(activity)]).map(OutgoingFrame::from).collect())
    }

    /// Reads the next events of the followed run or, after this run has ended, of the session's next run.
    async fn read(&mut self) -> Answer<()> {
        let Some(teller) = &mut self.teller else {
            self.is_behind = self.move_on().await?;
            return Ok(());
        };
        let id = teller.run.id.clone();
        let stream = StreamId::Run(id.clone());
        let page = self.session.caller.app.journal().read(&stream, teller.run.seq, READ_EVENTS).await?;
        // This await comes before any event is applied, so a cancelled call loses no event.
        let reader = self.session.caller.reader().await?;
        for sealed in &page {
            let event = self.session.caller.app.decode_event(sealed)?;
            let frames = teller.project(&event);
            let seq = teller.run.seq;
            let (heard, of_it) = self.heard;
            if seq == heard && of_it.is_some_and(|part| frames.len() < part as usize) {
                return Err(unknown_place());
            }
            let is_about_clients = match &event.fact {
                event::Fact::Run(Fact::InterruptResolved { interrupt, .. }) => {
                    self.client.over(interrupt);
                    false
                }
                event::Fact::Run(Fact::InterruptReleased { .. }) => {
                    self.may_take_over = true;
                    true
                }
                event::Fact::Run(
                    Fact::InterruptClaimed { .. } | Fact::CommentAdded { .. } | Fact::InterruptViewed { .. },
                ) => true,
                _ => false,
            };
            let is_old = self.came.as_ref().is_some_and(|(run, came)| *run == id && seq <= *came);
            for (part, mut frame) in (1..).zip(frames) {
                if seq < heard || (seq == heard && of_it.is_none_or(|last| part <= last)) {
                    continue;
                }
                if is_old {
                    open_requests::redelivered(&mut frame);
                }
                let frame = with_reader_right(frame, &teller.run, &reader);
                self.queue.push_back(OutgoingFrame {
                    frame,
                    id: Some(FrameId::Frame { run: id.clone(), seq, part }),
                });
            }
            self.is_owed |= !is_about_clients;
        }
        self.queue_earlier_requests(&reader);
        let Some(teller) = &self.teller else { return Ok(()) };
        if page.len() < READ_EVENTS {
            if teller.run.seq < self.heard.0 {
                return Err(unknown_place());
            }
            self.is_behind = teller.run.ended.is_some() && self.move_on().await?;
        }
        Ok(())
    }

    /// Follows the session's next run after the followed run has ended. Returns false if the session has no later run.
    async fn move_on(&mut self) -> Answer<bool> {
        let runs = self.session.runs().await?;
        let known = self.teller.as_ref().map(|teller| &teller.run.id);
        let at = known.and_then(|known| runs.iter().position(|run| run == known));
        let Some(next) = runs.get(at.map_or(0, |at| at + 1)) else { return Ok(false) };
        let run = self.session.load(next).await?;
        self.teller = Some(Projector::at_start(&run, self.agent()));
        self.heard = (0, None);
        Ok(true)
    }

    /// Returns the interrupt that asks a client to run the call, if this connection is the one that must run it. The
    /// call may have ended since the last read, so this function first reads the journal to the newest event or to the
    /// end of the call.
    async fn claim_call(&mut self, call: &str) -> Answer<Option<InterruptId>> {
        self.is_behind |= self.to_run(call).is_some();
        while self.is_behind && self.to_run(call).is_some() {
            self.read().await?;
        }
        let Some((run, interrupt)) = self.to_run(call) else { return Ok(None) };
        let is_ours = self.client.accept_call(run, interrupt).await?;
        Ok(is_ours.then(|| interrupt.opened.interrupt.clone()))
    }

    /// Returns the run and the interrupt that asks a client to run the call, as of the last event that the follower
    /// read.
    fn to_run(&self, call: &str) -> Option<(&Run, &Interrupt)> {
        let run = &self.teller.as_ref()?.run;
        Some((run, run.handed_out(ids::call_of(&run.id, call)?)?))
    }

    /// Takes over the calls for which no connection is responsible, because the responsible connection has closed or
    /// none was chosen yet. Returns the frames that ask the client to run these calls.
    async fn take_over_calls(&mut self) -> Answer<Vec<OutgoingFrame>> {
        let Some(run) = self.session.last().await? else { return Ok(Vec::new()) };
        let mut ours = Vec::new();
        for (id, interrupt) in open_requests::interrupts(&run) {
            if interrupt.opened.kind == Kind::ClientCall && self.client.accept_call(&run, interrupt).await? {
                ours.push((id, interrupt));
            }
        }
        // No await follows, so every call that is marked as sent is returned.
        let told = ours.into_iter().filter(|(id, _)| self.client.mark_as_sent(id));
        Ok(told
            .flat_map(|(_, each)| open_requests::frames_for_reconnect(&run, each))
            .map(OutgoingFrame::from)
            .collect())
    }
}

fn unknown_place() -> Refused {
    Refused::invalid_at("/since", "is not the `id` of a frame of this session")
}

/// Adds a member to a frame that says whether the reader of the frame may decide on the interrupt.
fn with_reader_right(mut frame: Frame, run: &Run, reader: &Reader) -> Frame {
    if let Some(assigned) = frame.assignment() {
        assignment::add_reader_right(assigned, run, reader);
    }
    frame
}

/// Returns the id of the call that a frame asks a client to run. Returns `None` for any other frame.
fn to_run(frame: &Frame) -> Option<&str> {
    match frame {
        Frame::ToolCall { call_id, requires_approval: false, .. } => Some(call_id),
        _ => None,
    }
}
