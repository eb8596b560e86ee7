//! A workflow in the form in which the engine runs it: parsed, validated, and with its tools resolved. It is only data.
//!
//! The crate `workflow` builds a definition from YAML. A run is bound to the definition by [`Definition::digest`].
//! Every field of the definition must have an effect on runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asking::{self, Asking};
use crate::digest::Digest;
use crate::interrupt::{Kind, Withhold};
use crate::json::is_default;
pub use crate::kind_gate::KindGate;
use crate::policy::{Checkpoint, GrantCovers, Rule};
use crate::pricing::ModelTerms;
use crate::routing;
use crate::tool::{self, Opens, Receiver, Runs};
use crate::web::Web;

/// Name of the workflow for interrupts that agents of other frameworks open. This workflow has no phases.
pub const EXTERNAL: &str = "external";

/// Default keywords of smart approval.
const KEYWORDS: [&str; 5] = ["delete", "production", "deploy", "critical", "irreversible"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub description: String,
    /// JSON Schema of the run's input.
    pub input: Value,
    pub agents: BTreeMap<String, Agent>,
    /// Every tool that an agent names, by tool name. If agents may not ask people, the tools that ask people are left
    /// out.
    pub tools: BTreeMap<String, tool::Spec>,
    pub phases: Vec<Phase>,
    pub gates: Gates,
    pub limits: Limits,
    pub asking: Asking,
    /// Terms of models. The key is the model name that agents and runs use, or [`DEFAULT`](crate::pricing::DEFAULT).
    #[serde(default, skip_serializing_if = "is_default")]
    pub models: BTreeMap<String, ModelTerms>,
    /// True if commands may reach the network.
    pub network: bool,
    /// Addresses that the built-in web tool may fetch.
    #[serde(default, skip_serializing_if = "is_default")]
    pub web: Web,
    /// Phase whose text becomes the text of the run. If `None`, the last phase determines the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl Definition {
    pub fn digest(&self) -> Digest {
        Digest::of_json(self)
    }

    pub fn is_external(&self) -> bool {
        self.name == EXTERNAL && self.phases.is_empty()
    }

    /// Returns true if the workflow has tools that the server executes in the workspace folder.
    pub fn works_on_files(&self) -> bool {
        self.tools.values().any(|spec| matches!(spec.runs, tool::Runs::Here { .. }))
    }

    /// Returns the agent that begins the first phase. `None` if no agent begins the first phase.
    pub fn front_agent(&self) -> Option<&str> {
        match &self.phases.first()?.kind {
            PhaseKind::Planning(planning) => Some(&planning.planner),
            PhaseKind::OneShot { agent } => Some(agent),
            PhaseKind::Copilot(copilot) => Some(&copilot.agent),
            PhaseKind::Checkpoint(_)
            | PhaseKind::Control(_)
            | PhaseKind::IdeaGeneration(_)
            | PhaseKind::Call { .. } => None,
        }
    }

    /// Returns the workflow with `agent` as the agent that begins the first phase. `None` if the workflow has no agent
    /// of this name, or if no agent begins the first phase.
    pub fn begun_by(&self, agent: &str) -> Option<Self> {
        self.agents.get(agent)?;
        let mut variant = self.clone();
        let front = match &mut variant.phases.first_mut()?.kind {
            PhaseKind::Planning(planning) => &mut planning.planner,
            PhaseKind::OneShot { agent } => agent,
            PhaseKind::Copilot(copilot) => &mut copilot.agent,
            PhaseKind::Checkpoint(_)
            | PhaseKind::Control(_)
            | PhaseKind::IdeaGeneration(_)
            | PhaseKind::Call { .. } => return None,
        };
        agent.clone_into(front);
        Some(variant)
    }

    /// Returns the settings for one kind of interrupt. Settings of the phase override settings of the workflow.
    pub fn gate(&self, phase: Option<&Phase>, kind: Kind) -> KindGate {
        let usual = self.gates.kinds.get(&kind).cloned().unwrap_or_default();
        match phase.and_then(|phase| phase.kinds.get(&kind)) {
            Some(own) => own.over(usual),
            None => usual,
        }
    }

    /// Applies the settings about questions to people. If agents may not ask people, removes the tools that ask people.
    /// If an answer may be missing, adds the tool that records assumptions. No agent names this tool, and the run
    /// offers it when it is needed.
    pub fn settle_asking(&mut self) {
        if !self.asking.enabled {
            self.take_away(asks_people);
        }
        let asks = self.tools.values().any(|spec| spec.runs == Runs::Opens(Opens::Question));
        if asks || !self.asking.enabled {
            self.tools.insert(asking::RECORD.to_owned(), asking::record());
        }
    }

    /// Returns true if this agent may ask people and has a tool that asks people.
    pub fn may_ask(&self, agent: &Agent) -> bool {
        let asks = |tool: &String| self.tools.get(tool).is_some_and(asks_people);
        self.asking.enabled && agent.tools.iter().any(asks)
    }

    /// Removes the tools that match `is_gone` from the workflow and from every agent. Rules of gates keep the names of
    /// removed tools. Without the name, a rule for one tool would become a rule for all tools.
    pub(crate) fn take_away(&mut self, is_gone: impl Fn(&tool::Spec) -> bool) {
        self.tools.retain(|_, spec| !is_gone(spec));
        for agent in self.agents.values_mut() {
            agent.tools.retain(|tool| self.tools.contains_key(tool));
        }
    }
}

/// Returns true if the tool asks a person a question or hands work over to a person.
fn asks_people(spec: &tool::Spec) -> bool {
    matches!(spec.runs, Runs::HandsOver(Receiver::Admin) | Runs::Opens(Opens::Question))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    pub instructions: String,
    /// Text that is added to the instructions of the agent if the agent may ask people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking_instructions: Option<String>,
    /// Name of a configured model. If `None`, the agent uses the model of the run.
    pub model: Option<String>,
    /// Names of the agent's tools in [`Definition::tools`], in the order of the workflow.
    pub tools: Vec<String>,
    /// Condition under which the agent's step ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ends: EndCondition,
}

/// Condition under which the step of an agent ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCondition {
    /// The step ends with a reply that is complete, has no tool call, and contains no question or request in its text.
    #[default]
    Reply,
    /// The step ends only when the agent calls the tool [`crate::handoff::FINISH`]. The texts of replies are not
    /// interpreted.
    Finish,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub id: String,
    pub kind: PhaseKind,
    /// Ids of the phases that must end before this phase starts. By default, a phase needs the previous phase.
    pub needs: Vec<String>,
    /// Instructions for the agents of this phase, which are added to the task of the run.
    pub input: Option<String>,
    /// Gates of the phase, already merged with the gates of the workflow.
    pub gates: StepGates,
    /// Settings that this phase has for kinds of interrupts. [`Definition::gate`] merges the settings of phase and
    /// workflow.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<Kind, KindGate>,
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PhaseKind {
    /// One agent works until its step ends, alternating model replies and tool calls.
    OneShot { agent: String },
    /// A person must approve before the phases that depend on this phase start.
    Checkpoint(CheckpointPhase),
    /// A plan is drafted, reviewed by an agent, and shown to a person.
    Planning(Planning),
    /// A plan is carried out, with one step per subtask.
    Control(Control),
    /// One agent proposes ideas, and a second agent reviews them.
    IdeaGeneration(IdeaGeneration),
    /// One tool call is made without a model. The arguments of the call come from the input of the run.
    Call {
        tool: String,
        /// Agent in whose name the run makes the call. If `agent` is set and the call does not complete, the run fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// One agent works on messages of a person, with one round for each message.
    Copilot(Copilot),
}

/// Phase in which one agent works on messages of a person, one message after the other (contracts A17 to A23).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copilot {
    pub agent: String,
    /// Mode that controls when a person is asked before work on a task begins. If `None`, the agent begins at once, and
    /// asks only with its tools (contract E25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<routing::Mode>,
    /// Agent that routes tasks. If `None`, rules route the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<String>,
    /// Agents, besides `agent`, to which a task can be routed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub team: Vec<String>,
    /// True if the person gets a turn after every round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conversational: bool,
    /// True if the run asks the person whether the result meets the person's needs (contract E26). Unattended runs do
    /// not ask.
    #[serde(default, skip_serializing_if = "is_default")]
    pub satisfaction: bool,
    /// Maximum number of words of a simple task. The gates before and after steps do not ask about a simple task,
    /// unless a router decides otherwise. If `None`, no task is simple.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simple_words: Option<u32>,
}

/// Approval by a person before later phases start (contract A12).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointPhase {
    pub message: String,
    /// True if the checkpoint is approved without asking a person. The journal records the approval.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unasked: bool,
    /// Behaviour of the checkpoint in an unattended run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_no_channel: NoChannel,
    /// True if a person may send changes with the approval. Later agents get the changes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub edit: bool,
    /// Position of the checkpoint in the work, in the words of the workflow's author. No decision depends on this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
}

impl CheckpointPhase {
    /// Returns the options of the checkpoint's interrupt.
    pub fn options(&self) -> &'static [&'static str] {
        if self.edit { &["approve", "edit", "reject"] } else { &["approve", "reject"] }
    }
}

/// Behaviour of a checkpoint in an unattended run (contract E8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoChannel {
    /// The checkpoint waits until a person answers.
    #[default]
    Park,
    /// The checkpoint is recorded as approved, and the run continues.
    Auto,
}

impl PhaseKind {
    /// Returns true if interrupts of this kind may open in the phase. In every phase with agents, an agent may propose
    /// a plan. Phases for planning and for idea generation have no gates before and after their steps.
    pub fn opens(&self, kind: Kind) -> bool {
        match kind {
            Kind::Checkpoint => !matches!(self, Self::Planning(_) | Self::IdeaGeneration(_)),
            Kind::ToolApproval
            | Kind::PlanApproval
            | Kind::Error
            | Kind::Question
            | Kind::Escalation
            | Kind::Review
            | Kind::Continuation
            | Kind::ClientCall
            | Kind::UnknownOutcome => !matches!(self, Self::Checkpoint(_)),
            Kind::Choice | Kind::Turn => matches!(self, Self::Copilot(_)),
        }
    }

    /// Returns the name of the phase kind in workflows.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OneShot { .. } => "one_shot",
            Self::Checkpoint(_) => "checkpoint",
            Self::Planning(_) => "planning",
            Self::Control(_) => "control",
            Self::IdeaGeneration(_) => "idea_generation",
            Self::Call { .. } => "call",
            Self::Copilot(_) => "copilot",
        }
    }

    pub fn planning(&self) -> Option<&Planning> {
        if let Self::Planning(planning) = self { Some(planning) } else { None }
    }

    pub fn control(&self) -> Option<&Control> {
        if let Self::Control(control) = self { Some(control) } else { None }
    }

    /// Returns the name of the tool, if the phase consists of a single call.
    pub fn called_tool(&self) -> Option<&str> {
        if let Self::Call { tool, .. } = self { Some(tool) } else { None }
    }

    pub fn copilot(&self) -> Option<&Copilot> {
        if let Self::Copilot(copilot) = self { Some(copilot) } else { None }
    }

    pub fn ideas(&self) -> Option<&IdeaGeneration> {
        if let Self::IdeaGeneration(ideas) = self { Some(ideas) } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planning {
    pub planner: String,
    /// Agent that rewords the task before a plan is made.
    pub improver: Option<String>,
    pub reviewer: Option<String>,
    /// Maximum number of reviews by the reviewer before a person is asked about the plan.
    pub reviews: u32,
    /// Maximum number of plans that are shown to a person before the run fails.
    pub iterations: u32,
    /// Behaviour after a person has seen `iterations` plans and approved none. If true, the next plan is carried out
    /// without an approval. If false, the run fails.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settles: bool,
    /// Agents that the subtasks of a plan may name.
    pub agents: Vec<String>,
    /// True if a person decides on every plan, even if the workflow's gate for plans does not ask.
    #[serde(default, skip_serializing_if = "is_default")]
    pub always_asks: bool,
    /// True if the planner may reply with an answer instead of a plan. Such a planner makes a plan only by calling its
    /// plan tool. If the planner makes no plan, no plan is carried out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Planning phase whose plan this phase carries out.
    pub plan: String,
    /// Agent for subtasks that do not name an agent.
    pub agent: String,
    /// Number of the only subtask to carry out, from 1. If `None`, all subtasks are carried out.
    pub only: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdeaGeneration {
    pub maker: String,
    pub critic: String,
    pub ideas: u32,
    /// Number of reviews by the reviewing agent.
    pub reviews: u32,
}

/// Gates before and after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "named as the workflow names them")]
pub struct StepGates {
    pub before_step: bool,
    pub after_step: bool,
    /// True if the gate after a step asks only in certain cases: the step was retried, or one of its calls failed or
    /// was refused.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unless_clean: bool,
    /// True if a person is asked about a failed step. If false, a failed step fails the run.
    pub on_error: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    pub plan: PlanGate,
    /// Checkpoints at which a person must decide, even if rules or grants allow the call.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// True if [`Checkpoint::BeforeExecution`] asks after a trial, about the changes of the trial. If false, the person
    /// is asked before the trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trial_before_execution: bool,
    /// Commands that [`Checkpoint::BeforeDeploy`] covers. Each entry is a single word or a command pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deploy: Vec<String>,
    /// Smart approval. `None` if smart approval is switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// True if each command first runs in a trial, if a trial is possible, and the gates then vote on the changes of
    /// the trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trial: bool,
    pub rules: Vec<Rule>,
    pub kinds: BTreeMap<Kind, KindGate>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub same_action: SameAction,
    #[serde(default, skip_serializing_if = "is_default")]
    pub grants: Grants,
    /// Values in interrupts that are withheld from people with certain roles, and these roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withhold: Vec<Withhold>,
    /// True if the release of a review ends the step of the agent that asked for the review. The released output
    /// becomes the result of the step, the agent is not called again, and the next task begins (contract D3).
    #[serde(default, skip_serializing_if = "is_default")]
    pub release_ends_step: bool,
}

/// Settings of the grants that people give by allowing a call for the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    pub covers: GrantCovers,
    /// Lifetime of a grant in milliseconds. If `None`, the grant ends with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after_ms: Option<u64>,
}

/// Treatment of a call whose action has the same digest as an action that a person has approved in the run (contract
/// E21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameAction {
    /// A person is asked about the call as about any other call.
    #[default]
    Ask,
    /// The earlier approval covers one further call.
    Once,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanGate {
    /// A plan waits until a person approves it.
    #[default]
    Ask,
    /// A person sees the plan, but the work continues without an approval.
    Show,
}

/// Smart approval: keywords and a model stop calls that the gates would allow, so that a person is asked (contract A4).
/// Smart approval never allows a call that the gates stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smart {
    /// Words and phrases that indicate risk.
    pub keywords: Vec<String>,
    pub judge: Judge,
}

impl Default for Smart {
    fn default() -> Self {
        Self { keywords: KEYWORDS.map(str::to_owned).to_vec(), judge: Judge::Run }
    }
}

/// Model that judges the calls for which no other gate asks a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    Off,
    /// The model of the run.
    Run,
    /// Name of a configured model.
    Model(String),
}

/// Limits of one step: rounds, calls, attempts, and budgets. An event records each limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of model replies in one step before a `continuation` interrupt asks a person.
    pub rounds: u32,
    /// Maximum number of tool calls in one step before a `continuation` interrupt asks a person.
    pub tool_calls: u32,
    /// Maximum number of consecutive failed model calls before the step fails.
    pub attempts: u32,
    /// Maximum number of times that a person may send a step back at the gate after the step.
    pub redos: u32,
    /// Maximum number of subtasks of one plan.
    pub plan_steps: u32,
    /// Maximum number of steps that run in parallel.
    pub parallel: u32,
    /// Maximum number of input and output tokens of one step before a `continuation` interrupt asks a person.
    pub budget_tokens: Option<u64>,
    /// Number of new budgets that a step gets without asking a person, after the step has reached `rounds` or
    /// `tool_calls`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub continues: u32,
    /// Maximum cost of one step before a `continuation` interrupt asks a person, in millionths of the currency unit of
    /// the prices.
    #[serde(default, skip_serializing_if = "is_default")]
    pub budget_money: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 50,
            tool_calls: 100,
            attempts: 3,
            redos: 2,
            plan_steps: 20,
            parallel: 4,
            budget_tokens: None,
            continues: 0,
            budget_money: None,
        }
    }
}
