//! Tests of `holdshort undo`, with and without a server. The card shows the changes that are undone, and those that
//! remain.

use std::fs;

use holdshort_testkit::home::Home;

const WORKFLOW: &str = "name: own
agents:
  ada: {instructions: Do it., tools: [write_file]}
phases:
  - {id: work, kind: one_shot, agent: ada}
gates:
  rules:
    - {tools: [write_file], do: allow}
";
const REHEARSAL: &str = "agents:
  ada:
    - text: First.
      calls:
        - {tool: write_file, arguments: {path: notes/one.txt, content: \"one\\n\"}}
        - {tool: write_file, arguments: {path: two.txt, content: \"new\\n\"}}
    - text: Done.
";

#[test]
fn undo_shows_what_it_would_take_back_and_takes_it_back() {
    let home = Home::new();
    let folder = home.path().join("workflows/own");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("workflow.yaml"), WORKFLOW).unwrap();
    fs::write(folder.join("rehearsal.yaml"), REHEARSAL).unwrap();
    let workspace = home.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("two.txt"), "old\n").unwrap();
    let text = |name: &str| fs::read_to_string(workspace.join(name)).ok();

    let serving = home.serve(&["--workflows", home.path().join("workflows").to_str().unwrap()]);
    let ran = home.run(&[
        "run",
        "own",
        "Write.",
        "--model",
        "rehearsal",
        "--workspace",
        workspace.to_str().unwrap(),
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        (text("notes/one.txt").as_deref(), text("two.txt").as_deref()),
        (Some("one\n"), Some("new\n"))
    );
    let run = ran.out.split_whitespace().find(|word| word.starts_with("run_")).unwrap();
    let run = run.trim_end_matches(':').to_owned();

    // A person has changed one of the files after the run.
    fs::write(workspace.join("two.txt"), "mine\n").unwrap();
    let ran = home.run(&["undo", &run]);
    assert_eq!(ran.code, 4, "nobody is at a terminal: {ran:?}");
    assert!(
        ran.out.contains(&format!("the changes of {run} are undone after you approve the undo")),
        "{ran:?}"
    );
    let open = home.open_interrupt();
    assert_eq!(open["title"], "Undo: Write. (deletes 1 file)");
    // A second undo is refused before it asks, and names the open one.
    let again = home.run(&["undo", &run]);
    let undo = open["run"].as_str().unwrap();
    assert!(again.code != 0 && again.out.is_empty(), "{again:?}");
    assert!(again.err.contains(&format!("the undo {undo} of this run is still open")), "{again:?}");
    assert_eq!(home.open_interrupt()["id"], open["id"]);
    let shown = home.run(&["show", open["id"].as_str().unwrap()]).out;
    for line in [
        "undo: 1 file deleted",
        "notes/one.txt  deleted",
        "left unchanged: two.txt (it was changed since)",
        "Nothing has happened yet.",
        "approve          Undo the changes",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert_eq!(home.run(&["decide", open["id"].as_str().unwrap(), "approve"]).code, 0);
    let ended = home.run(&["attach", open["run"].as_str().unwrap()]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!workspace.join("notes").exists());
    assert_eq!(text("two.txt").as_deref(), Some("mine\n"));

    // Without a server, the command starts one for its duration. An undo can itself be undone.
    assert_eq!(serving.stop().0, 0);
    let undone = open["run"].as_str().unwrap();
    let ran = home.run(&["undo", undone]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("notes/one.txt") || ran.err.contains("Undo: "), "{ran:?}");

    for (arguments, told) in [
        (&["undo", "run_00000000000000000000000000"][..], "no such run"),
        (&["undo", &run, "--to", "100000"], "no event with this number"),
        (&["undo", "nobody"], "run_"),
    ] {
        let ran = home.run(arguments);
        assert!(ran.code != 0 && ran.err.contains(told), "{arguments:?}: {ran:?}");
    }
}
