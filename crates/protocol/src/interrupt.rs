//! Interrupts, requests of external agents for a decision, and decisions of people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::answer::Suggestion;
use crate::approval::Approval;
use crate::assignment::{AskAssignment, Assignment, Vote, You};
use crate::code::Code;
use crate::effect::CommandEffect;
use crate::keeping::ErasedContent;
use crate::policy::ForeignCall;
use crate::system::Frozen;
use crate::timing::{AskEscalation, AskReminders, NextEscalation};
use crate::warning::Warning;
use crate::withhold::Withhold;

/// A pause of a run until a person decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "int_01k6f0000000000000000000cc", "run": "run_01k6f0000000000000000000aa",
    "session": "ses_01k6f0000000000000000000bb", "task": "make the tests pass",
    "workspace": "/home/me/project", "step": "work", "agent": "pair", "kind": "tool_approval",
    "origin": "native", "status": "open", "title": "run_command: rm -r build", "message": "",
    "payload": {"call_id": "call_2", "tool": "run_command", "arguments": {"command": "rm -r build"},
                "category": "bash", "workspace": "/home/me/project"},
    "options": [{"id": "approve", "label": "Approve", "effect": "proceed",
                 "does": "runs it once, exactly as shown", "outcome": "approved", "work": "continues"},
                {"id": "reject", "label": "Reject", "effect": "refuse", "outcome": "rejected", "work": "held",
                 "does": "rejects it; the agent gets your reason and continues"}],
    "risk": {"level": "medium", "reasons": [
        {"source": "default", "code": "default", "text": "no rule covers this call"}]},
    "assignment": {"approvers": [], "quorum": {"required": 1}},
    "policy": {"version": 0}, "on_expiry": "reject", "version": 1,
    "created_at": "2026-01-31T09:30:00.000Z"
}))]
pub struct Interrupt {
    pub id: String,
    pub run: String,
    pub session: String,
    /// Task of the run, cut to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Working directory of the run that the interrupt belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub kind: Kind,
    /// Point of the run at which the interrupt was opened: `before_step`, `after_step`, `phase`, `on_error`, or `plan`
    /// (the plan of a phase). For a mandatory checkpoint, the name of the checkpoint: `after_planning`,
    /// `before_file_edit`, `before_execution`, `before_deploy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    pub origin: Origin,
    pub status: InterruptStatus,
    pub title: String,
    pub message: String,
    /// Information on which the person bases the decision. The shape of the payload depends on `kind`. Agents write
    /// this data: show it as plain data, never as markup.
    #[schema(value_type = Value)]
    pub payload: Value,
    /// Effects that the command may have inside the sandbox after an approval. Present for a command that Holdshort
    /// runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_effect: Option<CommandEffect>,
    /// Description of the parts of a change that the card does not show. Show it before a person approves. Absent if
    /// the card shows the complete change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "Not shown here: 2762 more added lines, 2762 more removed lines.")]
    pub unseen: Option<String>,
    /// Options among which a person decides. Show exactly these options.
    pub options: Vec<Offer>,
    /// JSON Schema of an edit, or of the answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub response_schema: Option<Value>,
    pub risk: Risk,
    /// Changes that the tool expects to make, if it can predict them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub impact: Option<Value>,
    pub assignment: Assignment,
    /// Valid votes of an open interrupt, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Answer to the question whether the reader of the interrupt may decide on it. Present on an open interrupt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub you: Option<You>,
    /// Freeze that stops the work of this interrupt. Absent if there is none, or if the interrupt is resolved. During a
    /// freeze, decisions are accepted, but no work starts until the freeze is lifted. For an agent outside Holdshort,
    /// only decisions that stop the agent are accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<Frozen>,
    /// SHA-256 of the action that an approval permits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Option that is applied at `expires_at` if no decision was made. `expired` means that the interrupt expires
    /// instead.
    pub on_expiry: String,
    /// Time of the next reminder. Present on an open interrupt for which another reminder is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub remind_at: Option<String>,
    /// Next escalation step. Present on an open interrupt for which another step is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalates: Option<NextEscalation>,
    /// Earlier answers about the same subject, best match first, at most three. Present on an open question, but not in
    /// lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions_from_history: Vec<Suggestion>,
    /// Other open interrupts of the run whose calls the offered grant would allow, and on which you may decide. Oldest
    /// first, at most 100. Present on an open interrupt that offers a grant, but not in lists. Before you send ids from
    /// this list as `also` of a decision, show the interrupts to the person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_covers: Vec<AlsoCovered>,
    /// Warnings about texts that could deceive the person who decides. Show the warnings next to the options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// JSON pointers to the payload's values that are withheld from the reader. The payload contains the object
    /// `{"withheld": POINTER}` in place of each such value. An edit must contain this object unchanged. Data that is
    /// derived from a withheld value is missing, such as a diff or a digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["/arguments/customer/email"]))]
    pub withheld: Vec<String>,
    /// Record of the erasure of the run's content. Present if the content was erased. The title, the message and the
    /// payload are then deleted. Only the author of the decision is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<Box<ErasedContent>>,
    /// Id of the person who claimed the interrupt. Other approvers may still decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// Version of the interrupt, which increases with each change. A decision may contain the version that the person
    /// saw.
    pub version: u64,
    /// Id of the earlier interrupt that this interrupt replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Approval, and the record of its use. Present if the interrupt of an external agent was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// Other open interrupt whose call the offered grant would allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"interrupt": "int_01k6f0000000000000000000cd", "title": "edit_file: src/b.rs"}))]
pub struct AlsoCovered {
    pub interrupt: String,
    pub title: String,
}

/// Comment that a person wrote on an interrupt. It is not part of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "seq": 9, "at": "2026-01-31T09:30:00.000Z", "by": "operator", "text": "The build folder is not in Git."
}))]
pub struct Comment {
    /// Sequence number of the comment's event in the run's stream.
    pub seq: u64,
    #[schema(format = DateTime)]
    pub at: String,
    pub by: String,
    /// Text of the comment. Absent if the text was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    ToolApproval,
    PlanApproval,
    Checkpoint,
    Error,
    Question,
    Choice,
    Turn,
    Escalation,
    Review,
    Continuation,
    ClientCall,
    UnknownOutcome,
}

/// Place where the agent that waits for the decision runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Native,
    /// An external agent, which runs outside Holdshort.
    External,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptStatus {
    Open,
    Resolved,
}

/// One option that a person can choose at an interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    pub id: String,
    pub label: String,
    /// Effect of the option: `proceed`, `proceed_with_edit`, `proceed_with_some`, `respond`, `grant`, `refuse` …
    pub effect: String,
    /// Phrase that follows the label of the option and says what the option does: `runs it, exactly as shown, this
    /// once`.
    #[serde(default)]
    #[schema(required)]
    pub does: String,
    /// Outcome that the interrupt gets if this option is chosen.
    #[serde(default = "approved")]
    #[schema(required)]
    pub outcome: Outcome,
    /// Effect of this option on the work that waits for the decision. `ended` is sent only if it is certain that the
    /// run ends, for example if the person asks for another plan and the workflow allows no further plan.
    #[serde(default)]
    #[schema(required)]
    pub work: HeldWork,
    /// True if a user interface should ask for confirmation before it sends the option. Such an option skips or cancels
    /// the request, or ends the run unexpectedly.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asks_again: bool,
    /// True if a decision for the option must contain a text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_text: bool,
    /// True if a decision for the option must contain an edit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_edit: bool,
}

impl Interrupt {
    /// Returns true if the reader started or wrote the work, and may therefore only stop it.
    pub fn is_own_work(&self) -> bool {
        let code = self.you.as_ref().and_then(|you| you.code.as_deref());
        code == Some(Code::OwnWork.as_str())
    }
}

impl Offer {
    /// Returns true if the work on the card continues when this option is chosen.
    pub fn releases(&self) -> bool {
        self.work == HeldWork::Continues
    }

    /// Returns true if the work on the card does not continue when this option is chosen.
    pub fn stops_work(&self) -> bool {
        matches!(self.work, HeldWork::Held | HeldWork::Ended)
    }

    /// Returns true if the option ends the run.
    pub fn ends_run(&self) -> bool {
        self.work == HeldWork::Ended
    }

    /// Returns true if the option keeps only some of the changes. Its edit is the list of the paths whose changes are
    /// kept.
    pub fn keeps_some(&self) -> bool {
        self.effect == "proceed_with_some"
    }

    /// Returns true if the option also gives a grant, which allows similar calls in the session.
    pub fn gives_grant(&self) -> bool {
        self.effect == "grant"
    }
}

fn approved() -> Outcome {
    Outcome::Approved
}

/// Effect of an option on the work that waits for the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldWork {
    /// The work continues. A client must assume this value if the server sends no value.
    #[default]
    Continues,
    /// The work is repeated, and a person decides on the new result.
    Repeats,
    /// The waiting work does not continue: it is skipped or replaced by other work.
    Held,
    /// The waiting work does not continue, and the run ends.
    Ended,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Risk {
    pub level: Level,
    /// Reasons why a person has to decide.
    pub reasons: Vec<Reason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Low,
    Medium,
    High,
    Critical,
}

impl Level {
    /// Returns true if the risk is high or critical. The person must then sign in to decide, because a link in a
    /// message does not prove who opened it.
    pub fn is_risky(self) -> bool {
        self >= Self::High
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// Part of Holdshort that requires the decision: `system`, `run`, `workflow`, `checkpoint`, `smart`, `inspection`,
    /// `refusal`, `words` or `default`.
    pub source: String,
    /// Stable code of the reason: `rule`, `default`, `hard_link`, `opaque_command`, `guarded_path`, `refused_before` …
    pub code: String,
    /// Index of the rule in its list, from 0. Absent if no rule requires the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    pub text: String,
}

/// Policy rule and policy version that applied to the interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Policy {
    /// List and index of the rule: `workflow/1`. Absent if the interrupt was opened for another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Version of the installation's rules that was in effect.
    pub version: u64,
}

/// Final result of an interrupt: the outcome, the chosen option, and the people who decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "outcome": "approved", "option": "approve", "effect": "proceed", "by": ["operator"],
    "cause": "decision", "at": "2026-01-31T09:31:00.000Z"
}))]
pub struct Resolution {
    pub outcome: Outcome,
    /// Id of the option that a person chose, or that was applied when the interrupt expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// Ids of the people who decided.
    pub by: Vec<String>,
    /// Map from a person who decided to the person on whose behalf they acted. The client of the deciding person
    /// reports this; the server does not verify it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on_behalf_of: BTreeMap<String, String>,
    /// Map from a person who decided to the creator of the login link with which they signed in. Contains only links
    /// that another person created.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub let_in_by: BTreeMap<String, String>,
    /// Ids of other open interrupts that the grant of this decision also approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// `decision`, `expiry`, `grant`, `rule`, `reused`, `superseded`, `withdrawn` or `run_ended`.
    pub cause: String,
    /// Id of the earlier question whose answer was used again. If `cause` is `reused`, no person was asked. With any
    /// other cause, a person chose the earlier answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[schema(format = DateTime)]
    pub at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Approved,
    Rejected,
    Answered,
    /// No decision was made in time. An expired interrupt is never reported as `rejected`.
    Expired,
    Cancelled,
    /// Another interrupt replaced this interrupt, or the decision was no longer needed.
    Superseded,
}

/// Request of an external agent for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "kind": "tool_approval", "title": "Delete 41 stale branches", "message": "All are merged.",
    "payload": {"tool": "git", "arguments": {"branches": 41}}, "expires_in_ms": 3_600_000
}))]
pub struct Ask {
    /// `tool_approval`, `plan_approval`, `checkpoint`, `question`, `choice`, `escalation` or `review`.
    pub kind: Kind,
    pub title: String,
    #[serde(default)]
    pub message: String,
    /// Any data that helps the person to decide.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub payload: Value,
    /// Options that the person can choose. Each is an id that the kind of the interrupt defines, with an optional label
    /// that replaces the usual label. For the kind `choice`, choose your own ids: the server adds the option `custom`.
    /// Defaults to all options that the kind defines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AskChoice>,
    /// Id of a run of the workflow `external`. If absent, a new run is started that completes when the interrupt is
    /// resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Id of the session in which a new run is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Person or thing that the request is about, such as a customer. The server stores the subject as `input.subject`
    /// of the new run. A request to erase content can select runs by their subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub subject: Option<String>,
    /// JSON Schema of an edit, or of the answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub response_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub expires_in_ms: Option<u64>,
    /// Tool call for which the agent requests a `tool_approval`. The server applies rules, risk assessment and grants.
    /// A rule or a grant may allow or refuse the call at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ForeignCall>,
    /// Request for a trial of `call` before a person is asked. The call must have a `command`, and its `workspace` must
    /// be the folder of the agent's key. If no trial is possible, the card shows the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<AskTrial>,
    /// Time in milliseconds after the decision in which an approval can be used. If absent, the approval does not
    /// expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub usable_ms: Option<u64>,
    /// Option to apply if no decision is made in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_expiry: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AskAssignment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminders: Option<AskReminders>,
    /// Escalation steps that are taken while no decision is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalation: Vec<AskEscalation>,
    /// True if all deadlines count only the working hours of the assigned groups. This includes `expires_in_ms`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub working_time: bool,
    /// Fields of the payload that some roles may not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withhold: Vec<Withhold>,
    /// Endpoint to which the resolution is sent. The server sends it at least once, and every attempt has the same
    /// `webhook-id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<AskCallback>,
}

/// Trial of a call before a person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "exec_digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "timeout_ms": 60_000
}))]
pub struct AskTrial {
    /// SHA-256 of a secret that the agent chooses. To use the approval later, the agent sends the secret as the field
    /// `exec`.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub exec_digest: String,
    /// Maximum time of the trial in milliseconds.
    #[schema(minimum = 1, maximum = 150_000)]
    pub timeout_ms: u64,
}

/// URL and signing secret of an agent's callback. Either may give access to the agent, so no response contains them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "url": "https://agent.example.org/resolved", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}))]
pub struct AskCallback {
    #[schema(max_length = 2048, write_only)]
    pub url: String,
    /// Signing secret in the format of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes.
    #[schema(write_only)]
    pub secret: String,
}

impl std::fmt::Debug for AskCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AskCallback")
    }
}

/// Id of an option, with an optional label that replaces the usual one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskChoice {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Decision of one person on an interrupt. If several people must decide, each decision is a vote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"option": "approve"}))]
pub struct Decision {
    /// Id of an option of the interrupt.
    pub option: String,
    /// An answer, a reason, or feedback, depending on the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Replacement for the arguments, the plan or the output as a whole. For a question whose `response_schema` accepts
    /// other values than text, this is the answer.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// Version of the interrupt that the person saw. If the interrupt has another version now, the decision is rejected
    /// with `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Id of the earlier question if the answer was taken from `suggestions_from_history`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Milliseconds for which your client showed the card. The value is recorded with your decision and not verified.
    /// The maximum is one day; a higher value is recorded as one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Ids from `also_covers` that the person saw and left selected. The grant of the decision also approves these
    /// interrupts. With an empty list, `approve_session` approves only the interrupt of this decision. The whole
    /// decision is rejected if an interrupt in the list is not open, is not covered by the grant, or may not be decided
    /// by you.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also: Vec<String>,
    /// Ids from `also_covers` that your client showed to the person before the decision, selected or deselected. The
    /// server records these ids with your decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also_shown: Vec<String>,
}
