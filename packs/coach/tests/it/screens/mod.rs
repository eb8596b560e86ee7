//! The coach in a terminal: its own form of questions, cancelling, detaching, and its files (contract C, cases 33 to
//! 36).

mod notices;
mod recordings;
mod typed;

use std::path::{Path, PathBuf};

use holdshort_testkit::home::{Home, wait_for};
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

pub(crate) const AGENTS: [&str; 6] =
    ["metrics", "activity", "physiology", "synthesis", "season_planner", "weekly_planner"];

/// Prompt in the terminal at which the athlete types an answer. Text that is typed before it appears is dropped.
pub(crate) const ANSWER: &str = "your answer> ";

pub(crate) const CONFIG: &str = "
athlete: {name: The runner, email: runner@example.com, max_heart_rate: 188, resting_heart_rate: 47, sex: female}
data: data
extraction: {activities_days: 21, metrics_days: 56}
competitions: [{name: Spring marathon, date: 2026-05-10, priority: A, target_time: \"3:25:00\"}]
current_date: 2026-03-15
context: {analysis: A week abroad in March.}
output: {directory: report}
";

/// Names of the files that a completed coach run writes (contract E38).
const FILES: [&str; 9] = [
    "activity_result.md",
    "analysis.html",
    "metrics_result.md",
    "physiology_result.md",
    "planning.html",
    "season_plan.md",
    "summary.json",
    "synthesis.md",
    "weekly_plan.md",
];

pub(crate) struct Stage {
    _runtime: Runtime,
    pub(crate) model: ScriptedModel,
    pub(crate) home: Home,
    pub(crate) config: String,
}

impl Stage {
    /// Creates a test stage with this configuration and the sample's data. Each scripted agent replies with one
    /// sentence.
    pub(crate) fn new(config: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let model = runtime.block_on(ScriptedModel::start());
        let home = Home::new();
        let path = home.path().join("coach.yaml");
        std::fs::write(&path, config).unwrap();
        let config = path.to_str().unwrap().to_owned();
        let stage = Self { _runtime: runtime, model, home, config };
        copy(&sample(), &stage.home.path().join("data"));
        for agent in AGENTS {
            stage.plays(agent, vec![Scripted::text(format!("The part of {agent}."))]);
        }
        stage
    }

    pub(crate) fn plays(&self, agent: &str, steps: Vec<Scripted>) {
        self.model.script(agent, steps);
    }

    pub(crate) fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let run = [
            "run",
            "coach",
            "--config",
            &self.config,
            "--model",
            "scripted",
            "--base-url",
            self.model.base_url(),
        ];
        [&run, more].concat()
    }

    pub(crate) fn terminal(&self) -> Terminal {
        Terminal::open(&self.home, &self.arguments(&[]), &[])
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path().join("report").join(name)).unwrap()
    }

    pub(crate) fn summary(&self) -> Value {
        serde_json::from_str(&self.file("summary.json")).unwrap()
    }

    /// Returns the names of the tools in an agent's first model request.
    fn offered(&self, agent: &str) -> Vec<String> {
        self.model.requests_of(agent)[0].tools()
    }
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/coach/sample")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

pub(crate) fn asks(question: &str, context: &str) -> Scripted {
    Scripted::call("ask_human", json!({ "question": question, "context": context }))
}

/// Tests case 33: an agent that asked receives the answer as a tool result, and continues.
#[test]
fn an_agent_asks_and_goes_on_with_the_answer() {
    let stage = Stage::new(CONFIG);
    let metric = json!({ "metric": "load_ratio", "parameters": { "scale": "session_rpe" } });
    stage.plays(
        "metrics",
        vec![
            Scripted::call("compute_metric", metric),
            asks("Why was last week so hard?", "The load has grown.\nThe data does not say why."),
            Scripted::text("## Load\n\nThe ratio is 1.63. You were ill. It was 77.7 before."),
        ],
    );
    let mut terminal = stage.terminal();
    let screen = terminal.expect(PROMPT);
    let line = "=".repeat(70);
    let shown = format!(
        "{line}\nAGENT QUESTION [METRICS]\nThe load has grown.\nThe data does not say why.\n\n\
         Question: Why was last week so hard?\n{line}\n"
    );
    assert!(screen.contains(&shown), "{screen}");
    terminal.type_line("ill");
    terminal.expect("✓ Completed.");
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    assert!(rest.contains("analysis.html") && rest.contains("summary.json"), "{rest}");

    let requests = stage.model.requests_of("metrics");
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].texts().last().map(String::as_str), Some("ill"));
    let summary = stage.summary();
    assert_eq!(summary["questions"][0]["answer"], json!("ill"));
    assert_eq!(summary["status"], json!("completed"));
    let there = stage.home.path().join("report");
    let mut names: Vec<String> =
        std::fs::read_dir(there).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut told: Vec<String> = serde_json::from_value(summary["files_generated"].clone()).unwrap();
    told.sort();
    assert_eq!(names, told);
    assert_eq!(names, FILES);
    for (key, value) in [
        ("athlete", json!("The runner")),
        ("analysis_date", json!("2026-03-15")),
        ("root_run_id", summary["execution_id"].clone()),
    ] {
        assert_eq!(summary[key], value, "{key}");
    }
    assert_eq!(summary["competitions"][0]["name"], json!("Spring marathon"));
    assert!(summary["trace_id"].is_string() && summary["total_tokens"].is_u64(), "{summary}");
    assert!(summary.as_object().unwrap().contains_key("total_cost_usd"), "{summary}");
    let page = stage.file("analysis.html");
    assert!(page.contains("Why was last week so hard?"), "{page}");
    // The page lists the computed number. It marks a number that no tool computed.
    assert!(page.contains("load ratio") && page.contains("<mark class=\"untraced\""), "{page}");
    let marked = page.split("<mark class=\"untraced\"").nth(1).unwrap();
    assert!(marked.contains("77.7"), "{marked}");
    assert!(stage.file("planning.html").contains("The part of weekly_planner."));
    assert_eq!(
        stage.file("metrics_result.md"),
        "## Load\n\nThe ratio is 1.63. You were ill. It was 77.7 before."
    );
    assert!(stage.offered("metrics").contains(&"compute_metric".to_owned()));
    assert!(
        !stage.offered("metrics").contains(&"plot_series".to_owned()),
        "it is off unless the file says so"
    );
    assert!(!stage.offered("activity").contains(&"read_load_data".to_owned()), "each has its own data");
}

/// Tests that questions of several agents are numbered, and answered one after the other.
#[test]
fn questions_side_by_side_are_numbered() {
    let stage = Stage::new(CONFIG);
    for agent in ["metrics", "activity"] {
        let question = format!("What of {agent}?");
        stage.plays(agent, vec![asks(&question, ""), Scripted::text("Thank you.")]);
    }
    // Without a terminal, both questions stay open until a terminal attaches to the run.
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.out.contains("partial results: physiology_result.md") || ran.out.contains("physiology_result.md"),
        "{ran:?}"
    );
    let run = stage.summary()["execution_id"].as_str().unwrap().to_owned();
    assert_eq!(
        stage.summary()["unfinished"],
        json!("the run waits for an answer, or for a person to continue it")
    );
    let report = stage.home.path().join("report");
    let model = [
        "--model",
        "scripted",
        "--base-url",
        stage.model.base_url(),
        "--output-dir",
        report.to_str().unwrap(),
    ];
    let mut terminal = Terminal::open(&stage.home, &[&["attach", &run], &model[..]].concat(), &[]);
    let screen = terminal.expect(PROMPT);
    assert!(screen.contains("2 AGENT QUESTIONS") && screen.contains("Question 1 ["), "{screen}");
    terminal.type_line("the first");
    let screen = terminal.expect(PROMPT);
    assert!(screen.contains("Question 2 ["), "{screen}");
    terminal.type_line("the second");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(stage.summary()["unfinished"], Value::Null);
    assert_eq!(stage.model.requests_of("physiology").len(), 1, "what was done is not done again");
}

/// Tests that an agent may ask again (contract C3). A line that is exactly `quit`, `exit` or `cancel`, in upper or
/// lower case, ends the run (contract C4, E15).
#[test]
fn leaving_words_cancel_and_keep_what_there_is() {
    for word in ["QUIT", "Exit", "cancel"] {
        let stage = Stage::new(CONFIG);
        stage.plays("metrics", vec![asks("Why?", ""), asks("And now?", ""), Scripted::text("Done.")]);
        let mut terminal = stage.terminal();
        terminal.expect(PROMPT);
        terminal.type_line("I had to cancel a race");
        terminal.expect("And now?");
        terminal.expect(PROMPT);
        terminal.type_line(word);
        let (code, rest) = terminal.end();
        assert_eq!(code, 3, "{word}: {rest}");
        assert!(rest.contains("Cancelled") && rest.contains("partial results"), "{word}: {rest}");
        assert!(!rest.contains("Completed"), "{word}: {rest}");
        let summary = stage.summary();
        assert_eq!(summary["status"], json!("cancelled"), "{word}");
        assert_eq!(summary["questions"][0]["answer"], json!("I had to cancel a race"), "{word}");
        assert!(stage.file("physiology_result.md").contains("The part of physiology."), "{word}");
        assert!(
            !stage.home.path().join("report/metrics_result.md").exists(),
            "{word}: nothing empty is written"
        );
    }
}

/// Tests that the question is asked again after an empty line, and that a second empty line is the answer (contract
/// E14).
#[test]
fn an_empty_answer_is_asked_again_once() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![asks("Why?", ""), Scripted::text("Done.")]);
    let mut terminal = stage.terminal();
    terminal.expect(PROMPT);
    terminal.type_line("");
    terminal.expect("Please type an answer");
    terminal.expect(PROMPT);
    terminal.type_line("  ");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    let requests = stage.model.requests_of("metrics");
    assert_eq!(requests[1].texts().last().map(String::as_str), Some("No response provided"));
}

/// Tests that a structured answer is typed field by field, and shown before it is sent.
#[test]
fn a_typed_answer_is_filled_in_part_by_part() {
    let stage = Stage::new(CONFIG);
    let schema = json!({
        "type": "object", "required": ["hours", "quality"], "additionalProperties": false,
        "properties": {
            "quality": { "$ref": "#/$defs/Quality", "description": "How well" },
            "hours": { "type": "number", "minimum": 0, "maximum": 24, "description": "Hours of sleep" },
            "note": { "type": "string" },
        },
        "$defs": { "Quality": { "enum": ["good", "bad"] } },
    });
    let ask = json!({ "question": "How did you sleep?", "response_schema": schema });
    stage.plays("physiology", vec![Scripted::call("ask_human", ask), Scripted::text("Thank you.")]);
    let mut terminal = stage.terminal();
    // A form has the card of every other workflow, with its options.
    let card = terminal.expect("1 of 3: Hours of sleep (a number)");
    assert!(!card.contains("AGENT QUESTION") && card.contains("How did you sleep?"), "{card}");
    assert!(card.contains("Skip"), "{card}");
    terminal.expect(ANSWER);
    terminal.type_line("seven");
    terminal.expect("“seven” is not a number.");
    terminal.expect(ANSWER);
    terminal.type_line("7.5");
    terminal.expect("2 of 3: How well (1 good, 2 bad)");
    terminal.expect(ANSWER);
    terminal.type_line("2");
    terminal.expect("3 of 3: note [Enter leaves it out]");
    terminal.expect(ANSWER);
    terminal.type_line("");
    let shown = terminal.expect("Enter sends it");
    assert!(shown.contains("7.5") && shown.contains("bad"), "{shown}");
    // After editing one field, the other fields keep their values.
    terminal.type_line("1");
    terminal.expect("Enter sends what is shown");
    terminal.expect("Enter sends it");
    terminal.type_line("");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    let told = stage.model.requests_of("physiology")[1].texts().last().cloned().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), json!({ "hours": 7.5, "quality": "bad" }));
}

/// Tests case 34: after the process is killed at an open question, no completed work is repeated (contract C5).
#[test]
fn a_question_outlives_its_process() {
    let stage = Stage::new(&CONFIG.replace("extraction: {", "extraction: {enable_plotting: true, "));
    let plot = json!({ "series": "sleep", "title": "Hours slept" });
    stage.plays(
        "physiology",
        vec![
            Scripted::call("plot_series", plot),
            asks("Why so little sleep?", ""),
            Scripted::text("Thank you."),
        ],
    );
    let mut terminal = stage.terminal();
    terminal.expect("Why so little sleep?");
    terminal.kill();
    let open = {
        let serving = stage.home.serve(&["--model", "scripted", "--base-url", stage.model.base_url()]);
        let open = stage.home.open_interrupt();
        drop(serving);
        open
    };
    let before = stage.model.requests_of("physiology").len();
    let run = open["run"].as_str().unwrap();
    let report = stage.home.path().join("report");
    let model = [
        "--model",
        "scripted",
        "--base-url",
        stage.model.base_url(),
        "--output-dir",
        report.to_str().unwrap(),
    ];
    let mut terminal = Terminal::open(&stage.home, &[&["attach", run], &model[..]].concat(), &[]);
    terminal.expect("Question: Why so little sleep?");
    terminal.expect(PROMPT);
    terminal.type_line("a newborn");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!((before, stage.model.requests_of("physiology").len()), (2, 3));
    assert!(
        stage.file("analysis.html").contains("Hours slept"),
        "the plot of before the kill is in the report"
    );
}

/// Tests that the command detaches from the run if the terminal hangs up. The run waits, its files are saved, and the
/// command to attach again is printed.
#[test]
fn a_terminal_that_hangs_up_leaves_the_run() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![asks("Why?", ""), Scripted::text("Done.")]);
    let mut terminal = stage.terminal();
    terminal.expect(PROMPT);
    terminal.hang_up();
    let (code, rest) = terminal.end();
    assert_eq!(code, 4, "{rest}");
    let run = stage.summary()["execution_id"].as_str().unwrap().to_owned();
    assert!(rest.contains(&format!("holdshort attach {run}")), "{rest}");
    assert!(rest.contains("partial results"), "{rest}");
}

/// Tests case 35: with asking disabled, agents have no tool to ask with, and the summary lists their assumptions
/// (contract C2, E39).
#[test]
fn with_asking_off_nothing_asks() {
    let stage = Stage::new(&CONFIG.replace("extraction: {", "extraction: {hitl_enabled: false, "));
    stage.plays(
        "metrics",
        vec![
            asks("Why?", ""),
            Scripted::call("record_assumption", json!({ "assumption": "It was a training camp." })),
            Scripted::text("Done. Should I go on?"),
            Scripted::text("Done. Should I go on?"),
        ],
    );
    // The run has a terminal, so a person could answer questions.
    let mut terminal = stage.terminal();
    let screen = terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert!(!screen.contains("AGENT QUESTION") && !screen.contains(PROMPT), "{screen}");
    let requests = stage.model.requests_of("metrics");
    let offered = stage.offered("metrics");
    assert!(!offered.contains(&"ask_human".to_owned()) && offered.contains(&"record_assumption".to_owned()));
    let refused = requests[1].texts().last().cloned().unwrap();
    assert!(refused.contains("`ask_human` is not available"), "{refused}");
    assert_eq!(stage.summary()["assumptions"][0]["assumption"], json!("It was a training camp."));
    assert_eq!(stage.summary()["questions"], json!([]));
}

/// Tests case 36: a wrong configuration causes one clear line of error, and no run starts.
#[test]
fn a_wrong_configuration_starts_nothing() {
    let home = Home::new();
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    write("a.txt", CONFIG);
    write("no_mail.yaml", "athlete: {name: A}\n");
    write("no_athlete.yml", "context: {}\n");
    write("key.yaml", "athlete: {email: a@b.c}\nextraktion: {}\n");
    write("mode.yaml", "athlete: {email: a@b.c}\nextraction: {ai_mode: cheap}\n");
    write("date.yaml", "athlete: {email: a@b.c}\ncurrent_date: yesterday\n");
    write("race.yaml", "athlete: {email: a@b.c}\ncompetitions: [{name: A, date: 2026-13-40}]\n");
    write("unnamed.yaml", "athlete: {email: a@b.c}\ncompetitions: [{name: \"\", date: 2026-05-10}]\n");
    write("units.yaml", "athlete: {email: a@b.c, units: imperial}\n");
    write("columns.yaml", "athlete: {email: a@b.c}\ncolumns: {start: Beginn, strecke: Strecke}\n");
    write("days.JSON", "{\"athlete\": {\"email\": \"a@b.c\"}, \"extraction\": {\"metrics_days\": 0}}");
    write("twice.yaml", "athlete: {email: a@b.c}\nathlete: {email: a@b.c}\n");
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    write("zone.yaml", "athlete: {email: a@b.c, time_zone: Europe/Berln}\n");
    write("folder.yaml", "athlete: {email: a@b.c}\ndata: dta\n");
    write("inside.yaml", "athlete: {email: a@b.c}\noutput: {directory: data/report}\n");
    write("at.yaml", "athlete: {email: \"@\"}\n");
    write("template.yaml", "athlete: {email: you@example.com}\n");
    write("word.yaml", "athlete: {email: nope}\n");
    write("heart.yaml", "athlete: {email: a@b.c, max_heart_rate: 999}\n");
    write("kind.yaml", "athlete: {email: a@b.c}\nextraction: {metrics_days: many}\n");
    let cases: [(&[&str], &str); 23] = [
        (
            &["--config", "template.yaml"],
            "athlete.email is `you@example.com`, the placeholder of the template",
        ),
        (&["--config", "at.yaml"], "athlete.email is `@`, which is not an e-mail address"),
        (&["--config", "word.yaml"], "athlete.email is `nope`, which is not an e-mail address"),
        (&["--config", "heart.yaml"], "athlete.max_heart_rate is 999: it must be between 60 and 250 bpm"),
        (&["--config", "kind.yaml"], "a whole number is needed"),
        (&["--init-config", "b.txt"], "name a .yaml or .yml file"),
        (&["--config", "zone.yaml"], "athlete.time_zone is `Europe/Berln`"),
        (&["--config", "folder.yaml"], "data: folder not found:"),
        (&["--config", "inside.yaml"], "is inside the data folder"),
        (&["--config", "none.yaml"], "none.yaml"),
        (&["--config", "a.txt"], "a .yaml, .yml or .json file"),
        (&["--config", "no_mail.yaml"], "athlete.email is missing"),
        (&["--config", "no_athlete.yml"], "missing key `athlete`"),
        (&["--config", "key.yaml"], "unknown key `extraktion`"),
        (&["--config", "mode.yaml"], "cheap"),
        (&["--config", "date.yaml"], "current_date is `yesterday`"),
        (&["--config", "race.yaml"], "competitions[0].date is `2026-13-40`"),
        (&["--config", "unnamed.yaml"], "competitions[0].name is empty"),
        (&["--config", "units.yaml"], "unknown value `imperial`"),
        (&["--config", "columns.yaml"], "`strecke`, which is not a known column name"),
        (&["--config", "days.JSON"], "extraction.metrics_days is 0"),
        (&["--config", "twice.yaml"], "twice.yaml: line 2: duplicate key athlete"),
        (&["--config", "key.yaml", "--init-config", "b.yaml"], "cannot be used together"),
    ];
    for (arguments, told) in cases {
        let arguments: Vec<String> =
            arguments.iter().map(|it| if it.starts_with("--") { (*it).to_owned() } else { at(it) }).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = home.run(&[&["run", "coach"], &arguments[..]].concat());
        assert_eq!(ran.code, 2, "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(told), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{arguments:?}: {}", ran.err);
        assert!(!home.data().exists(), "{arguments:?}: nothing is started");
    }
    let ran = home.run(&["run", "coach"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--config coach.yaml"), "{ran:?}");
}

/// Tests that the template is a valid configuration, and that `init` never overwrites a file.
#[test]
fn the_template_is_written_once_and_works() {
    let home = Home::new();
    let path = home.path().join("coach.yaml");
    let named = path.to_str().unwrap();
    let ran = home.run(&["init", "coach", named]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let template = std::fs::read_to_string(&path).unwrap();
    assert!(template.contains("hitl_enabled: true") && template.contains("activities_days: 21"));
    has_the_keys_of_garmin_ai_coach(&template);
    std::fs::write(&path, "mine").unwrap();
    for again in [&["init", "coach", named][..], &["run", "coach", "--init-config", named]] {
        let ran = home.run(again);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("already exists"), "{ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");

    // The placeholder values of the template do not reach an agent, and no data is stored under the placeholder
    // address.
    let untouched = Stage::new(&template);
    let ran = untouched.home.run(&untouched.arguments(&[]));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("athlete.email is missing"), "{ran:?}");

    let stage = Stage::new(&template.replace("email: \"\"", "email: \"runner@example.com\""));
    let report = stage.home.path().join("report");
    let ran = stage.home.run(&stage.arguments(&["--output-dir", report.to_str().unwrap()]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(stage.summary()["athlete"], json!("Athlete"));
    assert!(stage.file("synthesis.md").contains("The part of synthesis."));
    let told = stage.model.requests_of("metrics")[0].texts().join("\n");
    for made_up in ["Notes for the analysts", "Notes for the plan", "Competitions", "priority"] {
        assert!(!told.contains(made_up), "{made_up}: {told}");
    }
    assert!(told.contains("Athlete: not named"), "{told}");
    assert!(!ran.err.contains("no effect"), "{}", ran.err);
    assert_eq!(stage.summary()["competitions"], json!([]));
}

/// Checks that the template has the keys of garmin-ai-coach (contract C9), each with its type.
fn has_the_keys_of_garmin_ai_coach(template: &str) {
    let keys: Value = serde_saphyr::from_str(template).unwrap();
    for (pointer, value) in [
        ("/athlete/name", json!("")),
        ("/athlete/email", json!("")),
        ("/context/analysis", json!("")),
        ("/context/planning", json!("")),
        ("/extraction/activities_days", json!(21)),
        ("/extraction/metrics_days", json!(56)),
        ("/extraction/ai_mode", json!("standard")),
        ("/extraction/enable_plotting", json!(false)),
        ("/extraction/hitl_enabled", json!(true)),
        ("/extraction/skip_synthesis", json!(false)),
        ("/competitions/0/name", json!("")),
        ("/competitions/0/date", json!("")),
        ("/competitions/0/race_type", json!("")),
        ("/competitions/0/priority", json!("A")),
        ("/competitions/0/target_time", json!("")),
        ("/output/directory", json!("coach")),
        ("/credentials/password", json!("")),
    ] {
        assert_eq!(keys.pointer(pointer), Some(&value), "{pointer}");
    }
    assert!(template.contains("analysis: |\n") && template.contains("planning: |\n"), "block texts");
}

/// Tests that a configuration of garmin-ai-coach is accepted unchanged. Keys without an effect get a notice, and the
/// date of a race may be free text (contract C9).
#[test]
fn a_configuration_of_garmin_ai_coach_is_accepted() {
    let config = CONFIG
        .replace("metrics_days: 56", "metrics_days: 56, skip_synthesis: true")
        .replace("date: 2026-05-10", "date: September 2026");
    let stage = Stage::new(&format!(
        "{config}outside: {{bikereg: [{{id: 71252, priority: B}}]}}\nrunreg: []\ncredentials: {{password: \"secret\"}}\n"
    ));
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for notice in [
        "the key `credentials` has no effect",
        "the key `extraction.skip_synthesis` has no effect, because the synthesis is never skipped",
        "the key `outside` has no effect: name the races under `competitions` instead",
    ] {
        assert!(flat.contains(notice), "{notice}: {flat}");
    }
    assert!(!flat.contains("runreg"), "{flat}");
    let told = stage.model.requests_of("metrics")[0].texts().join("\n");
    assert!(told.contains("- Spring marathon, September 2026, priority A, 3:25:00"), "{told}");
}

#[test]
fn the_demo_asks_and_leaves_its_report() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo", "coach"], &[]);
    let mut answered = Vec::new();
    loop {
        let shown = terminal.expect_any(&[PROMPT, ANSWER, "Enter sends it", "✓ Completed."]);
        let answer = match shown {
            _ if shown.ends_with("✓ Completed.") => break,
            _ if shown.contains("Enter sends it") => "",
            _ if shown.contains("1 of 3") => "as planned",
            _ if shown.contains("2 of 3") => "yes",
            _ if shown.contains("3 of 3") => "tired legs",
            _ if shown.contains("What was different") => "a week abroad",
            _ => "1",
        };
        terminal.type_line(answer);
        answered.push(answer);
    }
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    assert!(rest.contains("analysis.html") && rest.contains("This was a rehearsal"), "{rest}");
    assert!(answered.len() >= 7, "{answered:?}");
}

/// Tests that a question is wrapped at blanks and no word is split at the edge of the terminal.
#[test]
fn what_an_agent_asks_is_wrapped_at_blanks() {
    let stage = Stage::new(CONFIG);
    let context = "The load of this week is well above that of the weeks before it. ".repeat(4);
    stage.plays("metrics", vec![asks("Why?", &context), Scripted::text("You were ill.")]);
    let mut terminal = stage.terminal();
    let screen = terminal.expect(PROMPT);
    let (_, rest) = screen.split_once("AGENT QUESTION [METRICS]\n").expect(&screen);
    let (shown, _) = rest.split_once("\n\nQuestion: Why?").expect(&screen);
    assert!(shown.lines().count() > 1 && shown.lines().all(|line| line.len() <= 100), "{screen}");
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), context.trim());
    let words: Vec<&str> = context.split_whitespace().collect();
    assert!(shown.lines().flat_map(str::split_whitespace).all(|word| words.contains(&word)), "{screen}");
    terminal.type_line("ill");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
}

/// Tests that messages about other agents are printed above an open question, separated from it.
#[test]
fn what_is_decided_elsewhere_is_told_with_its_decision() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![asks("Why so hard?", ""), Scripted::text("You were ill.")]);
    stage.plays("activity", vec![Scripted::Hang(Box::new(Scripted::text("All easy.")))]);
    let mut terminal = stage.terminal();
    terminal.expect(PROMPT);
    let open = stage.home.open_interrupt();
    stage.model.release();
    let events = ["events", open["run"].as_str().unwrap(), "--json"];
    wait_for("the other agent to have said it", || stage.home.run(&events).out.contains("All easy."));
    let decide = ["decide", open["id"].as_str().unwrap(), "answer", "--text", "ill"];
    assert_eq!(stage.home.run(&decide).code, 0);
    let meanwhile = terminal.expect("Decided elsewhere:\n");
    assert!(meanwhile.contains("All easy."), "{meanwhile}");
    let decided = terminal.expect("answered “ill”");
    assert_eq!(decided.lines().count(), 1, "{decided}");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
}

/// Tests that the terminal lists the working agents while one asks, and after the answer the waiting agents with the
/// reason.
#[test]
fn a_person_sees_who_works_and_who_waits_for_whom() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![asks("Why so hard?", ""), Scripted::text("You were ill.")]);
    stage.plays("activity", vec![Scripted::Hang(Box::new(Scripted::text("All easy.")))]);
    let mut terminal = stage.terminal();
    let asked = terminal.expect(PROMPT);
    assert!(
        asked.contains("working now: activity thinks, ") || asked.contains("activity thinks, "),
        "{asked}"
    );
    terminal.type_line("ill");
    terminal.expect("1 working, 3 waiting");
    terminal.expect("activity                  thinks, ");
    terminal.expect("synthesis                 starts after activity");
    terminal.expect("season_plan (season_planner)  starts after synthesis");
    stage.model.release();
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
}

/// Tests that the next run offers the athlete's earlier answer: `h` shows it, and Enter sends it.
#[test]
fn an_answer_that_was_given_before_is_taken_with_h() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![asks("Why so hard?", ""), Scripted::text("You were ill.")]);
    let mut first = stage.terminal();
    first.expect(PROMPT);
    first.type_line("A cold, \u{1b}[31mred\u{1b}[0m.");
    first.expect("✓ Completed.");
    assert_eq!(first.end().0, 0);

    let mut second = stage.terminal();
    let asked = second.expect(PROMPT);
    assert!(asked.contains("A cold, ") && !asked.contains("\u{1b}[31mred"), "{asked}");
    second.type_line("h");
    let shown = second.expect("Enter sends it, n drops it, or type something else> ");
    assert!(shown.contains("A cold, \\u{1b}[31mred"), "{shown}");
    second.type_line("");
    second.expect("✓ Completed.");
    assert_eq!(second.end().0, 0);
    let questions = &stage.summary()["questions"][0];
    assert!(questions["from"].as_str().is_some_and(|from| from.starts_with("int_")), "{questions}");
    assert_eq!(questions["by"], json!("operator"));
}
