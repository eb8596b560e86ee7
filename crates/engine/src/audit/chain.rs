//! The hash chain over all events, in the order of their positions. The audit computes the heads of the chain, and
//! compares them with the heads in the store and with the heads that people wrote down.

use std::collections::BTreeMap;

use holdshort_core::digest::Digest;
use holdshort_core::head::{Head, HeadNote};
use holdshort_core::tree::Growing;
use holdshort_store::{Error, Journal};

use super::{Compared, Finding, JOURNAL, PAGE, Report, count_events};

/// Recomputes every head of the journal's hash chain. `written` is the position of the last event in the journal when
/// the audit started.
pub(super) async fn verify<J: Journal>(
    journal: &J,
    written: u64,
    noted: &[HeadNote],
    report: &mut Report,
) -> Result<(), Error> {
    let mut walk = Walk {
        head: Head::START,
        tree: Growing::default(),
        position: 0,
        sealed: 0,
        is_broken: false,
        heads: BTreeMap::new(),
    };
    walk.heads.extend(noted.iter().map(|noted| (noted.events, None)));
    let walked = walk.all(journal, report).await;
    report.note(JOURNAL, walked)?;
    if walk.position < written {
        let (position, missing) = (walk.position, "the last events are missing");
        report.add(
            JOURNAL,
            format!(
                "{missing}: the journal had events up to position {written}, but ends at position {position}"
            ),
        );
    }
    report.head = walk.head;
    report.unsealed = walk.head.events - walk.sealed;
    for noted in noted {
        let there = walk.heads.get(&noted.events).copied().flatten();
        let holds = there.is_some_and(|(head, root)| noted.is(&head, &root));
        report.against.push(Compared { noted: noted.clone(), holds });
        if there.is_none() {
            let has = count_events(walk.head.events);
            report.add(
                JOURNAL,
                format!("the journal has {has}, but the noted head is {noted}: events are missing"),
            );
        } else if !holds {
            let first = match noted.events {
                1 => "the first event does".to_owned(),
                events => format!("the first {events} events do"),
            };
            report.add(
                JOURNAL,
                format!(
                    "{first} not match the noted head {noted}: the journal was changed, or is a different \
                    journal"
                ),
            );
        }
    }
    Ok(())
}

struct Walk {
    head: Head,
    tree: Growing,
    position: u64,
    /// Number of events that the store has added to the hash chain over the whole journal.
    sealed: u64,
    /// True after the first place at which the chain does not match its events. All later mismatches follow from the
    /// first one, so they are not reported.
    is_broken: bool,
    /// Heads that people wrote down, by their numbers of events. A value is the head and the Merkle root that the audit
    /// computed after that number of events, or `None` if the audit has not read so many events yet.
    heads: BTreeMap<u64, Option<(Head, Digest)>>,
}

impl Walk {
    async fn all<J: Journal>(&mut self, journal: &J, report: &mut Report) -> Result<(), Finding> {
        self.meet();
        loop {
            let page = journal.links(self.position, PAGE).await?;
            for link in &page {
                self.head = self.head.then(&link.hash);
                self.tree.event(&link.hash);
                self.position = link.position;
                self.meet();
                let Some(kept) = link.sealed else { continue };
                self.sealed = self.head.events;
                if kept != self.head && !self.is_broken {
                    self.is_broken = true;
                    let (event, position) = (self.head.events, self.position);
                    report.add(
                        JOURNAL,
                        format!(
                            "the chain over all events breaks at event {event}, position {position}: at or \
                             before it, an event was changed, removed, inserted or reordered"
                        ),
                    );
                }
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    fn meet(&mut self) {
        if let Some(head) = self.heads.get_mut(&self.head.events) {
            *head = Some((self.head, self.tree.root()));
        }
    }
}
