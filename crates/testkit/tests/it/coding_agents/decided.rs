//! `holdshort hook run` with the real agents and a real server: a person decides, a rule decides, or nobody does.

use std::fs;
use std::thread;

use holdshort_testkit::coding_agent::{AgentHome, CodingAgent, SecondLine};
use holdshort_testkit::home::{Home, Serving, wait_for};
use serde_json::{Value, json};

use super::Outcome::{self, Ran, Rewritten, Stopped};
use super::failures::Installed;
use super::{COMMAND, REWRITE, outcome, play};

/// Milliseconds that a hook waits for an answer, in tests in which somebody answers.
const PATIENT_MS: u64 = 100_000;
/// Milliseconds that a hook waits for an answer, in tests in which nobody answers.
const IMPATIENT_MS: u64 = 15_000;

/// A server, and a coding agent whose hook asks the server.
struct Gate {
    agent: CodingAgent,
    server: Home,
    address: String,
    home: AgentHome,
}

impl Gate {
    fn new(agent: CodingAgent, rules: &str, timeout_ms: u64) -> (Self, Serving) {
        let server = Home::new();
        let file = server.path().join("rules.yaml");
        fs::write(&file, rules).unwrap();
        let serving = server.serve(&["--rules", file.to_str().unwrap()]);
        let address = serving.started["listening"].as_str().unwrap().to_owned();
        let key = server.run(&["keys", "create", "coding-agent"]);
        assert_eq!(key.code, 0, "{key:?}");
        let home = AgentHome::new(agent);
        let installed = Installed::new(&home, agent, &address, key.out.trim());
        installed.set_timeout(timeout_ms);
        let home = home.gate(installed.program.display().to_string());
        (Self { agent, server, address, home }, serving)
    }

    /// Waits until the agent's hook has opened an interrupt, and returns the id of the interrupt.
    fn asked(&self) -> String {
        let inbox = || self.server.json(&["inbox"]);
        wait_for("the agent asks", || inbox().as_array().is_some_and(|list| list.len() == 1));
        inbox()[0]["id"].as_str().unwrap().to_owned()
    }

    fn decide(&self, arguments: &[&str]) {
        let decided = self.server.run(&[&["decide"], arguments].concat());
        assert_eq!(decided.code, 0, "{decided:?}");
    }

    fn plays(&self) -> (Outcome, String) {
        let (outcome, run) = play(self.agent, &self.home);
        (outcome, run.results.concat())
    }

    /// Runs the coding agent, and calls `decide` with the id of the interrupt that its hook opens.
    fn plays_while(&self, decide: impl FnOnce(&str)) -> (Outcome, String) {
        thread::scope(|scope| {
            let playing = scope.spawn(|| self.plays());
            decide(&self.asked());
            playing.join().unwrap()
        })
    }
}

const NO_RULES: &str = "rules: []\n";

fn a_person_decides(agent: CodingAgent) {
    let (gate, _serving) = Gate::new(agent, NO_RULES, PATIENT_MS);
    let approved = gate.plays_while(|id| gate.decide(&[id, "approve"]));
    assert_eq!(approved.0, Ran, "{approved:?}");

    let (gate, _serving) = Gate::new(agent, NO_RULES, PATIENT_MS);
    let (stopped, text) = gate.plays_while(|id| gate.decide(&[id, "reject", "--text", "not on Fridays"]));
    assert!(stopped == Stopped && text.contains("not on Fridays"), "{text}");
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_person_decides_about_a_command_of_claude_code() {
    a_person_decides(CodingAgent::Claude);
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_person_decides_about_a_command_of_codex() {
    a_person_decides(CodingAgent::Codex);
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_person_decides_about_a_command_of_gemini_cli() {
    a_person_decides(CodingAgent::Gemini);
}

/// A changed command line runs in place of the original one.
#[test]
#[ignore = "it starts three agents"]
fn campaign_of_a_command_that_a_person_edits() {
    for agent in CodingAgent::ALL {
        let (gate, _serving) = Gate::new(agent, NO_RULES, PATIENT_MS);
        let edit = gate.server.path().join("edit.json");
        fs::write(&edit, json!({ "command": REWRITE }).to_string()).unwrap();
        let edited = gate.plays_while(|id| gate.decide(&[id, "edit", "--edit", edit.to_str().unwrap()]));
        assert_eq!(edited.0, Rewritten, "{}: {edited:?}", agent.title());
    }
}

/// The refusal links to the page with the request. The link contains no token, because the model reads the refusal.
#[test]
#[ignore = "it waits for three agents"]
fn campaign_of_nobody_who_decides_in_time() {
    for agent in CodingAgent::ALL {
        let (gate, _serving) = Gate::new(agent, NO_RULES, IMPATIENT_MS);
        let (stopped, text) = gate.plays();
        let link = format!("{}/inbox/{}", gate.address, gate.asked());
        assert!(stopped == Stopped && text.contains(&link), "{}: {text}", agent.title());
        assert!(!text.contains("hs_") && !text.contains("token"), "{}: {text}", agent.title());
    }
}

#[test]
#[ignore = "it starts the agents twice"]
fn campaign_of_rules_that_decide() {
    for agent in CodingAgent::ALL {
        for (decision, expected) in [("allow", Ran), ("forbid", Stopped)] {
            let rules = format!("rules:\n  - {{tools: [run_command], do: {decision}}}\n");
            let (gate, _serving) = Gate::new(agent, &rules, PATIENT_MS);
            assert_eq!(gate.plays().0, expected, "{} {decision}", agent.title());
            assert_eq!(gate.server.json(&["inbox"]), json!([]));
        }
    }
}

/// The hook waits while the server restarts.
#[test]
#[ignore = "it starts three agents"]
fn campaign_of_a_server_that_restarts() {
    for agent in CodingAgent::ALL {
        let (gate, serving) = Gate::new(agent, NO_RULES, PATIENT_MS);
        let mut restarted = None;
        let approved = gate.plays_while(|id| {
            serving.kill();
            restarted = Some(gate.server.serve_at(gate.address.trim_start_matches("http://"), &[]));
            gate.decide(&[id, "approve"]);
        });
        drop(restarted);
        assert_eq!(approved.0, Ran, "{}: {approved:?}", agent.title());
    }
}

#[test]
#[ignore = "it starts three agents"]
fn campaign_of_a_revoked_key() {
    for agent in CodingAgent::ALL {
        let (gate, _serving) = Gate::new(agent, NO_RULES, IMPATIENT_MS);
        let key = gate.server.json(&["keys"])[0]["id"].as_str().unwrap().to_owned();
        assert_eq!(gate.server.run(&["keys", "revoke", &key]).code, 0);
        let (stopped, text) = gate.plays();
        assert!(stopped == Stopped && text.contains("unauthenticated"), "{}: {text}", agent.title());
    }
}

/// Without a decision in time, `claude -p` ends. The resumed session carries out the decision of a person.
#[test]
#[ignore = "it starts the agent twice"]
fn campaign_of_a_deferred_decision() {
    let (gate, _serving) = Gate::new(CodingAgent::Claude, NO_RULES, IMPATIENT_MS);
    let mut home = AgentHome::new(CodingAgent::Claude).second_line(SecondLine::On);
    let key = gate.server.run(&["keys", "create", "deferring-agent"]);
    let installed = Installed::new(&home, CodingAgent::Claude, &gate.address, key.out.trim());
    installed.set_timeout(IMPATIENT_MS);
    home = home.gate(format!("{} --defer", installed.program.display()));
    let calls = || vec![vec![CodingAgent::Claude.shell(COMMAND)]];
    let first: Value = serde_json::from_str(&home.run(calls()).out).unwrap();
    assert_eq!((outcome(&home), &first["stop_reason"]), (Stopped, &json!("tool_deferred")));
    gate.decide(&[&gate.asked(), "approve"]);
    home.resume(first["session_id"].as_str().unwrap(), calls());
    assert_eq!(outcome(&home), Ran);
}
