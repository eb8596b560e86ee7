//! libFuzzer feeds `holdshort_testkit::fuzz` what it thinks of for `casework`.

#![no_main]

use std::sync::LazyLock;

use holdshort_testkit::fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| target("casework"));

fuzz_target!(|bytes: &[u8]| (*TARGET)(bytes));
