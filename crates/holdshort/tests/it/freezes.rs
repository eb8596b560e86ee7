//! Tests of `freeze` and `unfreeze` with a target: where freezes are shown, and the warning about a misspelled name.

use holdshort_testkit::home::Home;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::json;

#[test]
fn what_holds_a_run_up_is_told_where_somebody_would_wonder() {
    let home = Home::new();
    let _serving = home.serve(&[]);
    home.json(&["freeze", "--workflow", "pair", "--reason", "the release is broken"]);
    home.json(&["freeze", "--workflow", "copilot", "--reason", "another matter"]);
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    let start = [
        "run",
        "pair",
        "Look.",
        "--model",
        "rehearsal",
        "--workspace",
        work.to_str().expect("a path"),
        "--detach",
    ];
    let run = home.json(&start)["id"].as_str().expect("a run").to_owned();
    let said = "Workflow pair is frozen since";
    for verb in [&["show", &run][..], &["inbox"], &["doctor"]] {
        let ran = home.run(verb);
        let all = format!("{}{}", ran.out, ran.err).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            all.contains(said) && all.contains("by operator: the release is broken."),
            "{verb:?}: {ran:?}"
        );
        assert!(all.contains("unfreeze --workflow pair`"), "{verb:?}: {ran:?}");
    }
    assert!(!home.run(&["show", &run]).err.contains("another matter"), "that holds other runs");
    assert_eq!(home.json(&["doctor"])["server"]["freezes"].as_array().map(Vec::len), Some(2));
    home.json(&["freeze", "--run", &run, "--reason", "only this"]);
    home.json(&["unfreeze", "--workflow", "pair"]);
    let shown = home.run(&["show", &run]).err;
    assert!(shown.contains("only this") && !shown.contains("the release"), "{shown}");
}

#[test]
fn a_slip_in_a_name_is_said_and_another_reason_refused() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let ran = home.run(&["freeze", "--workflow", "piar", "--reason", "a look"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("No workflow on this server has this name. Did you mean `pair`?"), "{ran:?}");
    assert!(ran.err.contains("unfreeze --workflow piar`"), "{ran:?}");
    let ran = home.run(&["freeze", "--agent", "nobody", "--reason", "a look"]);
    assert!(ran.err.contains("No workflow on this server has an agent with this name"), "{ran:?}");
    let ran = home.run(&["freeze", "--workflow", "pair", "--reason", "a look"]);
    assert_eq!((ran.code, &*ran.err), (0, ""));

    let ran = home.run(&["freeze", "--workflow", "pair", "--reason", "another look"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("by operator (a look)") && ran.err.contains("`holdshort doctor`"), "{ran:?}");

    // If the target is not frozen, the output lists all freezes, and the commands that lift them on the same server.
    let address = serving.started["listening"].as_str().expect("an address");
    let ran = home.run(&["unfreeze", "--server", address, "--workflow", "pai"]);
    assert!(ran.out.starts_with("Workflow pai has no freeze of its own, so nothing changed.\n"), "{ran:?}");
    let lift = ran.out.lines().find(|line| line.contains("workflow pair: a look")).expect("it is listed");
    assert!(lift.contains(&format!("unfreeze --workflow pair --server {address}`")), "{ran:?}");
    let ran = home.run(&["unfreeze"]);
    assert!(ran.out.starts_with("The installation as a whole is not frozen, so nothing changed."), "{ran:?}");
    // The output names the lifted freeze and the remaining freezes.
    for (name, lifted) in [("pair", "Workflow pair"), ("piar", "Workflow piar")] {
        let ran = home.run(&["unfreeze", "--workflow", name]);
        let said = format!("{lifted} no longer has its own freeze, but other freezes remain.\n");
        assert!(ran.out.starts_with(&said) && ran.out.contains("agent nobody: a look"), "{ran:?}");
    }
    assert_eq!(
        home.run(&["unfreeze", "--agent", "nobody"]).out,
        "Nothing is frozen any more. The work continues.\n"
    );
    assert_eq!(home.run(&["unfreeze"]).out, "Nothing is frozen.\n");
    home.run(&["freeze", "--agent", "nobody", "--reason", "a look"]);
    home.run(&["freeze", "--reason", "all of it"]);
    let ran = home.run(&["unfreeze"]);
    assert!(
        ran.out.starts_with("The freeze of everything is lifted, but other freezes remain.\n"),
        "{ran:?}"
    );
    assert!(ran.out.contains("agent nobody: a look"), "{ran:?}");
}

/// A key at an approval card freezes everything, after the person has typed a reason.
#[test]
fn one_key_at_a_card_freezes_everything() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let model = runtime.block_on(ScriptedModel::start());
    model.push("pair", Scripted::call("ask_human", json!({"question": "Which way?"})));
    let home = Home::new();
    let _serving = home.serve(&["--model", "scripted", "--base-url", model.base_url()]);
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    let start = ["run", "pair", "Look.", "--workspace", work.to_str().expect("a path")];
    let mut terminal = Terminal::open(&home, &start, &[]);
    terminal.expect(PROMPT);
    terminal.type_line("!");
    terminal.expect("reason for the freeze> ");
    terminal.type_line("an agent runs wild");
    let told = terminal.expect(PROMPT);
    assert!(told.contains("Frozen: no tool call and no model call"), "{told}");
    let freezes = home.json(&["doctor"])["server"]["freezes"].clone();
    assert!(freezes.to_string().contains("an agent runs wild"), "{freezes}");
    terminal.type_line("d");
    terminal.end();
}
