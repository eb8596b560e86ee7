//! Routing of tasks: every rule and each of its words, with a similar text that does not match, and the parsing of
//! router replies.

use holdshort_core::routing::{Mode, Route, heuristics, new_task, read};

const MODES: [Mode; 3] = [Mode::Minimal, Mode::Balanced, Mode::Aggressive];

/// Returns `n` words that no rule contains.
fn filler_words(n: usize) -> String {
    vec!["word"; n].join(" ")
}

/// Returns the routes for a task in the modes minimal, balanced and aggressive, one letter each: `c` to clarify, `p` to
/// propose, `r` if the researcher begins, `d` if the agent of the phase begins.
fn routes(task: &str) -> String {
    let route = |mode| {
        let routed = heuristics(task, mode);
        match (routed.route, routed.agent.as_deref()) {
            (Route::Clarify, _) => 'c',
            (Route::Propose, _) => 'p',
            (_, Some("researcher")) => 'r',
            (_, _) => 'd',
        }
    };
    MODES.into_iter().map(route).collect()
}

#[test]
fn every_rule_and_its_near_miss() {
    let long = |n: usize| filler_words(n);
    let table: Vec<(String, &str)> = [
        // Rule 1: phrases of unclear tasks, which are checked before the length of the task (contract E6).
        ("write python script. No further details. Generate a plan", "dcc"),
        ("Clarify the requirements of the import job with the team today please", "dcc"),
        ("please determine requirements for the billing page before anything else", "dcc"),
        ("the format is unspecified so choose the one that the parser wants", "dcc"),
        ("generate a plan to clarify how the importer treats empty cells", "dcc"),
        ("write down the further details of the importer for the new colleagues", "ddd"),
        ("specified by the schema: reject rows without a date in the importer", "ddd"),
        // Rule 2: an action and an object without a purpose.
        ("write python script", "dcc"),
        ("Write code", "dcc"),
        ("create a file", "dcc"),
        ("build app", "dcc"),
        ("create script to parse csv", "dcc"),
        ("write a python script that parses csv files", "ddd"),
        ("create a nice new shiny little python script today", "dcc"),
        ("create a nice new shiny little python script today with love", "ddd"),
        ("write the scripture down", "ddd"),
        ("rewrite code", "ddd"),
        ("make program", "dcc"),
        ("make coffee", "ddd"),
        // Rule 3: the task refers to something that it does not name.
        ("refactor it", "dcc"),
        ("polish this module", "dcc"),
        ("rename that old helper function", "ddc"),
        ("sort things in util.py", "dcc"),
        ("edit items in the list", "ddd"),
        ("move it into the folder of the parser", "ddd"),
        // Rule 4: vague tasks of any length.
        ("the login page of the shop is not working since the deploy of last friday", "dcc"),
        ("please fix it for all of the customers in the shop today", "dcc"),
        ("fix item totals in the invoice of the web shop", "ddd"),
        ("something wrong happens with totals in the invoice of the web shop", "dcc"),
        ("unbroken lines in the report should be cut at 80 columns", "ddd"),
        // Rule 5: a specific agent begins, or several approaches are possible.
        ("explain how the parser treats quotes", "rrr"),
        ("what is the licence of serde_json", "rrr"),
        ("finder windows open on the wrong screen", "ddd"),
        ("add type hints to calculate_total in utils.py", "ddd"),
        // The rules know only English, so a task in a different script is never unclear.
        ("写一个脚本", "ddd"),
    ]
    .map(|(task, expected)| (task.to_owned(), expected))
    .into_iter()
    .chain([
        (long(40), "ddd"),
        (long(41), "ddp"),
        (long(60), "ddp"),
        (long(61), "dpp"),
        (format!("research {}", long(60)), "rrr"),
        (String::new(), "ddd"),
    ])
    .collect();
    for (task, expected) in table {
        assert_eq!(routes(&task), expected, "{task}");
    }
}

/// Eight words that no rule contains.
const REST: &str = "in the importer of the new billing page";

/// Returns the entries of the list `name` in the source file of the routing rules.
fn listed(name: &str) -> Vec<&'static str> {
    let rules = include_str!("../../src/routing/rules.rs");
    let list = rules.split(&format!("const {name}: [")).nth(1).and_then(|rest| rest.split("];").next());
    list.expect("it is there").split('"').skip(1).step_by(2).collect()
}

/// Asserts that the phrase decides the route, but not with a longer last word or an inserted word.
fn decides(phrase: &str, expected: &str, from: impl Fn(&str) -> String) {
    let task = from(phrase);
    let routed = heuristics(&task, Mode::Aggressive);
    assert_eq!(routes(&task), expected, "{task}");
    assert!(routed.reasoning.contains(&format!("(`{phrase}`)")), "{task}: {}", routed.reasoning);
    let words = phrase.split_once(' ').map(|(first, rest)| format!("{first} old {rest}"));
    for miss in [Some(format!("{phrase}x")), words].into_iter().flatten() {
        assert_eq!(routes(&from(&miss)), "ddd", "{}", from(&miss));
    }
}

#[test]
fn every_word_of_the_rules_is_needed() {
    let unclear = [
        "clarify requirements",
        "clarify the requirements",
        "figure out requirements",
        "figure out the requirements",
        "determine requirements",
        "determine the requirements",
        "no further details",
        "unspecified",
        "no details provided",
        "plan to clarify",
        "needs clarification",
    ];
    let vague = [
        "fix it",
        "make it work",
        "improve this",
        "help me",
        "something wrong",
        "not working",
        "broken",
        "do something",
        "make it better",
    ];
    let pointing = ["it", "this", "that", "something", "stuff", "things", "thing"];
    let research = ["research", "find", "search", "learn", "understand", "explain", "what is"];
    for (name, list, expected) in
        [("META", &unclear[..], "dcc"), ("VAGUE", &vague, "dcc"), ("RESEARCH", &research, "rrr")]
    {
        assert_eq!(listed(name), list, "a word that is added to {name} has a row here");
        for phrase in list {
            decides(phrase, expected, |phrase| format!("{phrase} {REST}"));
        }
    }
    assert_eq!(listed("POINTING"), pointing);
    for word in pointing {
        decides(word, "dcc", |word| format!("move {word} over now"));
        for (more, expected) in [("move", "dcc"), ("now move", "ddc"), ("now and then also move", "ddd")] {
            assert_eq!(routes(&format!("{more} {word} over now")), expected, "{more} {word}");
        }
    }
}

#[test]
fn every_action_goes_with_its_things_only() {
    let things = ["script", "file", "app", "function", "code", "program"];
    let table = [
        ("create", "cccc--"),
        ("write", "c--cc-"),
        ("make", "cc---c"),
        ("build", "--c---"),
        ("edit", "------"),
    ];
    for (action, row) in table {
        for (thing, cell) in things.into_iter().zip(row.chars()) {
            let (task, expected) = (format!("{action} {thing}"), if cell == 'c' { "dcc" } else { "ddd" });
            assert_eq!(routes(&task), expected, "{task}");
            for miss in [format!("{action}x {thing}"), format!("{action} {thing}x")] {
                assert_eq!(routes(&miss), "ddd", "{miss}");
            }
        }
    }
    let known = listed("GENERIC").len();
    let here = table.iter().map(|(_, row)| row.matches('c').count() + usize::from(row.contains('c')));
    assert_eq!(known, here.sum::<usize>(), "an action or a thing that is added has a row here");
}

#[test]
fn every_word_of_purpose_makes_a_task_clear() {
    let purpose = [
        "that",
        "which",
        "to",
        "for",
        "parse",
        "process",
        "calculate",
        "convert",
        "generate",
        "analyze",
        "download",
        "upload",
        "send",
        "read",
        "write",
        "filter",
        "sort",
        "transform",
        "validate",
        "check",
        "test",
        "monitor",
        "extract",
        "import",
        "export",
        "display",
        "show",
        "list",
        "count",
        "analyse",
        "reads",
    ];
    assert_eq!(listed("PURPOSE"), purpose);
    let task = |word: &str| format!("create a nice shiny little python script {word} today");
    for word in purpose {
        assert_eq!(routes(&task(word)), "ddd", "{word}");
        assert_eq!(routes(&task(&format!("{word}x"))), "dcc", "{word}");
    }
    // The word of the action is not counted as a purpose, even if the same word could be a purpose.
    assert_eq!(routes("write a nice shiny little python script today"), "dcc");
}

#[test]
fn aggressive_asks_wherever_balanced_does() {
    let tasks = ["fix it", "write code", "polish this", "no further details", "help me with the parser"];
    for task in tasks.map(str::to_owned).into_iter().chain((0..80).map(filler_words)) {
        let asks = |mode| heuristics(&task, mode).route != Route::Direct;
        assert!(!asks(Mode::Balanced) || asks(Mode::Aggressive), "{task}");
        assert!(!asks(Mode::Minimal), "{task}");
    }
}

#[test]
fn what_is_asked_has_words() {
    let routed = heuristics("write python script", Mode::Balanced);
    assert_eq!(routed.questions, ["What should this script do?", "What functionality do you need?"]);
    let titles = heuristics(&filler_words(61), Mode::Balanced).proposals;
    let titles: Vec<&str> = titles.iter().map(|proposal| proposal.title.as_str()).collect();
    assert_eq!(titles, ["Quick & Direct", "Planned & Thorough", "Research First"]);
}

#[test]
fn a_routers_answer_is_read_or_not() {
    let route = |text: &str, mode| read(text, mode).map(|routed| (routed.route, routed.complexity));
    let direct = Some((Route::Direct, Some(20)));
    let table = [
        (r#"{"route_type": "direct", "complexity": 20}"#, direct),
        (r#"{"route_type": "one_shot", "complexity_score": 20}"#, direct),
        ("```json\n{\"route_type\": \"Direct\", \"complexity\": 19.6}\n```", direct),
        (r#"I think: {"route_type": "direct", "complexity": 20} is best."#, direct),
        (r#"{"route_type": "planned", "complexity": 80}"#, Some((Route::Plan, Some(80)))),
        (r#"{"route_type": "phase"}"#, Some((Route::Plan, None))),
        (
            r#"{"route_type": "clarify", "clarifying_questions": ["Which file?"]}"#,
            Some((Route::Clarify, None)),
        ),
        (r#"{"route_type": "propose", "proposals": []}"#, Some((Route::Propose, None))),
        (r#"{"route_type": "direct", "complexity": 101}"#, None),
        (r#"{"route_type": "direct", "complexity": -1}"#, None),
        (r#"{"route_type": "ponder"}"#, None),
        (r#"{"complexity": 20}"#, None),
        (r#"{"route_type": "clarify", "clarifying_questions": "Which?"}"#, None),
        ("Just do it.", None),
        ("", None),
        ("}{", None),
    ];
    for (text, expected) in table {
        assert_eq!(route(text, Mode::Balanced), expected, "{text}");
    }
    // In minimal mode, work begins without asking a person, even if the router wants to ask.
    assert_eq!(route(r#"{"route_type": "clarify"}"#, Mode::Minimal), Some((Route::Direct, None)));
    let asked = read(r#"{"route_type": "propose", "proposals": [{"title": "One"}]}"#, Mode::Balanced);
    assert!(asked.is_some_and(|routed| routed.proposals.len() >= 2));
    let asked = read(r#"{"route_type": "clarify", "clarifying_questions": ["  "]}"#, Mode::Balanced);
    assert!(asked.is_some_and(|routed| !routed.questions.is_empty()));
}

#[test]
fn a_new_task_is_named_by_its_first_words() {
    let table = [
        ("new task: Y", Some("Y")),
        ("  New Task:  write it down ", Some("write it down")),
        ("do: this", Some("this")),
        ("now: that", Some("that")),
        ("Switch to: the parser", Some("the parser")),
        ("instead, use JSON", Some("use JSON")),
        ("instead use JSON", None),
        ("new task:", None),
        ("a new task: Y", None),
        ("shorter", None),
        ("", None),
        ("дo: это", None),
    ];
    for (text, expected) in table {
        assert_eq!(new_task(text), expected, "{text}");
    }
}
