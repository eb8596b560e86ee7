//! Lookups that a step needs: digests of files, checks of edited calls, and recipients of earlier notifications. The
//! lock of the run is not held during a lookup. A result can be used until the run changes.

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

/// Maximum number of times that one step of a run is repeated because more lookups were needed.
const ROUNDS: usize = 20;

/// A lookup whose result a step needs before it can go on.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Digests of the files that a call depends on.
    Files(Vec<String>),
    /// Check of the edited arguments of a call, after a person has edited them.
    Check { tool: String, arguments: Value },
    /// People whom this channel already asked to decide on this interrupt.
    Recipients { channel: String, interrupt: InterruptId },
}

/// Lookups that a step needs and that have no result yet.
#[derive(Debug)]
pub(super) struct Missing {
    run: Arc<Run>,
    /// Sequence number of the run's last event when the step requested the lookups. Their results are valid until the
    /// run gets another event.
    seq: u64,
    lookups: Vec<Lookup>,
}

impl Missing {
    /// Creates the list of missing lookups. Returns `None` if `lookups` is empty. `run` is the state of the run after
    /// the step.
    pub(super) fn new(run: &Run, seq: u64, lookups: Vec<Lookup>) -> Option<Self> {
        (!lookups.is_empty()).then(|| Self { run: Arc::new(run.clone()), seq, lookups })
    }
}

/// Results of lookups.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    rounds: usize,
    seq: u64,
    files: BTreeMap<Vec<String>, Vec<Precondition>>,
    checks: Vec<(String, Value, Result<(), Unfit>)>,
    recipients: BTreeMap<(String, InterruptId), Vec<Option<Recipient>>>,
}

impl Lookups {
    /// Returns the results of the lookups if `seq` is still the last event of the run. Returns `None` if the run has
    /// changed since then.
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
    /// Performs the missing lookups and adds their results to `lookups`.
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

    /// Returns the recipients whom a channel asked to decide on an interrupt.
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
            // Skips old notices whose content, including the recipient, has been deleted.
            let Ok(Notice { to, .. }) = json::from_slice(sent.notice.as_bytes()) else { continue };
            if !recipients.contains(&to) {
                recipients.push(to);
            }
        }
        Ok(recipients)
    }
}
