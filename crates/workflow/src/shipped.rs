//! The workflows in the binary, as texts. The only workflow without a text is `external`, which is built by code.
//! Parses nothing.

use std::collections::BTreeMap;

use holdshort_core::asking::Asking;
use holdshort_core::definition::{Definition, EXTERNAL, Gates, Limits};
use serde_json::json;

/// The files of a shipped workflow: one folder below `workflows/`, or one workflow of a pack.
#[derive(Debug)]
pub struct Shipped {
    pub name: &'static str,
    /// Names that other systems use for the shipped workflow.
    pub aliases: &'static [&'static str],
    /// Sentence about what a person sees in a demo of the workflow.
    pub shows: &'static str,
    /// Description of the sample files that a demo copies into its workspace `folder`.
    pub sample_is: &'static str,
    pub folder: &'static str,
    pub workflow: &'static str,
    pub rehearsal: Option<&'static str>,
    pub readme: &'static str,
    /// Input of a run of the workflow that works on the sample, as JSON text.
    pub input: &'static str,
    /// Files of the workflow's sample workspace, sorted by path. Each entry has the path (with `/` between folders) and
    /// the content.
    pub sample: &'static [(&'static str, &'static [u8])],
}

/// Returns the shipped workflows with a sample, except those of packs, sorted by name.
pub fn shipped() -> &'static [Shipped] {
    const { &[CODELAB, COPILOT, PAIR, RESEARCH] }
}

/// A shipped workflow without a sample and without a rehearsal.
#[derive(Debug)]
pub struct Plain {
    pub name: &'static str,
    pub workflow: &'static str,
}

/// Workflows for any task in any folder, sorted by name. They range from one that never asks a person to one that asks
/// at every gate (contract A16).
pub const PRESETS: [Plain; 5] = [
    Plain { name: "autonomous", workflow: include_str!("../../../workflows/autonomous/workflow.yaml") },
    Plain {
        name: "error_recovery",
        workflow: include_str!("../../../workflows/error_recovery/workflow.yaml"),
    },
    Plain {
        name: "full_interactive",
        workflow: include_str!("../../../workflows/full_interactive/workflow.yaml"),
    },
    Plain { name: "review_plan", workflow: include_str!("../../../workflows/review_plan/workflow.yaml") },
    Plain { name: "step_by_step", workflow: include_str!("../../../workflows/step_by_step/workflow.yaml") },
];

/// Workflows for tasks that arrive through the protocols of other systems (`crates/edges`). Each has a rehearsal for
/// servers without a model.
pub const EDGES: [(Plain, &str); 1] = [(
    Plain { name: "codelab_ide", workflow: include_str!("../../../workflows/codelab_ide/workflow.yaml") },
    include_str!("../../../workflows/codelab_ide/rehearsal.yaml"),
)];

/// Returns the name and the text of every workflow in the binary, including those of packs.
pub(crate) fn texts(packs: &[&'static Shipped]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let samples = samples(packs).map(|shipped| (shipped.name, shipped.workflow));
    PRESETS
        .iter()
        .chain(EDGES.iter().map(|(plain, _)| plain))
        .map(|plain| (plain.name, plain.workflow))
        .chain(samples)
}

/// Returns the rehearsals of shipped workflows, each with the name of its workflow.
pub(crate) fn rehearsals(packs: &[&'static Shipped]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_samples = samples(packs).filter_map(|shipped| Some((shipped.name, shipped.rehearsal?)));
    EDGES.iter().map(|(plain, rehearsal)| (plain.name, *rehearsal)).chain(of_samples)
}

pub(crate) fn samples(packs: &[&'static Shipped]) -> impl Iterator<Item = &'static Shipped> {
    shipped().iter().chain(packs.iter().copied())
}

/// Returns the workflow for requests of external agents. This workflow runs nothing.
pub fn external() -> Definition {
    Definition {
        name: EXTERNAL.to_owned(),
        description: "Agents of other frameworks ask people through this workflow. Holdshort itself runs \
            nothing for it."
            .to_owned(),
        input: json!({"type": "object"}),
        agents: BTreeMap::new(),
        tools: BTreeMap::new(),
        phases: Vec::new(),
        gates: Gates::default(),
        limits: Limits::default(),
        asking: Asking::default(),
        models: BTreeMap::new(),
        network: false,
        web: holdshort_core::web::Web::default(),
        result: None,
    }
}

const CODELAB: Shipped = Shipped {
    name: "codelab",
    aliases: &[],
    shows: "An orchestrator makes a plan, and specialists carry it out one after the other. You decide on \
        the plan and on each change.",
    sample_is: "a small to-do list",
    folder: "todo",
    workflow: include_str!("../../../workflows/codelab/workflow.yaml"),
    rehearsal: Some(include_str!("../../../workflows/codelab/rehearsal.yaml")),
    readme: include_str!("../../../workflows/codelab/README.md"),
    input: include_str!("../../../workflows/codelab/input.json"),
    sample: &[
        (".gitignore", include_bytes!("../../../workflows/codelab/sample/.gitignore")),
        ("README.md", include_bytes!("../../../workflows/codelab/sample/README.md")),
        ("test_todo.py", include_bytes!("../../../workflows/codelab/sample/test_todo.py")),
        ("todo.py", include_bytes!("../../../workflows/codelab/sample/todo.py")),
    ],
};

const COPILOT: Shipped = Shipped {
    name: "copilot",
    aliases: &[],
    shows: "An agent that you talk with. It asks questions, makes a plan, works, and asks if the result is \
        what you need.",
    sample_is: "a small Python program",
    folder: "spend",
    workflow: include_str!("../../../workflows/copilot/workflow.yaml"),
    rehearsal: Some(include_str!("../../../workflows/copilot/rehearsal.yaml")),
    readme: include_str!("../../../workflows/copilot/README.md"),
    input: include_str!("../../../workflows/copilot/input.json"),
    sample: &[
        (".gitignore", include_bytes!("../../../workflows/copilot/sample/.gitignore")),
        ("README.md", include_bytes!("../../../workflows/copilot/sample/README.md")),
        ("spend.csv", include_bytes!("../../../workflows/copilot/sample/spend.csv")),
        ("spend.py", include_bytes!("../../../workflows/copilot/sample/spend.py")),
        ("test_spend.py", include_bytes!("../../../workflows/copilot/sample/test_spend.py")),
    ],
};

const PAIR: Shipped = Shipped {
    name: "pair",
    aliases: &[],
    shows: "An agent works in a repository. It stops and asks before each step that needs your decision.",
    sample_is: "a small Python package",
    folder: "boxrent",
    workflow: include_str!("../../../workflows/pair/workflow.yaml"),
    rehearsal: Some(include_str!("../../../workflows/pair/rehearsal.yaml")),
    readme: include_str!("../../../workflows/pair/README.md"),
    input: include_str!("../../../workflows/pair/input.json"),
    sample: &[
        (".gitignore", include_bytes!("../../../workflows/pair/sample/.gitignore")),
        ("README.md", include_bytes!("../../../workflows/pair/sample/README.md")),
        ("boxrent/__init__.py", include_bytes!("../../../workflows/pair/sample/boxrent/__init__.py")),
        ("boxrent/invoice.py", include_bytes!("../../../workflows/pair/sample/boxrent/invoice.py")),
        ("boxrent/money.py", include_bytes!("../../../workflows/pair/sample/boxrent/money.py")),
        ("boxrent/periods.py", include_bytes!("../../../workflows/pair/sample/boxrent/periods.py")),
        ("examples/quarter.txt", include_bytes!("../../../workflows/pair/sample/examples/quarter.txt")),
        ("examples/render.py", include_bytes!("../../../workflows/pair/sample/examples/render.py")),
        ("examples/winter.txt", include_bytes!("../../../workflows/pair/sample/examples/winter.txt")),
        ("pyproject.toml", include_bytes!("../../../workflows/pair/sample/pyproject.toml")),
        ("tests/__init__.py", include_bytes!("../../../workflows/pair/sample/tests/__init__.py")),
        ("tests/test_invoice.py", include_bytes!("../../../workflows/pair/sample/tests/test_invoice.py")),
        ("tests/test_money.py", include_bytes!("../../../workflows/pair/sample/tests/test_money.py")),
        ("tests/test_periods.py", include_bytes!("../../../workflows/pair/sample/tests/test_periods.py")),
    ],
};

const RESEARCH: Shipped = Shipped {
    name: "research",
    aliases: &[],
    shows: "Agents plan how to answer a question about data. You decide on the plan, and the agents carry \
            it out in parallel.",
    sample_is: "a year of rain",
    folder: "rain",
    workflow: include_str!("../../../workflows/research/workflow.yaml"),
    rehearsal: Some(include_str!("../../../workflows/research/rehearsal.yaml")),
    readme: include_str!("../../../workflows/research/README.md"),
    input: include_str!("../../../workflows/research/input.json"),
    sample: &[
        ("README.md", include_bytes!("../../../workflows/research/sample/README.md")),
        ("rain.csv", include_bytes!("../../../workflows/research/sample/rain.csv")),
    ],
};
