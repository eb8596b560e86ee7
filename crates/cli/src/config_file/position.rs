//! Positions of values in `holdshort.toml` by line and column, and plain descriptions of parse errors.

use toml::de::DeTable;

/// Phrases in error messages of the TOML deserializer, each with the plain phrase that replaces it.
const WORDS: [(&str, &str); 7] = [
    ("expected a sequence", "expected a list such as `[\"…\"]`"),
    ("expected a string", "expected a quoted string"),
    ("expected path string", "expected a quoted string"),
    ("expected u32", "expected a whole number, without quotes"),
    ("expected u64", "expected a whole number, without quotes"),
    ("expected a map", "expected a table such as `{ \"…\" = \"…\" }`"),
    // The role `engine` is removed from the list of roles, because no person can have this role.
    (", `engine`", ""),
];

/// Describes an error in the configuration file with its position. The description never contains a line of the file,
/// because the line may contain a secret.
pub(super) fn describe_error(text: &str, error: &toml::de::Error) -> String {
    let place = format_position(text, error.span().map_or(0, |span| span.start));
    let said = WORDS.iter().fold(error.message().to_owned(), |said, (of, word)| said.replace(of, word));
    format!("{place}: {said}")
}

fn format_position(text: &str, start: usize) -> String {
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}")
}

/// Returns the line and column of the TOML value at the path `steps`. If the value is missing, returns the position of
/// the innermost existing table on the path.
pub(super) fn position_of_value(text: &str, steps: &[&str]) -> String {
    let table = DeTable::parse(text).ok();
    let mut steps = steps.iter();
    let mut found = table.as_ref().zip(steps.next()).and_then(|(table, key)| table.get_ref().get(*key));
    let mut start = 0;
    while let Some(value) = found {
        start = value.span().start;
        found = steps.next().and_then(|step| match step.parse::<usize>() {
            Ok(number) => value.get_ref().get(number),
            Err(_) => value.get_ref().get(*step),
        });
    }
    format_position(text, start)
}
