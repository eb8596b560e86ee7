//! Handles lines that a person types while a card is shown. The prompt of the card parses a line. The resulting
//! decision is then sent, confirmed or rejected.

use holdshort_protocol::Decision;

use super::super::follow::takes_another_source;
use super::super::kill_switch;
use super::super::prompt::also;
use super::{
    Chat, Code, Editing, Interrupt, InterruptStatus, Next, Reaction, View, card, chosen, client, edit, help,
};

impl Chat<'_> {
    pub(super) async fn answer(&mut self, line: &str) -> anyhow::Result<Next> {
        let paint = self.paint;
        let Some(asking) = &mut self.asking else { return Ok(Next::On) };
        let in_script = !self.keyboard.is_live();
        let mut reaction = asking.prompt.read_conversation_line(line, in_script, paint);
        loop {
            let Some(asking) = &mut self.asking else { return Ok(Next::On) };
            match reaction {
                Reaction::Ask(mut lines) => {
                    // At a terminal the label in front of the cursor is already printed.
                    if in_script && !asking.prompt.is_choosing() {
                        lines.push(format!("  {}", asking.prompt.label().trim_end_matches("> ")));
                    }
                    self.keyboard.take_digits(asking.prompt.digits());
                    self.keyboard.print(&lines);
                    return Ok(Next::On);
                }
                Reaction::Help => {
                    reaction = Reaction::Ask(help::options(
                        &asking.prompt.interrupt,
                        self.client.server_arguments(),
                        paint,
                    ));
                }
                Reaction::Uncut => {
                    let view = View { paint, uncut: true, alone: false, said: "" };
                    let mut lines = card::render(&asking.prompt.interrupt, view);
                    lines.extend(card::options(&asking.prompt.interrupt, paint));
                    if asking.prompt.mark_shown_whole() && self.keyboard.is_live() {
                        self.client.looked(&asking.prompt.interrupt.id).await;
                    }
                    reaction = Reaction::Ask(lines);
                }
                Reaction::Detach => return Ok(Next::Over),
                Reaction::Freeze(why) => {
                    reaction = Reaction::Ask(kill_switch::freeze(self.client, why, paint).await);
                }
                Reaction::Edit(editing) => reaction = self.edit(&editing).await,
                Reaction::Decide(decision) => match self.decide(decision).await {
                    Some(lines) => reaction = Reaction::Ask(lines),
                    None => return Ok(Next::On),
                },
            }
        }
    }

    async fn edit(&mut self, editing: &Editing) -> Reaction {
        if !self.keyboard.is_live() {
            return Reaction::Ask(vec!["  An editor needs a terminal.".to_owned()]);
        }
        self.has_edited = true;
        self.keyboard.lend();
        let saved = edit::edit(&editing.text, editing.form.suffix()).await;
        self.keyboard.take_back();
        match (saved, &mut self.asking) {
            (Ok(saved), Some(asking)) => asking.prompt.edited(editing, &saved, self.paint),
            (Ok(_), None) => Reaction::Ask(Vec::new()),
            (Err(error), _) => {
                Reaction::Ask(vec![format!("  {}", self.paint.red(&crate::output::error(&error)))])
            }
        }
    }

    /// Sends a decision to the server and prints the result. Returns lines to print if the person has to decide again.
    async fn decide(&mut self, decision: Decision) -> Option<Vec<String>> {
        let prompt = &mut self.asking.as_mut()?.prompt;
        // A script gets no list of covered calls: its next line was written before anyone could read the list.
        if self.keyboard.is_live()
            && let Some(lines) = prompt.ask_also(self.client, &decision, self.paint).await
        {
            return Some(lines);
        }
        let id = prompt.interrupt.id.clone();
        let decision = if self.keyboard.is_live() { prompt.timed(decision) } else { decision };
        match self.client.post::<Interrupt>(&format!("/v1/interrupts/{id}/decisions"), &decision).await {
            Ok(interrupt) => {
                if let Some(known) = self.runs.get_mut(&interrupt.run) {
                    known.projector.mark_decided_here(&id);
                }
                let mut lines = vec![format!(
                    "  {} {}",
                    self.paint.green("✓"),
                    chosen(&interrupt, &decision, self.paint)
                )];
                if interrupt.status == InterruptStatus::Open {
                    lines.push(self.paint.dim("    another approver has to agree too"));
                }
                lines.extend(also::released(&interrupt).map(|released| format!("    {released}")));
                if card::revoke_command(&interrupt, "").is_some() {
                    lines.push(self.paint.dim("    /grants lists the grant, /grants revoke N revokes it"));
                }
                self.open.retain(|open| *open != id);
                self.put_away();
                self.keyboard.print(&lines);
                None
            }
            Err(error) => match client::code(&error) {
                Some(Code::AlreadyResolved | Code::Expired | Code::RunEnded) => {
                    self.open.retain(|open| *open != id);
                    self.note(&crate::output::error(&error));
                    self.withdraw();
                    None
                }
                // The interrupt has changed, so its card is shown again.
                Some(Code::Stale) => {
                    self.note("The request changed after you read it.");
                    self.withdraw();
                    None
                }
                Some(_) | None => {
                    let text = crate::output::error(&error);
                    let fold = |line: &str| self.paint.fold(&format!("  {}", self.paint.red(line)), 4);
                    let mut told: Vec<String> = text.lines().flat_map(fold).collect();
                    if takes_another_source(&error) {
                        self.put_away();
                        self.keyboard.print(&told);
                        return None;
                    }
                    if let Some(asking) = &mut self.asking {
                        told.extend(asking.prompt.refused(client::errors(&error), self.paint));
                    }
                    Some(told)
                }
            },
        }
    }
}
