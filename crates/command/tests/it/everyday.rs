//! Lines as coding agents write them: at most one in twenty that read asks, and none that writes passes.
//!
//! `␤` stands for the end of a line.

use holdshort_command::parse;

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("## "));
    lines.map(|line| line.replace('␤', "\n")).collect()
}

/// A reading line that asks is a person who is asked for nothing.
#[test]
fn few_lines_that_read_ask() {
    let all = lines(include_str!("everyday_reading.txt"));
    let asking: Vec<&String> = all.iter().filter(|line| !parse(line).is_read_only()).collect();
    let told = asking.iter().map(|line| format!("{line}\n")).collect::<String>();
    assert!(asking.len() * 20 <= all.len(), "{} of {} ask:\n{told}", asking.len(), all.len());
}

#[test]
fn no_line_that_writes_passes() {
    let all = lines(include_str!("everyday_writing.txt"));
    let passing: Vec<&String> = all.iter().filter(|line| parse(line).is_read_only()).collect();
    assert!(passing.is_empty(), "{} of {} pass: {passing:#?}", passing.len(), all.len());
}
