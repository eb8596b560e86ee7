//! Open interrupts that name a person who is removed.

use holdshort_core::actor::Actor;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Assignment, mark};
use holdshort_core::people::People;
use holdshort_protocol as wire;
use holdshort_store::{InterruptFilter, Tables};

use super::assignment::Reader;
use super::interrupt;
use crate::app::App;
use crate::limits::LEFT_INTERRUPTS;

/// Open interrupts whose assignment names a person. Read before the removal, since an assignment that the removal
/// empties does not name the person any more.
pub struct Named {
    asked: Vec<Asked>,
    is_cut: bool,
}

struct Asked {
    id: InterruptId,
    kind: wire::Kind,
    title: String,
    assignment: Assignment,
    starter: Option<Actor>,
}

/// Reads the open interrupts that name a person. A failed read must not prevent the removal.
pub async fn named(app: &App, person: &str, reader: &Reader) -> Named {
    let marks = Some(vec![mark::person(person)]);
    let filter = InterruptFilter { marks, open: Some(true), ..InterruptFilter::default() };
    let page = match app.journal().interrupts(&filter, None, LEFT_INTERRUPTS).await {
        Ok(page) => page,
        Err(error) => {
            tracing::error!(%error, "the open interrupts of a person who leaves cannot be listed");
            return Named { asked: Vec::new(), is_cut: true };
        }
    };
    let mut named = Named { asked: Vec::new(), is_cut: page.next.is_some() };
    for row in &page.items {
        let (interrupt, starter) = match interrupt::read(app, row).await {
            Ok(read) => read,
            Err(refused) => {
                tracing::error!(
                    interrupt = %row.interrupt, detail = %refused.0.detail,
                    "an open interrupt of a person who leaves cannot be read"
                );
                named.is_cut = true;
                continue;
            }
        };
        // A delegate has a mark, too, but the assignment does not name them.
        if !interrupt.is_open() || !interrupt.assignment.named().0.contains(person) {
            continue;
        }
        let covered = reader.covered(&interrupt);
        let title = covered.as_ref().map_or(&interrupt, |covered| &covered.interrupt).content_text("title");
        named.asked.push(Asked {
            id: row.interrupt.clone(),
            kind: interrupt::kind(interrupt.opened.kind),
            title: title.to_owned(),
            assignment: interrupt.assignment.clone(),
            starter,
        });
    }
    named
}

impl Named {
    /// Returns the interrupts, and whether the remaining people can decide on them.
    pub fn left_to(self, people: &People) -> wire::RemovedPerson {
        let Self { asked, is_cut } = self;
        let left = |Asked { id, kind, title, assignment, starter }: Asked| {
            let starter = starter.as_ref().map(|starter| starter.id.as_str());
            let others_may_decide = assignment.lack(people, starter).is_none();
            wire::LeftInterrupt { id: id.to_string(), kind, title, others_may_decide }
        };
        wire::RemovedPerson { interrupts: asked.into_iter().map(left).collect(), more: is_cut }
    }
}
