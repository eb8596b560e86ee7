//! The people file: what it holds, and what is wrong with it, by line and column.

use holdshort_core::actor::Role;
use holdshort_core::system::people::PeopleSource;
use holdshort_workflow::people_file::parse;

#[test]
fn a_whole_person_is_read() {
    let text = "people:\n  anna:\n    name: Anna Berg\n    roles: [reviewer, auditor]\n    groups: [legal, risk]\n    \
                addresses: {email: anna@example.org, slack: U024BE7LH}\n    time_zone: Europe/Berlin\n    language: de\n  \
                李雷: {roles: [operator]}\n";
    let people = parse("people.yaml", text).expect("it is right");
    let (id, anna) = &people[0];
    assert_eq!((id.as_str(), anna.name.as_deref()), ("anna", Some("Anna Berg")));
    assert!(anna.roles.contains(&Role::Reviewer) && anna.roles.contains(&Role::Auditor));
    assert!(anna.groups.contains("legal") && anna.groups.contains("risk"));
    assert_eq!(anna.addresses["slack"], "U024BE7LH");
    assert_eq!((anna.time_zone.as_deref(), anna.language.as_deref()), (Some("Europe/Berlin"), Some("de")));
    assert_eq!((anna.source, people[1].0.as_str()), (PeopleSource::File, "李雷"));
    assert_eq!(parse("people.yaml", "people: {}\n").map(|people| people.len()), Ok(0));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let table = [
        ("", "1:1"),
        ("persons: {}\n", "1:1"),
        ("people:\n  anna: {}\n", "2:9"),
        ("people:\n  anna: {roles: []}\n", "2:17"),
        ("people:\n  anna: {roles: [boss]}\n", "2:18"),
        ("people:\n  anna: {roles: [agent]}\n", "2:18"),
        ("people:\n  anna: {roles: [reviewer], role: x}\n", "2:29"),
        ("people:\n  operator: {roles: [reviewer]}\n", "2:3"),
        ("people:\n  \" anna\": {roles: [reviewer]}\n", "2:3"),
        ("people:\n  anna: {roles: [reviewer], groups: [\"a\\u200bb\"]}\n", "2:37"),
        ("people:\n  anna: {roles: [reviewer], time_zone: \"Berlin, Germany\"}\n", "2:40"),
        ("people:\n  anna: {roles: [reviewer]}\n  anna: {roles: [auditor]}\n", "3:3"),
        ("people:\n  - anna\n", "2:3"),
    ];
    let told = table.map(|(text, _)| {
        let problems = parse("people.yaml", text).expect_err(text);
        (text, format!("{}:{}", problems[0].line, problems[0].column))
    });
    assert_eq!(told, table.map(|(text, place)| (text, place.to_owned())));
}
