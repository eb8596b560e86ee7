//! Lookups that a step needs: digests of files, checks of edited calls, recipients that channels notified. They are
//! made without the lock of the run, and are valid until the run changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdshort_core::delivery::DeliveryState;
use holdshort_core::id::InterruptId;
use holdshort_core::json;
use holdshort_core::notice::{Notice, Recipient};
use holdshort_core::run::Run;
use holdshort_core::tool::Precondition;
use holdshort_store::{DeliveryFilter, Journal};
use serde_json::Value;

use super::Driver;
use crate::outbox::limits::ASKED_OVER;
use crate::{Clock, Error, Executor, Unfit};

/// Maximum number of times that one step may find lookups missing.
const ROUNDS: usize = 20;

/// A lookup that is not made yet.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Digests of files that a call relies on.
    Files(Vec<String>),
    /// Check of the arguments of a call that a person edited.
    Check { tool: String, arguments: Value },
    /// Recipients that a channel asked to decide on an interrupt.
    Recipients { channel: String, interrupt: InterruptId },
}

/// Lookups that a step lacks.
#[derive(Debug)]
pub(super) struct Missing {
    run: Arc<Run>,
    /// Sequence of the run's last event for which the lookups are valid.
    seq: u64,
    lookups: Vec<Lookup>,
}

impl Missing {
    /// Returns `None` if nothing is missing. `run` is its state after the step.
    pub(super) fn new(run: &Run, seq: u64, lookups: Vec<Lookup>) -> Option<Self> {
        (!lookups.is_empty()).then(|| Self { run: Arc::new(run.clone()), seq, lookups })
    }
}

/// Results of the lookups that were made.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    rounds: usize,
    seq: u64,
    files: BTreeMap<Vec<String>, Vec<Precondition>>,
    checks: Vec<(String, Value, Result<(), Unfit>)>,
    recipients: BTreeMap<(String, InterruptId), Vec<Option<Recipient>>>,
}

impl Lookups {
    /// Returns `None` if the run has changed since the lookups were made.
    pub(super) fn at(&self, seq: u64) -> Option<&Self> {
        Some(self).filter(|_| self.seq == seq)
    }

    pub(super) fn files(&self, paths: &[String]) -> Option<&[Precondition]> {
        if paths.is_empty() { Some(&[]) } else { self.files.get(paths).map(Vec::as_slice) }
    }

    pub(super) fn check(&self, tool: &str, arguments: &Value) -> Option<&Result<(), Unfit>> {
        let made = self.checks.iter().find(|(of, with, _)| of == tool && with == arguments);
        made.map(|(.., fits)| fits)
    }

    pub(super) fn recipients(&self, channel: &str, interrupt: &InterruptId) -> Option<&[Option<Recipient>]> {
        self.recipients.get(&(channel.to_owned(), interrupt.clone())).map(Vec::as_slice)
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Makes the lookups that are missing.
    pub(super) async fn look_up(&self, missing: Missing, lookups: &mut Lookups) -> Result<(), Error> {
        lookups.rounds += 1;
        if lookups.rounds > ROUNDS {
            return Err(Error::Busy);
        }
        let Missing { run, seq, lookups: all } = missing;
        if lookups.seq != seq {
            *lookups = Lookups { rounds: lookups.rounds, seq, ..Lookups::default() };
        }
        for lookup in all {
            match lookup {
                Lookup::Files(paths) => {
                    let found = self.executor.observe(&run, &paths).await;
                    lookups.files.insert(paths, found);
                }
                Lookup::Check { tool, arguments } => {
                    let fits = self.executor.check_call(&run, &tool, &arguments).await;
                    lookups.checks.push((tool, arguments, fits));
                }
                Lookup::Recipients { channel, interrupt } => {
                    let found = self.recipients_of(&channel, &interrupt).await?;
                    lookups.recipients.insert((channel, interrupt), found);
                }
            }
        }
        Ok(())
    }

    /// Returns the recipients that a channel asked to decide on an interrupt.
    async fn recipients_of(
        &self,
        channel: &str,
        interrupt: &InterruptId,
    ) -> Result<Vec<Option<Recipient>>, Error> {
        let filter = DeliveryFilter {
            channel: Some(channel.to_owned()),
            state: None,
            interrupt: Some(interrupt.clone()),
        };
        let mut recipients = Vec::new();
        for sent in self.journal.deliveries(&filter, None, ASKED_OVER).await?.items {
            let has_left = sent.state == DeliveryState::Delivered || sent.node.is_some();
            if !sent.occasion.asks() || !has_left {
                continue;
            }
            // Old notices are forgotten, together with their recipients.
            let Ok(Notice { to, .. }) = json::from_slice(sent.notice.as_bytes()) else { continue };
            if !recipients.contains(&to) {
                recipients.push(to);
            }
        }
        Ok(recipients)
    }
}
