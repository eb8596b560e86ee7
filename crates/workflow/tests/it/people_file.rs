//! People file: its content, and its problems with line and column.

use holdshort_core::actor::Role;
use holdshort_core::people::PeopleSource;
use holdshort_workflow::people_file::parse;

#[test]
fn a_whole_person_is_read() {
    let text = "people:\n  anna:\n    name: Anna Berg\n    roles: [reviewer, auditor]\n    groups: [legal, risk]\n    \
                addresses: {email: anna@example.org, slack: U024BE7LH}\n    time_zone: Europe/Berlin\n    language: de\n  \
                李雷: {roles: [operator]}\n";
    let people = parse("people.yaml", text).expect("it is right").people;
    let (id, anna) = &people[0];
    assert_eq!((id.as_str(), anna.name.as_deref()), ("anna", Some("Anna Berg")));
    assert!(anna.roles.contains(&Role::Reviewer) && anna.roles.contains(&Role::Auditor));
    assert!(anna.groups.contains("legal") && anna.groups.contains("risk"));
    assert_eq!(anna.addresses["slack"], "U024BE7LH");
    assert_eq!((anna.time_zone.as_deref(), anna.language.as_deref()), (Some("Europe/Berlin"), Some("de")));
    assert_eq!((anna.source, people[1].0.as_str()), (PeopleSource::File, "李雷"));
    assert_eq!(parse("people.yaml", "people: {}\n").map(|read| read.people.len()), Ok(0));
}

#[test]
fn the_hours_of_groups_are_read() {
    let text = "people: {}\ngroups:\n  legal:\n    time_zone: Europe/Berlin\n    week: {mon-thu: 09:00-17:00, fri: [09:00-12:00, 13:00-15:00]}\n    \
                holidays: [2026-12-25]\n  nights: {time_zone: UTC, week: {sat-sun: 00:00-24:00}}\n";
    let hours = parse("people.yaml", text).expect("it is right").hours;
    let (name, legal) = &hours[0];
    assert_eq!((name.as_str(), legal.time_zone.as_str()), ("legal", "Europe/Berlin"));
    let week: Vec<String> =
        legal.week.iter().map(|(day, spans)| format!("{} {}", day.as_str(), spans.len())).collect();
    assert_eq!(week, ["mon 1", "tue 1", "wed 1", "thu 1", "fri 2"]);
    assert_eq!(legal.holidays.len(), 1);
    assert_eq!((hours[1].0.as_str(), hours[1].1.week.len()), ("nights", 2));
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
        ("people:\n  anna: {roles: [reviewer], time_zone: Europe/Berlln}\n", "2:40"),
        ("people:\n  anna: {roles: [reviewer]}\n  anna: {roles: [auditor]}\n", "3:3"),
        ("people:\n  - anna\n", "2:3"),
        ("people: {}\ngroups:\n  legal: {}\n", "3:10"),
        ("people: {}\ngroups:\n  legal: {time_zone: UTC, week: {}}\n", "3:33"),
        ("people: {}\ngroups:\n  legal: {time_zone: Mars, week: {mon: 09:00-17:00}}\n", "3:22"),
        ("people: {}\ngroups:\n  legal: {time_zone: UTC, week: {monday: 09:00-17:00}}\n", "3:34"),
        ("people: {}\ngroups:\n  legal: {time_zone: UTC, week: {mon: 9-17}}\n", "3:39"),
        ("people: {}\ngroups:\n  legal: {time_zone: UTC, week: {mon: 22:00-06:00}}\n", "3:39"),
        (
            "people: {}\ngroups:\n  legal: {time_zone: UTC, week: {mon-tue: 09:00-17:00, tue: 09:00-17:00}}\n",
            "3:56",
        ),
        (
            "people: {}\ngroups:\n  legal: {time_zone: UTC, week: {mon: 09:00-17:00}, holidays: [25.12.]}\n",
            "3:64",
        ),
        (
            "people: {}\ngroups:\n  legal: {time_zone: UTC, week: {mon: 09:00-17:00}, members: [anna]}\n",
            "3:53",
        ),
    ];
    let told = table.map(|(text, _)| {
        let problems = parse("people.yaml", text).expect_err(text);
        (text, format!("{}:{}", problems[0].line, problems[0].column))
    });
    assert_eq!(told, table.map(|(text, place)| (text, place.to_owned())));
}
