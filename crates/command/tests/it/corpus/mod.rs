//! Corpus of command lines: lines of people, build servers and agents, and disguised lines. The effects of each line
//! were written down before the command reader was run on the line.
//!
//! Each line of `tests/corpus.jsonl` is one object:
//!
//! | key | |
//! |---|---|
//! | `line` | the command line |
//! | `runs` | programs and built-ins that the words name, also through wrappers. System programs have their base name |
//! | `hides` | programs that also run, but are not a word of the line: `$(echo git) push`. `?`: unknown programs |
//! | `reads`, `writes` | files and folders, relative to the working directory. `.`: everything below it. `*`: unknown |
//! | `reaches` | hosts and remotes. `*`: hosts that a configuration or a registry names |
//! | `category` | category of the command, as in gate rules |
//! | `refused` | shells that reject the grammar of the line |
//! | `stricter` | reason why the command reader is stricter than the line requires. The command reader is never less strict |
//!
//! `shells.rs` checks which lines bash and dash reject. `second.rs` compares the commands with a second parser.

mod second;
mod shells;

use std::collections::BTreeSet;

use holdshort_command::{Class, Command, Part, Reach, normal, parse};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    line: String,
    runs: BTreeSet<String>,
    #[serde(default)]
    hides: BTreeSet<String>,
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    reaches: Vec<String>,
    category: Category,
    #[serde(default)]
    refused: BTreeSet<String>,
    stricter: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Category {
    ReadOnly,
    Bash,
    CodeExec,
    Web,
    Install,
}

impl From<Category> for Class {
    fn from(category: Category) -> Self {
        match category {
            Category::ReadOnly => Self::Reads,
            Category::Bash => Self::Runs,
            Category::CodeExec => Self::RunsCode,
            Category::Web => Self::ReachesOut,
            Category::Install => Self::Installs,
        }
    }
}

fn corpus() -> Vec<Entry> {
    let text = include_str!("../../corpus.jsonl");
    text.lines()
        .enumerate()
        .map(|(at, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("line {}: {error}", at + 1))
        })
        .collect()
}

fn wrong(entries: &[Entry], found: impl Fn(&Entry) -> Vec<String>) -> Vec<String> {
    let told = entries.iter().flat_map(|entry| {
        let line = format!("{:?}", entry.line);
        found(entry).into_iter().map(move |why| format!("{line}: {why}"))
    });
    told.collect()
}

#[test]
fn the_corpus_holds_together() {
    let entries = corpus();
    assert!(entries.len() >= 300, "{}", entries.len());
    let mut met = BTreeSet::new();
    let found = wrong(&entries, |entry| {
        let reads = entry.category == Category::ReadOnly;
        let reaches = matches!(entry.category, Category::Web | Category::Install);
        let claims = [
            (reads && !entry.writes.is_empty(), "what writes does not only read"),
            (reads && !entry.hides.is_empty(), "what runs something unseen does not only read"),
            (
                !entry.reaches.is_empty() && entry.category == Category::ReadOnly,
                "what reaches out does not only read",
            ),
            (
                entry.category == Category::Web && entry.reaches.is_empty() && entry.reads.is_empty(),
                "it reaches nothing",
            ),
            (
                !reaches && entry.reaches.iter().any(|host| host == "*"),
                "what reaches out is of another category",
            ),
            (entry.stricter.as_ref().is_some_and(String::is_empty), "stricter needs a word why"),
        ];
        claims.iter().filter(|(wrong, _)| *wrong).map(|(_, why)| (*why).to_owned()).collect()
    });
    assert_eq!(found, Vec::<String>::new());
    let twice: Vec<&str> =
        entries.iter().map(|entry| entry.line.as_str()).filter(|line| !met.insert(*line)).collect();
    assert_eq!(twice, Vec::<&str>::new());
}

/// The command reader never treats a line as read-only if the line does more than read. A line that only reads is
/// treated as read-only, or its entry states why not.
#[test]
fn the_reader_knows_what_each_line_does() {
    let entries = corpus();
    let found = wrong(&entries, |entry| {
        let command = parse(&entry.line);
        let expected = Class::from(entry.category);
        let mut wrong = Vec::new();
        let asks_more =
            command.class() > expected || (command.is_read_only() != (entry.category == Category::ReadOnly));
        match (&entry.stricter, command.is_read_only()) {
            (_, true) if entry.category != Category::ReadOnly => {
                wrong.push("it counts as reading".to_owned());
            }
            (None, _) if asks_more => {
                wrong.push(format!(
                    "stricter: {:?} instead of {expected:?}, {:?}",
                    command.class(),
                    command.opaque
                ));
            }
            (Some(_), _) if !asks_more => wrong.push("it is not stricter".to_owned()),
            _ => {}
        }
        if !command.classes().contains(&expected) && command.class() < expected {
            wrong.push(format!("{:?} instead of {expected:?}", command.classes()));
        }
        wrong
    });
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), entries.len(), found.join("\n"));
}

/// The command reader finds every program that the words name, also for rules that ask or forbid. The command reader
/// reports no other program as certain.
#[test]
fn the_reader_sees_what_each_line_runs() {
    let entries = corpus();
    let found = wrong(&entries, |entry| {
        let command = parse(&entry.line);
        let name = |part: &Part| part.program.clone();
        let certain: BTreeSet<String> =
            command.parts.iter().map(name).filter(|name| !name.is_empty()).collect();
        let seen: BTreeSet<String> =
            certain.iter().cloned().chain(command.guesses.iter().map(name)).collect();
        let mut wrong: Vec<String> =
            entry.runs.difference(&seen).map(|program| format!("it runs {program}, unseen")).collect();
        if command.opaque.is_none() {
            wrong.extend(certain.difference(&entry.runs).map(|program| format!("it does not run {program}")));
        }
        if !entry.hides.is_empty() && !asks(&command) {
            wrong.push(format!("it hides {:?}, and does not ask", entry.hides));
        }
        wrong
    });
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), entries.len(), found.join("\n"));
}

/// A path rule that asks or forbids matches each line that reads or writes a path of the rule, unless the line needs an
/// approval anyway.
#[test]
fn the_reader_sees_which_files_each_line_touches() {
    let entries = corpus();
    let found = wrong(&entries, |entry| {
        let command = parse(&entry.line);
        let paths = entry.reads.iter().map(|path| ("reads", path));
        let paths = paths.chain(entry.writes.iter().map(|path| ("writes", path)));
        paths
            .filter(|(_, path)| !meets(&command, path, &entry.line))
            .map(|(does, path)| format!("it {does} {path}, unseen"))
            .collect()
    });
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), entries.len(), found.join("\n"));
}

/// Returns true if the command line always needs an approval, or needs one if some rule forbids commands or paths.
fn asks(command: &Command) -> bool {
    let is_unclear = command.unclear.is_some() || command.unknown_option;
    command.opaque.is_some() || is_unclear || command.own_tools("").is_some()
}

fn meets(command: &Command, path: &str, line: &str) -> bool {
    if asks(command) || command.reaches_unknown() || command.names_home {
        return true;
    }
    let wanted = normal(path);
    let is_wide = matches!(path, "." | "*" | "/");
    let holds = |place: &str| {
        let place = normal(place);
        place == wanted
            || place.is_empty()
            || wanted.starts_with(&format!("{place}/"))
            || place.starts_with(&format!("{wanted}/"))
    };
    let located = |part: &Part, text: &str| part.located(text).iter().any(|place| holds(place));
    let mut parts = command.parts.iter().chain(&command.guesses);
    let is_met = parts.any(|part| {
        let in_commits = || part.names_in_commits("").iter().any(|place| normal(place) == wanted);
        let reaches = match part.reach() {
            Reach::Anywhere | Reach::Unknown => true,
            Reach::Below(folders) => folders.iter().any(|(folder, _)| is_wide || located(part, folder)),
            Reach::Named => false,
        };
        reaches || in_commits() || (!is_wide && part.texts().any(|(text, _)| located(part, text)))
    });
    // Files that a program finds by itself, such as `Makefile` and `.git`, are not words of the line.
    let last = wanted.rsplit('/').next().unwrap_or_default();
    let by_itself = !is_wide && !line.contains(last) && !command.is_read_only();
    is_met || by_itself || (is_wide && !command.is_read_only())
}
