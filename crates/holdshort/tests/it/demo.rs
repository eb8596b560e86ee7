//! Tests of the demo in rehearsal mode: played by a person, left and resumed, decided from another terminal.

use std::path::{Path, PathBuf};

use holdshort_testkit::home::Home;
use holdshort_testkit::terminal::{PROMPT, Terminal};

fn repository(home: &Home) -> PathBuf {
    let mut found = std::fs::read_dir(home.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path());
    found.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("holdshort-demo-")).unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Plays the demo in the terminal until the first change: answers a question by number and a plan by name. The tests
/// run before without a decision, because they change nothing.
fn to_the_first_change(terminal: &mut Terminal) {
    let header = terminal.expect("REHEARSAL");
    assert!(header.contains("data") && header.contains("(the journal of this run)"), "{header}");
    terminal.expect("if this process is killed, continue with:\n  holdshort attach run_");
    let card = terminal.expect(PROMPT);
    assert!(card.contains("Holding short: question"), "{card}");
    terminal.type_line("1");
    let card = terminal.expect(PROMPT);
    assert!(card.contains("✓ Answer: the period that begins"), "{card}");
    assert!(card.contains("Holding short: plan") && card.contains("after rounding, periods"), "{card}");
    terminal.type_line("approve");
    let card = terminal.expect(PROMPT);
    assert!(card.contains("FAILED (failures"), "{card}");
    assert!(card.contains("-     return round(cents * part / whole)"), "{card}");
    assert!(card.contains("+     return (2 * cents * part + whole) // (2 * whole)"), "{card}");
}

#[test]
fn a_person_plays_it_to_its_end() {
    let home = Home::new();
    // The editor changes the arguments of an edit. The new comment is written by the person.
    let editor = home.path().join("editor.sh");
    std::fs::write(
        &editor,
        "#!/bin/sh\nsed -i 's/belongs to the one that begins/starts the next one/' \"$1\"\n",
    )
    .unwrap();
    let editor = format!("sh {}", editor.display());
    let mut terminal = Terminal::open(&home, &["demo"], &[("EDITOR", &editor)]);
    to_the_first_change(&mut terminal);
    terminal.type_line("?");
    let help = terminal.expect(PROMPT);
    assert!(help.contains("runs it once, exactly as shown"), "{help}");
    // Two empty lines decide nothing.
    terminal.type_line("");
    terminal.expect("Nothing is decided yet.");
    terminal.expect(PROMPT);
    terminal.type_line("");
    terminal.expect(PROMPT);
    terminal.type_line("9");
    terminal.expect("There is no option 9");
    terminal.expect(PROMPT);
    terminal.type_line("yes");
    terminal.expect("✓ Approve");

    let card = terminal.expect(PROMPT);
    assert!(card.contains("periods.py") && card.contains("belongs to the one that begins"), "{card}");
    terminal.type_line("e");
    let shown = terminal.expect("Enter sends it");
    assert!(shown.contains("starts the next one"), "{shown}");
    terminal.type_line("");
    terminal.expect("✓ Edit and approve");
    terminal.expect("periods.py (edited)");

    // The card shows the changes of the command. The person refuses the command with free text, which is shown back
    // first.
    let card = terminal.expect(PROMPT);
    assert!(card.contains("$ python3 -m examples.render") && card.contains("files changed"), "{card}");
    assert!(card.contains("+ all of it: 133.87"), "{card}");
    terminal.type_line("?");
    let help = terminal.expect(PROMPT);
    assert!(help.contains("applies exactly the changes that are shown"), "{help}");
    terminal.type_line("the examples can wait");
    let shown = terminal.expect("Enter sends it");
    assert!(shown.contains("Reject:") && shown.contains("the examples can wait"), "{shown}");
    // The `yes` confirms the text that is shown back. It does not approve the call.
    terminal.type_line("yes");
    terminal.expect("✓ Reject: the examples can wait");

    let card = terminal.expect(PROMPT);
    assert!(card.contains("Holding short: review") && card.contains("all tests pass"), "{card}");
    assert!(card.contains("Not regenerated."), "{card}");
    // The quoted line is not the last line of the result, which is a note about ignored files.
    assert!(card.contains("unittest -v`: exit code 0."), "{card}");
    terminal.type_line("1");
    terminal.expect("! Completed in part: some of the work was not done.");
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    assert!(rest.contains("This was a rehearsal") && rest.contains("2 files changed"), "{rest}");

    let package = repository(&home).join("boxrent/boxrent");
    assert!(read(&package.join("money.py")).contains("(2 * cents * part + whole) // (2 * whole)"));
    assert!(read(&package.join("periods.py")).contains("starts the next one"));
}

/// The demo's report after refusals is correct: the fault is not fixed, and all files are unchanged.
#[test]
fn what_is_refused_is_not_told_as_done() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo"], &[]);
    to_the_first_change(&mut terminal);
    terminal.type_line("?");
    let help = terminal.expect(PROMPT);
    assert!(
        help.contains("as the result of the tool")
            && help.contains("typed without an option select “Reject”"),
        "{help}"
    );
    for next in ["periods.py", "Holding short: review"] {
        terminal.type_line("refuse");
        terminal.expect("✓ Reject");
        let card = terminal.expect(PROMPT);
        assert!(card.contains(next), "{next}: {card}");
        if next == "Holding short: review" {
            assert!(
                card.contains("boxrent: not all tests pass") && card.contains("you refused the change"),
                "{card}"
            );
        }
    }
    terminal.type_line("1");
    let (_, rest) = terminal.end();
    assert!(rest.contains("I stop here, without what you refused."), "{rest}");
    assert!(rest.contains("What changed\n  nothing\n"), "{rest}");
}

/// The demo's git ignores programs, configuration and templates that environment variables name.
#[test]
fn git_of_the_demo_takes_nothing_from_the_environment() {
    let home = Home::new();
    let ran = home.path().join("ran");
    let program = home.path().join("program.sh");
    let write = |path: &Path| {
        std::fs::write(path, format!("#!/bin/sh\necho \"$0\" >> {}\nexit 1\n", ran.display())).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    };
    write(&program);
    let template = home.path().join("template");
    std::fs::create_dir_all(template.join("hooks")).unwrap();
    write(&template.join("hooks/pre-commit"));
    let configuration = format!("[gpg]\n\tprogram = {0}\n[commit]\n\tgpgsign = true\n", program.display());
    std::fs::write(template.join("config"), configuration).unwrap();
    let (program, template) = (program.to_str().unwrap(), template.to_str().unwrap());
    let parameters = format!("'gpg.program'='{program}' 'commit.gpgsign'='true'");
    let environment = [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "commit.gpgsign"),
        ("GIT_CONFIG_VALUE_0", "true"),
        ("GIT_CONFIG_KEY_1", "gpg.program"),
        ("GIT_CONFIG_VALUE_1", program),
        ("GIT_CONFIG_PARAMETERS", &parameters),
        ("GIT_TEMPLATE_DIR", template),
        ("GIT_EXTERNAL_DIFF", program),
        ("GIT_EXEC_PATH", "/nowhere"),
        ("GIT_OBJECT_DIRECTORY", "/nowhere"),
        ("GIT_TRACE", "/nowhere/trace"),
    ];
    let mut terminal = Terminal::open(&home, &["demo"], &environment);
    terminal.expect(PROMPT);
    terminal.type_raw("\u{4}");
    terminal.expect("What changed");
    assert_eq!(terminal.end().0, 4);
    assert!(!ran.exists(), "{}", read(&ran));
    assert!(!repository(&home).join("boxrent/.git/hooks/pre-commit").exists());
}

#[test]
fn new_files_are_changes_too() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo", "research"], &[]);
    for asked in ["Holding short: plan", "analyse.py", "$ python3 analyse.py", "report.md"] {
        let card = terminal.expect(PROMPT);
        assert!(card.contains(asked), "{asked}: {card}");
        terminal.type_line("1");
    }
    terminal.expect("What changed");
    let (code, rest) = terminal.end();
    assert!(code == 0 && rest.contains("report.md") && rest.contains("3 files changed"), "{rest}");
    let diff = std::process::Command::new("git")
        .arg("-C")
        .arg(repository(&home).join("rain"))
        .arg("diff")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&diff.stdout).contains("+++ b/report.md"), "{diff:?}");
}

/// The copilot clarifies a vague task, plans it, carries it out, and adapts to feedback (flow 1 of contract A26).
#[test]
fn a_copilot_asks_plans_works_and_adapts() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo", "copilot"], &[]);
    for (asked, typed) in [
        ("What should the report say beside the total?", "2"),
        ("spend.py: a line for each category, then the total", "approve"),
        ("+     lines = [f\"{key} {money(sums[key])}\" for key in sorted(sums)]", "1"),
        ("test_each_category_has_a_line", "1"),
        ("Does this meet your needs?", "what cost most first, please"),
    ] {
        let card = terminal.expect(PROMPT);
        assert!(card.contains(asked), "{asked}: {card}");
        terminal.type_line(typed);
    }
    terminal.expect("Enter sends it");
    terminal.type_line("");
    let card = terminal.expect(PROMPT);
    assert!(card.contains("You said: what cost most first, please"), "{card}");
    assert!(card.contains("sorted(sums, key=sums.get, reverse=True)"), "{card}");
    terminal.type_line("1");
    let card = terminal.expect(PROMPT);
    assert!(card.contains("What cost most comes first now, and the tests pass."), "{card}");
    assert!(!card.contains("output"), "said above, and not again: {card}");
    terminal.type_line("satisfied");
    let (code, rest) = terminal.end();
    assert!(code == 0 && rest.contains("2 files changed"), "{rest}");
}

/// A rehearsal whose script has ended reports this after each message. The run continues until the person ends it.
#[test]
fn a_rehearsal_that_has_no_more_words_says_so_and_how_to_get_a_model() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo", "copilot"], &[]);
    for typed in ["2", "approve", "1", "1"] {
        terminal.expect(PROMPT);
        terminal.type_line(typed);
    }
    for n in 0..12 {
        let card = terminal.expect(PROMPT);
        assert!(!card.contains("Failed") && !card.contains("an error"), "{card}");
        if card.contains("sorted(sums, key=sums.get, reverse=True)") {
            terminal.type_line("1");
            continue;
        }
        assert!(card.contains("Does this meet your needs?"), "{card}");
        if n > 2 {
            assert!(card.contains("This rehearsal has come to its end"), "{card}");
            assert!(card.contains("OPENAI_API_KEY") && card.contains("--model"), "{card}");
        }
        terminal.type_line(&format!("and now {n}, please"));
        terminal.expect("Enter sends it");
        terminal.type_line("");
    }
    terminal.expect(PROMPT);
    terminal.type_line("satisfied");
    let (code, rest) = terminal.end();
    assert!(code == 0 && rest.contains("2 files changed"), "{rest}");
}

#[test]
fn own_words_answer_a_question() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo"], &[]);
    terminal.expect(PROMPT);
    terminal.type_line("the period that ends, of course");
    let shown = terminal.expect("Enter sends it");
    assert!(shown.contains("Answer:") && shown.contains("│ the period that ends, of course"), "{shown}");
    // The new text replaces the text that is shown back.
    terminal.type_line("the period that ends, then");
    terminal.expect("Enter sends it");
    terminal.type_line("");
    let card = terminal.expect("Holding short: plan");
    assert!(card.contains("The day stays in the period that ends."), "{card}");
    terminal.expect(PROMPT);
    terminal.type_line("d");
    assert_eq!(terminal.end().0, 4);
}

#[test]
fn end_of_input_leaves_it_waiting_and_attach_takes_it_up_again() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo"], &[]);
    to_the_first_change(&mut terminal);
    terminal.type_raw("\u{4}");
    let left = terminal.expect("Go on");
    assert_eq!(terminal.end().0, 4);
    let command = left.lines().find(|line| line.contains("holdshort attach")).unwrap().trim();
    let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();

    // Without a terminal no question is asked.
    let ran = home.run(&arguments);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("Holding short: tool call: edit_file: boxrent/money.py"), "{ran:?}");
    // The link and the last words of the demo are printed again.
    for part in ["browser", "What changed\n", "Go on\n", "inbox --all --data"] {
        assert!(ran.out.contains(part), "{part}: {ran:?}");
    }

    let mut terminal = Terminal::open(&home, &arguments, &[]);
    let card = terminal.expect(PROMPT);
    assert!(card.contains("money.py"), "{card}");
    assert!(card.contains("(works once, and signs the browser in)"), "{card}");
    terminal.type_line("1");
    terminal.expect("FAILED");
    terminal.expect(PROMPT);
    // Ctrl-C.
    terminal.type_raw("\u{3}");
    let left = terminal.expect("Go on");
    assert!(left.contains("holdshort attach"), "{left}");
    assert_eq!(terminal.end().0, 4);
}

#[test]
fn others_decide_and_cancel_while_a_person_is_beside_it() {
    let home = Home::new();
    let data = home.data();
    let data = data.to_str().unwrap();
    let mut terminal = Terminal::open(&home, &["demo", "--data", data], &[]);
    terminal.expect(PROMPT);
    let interrupt = home.open_interrupt();
    assert_eq!(interrupt["kind"], "question");
    let id = interrupt["id"].as_str().unwrap();
    let shown = home.run(&["show", id]).out;
    assert!(shown.contains("suggested answers, for --text:\n    the period that begins"), "{shown}");
    assert!(shown.contains("This is a rehearsal"), "{shown}");
    let ran = home.run(&["decide", id, "answer", "--text", "the period that ends"]);
    assert_eq!((ran.code, &*ran.out), (0, "answered (operator): “the period that ends”\n"), "{ran:?}");
    terminal.expect("Decided elsewhere:");
    terminal.expect("Holding short: plan");
    terminal.expect(PROMPT);

    let plan = home.open_interrupt();
    let run = plan["run"].as_str().unwrap();
    assert_eq!(home.run(&["pause", run]).code, 0);
    assert_eq!(home.run(&["message", run, "use ISO dates"]).code, 0);
    assert_eq!(home.run(&["resume", run]).code, 0);
    let events = home.run(&["events", run, "--json"]);
    let kinds: Vec<String> = events
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds[kinds.len() - 3..], ["run_paused", "message_added", "run_resumed"]);
    // A session is paused in the same way: open interrupts wait, and no run continues by itself.
    let session = plan["session"].as_str().unwrap();
    let ran = home.run(&["pause", session]);
    assert_eq!(
        (ran.code, &*ran.out),
        (0, &*format!("{session}: Suspended: the session's runs are paused, and no new run starts.\n"))
    );
    let listed = home.json(&["sessions", "--state", "suspended"]);
    assert_eq!((&listed[0]["id"], &listed[0]["runs"][0]), (&session.into(), &run.into()), "{listed}");
    assert!(home.run(&["sessions"]).out.starts_with(&format!("{session}  suspended\n    {run}\n")));
    let ran = home.run(&["resume", run]);
    assert!(ran.code == 1 && ran.err.contains("holdshort resume ses_…"), "{ran:?}");
    assert_eq!(ran.err.to_lowercase().matches("the session is suspended").count(), 1, "{ran:?}");
    assert_eq!(home.run(&["resume", session]).code, 0);
    assert_eq!(home.json(&["show", run])["status"], "waiting");
    let ran = home.run(&["cancel", session, "--text", "enough"]);
    assert!(ran.code == 2 && ran.err.contains("--text is only for runs"), "{ran:?}");
    let ran = home.run(&["cancel", run, "--text", "enough for today"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    terminal.expect("Cancelled: enough for today");
    assert_eq!(terminal.end().0, 3);
}
