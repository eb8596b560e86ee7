//! Tests of `plan`: the graph of a plan in the terminal, and its changes.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use holdshort_testkit::home::Home;
use holdshort_testkit::server::real;
use serde_json::Value;

/// Starts the rehearsal of the workflow `research`, which waits at its plan. Returns the run id.
fn planned(home: &Home) -> String {
    let data = home.data();
    let ran = home.run(&["demo", "research", "--json", "--data", data.to_str().unwrap()]);
    assert_eq!(ran.code, 4, "{ran:?}");
    let first: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    first["run"].as_str().unwrap().to_owned()
}

/// A plan that an agent proposed on its own has no graph, and is printed while it waits for a decision.
#[test]
fn a_plan_that_waits_is_shown() {
    let home = Home::new();
    let data = home.data();
    let ran = home.run(&["demo", "--json", "--data", data.to_str().unwrap()]);
    let first: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    let run = first["run"].as_str().unwrap();
    let _serving = home.serve(&[]);
    let none = home.run(&["plan", run]);
    let said = format!("This run has no plan yet. Its state: `holdshort show {run}`.\n");
    assert_eq!((none.code, &*none.out), (0, &*said), "{none:?}");

    let question = home.open_interrupt();
    let question = question["id"].as_str().unwrap();
    assert_eq!(home.run(&["decide", question, "answer", "--text", "the period that ends"]).code, 0);
    assert_eq!(home.run(&["attach", run]).code, 4);
    let waits = home.open_interrupt();
    let id = waits["id"].as_str().unwrap();
    let shown = home.run(&["plan", run]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for part in ["Holding short: plan", "after rounding, periods", &format!("`holdshort decide {id} OPTION`")]
    {
        assert!(shown.out.contains(part), "{part}: {shown:?}");
    }
    assert_eq!(home.json(&["plan", run])["items"], serde_json::json!([]));

    // After the decision there is no open card with a plan, but the run still has its plan.
    assert_eq!(home.run(&["decide", id, "approve"]).code, 0);
    let shown = home.run(&["plan", run]);
    let said = format!("`holdshort show {id}` shows it.");
    assert!(shown.out.starts_with("A plan by an agent, approved (operator)"), "{shown:?}");
    assert!(shown.out.contains(&said) && !shown.out.contains("no plan"), "{shown:?}");
}

#[test]
fn the_graph_of_a_plan_is_shown_and_followed_to_its_end() {
    let home = Home::new();
    let run = planned(&home);
    let serving = home.serve(&[]);
    let shown = home.run(&["plan", &run]);
    let expected = "\
Plan `plan`, version 2 of 2: 3 subtasks, not approved yet

  ○ look  pending  by researcher
    │ Read README.md and rain.csv: what is in the data, and what is wrong with
    │ it
  ○ analyse  pending  by engineer
    │ Write analyse.py, which leaves out what was not measured, finds the
    │ wettest month of each station, and writes wettest.csv; run it
  ↓
  ○ report  pending  by writer  after look, analyse
    │ Write report.md: the wettest months, and what is not to be trusted
";
    assert_eq!((shown.code, &*shown.out), (0, expected), "{shown:?}");
    let plans = home.json(&["plan", &run]);
    let plan = &plans["items"][0];
    assert_eq!(plan["subtasks"][2]["layer"], 1);
    assert_eq!(plan["agents"].as_array().unwrap().len(), 3, "whoever edits may choose among them: {plan}");
    assert_eq!((&plan["agent"], &plan["limit"]), (&"engineer".into(), &8.into()));

    let mut command = home.command(real());
    let mut following = command.args(["plan", &run, "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines().map_while(Result::ok);
    let before: Vec<String> = lines.by_ref().take(expected.lines().count()).collect();
    assert_eq!(before.join("\n"), expected.trim_end());
    home.json(&["decide", home.open_interrupt()["id"].as_str().unwrap(), "approve"]);
    let mut told = Vec::new();
    for line in lines {
        let line = line.trim().to_owned();
        if line.contains("waits for a person") && !line.starts_with("Plan") {
            home.json(&["decide", home.open_interrupt()["id"].as_str().unwrap(), "approve"]);
        }
        told.push(line);
    }
    assert!(following.wait().unwrap().success());
    for line in ["✓ look  completed  by researcher", "✓ report  completed  by writer  after look, analyse"]
    {
        assert!(told.iter().any(|each| each == line), "{told:#?}");
    }
    assert!(told.iter().all(|line| !line.contains('\u{1b}')), "no colours where nobody sees them");
    assert!(
        home.run(&["plan", &run]).out.starts_with("Plan `plan`, version 2 of 2: 3 subtasks, 3 completed\n")
    );

    let ran = home.run(&["plan", "int_1"]);
    assert!(ran.code == 2 && ran.err.contains("int_1 is an interrupt, not a run"), "{ran:?}");
    assert_eq!(serving.stop().0, 0);
}
