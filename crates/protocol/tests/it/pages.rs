//! `docs/errors/`: exactly one up-to-date page per error code.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use holdshort_protocol::{Code, Problem};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors")
}

fn page(code: Code) -> String {
    let path = folder().join(format!("{}.md", code.as_str()));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn there_is_a_page_for_each_code_and_no_other() {
    let files: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{}.md", code.as_str())).collect();
    assert_eq!(files, codes);
}

#[test]
fn each_page_begins_with_its_code_status_and_title() {
    for code in Code::ALL {
        let head = format!("# {}\n\nStatus {}. {}.\n\n", code.as_str(), code.status(), code.title());
        assert!(
            page(*code).starts_with(&head),
            "docs/errors/{}.md does not begin with\n{head}",
            code.as_str()
        );
    }
}

#[test]
fn each_example_is_a_problem_of_its_page() {
    for code in Code::ALL {
        for example in page(*code).split("```json\n").skip(1) {
            let example = example.split("```").next().unwrap();
            let problem: Problem =
                serde_json::from_str(example).unwrap_or_else(|error| panic!("{code:?}: {error}"));
            let plain = Problem::new(*code, problem.detail.clone());
            assert_eq!(
                (problem.kind, problem.title, problem.status, problem.code),
                (plain.kind, plain.title, plain.status, plain.code)
            );
        }
    }
}

#[test]
fn links_lead_to_other_pages() {
    for code in Code::ALL {
        for link in page(*code).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.strip_suffix(".md").and_then(Code::parse);
            assert!(target.is_some_and(|target| target != *code), "{}: {link}", code.as_str());
        }
    }
}
