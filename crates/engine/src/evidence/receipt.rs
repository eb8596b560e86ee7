//! A receipt contains every event that concerns one interrupt, each with a proof that a checkpoint covers the event.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::event::{self, Fact};
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::interrupt::About;
use holdshort_core::run;
use holdshort_core::tree;
use holdshort_store::{Error, Journal};
use serde_json::Value;

use super::tree::Tree;

/// The events that concern an interrupt, with their proofs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub events: Vec<EventProof>,
}

/// An event, and the path from the event to the root of the Merkle tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventProof {
    pub event: Sealed,
    /// Hash of the previous event in the same stream. All zeros for the first event of a stream.
    pub previous: Digest,
    /// Index of the event among all events of the journal, counted from 0.
    pub index: u64,
    /// Hashes on the path from the event's leaf to the root of the Merkle tree (RFC 9162, 2.1.3).
    pub path: Vec<Digest>,
}

/// Number of events of the run that are read at a time.
const PAGE: usize = 500;

impl Receipt {
    /// Returns the receipt with the events that concern the interrupt, each with its proof in the Merkle tree over the
    /// first `size` events of the journal. Returns `None` if the position of an event in the journal is not final yet.
    pub async fn for_interrupt<J: Journal>(
        journal: &J,
        tree: &Tree<J>,
        run: &RunId,
        interrupt: &InterruptId,
        size: u64,
    ) -> Result<Option<Self>, Error> {
        let mut events = Vec::new();
        for (event, previous) in concerning(journal, run, interrupt).await? {
            let Some(position) = journal.position(&event.stream, event.seq).await? else { return Ok(None) };
            let Some(index) = tree.index(position).await? else { return Ok(None) };
            // The event was written after the checkpoint, so it belongs to a later receipt.
            let Some(ranges) = tree::inclusion(index, size) else { break };
            events.push(EventProof { event, previous, index, path: tree.proof(&ranges).await? });
        }
        Ok(Some(Self { events }))
    }
}

/// Returns the events of the run that concern the interrupt, each with the hash of the previous event. The events are
/// the start of the run, the opening of the interrupt, each decision, the resolution, and the execution of the call.
async fn concerning<J: Journal>(
    journal: &J,
    run: &RunId,
    interrupt: &InterruptId,
) -> Result<Vec<(Sealed, Digest)>, Error> {
    let stream = StreamId::Run(run.clone());
    let (mut found, mut previous, mut after) = (Vec::new(), Digest::ZERO, 0);
    let mut call: Option<String> = None;
    loop {
        let page = journal.read(&stream, after, PAGE).await?;
        let is_last = page.len() < PAGE;
        for event in page {
            let before = std::mem::replace(&mut previous, event.hash);
            after = event.seq;
            let head: Value = serde_json::from_slice(&event.head).map_err(|error| damaged(&event, &error))?;
            let fact = |name: &str| head.pointer(name).and_then(Value::as_str);
            let is_of_it = fact("/facts/interrupt") == Some(interrupt.as_str());
            let is_of_its_call = call.is_some() && fact("/facts/call") == call.as_deref();
            if is_of_it && call.is_none() {
                call = asked_about(&event)?;
            }
            if is_of_it || is_of_its_call || event.seq == 1 {
                found.push((event, before));
            }
        }
        if is_last {
            return Ok(found);
        }
    }
}

fn damaged(event: &Sealed, why: &dyn std::fmt::Display) -> Error {
    Error::Corrupt(format!("the event {}/{} cannot be read: {why}", event.stream, event.seq))
}

/// Returns the id of the call for which this event opens an interrupt. Returns `None` if the event
/// does not open an interrupt about a call.
fn asked_about(event: &Sealed) -> Result<Option<String>, Error> {
    let read = event::decode(event).map_err(|error| damaged(event, &error))?;
    let Fact::Run(run::Fact::InterruptOpened(opened)) = read.fact else { return Ok(None) };
    Ok(match opened.about {
        About::Call(call) => Some(call),
        About::BeforeStep(_)
        | About::AfterStep(_)
        | About::Phase(_)
        | About::Plan(_)
        | About::Failure(_)
        | About::Limit(_)
        | About::Printed(_)
        | About::Ending(_)
        | About::Round(_)
        | About::Interruption
        | About::Hold
        | About::External => None,
    })
}
