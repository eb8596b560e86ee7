//! A workflow as the engine runs it: parsed, validated, with its tools resolved. Data only.
//!
//! The crate `workflow` makes it from YAML; a run pins it by [`Definition::digest`]. Every field is read by
//! the run: a key that nothing reads has no place here.

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

/// The name of the workflow behind interrupts of other frameworks' agents. It has no phases.
pub const EXTERNAL: &str = "external";

/// Keywords of smart approval where a workflow names none.
const KEYWORDS: [&str; 5] = ["delete", "production", "deploy", "critical", "irreversible"];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub name: String,
    pub description: String,
    /// JSON Schema of the run's input.
    pub input: Value,
    pub agents: BTreeMap<String, Agent>,
    /// Every tool that an agent names, by that name. With asking off, the tools that ask are not here.
    pub tools: BTreeMap<String, tool::Spec>,
    pub phases: Vec<Phase>,
    pub gates: Gates,
    pub limits: Limits,
    pub asking: Asking,
    /// By the name that agents and runs use, or [`DEFAULT`](crate::pricing::DEFAULT).
    #[serde(default, skip_serializing_if = "is_default")]
    pub models: BTreeMap<String, ModelTerms>,
    /// Whether commands reach the network.
    pub network: bool,
    /// What the tool for the web may reach.
    #[serde(default, skip_serializing_if = "is_default")]
    pub web: Web,
    /// The phase whose text is the run's, where it brings one; `None`: the last one.
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

    /// Whether it has tools that run here, in a folder.
    pub fn works_on_files(&self) -> bool {
        self.tools.values().any(|spec| matches!(spec.runs, tool::Runs::Here { .. }))
    }

    /// The agent that it begins with, where it begins with one.
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

    /// The same workflow with another of its agents in front; `None` where it does not begin with one agent, or has
    /// none of this name.
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

    /// What the workflow, and before it the phase, say of one kind of interrupt.
    pub fn gate(&self, phase: Option<&Phase>, kind: Kind) -> KindGate {
        let usual = self.gates.kinds.get(&kind).cloned().unwrap_or_default();
        match phase.and_then(|phase| phase.kinds.get(&kind)) {
            Some(own) => own.over(usual),
            None => usual,
        }
    }

    /// Removes the tools that ask where asking is disabled. Adds the tool that records assumptions where an answer may be
    /// missing: no agent names it, the run lends it.
    pub fn settle_asking(&mut self) {
        if !self.asking.enabled {
            self.take_away(asks_people);
        }
        let asks = self.tools.values().any(|spec| spec.runs == Runs::Opens(Opens::Question));
        if asks || !self.asking.enabled {
            self.tools.insert(asking::RECORD.to_owned(), asking::record());
        }
    }

    /// Returns true if this agent still has a tool that asks people.
    pub fn may_ask(&self, agent: &Agent) -> bool {
        let asks = |tool: &String| self.tools.get(tool).is_some_and(asks_people);
        self.asking.enabled && agent.tools.iter().any(asks)
    }

    /// Takes tools from every agent. Rules keep the names: a rule that matches one tool must not begin to match all.
    pub(crate) fn take_away(&mut self, is_gone: impl Fn(&tool::Spec) -> bool) {
        self.tools.retain(|_, spec| !is_gone(spec));
        for agent in self.agents.values_mut() {
            agent.tools.retain(|tool| self.tools.contains_key(tool));
        }
    }
}

/// Returns true if the tool asks people, or hands over to one.
fn asks_people(spec: &tool::Spec) -> bool {
    matches!(spec.runs, Runs::HandsOver(Receiver::Admin) | Runs::Opens(Opens::Question))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    pub instructions: String,
    /// What it is told beside them while it may ask people, and not otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking_instructions: Option<String>,
    /// The name of a configured model; `None` for the run's.
    pub model: Option<String>,
    /// Names in [`Definition::tools`], in the order given.
    pub tools: Vec<String>,
    /// What ends its work.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ends: Ends,
}

/// What ends the step of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// A whole reply without a tool call that asks for nothing.
    #[default]
    Reply,
    /// The tool [`crate::handoff::FINISH`] alone. Language plays no part.
    Finish,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub id: String,
    pub kind: PhaseKind,
    /// Phases that must have ended before; already resolved (the one before, unless said otherwise).
    pub needs: Vec<String>,
    /// What this phase is told beside the run's task.
    pub input: Option<String>,
    /// Already merged with the workflow's.
    pub gates: StepGates,
    /// What this phase alone changes about its interrupts; [`Definition::gate`] merges.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<Kind, KindGate>,
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PhaseKind {
    /// One agent's turn loop.
    OneShot { agent: String },
    /// A person looks before the phases that need this one start.
    Checkpoint(CheckpointPhase),
    /// A plan: drafted, judged by an agent, put before a person.
    Planning(Planning),
    /// The subtasks of a plan, each a step.
    Control(Control),
    /// Ideas: one agent has them, another one judges them.
    IdeaGeneration(IdeaGeneration),
    /// One call that no model makes: its arguments are what the tool takes of the run's input.
    Call {
        tool: String,
        /// In whose place the run makes it. The call must then be done: whatever else comes of it fails the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// One agent works on what a person says, round by round.
    Copilot(Copilot),
}

/// An agent that works on what a person says, and on what they say next (contracts A17 to A23).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copilot {
    pub agent: String,
    /// How readily a person is asked before a task begins; `None`: the agent begins at once, and asks by itself
    /// (contract E25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<routing::Mode>,
    /// The agent that routes; `None`: rules do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<String>,
    /// Whom a route may name beside the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub team: Vec<String>,
    /// The person has a turn after every round.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conversational: bool,
    /// The person is asked whether what was done meets their needs, where one attends (contract E26).
    #[serde(default, skip_serializing_if = "is_default")]
    pub satisfaction: bool,
    /// Tasks of at most so many words, where no router says otherwise, need no step checkpoints; `None`: all need them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simple_words: Option<u32>,
}

/// What a person is shown before the phases that come later start (contract A12).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointPhase {
    pub message: String,
    /// Nobody is asked: it is written down as approved, and work goes on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unasked: bool,
    /// What happens in a run that nobody attends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when_no_channel: NoChannel,
    /// A person may say what is to be different: whoever works later is told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub edit: bool,
    /// Where in the work it stands, in the words of whoever configured it: no decision depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
}

impl CheckpointPhase {
    /// What its interrupt offers.
    pub fn options(&self) -> &'static [&'static str] {
        if self.edit { &["approve", "edit", "reject"] } else { &["approve", "reject"] }
    }
}

/// Whether a checkpoint is let through where nobody is there to answer (contract E8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoChannel {
    /// It waits until somebody comes.
    #[default]
    Park,
    /// It is written down as approved, and work goes on.
    Auto,
}

impl PhaseKind {
    /// Which interrupts may be opened in it. An agent may put a plan forward in any phase that has agents; those who
    /// plan or have ideas are not looked at step by step.
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

    /// As workflows write it.
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

    /// The tool of a phase that is one call.
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
    /// Says the task better before it is planned.
    pub improver: Option<String>,
    pub reviewer: Option<String>,
    /// How often the reviewer judges before a person does.
    pub reviews: u32,
    /// How many plans a person is shown before the run fails.
    pub iterations: u32,
    /// After that many without an approval the next plan is carried out all the same; otherwise the run fails.
    #[serde(default, skip_serializing_if = "is_default")]
    pub settles: bool,
    /// The agents that subtasks may name.
    pub agents: Vec<String>,
    /// A person decides on every plan, whatever the workflow's own gate says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub always_asks: bool,
    /// The planner may answer in words instead: only its tool makes a plan, and without one nothing is carried out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// The planning phase whose plan is carried out.
    pub plan: String,
    /// Who does a subtask that names nobody.
    pub agent: String,
    /// Only this one of its subtasks, counted from 1.
    pub only: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdeaGeneration {
    pub maker: String,
    pub critic: String,
    pub ideas: u32,
    /// How often the critic judges.
    pub reviews: u32,
}

/// Which gates stand around a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "named as the workflow names them")]
pub struct StepGates {
    pub before_step: bool,
    pub after_step: bool,
    /// After a step, only where a call of it failed or was refused, or it was tried again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unless_clean: bool,
    /// Ask when a step failed; otherwise the run fails.
    pub on_error: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    pub plan: PlanGate,
    /// Where a person must always speak, whatever rules and grants allow.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mandatory: BTreeSet<Checkpoint>,
    /// [`Checkpoint::BeforeExecution`] asks about what a trial showed, and not before the trial.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trial_before_execution: bool,
    /// What [`Checkpoint::BeforeDeploy`] covers: single words, and command patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deploy: Vec<String>,
    /// Off where it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smart: Option<Smart>,
    /// Commands are tried before their gates vote, where they can be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trial: bool,
    pub rules: Vec<Rule>,
    pub kinds: BTreeMap<Kind, KindGate>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub same_action: SameAction,
    #[serde(default, skip_serializing_if = "is_default")]
    pub grants: Grants,
    /// What is withheld from whom of every interrupt that shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withhold: Vec<Withhold>,
    /// The release of a review ends the step of the agent that asked for it, with what was released: the next task begins,
    /// and the agent is not asked again (contract D3).
    #[serde(default, skip_serializing_if = "is_default")]
    pub release_ends_step: bool,
}

/// What a person gives who allows a call for the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    pub covers: GrantCovers,
    /// After so long it holds no longer; `None`: as long as the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after_ms: Option<u64>,
}

/// What becomes of a call that is the very same action, to its digest, as one that a person has approved in the run
/// (contract E21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameAction {
    /// It asks like any other.
    #[default]
    Ask,
    /// The approval holds for one more.
    Once,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanGate {
    /// A plan waits for a person.
    #[default]
    Ask,
    /// A plan is shown, and work goes on.
    Show,
}

/// Smart approval: words and a model hold back what gates would let through (contract A4). It only adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Smart {
    /// Words and phrases that speak of risk.
    pub keywords: Vec<String>,
    pub judge: Judge,
}

impl Default for Smart {
    fn default() -> Self {
        Self { keywords: KEYWORDS.map(str::to_owned).to_vec(), judge: Judge::Run }
    }
}

/// The model that judges what nothing else holds back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    Off,
    /// The run's own.
    Run,
    /// The name of a configured model.
    Model(String),
}

/// Limits of one step (rounds, calls, attempts …) or of the run (budget). Hitting one is an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Model replies in one step before a `continuation` is asked.
    pub rounds: u32,
    /// Tool calls in one step before a `continuation` is asked.
    pub tool_calls: u32,
    /// Failed model calls in a row before the step fails.
    pub attempts: u32,
    /// How often an after-step gate may send a step back.
    pub redos: u32,
    /// Subtasks of one plan.
    pub plan_steps: u32,
    /// Steps at work at once.
    pub parallel: u32,
    /// Input and output tokens of one step before a `continuation` is asked.
    pub budget_tokens: Option<u64>,
    /// How often a step that has reached `rounds` or `tool_calls` goes on without asking.
    #[serde(default, skip_serializing_if = "is_default")]
    pub continues: u32,
    /// What one step may cost before a `continuation` is asked, in millionths of the currency of the prices.
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
