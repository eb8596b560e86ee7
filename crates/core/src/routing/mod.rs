//! How a copilot's task is done: at once, with a plan, after a question, or as one of several ways (contracts A19 to A22).
//!
//! A router agent's answer is read here, and `rules.rs` holds what counts where no router is asked, or none can be read.
//! What follows from a route is the run's business (`run/phase/copilot.rs`).

mod answer;
mod rules;

use serde::{Deserialize, Serialize};

pub use answer::{FORM, read, response_schema};
pub use rules::heuristics;

/// How readily a person is asked before work begins (contract A20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nobody is asked.
    Minimal,
    /// What is essential is asked.
    Balanced,
    /// Whatever is unclear is asked, and several ways are put forward earlier.
    Aggressive,
}

impl Mode {
    /// What a router is told of it.
    pub fn guide(self) -> &'static str {
        match self {
            Self::Minimal => "Mode: minimal. Act at once; ask nothing.",
            Self::Balanced => "Mode: balanced. Prefer action; clarify only what is essential.",
            Self::Aggressive => {
                "Mode: aggressive. Clarify whatever is ambiguous, and propose where several ways are good."
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// An agent begins.
    #[default]
    Direct,
    /// An agent begins, and is told that a plan helps.
    Plan,
    /// A person is asked first.
    Clarify,
    /// A person chooses one of several ways first.
    Propose,
}

/// Up to here a task is simple (contract A19).
pub const SIMPLE: u8 = 30;
/// From here on an agent is told that a plan helps (contract E25).
pub const COMPLEX: u8 = 61;

/// What a router, or the rules, say of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routed {
    pub route: Route,
    /// 0 to 100.
    pub complexity: Option<u8>,
    /// Who begins; `None`: the phase's own agent.
    pub agent: Option<String>,
    pub questions: Vec<String>,
    pub proposals: Vec<Proposal>,
    /// The task as the router understands it.
    pub refined: Option<String>,
    /// Why, in words.
    pub reasoning: String,
}

/// One way to go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub title: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub pros: Vec<String>,
    #[serde(default)]
    pub cons: Vec<String>,
}

impl Routed {
    /// What whoever begins is told of the route.
    pub(crate) fn hint(&self) -> Option<String> {
        let is_complex = self.complexity.is_some_and(|complexity| complexity >= COMPLEX);
        let refined =
            self.refined.as_ref().map(|task| format!("The router understands the task like this: {task}"));
        let plan =
            "This task is complex: a plan helps. Make one with your tools before you begin, if you can.";
        let plan = (self.route == Route::Plan || is_complex).then(|| plan.to_owned());
        let lines: Vec<String> = refined.into_iter().chain(plan).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// A question has its words, and a choice at least two ways, whoever wanted them.
    pub(crate) fn complete(mut self) -> Self {
        if self.route == Route::Clarify && self.questions.is_empty() {
            self.questions = rules::QUESTIONS.map(str::to_owned).to_vec();
        }
        if self.route == Route::Propose && self.proposals.len() < 2 {
            self.proposals = rules::proposals();
        }
        self
    }
}

/// Whether what a person says in their turn names a new task: then, the task (contract A23).
pub fn new_task(text: &str) -> Option<&str> {
    const WORDS: [&str; 5] = ["new task:", "do:", "now:", "switch to:", "instead,"];
    let text = text.trim();
    let after = |word: &&str| {
        text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word)).map(|_| &text[word.len()..])
    };
    let task = WORDS.iter().find_map(after)?;
    Some(task.trim()).filter(|task| !task.is_empty())
}
