//! Following a session: the events of its runs from now on, one run after the other, as frames.
//!
//! The feed of everything rings the bell; what is told is read from the run's own stream, so that nothing is missed
//! or told twice, whoever wrote it.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use holdshort_core::event;
use holdshort_core::id::StreamId;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::Status;
use holdshort_core::run::Run;
use holdshort_engine::Error;
use holdshort_store::Journal;

use super::frame::Frame;
use super::session::{Session, front_of};
use super::tell::Teller;
use super::{WORKFLOW, open};
use crate::auth::Caller;
use crate::feed::{self, Item, Previews, Sight, Source, position};
use crate::limits::READ_EVENTS;
use crate::problem::Answer;

pub(super) struct Follower {
    session: Session,
    /// Of the newest run; `None` before the first.
    teller: Option<Teller>,
    bell: BoxStream<'static, Item>,
}

impl Follower {
    /// From what is there now. Nothing is missed between this and the first `next`.
    pub(super) async fn attach(session: Session) -> Answer<Self> {
        let app = session.app.clone();
        let caller = Caller { app: app.clone(), actor: session.actor.clone() };
        // Before anything is read: what is committed in between rings.
        let source = Source::All { after: position::last(&app) };
        let bell = feed::follow(source, Sight::of(caller), Previews::Hidden);
        let teller = session.last().await?.map(|run| Teller::new((*run).clone()));
        Ok(Self { session, teller, bell })
    }

    /// The first frame of every connection.
    pub(super) fn info(&self) -> Frame {
        let run = self.teller.as_ref().map(|teller| &teller.run);
        let open = |kind| {
            let open = run.into_iter().flat_map(Run::open_interrupts);
            open.filter(|(_, interrupt)| interrupt.opened.kind == kind).count()
        };
        Frame::SessionInfo {
            session_id: self.session.name.clone(),
            status: run.map_or("new", |run| run.status().as_str()),
            run_id: run.map(|run| run.id.to_string()),
            agent: self.agent(),
            pending_approvals: open(Kind::ToolApproval) + open(Kind::ClientCall) + open(Kind::Continuation),
            pending_plans: open(Kind::PlanApproval),
            rehearsal: self.session.app.model.rehearsal,
        }
    }

    /// Who is at work, or would be: a session begins with the agent that the workflow begins with.
    fn agent(&self) -> String {
        let base = self.session.app.library.get(WORKFLOW);
        match &self.teller {
            Some(teller) => teller.agent.clone(),
            None => base.as_deref().and_then(front_of).unwrap_or_default().to_owned(),
        }
    }

    /// What waits for the client: under the ids under which it was told before.
    pub(super) fn standing(&self) -> Vec<Frame> {
        let Some(run) = self.teller.as_ref().map(|teller| &teller.run) else { return Vec::new() };
        open::interrupts(run).into_iter().flat_map(|(_, interrupt)| open::again(run, interrupt)).collect()
    }

    /// The next frames; `None` once nothing can follow.
    pub(super) async fn next(&mut self) -> Answer<Option<Vec<Frame>>> {
        loop {
            match self.bell.next().await {
                None => return Ok(None),
                Some(Item::Event(words)) if self.concerns(words.json()) => {
                    let frames = self.catch_up().await?;
                    if !frames.is_empty() {
                        return Ok(Some(frames));
                    }
                }
                // A run of somebody else's that can not be read is none of ours.
                Some(Item::Event(_) | Item::Preview(_) | Item::Problem(_)) => {}
            }
        }
    }

    /// Whether an event is of the run that is followed, or the first one of a run that might be the next.
    fn concerns(&self, event: &str) -> bool {
        let Some(rest) = event.strip_prefix("{\"stream\":\"") else { return true };
        let Some((stream, rest)) = rest.split_once('"') else { return true };
        let is_own = self.teller.as_ref().is_some_and(|teller| teller.run.id.as_str() == stream);
        is_own || (stream.starts_with("run_") && rest.starts_with(",\"seq\":1,"))
    }

    /// What the journal holds that was not told yet, and `done` where nothing goes on by itself after it.
    pub(super) async fn catch_up(&mut self) -> Answer<Vec<Frame>> {
        let mut frames = Vec::new();
        let mut heard = self.read(&mut frames).await?;
        for run in self.later_runs().await? {
            let agent = self.agent();
            self.teller = Some(Teller::before(&run, agent));
            heard |= self.read(&mut frames).await?;
        }
        if heard {
            frames.extend(self.rest());
        }
        Ok(frames)
    }

    /// `done`, where nothing goes on by itself.
    pub(super) fn rest(&self) -> Option<Frame> {
        let status = self.teller.as_ref().map_or(Status::Completed, |teller| teller.run.status());
        match status {
            Status::Queued | Status::Running => None,
            Status::Waiting | Status::Paused | Status::Completed | Status::Failed | Status::Cancelled => {
                Some(Frame::Done { status: status.as_str() })
            }
        }
    }

    async fn read(&mut self, frames: &mut Vec<Frame>) -> Answer<bool> {
        let Some(teller) = &mut self.teller else { return Ok(false) };
        let stream = StreamId::Run(teller.run.id.clone());
        let mut told = Vec::new();
        let mut heard = false;
        loop {
            let page = self.session.app.journal().read(&stream, teller.run.seq, READ_EVENTS).await?;
            for sealed in &page {
                let event = event::decode(sealed)
                    .map_err(|source| Error::Damaged { run: stream.to_string(), source })?;
                told.extend(teller.hear(&event));
                heard = true;
            }
            if page.len() < READ_EVENTS {
                told.retain(|frame| !teller.is_over(frame));
                frames.extend(told);
                return Ok(heard);
            }
        }
    }

    /// Runs of the session after the one that was followed so far, oldest first.
    async fn later_runs(&mut self) -> Answer<Vec<Arc<Run>>> {
        let known = self.teller.as_ref().map(|teller| &teller.run);
        if known.is_some_and(|run| run.ended.is_none()) {
            return Ok(Vec::new());
        }
        let runs = self.session.runs().await?;
        let told = known.and_then(|known| runs.iter().position(|run| *run == known.id));
        let mut later = Vec::new();
        for run in &runs[told.map_or(0, |at| at + 1)..] {
            later.push(self.session.load(run).await?);
        }
        Ok(later)
    }
}
