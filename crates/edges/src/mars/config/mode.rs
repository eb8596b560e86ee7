//! Chooses the phases of a run from the config's mode, variant, preset, or list of phases (contracts A8, A16).

use holdshort_core::schema::Problem;
use serde_json::Value;

use super::raw_config::{RawConfig, Reader};
use crate::limits::MARS_PHASES;

/// Types of phases in MARS (contract A8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Planning,
    HitlPlanning,
    Control,
    HitlControl,
    OneShot,
    IdeaGeneration,
    HitlCheckpoint,
    Copilot,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Planning,
        Self::HitlPlanning,
        Self::Control,
        Self::HitlControl,
        Self::OneShot,
        Self::IdeaGeneration,
        Self::HitlCheckpoint,
        Self::Copilot,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::HitlPlanning => "hitl_planning",
            Self::Control => "control",
            Self::HitlControl => "hitl_control",
            Self::OneShot => "one_shot",
            Self::IdeaGeneration => "idea_generation",
            Self::HitlCheckpoint => "hitl_checkpoint",
            Self::Copilot => "copilot",
        }
    }

    /// Returns the config keys that apply to a type of phase (contracts A9 to A14).
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Planning => {
                &["max_rounds", "max_plan_steps", "n_plan_reviews", "max_n_attempts", "timeout_seconds"]
            }
            Self::HitlPlanning => &[
                "max_rounds",
                "max_plan_steps",
                "n_plan_reviews",
                "max_n_attempts",
                "timeout_seconds",
                "max_human_iterations",
                "auto_approve_after_iterations",
                "require_explicit_approval",
                "show_intermediate_plans",
                "allow_plan_modification",
            ],
            Self::Control | Self::HitlControl => &[
                "max_rounds",
                "max_n_attempts",
                "timeout_seconds",
                "execute_all_steps",
                "step_number",
                "approval_mode",
                "max_redos",
                "allow_step_skip",
                "allow_step_retry",
                "allow_step_modification",
                "show_step_context",
                "auto_approve_successful_steps",
            ],
            Self::OneShot => &[
                "agent",
                "max_rounds",
                "max_n_attempts",
                "timeout_seconds",
                "approval_mode",
                "max_redos",
                "show_step_context",
            ],
            Self::IdeaGeneration => {
                &["n_ideas", "n_reviews", "max_rounds", "max_n_attempts", "timeout_seconds"]
            }
            Self::Copilot => &[
                "max_rounds",
                "max_n_attempts",
                "timeout_seconds",
                "max_plan_steps",
                "approval_mode",
                "max_redos",
                "show_step_context",
                "available_agents",
                "enable_planning",
                "use_dynamic_routing",
                "use_copilot_control",
                "control_model",
                "complexity_threshold",
                "intelligent_routing",
                "auto_approve_simple",
                "auto_continue",
                "continuous_mode",
                "conversational",
                "enable_phase_tools",
                "ask_satisfaction",
            ],
            Self::HitlCheckpoint => &[
                "checkpoint_type",
                "require_approval",
                "timeout_seconds",
                "default_on_timeout",
                "show_plan",
                "show_context",
                "custom_message",
            ],
        }
    }
}

/// Points of a step at which a person is asked to approve (contracts A14, E2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Approval {
    #[default]
    Never,
    BeforeStep,
    AfterStep,
    Both,
    OnError,
}

/// Values of the config key `approval_mode`: the canonical values, followed by aliases (contract E2).
pub(super) const APPROVALS: [(&str, Approval); 8] = [
    ("none", Approval::Never),
    ("before_step", Approval::BeforeStep),
    ("after_step", Approval::AfterStep),
    ("both", Approval::Both),
    ("on_error", Approval::OnError),
    ("never", Approval::Never),
    ("manual", Approval::BeforeStep),
    ("before_each_step", Approval::BeforeStep),
];

/// Additional value of the config key `approval_mode` for a copilot. This value opens no checkpoints at the steps of a
/// phase.
pub(super) const COPILOT_APPROVAL: (&str, Approval) = ("conversational", Approval::Never);

/// Setting of a mode that decides at which points of the steps of a phase a person is asked.
#[derive(Clone, Copy)]
pub(super) enum Asks {
    /// The mode decides at which points of a step a person is asked. The key `approval_mode` is ignored, because the
    /// web UI's form sends `approvalMode` with every mode (contract A32).
    Always(Approval),
    /// The key `approval_mode` decides at which points of a step a person is asked. If the key has no value, these
    /// points apply.
    Unless(Approval),
}

pub(super) struct Chosen {
    pub(super) kind: Kind,
    pub(super) asks: Asks,
    /// Config keys that apply only to the chosen phase.
    pub(super) own: RawConfig,
    pub(super) pointer: String,
}

impl Chosen {
    fn new(kind: Kind, asks: Asks) -> Self {
        Self { kind, asks, own: RawConfig::default(), pointer: "/config/mode".to_owned() }
    }

    /// Returns a phase of the run without checkpoints at its steps.
    pub(super) fn quiet(kind: Kind) -> Self {
        Self::new(kind, Asks::Always(Approval::Never))
    }

    /// Returns true if the key, set for the whole config, changes this phase.
    pub(super) fn heeds(&self, key: &str) -> bool {
        let is_fixed = key == "approval_mode" && matches!(self.asks, Asks::Always(_));
        self.kind.keys().contains(&key) && !is_fixed
    }
}

/// Phases of a MARS mode, each with the setting that decides when a person is asked.
type Phases = &'static [(Kind, Asks)];

const QUIET: Asks = Asks::Always(Approval::Never);
const PLANNED: Phases = &[(Kind::Planning, QUIET), (Kind::Control, QUIET)];
const REVIEWED: Phases = &[(Kind::HitlPlanning, QUIET), (Kind::Control, QUIET)];
const RECOVERED: Phases = &[(Kind::Planning, QUIET), (Kind::HitlControl, Asks::Always(Approval::OnError))];
const BY_STEPS: Phases =
    &[(Kind::HitlPlanning, QUIET), (Kind::HitlControl, Asks::Unless(Approval::BeforeStep))];
const INTERACTIVE: Phases = &[(Kind::HitlPlanning, QUIET), (Kind::HitlControl, Asks::Unless(Approval::Both))];

pub(super) const DEFAULT: &str = "one_shot";
const HITL: &str = "hitl_interactive";

/// Name, description for users, and phases of each mode. The entries from index `PRESETS` on are also presets (contract
/// A16).
const MODES: [(&str, &str, Phases); 9] = [
    (DEFAULT, "one agent works until it has an answer", &[(Kind::OneShot, QUIET)]),
    (
        "planning_control",
        "a plan is made and carried out; people are asked where the config requires it",
        PLANNED,
    ),
    (HITL, "people decide on the plan and on its steps, as `hitl_variant` says", INTERACTIVE),
    ("idea_generation", "one agent has ideas, another agent judges them", &[(Kind::IdeaGeneration, QUIET)]),
    (COPILOT, "an assistant that asks when necessary, and plans when useful", CHATTED),
    ("autonomous", "a plan is made and carried out without a person", PLANNED),
    ("review_plan", "a person decides on the plan", REVIEWED),
    ("step_by_step", "a person decides on the plan and before each step", BY_STEPS),
    ("error_recovery", "a person is asked when a step fails", RECOVERED),
];
const PRESETS: usize = 4;

/// Phases for each value of the config key `hitl_variant`.
const VARIANTS: [(&str, Phases); 3] =
    [("full_interactive", INTERACTIVE), ("planning_only", REVIEWED), ("error_recovery", RECOVERED)];

const COPILOT: &str = "copilot";
/// Phases of the mode in which the person has a turn after each round of a task that is not simple (contract E26).
const CHATTED: Phases = &[(Kind::Copilot, Asks::Unless(Approval::AfterStep))];

/// Returns the canonical spelling of a mode: lower case, with `_` instead of `-`.
pub(super) fn canonical(mode: &str) -> String {
    mode.trim().to_lowercase().replace('-', "_")
}

pub(super) fn client_name(mode: &str) -> String {
    let name = canonical(mode);
    let is_mode = MODES[..PRESETS].iter().any(|(mode, ..)| *mode == name);
    if is_mode { name.replace('_', "-") } else { name }
}

/// Returns the names and descriptions of all modes and presets.
pub(in super::super) fn all() -> impl Iterator<Item = (String, &'static str)> {
    MODES.iter().map(|(name, what, _)| (client_name(name), *what))
}

/// Returns the phases that the config chooses. Also returns a flag that is true if `hitl_variant` applies to the mode.
pub(super) fn read(reader: &mut Reader<'_>) -> (Vec<Chosen>, bool) {
    let variant = reader.one_of("hitl_variant", &VARIANTS);
    if let (Some(_), Some(item)) = (reader.item("mode"), reader.item("preset")) {
        reader.refuse(item, "sets the mode, and so does `mode`: omit one of them");
    }
    if let Some(item) = reader.item("phases") {
        for key in ["mode", "preset"] {
            if let Some(other) = reader.item(key) {
                reader.refuse(other, "chooses the phases, and so does `phases`: omit one of them");
            }
        }
        return (listed(&item.value, &item.pointer, reader.problems), false);
    }
    let (key, modes) = match reader.item("preset") {
        Some(_) => ("preset", &MODES[PRESETS..]),
        None => ("mode", &MODES[..]),
    };
    let named = reader.one_of(key, &modes.iter().map(|mode| (mode.0, mode)).collect::<Vec<_>>());
    let (name, _, phases) = named.unwrap_or(&MODES[0]);
    let has_variants = *name == HITL;
    let phases = variant.filter(|_| has_variants).unwrap_or(phases);
    (phases.iter().map(|(kind, asks)| Chosen::new(*kind, *asks)).collect(), has_variants)
}

/// Reads the phases from a list `[{type, config}]` in a config. The phases in the list run one after the other.
fn listed(value: &Value, pointer: &str, problems: &mut Vec<Problem>) -> Vec<Chosen> {
    let Some(list) = value.as_array().filter(|list| (1..=MARS_PHASES).contains(&list.len())) else {
        problems.push(Problem::new(pointer, format!("is not a list of 1 to {MARS_PHASES} phases")));
        return Vec::new();
    };
    let mut chosen = Vec::new();
    for (i, each) in list.iter().enumerate() {
        let at = format!("{pointer}/{i}");
        let Some(fields) = each.as_object() else {
            problems.push(Problem::new(at, "is not an object with `type` and `config`"));
            continue;
        };
        for key in fields.keys().filter(|key| !["type", "config"].contains(&key.as_str())) {
            problems.push(Problem::new(format!("{at}/{key}"), "is not a known key"));
        }
        let word = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == canonical(word));
        let Some(kind) = kind else {
            let known: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
            let why = format!("is not a type of phase, expected one of: {}", known.join(", "));
            problems.push(Problem::new(format!("{at}/type"), why));
            continue;
        };
        let usual = match kind {
            Kind::HitlControl => Approval::BeforeStep,
            Kind::Copilot => Approval::AfterStep,
            _ => Approval::Never,
        };
        let mut phase = Chosen { pointer: at.clone(), ..Chosen::new(kind, Asks::Unless(usual)) };
        match fields.get("config") {
            None | Some(Value::Null) => {}
            Some(Value::Object(config)) => {
                phase.own = RawConfig::from_map(config, &format!("{at}/config"), problems);
            }
            Some(_) => problems.push(Problem::new(format!("{at}/config"), "is not an object")),
        }
        for (key, item) in phase.own.items().filter(|(key, _)| !kind.keys().contains(key)) {
            let why = format!("`{key}` has no effect in a phase of the type `{}`", kind.as_str());
            problems.push(Problem::new(&item.pointer, why));
        }
        chosen.push(phase);
    }
    chosen
}
