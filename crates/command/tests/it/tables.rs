//! Tables of programs that only read, with lines that check each row.

use holdshort_command::parse;
use holdshort_command::tables::{self, Operands, Row};

/// Returns a command line for a row of the table of programs, with one option, and with a value if the option takes
/// one.
fn line(row: &Row, spec: &str) -> String {
    let name = spec.trim_end_matches([':', '?']);
    let name = if name == "-#" { "-5" } else { name };
    let value = match (spec.ends_with("::"), spec.ends_with(':')) {
        (true, _) => " a b",
        (_, true) => " 1",
        (..) => "",
    };
    let operand = match row.operands {
        Operands::None | Operands::Beside(_) | Operands::Only(_) => "",
        Operands::Files | Operands::Words | Operands::Names | Operands::Most(_) | Operands::Without(_) => {
            " x"
        }
        Operands::Beginning(_) => " +x",
        Operands::Numbers => " 1",
        Operands::OneKey => " a.b",
    };
    format!("{} {} {name}{value}{operand}", row.programs[0], row.subcommand)
}

/// Each row of the table of programs that only read is read-only with each of its options. A misspelt option, a
/// redirection to a file, or a program of the workspace is not.
#[test]
fn every_row_reads_with_each_of_its_options() {
    for row in tables::all() {
        let bare = line(row, "");
        assert!(parse(&bare).is_read_only(), "{bare}");
        for spec in row.options() {
            let line = line(row, spec);
            assert!(parse(&line).is_read_only(), "{line}");
            let file = format!("{line} > f");
            assert!(!parse(&file).is_read_only(), "{file}");
        }
        for other in ["--output=f", "--no-such-option", "--exec=x", "-~", "--git-dir=x", "--pre=x"] {
            let with = format!("{} {} {other}", row.programs[0], row.subcommand);
            assert!(
                !parse(&with).is_read_only()
                    || row.options().any(|spec| other.starts_with(spec.trim_end_matches([':', '?']))),
                "{with}"
            );
        }
        for program in row.programs {
            let elsewhere = bare.replacen(row.programs[0], &format!("./{program}"), 1);
            assert!(!parse(&elsewhere).is_read_only(), "{elsewhere}");
        }
    }
}

/// A line is not treated as read-only if it writes, runs a second program, connects to the network, or takes
/// instructions from a file.
#[test]
fn what_does_more_than_read_does_not_pass() {
    let lines = include_str!("beyond_reading.txt");
    let wrong: Vec<&str> = lines
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("## "))
        .filter(|line| parse(&line.replace('␤', "\n")).is_read_only())
        .collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

/// Lines that agents often run to look around need no approval.
#[test]
fn looking_around_does_not_ask() {
    let lines = include_str!("looking_around.txt");
    let wrong: Vec<&str> = lines
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("## "))
        .filter(|line| !parse(&line.replace('␤', "\n")).is_read_only())
        .collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

/// The guide contains the tables. `UPDATE_SNAPSHOTS=1` writes the tables into the guide.
#[test]
fn the_guide_lists_the_tables() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/gates.md");
    let guide = std::fs::read_to_string(&path).expect("the guide is there");
    let mut table = "| family | programs and subcommands |\n|---|---|\n".to_owned();
    for (family, rows) in tables::FAMILIES {
        let names = rows.iter().flat_map(|row| {
            row.programs
                .iter()
                .map(|program| format!("`{}`", format!("{program} {}", row.subcommand).trim_end()))
        });
        let names: Vec<String> = names.collect();
        table.push_str(&["| ", family, " | ", &names.join(", "), " |\n"].concat());
    }
    let (before, rest) = guide.split_once("<!-- what reads -->\n").expect("a place for it");
    let (_, after) = rest.split_once("<!-- end -->").expect("an end of it");
    let right = format!("{before}<!-- what reads -->\n{table}<!-- end -->{after}");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, right).expect("it can be written");
    } else {
        assert!(
            guide == right,
            "docs/guides/gates.md is behind: UPDATE_SNAPSHOTS=1 cargo test -p holdshort-command"
        );
    }
}
