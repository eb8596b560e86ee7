//! A workflow, as the engine runs it: parsed, validated, and with its tools resolved. A definition is data and contains
//! no code.
//!
//! The crate `workflow` builds a definition from YAML. A run stores the digest of its definition
//! ([`Definition::digest`]), and always uses this definition.

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

/// Name of the built-in workflow to which interrupts of external agents belong. (External agents run in other
/// frameworks.) This workflow has no phases.
pub const EXTERNAL: &str = "external";

/// Keywords for which smart approval asks a person, if the workflow lists no keywords.
const KEYWORDS: [&str; 5] = ["delete", "production", "deploy", "critical", "irreversible"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub description: String,
    /// JSON Schema of the run's input.
    pub input: Value,
    pub agents: BTreeMap<String, Agent>,
    /// Every tool that an agent of the workflow may use, by tool name. Tools that ask people are missing if agents are
    /// not allowed to ask people.
    pub tools: BTreeMap<String, tool::Spec>,
    pub phases: Vec<Phase>,
    pub gates: Gates,
    pub limits: Limits,
    pub asking: Asking,
    /// Prices and limits of models. The key is the model name that agents and runs use, or
    /// [`DEFAULT`](crate::pricing::DEFAULT).
    #[serde(default, skip_serializing_if = "is_default")]
    pub models: BTreeMap<String, ModelTerms>,
    /// True if commands that the workflow's agents run are allowed to access the network.
    pub network: bool,
    /// Web addresses that the built-in web tool is allowed to fetch.
    #[serde(default, skip_serializing_if = "is_default")]
    pub web: Web,
    /// Name of the phase whose output is the output of the run. If `None`, the output of the last phase is used.
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

    /// Returns true if the server executes at least one tool of the workflow in the workspace folder.
    pub fn works_on_files(&self) -> bool {
        self.tools.values().any(|spec| matches!(spec.runs, tool::Runs::Here { .. }))
    }

    /// Returns the agent that begins the first phase. `None` if the first phase begins without an agent.
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

    /// Returns a copy of the workflow in which `agent` begins the first phase. `None` if the workflow has no agent of
    /// this name, or if the first phase begins without an agent.
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

    /// Returns the workflow's settings for interrupts of one kind. Settings of the phase override settings of the whole
    /// workflow.
    pub fn gate(&self, phase: Option<&Phase>, kind: Kind) -> KindGate {
        let usual = self.gates.kinds.get(&kind).cloned().unwrap_or_default();
        match phase.and_then(|phase| phase.kinds.get(&kind)) {
            Some(own) => own.over(usual),
            None => usual,
        }
    }

    /// Adapts the tools of the workflow to its settings about questions to people. If agents are not allowed to ask
    /// people, removes the tools that ask people. If a question may stay unanswered, adds the tool that records
    /// assumptions. No agent lists the tool for assumptions. The run offers this tool to an agent when the agent needs
    /// it.
    pub fn settle_asking(&mut self) {
        if !self.asking.enabled {
            self.take_away(asks_people);
        }
        let asks = self.tools.values().any(|spec| spec.runs == Runs::Opens(Opens::Question));
        if asks || !self.asking.enabled {
            self.tools.insert(asking::RECORD.to_owned(), asking::record());
        }
    }

    /// Returns true if this agent is allowed to ask people and has a tool for it.
    pub fn may_ask(&self, agent: &Agent) -> bool {
        let asks = |tool: &String| self.tools.get(tool).is_some_and(asks_people);
        self.asking.enabled && agent.tools.iter().any(asks)
    }

    /// Removes the tools for which `is_gone` returns true, from the workflow and from every agent. Rules keep the names
    /// of removed tools. If a rule lost its only tool name, the rule would apply to all tools.
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
    /// Text that is added to the agent's instructions if the agent is allowed to ask people.
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
    /// The step ends with a complete reply that calls no tool and whose text asks for nothing.
    #[default]
    Reply,
    /// The step ends only when the agent calls the tool [`crate::handoff::FINISH`]. Texts of replies are not examined
    /// for questions.
    Finish,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub id: String,
    pub kind: PhaseKind,
    /// Ids of the phases that must have ended before this phase starts. By default, a phase needs the previous phase.
    pub needs: Vec<String>,
    /// Instructions for the agents of this phase. The instructions are added to the run's task.
    pub input: Option<String>,
    /// Gates before and after the steps of the phase, merged with the workflow's gates.
    pub gates: StepGates,
    /// Settings of this phase for interrupts, by kind of interrupt. [`Definition::gate`] merges these settings with the
    /// settings of the workflow.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<Kind, KindGate>,
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PhaseKind {
    /// One agent works until its step ends. The agent gets a result for each tool call, and replies again.
    OneShot { agent: String },
    /// A person must approve before the phases that depend on this phase start.
    Checkpoint(CheckpointPhase),
    /// An agent drafts a plan, another agent reviews the plan, and a person sees it.
    Planning(Planning),
    /// A plan is carried out, with one step per subtask.
    Control(Control),
    /// One agent proposes ideas, and a second agent reviews them.
    IdeaGeneration(IdeaGeneration),
    /// The run makes one tool call without a model. The arguments of the call come from the input of the run.
    Call {
        tool: String,
        /// Agent in whose name the run makes the call. If `agent` is set and the call fails, the run fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// One agent works on messages of a person, in one round per message.
    Copilot(Copilot),
}

/// Phase in which one agent works on messages of a person, one message after the other (contracts A17 to A23).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copilot {
    pub agent: String,
    /// Mode that decides if a person is asked before the agent begins a task. If `None`, the agent begins every task at
    /// once, and asks the person only by calling a tool (contract E25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<routing::Mode>,
    /// Agent that decides who works on a task. If `None`, rules decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<String>,
    /// Further agents to which a task can be given, in addition to `agent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub team: Vec<String>,
    /// True if the run waits for a message of the person after every round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conversational: bool,
    /// True if the run asks the person whether the result meets the person's needs (contract E26). Unattended runs do
    /// not ask.
    #[serde(default, skip_serializing_if = "is_default")]
    pub satisfaction: bool,
    /// Maximum number of words in the text of a simple task. The gates before and after steps ask nobody about a simple
    /// task. A router can decide otherwise. If `None`, no task is simple.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simple_words: Option<u32>,
}

/// Phase in which a person must approve before later phases start (contract A12).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointPhase {
    pub message: String,
    /// True if the checkpoint is approved without a question to a person. The journal records the approval.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unasked: bool,
    /// Behaviour of the checkpoint if nobody attends the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_no_channel: NoChannel,
    /// True if a person is allowed to send changes when approving the checkpoint. The agents of later phases get these
    /// changes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub edit: bool,
    /// Point of the work at which the checkpoint lies, described by the workflow's author. The text is only shown, and
    /// has no effect on decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
}

impl CheckpointPhase {
    /// Returns the options among which a person chooses at the checkpoint.
    pub fn options(&self) -> &'static [&'static str] {
        if self.edit { &["approve", "edit", "reject"] } else { &["approve", "reject"] }
    }
}

/// Behaviour of a checkpoint in a run that nobody attends (contract E8).
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
    /// Returns true if the phase can open interrupts of this kind. An agent can propose a plan in every phase that has
    /// agents. Phases for planning and for idea generation ask nobody before or after their steps.
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

    /// Returns the name of this kind of phase, as workflow files write it.
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
    /// Maximum number of times that the reviewer reviews a plan before a person is asked.
    pub reviews: u32,
    /// Maximum number of plans that are shown to a person before the run fails.
    pub iterations: u32,
    /// Behaviour after a person has seen `iterations` plans and has approved none. If true, the next plan is carried
    /// out without an approval. If false, the run fails.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settles: bool,
    /// Agents to which the plan may assign subtasks.
    pub agents: Vec<String>,
    /// True if a person decides on every plan, even if the workflow's settings do not require an approval of plans.
    #[serde(default, skip_serializing_if = "is_default")]
    pub always_asks: bool,
    /// True if the planner is allowed to reply with an answer instead of a plan. Such a planner makes a plan by calling
    /// its plan tool. Text of its replies is never read as a plan. If the planner makes no plan, the run
    /// continues without a plan.
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
    /// Number of the only subtask that this phase carries out, counted from 1. If `None`, the phase carries out all
    /// subtasks.
    pub only: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdeaGeneration {
    pub maker: String,
    pub critic: String,
    pub ideas: u32,
    /// Number of times that the second agent reviews the ideas.
    pub reviews: u32,
}

/// Settings that decide if a person is asked before and after each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "named as the workflow names them")]
pub struct StepGates {
    pub before_step: bool,
    pub after_step: bool,
    /// True if a person is asked after a step only if the step was retried, or if one of its calls failed or was
    /// refused.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unless_clean: bool,
    /// True if a person is asked about a failed step. If false, a failed subtask fails alone, and any other failed step
    /// fails the run.
    pub on_error: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    pub plan: PlanGate,
    /// Checkpoints at which a person must decide, even if rules or grants allow the call.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// True if [`Checkpoint::BeforeExecution`] asks a person after a trial, and shows the changes of the trial. If
    /// false, the checkpoint asks before the trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trial_before_execution: bool,
    /// Words and command patterns by which [`Checkpoint::BeforeDeploy`] recognises a deployment. Each entry is a single
    /// word or a command pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deploy: Vec<String>,
    /// Settings of smart approval. `None` if smart approval is switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// True if each command first runs in a trial, if possible. The gates then vote on the changes that the trial made.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trial: bool,
    pub rules: Vec<Rule>,
    pub kinds: BTreeMap<Kind, KindGate>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub same_action: SameAction,
    #[serde(default, skip_serializing_if = "is_default")]
    pub grants: Grants,
    /// Values in interrupts that are hidden from people with certain roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withhold: Vec<Withhold>,
    /// True if the agent's step ends when a review that the agent requested is released to its recipient. The released
    /// output becomes the result of the step, and the agent is not called again. The next task then begins (contract
    /// D3).
    #[serde(default, skip_serializing_if = "is_default")]
    pub release_ends_step: bool,
}

/// Settings for grants. A person gives a grant by allowing a call for the rest of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    pub covers: GrantCovers,
    /// Lifetime of a grant in milliseconds. If `None`, the grant ends with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after_ms: Option<u64>,
}

/// Decision on a call whose action equals an action that a person has already approved in the run (contract E21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameAction {
    /// A person is asked about the call, even if an equal action was approved before.
    #[default]
    Ask,
    /// The earlier approval is also valid for one further call with an equal action.
    Once,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanGate {
    /// Work on a plan waits until a person approves the plan.
    #[default]
    Ask,
    /// A person sees the plan, but work starts without an approval.
    Show,
}

/// Smart approval: keywords and a model look for risky calls among the calls that the gates would allow. A person is
/// asked about the calls that are found (contract A4). Smart approval never allows a call that the gates stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smart {
    /// Words and phrases that make a call risky.
    pub keywords: Vec<String>,
    pub judge: Judge,
}

impl Default for Smart {
    fn default() -> Self {
        Self { keywords: KEYWORDS.map(str::to_owned).to_vec(), judge: Judge::Run }
    }
}

/// Model that examines the calls about which no gate asks a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    Off,
    /// The model of the run judges the calls.
    Run,
    /// The configured model with this name judges the calls.
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
    /// Maximum number of times that a person, asked after the step, is allowed to have the step repeated.
    pub redos: u32,
    /// Maximum number of subtasks of one plan.
    pub plan_steps: u32,
    /// Maximum number of steps of a run that run in parallel.
    pub parallel: u32,
    /// Maximum number of input and output tokens of one step before a `continuation` interrupt asks a person.
    pub budget_tokens: Option<u64>,
    /// Number of times that a step which has reached `rounds` or `tool_calls` gets a new budget without a question to a
    /// person.
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
