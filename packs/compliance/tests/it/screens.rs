//! The compliance crew in a terminal: a person's own case, the pause, and the released files (contract D1, D3).

use std::path::{Path, PathBuf};

use holdshort_core::digest::Digest;
use holdshort_testkit::home::Home;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const AGENTS: [&str; 5] =
    ["nlq_translator", "graph_analyst", "fraud_pattern_hunter", "compliance_checker", "report_writer"];

struct Stage {
    _runtime: Runtime,
    model: ScriptedModel,
    home: Home,
    case: String,
}

impl Stage {
    /// Creates a test stage with a new case from `init`. Each scripted agent replies with one sentence.
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let model = runtime.block_on(ScriptedModel::start());
        let home = Home::new();
        let case = home.path().join("case").to_str().unwrap().to_owned();
        let ran = home.run(&["init", "compliance", &case]);
        assert_eq!((ran.code, ran.out.trim()), (0, &*case), "{ran:?}");
        for agent in AGENTS {
            model.script(agent, vec![Scripted::text(format!("The part of {agent}."))]);
        }
        Self { _runtime: runtime, model, home, case }
    }

    fn with_model<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        [arguments, &["--model", "scripted", "--base-url", self.model.base_url()]].concat()
    }

    fn run<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        self.with_model(&[&["run", "compliance", "--case", &self.case], more].concat())
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(&self.case).join(name)
    }

    fn put(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.file(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        std::fs::write(self.file(name), text.replacen(from, to, 1)).unwrap();
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Tests that a held report stays held when the server restarts. After its release, the files have the text that was
/// shown.
#[test]
fn a_report_is_held_over_a_restart_and_its_files_are_what_was_shown() {
    let stage = Stage::new();
    let ran = stage.home.run(&stage.run(&["What about Ash Hawthorn, C-1001?"]));
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("Case: 12 customers, ") && ran.err.contains("168 transactions"), "{ran:?}");
    assert!(ran.err.contains("No file was written: the report was not released."), "{ran:?}");
    let report = stage.file("report");
    assert!(!report.exists());
    assert!(stage.model.requests_of("report_writer").is_empty());
    let asked = stage.model.requests_of("nlq_translator")[0].texts().join("\n");
    assert!(asked.contains("What about customer 1, customer 1?"), "{asked}");
    let run = ran.err.split_whitespace().find(|word| word.starts_with("run_")).unwrap().to_owned();

    let elsewhere = stage.home.path().join("elsewhere");
    let attach = ["attach", &run, "--output-dir", elsewhere.to_str().unwrap()];
    let mut terminal = Terminal::open(&stage.home, &stage.with_model(&attach), &[]);
    let card = terminal.expect(PROMPT);
    assert!(card.contains("Holding short: review") && card.contains("Release the report"), "{card}");
    assert!(card.contains("F3 structuring: customer 1, 12850.00 EUR"), "{card}");
    terminal.type_line("1");
    terminal.expect("y sends it");
    terminal.type_line("y");
    terminal.expect("✓ Completed.");
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    let named = ["report.md", "report.html", "findings.json", "summary.json"];
    assert!(named.iter().all(|name| rest.contains(name)), "{rest}");
    assert_eq!(AGENTS.map(|agent| stage.model.requests_of(agent).len()), [1; 5]);

    let text = read(&elsewhere.join("report.md"));
    let summary: Value = serde_json::from_str(&read(&elsewhere.join("summary.json"))).unwrap();
    let digest = Digest::of_bytes(text.as_bytes()).to_string();
    assert_eq!(summary["report_sha256"], json!(digest));
    assert_eq!((&summary["findings"], &summary["gravity"]), (&json!(12), &json!("critical")));
    assert_eq!(summary["released"]["held_back"], true);
    assert!(summary["released"]["by"].is_string() && summary["released"]["at"].is_string(), "{summary}");
    let findings = read(&elsewhere.join("findings.json"));
    assert!(
        text.contains(&format!("findings.json: SHA-256 {}", summary["findings_sha256"].as_str().unwrap()))
    );
    assert_eq!(summary["findings_sha256"], json!(Digest::of_bytes(findings.as_bytes()).to_string()));
    let page = read(&elsewhere.join("report.html"));
    assert!(
        page.contains("F3 structuring: customer 1") && page.contains(&digest) && !page.contains("<script"),
        "{page}"
    );

    // The journal holds the text that was shown.
    let serving = stage.home.serve(&[]);
    let told = stage.home.run(&["show", &run]).out;
    assert_eq!(told.matches("# Compliance report\n").count(), 1, "once, as text: {told}");
    assert!(
        !told.contains("\"phases\"") && told.contains(&format!("`holdshort show {run} --json`")),
        "{told}"
    );
    let shown = stage.home.json(&["show", summary["released"]["interrupt"].as_str().unwrap()]);
    assert_eq!(shown["payload"]["content"], json!(text));
    assert_eq!(shown["action_digest"], json!(digest));
    serving.stop();
    let files: Vec<&str> =
        summary["files_generated"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let all: String = files.iter().map(|name| read(&elsewhere.join(name)).to_lowercase()).collect();
    for table in ["customers.csv", "watchlist.csv"] {
        for line in read(&stage.file(table)).lines().skip(1) {
            let name = line.split(',').nth(1).unwrap().trim_matches('"').to_lowercase();
            assert!(!all.contains(&name), "{name}");
        }
    }
}

/// Tests that the command `decide` asks for confirmation in a terminal, and does not ask without one.
#[test]
fn what_is_critical_is_decided_from_elsewhere_with_a_yes() {
    let stage = Stage::new();
    for agent in AGENTS {
        stage.model.push(agent, Scripted::text("Once more."));
    }
    let serving = stage.home.serve(&stage.with_model(&[]));
    for at_terminal in [true, false] {
        let ran = stage.home.run(&["run", "compliance", "--case", &stage.case, "--detach"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let run = ran.out.trim();
        assert_eq!(stage.home.run(&["attach", run]).code, 4);
        let held = stage.home.open_interrupt();
        assert_eq!(held["risk"]["level"], "critical");
        let decide = ["decide", held["id"].as_str().unwrap(), "approve"];
        if at_terminal {
            // The interrupt changes after it was shown, so the confirmation is refused.
            let mut terminal = Terminal::open(&stage.home, &decide, &[]);
            terminal.expect("y sends it, anything else does not> ");
            let reassigned = stage.home.run(&["reassign", decide[1], "--to", "operator"]);
            assert_eq!(reassigned.code, 0, "{reassigned:?}");
            terminal.type_line("y");
            let (ended, rest) = terminal.end();
            assert!(
                ended == 1 && rest.contains("The interrupt or plan has changed since you read it"),
                "{ended} {rest}"
            );
            for (typed, code) in [("", 4), ("n", 4), ("y", 0)] {
                let mut terminal = Terminal::open(&stage.home, &decide, &[]);
                let shown = terminal.expect("y sends it, anything else does not> ");
                assert!(shown.contains("Release the report"), "{shown}");
                assert!(shown.contains("the risk is CRITICAL"), "{shown}");
                terminal.type_line(typed);
                let (ended, rest) = terminal.end();
                assert_eq!(ended, code, "{typed}: {rest}");
                assert_eq!(rest.contains("Nothing is decided."), code == 4, "{typed}: {rest}");
            }
        } else {
            assert_eq!(stage.home.run(&decide).code, 0);
        }
        assert_eq!(stage.home.run(&["attach", run]).code, 0);
    }
    serving.stop();
}

#[test]
fn what_is_not_released_leaves_no_file() {
    let stage = Stage::new();
    let mut terminal = Terminal::open(&stage.home, &stage.run(&[]), &[]);
    terminal.expect(PROMPT);
    terminal.type_line("reject");
    terminal.expect("Enter sends it");
    terminal.type_line("");
    terminal.expect("✗ Failed (rejected)");
    let (code, rest) = terminal.end();
    assert_eq!(code, 1, "{rest}");
    assert!(rest.contains("No file was written: the report was not released."), "{rest}");
    assert!(!stage.file("report").exists());
}

#[test]
fn a_case_in_which_nothing_is_found_holds_nobody_up() {
    let stage = Stage::new();
    let table = read(&stage.file("transactions.csv"));
    let kept: Vec<&str> = table.lines().filter(|line| !line.contains(",cash,")).take(1).collect();
    std::fs::write(stage.file("transactions.csv"), format!("{}\n", kept.join("\n"))).unwrap();
    std::fs::write(stage.file("watchlist.csv"), "id,name,list\n").unwrap();
    stage.put("customers.csv", ",yes,", ",no,");
    let ran = stage.home.run(&stage.run(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let summary: Value = serde_json::from_str(&read(&stage.file("report/summary.json"))).unwrap();
    assert_eq!((&summary["released"]["held_back"], &summary["findings"]), (&json!(false), &json!(0)));
    assert!(read(&stage.file("report/report.md")).contains("No rule held the report back."));

    // A file that no run wrote is never overwritten.
    std::fs::remove_file(stage.file("report/summary.json")).unwrap();
    let ran = stage.home.run(&stage.run(&[]));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("findings.json") && ran.err.contains("no earlier run wrote"), "{ran:?}");
}

#[test]
fn whatever_is_wrong_with_a_case_is_told_before_anything_starts() {
    let stage = Stage::new();
    stage.put("transactions.csv", ",EUR,", ",ZZZ,");
    stage.put("customers.csv", "1971-04-02", "02.04.1971");
    let ran = stage.home.run(&stage.run(&[]));
    assert_eq!(ran.code, 2, "{ran:?}");
    let expected = "customers.csv:2: column 3 (`birth_date`): bad_date. Write dates as 2026-03-01 and times as 2026-03-01T07:30:00Z.\n\
                    transactions.csv:2: column 7 (`currency`): unknown_currency.";
    assert!(ran.err.contains(expected), "{}", ran.err);
    assert!(!ran.err.contains("ZZZ") && !ran.err.contains("02.04.1971"), "{}", ran.err);
    std::fs::remove_file(stage.file("watchlist.csv")).unwrap();
    assert!(stage.home.run(&stage.run(&[])).err.contains("watchlist.csv: missing_file."));
    assert!(stage.model.requests().is_empty());

    let folder = stage.home.path().to_str().unwrap();
    for (arguments, told) in [
        (&["run", "compliance", "--case", folder][..], "contains no case"),
        (&["run", "pair", "--case", folder], "--case belongs to the workflow `compliance`"),
        (&["run", "compliance", "--init-config", "x.yaml"], "--init-config belongs to the workflow `coach`"),
        (&["run", "compliance"], "name the folder of the case"),
        (
            &["run", "compliance", "Who?"],
            "`holdshort run compliance --case FOLDER`; `holdshort init compliance`",
        ),
        (&["run", "compliance", "--output-dir", folder, "x"], "--output-dir is for `coach`"),
        (&["init", "compliance", &stage.case], "already exists and was not changed"),
    ] {
        let ran = stage.home.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?} {ran:?}");
        assert!(ran.err.contains(told), "{arguments:?} {}", ran.err);
    }
}

/// Tests the demo in rehearsal: the agents' texts are scripted, the findings and the pause are real.
#[test]
fn the_demo_ends_with_the_report_that_was_released() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo", "compliance"], &[]);
    let header = terminal.expect("REHEARSAL");
    assert!(header.contains("  folder") && !header.contains("repository"), "{header}");
    let way = terminal.expect("step nlq_translator starts");
    assert!(!way.contains("git, tests") && way.contains(" --output-dir "), "{way}");
    let card = terminal.expect(PROMPT);
    assert!(card.contains("Holding short: review") && card.contains("F9 sanctions: customer 8"), "{card}");
    assert!(card.contains("findings │ - amount_with_indicators: "), "a line each: {card}");
    terminal.type_line("1");
    // Because the risk is critical, a single key does not release the report.
    let shown = terminal.expect("y sends it");
    assert!(shown.contains("the risk is CRITICAL"), "{shown}");
    terminal.type_line("");
    terminal.expect("Nothing is sent yet.");
    terminal.expect("y sends it");
    terminal.type_line("y");
    let end = terminal.expect("✓ Completed.");
    // When this text appears, only the agent that wrote it is running.
    let (_, writes) = end.split_once("The report lists").expect("the writer is heard");
    assert!(!writes.contains("compliance_checker") && !writes.contains("1 working"), "{writes}");
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    assert!(rest.contains("report.md") && rest.contains("holdshort init compliance"), "{rest}");
    let mut folders = std::fs::read_dir(home.path().join("tmp")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.find(|path| path.join("report").exists()).expect("a report");
    assert!(read(&folder.join("report/report.html")).contains("From a rehearsal."));
}
