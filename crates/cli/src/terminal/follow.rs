//! Follows a run in the terminal: prints its events, shows a card when the run waits for a decision, and sends the
//! decision.
//!
//! Waits for the event stream, the terminal and signals at the same time. If the person leaves, nothing changes,
//! because the state of the run is in the journal.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Context;
use holdshort_protocol::{
    Code, Decision, Event, Interrupt, InterruptStatus, List, PreviewKind, Role, Run, Status, Work, plain,
};
use tokio::signal::unix::{SignalKind, signal};

use super::card::{self, View};
use super::input::{Input, Line};
use super::paint::Paint;
use super::progress::Progress;
use super::projector::Projector;
use super::prompt::{Editing, Prompt, Reaction, also};
use super::signals::{ExitSignals, came};
use super::{earlier_answers, edit, help, kill_switch, quote, team};
use crate::client::{self, Client};
use crate::exit::Exit;
use crate::output::{self, print_lines, print_message, print_message_lines, print_text};
use crate::pack::{Asker, Pack, Packs};
use crate::plural::count;
use crate::program_name::holdshort;
use crate::stream::{Events, Item, Watched};

/// Number of the newest events that are printed after attaching to a long run.
const HISTORY: u64 = 80;
/// Pause between two attempts of the terminal to reach the server.
pub(super) const AGAIN: Duration = Duration::from_secs(1);
const TRIES: usize = 10;
/// Types of events that change which agents work. After such an event, the list of working agents is read again.
const SHIFTS: [&str; 5] = ["phase_ended", "step_started", "step_ended", "step_redone", "handed_over"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Prints the events of a run as text, and lets the person decide.
    Told,
    /// Prints the events of a run as JSON lines, without prompts.
    Json,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Ended(Box<Run>),
    Left(LeaveReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaveReason {
    /// The person typed `d` at the prompt, or the input ended.
    Detached,
    /// The command line received Ctrl-C or a signal to terminate.
    Signal,
    /// The run waits for a decision, but the input is not a terminal, so that no person can decide here.
    Nobody,
}

impl Outcome {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Ended(run) => exit_for_status(run.status),
            Self::Left(_) => Exit::Waiting,
        }
    }
}

pub(crate) fn exit_for_status(status: Status) -> Exit {
    match status {
        Status::Completed => Exit::Ok,
        Status::Failed => Exit::Failed,
        Status::Cancelled => Exit::Cancelled,
        Status::Queued | Status::Running | Status::Waiting | Status::Paused => Exit::Waiting,
    }
}

/// Follows a run in the terminal until it ends or the person leaves.
pub(crate) async fn follow(packs: Packs, client: &Client, run: &str, form: Form) -> anyhow::Result<Outcome> {
    let run: Run = client.get(&format!("/v1/runs/{run}")).await?;
    let untold = match form {
        Form::Told => run.seq.saturating_sub(HISTORY),
        Form::Json => 0,
    };
    if untold > 0 {
        print_message(&format!(
            "… {} not shown; to list them: {} events {}{}",
            count(untold, "earlier event"),
            holdshort(),
            run.id,
            client.server_arguments()
        ));
    }
    let paint = Paint::stdout();
    let mut follower = Follower {
        client,
        form,
        input: if form == Form::Told { Input::open() } else { None },
        projector: Projector::new(paint, client.server_arguments()),
        progress: Progress::new(Paint::stderr()),
        open: run.open_interrupts.iter().cloned().collect(),
        seen: 0,
        untold,
        known: run.seq,
        asking: None,
        held: Vec::new(),
        team: Vec::new(),
        team_at: 0,
        asker: packs.for_workflow(&run.workflow).and_then(Pack::asker),
        run: run.id,
    };
    let outcome = follower.follow(Events::follow(client, &follower.run, 0, Watched::now())).await;
    follower.progress.hide();
    outcome
}

struct Follower<'a> {
    client: &'a Client,
    run: String,
    form: Form,
    input: Option<Input>,
    projector: Projector,
    progress: Progress,
    /// Ids of the open interrupts of the followed run, in the order in which the cards are shown.
    open: VecDeque<String>,
    /// Sequence number of the last event that was received from the followed run.
    seen: u64,
    /// Sequence number of the last event that is too old to print. Events up to this number are read only for the names
    /// of calls and steps.
    untold: u64,
    /// Sequence number of the run's last event when the terminal attached to the run. No card is shown before this
    /// event is processed.
    known: u64,
    asking: Option<Prompt>,
    /// Events of the run that arrived while a card was shown. They are printed after the person's decision.
    held: Vec<Event>,
    /// Agents that work on the followed run, according to the last response of the server.
    team: Vec<Work>,
    /// Sequence number of the last event that was received before `team` was read from the server.
    team_at: u64,
    /// Screens of a pack for the questions of the run, or `None` if the standard card is used.
    asker: Option<Box<dyn Asker>>,
}

enum Next {
    On,
    Over(Outcome),
}

impl Follower<'_> {
    async fn follow(&mut self, mut events: Events) -> anyhow::Result<Outcome> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut leaving = ExitSignals::new(self.input.is_some().then(SignalKind::hangup))?;
        let mut looks = tokio::time::interval(AGAIN);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if self.asking.is_none() && self.seen >= self.known {
                self.open_next().await?;
            }
            let next = tokio::select! {
                biased;
                () = came(&mut interrupt) => Next::Over(Outcome::Left(LeaveReason::Signal)),
                () = leaving.came() => Next::Over(Outcome::Left(LeaveReason::Signal)),
                item = events.next() => match item {
                    Some(item) => self.item(item).await?,
                    None => anyhow::bail!("the event stream ended unexpectedly"),
                },
                _ = looks.tick(), if self.progress.is_shown() => {
                    self.show_team().await;
                    Next::On
                }
                () = tokio::time::sleep(AGAIN), if self.asking.is_none() && !self.open.is_empty() => Next::On,
                line = typed(self.input.as_mut(), self.asking.is_some()) => {
                    let next = self.typed(line?).await?;
                    // A Ctrl-C that was typed in the editor is not for this program.
                    interrupt = signal(SignalKind::interrupt())?;
                    next
                }
            };
            if let Next::Over(outcome) = next {
                if self.asking.take().is_some() {
                    print_message("");
                }
                return Ok(outcome);
            }
        }
    }

    async fn item(&mut self, item: Item) -> anyhow::Result<Next> {
        match item {
            Item::Event(event, line) => return self.event(*event, &line).await,
            Item::Preview(preview) => {
                if self.form == Form::Told && matches!(preview.kind, PreviewKind::Text | PreviewKind::Output)
                {
                    self.progress.stream(&preview.step, &preview.text);
                }
            }
            Item::Lost => {
                self.message(
                    "The connection to the server is lost. The run is safe in its journal; reconnecting …",
                );
            }
            Item::Back => self.message("The server is back."),
            Item::Broken(error) => return Err(error),
        }
        Ok(Next::On)
    }

    async fn event(&mut self, event: Event, line: &str) -> anyhow::Result<Next> {
        self.seen = event.seq;
        let id =
            event.data.get("interrupt").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        match event.kind.as_str() {
            "interrupt_opened" if !self.open.contains(&id) && !id.is_empty() => {
                self.open.push_back(id.clone());
            }
            "interrupt_resolved" => self.open.retain(|open| *open != id),
            _ => {}
        }
        let ends = event.ends_run();
        if self.form == Form::Json {
            print_text(line);
        } else {
            let is_ours = self.asking.as_ref().is_some_and(|prompt| prompt.interrupt.id == id);
            if is_ours && event.kind == "interrupt_resolved" {
                self.asking = None;
                print_message("");
                // The stored events happened before this message, so they are printed first.
                self.print_held_events();
                self.progress.hide();
                print_message(match event.actor.role {
                    Role::Admin | Role::Operator | Role::Reviewer | Role::Agent | Role::Auditor => {
                        "  Decided elsewhere:"
                    }
                    Role::Engine => "  No longer asked:",
                });
            }
            if self.asking.is_some() && !ends {
                self.held.push(event);
            } else {
                self.print_held_events();
                let is_shift = SHIFTS.contains(&&*event.kind) && self.seen >= self.known;
                if is_shift && self.progress.is_enabled() {
                    self.show_team().await;
                }
                self.print_event(&event);
            }
        }
        if ends {
            self.progress.hide();
            return Ok(Next::Over(Outcome::Ended(Box::new(self.read_run().await?))));
        }
        if self.input.is_none() && self.seen >= self.known && self.is_left_waiting().await? {
            return Ok(Next::Over(Outcome::Left(LeaveReason::Nobody)));
        }
        Ok(Next::On)
    }

    /// Reads the followed run, and tries again while the server restarts.
    async fn read_run(&self) -> anyhow::Result<Run> {
        let path = format!("/v1/runs/{}", self.run);
        for _ in 1..TRIES {
            match self.client.get(&path).await {
                Err(error) if client::is_passing(&error) => tokio::time::sleep(AGAIN).await,
                answer => return answer,
            }
        }
        self.client.get(&path).await
    }

    /// Returns true if the followed run cannot continue without a decision of a person.
    async fn is_left_waiting(&self) -> anyhow::Result<bool> {
        Ok(match self.read_run().await?.status {
            Status::Waiting | Status::Paused => true,
            Status::Queued | Status::Running | Status::Completed | Status::Failed | Status::Cancelled => {
                false
            }
        })
    }

    /// Prints the card of the next open interrupt of the run.
    async fn open_next(&mut self) -> anyhow::Result<()> {
        if self.input.is_none() {
            return Ok(());
        }
        while let Some(id) = self.open.front().cloned() {
            let interrupt: Interrupt = match self.client.get(&format!("/v1/interrupts/{id}")).await {
                Ok(interrupt) => interrupt,
                // The card is requested again after the connection is restored.
                Err(error) if client::is_passing(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            if interrupt.status == InterruptStatus::Open {
                self.progress.hide();
                self.read_team().await;
                if self.ask(interrupt) {
                    self.client.looked(&id).await;
                }
                return Ok(());
            }
            self.open.pop_front();
        }
        Ok(())
    }

    /// Reads from the server which agents work on the run. An error is ignored, because the list is only for
    /// information; no agents are then shown.
    async fn read_team(&mut self) {
        if self.team_at == self.seen {
            return;
        }
        let at = self.seen;
        let read = self.client.get::<List<Work>>(&format!("/v1/runs/{}/work", self.run)).await;
        (self.team, self.team_at) = match read {
            Ok(work) => (work.items, at),
            Err(_) => (Vec::new(), 0),
        };
    }

    async fn show_team(&mut self) {
        self.read_team().await;
        self.progress.team(team::counted(&self.team), team::lines(&self.team, Paint::stderr()));
    }

    /// Prints the card of an interrupt. Returns true if the card shows everything that the person decides on.
    fn ask(&mut self, interrupt: Interrupt) -> bool {
        let paint = Paint::stderr();
        print_message("");
        let view = View { paint, uncut: false, alone: false, said: self.projector.last_message() };
        let own = match &mut self.asker {
            Some(asker) if asker.asks(&interrupt) => asker.screen(&interrupt, self.open.len(), paint),
            Some(_) | None => None,
        };
        let cut_lines = if own.is_some() { 0 } else { card::cut_lines(&interrupt, view) };
        let prompt = Prompt::new(interrupt, cut_lines);
        let interrupt = &prompt.interrupt;
        let is_whole = if let Some(screen) = own {
            print_message_lines(&screen);
            if interrupt.suggestions().is_empty() {
                print_message_lines(&earlier_answers::lines(interrupt, paint));
            } else {
                print_message_lines(&card::options(interrupt, paint));
            }
            false
        } else {
            print_message_lines(&card::render(interrupt, view));
            print_message_lines(&card::options(interrupt, paint));
            prompt.shows_all()
        };
        if let Some(meanwhile) = team::meanwhile(&self.team, &interrupt.id) {
            print_message_lines(&paint.fold(&format!("  {}", paint.dim(&meanwhile)), 4));
        }
        print_message_lines(&prompt.keys(paint));
        if let Some(input) = &mut self.input {
            input.forget();
        }
        self.asking = Some(prompt);
        self.cursor();
        is_whole
    }

    /// Prints the prompt before the person's input, if a card is open.
    fn cursor(&self) {
        if let Some(prompt) = &self.asking {
            output::prompt(prompt.label());
        }
    }

    async fn typed(&mut self, line: Line) -> anyhow::Result<Next> {
        let paint = Paint::stderr();
        let Some(prompt) = &mut self.asking else { return Ok(Next::On) };
        let reaction = match line {
            Line::End => Reaction::Detach,
            Line::TooLong => Reaction::Ask(vec![
                "  That line is too long for a terminal and was not sent; e opens an editor.".to_owned(),
            ]),
            Line::Text(text) => match &mut self.asker {
                Some(asker) if asker.asks(&prompt.interrupt) => asker.line(prompt, &text, paint),
                Some(_) | None => prompt.line(&text, paint),
            },
        };
        self.react(reaction).await
    }

    async fn react(&mut self, mut reaction: Reaction) -> anyhow::Result<Next> {
        let paint = Paint::stderr();
        loop {
            let Some(prompt) = &mut self.asking else { return Ok(Next::On) };
            match reaction {
                Reaction::Ask(lines) => {
                    print_message_lines(&lines);
                    if let Some(input) = &mut self.input {
                        input.forget();
                    }
                    self.cursor();
                    return Ok(Next::On);
                }
                Reaction::Help => {
                    reaction = Reaction::Ask(help::options(
                        &prompt.interrupt,
                        self.client.server_arguments(),
                        paint,
                    ));
                }
                Reaction::Uncut => {
                    let view = View { paint, uncut: true, alone: false, said: "" };
                    let mut lines = card::render(&prompt.interrupt, view);
                    lines.extend(card::options(&prompt.interrupt, paint));
                    if prompt.mark_shown_whole() {
                        self.client.looked(&prompt.interrupt.id).await;
                    }
                    reaction = Reaction::Ask(lines);
                }
                Reaction::Detach => return Ok(Next::Over(Outcome::Left(LeaveReason::Detached))),
                Reaction::Freeze(why) => {
                    reaction = Reaction::Ask(kill_switch::freeze(self.client, why, paint).await);
                }
                Reaction::Edit(editing) => reaction = self.edit(&editing).await,
                Reaction::Decide(decision) => match self.decide(decision).await? {
                    Some(lines) => reaction = Reaction::Ask(lines),
                    None => return Ok(Next::On),
                },
            }
        }
    }

    async fn edit(&mut self, editing: &Editing) -> Reaction {
        let saved = edit::edit(&editing.text, editing.form.suffix()).await;
        let paint = Paint::stderr();
        match (saved, &mut self.asking) {
            (Ok(saved), Some(prompt)) => prompt.edited(editing, &saved, paint),
            (Ok(_), None) => Reaction::Ask(Vec::new()),
            (Err(error), _) => Reaction::Ask(vec![format!("  {}", paint.red(&crate::output::error(&error)))]),
        }
    }

    /// Sends a decision to the server and prints the result. Returns lines to print if the person has to decide again.
    async fn decide(&mut self, decision: Decision) -> anyhow::Result<Option<Vec<String>>> {
        let paint = Paint::stderr();
        let Some(prompt) = &mut self.asking else { return Ok(None) };
        if let Some(lines) = prompt.ask_also(self.client, &decision, paint).await {
            return Ok(Some(lines));
        }
        let (id, decision) = (prompt.interrupt.id.clone(), prompt.timed(decision));
        let path = format!("/v1/interrupts/{id}/decisions");
        match self.client.post::<Interrupt>(&path, &decision).await {
            Ok(interrupt) => {
                self.projector.mark_decided_here(&id);
                self.open.retain(|open| *open != id);
                self.asking = None;
                print_message(&format!("  {} {}", paint.green("✓"), chosen(&interrupt, &decision, paint)));
                if let Some(released) = also::released(&interrupt) {
                    print_message(&format!("    {released}"));
                }
                if let Some(way) = card::revoke_command(&interrupt, self.client.server_arguments()) {
                    print_message(&paint.dim(&format!("    {way}")));
                }
                self.print_held_events();
                self.progress.show("");
                Ok(None)
            }
            Err(error) => match client::code(&error) {
                Some(Code::AlreadyResolved | Code::Expired | Code::RunEnded) => {
                    for line in crate::output::error(&error).lines() {
                        print_message_lines(&paint.fold(&format!("  {}", paint.yellow(line)), 4));
                    }
                    self.open.retain(|open| *open != id);
                    self.asking = None;
                    self.print_held_events();
                    Ok(None)
                }
                // The interrupt has changed, so its card is read and shown again.
                Some(Code::Stale) => {
                    print_message(&format!("  {}", paint.yellow("The request changed after you read it.")));
                    self.asking = None;
                    self.print_held_events();
                    Ok(None)
                }
                Some(_) | None => {
                    let text = crate::output::error(&error);
                    let fold = |line: &str| paint.fold(&format!("  {}", paint.red(line)), 4);
                    let mut told: Vec<String> = text.lines().flat_map(fold).collect();
                    if takes_another_source(&error) {
                        print_message_lines(&told);
                        self.asking = None;
                        self.print_held_events();
                        return Ok(None);
                    }
                    if let Some(prompt) = &mut self.asking {
                        told.extend(prompt.refused(client::errors(&error), paint));
                    }
                    Ok(Some(told))
                }
            },
        }
    }

    fn print_held_events(&mut self) {
        for event in std::mem::take(&mut self.held) {
            self.print_event(&event);
        }
    }

    fn print_event(&mut self, event: &Event) {
        let lines = self.projector.project(event);
        if event.seq > self.untold && !lines.is_empty() {
            self.progress.hide();
            print_lines(&lines);
        }
        if self.seen >= self.known && self.open.is_empty() {
            self.progress.show(self.projector.activity());
        }
    }

    /// Prints a message about the connection to the server, and then the prompt again.
    fn message(&mut self, text: &str) {
        self.progress.hide();
        if self.asking.is_some() {
            print_message("");
        }
        let paint = Paint::stderr();
        print_message_lines(&paint.fold(&format!("  {}", paint.yellow(text)), 2));
        self.cursor();
    }
}

/// Returns true if the server rejected a decision because the earlier answer that it sends is no longer valid. The card
/// is then shown again without this answer.
pub(super) fn takes_another_source(error: &anyhow::Error) -> bool {
    client::errors(error).iter().any(|problem| problem.pointer == "/from")
}

/// Describes a decision by the label of the chosen option.
pub(super) fn chosen(interrupt: &Interrupt, decision: &Decision, paint: Paint) -> String {
    let choice = interrupt.offer(&decision.option);
    let label = plain::line(choice.map_or(&*decision.option, |choice| &choice.label)).into_owned();
    match &decision.text {
        Some(text) => format!("{label}: {}", quote::brief(text, paint.width.saturating_sub(label.len() + 8))),
        None => label,
    }
}

async fn typed(input: Option<&mut Input>, is_asking: bool) -> anyhow::Result<Line> {
    match input {
        Some(input) if is_asking => input.line().await.context("the terminal cannot be read"),
        Some(_) | None => std::future::pending().await,
    }
}
