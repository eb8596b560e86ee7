//! Open interrupts that are assigned to a person who is being removed.

use holdshort_core::actor::Actor;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Assignment, assignee_index};
use holdshort_core::people::People;
use holdshort_protocol as wire;
use holdshort_store::{InterruptFilter, Tables};

use super::assignment::Reader;
use super::interrupt;
use crate::app::App;
use crate::limits::LEFT_INTERRUPTS;

/// Open interrupts that have a person among their approvers, read before this person is removed, because the removal
/// can change the assignments.
pub struct OpenAssignments {
    asked: Vec<OpenAssignment>,
    is_cut: bool,
}

struct OpenAssignment {
    id: InterruptId,
    kind: wire::Kind,
    title: String,
    assignment: Assignment,
    starter: Option<Actor>,
}

/// Reads the open interrupts that have a person among their approvers. An error is only logged, so that it does not
/// prevent the removal of the person.
pub async fn find_open_assignments(app: &App, person: &str, reader: &Reader) -> OpenAssignments {
    let marks = Some(vec![assignee_index::person(person)]);
    let filter = InterruptFilter { marks, open: Some(true), ..InterruptFilter::default() };
    let page = match app.journal().interrupts(&filter, None, LEFT_INTERRUPTS).await {
        Ok(page) => page,
        Err(error) => {
            tracing::error!(%error, "the open interrupts of a removed person cannot be listed");
            return OpenAssignments { asked: Vec::new(), is_cut: true };
        }
    };
    let mut named = OpenAssignments { asked: Vec::new(), is_cut: page.next.is_some() };
    for row in &page.items {
        let (interrupt, starter) = match interrupt::read(app, row).await {
            Ok(read) => read,
            Err(refused) => {
                tracing::error!(
                    interrupt = %row.interrupt, detail = %refused.0.detail,
                    "an open interrupt of a removed person cannot be read"
                );
                named.is_cut = true;
                continue;
            }
        };
        // The index also finds interrupts of which the person is only a delegate. The assignments of such interrupts do
        // not contain the person.
        if !interrupt.is_open() || !interrupt.assignment.people_and_groups().0.contains(person) {
            continue;
        }
        let covered = reader.covered(&interrupt);
        let title = covered.as_ref().map_or(&interrupt, |covered| &covered.interrupt).content_text("title");
        named.asked.push(OpenAssignment {
            id: row.interrupt.clone(),
            kind: interrupt::kind(interrupt.opened.kind),
            title: title.to_owned(),
            assignment: interrupt.assignment.clone(),
            starter,
        });
    }
    named
}

impl OpenAssignments {
    /// Returns the interrupts that the removed person leaves open. Each of them has a flag that is true if the
    /// remaining people can decide.
    pub fn into_removed_person(self, people: &People) -> wire::RemovedPerson {
        let Self { asked, is_cut } = self;
        let left = |OpenAssignment { id, kind, title, assignment, starter }: OpenAssignment| {
            let starter = starter.as_ref().map(|starter| starter.id.as_str());
            let others_may_decide = assignment.find_shortage(people, starter).is_none();
            wire::LeftInterrupt { id: id.to_string(), kind, title, others_may_decide }
        };
        wire::RemovedPerson { interrupts: asked.into_iter().map(left).collect(), more: is_cut }
    }
}
