//! Commands of a conversation, which begin with `/`. A line that begins with `/` is never sent to the agent. An unknown
//! command is reported.

use holdshort_protocol::{
    Event, Grant, GrantScope, Interrupt, Kind, List, Plan, Run, Session, SessionState, UndoChanges, plain,
};
use serde_json::{Value, json};

use super::{Chat, Next};
use crate::plural::count;
use crate::terminal::card::{self, View};
use crate::terminal::{plan, quote, time};

const HELP: [(&str, &str); 10] = [
    ("/plan", "show the plan of the current task, or of the last task"),
    ("/continue", "after an interruption: let the agent continue as before"),
    ("/pause", "pause the work; /resume continues the work"),
    ("/done", "end the task; your next message starts a new task"),
    ("/grants", "list the grants of this session; /grants revoke N revokes grant N"),
    ("/undo", "show the changes of the last task, and undo these changes after your approval"),
    ("/cost", "show tokens, requests and time of the last task and of the session"),
    ("/help", "show this list"),
    ("/quit", "leave; the conversation is kept"),
    ("Ctrl-C", "interrupt the agent, even during a reply or a command; press twice to leave"),
];

/// Name of the workflow whose runs undo changes. Such a run is not counted as work of the conversation.
const UNDO: &str = "undo";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    input: u64,
    output: u64,
    requests: u64,
    tools: u64,
    ms: i64,
}

impl Chat<'_> {
    pub(super) async fn slash(&mut self, line: &str) -> anyhow::Result<Next> {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let done = match (word, rest) {
            ("quit" | "exit", "") => return Ok(Next::Over),
            ("help" | "?", "") => {
                self.help();
                Ok(())
            }
            ("plan", "") => self.plan().await,
            ("pause", "") => self.pause().await,
            ("resume", "") => self.resume().await,
            ("grants", _) => self.grants(rest).await,
            ("continue" | "done", "") => {
                if !self.answer_turns(word).await {
                    self.note(if word == "done" {
                        "There is no task to end. Your next message goes to the agent or starts a task."
                    } else {
                        "Nothing is interrupted."
                    });
                }
                Ok(())
            }
            ("undo", "") => self.undo().await,
            ("cost", "") => self.cost().await,
            (known, _) if HELP.iter().any(|(name, _)| name.strip_prefix('/') == Some(known)) => {
                self.note(&format!("/{known} takes no arguments, so nothing was sent."));
                Ok(())
            }
            _ => {
                let word = quote::brief(word, 40);
                self.note(&format!(
                    "There is no command /{word}, so nothing was sent. /help lists the commands. To send a \
                     message that begins with a slash, type a space before the slash."
                ));
                Ok(())
            }
        };
        if let Err(error) = done {
            self.refused(&error);
        }
        Ok(Next::On)
    }

    fn help(&self) {
        let mut lines = vec![String::new()];
        let line = |(name, what): &(&str, &str)| {
            self.paint.fold(&format!("  {name:9} {}", self.paint.dim(what)), 12)
        };
        lines.extend(HELP.iter().flat_map(line));
        let rest = "Any other text is a message to the agent, even while it works. A line that ends with \\ continues \
                    on the next line, as with Alt-Enter. Several pasted lines are one message.";
        lines.extend(self.paint.fold(&format!("  {rest}"), 2));
        self.keyboard.print(&lines);
    }

    async fn plan(&self) -> anyhow::Result<()> {
        let Some(run) = &self.front else {
            self.note("No task was started yet.");
            return Ok(());
        };
        let plans: List<Plan> = self.client.get(&format!("/v1/runs/{run}/plans")).await?;
        let mut lines: Vec<String> =
            plans.items.iter().flat_map(|each| plan::render(each, self.paint)).collect();
        if lines.is_empty() {
            // Latest plan that an agent proposed on its own, whether or not a person has already decided on it.
            let asked = self.client.list("/v1/interrupts", &[("run", run)]).await?;
            let asked: Vec<Interrupt> =
                asked.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
            let mut plans: Vec<&Interrupt> =
                asked.iter().filter(|each| each.kind == Kind::PlanApproval).collect();
            plans.sort_by(|a, b| a.created_at.cmp(&b.created_at));
            if let Some(last) = plans.last() {
                lines = card::render(last, View { paint: self.paint, uncut: true, alone: false, said: "" });
                lines.extend(card::resolution(last, self.paint));
            }
        }
        let is_over = self.live_front().is_none();
        match (is_over, lines.is_empty()) {
            (true, true) => {
                self.note("No task is running. The last task is done and had no plan.");
            }
            (true, false) => {
                self.note("No task is running. The last task is done. The plan of this task was:");
            }
            (false, true) => self.note("There is no plan."),
            (false, false) => {}
        }
        self.keyboard.print(&lines);
        Ok(())
    }

    async fn pause(&mut self) -> anyhow::Result<()> {
        let Some(run) = self.live_front().filter(|_| self.turns.is_empty()) else {
            self.note("No task is running.");
            return Ok(());
        };
        let _: Run = self.client.post(&format!("/v1/runs/{run}/pause"), &json!({})).await?;
        self.note("Paused: your messages are kept and delivered after /resume.");
        Ok(())
    }

    async fn resume(&mut self) -> anyhow::Result<()> {
        let session: Session = self.client.get(&format!("/v1/sessions/{}", self.session)).await?;
        if session.state == SessionState::Suspended {
            let _: Value =
                self.client.post(&format!("/v1/sessions/{}/resume", self.session), &json!({})).await?;
        }
        let live = self.live();
        let mut resumed = session.state == SessionState::Suspended;
        for id in live {
            let run: Run = self.client.get(&format!("/v1/runs/{id}")).await?;
            if run.status == holdshort_protocol::Status::Paused {
                let _: Run = self.client.post(&format!("/v1/runs/{id}/resume"), &json!({})).await?;
                resumed = true;
            }
        }
        self.is_settled = None;
        if self.is_interrupted() {
            self.answer_turns("continue").await;
        } else if !resumed {
            self.note("Nothing is paused.");
        }
        Ok(())
    }

    async fn grants(&mut self, rest: &str) -> anyhow::Result<()> {
        if let Some(number) = rest.strip_prefix("revoke") {
            return self.revoke(number.trim()).await;
        }
        if !rest.is_empty() {
            self.note("/grants lists the grants, /grants revoke N revokes grant N.");
            return Ok(());
        }
        let items = self.client.list(&format!("/v1/sessions/{}/grants", self.session), &[]).await?;
        let mut lines = Vec::new();
        self.grants.clear();
        for item in items {
            let covered = GrantScope::from_value(&item).map(|covered| covered.describe()).unwrap_or_default();
            let grant: Grant = serde_json::from_value(item)?;
            if !time::is_to_come(grant.expires_at.as_deref()) || grant.revoked_at.is_some() {
                continue;
            }
            let number = self.grants.len() + 1;
            self.grants.push(grant.id);
            let until =
                grant.expires_at.as_ref().map(|at| format!(", until {}", time::at(at))).unwrap_or_default();
            lines.extend(self.paint.fold(
                &format!("  {} {}{until}", self.paint.bold(&number.to_string()), plain::line(&covered)),
                4,
            ));
        }
        if lines.is_empty() {
            self.note("This session has no grants.");
        } else {
            lines.push(self.paint.dim("  /grants revoke N revokes grant N"));
        }
        self.keyboard.print(&lines);
        Ok(())
    }

    /// Revokes the grant with this number in the list that the terminal printed last. The grants of the session may
    /// have changed since.
    async fn revoke(&mut self, number: &str) -> anyhow::Result<()> {
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(grant) = place.and_then(|place| self.grants.get(place)).cloned() else {
            self.note("There is no grant with this number; /grants lists the grants with their numbers.");
            return Ok(());
        };
        self.client.delete(&format!("/v1/grants/{grant}")).await?;
        self.note(&format!("The grant {grant} is revoked. The calls that it allowed need approval again."));
        Ok(())
    }

    async fn undo(&mut self) -> anyhow::Result<()> {
        // If the copilot waits for the person's turn, only the changes of its last round are undone.
        let turn = self.resting().map(|turn| turn.run.clone());
        let rests = |run: &Run| turn.as_ref() == Some(&run.id);
        let is_last = |run: &Run| (run.status.is_terminal() || rests(run)) && run.workflow != UNDO;
        let Some(last) = self.session_runs().await?.into_iter().find(is_last) else {
            self.note("This session has no finished task whose changes can be undone.");
            return Ok(());
        };
        let to = if rests(&last) { self.before_round(&last).await? } else { 0 };
        let undo: Run = self.client.post(&format!("/v1/runs/{}/undo", last.id), &UndoChanges { to }).await?;
        let (paint, words) = (self.paint, self.client.server_arguments());
        self.runs.entry(undo.id).or_insert_with(|| super::SessionRun::new(paint, words));
        self.is_settled = None;
        let task = last.task.as_deref().map(|task| quote::brief(task, paint.width / 2)).unwrap_or_default();
        self.note(&format!("The changes of “{task}” are undone after you approve the undo."));
        Ok(())
    }

    async fn cost(&self) -> anyhow::Result<()> {
        let runs = self.session_runs().await?;
        let mut whole = Cost::default();
        let mut lines = Vec::new();
        for run in &runs {
            let cost = self.cost_of(run).await?;
            if Some(&run.id) == self.front.as_ref() {
                lines.push(format!("  {:9} {}", "last", cost.describe()));
            }
            whole.add(cost);
        }
        let runs = count(u64::try_from(runs.len()).unwrap_or(u64::MAX), "run");
        lines.push(format!("  {:9} {}, {runs}", "session", whole.describe()));
        self.keyboard.print(&lines);
        Ok(())
    }

    async fn cost_of(&self, run: &Run) -> anyhow::Result<Cost> {
        let mut cost = Cost::default();
        let mut times: Option<(jiff::Timestamp, jiff::Timestamp)> = None;
        self.client
            .each_event(&run.id, |event| {
                cost.note(event);
                if let Ok(at) = event.at.parse::<jiff::Timestamp>() {
                    times = Some((times.map_or(at, |(first, _)| first), at));
                }
            })
            .await?;
        cost.ms = times.map_or(0, |(first, last)| last.as_millisecond() - first.as_millisecond());
        Ok(cost)
    }

    /// Returns the sequence number of the event that requested the last round of a run, or 0 if no further round was
    /// requested.
    async fn before_round(&self, run: &Run) -> anyhow::Result<u64> {
        let mut to = 0;
        self.client
            .each_event(&run.id, |event| {
                if event.kind == "round_wanted" {
                    to = event.seq;
                }
            })
            .await?;
        Ok(to)
    }

    async fn session_runs(&self) -> anyhow::Result<Vec<Run>> {
        let runs = self.client.list("/v1/runs", &[("session", &self.session)]).await?;
        Ok(runs.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?)
    }
}

impl Cost {
    fn note(&mut self, event: &Event) {
        match event.kind.as_str() {
            "model_started" => self.requests += 1,
            "tool_started" => self.tools += 1,
            "model_replied" => {
                let tokens = |name: &str| {
                    event.data.pointer(&format!("/usage/{name}")).and_then(Value::as_u64).unwrap_or_default()
                };
                self.input += tokens("input_tokens");
                self.output += tokens("output_tokens");
            }
            _ => {}
        }
    }

    fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.requests += other.requests;
        self.tools += other.tools;
        self.ms += other.ms;
    }

    fn describe(self) -> String {
        let seconds = self.ms / 1_000;
        let time = if seconds < 60 {
            format!("{seconds} s")
        } else {
            format!("{} min {} s", seconds / 60, seconds % 60)
        };
        format!(
            "{} tokens in, {} out; {}, {}; {time}",
            self.input,
            self.output,
            count(self.requests, "request"),
            count(self.tools, "call")
        )
    }
}
