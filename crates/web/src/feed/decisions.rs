//! The feed of an external agent: how the agent's interrupts were resolved, oldest first.
//!
//! Each item is the current state of an interrupt. Its cursor is the position of the event that resolved the interrupt.

use futures::stream::{BoxStream, StreamExt};
use holdshort_core::id::InterruptId;
use holdshort_protocol::{AgentDecision, Event, List};

use super::{EncodedFrame, Item, Previews, Source, Visibility};
use crate::auth::Caller;
use crate::problem::{Answer, Refused};
use crate::view;

/// Returns a page of decisions. The page has fewer than `limit` decisions if too many other events had to be scanned.
/// The next request continues the scan at the cursor of the page.
pub async fn page(after: u64, caller: &Caller, limit: usize) -> Answer<List<AgentDecision>> {
    let List { items, next_cursor } =
        super::page(Source::Decisions { after }, Visibility::for_caller(caller.clone()), limit).await?;
    let mut decisions = Vec::with_capacity(items.len());
    for event in items {
        decisions.push(decision(caller, event).await?);
    }
    Ok(List { items: decisions, next_cursor })
}

/// Returns the decisions after a position, then each new decision.
pub(super) fn follow(after: u64, caller: Caller) -> BoxStream<'static, Item> {
    let events =
        super::follow(Source::Decisions { after }, Visibility::for_caller(caller.clone()), Previews::Hidden);
    let told = events.then(move |item| {
        let caller = caller.clone();
        async move {
            let Item::Event(words) = item else { return item };
            let event = serde_json::from_str(words.json()).map_err(|_| unreadable());
            let decision = match event {
                Ok(event) => decision(&caller, event).await,
                Err(refused) => Err(refused),
            };
            match decision {
                Ok(decision) => {
                    Item::Event(EncodedFrame::from_value("decision", &decision.position, &decision))
                }
                Err(refused) => Item::Problem(refused),
            }
        }
    });
    told.boxed()
}

async fn decision(caller: &Caller, event: Event) -> Answer<AgentDecision> {
    let id: Option<InterruptId> = event.data["interrupt"].as_str().and_then(|id| id.parse().ok());
    let (Some(id), Some(position)) = (id, event.position) else { return Err(unreadable()) };
    // Boxed, because the futures are large, and decisions are rarer than events.
    let asked = Box::pin(caller.app.find_interrupt(&id)).await?;
    let reader = caller.reader().await?;
    let interrupt = Box::pin(view::now::interrupt(&caller.app, &asked, &reader)).await?;
    Ok(AgentDecision { position, interrupt })
}

fn unreadable() -> Refused {
    Refused::from_code(holdshort_protocol::Code::JournalDamaged)
}
