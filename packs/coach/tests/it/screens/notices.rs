//! Notices to the athlete apart from the agents' texts: unread data, files of other runs, and the prompts of the
//! models.

use std::path::Path;

use holdshort_testkit::home::Home;
use holdshort_testkit::model::Scripted;
use holdshort_testkit::terminal::{PROMPT, Terminal};
use serde_json::{Value, json};

use super::{AGENTS, ANSWER, CONFIG, Stage, asks};

/// Adds unreadable files, and a table with an error in every line, to the sample's data.
fn spoil(stage: &Stage) {
    let data = stage.home.path().join("data");
    let put = |name: &str, bytes: &[u8]| std::fs::write(data.join(name), bytes).unwrap();
    put("empty.fit", b"");
    // UTF-16 that ends within a character.
    put("torn.csv", b"\xff\xfed\0a");
    put("units.csv", b"start,duration,distance\n2026-03-01T07:00:00Z,60,10\n");
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaa\">]><gpx><trk><name>&a;&a;</name></trk></gpx>";
    put("bomb.gpx", bomb.as_bytes());
    put("day.fit.gz", b"\x1f\x8b");
    put("README.md", b"From the watch.");
    put("rows.csv", format!("date,weight_kg\n{}", "yesterday,70\n".repeat(70)).as_bytes());
}

/// Tests that unread files are reported before the agents start, and in every result file. A day whose file is unread
/// looks like a rest day.
#[test]
fn what_was_not_read_is_told_in_the_terminal_the_page_and_the_summary() {
    let stage = Stage::new(CONFIG);
    spoil(&stage);
    stage.plays(
        "metrics",
        vec![Scripted::call("read_load_data", json!({})), Scripted::text("The load is well.")],
    );
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        "5 not read: ",
        "day.fit.gz (unknown_format)",
        "bomb.gpx (xml_syntax)",
        "empty.fit (fit_header)",
        "torn.csv (not_utf8)",
        "units.csv (csv_unit)",
        "rows.csv (bad_date)",
    ] {
        assert!(told.contains(text), "{text}: {told}");
    }
    let summary = stage.summary();
    let problems = summary["not_read"]["problems"].as_array().unwrap();
    assert_eq!(summary["not_read"]["refused"], json!(5), "{}", summary["not_read"]);
    let rows = problems.iter().find(|it| it["source"]["file"] == "rows.csv").unwrap();
    assert_eq!((&rows["code"], &rows["places"]), (&json!("bad_date"), &json!(70)));
    let page = stage.file("analysis.html");
    for text in [
        "Data that was not read",
        "empty.fit",
        "torn.csv",
        "units.csv",
        "day.fit.gz",
        "bomb.gpx",
        "rows.csv, line 2",
        "<td class=\"r\">70</td>",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

/// Tests that a start in an hour that a clock change skips or repeats is reported in the terminal and in the files.
#[test]
fn starts_that_the_clock_did_not_show_once_are_told() {
    let stage = Stage::new(&CONFIG.replace("sex: female", "sex: female, time_zone: Europe/Berlin"));
    for (name, start) in [("autumn.csv", "2025-10-26 02:30"), ("spring.csv", "2025-03-30 02:30")] {
        let table = format!("start,sport,duration_min,avg_hr\n{start},run,30,140\n");
        std::fs::write(stage.home.path().join("data").join(name), table).unwrap();
    }
    stage.plays(
        "metrics",
        vec![Scripted::call("read_load_data", json!({})), Scripted::text("The load is well.")],
    );
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let (told, page) =
        (ran.err.split_whitespace().collect::<Vec<_>>().join(" "), stage.file("analysis.html"));
    for (file, code) in [("spring.csv", "local_time_skipped"), ("autumn.csv", "local_time_twice")] {
        assert!(told.contains(&format!("{file} ({code})")), "{told}");
        let problems = stage.summary()["not_read"]["problems"].clone();
        assert!(problems.as_array().unwrap().iter().any(|it| it["code"] == *code), "{problems}");
    }
    for words in
        ["2025-03-30T02:30:00", "Europe/Berlin skipped this time", "Europe/Berlin had this time twice"]
    {
        assert!(page.contains(words), "{words}");
    }
}

/// Tests that the plan's page draws planned weeks next to completed weeks. The later plan for a week is used.
#[test]
fn planned_weeks_are_drawn_beside_those_that_were_done() {
    let stage = Stage::new(CONFIG);
    let plans = |weeks: Value| Scripted::call("plan_weeks", json!({ "weeks": weeks }));
    let (first, second) = ("2026-03-16", "2026-03-23");
    let season = json!([{ "begins": first, "hours": 9.5 }, { "begins": second, "hours": 5 }]);
    stage.plays("season_planner", vec![plans(season), Scripted::text("The season.")]);
    stage.plays(
        "weekly_planner",
        vec![plans(json!([{ "begins": first, "hours": 3.5 }])), Scripted::text("The weeks.")],
    );
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let page = stage.file("planning.html");
    assert!(page.contains("<svg") && page.contains("Hours a week, past and planned"), "{page}");
    for text in ["2026-03-09, done: ", "2026-03-16, planned: 3.5", "2026-03-23, planned: 5"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("planned: 9.5"), "{page}");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

/// Tests that training files beyond the size limit are reported before the run starts, and that the newest files are
/// read.
#[test]
fn too_much_data_is_told_before_the_start() {
    let stage = Stage::new(CONFIG);
    let old = stage.home.path().join("data/old.fit");
    let file = std::fs::File::create(&old).unwrap();
    file.set_len(151 << 20).unwrap();
    stage.plays(
        "metrics",
        vec![Scripted::call("read_load_data", json!({})), Scripted::text("The load is well.")],
    );
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("1 not read: old.fit (left_out)"), "{ran:?}");
    assert!(!stage.summary()["not_read"].is_null());
}

/// Tests that quoted numbers from a data file that an agent received are not marked as unknown.
#[test]
fn numbers_of_a_data_file_are_not_marked() {
    let stage = Stage::new(CONFIG);
    let text = r#"{"vo2_max_history": {"running": [{"date": "2026-03-01", "value": 57.3}]}}"#;
    std::fs::write(stage.home.path().join("data/platform.json"), text).unwrap();
    stage.plays(
        "metrics",
        vec![
            Scripted::call("read_load_data", json!({})),
            Scripted::text("The VO2 max was 57.3, and 61.9 before."),
        ],
    );
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let page = stage.file("analysis.html");
    let marked: Vec<&str> = page.split("<mark class=\"untraced\"").skip(1).collect();
    assert!(marked.iter().any(|it| it.contains("61.9")), "{page}");
    assert!(!marked.iter().any(|it| it[..80.min(it.len())].contains("57.3")), "{page}");
}

fn names_in(folder: &Path) -> Vec<String> {
    let there = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = there.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn listed(summary: &Value) -> Vec<String> {
    let mut listed: Vec<String> = serde_json::from_value(summary["files_generated"].clone()).unwrap();
    listed.sort();
    listed
}

/// Tests that the output folder has the files of one run at a time, and that a file that no run wrote is never
/// overwritten (contract C9).
#[test]
fn files_of_an_earlier_run_go_and_those_of_a_person_stay() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![asks("Why?", ""), Scripted::text("Done.")]);
    let mut terminal = stage.terminal();
    terminal.expect(PROMPT);
    terminal.type_line("quit");
    assert_eq!(terminal.end().0, 3);
    let report = stage.home.path().join("report");
    assert!(report.join("physiology_result.md").exists());
    std::fs::write(report.join("notes.md"), "mine").unwrap();

    // The second run ends after fewer steps than the first run.
    stage.plays("metrics", vec![asks("Why?", ""), Scripted::text("Done.")]);
    stage.plays("activity", vec![asks("Why?", ""), Scripted::text("All easy.")]);
    stage.plays("physiology", vec![asks("Why?", ""), Scripted::text("All well.")]);
    let mut terminal = stage.terminal();
    let told = terminal.expect(PROMPT);
    assert!(
        told.split_whitespace().collect::<Vec<_>>().join(" ").contains("This run replaces them"),
        "{told}"
    );
    terminal.type_line("quit");
    assert_eq!(terminal.end().0, 3);
    assert_eq!(names_in(&report), ["notes.md", "summary.json"]);
    assert_eq!(listed(&stage.summary()), ["summary.json"]);

    std::fs::write(report.join("synthesis.md"), "my own").unwrap();
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("synthesis.md, which no earlier run of the coach wrote"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(report.join("synthesis.md")).unwrap(), "my own");
}

/// Tests that only a completed run replaces the report of another completed run. Until then, its files are in a
/// separate folder.
#[test]
fn a_finished_report_outlives_a_run_that_is_left() {
    let stage = Stage::new(CONFIG);
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.err.contains("contains the report"), "{ran:?}");
    let report = stage.home.path().join("report");
    let (before, first) = (names_in(&report), stage.summary());
    let first = first["execution_id"].as_str().unwrap();

    for agent in AGENTS {
        stage.plays(agent, vec![Scripted::text(format!("The second part of {agent}."))]);
    }
    stage.plays("metrics", vec![asks("Why?", ""), Scripted::text("The second part of metrics.")]);
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 4, "{ran:?}");
    let flat: String = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(&format!(
            "contains the report of 2026-03-15 of {first}. This run replaces that report"
        )),
        "{ran:?}"
    );
    assert!(stage.file("synthesis.md").contains("The part of synthesis."), "{ran:?}");
    assert_eq!(stage.summary()["execution_id"], json!(first));
    let own = names_in(&report).into_iter().find(|name| !before.contains(name)).expect("a folder of its own");
    assert!(ran.out.contains(&own), "it is said where they are: {ran:?}");
    let partial = std::fs::read_to_string(report.join(&own).join("physiology_result.md")).unwrap();
    assert_eq!(partial, "The second part of physiology.");

    let directory = report.to_str().unwrap();
    let model = ["--model", "scripted", "--base-url", stage.model.base_url(), "--output-dir", directory];
    let mut terminal = Terminal::open(&stage.home, &[&["attach", &own], &model[..]].concat(), &[]);
    terminal.expect(PROMPT);
    terminal.type_line("ill");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(names_in(&report), before);
    assert_eq!(stage.summary()["execution_id"], json!(own));
    assert!(stage.file("synthesis.md").contains("The second part of synthesis."));
}

/// Tests that a run whose start fails leaves no empty folder.
#[test]
fn a_start_that_fails_leaves_no_empty_folder() {
    let stage = Stage::new(&CONFIG.replace("{directory: report}", "{directory: reports/spring}"));
    let ran = stage.home.run(&["run", "coach", "--config", &stage.config]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!stage.home.path().join("reports").exists());
    // This server has only the rehearsal model, so it rejects a run with another model.
    let serving = stage.home.serve(&[]);
    let ran = stage.home.run(&["run", "coach", "--config", &stage.config, "--model", "scripted"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!stage.home.path().join("reports").exists(), "{ran:?}");
    drop(serving);
}

/// Tests that prompts of a run without asking never tell an agent to ask. With asking, each prompt says when to ask
/// (contract C2).
#[test]
fn prompts_speak_of_asking_only_while_somebody_may_be_asked() {
    for (asks, config) in [
        (true, CONFIG.to_owned()),
        (false, CONFIG.replace("extraction: {", "extraction: {hitl_enabled: false, ")),
    ] {
        let stage = Stage::new(&config);
        let ran = stage.home.run(&stage.arguments(&[]));
        assert_eq!(ran.code, 0, "{ran:?}");
        for agent in AGENTS {
            let system = stage.model.requests_of(agent)[0].texts()[0].clone();
            assert_eq!(system.contains("Ask "), asks, "{agent}: {system}");
            assert_eq!(system.contains("Nobody can be asked."), !asks, "{agent}: {system}");
        }
    }
}

/// Tests that the command needs no `--model` if the configuration names a model.
#[test]
fn a_model_of_the_configuration_is_enough() {
    let stage = Stage::new(&format!("{CONFIG}models: {{development: big-model}}\n"));
    let ran =
        stage.home.run(&["run", "coach", "--config", &stage.config, "--base-url", stage.model.base_url()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(stage.model.requests_of("metrics")[0].body["model"], json!("big-model"));
}

/// Tests that the command prints how to continue a detached run, including the folder of the files.
#[test]
fn a_detached_run_is_told_with_its_folder() {
    let stage = Stage::new(CONFIG);
    let serving = stage.home.serve(&["--model", "scripted", "--base-url", stage.model.base_url()]);
    let ran = stage.home.run(&["run", "coach", "--config", &stage.config, "--detach"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains(" --output-dir ") && ran.err.contains("report"), "{ran:?}");
    drop(serving);
}

/// Tests that the demo's script quotes a person's answers unchanged.
#[test]
fn the_demo_does_not_turn_an_answer_around() {
    let home = Home::new();
    let mut terminal = Terminal::open(&home, &["demo", "coach"], &[]);
    loop {
        let shown = terminal.expect_any(&[PROMPT, ANSWER, "Enter sends it", "✓ Completed."]);
        let answer = match shown {
            _ if shown.ends_with("✓ Completed.") => break,
            _ if shown.contains("Enter sends it") => "",
            _ if shown.contains("1 of 3") => "as planned",
            _ if shown.contains("2 of 3") => "yes",
            _ if shown.contains("3 of 3") => "",
            _ if shown.contains("What was different") => "I skipped two rest days",
            _ if shown.contains("stand on its own") => "not on its own, please",
            _ => "slept badly, my own fault",
        };
        terminal.type_line(answer);
    }
    let (code, rest) = terminal.end();
    assert_eq!(code, 0, "{rest}");
    let flat: String = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!flat.contains("git -C"), "a coach writes nothing into the repository: {flat}");
    let folder = flat.split(" In ").nth(1).and_then(|rest| rest.split(": ").next()).unwrap().to_owned();
    let read = |name: &str| std::fs::read_to_string(std::path::Path::new(&folder).join(name)).unwrap();
    assert!(
        read("metrics_result.md").contains("You said: \"I skipped two rest days\""),
        "{}",
        read("metrics_result.md")
    );
    assert!(read("season_plan.md").contains("\"not on its own, please\""), "{}", read("season_plan.md"));
    let _: Value = serde_json::from_str(&read("summary.json")).unwrap();
}

/// Tests that empty sections of the configuration and a day with a time are accepted.
#[test]
fn empty_sections_and_a_day_with_a_time_are_taken() {
    let config = CONFIG
        .replace("context: {analysis: A week abroad in March.}", "context:\nmodels:")
        .replace("current_date: 2026-03-15", "current_date: \"2026-03-15T08:30:00\"");
    let stage = Stage::new(&config);
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(stage.summary()["analysis_date"], json!("2026-03-15"));
    assert!(stage.file("planning.html").contains("Written by the agent season_planner"));
}

/// Tests that the run waits if the terminal detaches while an agent works, and that the summary tells this.
#[test]
fn a_run_that_is_left_is_said_to_wait() {
    let stage = Stage::new(CONFIG);
    stage.plays("metrics", vec![Scripted::hang()]);
    let mut terminal = stage.terminal();
    terminal.expect("1 working, 3 waiting");
    terminal.type_raw("\u{3}");
    assert_eq!(terminal.end().0, 4);
    assert_eq!(stage.summary()["status"], json!("waiting"));
}

/// Tests that a typed number selects the choice with this text, and not the choice at this position.
#[test]
fn a_choice_that_is_a_number_is_the_one_that_was_typed() {
    let stage = Stage::new(CONFIG);
    let ask = |choices: &[&str]| {
        Scripted::call("ask_human", json!({ "question": "Sessions a week?", "choices": choices }))
    };
    let script = vec![ask(&["3", "4", "5"]), ask(&["2", "3", "4", "5"]), Scripted::text("Thank you.")];
    stage.plays("metrics", script);
    let mut terminal = stage.terminal();
    let screen = terminal.expect(PROMPT);
    assert!(screen.contains("#1 3") && screen.contains("#3 5"), "{screen}");
    terminal.type_line("3");
    terminal.expect("✓ Answer: 3");
    terminal.expect(PROMPT);
    // The typed number is not among the choices, so it is a custom answer, which is shown before it is sent.
    terminal.type_line("7");
    terminal.expect("Enter sends it");
    terminal.type_line("#2");
    terminal.expect("✓ Answer: 3");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    let summary = stage.summary();
    assert_eq!(
        (&summary["questions"][0]["answer"], &summary["questions"][1]["answer"]),
        (&json!("3"), &json!("3"))
    );
}

/// Tests an answer that is typed as JSON: its options are listed by name, and a typed number is no position in a menu.
/// A skip is shown before it is sent. After a rejected answer, the keys are shown.
#[test]
fn an_answer_of_json_is_no_entry_of_a_menu() {
    let stage = Stage::new(CONFIG);
    let day = json!({ "type": "object", "properties": { "d": { "type": "string" } } });
    let schema = json!({ "type": "object", "required": ["rpe"], "properties":
        { "rpe": { "type": "integer" }, "sessions": { "type": "array", "items": day } } });
    let ask = json!({ "question": "How was it?", "response_schema": schema });
    stage.plays("metrics", vec![Scripted::call("ask_human", ask), Scripted::text("Thank you.")]);
    let mut terminal = stage.terminal();
    let screen = terminal.expect(PROMPT);
    assert!(screen.contains("skip Skip") && screen.contains("the answer as JSON"), "{screen}");
    terminal.type_line("2");
    terminal.expect("Enter sends it");
    terminal.type_line("");
    let refused = terminal.expect(PROMPT);
    assert!(refused.contains("the answer as JSON, or an option's name"), "{refused}");
    terminal.type_line("skip");
    terminal.expect("this continues without an answer");
    terminal.expect("y sends it");
    terminal.type_line("n");
    terminal.expect(PROMPT);
    terminal.type_line("{\"rpe\": 2}");
    terminal.expect("Enter sends it");
    terminal.type_line("");
    terminal.expect("✓ Completed.");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(stage.summary()["questions"][0]["answer"], json!({ "rpe": 2 }));
    let page = stage.file("analysis.html");
    assert!(page.contains("<p class=\"said\">rpe: 2</p>"), "{page}");
}

/// Tests that a quoted number from an analyst's data links to its file and line. A number that is not in the data is
/// marked as unknown.
#[test]
fn a_number_of_the_data_leads_to_its_file_and_line() {
    let stage = Stage::new(CONFIG);
    let script = vec![
        Scripted::call("read_activity_data", json!({})),
        Scripted::text("You swam 2436 m on 13 March, and 98765 m before."),
    ];
    stage.plays("activity", script);
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    let page = stage.file("analysis.html");
    for text in [
        "<a class=\"found\" href=\"#found-1\">2436</a>",
        "<tr id=\"found-1\"><th scope=\"row\">2436</th>",
        "swimming of 2026-03-13, distance 2,436 m: log.csv, line 59",
        "wrote in digits",
        "Numbers in words, such as a dozen, are not looked up.",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let marked = page.split("<mark class=\"untraced\"").nth(1).unwrap();
    assert!(marked.contains("98765"), "{marked}");
}

/// Tests that the athlete's texts reach every agent unchanged, and that `mode` selects the model (contract E37). The
/// password reaches neither an agent nor a file. The extension of the configuration file may be in upper case.
#[test]
fn what_the_configuration_says_reaches_the_agents() {
    for (mode, model) in [
        ("production", "big-model"),
        ("standard", "big-model"),
        ("development", "small-model"),
        ("cost_effective", "small-model"),
    ] {
        let config = CONFIG
            .replace("extraction: {", &format!("extraction: {{ai_mode: {mode}, "))
            .replace("in March.}", "in March., planning: No gym on Mondays.}");
        let stage = Stage::new(&format!(
            "{config}models: {{production: big-model, development: small-model}}\n\
             week_dates: 16 to 29 March\nstyle_guide: Short sentences.\n\
             credentials: {{password: a-secret-of-mine}}\n"
        ));
        let named = stage.home.path().join("coach.YML");
        std::fs::rename(&stage.config, &named).unwrap();
        let named = named.to_str().unwrap();
        let ran = stage.home.run(&["run", "coach", "--config", named, "--base-url", stage.model.base_url()]);
        assert_eq!(ran.code, 0, "{mode}: {ran:?}");
        assert!(ran.err.contains("the key `credentials` has no effect"), "{ran:?}");
        for request in stage.model.requests() {
            assert_eq!(request.body["model"], json!(model), "{mode}");
            let told = request.texts().join("\n");
            for text in [
                "A week abroad in March.",
                "No gym on Mondays.",
                "16 to 29 March",
                "Short sentences.",
                "Spring marathon, 2026-05-10",
            ] {
                assert!(told.contains(text), "{}: {text}: {told}", request.agent);
            }
            assert!(!told.contains("a-secret-of-mine"), "{told}");
        }
        for folder in [stage.home.data(), stage.home.path().join("report")] {
            for file in std::fs::read_dir(folder).unwrap().flatten().filter(|file| file.path().is_file()) {
                let kept = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
                assert!(!kept.contains("a-secret-of-mine"), "{}", file.path().display());
            }
        }
    }
}

/// Tests that Ctrl-C or the end of input leaves a question open, and that the files so far are saved (contract C4,
/// E14).
#[test]
fn ctrl_c_and_the_end_of_input_leave_a_question_open() {
    for key in ["\u{3}", "\u{4}"] {
        let stage = Stage::new(CONFIG);
        stage.plays("metrics", vec![asks("Why?", ""), Scripted::text("Done.")]);
        let mut terminal = stage.terminal();
        terminal.expect(PROMPT);
        terminal.type_raw(key);
        let (code, rest) = terminal.end();
        assert_eq!(code, 4, "{key:?}: {rest}");
        let summary = stage.summary();
        let run = summary["execution_id"].as_str().unwrap();
        let flat = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&format!("holdshort attach {run}")), "{key:?}: {rest}");
        assert_eq!(
            (&summary["status"], &summary["questions"][0]["outcome"]),
            (&json!("waiting"), &Value::Null)
        );
    }
}

/// Tests that `quit` at one of several open questions cancels all of them (contract C6).
#[test]
fn leaving_at_one_of_three_questions_cancels_all() {
    let stage = Stage::new(CONFIG);
    for agent in ["metrics", "activity", "physiology"] {
        stage.plays(agent, vec![asks(&format!("What of {agent}?"), ""), Scripted::text("Thank you.")]);
    }
    // The first command has no terminal, and ends when all three questions are open.
    let ran = stage.home.run(&stage.arguments(&[]));
    assert_eq!(ran.code, 4, "{ran:?}");
    let run = stage.summary()["execution_id"].as_str().unwrap().to_owned();
    let report = stage.home.path().join("report");
    let directory = report.to_str().unwrap();
    let model = ["--model", "scripted", "--base-url", stage.model.base_url(), "--output-dir", directory];
    let mut terminal = Terminal::open(&stage.home, &[&["attach", &run], &model[..]].concat(), &[]);
    let screen = terminal.expect(PROMPT);
    assert!(screen.contains("3 AGENT QUESTIONS"), "{screen}");
    terminal.type_line("the first");
    terminal.expect("Question 2 [");
    terminal.expect(PROMPT);
    terminal.type_line("Exit");
    let (code, rest) = terminal.end();
    assert_eq!(code, 3, "{rest}");
    let asked = stage.summary()["questions"].clone();
    let mut outcomes: Vec<&str> =
        asked.as_array().unwrap().iter().filter_map(|each| each["outcome"].as_str()).collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["answered", "cancelled", "cancelled"], "{asked}");
}
