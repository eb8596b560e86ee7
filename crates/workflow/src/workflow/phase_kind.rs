//! `phases[].kind`: the kinds of phases, and the keys that a phase of each kind has.

use holdshort_core::definition::{
    CheckpointPhase, Control, Copilot, IdeaGeneration, NoChannel, PhaseKind, Planning, StepGates,
};

use holdshort_core::routing::Mode;
use holdshort_core::tool::{Effect, Runs};

use super::agents::Agents;
use super::phases::Around;
use super::settings;
use crate::bounds;
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    OneShot,
    Checkpoint,
    Planning,
    Control,
    HumanControl,
    IdeaGeneration,
    Copilot,
    Call,
}

/// Names of the kinds of phases: first the names of Holdshort, then the names of earlier systems.
const KINDS: [(&str, Kind); 10] = [
    ("one_shot", Kind::OneShot),
    ("checkpoint", Kind::Checkpoint),
    ("planning", Kind::Planning),
    ("control", Kind::Control),
    ("idea_generation", Kind::IdeaGeneration),
    ("copilot", Kind::Copilot),
    ("call", Kind::Call),
    ("hitl_checkpoint", Kind::Checkpoint),
    ("hitl_planning", Kind::Planning),
    ("hitl_control", Kind::HumanControl),
];

/// Keys that a phase of a workflow may have: first those of all kinds of phases, then those of certain kinds.
pub(super) const KEYS: Keys = Keys {
    known: &[
        "id",
        "kind",
        "needs",
        "agent",
        "agents",
        "tool",
        "message",
        "ask",
        "edit",
        "when_no_channel",
        "workers",
        "reviews",
        "iterations",
        "then",
        "optional",
        "plan",
        "only",
        "ideas",
        "routing",
        "router",
        "team",
        "conversational",
        "satisfaction",
        "simple_words",
        "input",
        "gates",
        "limits",
    ],
    later: &[],
};
/// Number of keys that phases of all kinds have: the first entries of the known keys.
const COMMON: usize = 3;
const PLANNING_AGENTS: Keys = Keys { known: &["planner", "improver", "reviewer"], later: &[] };
const IDEA_AGENTS: Keys = Keys { known: &["maker", "critic"], later: &[] };
/// Keys with which a phase of any kind names the agent in a certain role.
const ROLES: Keys = Keys { known: &["planner", "improver", "reviewer", "maker", "critic"], later: &[] };

const ROUTING: [(&str, Mode); 3] =
    [("minimal", Mode::Minimal), ("balanced", Mode::Balanced), ("aggressive", Mode::Aggressive)];

/// Values of the key `then` of a phase: what happens after the last plan was rejected. True means that the next plan is
/// carried out without approval.
const THEN: [(&str, bool); 2] = [("fail", false), ("settle", true)];

/// Default numbers of plans that a person is shown, of ideas and of reviews (contracts A9, A11, A13).
const ITERATIONS: u32 = 3;
const IDEAS: u32 = 3;
const REVIEWS: u32 = 1;

impl Kind {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::OneShot => &["agent", "input", "gates", "limits"],
            Self::Checkpoint => &["message", "ask", "edit", "when_no_channel", "gates"],
            Self::Call => &["tool", "agent", "gates"],
            Self::Planning => &[
                "agents",
                "workers",
                "reviews",
                "iterations",
                "then",
                "optional",
                "input",
                "gates",
                "limits",
            ],
            Self::Control | Self::HumanControl => &["agent", "plan", "only", "input", "gates", "limits"],
            Self::IdeaGeneration => &["agents", "ideas", "reviews", "input", "gates", "limits"],
            Self::Copilot => &[
                "agent",
                "routing",
                "router",
                "team",
                "conversational",
                "satisfaction",
                "simple_words",
                "input",
                "gates",
                "limits",
            ],
        }
    }

    /// Returns the limits that have no effect in a phase of this kind. `parallel` matters only for plans that are
    /// carried out, `plan_steps` only where a plan is made, and `redos` only for steps that end at a gate.
    fn without(self) -> &'static [&'static str] {
        match self {
            Self::OneShot | Self::Copilot => &["parallel"],
            Self::Planning => &["redos", "parallel"],
            Self::Control | Self::HumanControl => &["plan_steps"],
            Self::IdeaGeneration => &["redos", "plan_steps", "parallel"],
            // These kinds have no key `limits`.
            Self::Checkpoint | Self::Call => &[],
        }
    }

    /// Returns the default gates around the steps of a phase of this kind. A phase of the kind `hitl_control` asks a
    /// person before each step, if the workflow has no gates around steps (contract A14).
    fn gates(self, base: StepGates) -> StepGates {
        let before_step = self == Self::HumanControl && base == StepGates::default();
        StepGates { before_step: base.before_step || before_step, ..base }
    }
}

/// The kind of a phase and the settings of the phase, as they are in the workflow file.
pub(super) struct Read {
    pub(super) kind: PhaseKind,
    pub(super) word: &'static str,
    /// Default gates around the steps of the phase. The phase's own values override them.
    pub(super) gates: StepGates,
}

pub(super) fn read(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> Option<Read> {
    let Some(item) = fields.need("kind", problems) else {
        of_no_kind(fields, around, problems);
        return None;
    };
    let Some(kind) = item.one_of(&KINDS, problems) else {
        of_no_kind(fields, around, problems);
        return None;
    };
    let word = KINDS.iter().find(|(_, of)| *of == kind).map_or("", |(word, _)| word);
    for key in KEYS.known[COMMON..].iter().filter(|key| !kind.keys().contains(key)) {
        if let Some(item) = fields.find(key) {
            problems.at(item, format!("`{key}` has no effect in a phase of the kind `{word}`"));
        }
    }
    if let Some(item) = fields.find("limits") {
        settings::meaningless(item, kind.without(), word, problems);
    }
    // A missing key is a problem. The other keys of the phase are read nevertheless, to find further problems.
    let read = match kind {
        Kind::OneShot => {
            PhaseKind::OneShot { agent: agent(fields, "agent", around, problems).unwrap_or_default() }
        }
        Kind::Checkpoint => PhaseKind::Checkpoint(checkpoint(fields, problems)),
        Kind::Planning => PhaseKind::Planning(planning(fields, around, problems)?),
        Kind::Control | Kind::HumanControl => PhaseKind::Control(control(fields, around, problems)),
        Kind::IdeaGeneration => PhaseKind::IdeaGeneration(ideas(fields, around, problems)?),
        Kind::Copilot => PhaseKind::Copilot(copilot(fields, around, problems)),
        Kind::Call => call(fields, around, problems),
    };
    Some(Read { kind: read, word, gates: kind.gates(around.gates) })
}

/// Checks the keys of a phase whose kind is missing or unknown. Otherwise the wrong kind would hide all other problems
/// of the phase.
fn of_no_kind(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) {
    maybe_agent(fields, "agent", around, problems);
    if let Some(roles) = fields.find("agents").and_then(|item| item.fields(&ROLES, problems)) {
        for role in ROLES.known {
            maybe_agent(&roles, role, around, problems);
        }
    }
    fields.find("workers").map(|item| workers(item, around.agents, problems));
    for key in ["ask", "edit", "optional", "conversational", "satisfaction"] {
        fields.find(key).and_then(|item| item.flag(problems));
    }
    for key in ["reviews", "iterations", "only", "ideas", "simple_words"] {
        fields.find(key).and_then(|item| item.count(bounds::COUNT, problems));
    }
    fields.find("message").and_then(|item| item.text(bounds::TEXT, problems));
    fields.find("input").and_then(|item| item.text(bounds::TEXT, problems));
    fields.find("limits").map(|item| settings::limits(item, around.limits, problems));
}

fn checkpoint(fields: &Fields<'_>, problems: &mut Problems) -> CheckpointPhase {
    let message = fields.need("message", problems).and_then(|item| item.text(bounds::TEXT, problems));
    let ask = fields.find("ask").and_then(|item| item.flag(problems)).unwrap_or(true);
    let edit = fields.find("edit").and_then(|item| item.flag(problems)).unwrap_or_default();
    let alone = fields.find("when_no_channel");
    if let Some(item) = alone.as_ref().filter(|_| !ask) {
        problems.at(item, "this key has no effect, because `ask` is false and the checkpoint asks no person");
    }
    let ways = [("park", NoChannel::Park), ("auto", NoChannel::Auto)];
    let when_no_channel = alone.and_then(|item| item.one_of(&ways, problems)).unwrap_or_default();
    CheckpointPhase {
        message: message.unwrap_or_default(),
        unasked: !ask,
        when_no_channel,
        edit,
        position: None,
    }
}

fn planning(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> Option<Planning> {
    let roles = fields.need("agents", problems)?.fields(&PLANNING_AGENTS, problems)?;
    let improver = maybe_agent(&roles, "improver", around, problems);
    let reviewer = maybe_agent(&roles, "reviewer", around, problems);
    let reviews = count(fields, "reviews", REVIEWS, problems);
    if let Some(item) = fields.find("reviews").filter(|_| reviewer.is_none()) {
        problems.at(item, "there is no reviewer: name a `reviewer` among the `agents`");
    }
    let planner = agent(&roles, "planner", around, problems)?;
    let plans = [Some(&planner), improver.as_ref(), reviewer.as_ref()];
    let agents = if let Some(item) = fields.find("workers") {
        workers(item, around.agents, problems)
    } else {
        // By default, all agents without a role in the planning may carry out subtasks. If every agent has a role, all
        // agents may.
        let all: Vec<String> = around.agents.into_iter().flat_map(Agents::names).map(str::to_owned).collect();
        let others: Vec<String> = all.iter().filter(|name| !plans.contains(&Some(name))).cloned().collect();
        if others.is_empty() { all } else { others }
    };
    Some(Planning {
        reviews: if reviewer.is_some() { reviews } else { 0 },
        iterations: count(fields, "iterations", ITERATIONS, problems),
        settles: fields.find("then").and_then(|item| item.one_of(&THEN, problems)).unwrap_or_default(),
        always_asks: false,
        optional: fields.find("optional").and_then(|item| item.flag(problems)).unwrap_or_default(),
        planner,
        improver,
        reviewer,
        agents,
    })
}

/// Reads a control phase. The field `plan` is set after all phases are read.
fn control(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> Control {
    let plan = fields.find("plan").and_then(|item| item.text(bounds::LINE, problems));
    let only = fields.find("only").and_then(|item| item.count(bounds::COUNT, problems));
    Control {
        plan: plan.unwrap_or_default(),
        agent: agent(fields, "agent", around, problems).unwrap_or_default(),
        only: only.and_then(|only| u32::try_from(only).ok()),
    }
}

fn ideas(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> Option<IdeaGeneration> {
    let roles = fields.need("agents", problems)?.fields(&IDEA_AGENTS, problems)?;
    let maker = agent(&roles, "maker", around, problems);
    Some(IdeaGeneration {
        critic: agent(&roles, "critic", around, problems)?,
        maker: maker?,
        ideas: count(fields, "ideas", IDEAS, problems),
        reviews: count(fields, "reviews", REVIEWS, problems),
    })
}

/// Reads a copilot phase. Without the key `routing`, no agent decides where a task is sent: the agent of the phase
/// begins at once, and asks if it needs to (contract E25).
fn copilot(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> Copilot {
    let agent = agent(fields, "agent", around, problems).unwrap_or_default();
    let routing = fields.find("routing").and_then(|item| item.one_of(&ROUTING, problems));
    let router = maybe_agent(fields, "router", around, problems);
    for key in ["router", "team"] {
        if let Some(item) = fields.find(key).filter(|_| fields.find("routing").is_none()) {
            problems.at(item, format!("`{key}` has no effect without `routing`"));
        }
    }
    if let (Some(item), true) = (fields.find("router"), router.as_ref() == Some(&agent)) {
        problems.at(item, "the router must not be the working agent: name another agent");
    }
    let flag = |key: &str, problems: &mut Problems| {
        fields.find(key).and_then(|item| item.flag(problems)).unwrap_or_default()
    };
    let (conversational, satisfaction) = (flag("conversational", problems), flag("satisfaction", problems));
    if let Some(item) = fields.find("satisfaction").filter(|_| conversational && satisfaction) {
        problems.at(
            item,
            "this key has no effect with `conversational`, because the person has a turn after every round \
            anyway",
        );
    }
    let words = fields.find("simple_words").and_then(|item| item.count(bounds::COUNT, problems));
    let named = fields.find("team").map(|item| workers(item, around.agents, problems));
    // By default, a route may lead to every agent except the agent of the phase and the router.
    let everybody = || {
        let all = around.agents.into_iter().flat_map(Agents::names).map(str::to_owned);
        all.filter(|name| *name != agent && router.as_ref() != Some(name)).collect()
    };
    let team = if routing.is_some() { named.unwrap_or_else(everybody) } else { Vec::new() };
    Copilot {
        routing,
        router,
        team,
        conversational,
        satisfaction,
        simple_words: words.and_then(|words| u32::try_from(words).ok()),
        agent,
    }
}

/// Reads a call phase, in which the run itself calls a tool in the name of an agent. No model chooses this call.
fn call(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> PhaseKind {
    let item = fields.need("tool", problems);
    let tool = item.and_then(|item| item.text(bounds::LINE, problems)).unwrap_or_default();
    let spec = around.catalogue.iter().find(|spec| spec.name == tool);
    let requires =
        spec.and_then(|spec| spec.parameters["required"].as_array()).is_some_and(|it| !it.is_empty());
    match (item, spec.map(|spec| &spec.runs)) {
        (Some(item), None) => {
            let names = around.catalogue.iter().map(|spec| spec.name.as_str());
            problems.unknown(item, &tool, format!("there is no tool `{tool}`"), names);
        }
        (Some(item), Some(Runs::Here { effect: Effect::Read, .. })) if requires => {
            problems.at(item, format!("`{tool}` needs arguments, which cannot be given here"));
        }
        (None, _) | (Some(_), Some(Runs::Here { effect: Effect::Read, .. })) => {}
        (Some(item), Some(_)) => {
            problems.at(item, format!("`{tool}` is not a read-only tool that runs in Holdshort"));
        }
    }
    PhaseKind::Call { tool, agent: Some(agent(fields, "agent", around, problems).unwrap_or_default()) }
}

fn workers(item: &Item<'_>, agents: Option<&Agents>, problems: &mut Problems) -> Vec<String> {
    let named = item.texts(bounds::AGENTS, bounds::LINE, problems).unwrap_or_default();
    named
        .into_iter()
        .map(|(name, item)| {
            check_agent(&name, &item, agents, problems);
            name
        })
        .collect()
}

fn agent(fields: &Fields<'_>, key: &str, around: &Around<'_>, problems: &mut Problems) -> Option<String> {
    fields.need(key, problems)?;
    maybe_agent(fields, key, around, problems)
}

fn maybe_agent(
    fields: &Fields<'_>,
    key: &str,
    around: &Around<'_>,
    problems: &mut Problems,
) -> Option<String> {
    let item = fields.find(key)?;
    let name = item.text(bounds::LINE, problems)?;
    check_agent(&name, item, around.agents, problems);
    Some(name)
}

fn check_agent(name: &str, item: &Item<'_>, agents: Option<&Agents>, problems: &mut Problems) {
    if let Some(agents) = agents.filter(|agents| !agents.has(name)) {
        problems.unknown(item, name, format!("there is no agent `{name}`"), agents.names());
    }
}

fn count(fields: &Fields<'_>, key: &str, usual: u32, problems: &mut Problems) -> u32 {
    let count = fields.find(key).and_then(|item| item.count(bounds::COUNT, problems));
    count.and_then(|count| u32::try_from(count).ok()).unwrap_or(usual)
}
