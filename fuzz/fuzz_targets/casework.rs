//! libFuzzer target `casework`. Its body is in the compliance pack.

#![no_main]

#[path = "../../packs/compliance/tests/it/fuzz/target.rs"]
mod target;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| target::casework(bytes));
