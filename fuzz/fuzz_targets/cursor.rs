//! libFuzzer target `cursor`. Its body is in `holdshort_testkit::fuzz`.

#![no_main]

use std::sync::LazyLock;

use holdshort_testkit::fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| target("cursor"));

fuzz_target!(|bytes: &[u8]| (*TARGET)(bytes));
