//! Following a session: the events of its runs, one run after the other, as frames; from now on, or from a place that
//! the client names.
//!
//! Commits to the run that is followed, to its session and to the installation wake it; what is told is read from the
//! run's own stream, so that nothing is missed or told twice, whoever wrote it.

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
use super::frame::{Frame, Told};
use super::frame_id::FrameId;
use super::projector::Teller;
use super::session::Session;
use super::{ids, names, open};
use crate::assigned;

pub(super) struct Follower {
    session: Session,
    client: Arc<Client>,
    /// Of the run that is read; `None` before the first.
    teller: Option<Teller>,
    /// Event and part that the client has heard of that run; `None`: all of the event.
    heard: (u64, Option<u32>),
    /// The newest event when the client came: what was handed out up to it may have been run before.
    came: Option<(RunId, u64)>,
    /// Requests that were told before the client's place and are open still: told again once it has caught up.
    again: Vec<InterruptId>,
    /// Read and not yet told.
    queue: VecDeque<Told>,
    /// The journal may hold more.
    is_behind: bool,
    /// `done` is owed, where nothing goes on by itself.
    is_owed: bool,
    /// What the client was last told of the run.
    told_activity: Option<Activity>,
    /// Another connection may have left its calls to this one.
    may_take_over: bool,
    opening: Vec<Told>,
    commits: Commits,
}

/// What wakes a follower.
struct Commits {
    /// Of the run that is followed, with its id.
    run: Option<(RunId, watch::Receiver<u64>)>,
    /// Of the session, once there is one: it may have begun its next run.
    session: Option<watch::Receiver<u64>>,
    /// Of the installation: a freeze holds back what would go on.
    system: watch::Receiver<u64>,
    /// Where there is no session yet: of sessions that are opened, whoever's they are. Which of them has the client's
    /// name only the client's own key says, so each opening costs every such client one look-up, and tells it nothing.
    opened: watch::Receiver<u64>,
}

impl Follower {
    /// From what is there now, or from the frame after `since`. Whoever brings the result of a call is not told to run it. Nothing is missed between this and the first `next`.
    pub(super) async fn attach(
        session: Session,
        client: Arc<Client>,
        since: Option<&str>,
        brought: Option<&str>,
    ) -> Answer<Self> {
        // Before anything is read: what is committed in between wakes it.
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
            self.teller = Some(self.teller_of(newest).await?);
            self.is_behind = true;
            while self.is_behind {
                self.read().await?;
                self.queue.clear();
            }
            if let Some(Teller { run, .. }) = &self.teller {
                here = FrameId::Event { run: run.id.clone(), seq: run.seq };
            }
        }
        self.is_owed = false;
        let activity = self.activity_now().await?;
        let run = self.teller.as_ref().map(|teller| &teller.run);
        self.opening = vec![Told { frame: self.info(run, activity, &self.agent()), id: Some(here) }];
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
            self.teller = Some(self.teller_of(run).await?);
            self.heard = (*seq, if let FrameId::Frame { part, .. } = &place { Some(*part) } else { None });
            // As far as the place, to see that it is one.
            let is_before = |teller: &Option<Teller>| {
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
            Some(run) => Some(Activity::of(&self.session, run).await?),
            None => None,
        };
        self.opening.push(Told { frame: self.info(run, activity, &agent), id: Some(place) });
        let but = run.and_then(|run| run.handed_out(ids::call_of(&run.id, brought?)?));
        let but = but.map(|interrupt| &interrupt.opened.interrupt);
        // What was told before and is still to run is told again; the rest of what stands follows by itself.
        for (id, interrupt) in run.map(open::interrupts).unwrap_or_default() {
            let Some(run) = run else { continue };
            let was_told =
                told.as_ref().is_some_and(|(of, seq)| *of == run.id && interrupt.opened_seq <= *seq);
            if interrupt.opened.kind != Kind::ClientCall {
                self.again.extend(was_told.then(|| id.clone()));
                continue;
            }
            if Some(id) == but || !self.client.takes_over(run, interrupt).await? {
                continue;
            }
            if was_told && self.client.tells(id) {
                self.opening.extend(open::again(run, interrupt).into_iter().map(Told::from));
            }
        }
        let reader = self.session.caller.reader().await?;
        self.tell_again(&reader);
        self.look();
        Ok(())
    }

    /// What still waits of what was told before the client's place, behind the frames that it missed.
    fn tell_again(&mut self, reader: &Reader) {
        let Some(Teller { run, .. }) = &self.teller else { return };
        if !self.came.as_ref().is_some_and(|(id, seq)| *id == run.id && *seq <= run.seq) {
            return;
        }
        for id in std::mem::take(&mut self.again) {
            let open = run.interrupts.get(&id).filter(|interrupt| interrupt.is_open());
            let frames = open.map(|interrupt| open::again(run, interrupt)).unwrap_or_default();
            self.queue.extend(frames.into_iter().map(|frame| Told::from(to_you(frame, run, reader))));
        }
    }

    /// From before a run's first event.
    async fn teller_of(&mut self, id: &RunId) -> Answer<Teller> {
        let runs = self.session.runs().await?;
        let at = runs.iter().position(|run| run == id).unwrap_or_default();
        let before = match at.checked_sub(1).and_then(|at| runs.get(at)) {
            Some(before) => self.session.load(before).await?.agent_in_front().map(str::to_owned),
            None => None,
        };
        let run = self.session.load(id).await?;
        Ok(Teller::before(&run, before.unwrap_or_else(|| self.first_agent())))
    }

    /// What every connection begins with: where the session is; and after a place, what is still to run of what was
    /// told before it.
    pub(super) fn opening(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.opening)
    }

    /// What waits for the client, under the ids under which it was told before.
    pub(super) async fn waiting(&self) -> Answer<Vec<Told>> {
        let Some(run) = self.teller.as_ref().map(|teller| &teller.run) else { return Ok(Vec::new()) };
        let reader = self.session.caller.reader().await?;
        let mut told = Vec::new();
        for (id, interrupt) in open::interrupts(run) {
            let is_call = interrupt.opened.kind == Kind::ClientCall;
            if !is_call || (self.client.takes_over(run, interrupt).await? && self.client.tells(id)) {
                let frames = open::again(run, interrupt).into_iter();
                told.extend(frames.map(|frame| Told::from(to_you(frame, run, &reader))));
            }
        }
        Ok(told)
    }

    /// What was handed out before the client came and has no result: a call whose client is gone is this one's now.
    pub(super) async fn handed_out(&self) -> Answer<Vec<Told>> {
        let (Some(before), Some(run)) = (&self.teller, self.session.last().await?) else {
            return Ok(Vec::new());
        };
        let mut told = Vec::new();
        for (id, interrupt) in open::interrupts(&run) {
            let was_there = before.run.id == run.id && before.run.interrupts.contains_key(id);
            let is_lost = interrupt.opened.kind == Kind::ClientCall && was_there;
            if is_lost && self.client.takes_over(&run, interrupt).await? && self.client.tells(id) {
                told.extend(open::again(&run, interrupt).into_iter().map(Told::from));
            }
        }
        Ok(told)
    }

    /// The questions that wait, for a client that hears nothing else of what stands.
    pub(super) async fn questions(&self) -> Answer<Vec<Told>> {
        let Some(run) = self.teller.as_ref().map(|teller| &teller.run) else { return Ok(Vec::new()) };
        let reader = self.session.caller.reader().await?;
        let open = open::interrupts(run).into_iter();
        let questions = open.filter(|(_, interrupt)| interrupt.opened.kind == Kind::Question);
        let frames = questions.flat_map(|(_, interrupt)| open::frames(run, interrupt));
        Ok(frames.map(|frame| Told::from(to_you(frame, run, &reader))).collect())
    }

    fn info(&self, run: Option<&Run>, activity: Option<Activity>, agent: &str) -> Frame {
        let open = |kinds: &[Kind]| {
            let open = run.into_iter().flat_map(Run::open_interrupts);
            open.filter(|(_, interrupt)| kinds.contains(&interrupt.opened.kind)).count()
        };
        Frame::SessionInfo {
            session_id: self.session.name.clone(),
            content: activity.map_or("A new session.", Activity::sentence).to_owned(),
            status: activity.map_or("new", Activity::word),
            run_id: run.map(|run| run.id.to_string()),
            agent: names::agent(agent).to_owned(),
            // What a person must decide; what is handed out to be run needs nobody.
            pending_approvals: open(&[Kind::ToolApproval, Kind::Continuation]),
            pending_plans: open(&[Kind::PlanApproval]),
            rehearsal: self.session.caller.app.model.rehearsal,
        }
    }

    /// Who is at work, or would be.
    fn agent(&self) -> String {
        self.teller.as_ref().map_or_else(|| self.first_agent(), |teller| teller.agent.clone())
    }

    /// A session begins with the agent that the workflow begins with.
    fn first_agent(&self) -> String {
        let base = self.session.workflow().ok();
        base.as_deref().and_then(Definition::front_agent).unwrap_or_default().to_owned()
    }

    /// What follows is read at once, and ends with `done` where nothing goes on by itself.
    pub(super) fn look(&mut self) {
        (self.is_behind, self.is_owed) = (true, true);
    }

    /// The next frames; `None` once nothing can follow. Whoever stops waiting for them misses none.
    pub(super) async fn next(&mut self) -> Answer<Option<Vec<Told>>> {
        loop {
            let free = self.queue.iter().take_while(|told| to_run(&told.frame).is_none()).count();
            let ready: Vec<Told> = self.queue.drain(..free).collect();
            if !ready.is_empty() {
                return Ok(Some(ready));
            }
            if let Some(call) = self.queue.front().and_then(|told| to_run(&told.frame)).map(str::to_owned) {
                let ours = self.ours(&call).await?;
                let told = self.queue.pop_front();
                if let Some(told) = told.filter(|_| ours.is_some_and(|ours| self.client.tells(&ours))) {
                    return Ok(Some(vec![told]));
                }
                continue;
            }
            if self.is_behind {
                self.read().await?;
                continue;
            }
            if self.may_take_over {
                let frames = self.taken_over().await?;
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

    /// Waits for something that may be told. `false`: nothing can follow any more.
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

    /// What is watched follows what is read. Whatever was committed before it was watched is to be read.
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

    /// As the client is about to be told; `None` before the first run.
    async fn activity_now(&mut self) -> Answer<Option<Activity>> {
        let Some(teller) = &self.teller else { return Ok(None) };
        self.told_activity = Some(Activity::of(&self.session, &teller.run).await?);
        Ok(self.told_activity)
    }

    /// `done`, where nothing goes on by itself; before it why, where nothing in the journal of the run says so.
    async fn rest(&mut self) -> Answer<Vec<Told>> {
        let activity = self.activity_now().await?.unwrap_or(Activity::Rests(Status::Completed));
        let why = match activity {
            Activity::GoesOn(_) => return Ok(Vec::new()),
            Activity::Rests(_) => None,
            Activity::Frozen => Some(Frame::status(activity.word(), activity.sentence())),
        };
        Ok(why.into_iter().chain([Frame::done(activity)]).map(Told::from).collect())
    }

    /// Reads on, in the run that is followed or the one after it.
    async fn read(&mut self) -> Answer<()> {
        let Some(teller) = &mut self.teller else {
            self.is_behind = self.move_on().await?;
            return Ok(());
        };
        let id = teller.run.id.clone();
        let stream = StreamId::Run(id.clone());
        let page = self.session.caller.app.journal().read(&stream, teller.run.seq, READ_EVENTS).await?;
        // Whoever stops waiting here has lost nothing: nothing is taken in before.
        let reader = self.session.caller.reader().await?;
        for sealed in &page {
            let event = self.session.caller.app.decode_event(sealed)?;
            let frames = teller.hear(&event);
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
                    open::redelivered(&mut frame);
                }
                let frame = to_you(frame, &teller.run, &reader);
                self.queue.push_back(Told { frame, id: Some(FrameId::Frame { run: id.clone(), seq, part }) });
            }
            self.is_owed |= !is_about_clients;
        }
        self.tell_again(&reader);
        let Some(teller) = &self.teller else { return Ok(()) };
        if page.len() < READ_EVENTS {
            if teller.run.seq < self.heard.0 {
                return Err(unknown_place());
            }
            self.is_behind = teller.run.ended.is_some() && self.move_on().await?;
        }
        Ok(())
    }

    /// To the run after the one that has ended, if there is one.
    async fn move_on(&mut self) -> Answer<bool> {
        let runs = self.session.runs().await?;
        let known = self.teller.as_ref().map(|teller| &teller.run.id);
        let at = known.and_then(|known| runs.iter().position(|run| run == known));
        let Some(next) = runs.get(at.map_or(0, |at| at + 1)) else { return Ok(false) };
        let run = self.session.load(next).await?;
        self.teller = Some(Teller::before(&run, self.agent()));
        self.heard = (0, None);
        Ok(true)
    }

    /// What hands a call out that has become one to run, where it is this connection's to run. What is read may be old:
    /// before a call goes out the run is read on, until it says that the call is over, or to its newest event.
    async fn ours(&mut self, call: &str) -> Answer<Option<InterruptId>> {
        self.is_behind |= self.to_run(call).is_some();
        while self.is_behind && self.to_run(call).is_some() {
            self.read().await?;
        }
        let Some((run, interrupt)) = self.to_run(call) else { return Ok(None) };
        let is_ours = self.client.takes(run, interrupt).await?;
        Ok(is_ours.then(|| interrupt.opened.interrupt.clone()))
    }

    /// What hands a call out, as far as is read.
    fn to_run(&self, call: &str) -> Option<(&Run, &Interrupt)> {
        let run = &self.teller.as_ref()?.run;
        Some((run, run.handed_out(ids::call_of(&run.id, call)?)?))
    }

    /// Calls that another connection let go, or that wait for one.
    async fn taken_over(&mut self) -> Answer<Vec<Told>> {
        let Some(run) = self.session.last().await? else { return Ok(Vec::new()) };
        let mut ours = Vec::new();
        for (id, interrupt) in open::interrupts(&run) {
            if interrupt.opened.kind == Kind::ClientCall && self.client.takes(&run, interrupt).await? {
                ours.push((id, interrupt));
            }
        }
        // Nothing is waited for from here on: what counts as told is told.
        let told = ours.into_iter().filter(|(id, _)| self.client.tells(id));
        Ok(told.flat_map(|(_, each)| open::again(&run, each)).map(Told::from).collect())
    }
}

fn unknown_place() -> Refused {
    Refused::invalid_at("/since", "is the `id` of no frame of this session")
}

/// A frame with whether whoever is told may decide.
fn to_you(mut frame: Frame, run: &Run, reader: &Reader) -> Frame {
    if let Some(assigned) = frame.assignment() {
        assigned::tell_you(assigned, run, reader);
    }
    frame
}

/// The call of a frame that says to run it.
fn to_run(frame: &Frame) -> Option<&str> {
    match frame {
        Frame::ToolCall { call_id, requires_approval: false, .. } => Some(call_id),
        _ => None,
    }
}
