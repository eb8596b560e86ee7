//! libFuzzer target `training`. Its body is in the coach pack.

#![no_main]

#[path = "../../packs/coach/tests/it/fuzz/target.rs"]
mod target;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| target::training(bytes));
