//! Settings for one kind of interrupt, in a workflow or in one phase.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::interrupt::{Assignment, Effect, Escalation, Reminders, Timing};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct KindGate {
    /// Options that the interrupt offers, in the order of display. If the list is empty, the interrupt offers all
    /// options of the kind, in the order of the option table.
    pub options: Vec<String>,
    /// Labels of the options, by option id.
    pub labels: BTreeMap<String, String>,
    /// Effect of the option `reject`. The option table lists the possible effects.
    pub reject: Option<Effect>,
    /// Effect of the option `respond`. The option table lists the possible effects.
    pub respond: Option<Effect>,
    pub expires_in_ms: Option<u64>,
    /// Option that takes effect when the interrupt expires.
    pub on_expiry: Option<String>,
    /// Stages in which people decide, with their approvers. If `None`, admins and operators decide.
    pub assignment: Option<Assignment>,
    pub reminders: Option<Reminders>,
    /// Escalation steps. If empty, the interrupt is not escalated.
    pub escalation: Vec<Escalation>,
    /// True if the times of reminders, escalation and expiry are computed in working hours of the approvers' groups.
    pub working_time: Option<bool>,
}

/// Settings for one kind of interrupt, as a definition stores them. An assignment with a single plain stage is stored
/// as `approvers` and `quorum`. Earlier versions stored all assignments like this, because assignments had only one
/// stage.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
    labels: BTreeMap<String, String>,
    reject: Option<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    respond: Option<Effect>,
    expires_in_ms: Option<u64>,
    on_expiry: Option<String>,
    approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quorum: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignment: Option<Assignment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminders: Option<Reminders>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    escalation: Vec<Escalation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    working_time: Option<bool>,
}

impl From<Stored> for KindGate {
    fn from(stored: Stored) -> Self {
        let Stored {
            options,
            labels,
            reject,
            respond,
            expires_in_ms,
            on_expiry,
            approvers,
            quorum,
            assignment,
            ..
        } = stored;
        let Stored { reminders, escalation, working_time, .. } = stored;
        let is_said = !approvers.is_empty() || quorum.is_some();
        let simple = is_said.then(|| Assignment::simple(approvers, quorum.unwrap_or(1)));
        Self {
            options,
            labels,
            reject,
            respond,
            expires_in_ms,
            on_expiry,
            assignment: assignment.or(simple),
            reminders,
            escalation,
            working_time,
        }
    }
}

impl From<KindGate> for Stored {
    fn from(gate: KindGate) -> Self {
        let KindGate { options, labels, reject, respond, expires_in_ms, on_expiry, assignment, .. } = gate;
        let KindGate { reminders, escalation, working_time, .. } = gate;
        let simple = assignment.as_ref().and_then(Assignment::as_simple);
        let simple = simple.map(|(approvers, quorum)| (approvers.to_vec(), quorum));
        let (approvers, quorum, assignment) = match simple {
            Some((approvers, 1)) if !approvers.is_empty() => (approvers, None, None),
            Some((approvers, quorum)) => (approvers, Some(quorum), None),
            None => (Vec::new(), None, assignment),
        };
        Self {
            options,
            labels,
            reject,
            respond,
            expires_in_ms,
            on_expiry,
            approvers,
            quorum,
            assignment,
            reminders,
            escalation,
            working_time,
        }
    }
}

impl KindGate {
    /// Returns these settings, completed from `usual`. Only settings that are missing here are taken from `usual`.
    /// Labels are merged for each option. Lists are not merged.
    pub fn over(&self, usual: Self) -> Self {
        let list = |own: &Vec<String>, usual| if own.is_empty() { usual } else { own.clone() };
        let mut labels = usual.labels;
        labels.extend(self.labels.clone());
        Self {
            options: list(&self.options, usual.options),
            labels,
            reject: self.reject.or(usual.reject),
            respond: self.respond.or(usual.respond),
            expires_in_ms: self.expires_in_ms.or(usual.expires_in_ms),
            on_expiry: self.on_expiry.clone().or(usual.on_expiry),
            assignment: self.assignment.clone().or(usual.assignment),
            reminders: self.reminders.or(usual.reminders),
            escalation: if self.escalation.is_empty() { usual.escalation } else { self.escalation.clone() },
            working_time: self.working_time.or(usual.working_time),
        }
    }

    /// Returns the settings for reminders, escalation and working time.
    pub fn timing(&self) -> Timing {
        Timing {
            reminders: self.reminders,
            escalation: self.escalation.clone(),
            working_time: self.working_time.unwrap_or_default(),
        }
    }

    /// Returns the assignment in these settings, or the default assignment if the settings contain none.
    pub fn assigned(&self) -> Assignment {
        self.assignment.clone().unwrap_or_default()
    }
}
