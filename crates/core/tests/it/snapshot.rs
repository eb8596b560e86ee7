//! Text tables that are compared with a snapshot file.

use std::path::Path;

/// Compares the text with `snapshots/NAME.txt`, which `UPDATE_SNAPSHOTS=1` first overwrites with the text.
#[track_caller]
pub(crate) fn check(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, found).expect("the snapshot can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let changed = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(
        expected == found,
        "snapshots/{name}.txt differs, first here:\n{changed:#?}\n\
         if the new text is right: UPDATE_SNAPSHOTS=1 cargo test -p holdshort-core"
    );
}

/// Formats rows as columns of equal width.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|i| width(i).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
