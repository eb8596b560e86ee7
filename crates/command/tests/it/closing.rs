//! Parsing of test counts in the last lines of test runners.

use holdshort_command::summarize_test_runs;

#[test]
fn the_end_of_each_runner_is_read() {
    let table: [(&str, &[&str]); 24] = [
        (
            "running 2 tests\ntest result: ok. 41 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s\n\n\
             test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            &["1 failed, 43 passed, 1 skipped (cargo test)"],
        ),
        (
            "\x1b[32mtest result: \x1b[0mok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            &["1 passed (cargo test)"],
        ),
        ("===== 1 failed, 3 passed, 2 skipped in 0.12s =====", &["1 failed, 3 passed, 2 skipped (pytest)"]),
        ("3 passed in 0.12s\nexit code 0", &["3 passed (pytest)"]),
        ("\x1b[32m\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 61.00s (0:01:01)\x1b[0m", &["5 passed (pytest)"]),
        ("==== 2 passed, 1 warning, 1 error in 1.00s ====", &["1 failed, 2 passed (pytest)"]),
        ("==== no tests ran in 0.00s ====", &["0 passed (pytest)"]),
        ("Ran 5 tests in 0.001s\n\nOK", &["5 passed (unittest)"]),
        (
            "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)",
            &["2 failed, 2 passed, 1 skipped (unittest)"],
        ),
        ("Ran 1 test in 0.001s\n\nOK\nOK\n", &["1 passed (unittest)"]),
        ("OK", &[]),
        (
            "# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n# duration_ms 50.1",
            &["1 failed, 2 passed, 1 skipped (node --test)"],
        ),
        ("ℹ tests 2\nℹ pass 2\nℹ fail 0", &["2 passed (node --test)"]),
        ("Tests:       1 failed, 4 passed, 5 total", &["1 failed, 4 passed (jest)"]),
        (" Test Files  1 passed (1)\n      Tests  1 failed | 4 passed (5)", &["1 failed, 4 passed (vitest)"]),
        (
            "ok  \texample.org/a\t0.012s\nok  \texample.org/b\t(cached)\nFAIL\texample.org/c\t0.1s\nFAIL\n?   \texample.org/d\t[no test files]",
            &["1 failed, 2 passed (go test, by package)"],
        ),
        ("FAIL\texample.org/c [build failed]", &["1 failed, 0 passed (go test, by package)"]),
        (
            "test result: ok. 1 passed; 0 failed\n==== 2 passed in 1.0s ====",
            &["1 passed (cargo test)", "2 passed (pytest)"],
        ),
        // These lines only resemble the last line of a test runner, so they have no counts.
        ("test result: ok. many passed; 0 failed", &[]),
        ("test result: ok. 3 passed; 9 exploded", &[]),
        ("3 passed in time", &[]),
        ("3 tests passed", &[]),
        ("Tests  3 passed", &[]),
        ("", &[]),
    ];
    for (output, expected) in table {
        assert_eq!(summarize_test_runs(output), expected, "{output}");
    }
}

#[test]
fn a_number_that_is_too_large_is_no_number() {
    let most = u64::MAX;
    let twice = format!("{most} passed in 1s\n{most} passed in 1s\n{most}0 passed in 1s");
    assert_eq!(summarize_test_runs(&twice), [format!("{most} passed (pytest)")]);
}
