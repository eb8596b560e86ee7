//! Hooks of coding agents, with the real programs: what an agent does with each answer of a hook, and which of its own
//! rules and sandboxes hold in addition.
//!
//! `docs/reference/hooks.md` lists the results. `page.rs` compares the page with the tables here.

mod answers;
mod decided;
mod deferred;
mod failures;
mod own_rules;
mod page;
mod permission_prompt;
mod unseen;

use holdshort_testkit::coding_agent::{AgentHome, AgentRun, CodingAgent};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Ran,
    /// No command ran, or the coding agent refused the effect of the command.
    Stopped,
    /// The command with which the hook replaced the model's command ran.
    Rewritten,
}

impl Outcome {
    fn title(self) -> &'static str {
        match self {
            Self::Ran => "**runs**",
            Self::Stopped => "stopped",
            Self::Rewritten => "rewritten",
        }
    }
}

/// Command that the scripted model requests. It creates the file [`RAN`].
const COMMAND: &str = "printf x > ran.txt";
const RAN: &str = "ran.txt";
/// Command with which a hook replaces [`COMMAND`]. The replacement creates the file [`REWRITTEN`].
const REWRITE: &str = "printf x > rewritten.txt";
const REWRITTEN: &str = "rewritten.txt";

/// Runs the scripted command of the coding agent in this home, and returns the outcome.
fn play(agent: CodingAgent, home: &AgentHome) -> (Outcome, AgentRun) {
    let run = home.run(vec![vec![agent.shell(COMMAND)]]);
    assert_eq!(run.strays, Vec::<String>::new(), "{agent:?} reaches for another host");
    (outcome(home), run)
}

fn outcome(home: &AgentHome) -> Outcome {
    match (home.has(RAN), home.has(REWRITTEN)) {
        (false, false) => Outcome::Stopped,
        (false, true) => Outcome::Rewritten,
        (true, _) => Outcome::Ran,
    }
}

/// Returns the answer that a hook gives before a tool runs, in the coding agent's format.
fn answer(agent: CodingAgent, decision: &str, reason: Option<&str>) -> Value {
    let mut answer = if agent == CodingAgent::Gemini {
        json!({ "decision": decision })
    } else {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision}})
    };
    if let Some(reason) = reason {
        if agent == CodingAgent::Gemini {
            answer["reason"] = reason.into();
        } else {
            answer["hookSpecificOutput"]["permissionDecisionReason"] = reason.into();
        }
    }
    answer
}

/// Returns the answer of a hook that replaces the command line by `command`, in the coding agent's format.
fn rewrite(agent: CodingAgent, decision: &str, command: &str) -> Value {
    let mut answer = answer(agent, decision, Some("rewritten"));
    let member = if agent == CodingAgent::Gemini { "tool_input" } else { "updatedInput" };
    answer["hookSpecificOutput"]["hookEventName"] = agent.before_tool().into();
    answer["hookSpecificOutput"][member] = json!({ "command": command });
    answer
}

/// Returns the lines of a hook's script that read the payload and print this document.
fn print(document: &Value) -> String {
    format!("cat > /dev/null\ncat <<'END'\n{document}\nEND\n")
}

/// Returns the home directory of a coding agent with one hook, which is a script with these lines.
fn gated(agent: CodingAgent, lines: &str) -> AgentHome {
    let home = AgentHome::new(agent);
    let script = home.script("hook", &format!("#!/bin/sh\n{lines}"));
    home.gate(script.display().to_string())
}
