//! Tests of `run` with a scripted server as the model.

use holdshort_testkit::home::Home;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::json;

/// Returns the agent's last reply, which calls `finish`.
fn finish(summary: &str) -> Scripted {
    Scripted::call("finish", json!({ "summary": summary }))
}

#[test]
fn a_run_in_a_repository_of_ones_own() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let model = runtime.block_on(ScriptedModel::start());
    let home = Home::new();
    let workspace = home.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let work = workspace.to_str().unwrap();
    let chosen = ["--model", "scripted", "--base-url", model.base_url()];

    // The agent replies without needing a decision.
    model.push("pair", finish("There is nothing to do."));
    let ran = home.run(&[&["run", "pair", "--workspace", work, "look around"], &chosen[..]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("finish │ There is nothing to do.") && ran.out.contains("✓ Completed."),
        "{ran:?}"
    );

    // A change needs a decision, and its text would clear the screen if it were not escaped.
    let text = "first\n\u{1b}[2Jsecond\n";
    model.push("pair", Scripted::call("write_file", json!({"path": "no\u{202e}te.txt", "content": text})));
    model.push("pair", finish("Written."));
    let mut terminal =
        Terminal::open(&home, &[&["run", "pair", "--workspace", work, "write"], &chosen[..]].concat(), &[]);
    let card = terminal.expect(PROMPT);
    assert!(card.contains("no\\u{202e}te.txt  new file, +2 −0"), "{card}");
    assert!(card.contains("+ \\u{1b}[2Jsecond"), "{card}");
    assert!(card.contains("contains hidden or control characters"), "{card}");
    terminal.type_line("1");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(std::fs::read_to_string(workspace.join("no\u{202e}te.txt")).unwrap(), text);

    // Without a terminal the run keeps waiting, and a server that starts later continues it.
    model.push("pair", Scripted::call("run_command", json!({"command": "echo no > no.txt; exit 3"})));
    model.push("pair", finish("It failed."));
    let ran = home.run(&[&["run", "pair", "--workspace", work, "--json", "try"], &chosen[..]].concat());
    assert_eq!(ran.code, 4, "{ran:?}");
    let serving = home.serve(&chosen);
    let open = home.open_interrupt();
    let (id, run) = (open["id"].as_str().unwrap(), open["run"].as_str().unwrap());
    let ran = home.run(&["decide", id, "approve_session"]);
    assert!(ran.code == 0 && ran.err.contains("with the ID from holdshort grants ses_"), "{ran:?}");
    let followed = home.run(&["events", run, "--follow"]);
    assert_eq!(followed.code, 0, "{followed:?}");
    let grants = home.json(&["grants", open["session"].as_str().unwrap()]);
    assert_eq!(home.json(&["grants"]), grants, "without a session: of all");
    let grant = grants[0]["id"].as_str().unwrap();
    assert_eq!(home.run(&["revoke", grant]).code, 0);
    // At the end the run fails and prints the reason.
    model.push("pair", Scripted::call("request_review", json!({"title": "t", "content": "c"})));
    let started = home.run(&["run", "pair", "--workspace", work, "--detach", "review"]);
    assert_eq!(started.code, 0, "{started:?}");
    let run = started.out.trim();
    let left = home.run(&["attach", run]);
    assert_eq!(left.code, 4, "{left:?}");
    let review = home.open_interrupt();
    assert_eq!(
        home.run(&["decide", review["id"].as_str().unwrap(), "reject", "--text", "too short"]).code,
        0
    );
    let ran = home.run(&["attach", run]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("✗ Failed (rejected): the output was not released: too short"), "{ran:?}");
    assert_eq!(serving.stop().0, 0);
}

#[test]
fn a_killed_server_comes_back_and_the_terminal_goes_on() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let model = runtime.block_on(ScriptedModel::start());
    let home = Home::new();
    let workspace = home.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let chosen = ["--model", "scripted", "--base-url", model.base_url()];
    let serving = home.serve(&chosen);
    let question = json!({"question": "Which way?", "choices": ["left", "right"]});
    model.push("pair", Scripted::call("ask_human", question));
    model.push("pair", finish("Right it is."));
    let work = workspace.to_str().unwrap();
    let mut terminal = Terminal::open(&home, &["run", "pair", "--workspace", work, "go"], &[]);
    terminal.expect(PROMPT);
    serving.kill();
    terminal.expect("The connection to the server is lost.");
    terminal.expect(PROMPT);
    terminal.type_line("2");
    terminal.expect("no server uses");
    terminal.expect(PROMPT);
    // The new server has another port. The client finds the server through its data folder.
    let _serving = home.serve(&chosen);
    terminal.expect("The server is back.");
    terminal.expect(PROMPT);
    terminal.type_line("2");
    terminal.expect("✓ Answer: right");
    terminal.expect("Right it is.");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn a_run_without_its_model_is_not_taken_up() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let model = runtime.block_on(ScriptedModel::start());
    let home = Home::new();
    let workspace = home.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let work = workspace.to_str().unwrap();
    let chosen = ["--model", "scripted", "--base-url", model.base_url()];
    model.push("pair", Scripted::call("ask_human", json!({"question": "Which way?"})));
    model.push("pair", finish("Done."));
    let mut terminal =
        Terminal::open(&home, &[&["run", "pair", "--workspace", work, "go"], &chosen[..]].concat(), &[]);
    terminal.expect(PROMPT);
    terminal.type_line("d");
    let (code, left) = terminal.end();
    assert_eq!(code, 4, "{left}");
    let command = left.lines().find(|line| line.contains("holdshort attach")).unwrap().trim();
    assert!(command.ends_with(&chosen.join(" ")), "{command}");
    let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
    let ran = home.run(&arguments[..2]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("this run uses a model"), "{ran:?}");
    let mut terminal = Terminal::open(&home, &arguments, &[]);
    terminal.expect(PROMPT);
    terminal.type_line("straight on");
    terminal.expect("Enter sends it");
    terminal.type_line("");
    terminal.expect("Done.");
    assert_eq!(terminal.end().0, 0);
}
