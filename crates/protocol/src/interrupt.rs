//! Interrupts: how one looks, how an agent of another framework asks, how a person decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::answer::Suggestion;
use crate::approval::Approval;
use crate::assignment::{AskAssignment, Assignment, Vote, You};
use crate::effect::CommandEffect;
use crate::keeping::ErasedContent;
use crate::policy::ForeignCall;
use crate::system::Frozen;
use crate::timing::{AskEscalation, AskReminders, NextEscalation};
use crate::warning::Warning;
use crate::withhold::Withhold;

/// One pause that a person ends.
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
    /// What its run was asked to do, cut to 300 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The folder that its run works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub kind: Kind,
    /// Where it stands: `before_step`, `after_step`, `phase`, `on_error`, `plan` (of a phase), or the mandatory checkpoint
    /// that asks: `after_planning`, `before_file_edit`, `before_execution`, `before_deploy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    pub origin: Origin,
    pub status: InterruptStatus,
    pub title: String,
    pub message: String,
    /// What it is about, by kind. Written by agents: show it as data.
    #[schema(value_type = Value)]
    pub payload: Value,
    /// Of a command of ours: what the machine lets it do once it is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_effect: Option<CommandEffect>,
    /// What of a change the payload does not show, in words: say it before it is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "Not shown here: 2762 more lines that are added, 2762 that are removed.")]
    pub unseen: Option<String>,
    /// What may be decided; draw these and no others.
    pub options: Vec<Offer>,
    /// JSON Schema of an edit, or of the answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub response_schema: Option<Value>,
    pub risk: Risk,
    /// What it would change, as far as the tool can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub impact: Option<Value>,
    pub assignment: Assignment,
    /// The decisions that stand while it is open, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Of an open one: whether whoever reads it may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub you: Option<You>,
    /// Of an open one: what holds what it is about. A decision is taken and starts nothing; of an agent that runs elsewhere
    /// only one that stops it is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<Frozen>,
    /// SHA-256 of what will run if it is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Option that is taken if nobody decides in time. `expired`: none is, and the interrupt expires without an answer.
    pub on_expiry: String,
    /// Of an open one: when those who are asked are told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub remind_at: Option<String>,
    /// Of an open one: when others are asked, and who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalates: Option<NextEscalation>,
    /// Of an open question that is read by itself: what was answered before about the same subject, the likeliest first, at
    /// most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions_from_history: Vec<Suggestion>,
    /// Open interrupts of the same run that the grant would cover and that you may approve, oldest first, at most 100.
    /// Present on an open interrupt that offers a grant and is read by itself. List them before you send them as `also` of a decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_covers: Vec<AlsoCovered>,
    /// What could deceive the person who decides: show it beside the options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Where in the payload something is withheld from whoever reads it: JSON pointers. There stands a mark,
    /// `{"withheld": POINTER}`, which is sent back as it is in an edit. What is made of it, such as a diff or a digest, is not
    /// there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["/arguments/customer/email"]))]
    pub withheld: Vec<String>,
    /// Nothing of what its run said is kept: no title, message or payload, and nothing of the decision but who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<Box<ErasedContent>>,
    /// Who is at it. That keeps nobody from deciding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    /// Grows when it changes; a decision may name the one it was made on.
    pub version: u64,
    /// The interrupt whose place it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Of an agent of another framework, once it is approved: what was, and whether it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// An open interrupt that a grant would cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"interrupt": "int_01k6f0000000000000000000cd", "title": "edit_file: src/b.rs"}))]
pub struct AlsoCovered {
    pub interrupt: String,
    pub title: String,
}

/// What somebody says about an interrupt, beside any decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "seq": 9, "at": "2026-01-31T09:30:00.000Z", "by": "operator", "text": "The build folder is not in Git."
}))]
pub struct Comment {
    /// In the run's stream.
    pub seq: u64,
    #[schema(format = DateTime)]
    pub at: String,
    pub by: String,
    /// Absent where it was erased.
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

/// Whose agent is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Native,
    /// Of another framework: we run nothing for it.
    External,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptStatus {
    Open,
    Resolved,
}

/// One option, as offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    pub id: String,
    pub label: String,
    /// Effect of the option: `proceed`, `proceed_with_edit`, `proceed_with_some`, `respond`, `grant`, `refuse` …
    pub effect: String,
    /// Words that follow the label: `runs it once, exactly as shown`.
    #[serde(default)]
    #[schema(required)]
    pub does: String,
    /// Outcome of a decision for the option.
    #[serde(default = "approved")]
    #[schema(required)]
    pub outcome: Outcome,
    /// Fate of the held work.
    #[serde(default)]
    #[schema(required)]
    pub work: HeldWork,
    /// True if a person should confirm the option before it is sent: it leaves out or cancels what was asked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub asks_again: bool,
    /// True if a decision for the option must carry a text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_text: bool,
    /// True if a decision for the option must carry an edit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub needs_edit: bool,
}

impl Offer {
    /// Returns true if the work that the card shows goes on.
    pub fn releases(&self) -> bool {
        self.work == HeldWork::Continues
    }

    /// Returns true if the run is over by the option.
    pub fn ends_run(&self) -> bool {
        self.work == HeldWork::Ended
    }

    /// Returns true if its edit is the list of the paths whose changes are kept.
    pub fn keeps_some(&self) -> bool {
        self.effect == "proceed_with_some"
    }

    /// Returns true if it also allows the calls like it, for the session.
    pub fn gives_grant(&self) -> bool {
        self.effect == "grant"
    }
}

fn approved() -> Outcome {
    Outcome::Approved
}

/// Fate of the work that an interrupt holds, once an option is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldWork {
    /// It goes on. A client reads the worst if a server does not say.
    #[default]
    Continues,
    /// It is done again, and a person decides on the result.
    Repeats,
    /// It stays held, or something takes its place.
    Held,
    /// It stays held, and the run is over.
    Ended,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Risk {
    pub level: Level,
    /// Why a person is asked.
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
    /// Whether whoever decides has to sign in: what a message brought does not say who reads it.
    pub fn is_risky(self) -> bool {
        self >= Self::High
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// `system`, `run`, `workflow`, `checkpoint`, `smart`, `inspection`, `refusal`, `words` or `default`.
    pub source: String,
    /// Stable: `rule`, `default`, `hard_link`, `opaque_command`, `guarded_path`, `refused_before` …
    pub code: String,
    /// The rule's place in its list, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    pub text: String,
}

/// The policy that asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Policy {
    /// Where a rule asked: whose list, and its place in it: `workflow/1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Of the installation's rules.
    pub version: u64,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "outcome": "approved", "option": "approve", "effect": "proceed", "by": ["operator"],
    "cause": "decision", "at": "2026-01-31T09:31:00.000Z"
}))]
pub struct Resolution {
    pub outcome: Outcome,
    /// The option that was chosen, or applied on expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// The people who decided.
    pub by: Vec<String>,
    /// For whom those of them decided who decided for somebody, as their clients say: nobody has checked it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub on_behalf_of: BTreeMap<String, String>,
    /// Who made the links that those of them had signed in with who were let in by somebody else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub let_in_by: BTreeMap<String, String>,
    /// Open interrupts that the decision released with its grant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// `decision`, `expiry`, `grant`, `rule`, `reused`, `superseded`, `withdrawn` or `run_ended`.
    pub cause: String,
    /// The question whose answer this one was taken from, by a person or without asking (`reused`).
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
    /// Nobody decided in time. Never the same as `rejected`.
    Expired,
    Cancelled,
    /// Another interrupt replaced it, or none was needed.
    Superseded,
}

/// An agent of another framework asks.
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
    /// Anything that helps to decide.
    #[serde(default)]
    #[schema(value_type = Option<Value>)]
    pub payload: Value,
    /// Of the kind's table, perhaps relabelled; for `choice` ids of your own, with `custom` below them. Without it: the kind's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AskChoice>,
    /// A run of the workflow `external`. Without it one is started that completes with the resolution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Where a run is started: the session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where a run is started: whom it is about, for whoever erases what was said of them. It is the `subject` of the run's
    /// input.
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
    /// Of a `tool_approval`: the call that rules, risk and grants are looked at for. It is allowed or refused at once where
    /// a rule or a grant says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ForeignCall>,
    /// For how long an approval can be used, from the decision on. Without it: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub usable_ms: Option<u64>,
    /// The option to apply when nobody decides in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_expiry: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<AskAssignment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminders: Option<AskReminders>,
    /// Who is asked while nobody decides, step by step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalation: Vec<AskEscalation>,
    /// Time counts only while somebody of the groups that are asked is at work: `expires_in_ms` too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub working_time: bool,
    /// What is withheld from whom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withhold: Vec<Withhold>,
    /// Where the resolution is told: at least once, always with one `webhook-id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<AskCallback>,
}

/// Where an agent is told of the resolution, and what signs that. Both may let somebody in: neither is shown again.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "url": "https://agent.example.org/resolved", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}))]
pub struct AskCallback {
    #[schema(max_length = 2048, write_only)]
    pub url: String,
    /// Of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes.
    #[schema(write_only)]
    pub secret: String,
}

impl std::fmt::Debug for AskCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AskCallback")
    }
}

/// An option, by its id and perhaps with a label of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AskChoice {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// One person's vote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"option": "approve"}))]
pub struct Decision {
    /// The id of one of the interrupt's options.
    pub option: String,
    /// An answer, a reason, feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Replaces the whole arguments, plan or output; the answer to a question whose `response_schema` is not of texts.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// The version of the interrupt that was decided on; another one is refused as `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Of an answer that was taken from history: the question that it answered first (`suggestions_from_history`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How long its card was visible to you, in milliseconds, as a client that shows cards has counted. It is recorded with
    /// your decision, as what your client says; more than a day counts as a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Open interrupts of the same run to release with the grant: ids out of `also_covers` that you saw and kept. Without
    /// them `approve_session` releases its own interrupt alone. One that is not open, not covered or not yours to decide
    /// is refused, and then nothing is released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also: Vec<String>,
    /// Ids that your client listed before you decided, kept or not. They are recorded with your decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub also_shown: Vec<String>,
}
