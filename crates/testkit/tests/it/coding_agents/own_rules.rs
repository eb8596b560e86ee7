//! Rules of the user in the agent's own settings. A hook that allows a command does not override these rules. A hook
//! that rewrites a command evades them, because each agent applies the rules to the rewritten command only. Therefore
//! `holdshort hook` must not rewrite a command that such a rule may match.

use std::fs;
use std::path::Path;

use holdshort_testkit::coding_agent::{AgentHome, CodingAgent, SecondLine};
use serde_json::json;

use super::Outcome::{self, Ran, Rewritten, Stopped};
use super::{answer, outcome, print, rewrite};

/// Decision of a rule in the settings of the coding agent's user.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Forbids,
    Asks,
}

const ORIGINAL: &str = "touch ran.txt";
const REPLACEMENT: &str = "mkdir rewritten.txt";

/// Returns the home directory of a coding agent whose user has a rule for commands that begin with `program`.
fn with_rule(agent: CodingAgent, rule: Rule, program: &str) -> AgentHome {
    let home = AgentHome::new(agent);
    match agent {
        CodingAgent::Claude => {
            let list = match rule {
                Rule::Forbids => "deny",
                Rule::Asks => "ask",
            };
            // The rule that allows `Bash` is the user's, too: both rules match.
            home.setting("permissions", json!({"allow": ["Bash"], list: [format!("Bash({program}:*)")]}))
        }
        CodingAgent::Codex => {
            let decision = match rule {
                Rule::Forbids => "forbidden",
                Rule::Asks => "prompt",
            };
            let text = format!("prefix_rule(pattern=[\"{program}\"], decision=\"{decision}\")\n");
            write(&home.home().join(".codex/rules/default.rules"), &text);
            home
        }
        CodingAgent::Gemini => {
            let decision = match rule {
                Rule::Forbids => "deny",
                Rule::Asks => "ask_user",
            };
            let text = format!(
                "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"{program}\"\n\
                 decision = \"{decision}\"\npriority = 900\n"
            );
            write(&home.home().join(".gemini/policies/rules.toml"), &text);
            home
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn plays(agent: CodingAgent, home: AgentHome, lines: &str) -> Outcome {
    let script = home.script("hook", &format!("#!/bin/sh\n{lines}"));
    let home = home.gate(script.display().to_string()).second_line(SecondLine::Off);
    home.run(vec![vec![agent.shell(ORIGINAL)]]);
    outcome(&home)
}

/// Compares four outcomes for a user's rule that forbids a command and for one that asks. The rule alone stops its
/// command. The hook then allows the command, rewrites it, or rewrites another command into it.
fn check(agent: CodingAgent) {
    let allow = print(&answer(agent, "allow", None));
    let rewrites = print(&rewrite(agent, "allow", REPLACEMENT));
    for rule in [Rule::Forbids, Rule::Asks] {
        let got = [
            plays(agent, with_rule(agent, rule, "touch"), "cat > /dev/null\n"),
            plays(agent, with_rule(agent, rule, "touch"), &allow),
            plays(agent, with_rule(agent, rule, "touch"), &rewrites),
            plays(agent, with_rule(agent, rule, "mkdir"), &rewrites),
        ];
        assert_eq!(got, [Stopped, Stopped, Rewritten, Stopped], "{} {rule:?}", agent.title());
    }
}

#[test]
#[ignore = "it starts the agent 8 times"]
fn campaign_of_rules_of_claude_code() {
    check(CodingAgent::Claude);
}

#[test]
#[ignore = "it starts the agent 8 times"]
fn campaign_of_rules_of_codex() {
    check(CodingAgent::Codex);
}

#[test]
#[ignore = "it starts the agent 8 times"]
fn campaign_of_rules_of_gemini_cli() {
    check(CodingAgent::Gemini);
}

/// A rewritten command evades a rule of the user for the original command. Therefore some commands are not rewritten.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_rewrite_passes_the_rules_of_codex_by() {
    let lines = print(&rewrite(CodingAgent::Codex, "allow", REPLACEMENT));
    let forbidden = with_rule(CodingAgent::Codex, Rule::Forbids, "touch");
    assert_eq!(plays(CodingAgent::Codex, forbidden, &lines), Rewritten);
}

/// Hooks run at the same time: none of them sees the rewritten command.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_second_hook_sees_the_original_command() {
    for agent in [CodingAgent::Claude, CodingAgent::Codex] {
        let home = AgentHome::new(agent);
        let lines = print(&rewrite(agent, "allow", REPLACEMENT));
        let rewriting = home.script("rewriting", &format!("#!/bin/sh\n{lines}"));
        let seen = home.folder().join("seen.json");
        let looking = home.script("looking", &format!("#!/bin/sh\ncat > {}\n", seen.display()));
        let home = home.gate(rewriting.display().to_string()).gate(looking.display().to_string());
        home.run(vec![vec![agent.shell(ORIGINAL)]]);
        let payload: serde_json::Value = serde_json::from_slice(&fs::read(seen).unwrap()).unwrap();
        assert_eq!((outcome(&home), &payload["tool_input"]["command"]), (Rewritten, &json!(ORIGINAL)));
    }
}

/// Control: without a hook and without a rule the command runs.
#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_the_command_runs_without_a_hook() {
    let home = AgentHome::new(CodingAgent::Codex);
    home.run(vec![vec![CodingAgent::Codex.shell(ORIGINAL)]]);
    assert_eq!(outcome(&home), Ran);
}
