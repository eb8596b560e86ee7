//! Prints the report of an athlete whose training data is generated: `cargo run -p holdshort-coach --example page >
//! page.html`.

#![expect(clippy::unwrap_used, reason = "an example may panic on an error")]

#[path = "../tests/it/report/sample.rs"]
mod sample;

use std::io::Write;

fn main() {
    std::io::stdout().write_all(holdshort_coach::report::html(&sample::report()).as_bytes()).unwrap();
}
