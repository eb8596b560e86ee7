//! A conversation in the terminal. Typed text becomes a message of a session, and the progress of the session's runs is
//! printed above the input line.
//!
//! The journal is the source of everything that the conversation shows. A session may be open in several clients, and
//! leaving the conversation changes nothing. Each of the other files has one part of the conversation: `keyboard.rs`
//! the terminal, `open_card.rs` the current card, `answer.rs` the decisions on cards, `speech.rs` the text of agents,
//! `turn.rs` the person's turns, `ctrl_c.rs` Ctrl-C, `slash.rs` the commands with `/`. Text that a person began to type
//! before a card was shown never decides on this card.

mod answer;
mod ctrl_c;
mod history;
mod keyboard;
mod open_card;
mod session_run;
mod slash;
mod speech;
mod tty;
mod turn;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Instant;

use holdshort_engine::real::REHEARSAL;
use holdshort_protocol::{
    Code, Delivered, Event, Interrupt, InterruptStatus, PreviewKind, Run, Session, SessionMessage,
    SessionState, Speaker, Status, Utterance, plain,
};
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};

use self::ctrl_c::renewed;
use self::keyboard::{Keyboard, Typed};
use self::session_run::SessionRun;
use self::speech::Speech;
use self::turn::Turn;
use super::card::{self, View};
use super::follow::{AGAIN, chosen};
use super::paint::Paint;
use super::prompt::{Editing, Prompt, Reaction};
use super::quote::{Cap, quote};
use super::signals::{ExitSignals, came};
use super::{REHEARSES, edit, help};
use crate::client::{self, Client};
use crate::exit::Exit;
use crate::output::{print_lines, print_text};
use crate::program_name::holdshort;
use crate::stream::{Events, Item, Watched};

/// Number of recent messages that are printed when a person resumes a conversation.
const TURNS: usize = 10;
const TURN: Cap = Cap::Lines(12);
const LABEL: &str = "> ";

pub(crate) struct Talk<'a> {
    pub client: &'a Client,
    pub session: Session,
    /// True if the session of the conversation existed before this command.
    pub is_old: bool,
    pub history: PathBuf,
    /// Command-line arguments that start the same server in this process again. `None` if the server runs in another
    /// process.
    pub embedded: Option<&'a str>,
}

pub(crate) async fn chat(talk: Talk<'_>) -> anyhow::Result<Exit> {
    let paint = Paint::stdout();
    // Subscribe before reading lists, so that no event is missed between a list and the stream.
    let events = Events::everything(talk.client, Watched::now()).await?;
    let mut chat = Chat {
        keyboard: Keyboard::open(talk.history)?,
        client: talk.client,
        session: talk.session.id,
        embedded: talk.embedded,
        paint,
        runs: BTreeMap::new(),
        front: talk.session.front_run,
        open: VecDeque::new(),
        asking: None,
        speech: Speech::new(paint),
        early: BTreeMap::new(),
        mine: Vec::new(),
        turns: Vec::new(),
        interrupting: BTreeMap::new(),
        held: VecDeque::new(),
        withdrawn: Vec::new(),
        struck: false,
        has_edited: false,
        grants: Vec::new(),
        is_settled: None,
    };
    if talk.is_old {
        chat.recall(talk.session.state).await?;
    }
    let outcome = chat.talk(events).await;
    match outcome {
        Ok(()) => chat.leave().await,
        Err(error) => Err(error),
    }
}

struct Chat<'a> {
    client: &'a Client,
    session: String,
    embedded: Option<&'a str>,
    keyboard: Keyboard,
    paint: Paint,
    runs: BTreeMap<String, SessionRun>,
    /// Id of the run that a message of the conversation started last.
    front: Option<String>,
    /// Ids of the open interrupts of the conversation, in the order in which the cards are shown.
    open: VecDeque<String>,
    asking: Option<Asking>,
    speech: Speech,
    /// Streamed text of unknown steps, by run and step. The text of a step may arrive before the event that starts the
    /// step.
    early: BTreeMap<(String, String), String>,
    /// Messages that the person typed in this terminal and whose events have not arrived yet. These messages are
    /// already on the screen.
    mine: Vec<String>,
    /// Points at which runs of the conversation wait for the person's next message.
    turns: Vec<Turn>,
    /// Runs that the person interrupted in this terminal, each with a sequence number. An entry is removed when the
    /// events of the run up to this number have arrived.
    interrupting: BTreeMap<String, u64>,
    /// Typed lines that are not handled yet, because it is unknown which turn of the person they answer.
    held: VecDeque<Typed>,
    /// Periods in which cards were shown that have been removed since, after the person's last input.
    withdrawn: Vec<(Instant, Instant)>,
    /// True if the person's last input was Ctrl-C.
    struck: bool,
    /// True if the person's last input opened an editor.
    has_edited: bool,
    /// Ids of grants, in the order in which the command `/grants` listed them.
    grants: Vec<String>,
    /// True if every run of the conversation waits for a person or has ended, and all events are printed. `None` if an
    /// event has arrived since the last check.
    is_settled: Option<bool>,
}

struct Asking {
    prompt: Prompt,
    shown: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    On,
    Over,
}

impl Chat<'_> {
    async fn talk(&mut self, mut events: Events) -> anyhow::Result<()> {
        let mut struck = signal(SignalKind::interrupt())?;
        let mut leaving = ExitSignals::new(self.keyboard.is_live().then(SignalKind::hangup))?;
        loop {
            if self.interrupting.is_empty()
                && let Some(typed) = self.held.pop_front()
            {
                self.struck = false;
                if self.handle_typed(typed).await? == Next::Over {
                    return Ok(());
                }
                continue;
            }
            if self.asking.is_none() {
                self.open_next().await?;
            }
            if self.asking.is_none() {
                self.print_turn_hints();
            }
            // Without a terminal, the next line may be read only after the outcome of the previous line is printed.
            let reads = self.keyboard.is_live() || self.asking.is_some() || self.is_settled().await?;
            let is_waiting_for_server =
                self.asking.is_none() && !self.open.is_empty() && !self.is_interrupted();
            let label = self.asking.as_ref().map_or(LABEL, |asking| asking.prompt.label());
            let next = tokio::select! {
                () = leaving.came() => Next::Over,
                () = came(&mut struck) => self.handle_ctrl_c().await?,
                item = events.next() => match item {
                    Some(item) => self.item(item).await?,
                    None => anyhow::bail!("the event stream ended unexpectedly"),
                },
                () = tokio::time::sleep(AGAIN), if is_waiting_for_server => Next::On,
                typed = self.keyboard.next(label), if reads => {
                    let next = self.typed(typed?).await?;
                    // A Ctrl-C that was typed in the editor is not for this program.
                    if std::mem::take(&mut self.has_edited) {
                        struck = renewed(struck)?;
                    }
                    next
                }
            };
            if next == Next::Over {
                return Ok(());
            }
        }
    }

    /// Prints the last messages of the conversation, and starts following its runs that have not ended.
    async fn recall(&mut self, state: SessionState) -> anyhow::Result<()> {
        let path = format!("/v1/sessions/{}/conversation", self.session);
        let said = self.client.list(&path, &[]).await?;
        let skipped = said.len().saturating_sub(TURNS);
        let mut out = Vec::new();
        if skipped > 0 {
            out.push(self.paint.dim(&format!("  … {skipped} earlier")));
        }
        for utterance in said.into_iter().skip(skipped) {
            let utterance: Utterance = serde_json::from_value(utterance)?;
            let text = utterance.text.as_deref().unwrap_or("(erased)");
            let lead = match utterance.speaker {
                Speaker::Person => self.person(&utterance.by),
                Speaker::Agent => self.paint.cyan(&plain::line(&utterance.by)),
            };
            out.push(String::new());
            out.extend(quote(text, &lead, TURN, self.paint));
        }
        self.keyboard.print(&out);
        if state == SessionState::Suspended {
            self.note("This session is suspended: the agent reads messages only after /resume.");
        }
        for run in self.client.list("/v1/runs", &[("session", &self.session)]).await? {
            let run: Run = serde_json::from_value(run)?;
            if !run.status.is_terminal() {
                self.take_up(&run).await?;
            }
        }
        Ok(())
    }

    /// Starts following a run that has not ended. Earlier events of the run are not printed, but read for the names of
    /// calls and steps.
    async fn take_up(&mut self, run: &Run) -> anyhow::Result<()> {
        let mut known = SessionRun::new(self.paint, self.client.server_arguments());
        let client = self.client;
        let look = |event: &Event| {
            known.note(event);
            known.seen = event.seq;
            self.follow_interrupts(event);
        };
        client.each_event(&run.id, look).await?;
        if run.status == Status::Paused {
            self.note("The work is paused; /resume continues it.");
        }
        self.runs.insert(run.id.clone(), known);
        Ok(())
    }

    /// Adds an interrupt to the list of open interrupts when it is opened, and removes it when it is resolved. Returns
    /// the turn of the person that the event ends.
    fn follow_interrupts(&mut self, event: &Event) -> Option<Turn> {
        let id = event.data.get("interrupt").and_then(Value::as_str)?;
        match event.kind.as_str() {
            "interrupt_opened" => {
                if !self.record_turn(event) && !self.open.iter().any(|open| open == id) {
                    self.open.push_back(id.to_owned());
                }
                None
            }
            "interrupt_resolved" => {
                self.open.retain(|open| open != id);
                self.remove_turn(event)
            }
            _ => None,
        }
    }

    async fn item(&mut self, item: Item) -> anyhow::Result<Next> {
        match item {
            Item::Event(event, _) => return self.event(&event).await,
            Item::Preview(preview) if preview.kind == PreviewKind::Text => {
                self.print_piece(&preview.run, &preview.step, &preview.text);
            }
            Item::Preview(_) => {}
            Item::Lost => {
                self.note("The connection to the server is lost. Your data is safe; reconnecting …");
            }
            Item::Back => self.note("The server is back."),
            Item::Broken(error) => return Err(error),
        }
        Ok(Next::On)
    }

    async fn event(&mut self, event: &Event) -> anyhow::Result<Next> {
        if event.stream == self.session {
            return Ok(self.handle_session_event(event));
        }
        let run = event.stream.clone();
        let string = |key: &str| event.data.get(key).and_then(Value::as_str).unwrap_or_default();
        if event.kind == "run_started" && string("session") == self.session && !self.is_known(&run, event.seq)
        {
            let (paint, words) = (self.paint, self.client.server_arguments());
            self.runs.entry(run.clone()).or_insert_with(|| SessionRun::new(paint, words));
            self.began(event);
        }
        let Some(known) = self.runs.get_mut(&run).filter(|known| event.seq > known.seen) else {
            return Ok(Next::On);
        };
        self.is_settled = None;
        if self.interrupting.get(&run).is_some_and(|seq| event.seq >= *seq) {
            self.interrupting.remove(&run);
        }
        let lines = known.note(event);
        let said = string("step").to_owned();
        let lead = self.paint.cyan(&known.agent(&said));
        let is_aside = known.projector.is_aside(&said);
        let text = event.data.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
        let spoken = known.projector.spoken(&said, text).into_owned();
        // A message that answers a turn is printed here as a message, because the code below would print it like a
        // decision on a card.
        if event.kind == "decision_made" {
            self.print_turn_message(event, text);
        }
        let turn = self.follow_interrupts(event);
        match event.kind.as_str() {
            "model_replied" | "model_stopped" if is_aside => {}
            "step_started" => {
                self.keyboard.print(&lines);
                self.print_early_text(&run, &said);
            }
            "model_replied" => {
                let lines = self.speech.end((&run, &said), &lead, &spoken);
                self.keyboard.print(&lines);
            }
            "model_stopped" if !spoken.trim().is_empty() => {
                let mut lines = self.speech.end((&run, &said), &lead, &spoken);
                lines.push(self.paint.dim("  … and was interrupted there"));
                self.keyboard.print(&lines);
            }
            "model_failed" | "model_lost" | "model_stopped" => {
                let mut all = self.speech.cut();
                all.extend(lines);
                self.keyboard.print(&all);
            }
            "message_added" if self.is_mine(text) => {}
            "interrupt_resolved" if turn.as_ref().is_some_and(Turn::is_of_interruption) => {
                self.note(if string("option") == "done" {
                    "The task ends here."
                } else {
                    "The work continues."
                });
            }
            "interrupt_resolved" => {
                let id = string("interrupt");
                let is_asked = self.asking.as_ref().is_some_and(|asking| asking.prompt.interrupt.id == id);
                if is_asked {
                    self.keyboard.print(&[self.paint.yellow("  No longer asked:")]);
                }
                self.keyboard.print(&lines);
                if is_asked {
                    self.withdraw();
                }
            }
            "run_completed" | "run_failed" | "run_cancelled" => self.ended(&run).await?,
            _ => self.keyboard.print(&lines),
        }
        Ok(Next::On)
    }

    fn is_known(&self, run: &str, seq: u64) -> bool {
        self.runs.get(run).is_some_and(|known| known.seen >= seq)
    }

    /// Records that a message started a run, which becomes the front run. Prints the message if another client sent it.
    fn began(&mut self, event: &Event) {
        if event.data.get("front").and_then(Value::as_bool) != Some(true) {
            return;
        }
        self.front = Some(event.stream.clone());
        if event.data.pointer("/config/model").and_then(Value::as_str) == Some(REHEARSAL) {
            self.note(REHEARSES);
        }
        let task = event.data.pointer("/content/data/input/task");
        let task = task.or_else(|| event.data.pointer("/content/data/task")).and_then(Value::as_str);
        if let Some(task) = task
            && !self.is_mine(task)
        {
            let lead = self.person(&event.actor.id);
            self.keyboard.print(&quote(task, &lead, TURN, self.paint));
        }
    }

    fn handle_session_event(&mut self, event: &Event) -> Next {
        let by = plain::line(&event.actor.id).into_owned();
        match event.kind.as_str() {
            "session_suspended" => {
                self.note(&format!("The session was suspended by {by}; /resume continues it."));
            }
            "session_resumed" => self.note(&format!("The session was resumed by {by}.")),
            "session_closed" => {
                self.note(&format!("The session was closed by {by}."));
                return Next::Over;
            }
            _ => {}
        }
        Next::On
    }

    async fn ended(&mut self, id: &str) -> anyhow::Result<()> {
        if let Some(known) = self.runs.get_mut(id) {
            known.is_live = false;
        }
        let mut lines = self.speech.cut();
        let run: Run = self.client.get(&format!("/v1/runs/{id}")).await?;
        let reason = plain::line(run.end_reason.as_deref().unwrap_or_default()).into_owned();
        let message = run.end_message.as_deref().map(|text| format!(": {}", plain::text(text)));
        let message = message.unwrap_or_default();
        let told = match run.status {
            Status::Failed => self.paint.red(&format!("✗ Failed ({reason}){message}")),
            Status::Cancelled => self.paint.yellow(&format!("– Cancelled ({reason}){message}")),
            _ if run.end_reason.as_deref() == Some("partial") => {
                self.paint.yellow("! Done in part: some of the work was not done.")
            }
            _ => self.paint.green("✓ Done."),
        };
        for line in told.lines() {
            lines.extend(self.paint.fold(&format!("  {line}"), 4));
        }
        self.keyboard.print(&lines);
        Ok(())
    }

    /// Returns true if every run of the conversation waits for a person or has ended, and all events are printed.
    async fn is_settled(&mut self) -> anyhow::Result<bool> {
        if let Some(is_settled) = self.is_settled {
            return Ok(is_settled);
        }
        let mut is_settled = self.open.is_empty() || self.asking.is_some() || !self.turns.is_empty();
        for (id, known) in self.runs.iter().filter(|(_, known)| known.is_live) {
            let run: Run = match self.client.get(&format!("/v1/runs/{id}")).await {
                Ok(run) => run,
                // The run is read again after the next event.
                Err(error) if client::is_passing(&error) => return Ok(false),
                Err(error) => return Err(error),
            };
            is_settled &= known.seen >= run.seq
                && !run.status.is_terminal()
                && !matches!(run.status, Status::Queued | Status::Running);
        }
        self.is_settled = Some(is_settled);
        Ok(is_settled)
    }

    /// Prints the card of the next open interrupt of the conversation.
    async fn open_next(&mut self) -> anyhow::Result<()> {
        while let Some(id) = self.open.front().filter(|_| !self.is_interrupted()).cloned() {
            let interrupt: Interrupt = match self.client.get(&format!("/v1/interrupts/{id}")).await {
                Ok(interrupt) => interrupt,
                Err(error) if client::is_passing(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
            if interrupt.status == InterruptStatus::Open {
                if self.ask(interrupt) && self.keyboard.is_live() {
                    self.client.looked(&id).await;
                }
                return Ok(());
            }
            self.open.pop_front();
        }
        Ok(())
    }

    async fn typed(&mut self, typed: Typed) -> anyhow::Result<Next> {
        // A run was interrupted here, and the event of the turn that follows has not arrived. The input is for that
        // turn, so the input waits for the event. No agent has received the input yet, so a Ctrl-C after it is the
        // second Ctrl-C.
        if let Typed::Text { text, .. } = &typed
            && !self.interrupting.is_empty()
            && !matches!(text.trim(), "/quit" | "/exit" | "/help" | "/?")
        {
            self.hold(typed);
            return Ok(Next::On);
        }
        if !matches!(typed, Typed::Interrupt) {
            self.struck = false;
        }
        self.handle_typed(typed).await
    }

    async fn handle_typed(&mut self, typed: Typed) -> anyhow::Result<Next> {
        match typed {
            Typed::Interrupt => self.handle_ctrl_c().await,
            Typed::End => Ok(Next::Over),
            // The card on which the key was pressed may have been withdrawn.
            Typed::Digit { digit, at } if self.asking.as_ref().is_some_and(|asking| at >= asking.shown) => {
                self.answer(&digit.to_string()).await
            }
            Typed::Digit { .. } => Ok(Next::On),
            Typed::Text { text, begun } => {
                let is_late = self.was_for_withdrawn(begun);
                self.withdrawn.clear();
                let line = text.trim_end();
                if is_late {
                    if !line.trim().is_empty() {
                        self.not_sent(line);
                    }
                    return Ok(Next::On);
                }
                if let Some(word) = line.strip_prefix('/') {
                    return self.slash(word).await;
                }
                let line = line.trim();
                let is_for_card = self.asking.as_ref().map(|asking| begun >= asking.shown);
                match is_for_card {
                    // An empty line confirms a decision that is printed for confirmation. Without such a decision, an
                    // empty line is ignored.
                    Some(true) if !line.is_empty() || !self.is_choosing() => self.answer(line).await,
                    Some(false) if !line.is_empty() => {
                        self.note(
                            "You began this line before the request appeared, so the line is sent to \
                                   the agent as a message.",
                        );
                        self.say(line).await
                    }
                    None if !line.is_empty() => self.say(line).await,
                    None if self.is_interrupted() => {
                        self.answer_turns("continue").await;
                        Ok(Next::On)
                    }
                    Some(_) | None => Ok(Next::On),
                }
            }
        }
    }

    fn is_choosing(&self) -> bool {
        self.asking.as_ref().is_none_or(|asking| asking.prompt.is_choosing())
    }

    async fn say(&mut self, text: &str) -> anyhow::Result<Next> {
        let message = SessionMessage { text: text.to_owned(), ..SessionMessage::default() };
        self.mine.push(text.to_owned());
        let path = format!("/v1/sessions/{}/messages", self.session);
        match self.client.post::<Delivered>(&path, &message).await {
            Ok(delivered) => {
                let (paint, words) = (self.paint, self.client.server_arguments());
                self.runs.entry(delivered.run.clone()).or_insert_with(|| SessionRun::new(paint, words));
                self.is_settled = None;
            }
            Err(error) => {
                self.mine.pop();
                self.refused(&error);
            }
        }
        Ok(Next::On)
    }

    /// Returns true if a message was typed in this terminal, so that it is already on the screen.
    fn is_mine(&mut self, text: &str) -> bool {
        let place = self.mine.iter().position(|mine| mine == text);
        place.map(|place| self.mine.remove(place)).is_some()
    }

    fn note(&self, text: &str) {
        let fold = |line: &str| self.paint.fold(&format!("  {}", self.paint.yellow(line)), 2);
        self.keyboard.print(&text.lines().flat_map(fold).collect::<Vec<_>>());
    }

    fn refused(&self, error: &anyhow::Error) {
        let text = crate::output::error(error);
        let fold = |line: &str| self.paint.fold(&format!("  {}", self.paint.red(line)), 4);
        self.keyboard.print(&text.lines().flat_map(fold).collect::<Vec<_>>());
    }

    fn person(&self, name: &str) -> String {
        self.paint.bold(&plain::line(name))
    }

    /// Ends the conversation, and prints the command that resumes it.
    async fn leave(self) -> anyhow::Result<Exit> {
        let resting = self.resting().map(|turn| turn.interrupt.clone());
        let (client, paint, session) = (self.client, self.paint, self.session);
        let words = self.embedded.unwrap_or_else(|| client.server_arguments()).to_owned();
        // Dropping the keyboard restores the terminal before anything else is printed.
        drop(self.keyboard);
        for typed in &self.held {
            if let Typed::Text { text, .. } = typed {
                print_lines(&paint.message(&format!("Not sent: {}", plain::text(text.trim_end())), 2));
            }
        }
        let runs = client.list("/v1/runs", &[("session", &session)]).await?;
        let runs: Vec<Run> = runs.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
        // A run whose only open interrupt is the person's turn has no pending work.
        let rests = |run: &Run| resting.as_ref().is_some_and(|turn| run.open_interrupts == [turn.as_str()]);
        let live: Vec<&Run> = runs.iter().filter(|run| !run.status.is_terminal() && !rests(run)).collect();
        let what = match (live.iter().any(|run| !run.open_interrupts.is_empty()), &live[..]) {
            (_, []) => "",
            (true, _) => " A request waits for your decision.",
            (false, _) if self.embedded.is_some() => " The work stops until then.",
            (false, _) => " The work continues.",
        };
        print_lines(&paint.message(&format!("You left the conversation.{what} To come back:"), 2));
        print_text(&format!("  {} chat --session {session}{words}", holdshort()));
        Ok(if live.is_empty() { Exit::Ok } else { Exit::Waiting })
    }
}
