//! Values of the header `Retry-After` and their delays.

use std::time::Duration;

use holdshort_notify::limits::RETRY_AFTER;
use holdshort_notify::retry_after;

use crate::channels::at;

#[test]
fn neither_form_is_believed_without_end() {
    // Sun, 06 Nov 1994 08:49:37 GMT.
    let now = at(784_111_777_000);
    for (header, wanted) in [
        ("0", Some(Duration::ZERO)),
        ("86401", Some(RETRY_AFTER)),
        ("99999999999999999999999999", Some(RETRY_AFTER)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", Some(Duration::from_mins(1))),
        ("Sat, 06 Nov 2094 08:50:37 GMT", Some(RETRY_AFTER)),
        ("soon", None),
    ] {
        assert_eq!(retry_after(header, now), wanted, "{header}");
    }
}
