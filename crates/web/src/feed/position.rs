//! Positions in the journal, in the form in which clients receive them. A position is opaque text, so that no client
//! mistakes a position for the `seq` of an event in a run.

use holdshort_store::Log;

use crate::app::App;
use crate::problem::{Answer, Refused};

/// Position before the first event.
pub const START: u64 = 0;

/// Word with which a client asks for [`START`].
const START_WORD: &str = "start";

pub fn text(position: u64) -> String {
    format!("p{position}")
}

/// Parses a position in the journal. Calls `refuse` for the error if this server cannot have returned the position.
pub async fn parse(app: &App, text: &str, refuse: impl FnOnce(&str) -> Refused) -> Answer<u64> {
    if text == START_WORD {
        return Ok(START);
    }
    let Some(position) = number(text) else {
        return Err(refuse("is not a position that this server issued"));
    };
    // Each issued position belongs to an event, so the journal has an event at or after a valid position.
    if position > START && app.journal().tail(position - 1, 1).await?.is_empty() {
        return Err(refuse(
            "is beyond the end of the journal; it may have been issued for another data folder",
        ));
    }
    Ok(position)
}

/// Returns the position of the last event of the journal.
pub fn last(app: &App) -> u64 {
    *app.journal().watch().borrow()
}

/// Parses a position. Accepts only the spelling that the server writes, such as `p7` but not `p07`.
pub fn number(text: &str) -> Option<u64> {
    let position = text.strip_prefix('p')?.parse().ok()?;
    // Rejects other forms, such as `p07`.
    (self::text(position) == text).then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_was_given_out() {
        for position in [0, 7, u64::MAX] {
            assert_eq!(number(&text(position)), Some(position));
        }
        for other in ["", "p", "7", "p07", "p+7", "p-7", "p 7", "P7", "p7 ", "p18446744073709551616", "q7"] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
