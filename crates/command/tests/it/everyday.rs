//! Lines as coding agents write them. At most one in twenty of the lines that only read needs an approval, and no line
//! that writes is treated as read-only.
//!
//! `␤` stands for the end of a line.

use holdshort_command::parse;

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("## "));
    lines.map(|line| line.replace('␤', "\n")).collect()
}

/// At most one in twenty of the lines that only read needs an approval, because such an approval is unnecessary.
#[test]
fn few_lines_that_read_ask() {
    let all = lines(include_str!("everyday_reading.txt"));
    let asking: Vec<&String> = all.iter().filter(|line| !parse(line).is_read_only()).collect();
    assert!(asking.len() * 20 <= all.len(), "{} of {} ask: {asking:#?}", asking.len(), all.len());
}

#[test]
fn no_line_that_writes_passes() {
    let all = lines(include_str!("everyday_writing.txt"));
    let passing: Vec<&String> = all.iter().filter(|line| parse(line).is_read_only()).collect();
    assert!(passing.is_empty(), "{} of {} pass: {passing:#?}", passing.len(), all.len());
}

/// The parser stops at deeply nested loops, groups and substitutions. Only the long `echo` is treated
/// as read-only.
#[test]
fn a_hostile_script_is_given_up() {
    let lines = [
        "$(".repeat(10_000),
        "(".repeat(10_000),
        "`".repeat(10_000),
        "ls;".repeat(10_000),
        "if ls; then ".repeat(2_000),
        "x=$x$(ls) ".repeat(3_000),
        format!("{}ls{}", "echo $(".repeat(2_000), ")".repeat(2_000)),
        format!("echo {}", "$((".repeat(5_000)),
        format!("cat {}", "<<EOF ".repeat(5_000)),
        format!("echo {}", "a=".repeat(15_000)),
        format!("{}:", "for i in 1; do ".repeat(2_000)),
        format!("find . {}", "-exec wc {} + ".repeat(2_000)),
    ];
    let reading = lines.iter().filter(|line| parse(line).is_read_only()).count();
    assert!(reading <= 1, "{reading}");
}
