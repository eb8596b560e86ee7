//! libFuzzer feeds `holdshort_testkit::fuzz` what it thinks of for `training`.

#![no_main]

use std::sync::LazyLock;

use holdshort_testkit::fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| target("training"));

fuzz_target!(|bytes: &[u8]| (*TARGET)(bytes));
