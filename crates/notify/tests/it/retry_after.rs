//! `Retry-After`, as a table.

use std::time::Duration;

use holdshort_notify::limits::RETRY_AFTER;
use holdshort_notify::retry_after;

use crate::channels::at;

#[test]
fn both_forms_are_read_and_neither_is_believed_without_end() {
    // Sun, 06 Nov 1994 08:49:37 GMT.
    let now = at(784_111_777_000);
    for (header, wanted) in [
        ("0", Some(Duration::ZERO)),
        (" 120 ", Some(Duration::from_mins(2))),
        ("86401", Some(RETRY_AFTER)),
        ("99999999999999999999999999", Some(RETRY_AFTER)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", Some(Duration::from_mins(1))),
        ("Sunday, 06-Nov-94 08:50:37 GMT", Some(Duration::from_mins(1))),
        ("Sun Nov  6 08:50:37 1994", Some(Duration::from_mins(1))),
        ("Sun, 06 Nov 1994 08:48:37 GMT", Some(Duration::ZERO)),
        ("Sat, 06 Nov 2094 08:50:37 GMT", Some(RETRY_AFTER)),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
    ] {
        assert_eq!(retry_after(header, now), wanted, "{header}");
    }
}
