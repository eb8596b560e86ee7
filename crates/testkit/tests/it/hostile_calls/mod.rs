//! Hostile programs and file edits with every shipped workflow. The person rejects every card. Afterwards the workspace
//! must contain nothing new that a person's own tools would run or load.
//!
//! `programs` contains the calls. `workspace` contains the attacked directory, and compares it before and after the
//! attack. The workflows `codelab_ide`, `coach` and `compliance` are not tested, because their agents have no tool that
//! changes files here.

mod programs;
mod workspace;

use std::collections::BTreeSet;
use std::time::Duration;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::play::done;
use programs::Share;
use workspace::Attacked;

/// Changes that the rules of an attacked workflow allow without asking a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Releases {
    /// The rules allow no change in the workspace. Commands that change only ignored files pass, and the ignored files
    /// are stored outside of the workspace.
    Nothing,
    /// The rules allow every change that is not to a guarded path (such as a Git hook) and is not dangerous in another
    /// way.
    Unguarded,
}

/// A shipped workflow that is attacked, its agent that changes files, and phases that replace those of the workflow.
struct Attack {
    workflow: &'static str,
    agent: &'static str,
    /// Ids of the phases that replace those of the workflow. In the first phase the agent attacks. In every other phase
    /// the agent only reports that it is done.
    phases: &'static [&'static str],
    idle: &'static str,
    releases: Releases,
    /// True if the attacking agent ends its work with the tool `finish`.
    finishes: bool,
    share: Share,
    /// Offset into the list of ways to write a file, so that each workflow is attacked with different ways for the same
    /// file.
    turn: usize,
}

impl Attack {
    /// Returns the attacked workflow with its own gates. The limits of its phases allow all the calls.
    fn definition(&self) -> String {
        let phase = |(at, id): (usize, &&str)| {
            let agent = if at == 0 { self.agent } else { self.idle };
            format!("  - {{id: {id}, kind: one_shot, agent: {agent}}}\n")
        };
        let phases: String = self.phases.iter().enumerate().map(phase).collect();
        let limits = "limits: {rounds: 5000, tool_calls: 5000}\n";
        // A preset extends a base workflow, so its own text contains only what it changes.
        let own = match holdshort_workflow::PRESETS
            .iter()
            .find(|it| it.workflow.contains("\nextends: ") && it.name == self.workflow)
        {
            Some(preset) => preset.workflow.to_owned(),
            None => format!("name: {0}\nextends: {0}\n", self.workflow),
        };
        format!("{own}phases:\n{phases}{limits}")
    }

    /// Plays every fifth call of the attack, because all calls would take too long for the test command.
    async fn play_some(mut self) {
        self.share.step *= 5;
        self.play().await;
    }

    async fn play(&self) {
        let model = ScriptedModel::start().await;
        let server = TestServer::setup()
            .workflow(self.workflow, &self.definition())
            .model(&model)
            .decision_rate(100_000)
            .start()
            .await;
        let mut attacked = Attacked::fill(&server.workspace());
        let calls = programs::calls(self.share, self.turn, &attacked.outside);
        let mut steps: Vec<Scripted> =
            calls.chunks(CALLS_OF_A_REPLY).map(|calls| Scripted::calls(calls.to_vec())).collect();
        steps.push(if self.finishes {
            Scripted::call("finish", json!({ "summary": "Done.", "undone": [] }))
        } else {
            done()
        });
        model.script(self.agent, steps);
        model.script(self.idle, [done()]);

        let run = server.start_run(self.workflow, "Work.").await;
        let refused = refuse_all(&server, &run).await;
        let finished = server.events_of(&run, "tool_finished").await;
        assert!(refused > 0, "some of them ask");
        assert!(refused < calls.len(), "some of them are released, forbidden or fail by themselves");
        assert!(finished.len() >= calls.len(), "each call has an end");
        assert_eq!(attacked.damage(self.releases), BTreeSet::new(), "{}", self.workflow);
    }
}

/// Rejects every call of the run that needs an approval, and continues whenever another decision is needed. Returns the
/// number of rejected calls.
async fn refuse_all(server: &TestServer, run: &str) -> usize {
    let mut refused = 0;
    loop {
        let at = server.run(run).await;
        match at["status"].as_str() {
            Some("completed") => return refused,
            Some("failed" | "cancelled") => panic!("{at:#}"),
            _ => {}
        }
        for interrupt in server.open(run).await {
            let option = match interrupt["kind"].as_str() {
                Some("tool_approval") => "reject",
                Some("checkpoint") if interrupt["position"] == "after_step" => "continue",
                Some("checkpoint") => "approve",
                Some("continuation") => "continue",
                Some("error") => "skip",
                _ => panic!("{interrupt:#}"),
            };
            refused += usize::from(option == "reject");
            let answer = server.decide(&interrupt, &json!({ "option": option })).await;
            assert!(answer.status < 300 || is_over(&answer.body), "{answer:#?}\n{interrupt:#}");
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Returns true if the response says that the interrupt was closed before the decision arrived.
fn is_over(body: &Value) -> bool {
    matches!(body["code"].as_str(), Some("already_resolved" | "not_open"))
}

/// Number of tool calls in each reply of the scripted model.
const CALLS_OF_A_REPLY: usize = 8;
/// Pause between two reads of the attacked run.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

const PAIR: Attack = Attack {
    workflow: "pair",
    agent: "pair",
    phases: &["work"],
    idle: "nobody",
    releases: Releases::Nothing,
    finishes: true,
    share: Share { first: 0, step: 4 },
    turn: 1,
};

const AUTONOMOUS: Attack = Attack {
    workflow: "autonomous",
    agent: "engineer",
    phases: &["plan", "work"],
    idle: "researcher",
    releases: Releases::Unguarded,
    finishes: true,
    share: Share { first: 0, step: 2 },
    turn: 5,
};

const COPILOT: Attack = Attack {
    workflow: "copilot",
    agent: "copilot",
    idle: "planner",
    finishes: false,
    share: Share { first: 1, step: 4 },
    turn: 2,
    ..PAIR
};

const CODELAB: Attack = Attack {
    workflow: "codelab",
    agent: "coder",
    phases: &["work", "carry_out"],
    idle: "ask",
    share: Share { first: 2, step: 4 },
    turn: 3,
    ..PAIR
};

const RESEARCH: Attack = Attack {
    workflow: "research",
    agent: "engineer",
    phases: &["plan", "work"],
    idle: "researcher",
    share: Share { first: 3, step: 4 },
    turn: 4,
    ..PAIR
};

/// Returns attacks on the presets that try commands and allow every change that is not dangerous, as `autonomous` does.
fn presets() -> [Attack; 4] {
    let each = |(first, workflow)| Attack {
        workflow,
        share: Share { first, step: 4 },
        turn: 6 + first,
        ..AUTONOMOUS
    };
    let named = ["review_plan", "step_by_step", "error_recovery", "full_interactive"];
    std::array::from_fn(|at| each((at, named[at])))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_passes_pair() {
    PAIR.play_some().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_passes_copilot() {
    COPILOT.play_some().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_passes_codelab() {
    CODELAB.play_some().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_passes_research() {
    RESEARCH.play_some().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_guarded_passes_autonomous() {
    AUTONOMOUS.play_some().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_guarded_passes_the_presets_that_try_commands() {
    for preset in presets() {
        preset.play_some().await;
    }
}

/// More than 500 hostile calls, and no shipped workflow lets any of them pass.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_hostile_calls_in_each_workflow() {
    for attack in [PAIR, COPILOT, CODELAB, RESEARCH, AUTONOMOUS] {
        attack.play().await;
    }
    for preset in presets() {
        preset.play().await;
    }
}
