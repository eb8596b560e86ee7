//! Fuzz target for values that clients send back to the server: journal positions, `since`, ids, cursors of lists.

use std::sync::LazyLock;

use futures::FutureExt;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_server::reading;
use holdshort_store::{
    AnswerFilter, Error, GrantFilter, InterruptFilter, Memory, RunFilter, SessionFilter, Tables,
};

static JOURNAL: LazyLock<Memory> = LazyLock::new(Memory::new);

pub(super) fn cursor(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(position) = reading::position(text) {
        assert_eq!(format!("p{position}"), text);
    }
    match reading::since(text) {
        Ok(Some(since)) => assert_eq!(reading::since(&format!("since={since}")).ok(), Some(Some(since))),
        Ok(None) => {}
        Err(problem) => super::is_coded(&problem),
    }
    for read in [
        text.parse::<RunId>().ok().map(|id| id.to_string()),
        text.parse::<SessionId>().ok().map(|id| id.to_string()),
        text.parse::<InterruptId>().ok().map(|id| id.to_string()),
        text.parse::<GrantId>().ok().map(|id| id.to_string()),
        text.parse::<StreamId>().ok().map(|id| id.to_string()),
    ] {
        assert!(read.is_none_or(|read| read == text), "{text:?}");
    }
    let after = text.to_owned();
    let journal = &*JOURNAL;
    assert_page_or_bad_cursor(journal.runs(&RunFilter::default(), Some(&after), 1).now_or_never());
    assert_page_or_bad_cursor(journal.sessions(&SessionFilter::default(), Some(&after), 1).now_or_never());
    assert_page_or_bad_cursor(
        journal.interrupts(&InterruptFilter::default(), Some(&after), 1).now_or_never(),
    );
    assert_page_or_bad_cursor(journal.answers(&AnswerFilter::default(), Some(&after), 1).now_or_never());
    assert_page_or_bad_cursor(journal.grants(&GrantFilter::default(), Some(&after), 1).now_or_never());
}

/// Asserts that the response to a list request is a page, or an error that rejects the cursor. Any other error fails.
fn assert_page_or_bad_cursor<T>(answer: Option<Result<T, Error>>) {
    match answer.expect("a list in memory is returned without waiting") {
        Ok(_) | Err(Error::BadCursor) => {}
        Err(other) => panic!("{other}"),
    }
}
