//! Routes for a copilot's task. A route determines what happens before work on the task begins (contracts A19 to A22).
//! The agent can begin at once or with a plan. Alternatively, a person first answers questions or chooses a proposal.
//!
//! A router agent can select the route. `answer.rs` parses the reply of the router agent. Without a router agent, or if
//! the reply is malformed, `rules.rs` selects the route. `run/phase/copilot.rs` then follows the route.

mod answer;
mod rules;

use serde::{Deserialize, Serialize};

pub use answer::{FORM, read, response_schema};
pub use rules::heuristics;

/// Mode that decides how often a person is asked before work on a task begins (contract A20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The person is asked nothing before work on a task begins.
    Minimal,
    /// The person is asked only essential questions before work on a task begins.
    Balanced,
    /// The person is asked about everything that is unclear. Proposals are shown for shorter tasks than in the balanced
    /// mode.
    Aggressive,
}

impl Mode {
    /// Returns the instruction that tells a router agent about the mode.
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
    /// An agent begins the task at once.
    #[default]
    Direct,
    /// An agent begins the task, and gets the hint that a plan would help.
    Plan,
    /// A person answers questions before an agent begins the task.
    Clarify,
    /// A person chooses a proposal before an agent begins the task.
    Propose,
}

/// Maximum complexity of a simple task (contract A19).
pub const SIMPLE: u8 = 30;
/// Minimum complexity of a task at which the agent gets the hint that a plan would help (contract E25).
pub const COMPLEX: u8 = 61;

/// Result of selecting a route for a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routed {
    pub route: Route,
    /// Complexity of the task, from 0 to 100.
    pub complexity: Option<u8>,
    /// Agent that begins the task. If `None`, the default agent of the phase begins the task.
    pub agent: Option<String>,
    pub questions: Vec<String>,
    pub proposals: Vec<Proposal>,
    /// Text of the task, reworded by the router agent. `None` if the router agent did not reword the task.
    pub refined: Option<String>,
    /// Reason why the route was selected.
    pub reasoning: String,
}

/// Proposal for how to do a task. A person chooses one of several proposals.
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
    /// Returns hints for the agent that begins the task.
    pub(crate) fn hint(&self) -> Option<String> {
        let is_complex = self.complexity.is_some_and(|complexity| complexity >= COMPLEX);
        let refined =
            self.refined.as_ref().map(|task| format!("The router's understanding of the task: {task}"));
        let plan = "This task is complex, so a plan helps. If your tools can make a plan, make one before you \
            begin.";
        let plan = (self.route == Route::Plan || is_complex).then(|| plan.to_owned());
        let lines: Vec<String> = refined.into_iter().chain(plan).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Adds missing questions or proposals to the route of a task. A route that asks questions but has none gets
    /// default questions. A route that makes proposals but has fewer than two gets default proposals.
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

/// Returns the text of the new task, if a person's message asks for a new task (contract A23).
pub fn new_task(text: &str) -> Option<&str> {
    const WORDS: [&str; 5] = ["new task:", "do:", "now:", "switch to:", "instead,"];
    let text = text.trim();
    let after = |word: &&str| {
        text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word)).map(|_| &text[word.len()..])
    };
    let task = WORDS.iter().find_map(after)?;
    Some(task.trim()).filter(|task| !task.is_empty())
}
