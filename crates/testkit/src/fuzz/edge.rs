//! Fuzz target for messages from clients of other systems: `CodeLab` messages, and MARS frames with the configuration
//! in them.

use holdshort_server::reading;

pub(super) fn edge(bytes: &[u8]) {
    let mars = std::str::from_utf8(bytes).ok().map(reading::mars);
    for problem in [reading::codelab(bytes).err(), mars.and_then(Result::err)].into_iter().flatten() {
        super::is_coded(&problem);
    }
}
