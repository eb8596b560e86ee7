//! Facts about an interrupt that are stored when it is opened, in the event `interrupt_opened`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Assignment, Due, EXPIRED, Kind, Offer, Timing, Withhold};
use crate::digest::Digest;
use crate::gate::Reason;
use crate::id::InterruptId;
use crate::level::Level;
use crate::time::Timestamp;

/// Level of risk, and the reasons for the level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Risk {
    pub level: Level,
    pub reasons: Vec<Reason>,
}

/// Subject of an interrupt, about which people decide: a step, call or phase of the run, the whole run, or a request of
/// an external agent. The result of the interrupt is applied to this subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum About {
    Call(String),
    BeforeStep(String),
    AfterStep(String),
    Phase(String),
    /// The interrupt is about the plan of the planning phase with this id.
    Plan(String),
    /// The interrupt is about the failure of the step with this id.
    Failure(String),
    /// The interrupt is about the step with this id, which reached a limit.
    Limit(String),
    /// The interrupt is about the step with this id, whose agent asked a question in the text of its reply instead of
    /// calling a tool.
    Printed(String),
    /// The interrupt is about the step with this id, whose agent replied in a way that is not allowed to end the step.
    Ending(String),
    /// The interrupt is about the copilot phase with this id, before or after one of its rounds.
    Round(String),
    /// The interrupt is about the whole run, which a person interrupted.
    Interruption,
    /// The interrupt is about the whole run, which a service has stopped until a person reviews the run.
    Hold,
    /// The interrupt is about a request of an external agent, which runs in another framework.
    External,
}

impl About {
    /// Returns the phase about which people decide. `None` if the interrupt is about anything else.
    pub fn phase(&self) -> Option<&str> {
        match self {
            Self::Phase(phase) | Self::Plan(phase) | Self::Round(phase) => Some(phase),
            Self::Call(_)
            | Self::BeforeStep(_)
            | Self::AfterStep(_)
            | Self::Failure(_)
            | Self::Limit(_)
            | Self::Printed(_)
            | Self::Ending(_)
            | Self::Interruption
            | Self::Hold
            | Self::External => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Opened {
    pub interrupt: InterruptId,
    pub kind: Kind,
    pub about: About,
    pub step: Option<String>,
    pub agent: Option<String>,
    pub options: Vec<Offer>,
    pub risk: Risk,
    pub action_digest: Option<Digest>,
    /// Version of the system policy at the time when the interrupt was opened.
    pub policy_version: u64,
    pub expires_at: Option<Timestamp>,
    pub on_expiry: String,
    /// Assignment at the time when the interrupt was opened.
    pub assignment: Assignment,
    /// Settings of the reminders and the escalation. Also contains the times of the first reminder (`remind_at`) and of
    /// the first escalation (`escalate_at`).
    pub timing: Timing,
    pub remind_at: Option<Timestamp>,
    pub escalate_at: Option<Timestamp>,
    pub supersedes: Option<InterruptId>,
    /// Number of milliseconds within which an external agent must use the approval.
    pub usable_ms: Option<u64>,
    /// Rules that hide parts of the interrupt from people with certain roles.
    pub withhold: Vec<Withhold>,
    /// True if the agent that asks receives a callback when the interrupt is resolved. Events never contain the address
    /// or the signing secret of the callback.
    pub callback: bool,
}

/// Field of the erasable content of `interrupt_opened` that contains the agent's labels for the options.
pub(crate) const LABELS: &str = "labels";

/// Field of the erasable content of `interrupt_opened` that contains the output of a trial.
pub(crate) const STREAMS: &str = "streams";

impl Opened {
    /// Moves the labels of the interrupt's options from the erasable content into the options. An option without a
    /// label in the content gets its label from the option table, or its id as the label. Earlier versions stored the
    /// labels in the facts instead.
    pub fn take_labels(&mut self, content: &mut Value) {
        let Some(labels) = content.as_object_mut().and_then(|members| members.remove(LABELS)) else { return };
        for offer in &mut self.options {
            if let Some(label) = labels.get(&offer.id).and_then(Value::as_str) {
                label.clone_into(&mut offer.label);
            }
        }
    }

    /// Returns the option that takes effect when the interrupt expires. `None` if the interrupt expires without an
    /// option, or if an earlier version of Holdshort recorded an option that needs a text.
    pub fn taken_on_expiry(&self) -> Option<&Offer> {
        self.options.iter().find(|offer| offer.id == self.on_expiry && offer.applies_alone())
    }

    /// Returns the id of the option that takes effect when the interrupt expires, or [`EXPIRED`] if no option takes
    /// effect.
    pub fn on_expiry(&self) -> &str {
        self.taken_on_expiry().map_or(EXPIRED, |offer| &offer.id)
    }

    pub(super) fn due(&self) -> Due {
        Due { remind_at: self.remind_at, escalate_at: self.escalate_at, ..Due::default() }
    }
}

/// Facts about an opened interrupt, as the journal stores them. An assignment with a single plain stage is stored as
/// `approvers` and `quorum`. Earlier versions stored all assignments like this, because assignments had only one stage.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    interrupt: InterruptId,
    kind: Kind,
    about: About,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    options: Vec<Offer>,
    risk: Risk,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action_digest: Option<Digest>,
    #[serde(default)]
    policy_version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    on_expiry: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quorum: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignment: Option<Assignment>,
    #[serde(default, skip_serializing_if = "Timing::is_plain")]
    timing: Timing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remind_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    escalate_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    supersedes: Option<InterruptId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usable_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    withhold: Vec<Withhold>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    callback: bool,
}

impl From<Stored> for Opened {
    fn from(stored: Stored) -> Self {
        let Stored { approvers, quorum, assignment, .. } = stored;
        Self {
            interrupt: stored.interrupt,
            kind: stored.kind,
            about: stored.about,
            step: stored.step,
            agent: stored.agent,
            options: stored.options,
            risk: stored.risk,
            action_digest: stored.action_digest,
            policy_version: stored.policy_version,
            expires_at: stored.expires_at,
            on_expiry: stored.on_expiry,
            assignment: assignment.unwrap_or_else(|| Assignment::simple(approvers, quorum.unwrap_or(1))),
            timing: stored.timing,
            remind_at: stored.remind_at,
            escalate_at: stored.escalate_at,
            supersedes: stored.supersedes,
            usable_ms: stored.usable_ms,
            withhold: stored.withhold,
            callback: stored.callback,
        }
    }
}

impl From<Opened> for Stored {
    fn from(opened: Opened) -> Self {
        let simple = opened.assignment.as_simple().map(|(approvers, quorum)| (approvers.to_vec(), quorum));
        let assignment = simple.is_none().then_some(opened.assignment);
        let (approvers, quorum) =
            simple.map_or((Vec::new(), None), |(approvers, quorum)| (approvers, Some(quorum)));
        Self {
            interrupt: opened.interrupt,
            kind: opened.kind,
            about: opened.about,
            step: opened.step,
            agent: opened.agent,
            options: opened.options,
            risk: opened.risk,
            action_digest: opened.action_digest,
            policy_version: opened.policy_version,
            expires_at: opened.expires_at,
            on_expiry: opened.on_expiry,
            approvers,
            quorum,
            assignment,
            timing: opened.timing,
            remind_at: opened.remind_at,
            escalate_at: opened.escalate_at,
            supersedes: opened.supersedes,
            usable_ms: opened.usable_ms,
            withhold: opened.withhold,
            callback: opened.callback,
        }
    }
}
