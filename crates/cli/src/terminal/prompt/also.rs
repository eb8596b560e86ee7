//! Other open calls that a grant would approve too. They are listed before the grant is given, and the person chooses
//! which of them to approve.

use holdshort_protocol::{AlsoCovered, Decision, Interrupt, InterruptStatus, Offer, plain};

use super::{Paint, Prompt, Reaction, Stage};
use crate::client::Client;

/// Prompt below the list of other open calls that a grant would approve.
pub(crate) const KEYS: &str = "y releases all, n none of them; or type the numbers to release> ";

/// Lists the other open calls that a grant would approve. Returns no lines if there are none.
pub(crate) fn list(covered: &[AlsoCovered], paint: Paint) -> Vec<String> {
    let Some(count) = Some(covered.len()).filter(|count| *count > 0) else { return Vec::new() };
    let calls = if count == 1 { "1 other open call" } else { &format!("{count} other open calls") };
    let head = paint.fold(&format!("  The grant would also cover {calls}:"), 4);
    let lines = covered.iter().enumerate().flat_map(|(at, each)| {
        let title = plain::line(&each.title);
        paint.fold(&format!("  {:>3}  {title}  ({})", at + 1, each.interrupt), 7)
    });
    head.into_iter().chain(lines).collect()
}

/// Adds to the decision the open calls that the person chose to approve with the grant. Returns `None` if the typed
/// line is no valid reply to the list of calls.
pub(crate) fn answered(decision: &Decision, covered: &[AlsoCovered], line: &str) -> Option<Decision> {
    let all = || covered.iter().map(|each| each.interrupt.clone());
    let also = match line.trim().to_lowercase().as_str() {
        "y" | "yes" => all().collect(),
        "n" | "no" => Vec::new(),
        numbers => {
            let words = numbers.split([' ', ',']).filter(|word| !word.is_empty());
            let mut places = words.map(|word| word.parse::<usize>().ok()).collect::<Option<Vec<_>>>()?;
            places.sort_unstable();
            places.dedup();
            let kept = |at: usize| covered.get(at.checked_sub(1)?).map(|each| each.interrupt.clone());
            let kept = places.into_iter().map(kept).collect::<Option<Vec<_>>>()?;
            Some(kept).filter(|kept| !kept.is_empty())?
        }
    };
    Some(Decision { also, also_shown: all().collect(), ..decision.clone() })
}

/// Describes how many other open calls were approved by the grant of a decision. Returns `None` if there were none.
pub(crate) fn released(interrupt: &Interrupt) -> Option<String> {
    interrupt.resolution.as_ref()?.also_words()
}

impl Prompt {
    /// Reads from the server which other open calls a grant would approve. Returns the lines with which the person is
    /// asked about these calls, or `None` if the decision can be sent unchanged.
    pub(crate) async fn ask_also(
        &mut self,
        client: &Client,
        decision: &Decision,
        paint: Paint,
    ) -> Option<Vec<String>> {
        let gives_grant = self.interrupt.offer(&decision.option).is_some_and(Offer::gives_grant);
        if !gives_grant || !decision.also_shown.is_empty() {
            return None;
        }
        let path = format!("/v1/interrupts/{}", self.interrupt.id);
        let now = client.get::<Interrupt>(&path).await.ok()?;
        if now.status != InterruptStatus::Open || now.also_covers.is_empty() {
            return None;
        }
        self.interrupt.also_covers = now.also_covers;
        self.stage = Stage::Also(decision.clone());
        Some(list(&self.interrupt.also_covers, paint))
    }

    /// Handles the person's reply to the list of other open calls that a grant would approve.
    pub(super) fn also(&mut self, decision: Decision, line: &str, paint: Paint) -> Reaction {
        if let Some(decision) = answered(&decision, &self.interrupt.also_covers, line) {
            return Reaction::Decide(decision);
        }
        let shown = list(&self.interrupt.also_covers, paint);
        self.stage = Stage::Also(decision);
        Reaction::Ask(shown)
    }
}
