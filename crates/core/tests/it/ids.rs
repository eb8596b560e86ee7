//! Ids, and the timestamp that an id contains.

use holdshort_core::id::{Draw, Id, InterruptId, RunId, Seed};
use holdshort_core::time::Timestamp;

/// Ids from `id` and from `id_at` contain their timestamp in milliseconds.
#[test]
fn an_id_tells_when_it_was_drawn() {
    for ms in [0, 1, 1_764_269_302_123, (1 << 48) - 1] {
        let at = Timestamp::from_millis(ms);
        let mut draw = Draw::new(Seed([7; 16]), at);
        let (plain, placed): (RunId, InterruptId) = (draw.id(), draw.id_at(u16::MAX));
        assert_eq!((plain.drawn_at(), placed.drawn_at()), (at, at), "{plain} {placed}");
    }
}
